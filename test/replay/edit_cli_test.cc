// `edit` and `replay --edit`, as a user's scripts run them.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "test/folders.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Edits : public Bench {
 protected:
  Edits() {
    for (int r = 0; r < 4; ++r)
      Rank("t", r, {Comp(0, 30), Coll(1, 0, 4096, {0}), Comp(2, 10, {1}), Comp(3, 10, {2})});
    Write("half.txtpb", "edit { select { name: '^n2$' } duration { factor: 0.5 } }\n");
  }
  // Names and contents of a folder.
  std::map<std::string, std::string> Folder(const std::string& name) const {
    std::map<std::string, std::string> files;
    if (!fs::is_directory(folder_ / name)) return files;
    for (const auto& entry : fs::directory_iterator(folder_ / name))
      files[entry.path().filename()] = Content(entry.path());
    return files;
  }
  // Temporary and old folders that runs have left.
  std::vector<std::string> Leftovers() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name.find(".partial") != std::string::npos || name.find(".old-") != std::string::npos)
        names.push_back(name);
    }
    return names;
  }
};

TEST_F(Edits, WrittenTracesReplayLikeEditsInMemory) {
  const Outcome r = Run("edit t -o out --script half.txtpb --delay-ranks 1=5us --threads 1");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("edit 1 (duration)"), HasSubstr("edit 1 (delay_rank)")));
  const proto::Report plain = Replayed("t --cluster ring4.txtpb");
  const proto::Report written = Replayed("out --cluster ring4.txtpb");
  const proto::Report memory = Replayed("t --cluster ring4.txtpb --edit half.txtpb --delay-ranks 1=5us");
  EXPECT_EQ(written.makespan_ps(), plain.makespan_ps());  // 5 us less, 5 us late
  EXPECT_EQ(written.rank(0).end_ps(), memory.rank(0).end_ps());
  EXPECT_EQ(written.makespan_ps(), memory.makespan_ps());
  ASSERT_EQ(memory.edits().outcome_size(), 2);
  EXPECT_EQ(memory.edits().outcome(0).matched(), 4u);
  EXPECT_TRUE(std::any_of(memory.input().begin(), memory.input().end(),
                          [](const proto::InputFile& f) { return f.role() == "edits"; }));
  const auto files = Folder("out");
  ASSERT_EQ(Run("edit t -o again --script half.txtpb --delay-ranks 1=5us --threads 4 -q").status, 0);
  EXPECT_EQ(Folder("again"), files);
  EXPECT_EQ(files.size(), 4u);
}

TEST_F(Edits, BadScriptErrorsNameLineAndField) {
  Write("typo.txtpb", "edit {\n  select { name: 'n2' }\n  duration { factr: 2 }\n}\n");
  Refused("edit t -o out --script typo.txtpb", {"typo.txtpb:3:", "factr", "did you mean"});
  Write("range.json", R"({"edit": [{"select": {"bytes": {"min": "x"}}, "remove": {}}]})");
  Refused("edit t -o out --script range.json", {"range.json:1:", "min"});
  Write("none.txtpb", "edit { select { name: 'n9' } remove {} }\n");
  Refused("edit t -o out --script none.txtpb",
          {"none.txtpb:1: edit 1 (remove)", "matches nothing in 4 ranks", "allow_no_match"});
  Refused("edit t -o out --script absent.txtpb", {"absent.txtpb"});
  Refused("replay t --edit typo.txtpb", {"typo.txtpb:3:", "factr"});
  EXPECT_TRUE(Folder("out").empty());
  EXPECT_TRUE(Leftovers().empty());
}

TEST_F(Edits, RefusesBadCommandLines) {
  Refused("edit -o out --scale n2=2", {"expects at least one IN", "--help"}, 2);
  Refused("edit t --scale n2=2", {"expects -o OUT, or --dry-run"}, 2);
  Refused("edit t -o out", {"expects an edit"}, 2);
  Refused("edit t -o out --scale n2", {"--scale: \"n2\", expected device=FACTOR, host=FACTOR, or NAME=FACTOR"}, 2);
  Refused("edit t -o out --delay-ranks 1=fast", {"--delay-ranks", "expected RANKS=TIME"}, 2);
  Refused("edit t -o out --do 'select { name: \"(\" } remove {}'",
          {"chakra-replay: --do: edit 1 (remove), select, name", "RE2", "see `chakra-replay edit --help`"},
          2);
  Refused("edit t -o out --do 'select { nme: \"n2\" } remove {}'", {"--do: unknown field 'nme' at edit:1:"},
          2);
  Refused("replay t --do 'select { name: \"n2\" }'", {"--do: ", "see `chakra-replay replay --help`"}, 2);
  Refused("edit t -o out --scale '(=2'", {"--scale: edit 1 (duration), select, name", "RE2"}, 2);
  Refused("edit t -o out --scal n2=2", {"there is no option --scal; did you mean \"--scale\"?"}, 2);
}

