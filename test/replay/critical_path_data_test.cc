// Others' traces, all of them: each that can be replayed has a critical path that leaves no picosecond out.
#include <algorithm>
#include <set>

#include "acceptance_testing.h"

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kLargest = 1 << 20;  // of a file, in bytes: larger ones take minutes under sanitizers
#else
constexpr uint64_t kLargest = 1 << 26;
#endif

namespace chakra::acceptance {
namespace {

const std::string kData = CHAKRA_SHARED_DATA;

class CriticalPathData : public Bench {
 protected:
  void SetUp() override {
    if (!fs::is_directory(kData))
      GTEST_SKIP() << "NO REAL DATA: " << kData << " is absent; nothing was checked";
  }
  // Whether it can be replayed at all.
  bool Checked(const std::string& arguments) const {
    if (Run("replay -q " + arguments).status != 0) return false;
    Replayed(arguments);
    return true;
  }
};

TEST_F(CriticalPathData, OfEveryFile) {
  std::set<std::string> files, refused;
  for (const char* folder : {"hta", "param", "chakra", "bad"}) {
    for (const auto& entry : fs::directory_iterator(kData + "/" + folder)) {
      if (entry.is_regular_file() && entry.file_size() <= kLargest) files.insert(entry.path().string());
    }
  }
  for (const std::string& file : files) {
    if (!Checked(file)) refused.insert(fs::path(file).filename().string());
  }
  // What they are refused for is real_data_test.cc's to say.
  EXPECT_EQ(refused,
            (std::set<std::string>{"all_gather_et.1.0.2.json.gz", "allcycle.et", "cycle2.et", "dup_ids.et",
                                   "empty.et", "feeder_form_small.0.json", "garbage.et", "self_data.et",
                                   "text.et", "trunc_body.et", "trunc_varint.et"}));
  EXPECT_GE(files.size(), 30u);
}

TEST_F(CriticalPathData, OfEveryJob) {
  std::set<std::string> jobs = {"/astra-sim/custom_ring_allreduce_8npus_1MB", "/stage/llama_tiny_8"};
  for (const auto& kind : fs::directory_iterator(kData + "/astra-sim/microbenchmarks")) {
    for (const auto& size : fs::directory_iterator(kind))
      jobs.insert(size.path().string().substr(kData.size()));
  }
  EXPECT_EQ(jobs.size(), 14u);
  for (const std::string& job : jobs) {
    for (const char* fabric : {"analytical", "analytical-fifo", "fluid", "packet"})
      EXPECT_TRUE(Checked(kData + job + " --cluster dgx-h100:nodes=2 --fabric " + fabric)) << job << fabric;
  }
}

TEST_F(CriticalPathData, OfCapturesAsRecordedAndSimulated) {
  const std::string dlrm = kData + "/param/dlrm";
  EXPECT_TRUE(Checked(dlrm + "/kineto"));
  EXPECT_TRUE(Checked(dlrm + "/et"));
  EXPECT_TRUE(Checked(dlrm));
  for (const char* fabric : {"analytical", "fluid"})
    EXPECT_TRUE(Checked(dlrm + " --comm simulated --cluster dgx-v100 --fabric " + fabric)) << fabric;
}

}  // namespace
}  // namespace chakra::acceptance
