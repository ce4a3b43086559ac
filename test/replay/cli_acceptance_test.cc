// The command line as a new user meets it: help, typos, outputs that cannot be written, and round trips of
// `convert`.
#include "acceptance_testing.h"
#include "test/folders.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

class Stranger : public Bench {
 protected:
  Stranger() {
    for (int r = 0; r < 2; ++r) Rank("x", r, {Comp(0, 1), With(Coll(1, 0, 1 << 20, {0}), "pg_name", "dp")});
    Write("x/w.json", R"({"dp": [0, 1]})");
  }
  void Same(const std::string& a, const std::string& b) const {
    EXPECT_TRUE(fs::exists(At(a))) << a;
    EXPECT_TRUE(fs::exists(At(b))) << b;
    EXPECT_EQ(Content(At(a)), Content(At(b))) << a << " and " << b;
  }
  void Done(const std::string& arguments) const {
    const Outcome r = Run(arguments);
    EXPECT_EQ(r.status, 0) << arguments << "\n" << r.err;
  }
};

TEST_F(Stranger, HelpNamesCommandsAndMainOptions) {
  const std::string help = Run("replay --help all").out;
  for (const char* option :
       {"--cluster", "--fabric", "--lanes", "--compute", "--kernels", "--groups", "--ranks", "--strict",
        "--report", "--format", "--threads", "--quiet", "--allow-truncated", "--store-and-forward"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
  for (const char* command : {"replay", "inspect", "convert"}) {
    EXPECT_NE(Run("--help").out.find(command), std::string::npos) << command;
    EXPECT_NE(Run(std::string(command) + " -h").out.find("Example"), std::string::npos) << command;
  }
}

TEST_F(Stranger, TyposSuggestTheNearest) {
  Refused("repley x", {"repley", "did you mean", "replay"}, 2);
  Refused("inspct x", {"inspect"}, 2);
  Refused("replay x --colour red", {"--colour"}, 2);
  Refused("replay x --lane single", {"--lane", "--lanes"}, 2);
  Refused("replay x --lanes singel", {"--lanes", "single"}, 2);
  Refused("replay x --threads none", {"--threads"}, 2);
  Refused("replay x --threads 0", {"--threads"}, 2);
  Refused("replay x --ranks -3", {"--ranks"}, 2);
  Refused("replay x --format yaml", {"--format", "json"}, 2);
  Refused("replay x --compute tabel", {"--compute", "table"}, 2);
  Refused("replay x --compute ''", {"--compute"}, 2);
  Refused("replay --cluster", {"--cluster"}, 2);
  Refused("inspect", {"TRACE"}, 2);
  Refused("convert x", {"-o", "`chakra-replay convert --help`"}, 2);
}

TEST_F(Stranger, RefusesOutputsThatCannotBeWritten) {
  Refused("replay x --report /dev/full", {"/dev/full"});
  Refused("replay x --report nowhere/r.json", {"nowhere"});
  Refused("replay x --report x", {"folder"});
  for (const char* command : {"replay x", "inspect x", "convert x/w.0.et --to json -o -"}) {
    for (const char* out : {"/dev/full", "&-"}) {
      const Outcome r = Run(command, out);
      EXPECT_EQ(r.status, 1) << command;
      EXPECT_NE(r.err.find("cannot write standard output"), std::string::npos) << r.err;
    }
  }
}

TEST_F(Stranger, RefusesUnreadableInputs) {
  if (geteuid() != 0) {
    fs::permissions(At("x"), fs::perms::none);
    Refused("replay x", {"ermission"});
    fs::permissions(At("x"), fs::perms::owner_all);
    fs::permissions(At("x/w.1.et"), fs::perms::none);
    Refused("replay x", {"x/w.1.et", "ermission"});
  }
  fs::create_directories(At("y/w.0.et"));
  Refused("replay y", {"y"});
  Refused("replay x --cluster x", {"x"});
  Refused("replay x --kernels nothing.txtpb", {"nothing.txtpb"});
}

TEST_F(Stranger, PipedRunsWriteNothingToStderr) {
  const Outcome r = Run("replay x --cluster ring2.txtpb");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.err, "");
  EXPECT_NE(r.out, "");
}

TEST_F(Stranger, ReportFormatFollowsItsFileName) {
  Done("replay x --cluster ring2.txtpb --report a.json");
  EXPECT_EQ(Content(At("a.json")).rfind("{", 0), 0u);
  EXPECT_NE(Content(At("a.json")).find("\"makespan_ps\": \""), std::string::npos);
  Done("replay x --cluster ring2.txtpb --report a.csv");
  EXPECT_EQ(Content(At("a.csv")).rfind("rank,end_ps", 0), 0u);
}

TEST_F(Stranger, FolderConvertsToEveryFormatAndBack) {
  Done("convert x -o as_json --to json");
  Refused("convert x -o x --to json",
          {"x is the folder of x/w.0.et, which is read; expected another folder"});
  EXPECT_FALSE(fs::exists(folder_ / "x/w.0.json"));
  Done("convert as_json -o back --to et");
  Done("convert x -o as_text --to text");
  Done("convert as_text -o back2 --to et");
  Done("convert x -o as_zst --to et --compression zstd");
  Done("convert as_zst -o back3 --to et --compression none");
  for (const char* file : {"w.0.et", "w.1.et"}) {
    for (const char* folder : {"back/", "back2/", "back3/"})
      Same(std::string("x/") + file, std::string(folder) + file);
  }
  // The groups are converted too, and every format has the same makespan.
  const int64_t makespan = Replayed("x --cluster ring2.txtpb").makespan_ps();
  EXPECT_GT(makespan, 1000000);
  for (const char* form : {"as_json", "as_text", "as_zst", "back"}) {
    EXPECT_EQ(Replayed(std::string(form) + " --cluster ring2.txtpb").makespan_ps(), makespan) << form;
  }
}

TEST_F(Stranger, FileConvertsToEveryFormatAndBack) {
  for (const char* form : {"f.json", "f.txtpb", "f.et.gz", "f.et.zst"}) {
    Done(std::string("convert x/w.0.et -o ") + form);
    Done(std::string("convert ") + form + " -o f.et");
    Same("x/w.0.et", "f.et");
    EXPECT_NE(Content(At(form)), Content(At("f.et"))) << form;
  }
}

TEST_F(Stranger, RealTracesConvertBackByteForByte) {
  const std::string data = CHAKRA_SHARED_DATA;
  if (!fs::is_directory(data)) GTEST_SKIP() << "NO REAL DATA: " << data << " is absent; nothing was checked";
  for (const char* trace :
       {"/stage/llama_tiny_8/workload.0.et.zst", "/chakra/resnet50_ddp.0.et.gz", "/bad/no_md.et",
        "/bad/emptymd.et", "/astra-sim/custom_ring_allreduce_8npus_1MB/custom_allreduce.3.et",
        "/bad/self_ctrl.et"}) {
    Done("convert " + data + trace + " -o plain.et");
    for (const char* form : {"f.json", "f.txtpb"}) {
      Done("convert " + data + trace + " -o " + form);
      Done(std::string("convert ") + form + " -o f.et");
      Same("plain.et", "f.et");
    }
  }
  Done("convert " + data + "/bad/good_gz.et -o plain.et");
  EXPECT_EQ(Content(At("plain.et")), Content(data + "/bad/good.et"));
}

TEST_F(Stranger, ConvertsAstraSimFilesToClusters) {
  const std::string net = "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";
  Write("net.yml", net);
  Write("sys.json", R"({"preferred-dataset-splits": 1, "endpoint-delay": 0, "boost-mode": 1})");
  const Outcome r = Run("convert astra-sim --network net.yml --system sys.json -o c.txtpb");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.err.find("boost-mode"), std::string::npos) << r.err;
  EXPECT_EQ(Replayed("x --cluster c.txtpb").makespan_ps(), Replayed("x --cluster ring2.txtpb").makespan_ps());
  Write("sys.json", "{}");
  Refused("convert astra-sim --network net.yml --system sys.json -o c.txtpb",
          {"sys.json", "preferred-dataset-splits"});
  Refused("convert astra-sim --network none.yml -o c.txtpb", {"none.yml"});
  Refused("convert astra-sim -o c.txtpb", {"--network"}, 2);
  for (const char* bad :
       {"", "topology: [ Ring", "topology: [ Ring ]\n", "topology: [ Ring ]\nnpus_count: [ 2, 2 ]\n",
        "topology: [ Ring ]\nnpus_count: [ -2 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n",
        "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 0 ]\nlatency: [ 500.0 ]\n",
        "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ .nan ]\nlatency: [ 500.0 ]\n"}) {
    Write("bad.yml", bad);
    Refused("convert astra-sim --network bad.yml -o c.txtpb", {"bad.yml"});
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
