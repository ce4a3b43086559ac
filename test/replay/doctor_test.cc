// `doctor` on folders of users' files.
#include "replay/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "test/trace/tar_member.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    std::string pattern = (fs::temp_directory_path() / "doctor_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Doctor() override { fs::remove_all(folder_); }

  void Write(const std::string& name, absl::string_view content) const {
    fs::create_directories((folder_ / name).parent_path());
    ASSERT_TRUE(WriteFile((folder_ / name).string(), content, Compression::kNone).ok());
  }
  void Copy(const std::string& from, const std::string& name) const {
    fs::create_directories((folder_ / name).parent_path());
    fs::copy(absl::StrCat(CHAKRA_SOURCE_DIR, "/", from), folder_ / name, fs::copy_options::recursive);
  }
  proto::Diagnosis Diagnose(uint64_t most_bytes = uint64_t{2} << 30) const {
    auto d = doctor::Diagnose({folder_.string()}, {.most_bytes = most_bytes, .threads = 2});
    EXPECT_TRUE(d.ok()) << d.status();
    return d.ok() ? *d : proto::Diagnosis();
  }
  // The description of the file; "" if the file is not listed.
  static std::string What(const proto::Diagnosis& d, const std::string& name) {
    for (const proto::FoundFile& f : d.file()) {
      if (fs::path(f.path()).filename() == name) return f.what();
    }
    return "";
  }
  static std::string Next(const proto::Diagnosis& d, const std::string& name) {
    for (const proto::FoundFile& f : d.file()) {
      if (fs::path(f.path()).filename() == name) return f.next();
    }
    return "";
  }
  static std::string Remedy(const proto::Diagnosis& d, const std::string& name) {
    for (const proto::FoundFile& f : d.file()) {
      if (fs::path(f.path()).filename() == name) return f.remedy();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(Doctor, CompleteTracesLackNothing) {
  Copy("examples/transformer_step", "step");
  const proto::Diagnosis d = Diagnose();
  ASSERT_EQ(d.run_size(), 1);
  EXPECT_EQ(d.run(0).ranks(), 8);
  EXPECT_EQ(d.run(0).nodes(), 1256u);
  EXPECT_EQ(d.run(0).collectives(), 640u);
  EXPECT_EQ(d.run(0).error(), "");
  EXPECT_EQ(d.file_size(), 0) << "the groups belong to the run";
  // The suggested command works.
  const std::string& next = d.run(0).next();
  ASSERT_EQ(next.rfind("chakra-replay ", 0), 0u);
  EXPECT_EQ(RunCommand(next.substr(14) + " -q").status, 0) << next;
}

TEST_F(Doctor, FindsSeveralRunsInOneFolder) {
  Copy("examples/transformer_step", "two/a");
  Copy("examples/transformer_step", "two/b c");
  for (const auto& f : fs::directory_iterator(folder_ / "two/a")) {
    const std::string name = f.path().filename().string();
    if (name.rfind("workload.", 0) == 0) fs::copy(f.path(), folder_ / "two/a" / ("other" + name.substr(8)));
  }
  const proto::Diagnosis d = Diagnose();
  ASSERT_EQ(d.run_size(), 3);
  EXPECT_EQ(d.run(0).input(0), (folder_ / "two/a/other").string());
  EXPECT_EQ(d.run(1).input(0), (folder_ / "two/a/workload").string());
  EXPECT_EQ(d.run(2).input(0), (folder_ / "two/b c/workload").string());
  EXPECT_THAT(d.run(2).next(), HasSubstr("b c/workload'"));
  for (const proto::FoundRun& run : d.run()) EXPECT_EQ(run.ranks(), 8) << run.error();
}

// A capture in an archive lacks the same data as in a folder.
TEST_F(Doctor, ArchivesLackTheSameAsFolders) {
  std::string tar;
  for (const int r : {0, 1}) {
    const std::string json = absl::StrCat(
        R"({"distributedInfo":{"backend":"nccl","rank":)", r,
        R"(,"world_size":2},"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,)"
        R"("dur":9,"args":{}},{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,)"
        R"("dur":2,"args":{"correlation":1}},{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":5,)"
        R"("dur":9,"args":{"device":0,"stream":7,"correlation":1}}]})");
    Write(absl::StrCat("folder/rank", r, ".json"), json);
    tar += TarMember(absl::StrCat("rank", r, ".json"), json);
  }
  Write("folder.tar", tar + kTarEnd);
  const proto::Diagnosis d = Diagnose();
  ASSERT_EQ(d.run_size(), 2);
  for (const proto::FoundRun& run : d.run()) {
    ASSERT_EQ(run.lack_size(), 1) << run.DebugString();
    EXPECT_EQ(run.lack(0).what(), "shapes of operators");
    EXPECT_THAT(run.lack(0).remedy(), HasSubstr("record-help torch"));
  }
}