// One flag makes all kernels faster, and does not change the host's time.
TEST_F(Edits, ScalesDeviceAndHostSeparately) {
  PbNode host = Comp(0, 30);
  Attr(&host, "is_cpu_op")->set_bool_val(true);
  Rank("parts", 0, {host, Comp(1, 20, {0})});
  const auto makespan = [&](const std::string& edits) {
    return Replayed("parts --compute recorded " + edits).makespan_ps();
  };
  EXPECT_EQ(makespan(""), 50'000'000);
  EXPECT_EQ(makespan("--scale device=0.5"), 40'000'000);
  EXPECT_EQ(makespan("--scale host=0.5"), 35'000'000);
  EXPECT_EQ(makespan("--scale '.*=0.5'"), 25'000'000);
  Refused("edit parts --dry-run --scale '(device)=0.5'", {"matches nothing"});
}

// A factor also holds if the time does not come from a recorded duration: the kernel model uses shapes, a
// roofline uses operations.
TEST_F(Edits, FactorsHoldForEveryTimeSource) {
  const std::string step =
      "--model llama3-8b:layers=2 --parallel tp=2 --training seq=1024,global_batch=2 --cluster dgx-h100";
  for (const char* compute : {"", " --compute roofline"}) {
    const auto busy = [&](const std::string& edit) {
      return static_cast<double>(Replayed(step + compute + edit).rank(0).compute_busy_ps());
    };
    EXPECT_NEAR(busy(" --scale device=0.8") / busy(""), 0.8, 1e-4) << compute;
  }
}

TEST_F(Edits, OldOutputStaysUntilNewIsComplete) {
  ASSERT_EQ(Run("edit t -o out --script half.txtpb -q").status, 0);
  const auto before = Folder("out");
  Refused("edit t -o out --remove n9", {"matches nothing"});
  EXPECT_EQ(Folder("out"), before);
  // Files may not grow, as on a full disk.
  const Outcome full = Run("--version >/dev/null; ulimit -f 0; trap '' XFSZ; " + std::string(CHAKRA_BINARY) +
                           " edit t -o out --scale n2=3 -q");
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(Folder("out"), before);
  EXPECT_TRUE(Leftovers().empty());
  ASSERT_EQ(Run("edit t -o out --scale n2=3 -q").status, 0);
  EXPECT_NE(Folder("out"), before);
  EXPECT_TRUE(Leftovers().empty());
  // A second edit, in place: the record of edits grows.
  ASSERT_EQ(Run("edit out -o out --scale n2=0.5 -q").status, 0);
  EXPECT_THAT(Folder("out").at("w.0.et"), AllOf(HasSubstr("factor: 3"), HasSubstr("factor: 0.5")));
}

TEST_F(Edits, RemovesLeftoversOfAKilledRun) {
  Write("out.partial-123/w.0.et", "half");
  ASSERT_EQ(Run("edit t -o out --script half.txtpb -q").status, 0);
  EXPECT_TRUE(Leftovers().empty());
  EXPECT_EQ(Folder("out").size(), 4u);
}

TEST_F(Edits, SignalsRemoveUnfinishedOutput) {
  // Nobody writes to the pipe: the run waits for it, after it has begun its folder.
  const Outcome r =
      Run("--version >/dev/null; mkfifo t/pipe.1.et; timeout -s TERM 1 " + std::string(CHAKRA_BINARY) +
          " edit t/w.0.et t/pipe.1.et -o out --scale n2=2 --threads 1");
  EXPECT_EQ(r.status, 124) << r.err;
  EXPECT_TRUE(Leftovers().empty());
  EXPECT_TRUE(Folder("out").empty());
}

TEST_F(Edits, FailedReportsSayThatTracesAreWritten) {
  Refused("edit t -o out --scale n2=2 --report /dev/full",
          {"the traces are written to out, the report is not"});
  EXPECT_EQ(Folder("out").size(), 4u);
}

TEST_F(Edits, LimitsTheSizeOfScripts) {
  Refused("edit t -o out --script /dev/zero", {"/dev/zero", "at most 67108864 bytes"});
}

TEST_F(Edits, RefusesPeersOutsideTheSet) {
  Write("peer.txtpb",
        "edit {\n  insert {\n    node {\n      name: 's'\n      type: 'COMM_SEND_NODE'\n      peer: 9\n    "
        "}\n  }\n}\n");
  Refused("edit t -o out --script peer.txtpb",
          {"peer.txtpb:6: edit 1 (insert), node.peer: 9, expected a rank of the set, 0 to 3"});
  EXPECT_TRUE(Folder("out").empty());
}

