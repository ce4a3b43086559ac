// Bad captures: each gives an error that names the file and the event or rank, or a counted repair.
#include <gmock/gmock.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "acceptance_testing.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/et/read_options.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using pytorch::HostBuilder;
using pytorch::KinetoBuilder;

class BadCapture : public Bench {
 protected:
  // Three operators and a kernel.
  static KinetoBuilder Device() {
    return KinetoBuilder()
        .Op(1, "aten::add", 1000, 9000, ",\"Record function id\":5")
        .Launch(1, 3000, 2000, 7, "add_kernel", 8000, 10000)
        .Op(1, "aten::mul", 11000, 9000, ",\"Record function id\":6")
        .Op(1, "aten::sub", 21000, 9000, ",\"Record function id\":7");
  }
  static HostBuilder Host(const std::string& library = "aten") {
    return HostBuilder()
        .Node(10, library + "::add", 2, 5)
        .Node(11, library + "::mul", 2, 6)
        .Node(12, library + "::sub", 2, 7);
  }
  void Kineto(const std::string& name, const std::string& json) const { Write(name, json); }
  // `json` with its only `from` replaced by `to`.
  static std::string Edited(const std::string& json, const std::string& from, const std::string& to) {
    EXPECT_EQ(json.find(from), json.rfind(from)) << from;
    EXPECT_NE(json.find(from), std::string::npos) << from;
    return absl::StrReplaceAll(json, {{from, to}});
  }
  // Both commands that read captures report the fault.
  void BothRefuse(const std::string& inputs, const std::vector<std::string>& texts) const {
    Refused("convert pytorch " + inputs + " -o out/", texts);
    EXPECT_FALSE(fs::exists(At("out/capture.0.et"))) << inputs;
    Refused("replay " + inputs, texts);
  }
};

TEST_F(BadCapture, ReplaysAValidCapture) {
  Kineto("good/k.0.json", Device().Json());
  EXPECT_EQ(Replayed("good").makespan_ps(), 29000000);
}

TEST_F(BadCapture, ReadsTruncatedKinetoToLastWholeEvent) {
  const std::string json = Device().Rank(0, 1).Json();
  for (const size_t left : {json.size() - 5, json.size() - 100, json.size() / 2}) {
    Kineto("cut/k.json", json.substr(0, left));
    Repaired("cut", "truncated_kineto", 1);
  }
  Kineto("cut/k.json", json.substr(0, json.find("aten::add")));
  BothRefuse("cut", {"cut/k.json"});
}

// A truncated file is read up to the cut, compressed or not. The report of a compressed one also has a
// warning.
TEST_F(BadCapture, ReadsTruncatedCompressedFilesLikePlainOnes) {
  KinetoBuilder device = Device().Rank(0, 1);
  for (int i = 0; i < 20000; ++i)  // several blocks of zstd; numbers that compress badly
    device.Op(1, absl::StrCat("aten::op", i * 7919 % 100003), 50000 + i, 1);
  for (const std::string end : {".gz", ".zst"}) {
    fs::remove_all(At("cut"));
    fs::create_directories(At("cut"));
    CompressedFile file;
    ASSERT_TRUE(file.Open(At("whole.json" + end)).ok());
    ASSERT_TRUE(file.Append(device.Json()).ok());
    ASSERT_TRUE(file.Finish().ok());
    std::string packed = *ReadFileAsItIs(At("whole.json" + end));
    Kineto("cut/k.json" + end, packed.substr(0, packed.size() / 2));
    Repaired("cut", "truncated_kineto", 1);
    const proto::Report report = Replayed("cut");
    EXPECT_TRUE(std::any_of(report.repair().begin(), report.repair().end(),
                            [](const proto::Repair& r) { return r.kind() == "truncated_stream"; }));
    EXPECT_TRUE(std::any_of(report.warning().begin(), report.warning().end(), [&](const std::string& w) {
      return absl::StrContains(w, "k.json" + end + " was cut short");
    })) << report.DebugString();
    Refused("replay cut --strict", {"cut/k.json" + end, "truncated_kineto", "strict"});
    packed[packed.size() / 3] ^= 0x55;  // damage, not a cut: at the latest, the checksum at the end shows it
    Kineto("cut/k.json" + end, packed);
    BothRefuse("cut", {"cut/k.json" + end});
  }
}

