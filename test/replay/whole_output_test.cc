// Folders of traces appear complete; outputs never replace inputs; printed names are harmless.
#include <gmock/gmock.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "test/folders.h"
#include "test/replay/acceptance_testing.h"
#include "trace/io/file.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class WholeOutput : public Bench {
 protected:
  void Ranks(const std::string& dir, int ranks) const {
    for (int r = 0; r < ranks; ++r) Rank(dir, r, {Comp(0, 10), Coll(1, 0, 1000, {0})});
  }
  void Done(const std::string& command) const {
    const Outcome r = Run(command);
    EXPECT_EQ(r.status, 0) << command << "\n" << r.err;
  }
  std::vector<std::string> Names(const std::string& folder) const { return ListFolder(At(folder)); }
  // Expects that no temporary file or folder is left.
  void ExpectNoRest() const {
    for (const std::string& name : ListFolder(folder_.string())) {
      EXPECT_THAT(name, Not(HasSubstr("partial"))) << name;
      EXPECT_THAT(name, Not(HasSubstr(".old-"))) << name;
    }
  }
};

TEST_F(WholeOutput, ConvertRemovesOldRanks) {
  Ranks("eight", 8);
  Ranks("four", 4);
  Done("convert eight -o out");
  Done("convert four -o out");
  EXPECT_THAT(Names("out"), ElementsAre("w.0.et", "w.1.et", "w.2.et", "w.3.et"));
  Done("convert four -o out --compression zstd");
  EXPECT_THAT(Names("out"), ElementsAre("w.0.et.zst", "w.1.et.zst", "w.2.et.zst", "w.3.et.zst"));
  Done("convert eight -o out --to text");
  Done("convert four -o out --to text");
  EXPECT_THAT(Names("out"), ElementsAre("w.0.txtpb", "w.1.txtpb", "w.2.txtpb", "w.3.txtpb"));
  ExpectNoRest();
}

TEST_F(WholeOutput, KeepsFoldersWithOtherFiles) {
  Ranks("four", 4);
  Write("out/notes.txt", "mine");
  Refused("convert four -o out", {"cannot replace the folder", "notes.txt"});
  EXPECT_THAT(Names("out"), ElementsAre("notes.txt"));
  Write("file", "mine");
  Refused("convert four -o file", {"a file of this name exists"});
  EXPECT_EQ(Content(At("file")), "mine");
  ExpectNoRest();
}

TEST_F(WholeOutput, SingleTraceIsAddedToTheFolder) {
  Ranks("four", 4);
  for (const char* rank : {"0", "1", "2", "3"}) {
    fs::create_directories(At("out"));
    Done(absl::StrCat("convert four/w.", rank, ".et -o out --compression none"));
  }
  EXPECT_THAT(Names("out"), ElementsAre("w.0.et", "w.1.et", "w.2.et", "w.3.et"));
  ExpectNoRest();
}

TEST_F(WholeOutput, FailedConversionChangesNothing) {
  Ranks("four", 4);
  Done("convert four -o out");
  const std::string before = Content(At("out/w.0.et"));
  Ranks("bad", 3);
  Write("bad/w.3.et", "not a trace");
  EXPECT_EQ(Run("convert bad -o out").status, 1);
  EXPECT_THAT(Names("out"), ElementsAre("w.0.et", "w.1.et", "w.2.et", "w.3.et"));
  EXPECT_EQ(Content(At("out/w.0.et")), before);
  ExpectNoRest();
}

TEST_F(WholeOutput, GenerateRemovesOldRanks) {
  const std::string model = "generate --model llama3-8b:layers=1 --training seq=1024,global_batch=8 -o step --parallel dp=";
  Done(model + "4");
  Done(model + "2");
  EXPECT_THAT(Names("step"), ElementsAre("workload.0.et.zst", "workload.1.et.zst", "workload.json"));
  // Chosen ranks are added to the others.
  Done(model + "2 --ranks 1");
  EXPECT_THAT(Names("step"), ElementsAre("workload.0.et.zst", "workload.1.et.zst", "workload.json"));
  Write("step/cluster.txtpb", Ring(2));
  Done(model + "4");
  Done(model + "2");
  EXPECT_THAT(Names("step"),
              ElementsAre("cluster.txtpb", "workload.0.et.zst", "workload.1.et.zst", "workload.json"));
  ExpectNoRest();
}

TEST_F(WholeOutput, ConvertPytorchRemovesOldRanks) {
  Ranks("old", 4);
  for (int r = 0; r < 4; ++r) fs::copy(At(RankName("old", r)), At(absl::StrCat("step.", r, ".et")));
  const std::string capture = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2";
  Done("convert pytorch " + capture + " -o step -q");
  std::vector<std::string> steps;
  for (const std::string& name : ListFolder(folder_.string())) {
    if (absl::StartsWith(name, "step.")) steps.push_back(name);
  }
  EXPECT_THAT(steps, ElementsAre("step.0.et", "step.1.et"));
  Done("replay step -q");
  ExpectNoRest();
}

