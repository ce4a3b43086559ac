#include "trace/base/stop.h"

#include <atomic>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/folders.h"
#include "trace/base/parallel.h"
#include "trace/import/reader.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

TEST(Stop, LastsAsLongAsItsScope) {
  EXPECT_FALSE(StopRequested());
  std::atomic<bool> flag = true;
  {
    const StopScope scope(&flag);
    EXPECT_TRUE(StopRequested());
    const StopScope none(nullptr);
    EXPECT_FALSE(StopRequested());
  }
  EXPECT_TRUE(CheckStop().ok());
}

TEST(Stop, EndsTasksOfAllThreads) {
  for (const int threads : {1, 4}) {
    std::atomic<bool> flag = false;
    std::atomic<size_t> done = 0;
    const StopScope scope(&flag);
    const absl::Status status = ForEach(10'000, threads, [&] {
      return [&](size_t i) {
        ++done;
        if (i == 100) flag = true;
        return absl::OkStatus();
      };
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << threads;
    EXPECT_LE(done, 101u + static_cast<size_t>(threads));
  }
}

TEST(Stop, EndsReading) {
  const std::string folder = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";
  std::atomic<bool> flag = true;
  const StopScope scope(&flag);
  const absl::Status status = ReadTraceSet({folder}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(status.message()), HasSubstr("reading was cancelled"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