TEST_F(BadCapture, ReadsTruncatedHostTraceToLastNode) {
  Kineto("cut/k.json", Device().Json());
  const std::string json = Host().Json();
  Kineto("cut/h.json", json.substr(0, json.find("aten::sub")));
  Repaired("cut", "truncated_host_trace", 1);
}

TEST_F(BadCapture, WrongTypesNameFileEventAndField) {
  const std::string json = Device().Json();
  Kineto("a/k.json", Edited(json, "\"ts\":11.000", "\"ts\":\"soon\""));
  BothRefuse("a", {"a/k.json", "event 3", "aten::mul", "\"ts\" is \"soon\"", "expected a number"});
  Kineto("b/k.json", Edited(json, "\"name\":\"aten::mul\"", "\"name\":[1]"));
  BothRefuse("b", {"b/k.json", "event 3", "\"name\" is [1]", "expected text"});
  Kineto("c/k.json", Edited(json, "\"stream\":7", "\"stream\":{}"));
  BothRefuse("c", {"c/k.json", "event 2", "add_kernel", "\"stream\"", "expected the number of a stream"});
  Kineto("d/k.json", "{\"schemaVersion\":1,\"traceEvents\":{\"a\":1}}");
  BothRefuse("d", {"d/k.json", "\"traceEvents\" is not an array"});
  Kineto("e/h.json", Edited(Host().Json(), "\"id\":11", "\"id\":\"eleven\""));
  BothRefuse("e", {"e/h.json", "aten::mul", "field id", "expected an integer"});
}

TEST_F(BadCapture, InvalidDurationsBecomeZeroAndAreCounted) {
  const std::string json = Device().Json();
  Kineto("a/k.json", Edited(json, "\"ts\":11.000,\"dur\":9.000", "\"ts\":11.000,\"dur\":NaN"));
  Repaired("a", "kineto_bad_duration", 1);
  Kineto("b/k.json", Edited(json, "\"ts\":11.000,\"dur\":9.000", "\"ts\":11.000,\"dur\":-9.000"));
  Repaired("b", "kineto_negative_duration", 1);
  Kineto("c/k.json", Edited(json, "\"ts\":11.000,\"dur\":9.000", "\"ts\":11.000"));
  Repaired("c", "kineto_missing_duration", 1);
  Kineto("d/k.json", Edited(json, "\"ts\":11.000,\"dur\":9.000", "\"ts\":NaN,\"dur\":1"));
  BothRefuse("d", {"d/k.json", "event 3", "\"ts\" is NaN"});
  Kineto("e/k.json", Edited(json, "\"ts\":11.000,\"dur\":9.000", "\"ts\":1e30,\"dur\":1"));
  BothRefuse("e", {"e/k.json", "event 3", "\"ts\" is 1e30"});
}

TEST_F(BadCapture, ReportsMissingDeviceEvents) {
  Kineto("host_only/k.json", KinetoBuilder().Op(1, "aten::add", 1000, 9000).Json());
  const proto::Report report = Replayed("host_only");
  EXPECT_EQ(report.makespan_ps(), 9000000);
  EXPECT_THAT(report.DebugString(), testing::HasSubstr("no device operation"));
  Kineto("none/k.json", KinetoBuilder().Json());
  BothRefuse("none",
             {"none/k.json", "no operator, runtime call or device operation", "expected torch.profiler's"});
}

TEST_F(BadCapture, ReportsMissingRankAndRefusesItsSelection) {
  for (const int rank : {0, 2})
    Kineto(absl::StrCat("three/k.", rank, ".json"), Device().Rank(rank, 3).Json());
  EXPECT_THAT(Replayed("three").DebugString(), testing::HasSubstr("the job has 3 ranks, 2 of them captured"));
  Refused("convert pytorch three --select-ranks 1 -o out/", {"rank 1", "not captured", "0, 2"});
}

TEST_F(BadCapture, RefusesTwoFilesForOneRank) {
  Kineto("two/a.json", Device().Rank(1, 2).Json());
  Kineto("two/b.json", Device().Rank(1, 2).Json());
  BothRefuse("two", {"two device traces for rank 1", "two/a.json", "two/b.json"});
  Kineto("hosts/k.json", Device().Rank(1, 2).Json());
  Kineto("hosts/h1_rank1.json", Host().Json());
  Kineto("hosts/h2_rank1.json", Host().Json());
  BothRefuse("hosts", {"two host traces for rank 1", "h1_rank1.json", "h2_rank1.json"});
}

