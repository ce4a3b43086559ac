#include "test/folders.h"
#include "test/validation/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace chakra::validation::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHeader[] = "side,run,median_step_ms,others_share,kept,steps_ms\n";

TEST(Runs, SortsRunsBySide) {
  const auto runs =
      ParseRuns(absl::StrCat(kHeader, "a,0,12.5,0.01,0,12 13\nb,0,30,0,1,30\na,1,10,0,1,9 11\n"));
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_THAT(runs->a, ElementsAre(10, 12.5));
  EXPECT_THAT(runs->b, ElementsAre(30));
}

TEST(Runs, ErrorsNameLineAndColumn) {
  const auto error = [](const std::string& text) { return std::string(ParseRuns(text).status().message()); };
  EXPECT_THAT(error("side,run\n"), HasSubstr("line 1: expected \"side,run,median_step_ms"));
  EXPECT_EQ(error(absl::StrCat(kHeader, "a,0,fast,0,1,1\n")),
            "line 2: median_step_ms is \"fast\", expected a number above 0");
  EXPECT_EQ(error(absl::StrCat(kHeader, "c,0,1,0,1,1\n")), "line 2: expected six columns, the first a or b");
  EXPECT_EQ(error(absl::StrCat(kHeader, "a,0,1,0,1,1\n")), "expected runs of a and of b");
}

TEST(Runs, NoiseAndDelayAreSharesOfTheFastest) {
  EXPECT_DOUBLE_EQ(Noise({10, 12, 15}), 0.2);
  EXPECT_DOUBLE_EQ(Noise({10}), 0);
  EXPECT_DOUBLE_EQ(TypicalDelay({10, 12, 15, 20}), 0.35);
}

TEST(Tables, ChangeAndErrorUseMeasuredTimes) {
  EditPrediction p{"batch_1", "batch", 1, 10, 10, 20, 19, 0.01, 0.02, 0.1, 0.2};
  EXPECT_THAT(
      WhatIfCsv({p}),
      HasSubstr("batch_1,1,10.000,10.000,20.000,19.000,1.0000,-0.0500,0.0100,0.0200,0.1000,0.2000\n"));
  EXPECT_THAT(WhatIfMarkdown({p}), HasSubstr("| batch_1 | batch | 1 | 10.00 ms | 10.00 ms | 20.00 ms | "
                                             "+100.0 % | 19.00 ms | -5.0 % | 1.0, 2.0 % |"));
}

TEST(Tables, SummaryHasMedianAndWorst) {
  const auto row = [](const char* name, double predicted, double delay) {
    return EditPrediction{name, "", 1, 10, 10, 100, predicted, 0, 0, delay, 0};
  };
  const ErrorSummary s = Summarize({row("a", 101, 0), row("b", 80, 0.3), row("c", 95, 0.01)});
  EXPECT_NEAR(s.median, 0.05, 1e-12);
  EXPECT_NEAR(s.worst, 0.2, 1e-12);
  EXPECT_EQ(s.worst_name, "b");
  EXPECT_EQ(s.within_noise, 1u);
}

const std::string kWhatIf = std::string(CHAKRA_SOURCE_DIR) + "/examples/what_if";

// Without an edit, the replay gives the measured steps.
TEST(Replays, UneditedCaptureKeepsItsSteps) {
  const auto step = ReplayCapture(kWhatIf + "/captures/layers_2/a", "", "");
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->ranks, 2);
  EXPECT_EQ(step->steps, 5u);
  EXPECT_NEAR(step->replayed_ms, step->measured_ms, 1e-3 * step->measured_ms);
}

TEST(Replays, ErrorsNameScriptsAndCaptures) {
  EXPECT_THAT(std::string(ReplayCapture(kWhatIf + "/captures/absent", "", "").status().message()),
              HasSubstr("absent"));
  EXPECT_THAT(std::string(ReplayCapture(kWhatIf + "/captures/batch_2/a", kWhatIf + "/faster_gpu.txtpb", "")
                              .status()
                              .message()),
              HasSubstr("matches nothing"));
  EXPECT_THAT(std::string(Predict("/absent").status().message()), HasSubstr("/absent/pairs: no scripts"));
}

}  // namespace
}  // namespace chakra::validation::CHAKRA_FILE
