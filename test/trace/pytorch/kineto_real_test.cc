// The Kineto reader on published captures, whose counts and times are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "trace/import/kineto/kineto.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RealKineto : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(CHAKRA_SHARED_DATA)) {
      GTEST_SKIP() << "SKIPPED: the real captures are not at " << CHAKRA_SHARED_DATA;
    }
  }
  DeviceTrace ReadFile(const std::string& name) {
    const std::string path = absl::StrCat(CHAKRA_SHARED_DATA, "/", name);
    auto file = FileSource::Open(path);
    EXPECT_TRUE(file.ok()) << file.status();
    if (!file.ok()) return DeviceTrace();
    auto content = OpenContent(file->get(), path);
    EXPECT_TRUE(content.ok()) << content.status();
    auto trace = ReadKineto(content->get(), path);
    EXPECT_TRUE(trace.ok()) << trace.status();
    return trace.ok() ? *std::move(trace) : DeviceTrace();
  }
  static std::vector<int64_t> StepsInMicros(const DeviceTrace& t) {
    std::vector<int64_t> steps;
    for (const Event& e : t.events) {
      if (e.kind == EventKind::kAnnotation && absl::StartsWith(t.name_of(e), "ProfilerStep"))
        steps.push_back((e.dur + 500) / 1000);
    }
    return steps;
  }
  static size_t Count(const DeviceTrace& t, EventKind kind) {
    return static_cast<size_t>(
        std::count_if(t.events.begin(), t.events.end(), [=](const Event& e) { return e.kind == kind; }));
  }
};

TEST_F(RealKineto, ReadsDlrm) {
  const int64_t steps[] = {14455, 19901, 13017, 19313, 17979, 17797, 13091, 12509};
  std::vector<std::string> files;
  for (const auto& e :
       std::filesystem::directory_iterator(absl::StrCat(CHAKRA_SHARED_DATA, "/param/dlrm/kineto"))) {
    files.push_back("param/dlrm/kineto/" + e.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 8u);
  for (int rank = 0; rank < 8; ++rank) {
    const DeviceTrace t = ReadFile(files[rank]);
    EXPECT_EQ(t.rank, rank);
    EXPECT_EQ(t.world_size, 8);
    EXPECT_TRUE(t.external_is_correlation);
    EXPECT_THAT(StepsInMicros(t), ElementsAre(steps[rank]));
    EXPECT_THAT(t.devices, testing::Each("Tesla V100-SXM2-32GB"));
    EXPECT_THAT(t.repairs, IsEmpty());
    if (rank > 0) continue;
    EXPECT_EQ(Count(t, EventKind::kKernel), 245u);
    EXPECT_EQ(Count(t, EventKind::kMemcpy), 16u);
    EXPECT_EQ(Count(t, EventKind::kRuntime), 525u);
    EXPECT_EQ(Count(t, EventKind::kCpuOp), 1633u);
    std::set<int64_t> streams;
    for (const StreamLane& s : t.streams) streams.insert(s.stream);
    EXPECT_THAT(streams, ElementsAre(7, 22, 24, 84));
  }
}

TEST_F(RealKineto, ReadsResNetWithNcclMetadata) {
  const DeviceTrace t = ReadFile("hta/a100_resnet50_ddp_rank-0_of_2.json.gz");
  EXPECT_EQ(t.base_ns, 1711964646000000000);
  EXPECT_EQ(Count(t, EventKind::kKernel) + Count(t, EventKind::kMemcpy) + Count(t, EventKind::kMemset),
            3774u);
  EXPECT_THAT(StepsInMicros(t), ElementsAre(222442, 219727, 224936));
  EXPECT_FALSE(t.external_is_correlation);
  EXPECT_THAT(t.groups.at("0"), ElementsAre(0, 1));
  EXPECT_EQ(t.fwdbwd.size(), 543u);
  std::map<int64_t, int> on;
  std::map<int64_t, int> bytes;
  for (const Event& e : t.events) {
    if (!OnDevice(e.kind)) continue;
    ++on[t.streams[e.lane].stream];
    const uint32_t comm = t.device[e.extra].comm;
    if (comm != kNoRow) ++bytes[t.comms[comm].in_bytes];
  }
  EXPECT_THAT(on, ElementsAre(testing::Pair(7, 3753), testing::Pair(40, 21)));
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), 0, [](int n, const auto& b) { return n + b.second; }),
            21);
  for (const int64_t b : {8196000, 31502336, 26255360, 26550272, 9724160}) EXPECT_EQ(bytes.count(b), 1u) << b;
  for (const FlowArrow& a : t.fwdbwd) {
    ASSERT_EQ(t.ops[t.events[a.from].extra].seq, t.ops[t.events[a.to].extra].seq);
    ASSERT_LT(t.events[a.from].ts, t.events[a.to].ts);
  }
}

