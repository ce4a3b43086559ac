// Runs that need more memory than there is, and --max-memory, on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class MemoryCli : public Bench {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitized process has more memory than any limit";
    Rank("exchange", 0, {Coll(1, ChakraProtoMsg::ALL_TO_ALL, int64_t{1} << 30)});
  }
  // A shell runs the command in its own process, so that the limit does not end the test.
  void ExpectRefused(const std::string& arguments, const std::string& begin, const std::string& free) const {
    const Outcome r = Run(arguments + " > out.txt 2> err.txt");
    EXPECT_EQ(r.status, 1) << arguments;
    EXPECT_EQ(Content(At("out.txt")), "") << arguments;
    const std::string error = Content(At("err.txt"));
    EXPECT_THAT(error, StartsWith("chakra-replay: " + begin)) << arguments;
    EXPECT_THAT(error, HasSubstr(free)) << arguments;
    EXPECT_THAT(error, HasSubstr("expected fewer ranks, --fabric fluid or analytical, or more memory\n"));
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
  }
};

// 16,384 x 16,383 messages begin at once.
TEST_F(MemoryCli, RefusesRunsThatExceedTheLimit) {
  const std::string limit = " --ranks 16384 --threads 1 --max-memory 2GB";
  const std::string call =
      "all_to_all (direct/simple) on 16384 ranks begins 268419072 messages at once, which need at least ";
  const std::string calls[] = {
      "collective all_to_all --bytes 1GiB --format csv",
      "replay exchange/w --comm simulated -q",
  };
  for (const std::string& run : calls) {
    for (const char* fabric : {"packet", "packet --packet transport=dcqcn", "analytical-fifo"}) {
      ExpectRefused(absl::StrCat(run, " --cluster dgx-h100 --fabric ", fabric, limit), call, " GB are free");
    }
  }
}

TEST_F(MemoryCli, RunsThatFitAreUnchanged) {
  for (const char* fabric : {"packet", "analytical-fifo", "fluid"}) {
    const std::string run =
        absl::StrCat("collective all_to_all --bytes 1MB --ranks 64 --format csv --fabric ", fabric);
    const Outcome all = Run(run);
    EXPECT_EQ(all.status, 0) << all.err;
    const Outcome limited = Run(run + " --max-memory 4GB > out.txt");
    EXPECT_EQ(limited.status, 0) << limited.err;
    EXPECT_EQ(Content(At("out.txt")), all.out);
  }
}

// The memory that messages of one packet need is not known before the run.
TEST_F(MemoryCli, ReportsOutOfMemoryDuringTheRun) {
  const Outcome r =
      Run("collective all_to_all --bytes 1MB --ranks 512 --format csv --fabric packet --threads 1 "
          "--max-memory 60MB "
          "> out.txt 2> err.txt");
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(Content(At("out.txt")), "");
  EXPECT_THAT(Content(At("err.txt")), StartsWith("chakra-replay: out of memory"));
}

// Under any limit of the address space in which the binary loads, a run succeeds or gives one line of error.
TEST_F(MemoryCli, ProcessLimitEndsInResultOrOneLine) {
  const std::string example = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2";
  for (const int kib : {60000, 90000, 120000, 160000, 250000, 500000, 1500000}) {
    Write("limited.sh",
          absl::StrCat("ulimit -c 0; ulimit -v ", kib, "; exec ", CHAKRA_BINARY, " replay ", example,
                       " -q --cluster dgx-h100 --threads 8 > ", At("out.txt"), " 2> ", At("err.txt"), "\n"));
    const int status = std::system(("bash " + At("limited.sh")).c_str());
    ASSERT_TRUE(WIFEXITED(status)) << kib << ": " << Content(At("err.txt"));
    const std::string error = Content(At("err.txt"));
    if (WEXITSTATUS(status) == 0) {
      EXPECT_NE(Content(At("out.txt")), "") << kib;
    } else {
      EXPECT_EQ(WEXITSTATUS(status), 1) << kib << ": " << error;
      EXPECT_THAT(error, StartsWith("chakra-replay: ")) << kib;
      EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << kib << ": " << error;
    }
  }
}

TEST_F(MemoryCli, RefusesImpossibleLimits) {
  for (const auto& [size, says] :
       {std::pair("1KB", "expected more than the"), std::pair("much", "expected")}) {
    const Outcome r = Run(absl::StrCat("collective all_reduce --max-memory ", size, " > out.txt 2> err.txt"));
    EXPECT_EQ(r.status, 2) << size;
    EXPECT_THAT(Content(At("err.txt")), HasSubstr(says)) << size;
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
