// All traces of the shared data: each that can be replayed has a critical path that covers every picosecond.
#include <algorithm>
#include <set>

#include "acceptance_testing.h"
#include "test/folders.h"
#include "test/sanitized.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

const std::string kData = CHAKRA_SHARED_DATA;
// The size of the largest file, in bytes: larger ones take minutes under sanitizers.
constexpr uint64_t kLargest = kSanitized ? 1 << 18 : 1 << 26;

class CriticalPathData : public Bench {
 protected:
  void SetUp() override {
    if (!fs::is_directory(kData))
      GTEST_SKIP() << "NO REAL DATA: " << kData << " is absent; nothing was checked";
  }
};

TEST_F(CriticalPathData, CoversEveryFile) {
  std::set<std::string> files, refused;
  for (const char* folder : {"hta", "param", "chakra", "bad"}) {
    for (const auto& entry : fs::directory_iterator(kData + "/" + folder)) {
      if (entry.is_regular_file() && entry.file_size() <= kLargest) files.insert(entry.path().string());
    }
  }
  for (const std::string& file : files) {
    if (Run("replay -q " + file).status == 0) {
      Replayed(file);
    } else {
      refused.insert(fs::path(file).filename().string());
    }
  }
  // real_data_test.cc checks why they are refused.
  EXPECT_EQ(refused,
            (std::set<std::string>{"all_gather_et.1.0.2.json.gz", "allcycle.et", "cycle2.et", "dup_ids.et",
                                   "empty.et", "feeder_form_small.0.json", "garbage.et", "self_data.et",
                                   "text.et", "trunc_body.et", "trunc_varint.et"}));
  EXPECT_GE(files.size(), 30u);
}

TEST_F(CriticalPathData, CoversEveryJob) {
  std::set<std::string> jobs = {"/astra-sim/custom_ring_allreduce_8npus_1MB", "/stage/llama_tiny_8"};
  for (const auto& kind : fs::directory_iterator(kData + "/astra-sim/microbenchmarks")) {
    for (const auto& size : fs::directory_iterator(kind))
      jobs.insert(size.path().string().substr(kData.size()));
  }
  EXPECT_EQ(jobs.size(), 14u);
  for (const std::string& job : jobs) {
    for (const char* fabric : {"analytical", "analytical-fifo", "fluid", "packet"})
      Replayed(kData + job + " --cluster dgx-h100:nodes=2 --fabric " + fabric);
  }
}

TEST_F(CriticalPathData, CoversRecordedAndSimulatedCaptures) {
  const std::string dlrm = kData + "/param/dlrm";
  if (!kSanitized) {
    for (const char* part : {"/kineto", "/et", ""}) Replayed(dlrm + part);
    Replayed(dlrm + " --comm simulated --cluster dgx-v100 --fabric analytical");
  }
  Replayed(dlrm + " --comm simulated --cluster dgx-v100 --fabric fluid");
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