TEST_F(Edits, RefusesToReplaceFoldersWithOtherFiles) {
  Write("home/letter.doc", "dear");
  Refused("edit t -o home --scale n2=2", {"cannot replace the folder", "letter.doc", "has only PREFIX.N.et"});
  Write("notes/notes.json", "{\"precious\": 1}");
  Refused("edit t -o notes --scale n2=2", {"it holds \"notes.json\""});
  ASSERT_EQ(Run("edit t -o mine --script half.txtpb -q").status, 0);
  fs::rename(folder_ / "mine/w.3.et", folder_ / "mine/other.3.et");
  Refused("edit t -o mine --scale n2=2", {"cannot replace the folder"});
  for (int r = 0; r < 3; ++r)
    fs::rename(folder_ / ("mine/w." + std::to_string(r) + ".et"),
               folder_ / ("mine/other." + std::to_string(r) + ".et"));
  Refused("edit t -o mine --scale n2=2", {"it holds \"other.0.et\"", "w.N.et"});
  EXPECT_EQ(Folder("mine").size(), 4u);
  EXPECT_EQ(Folder("home").size(), 1u);
  Refused("edit t -o half.txtpb --scale n2=2", {"a file of this name exists, expected a folder"});
}

TEST_F(Edits, WritesOneTraceToFileOrStdout) {
  ASSERT_EQ(Run("edit t/w.2.et -o one.et.zst --scale n2=2 -q").status, 0);
  EXPECT_EQ(Replayed("one.et.zst --compute recorded --comm simulated --cluster dgx-h100").nodes(), 4u);
  const Outcome out = Run("edit t/w.2.et -o - --scale n2=2");
  EXPECT_EQ(out.status, 0);
  EXPECT_THAT(out.err, HasSubstr("edit 1 (duration)"));
  EXPECT_THAT(out.out, HasSubstr("edits"));
  Refused("edit t -o - --scale n2=2", {"expected a folder"});
}

TEST_F(Edits, DryRunReportsButWritesNoTraces) {
  const Outcome r = Run("edit t --dry-run --scale n2=2 --report r.json");
  EXPECT_EQ(r.status, 0) << r.err;
  proto::EditReport report;
  ASSERT_TRUE(ReadMessageFile(At("r.json"), &report).ok());
  EXPECT_EQ(report.outcome(0).matched(), 4u);
  EXPECT_EQ(report.nodes_out(), 16u);
  EXPECT_TRUE(Folder("out").empty());
}

TEST_F(Edits, ChangesTheNumberOfReplicasAndBack) {
  const std::string example = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";
  const Outcome none = Run("edit " + example + " -o out --replicas 4");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("groups: absent"), HasSubstr("expected the name of one group")));
  const Outcome r = Run("edit " + example + " -o out --replicas 5=4");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("8 ranks of 1,256 nodes become 16 of 2,512"),
                           HasSubstr("4 groups of 2 become groups of 4")));
  const proto::Report before = Replayed(example + " --cluster dgx-h100"),
                      after = Replayed("out --cluster dgx-h100");
  EXPECT_EQ(after.ranks(), 16);
  EXPECT_EQ(after.rank(0).compute_busy_ps(), before.rank(0).compute_busy_ps());
  EXPECT_GT(after.makespan_ps(), before.makespan_ps() * 9 / 10);
  // And back again: the traces that were edited twice take the time of the original ones.
  ASSERT_EQ(Run("edit out -o back --replicas 5=2 -q").status, 0);
  EXPECT_EQ(Replayed("back --cluster dgx-h100").makespan_ps(), before.makespan_ps());
}

// The order of a stream is no dependency: an edit adds none, so that with unlimited lanes only dependencies
// decide.
TEST_F(Edits, AddNoDependenciesForStreamOrder) {
  Rank("s", 0,
       {With(Comp(0, 30), "stream", 7), With(Comp(1, 10), "stream", 7), With(Comp(2, 20, {1}), "stream", 7)});
  const std::string edits[] = {
      "select { name: '^n0$' } split { parts: 3 }",
      "select { name: '^n0$' } replace { node { name: 'a' duration_us: 10 } node { name: 'b' duration_us: 20 "
      "} }",
      "select { name: '^n1$' } insert { where: BEFORE node { name: 'a' duration_us: 0 } }",
  };
  for (const std::string& edit : edits) {
    const std::string arguments =
        "s --cluster ring4.txtpb --ranks 4 --compute recorded --do \"" + edit + "\"";
    EXPECT_EQ(Replayed(arguments + " --lanes unlimited").makespan_ps(), 30000000) << edit;
    EXPECT_EQ(Replayed(arguments).makespan_ps(), 60000000) << edit;
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