TEST_F(Doctor, ReportsMissingRanks) {
  Copy("examples/transformer_step", "step");
  for (const auto& f : fs::directory_iterator(folder_ / "step")) {
    if (f.path().filename().string().rfind("workload.3.", 0) == 0) fs::remove(f.path());
  }
  const proto::Diagnosis d = Diagnose();
  ASSERT_EQ(d.run_size(), 1);
  EXPECT_THAT(d.run(0).error(), HasSubstr("these ranks have no trace: 3"));
  EXPECT_EQ(d.run(0).next(), "");
}

TEST_F(Doctor, DescribesFilesThatAreNoTraces) {
  Write("empty.json", "");
  Write("weights.safetensors", "x");
  Write("page.json", "<!DOCTYPE html><html><body>sign in</body></html>");
  Write("lfs.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  Write("packed.zip", "PK\x03\x04 and so on");
  Write("cluster.txtpb", "topology { dimension { kind: RING size: 8 bandwidth_gbytes_per_s: 100 } }\n");
  Write("edit.txtpb", "edit { select { name: 'gemm' } duration { factor: 0.5 } }\n");
  Write("groups.json", "{\"tp\": [0, 1], \"dp\": [0, 2]}");
  Write("notes.txt", "buy milk");
  Write("utf16.json", absl::string_view("\xff\xfe{\0}\0", 6));
  Write("profiler_info_3.json", "{\"config\":{},\"rank_id\":3}");
  Copy("examples/plan", "plan");
  const proto::Diagnosis d = Diagnose();
  EXPECT_EQ(d.run_size(), 0);
  EXPECT_EQ(What(d, "empty.json"), "an empty file");
  EXPECT_THAT(What(d, "weights.safetensors"), HasSubstr("weights"));
  EXPECT_EQ(What(d, "page.json"), "a page of HTML");
  EXPECT_THAT(What(d, "lfs.json"), HasSubstr("Git LFS"));
  EXPECT_THAT(What(d, "packed.zip"), HasSubstr("cannot be read: "));
  EXPECT_THAT(What(d, "packed.zip"), HasSubstr("zip archive, byte 14: there is no directory at the end"));
  EXPECT_EQ(What(d, "cluster.txtpb"), "a cluster");
  EXPECT_THAT(Next(d, "cluster.txtpb"), HasSubstr("--cluster"));
  EXPECT_EQ(What(d, "edit.txtpb"), "a script of edits");
  EXPECT_EQ(What(d, "groups.json"), "process groups");
  EXPECT_THAT(What(d, "utf16.json"), HasSubstr("UTF-16"));
  EXPECT_THAT(What(d, "profiler_info_3.json"), HasSubstr("torch_npu"));
  EXPECT_EQ(What(d, "notes.txt"), "unknown to this program");
  EXPECT_EQ(What(d, "llama3-70b.json"), "the configuration of a model");
  EXPECT_EQ(static_cast<uint64_t>(d.file_size()), d.files());
}

TEST_F(Doctor, RecognisesFormatsByTheirContent) {
  Write("plan.json",
        "{\"name\": \"ag\", \"collective\": \"allgather\", \"protocol\": \"Simple\", \"gpus\": "
        "[{\"id\": 0, \"threadblocks\": []}]}");
  Write("nccl.log", "node1:100:200 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n");
  Write("lat.txt", "# OSU MPI-CUDA Latency Test v7.5\n# Size       Avg Latency(us)\n8   3.40\n");
  Write("reduce.txt", "# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n8   9.10\n");
  Write("colon.txt", "x: y\n");
  Write("compose.yaml", "version: 3\nrank: 4\n");
  Write("package.json", "{\"name\": \"x\", \"version\": \"1.0\"}");
  Write("rank.json", "{\"rank\": 3, \"fabric\": \"x\"}");
  Write("id.json", "{\"id\": 5, \"name\": \"x\"}");
  const proto::Diagnosis d = Diagnose();
  EXPECT_EQ(d.run_size(), 0);
  EXPECT_THAT(What(d, "plan.json"), HasSubstr("MSCCL++"));
  EXPECT_THAT(What(d, "nccl.log"), HasSubstr("debug log of NCCL"));
  EXPECT_EQ(What(d, "lat.txt"), "measurements of OSU's micro-benchmarks or perftest");
  EXPECT_THAT(Next(d, "lat.txt"), HasSubstr("lat.txt --cluster PRESET"));
  EXPECT_THAT(Next(d, "reduce.txt"), HasSubstr("reduce.txt --ranks N --cluster PRESET"));
  for (const char* name : {"colon.txt", "compose.yaml", "package.json", "rank.json", "id.json"})
    EXPECT_EQ(What(d, name), "unknown to this program") << name;
}

TEST_F(Doctor, RecognisesConfigurationsOfTraining) {
  Write("ds.json", "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": 3}}");
  Write("auto.json", "{\"train_micro_batch_size_per_gpu\": \"auto\", \"zero_optimization\": {\"stage\": 3}}");
  Write("sft.yaml",
        "model_name_or_path: meta-llama/Meta-Llama-3-8B\nfinetuning_type: full\nstage: sft\ncutoff_len: "
        "2048\n");
  Write("other.yaml", "base_model: acme/Roadrunner-9B\nsequence_len: 2048\n");
  Write("accelerate.yaml",
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 4\n");
  const proto::Diagnosis d = Diagnose();
  EXPECT_EQ(d.run_size(), 0);
  EXPECT_EQ(What(d, "ds.json"), "a configuration of training: DeepSpeed's JSON");
  EXPECT_THAT(Next(d, "ds.json"),
              HasSubstr("ds.json --model llama3-8b --parallel dp=8 --training seq=4096 --cluster dgx-h100"));
  EXPECT_EQ(Next(d, "auto.json"), "");
  EXPECT_THAT(Remedy(d, "auto.json"),
              HasSubstr("train_micro_batch_size_per_gpu is \"auto\"; a trainer fills it in"));
  EXPECT_EQ(What(d, "sft.yaml"), "a configuration of training: LLaMA-Factory's YAML");
  EXPECT_THAT(Next(d, "sft.yaml"), HasSubstr("sft.yaml --parallel dp=8 --cluster dgx-h100"));
  EXPECT_THAT(Remedy(d, "other.yaml"),
              HasSubstr("base_model is \"acme/Roadrunner-9B\"; no preset has this id"));
  EXPECT_THAT(Next(d, "accelerate.yaml"),
              HasSubstr("--model llama3-8b --training seq=4096 --cluster dgx-h100"));
}

TEST_F(Doctor, ReportsFaultsThatAReplayWouldFind) {
  const auto node = [](int id, bool send, int own, absl::string_view after) {
    return absl::StrCat(
        "{\"id\": \"", id, "\", \"name\": \"m\", \"type\": \"COMM_", send ? "SEND" : "RECV", "_NODE\", ",
        after,
        "\"attr\": [{\"name\": \"is_cpu_op\", \"boolVal\": false}, {\"name\": \"comm_size\", \"int64Val\": "
        "\"1024\"}, {\"name\": \"comm_tag\", \"int32Val\": 1}, {\"name\": \"comm_src\", \"int32Val\": ",
        send ? own : 1 - own, "}, {\"name\": \"comm_dst\", \"int32Val\": ", send ? 1 - own : own, "}]}\n");
  };
  const std::string head = "{\"version\": \"0.0.4\"}\n";
  for (const int r : {0, 1}) {
    Write(absl::StrCat("stuck/w.", r, ".json"),
          absl::StrCat(head, node(1, false, r, ""), node(2, true, r, "\"dataDeps\": [\"1\"], ")));
    Write(absl::StrCat("well/w.", r, ".json"), absl::StrCat(head, node(1, r == 0, r, "")));
    Write(absl::StrCat("timeless/w.", r, ".json"),
          "{\"version\": \"0.0.4\"}\n{\"id\": \"1\", \"name\": \"c\", \"type\": \"COMP_NODE\"}");
  }
  const proto::Diagnosis d = Diagnose();
  ASSERT_EQ(d.run_size(), 3);
  EXPECT_THAT(d.run(0).refused(), HasSubstr("cannot finish"));
  EXPECT_NE(RunCommand(d.run(0).next().substr(14) + " -q").status, 0) << "as replay says";
  EXPECT_EQ(d.run(1).refused(), "");
  ASSERT_GT(d.run(1).lack_size(), 0);
  EXPECT_EQ(d.run(1).lack(d.run(1).lack_size() - 1).what(), "anything that takes time");
  const CommandResult timeless = RunCommand(d.run(1).next().substr(14) + " -q");
  EXPECT_EQ(timeless.status, 0);
  EXPECT_THAT(timeless.out, HasSubstr("no node takes time"));
  EXPECT_THAT(RunCommand(d.run(1).next().substr(14) + " -q --format csv").err,
              HasSubstr("no node takes time"));
  EXPECT_EQ(d.run(2).refused(), "");
  EXPECT_EQ(RunCommand(d.run(2).next().substr(14) + " -q").status, 0);
}

TEST_F(Doctor, RecognisesNetworks) {
  Write("links.txt",
        "5 1 4\n4\n0 4 400Gbps 0.0005ms 0\n1 4 400Gbps 0.0005ms 0\n2 4 400Gbps 0.0005ms 0\n"
        "3 4 400Gbps 0.0005ms 0\n");
  Write("graph.txtpb",
        "vertices { name: \"gpu\" kind: DEVICE count: 2 } vertices { name: \"sw\" kind: SWITCH count: 1 }"
        " links { from: \"gpu\" to: \"sw\" scheme: ALL_PAIRS bandwidth_gbytes_per_s: 50 latency_ns: 500 }");
  Write("numbers.txt", "5 1 4\n4\n0 4\n");
  const proto::Diagnosis d = Diagnose();
  EXPECT_EQ(What(d, "links.txt"), "a network as ns-3's list of links: 4 devices, 1 switch, 4 cables");
  EXPECT_THAT(Next(d, "links.txt"), HasSubstr("chakra-replay topology show "));
  EXPECT_EQ(What(d, "graph.txtpb"), "a network as a graph: 2 devices, 1 switch, 2 cables");
  EXPECT_EQ(What(d, "numbers.txt"), "unknown to this program");
  EXPECT_EQ(static_cast<uint64_t>(d.file_size()), d.files());
}

TEST_F(Doctor, NamesLargeRunsWithoutReadingThem) {
  Copy("examples/transformer_step", "step");
  const proto::Diagnosis d = Diagnose(/*most_bytes=*/10);
  ASSERT_EQ(d.run_size(), 1);
  EXPECT_TRUE(d.run(0).unread());
  EXPECT_THAT(d.run(0).next(), HasSubstr("inspect"));
}

TEST_F(Doctor, NamesTheFaultsOfBadTraces) {
  Write("w.0.et", "\x03gar");
  Write("capture.json", "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"ker");
  const proto::Diagnosis d = Diagnose();
  ASSERT_EQ(d.run_size(), 2);
  for (const proto::FoundRun& run : d.run()) EXPECT_NE(run.error(), "") << run.title();
}

TEST_F(Doctor, ChecksItsCommandLine) {
  EXPECT_EQ(RunCommand("doctor").status, 2);
  const CommandResult none = RunCommand("doctor /nowhere/at/all");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no such file or folder"));
  const CommandResult text =
      RunCommand(absl::StrCat("doctor ", CHAKRA_SOURCE_DIR, "/examples/transformer_step"));
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("8 ranks, 1,256 nodes"));
  const CommandResult nothing = RunCommand("doctor " + folder_.string());
  EXPECT_EQ(nothing.status, 0);
  EXPECT_THAT(nothing.out, HasSubstr("record-help"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