TEST_F(RealKineto, ReadsARecommender) {
  const DeviceTrace t = ReadFile("hta/v100_recommender_rank-1_of_2.json.gz");
  EXPECT_THAT(StepsInMicros(t), ElementsAre(100298, 122149, 166403, 81971, 107230, 166350));
  EXPECT_TRUE(t.external_is_correlation);
  EXPECT_EQ(std::count_if(t.events.begin(), t.events.end(),
                          [&](const Event& e) {
                            return e.kind == EventKind::kKernel && absl::StartsWith(t.name_of(e), "nccl");
                          }),
            64);
}

TEST_F(RealKineto, ReadsNanosecondResolution) {
  const DeviceTrace t = ReadFile("hta/v100_ns_resolution_rank-0.json.gz");
  EXPECT_THAT(StepsInMicros(t), ElementsAre(35116, 72077, 95697, 95551, 95699));
  EXPECT_EQ(t.fwdbwd.size(), 905u);
  EXPECT_EQ(t.comms.size(), 45u);
}

TEST_F(RealKineto, ReadsOtherVersionsAndDevices) {
  const DeviceTrace amd = ReadFile("hta/amd_mi250_toy.json.gz");
  EXPECT_EQ(Count(amd, EventKind::kKernel), 14u);
  EXPECT_EQ(Count(amd, EventKind::kRuntime), 21u);
  EXPECT_EQ(amd.runtime.size(), 16u);
  EXPECT_EQ(amd.streams[0].device, 2);
  EXPECT_EQ(amd.fwdbwd.size(), 4u);
  const DeviceTrace mtia = ReadFile("hta/mtia_inference_rank_0.json.gz");
  EXPECT_EQ(Count(mtia, EventKind::kKernel), 1313u);
  EXPECT_EQ(Count(mtia, EventKind::kRuntime), 823u);
  const DeviceTrace legacy = ReadFile("hta/legacy_categories.json.gz");
  EXPECT_EQ(legacy.rank, 1);
  EXPECT_EQ(Count(legacy, EventKind::kKernel), 4u);
  EXPECT_EQ(Count(legacy, EventKind::kRuntime), 8u);
  const DeviceTrace sync = ReadFile("hta/cuda_event_sync.json.gz");
  EXPECT_EQ(sync.syncs.size(), 4u);
  EXPECT_EQ(Count(ReadFile("hta/cupti_counters_no_kernels.json.gz"), EventKind::kKernel), 0u);
  const DeviceTrace cpu = ReadFile("hta/cpu_only_rank-34.json.gz");
  EXPECT_EQ(cpu.rank, 34);
  EXPECT_EQ(cpu.world_size, 300);
  EXPECT_EQ(Count(ReadFile("hta/triton_example.json.gz"), EventKind::kDriver), 1u);
  const DeviceTrace linear = ReadFile("param/linear_kineto.json.gz");
  EXPECT_EQ(linear.rank, kNoRank);
  EXPECT_EQ(StepsInMicros(linear).size(), 0u);
  EXPECT_EQ(Count(linear, EventKind::kKernel), 8716u);
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