TEST_F(BadCapture, RefusesFilesOfUnknownRank) {
  Kineto("which/a.json", Device().Json());
  Kineto("which/b.json", Device().Json());
  BothRefuse("which", {"which/a.json", "its rank is unknown", "distributedInfo.rank"});
}

TEST_F(BadCapture, RefusesHostAndDeviceOfDifferentRuns) {
  Kineto("runs/k.json", Device().Json());
  Kineto("runs/h.json", Host("other").Json());
  BothRefuse("runs", {"runs/h.json", "runs/k.json", "different runs", "\"other::add\" on the host",
                      "\"aten::add\" in Kineto"});
  Kineto("ranks/k_rank0.json", Device().Json());
  Kineto("ranks/h_rank1.json", Host().Json());
  BothRefuse("ranks", {"h_rank1.json is from rank 1", "k_rank0.json from rank 0"});
  Refused("convert pytorch --host runs/h.json --device ranks/k_rank0.json -o out/", {"different runs"});
}

TEST_F(BadCapture, RefusesFilesThatAreNoCapture) {
  fs::create_directories(At("empty"));
  Write("text/k.json", "hello\n");
  Write("list/k.json", "[1,2,3]\n");
  for (const char* input : {"empty", "text", "list", "text/k.json"}) {
    Refused(std::string("convert pytorch ") + input + " -o out/",
            {input, "not a PyTorch capture", "traceEvents"});
    Refused(std::string("replay ") + input, {input});
  }
  Refused("convert pytorch nowhere -o out/", {"nowhere", "No such file"});
}

TEST_F(BadCapture, FolderOfTracesIgnoresItsCaptures) {
  Rank("both", 0, {Comp(0, 7)});
  Kineto("both/k.json", Device().Json());
  EXPECT_EQ(Replayed("both").makespan_ps(), 7000000) << "its .et file";
  EXPECT_EQ(Replayed("both/k.json").makespan_ps(), 29000000) << "the capture, where it is named";
  const Outcome r = Run("convert pytorch both -o out/");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, testing::HasSubstr("both/w.0.et")) << "left out, and said";
}

TEST_F(BadCapture, RefusesMissingSteps) {
  Kineto(
      "steps/k.json",
      Device().Annotation(1, "ProfilerStep#3", 0, 40000).Annotation(1, "ProfilerStep#4", 40000, 9000).Json());
  Kineto("without/k.json", Device().Json());
  Refused("convert pytorch steps --steps 7 -o out/", {"steps/k.json", "\"7\"", "steps 3 to 4"});
  Refused("convert pytorch steps --steps 4-3 -o out/", {"steps/k.json", "no such steps"});
  Refused("convert pytorch steps --steps some -o out/",
          {"steps/k.json", "expected all, first, last, skip-first, N or N-M"});
  Refused("convert pytorch without --steps last -o out/", {"without/k.json", "no ProfilerStep marks"});
}

TEST_F(BadCapture, StrictRefusesRepairs) {
  Kineto("cut/k.json", Device().Rank(0, 1).Json().substr(0, Device().Rank(0, 1).Json().size() - 5));
  Refused("convert pytorch cut --strict -o out/", {"cut/k.json", "truncated_kineto", "strict"});
}

// No cut and no changed byte crashes the reader or hangs it; each refusal names the place.
TEST_F(BadCapture, SurvivesDamagedAndCutFiles) {
  pytorch::CaptureFolder folder;
  const std::string json = Device().Rank(0, 1).Json();
  const std::string host = Host().Json();
  for (size_t at = 0; at < json.size(); at += 7) {
    std::string damaged = json;
    damaged[at] = at % 2 == 0 ? '"' : '9';
    folder.Write("k.json", damaged);
    folder.Write("h.json", host.substr(0, host.size() - at % host.size()));
    ReadOptions options;
    auto capture = pytorch::ReadCapture({folder.path()}, options);
    if (!capture.ok()) {
      EXPECT_THAT(std::string(capture.status().message()), testing::HasSubstr(folder.path())) << at;
      continue;
    }
    EXPECT_TRUE(CaptureTraces(*capture, options).ok()) << at;
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