TEST_F(WholeOutput, EditedCaptureReplays) {
  const std::string capture = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2/";
  fs::create_directories(At("in"));
  for (const char* name : {"host.0.json.gz", "kineto.0.json.gz", "host.1.json.gz", "kineto.1.json.gz"})
    fs::copy(capture + name, At(std::string("in/") + name));
  fs::rename(At("in/kineto.0.json.gz"), At("in/alpha-rank0.json.gz"));
  fs::rename(At("in/kineto.1.json.gz"), At("in/beta-rank1.json.gz"));
  const int64_t before = ReportOf("in").makespan_ps();
  Done("edit in -o out -q --do \"duration { factor: 1 }\"");
  EXPECT_EQ(ReportOf("out").makespan_ps(), before);
}

TEST_F(WholeOutput, ReportsNeverReplaceInputs) {
  Ranks("in", 2);
  const std::string before = Content(At("in/w.0.et"));
  for (const char* option : {"--report", "--html", "--timeline", "--link-log"}) {
    Refused(absl::StrCat("replay in --cluster ring2.txtpb --fabric fluid ", option, " in/w.0.et"),
            {option, "in/w.0.et", "which this run reads"}, 2);
    Refused(absl::StrCat("replay in --cluster ring2.txtpb --fabric fluid ", option, " ring2.txtpb"),
            {option, "ring2.txtpb", "which this run reads"}, 2);
  }
  EXPECT_EQ(Content(At("in/w.0.et")), before);
  // An old report is not an input.
  Done("replay in --cluster ring2.txtpb -q --report in/report.json");
  Done("replay in --cluster ring2.txtpb -q --report in/report.json");
}

TEST_F(WholeOutput, WarnsOfIgnoredFiles) {
  Ranks("in", 2);
  Done("convert in -o json --to json");
  fs::copy(At("json/w.0.json"), At("in/w.0.json"));
  const proto::Report report = ReportOf("in --cluster ring2.txtpb");
  ASSERT_EQ(report.warning_size(), 1);
  EXPECT_THAT(report.warning(0), HasSubstr("in/w.0.json"));
}

// Expects no byte that controls a terminal.
void ExpectHarmless(const std::string& text, const std::string& where) {
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    EXPECT_TRUE(c == '\n' || (u >= 0x20 && u != 0x7f)) << where << ": byte " << int{u} << " in\n" << text;
  }
  for (const char* tricky : {"\xc2\x9b", "\xe2\x80\xae"}) EXPECT_THAT(text, Not(HasSubstr(tricky))) << where;
  for (const absl::string_view line : absl::StrSplit(text, '\n'))
    EXPECT_FALSE(absl::StartsWith(line, "chakra-replay: all is well")) << where << "\n" << text;
}

TEST_F(WholeOutput, EscapesControlBytesInNames) {
  const std::string evil =
      "=x\x1b]0;t\x07\x1b[2J\r\nchakra-replay: all is well\n\xc2\x9b"
      "31m\xe2\x80\xae"
      "gpj";
  for (const char* dir : {"in", "stuck"}) {
    for (int r = 0; r < 2; ++r) {
      PbNode comp = Comp(0, 10);
      comp.set_name(evil);
      PbNode call = With(Coll(1, 0, 1000, {0}), "pg_name", evil.c_str());
      call.set_name(evil);
      std::vector<PbNode> nodes = {comp, call};
      if (std::string(dir) == "stuck" && r == 0) nodes.pop_back();
      Rank(dir, r, nodes);
    }
  }
  std::string groups = "{\"";
  for (const char c : evil) {
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&groups, "\\u%04x", c);
    } else {
      groups.push_back(c);
    }
  }
  groups += "\": [0, 1]}";
  for (const char* dir : {"in", "stuck"}) Write(std::string(dir) + "/w.json", groups);
  for (const char* command :
       {"replay in --cluster ring2.txtpb --critical-path", "replay in --cluster ring2.txtpb --format csv",
        "replay stuck --cluster ring2.txtpb", "inspect in", "doctor in", "kernels from in -o -",
        "edit in --dry-run --do \"select { name: 'gpj' } duration { factor: 2 }\"",
        "edit in --dry-run --do \"select { name: 'gpk' } duration { factor: 2 }\"", "compare in stuck",
        "replay in --cluster ring2.txtpb --groups nowhere.json"}) {
    const Outcome r = Run(command);
    ExpectHarmless(r.out, command);
    ExpectHarmless(r.err, command);
  }
}

TEST_F(WholeOutput, UnwritableHelpIsAnError) {
  for (const char* words : {"--help", "replay --help", "--version"}) {
    const Outcome r = Run(absl::StrCat(words, " > /dev/full"));
    EXPECT_EQ(r.status, 1) << words;
    EXPECT_THAT(r.err, HasSubstr("cannot write standard output")) << words;
  }
}

TEST_F(WholeOutput, RefusesTimesOver106Days) {
  for (const char* rate : {"1", "10"}) {
    Write("slow.txtpb", absl::StrCat("topology { dimension { kind: RING size: 2 bandwidth_bytes_per_s: ",
                                     rate, " latency_ns: 500 } }\n"));
    for (int r = 0; r < 2; ++r) Rank("slow", r, {Coll(1, 0, 32 << 20)});
    for (const char* fabric : {"analytical", "analytical-fifo", "fluid", "packet"}) {
      if (std::string(rate) == "10" && std::string(fabric) != "packet") continue;
      const Outcome r = Run(absl::StrCat("replay slow --cluster slow.txtpb --fabric ", fabric));
      EXPECT_EQ(r.status, 1) << fabric << " " << rate << "\n" << r.out;
      EXPECT_THAT(r.err, HasSubstr("106 days")) << fabric << " " << rate;
    }
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
