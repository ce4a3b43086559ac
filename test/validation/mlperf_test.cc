#include "test/validation/mlperf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "test/folders.h"

namespace chakra::validation::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

const std::string kCsv = std::string(CHAKRA_SOURCE_DIR) + "/test/validation/mlperf.csv";
constexpr char kHeader[] = "set,run,cluster,devices,model,parallel,training,measured_s,predicted_s\n";

std::string ErrorOf(const std::string& rows) {
  const std::string path = (std::filesystem::temp_directory_path() / "mlperf_test.csv").string();
  std::ofstream(path) << kHeader << rows;
  const std::string error(ReadMlperf(path).status().message());
  std::filesystem::remove(path);
  return error;
}

TEST(Mlperf, KeptRowsAreWrittenAsTheyWereRead) {
  const auto rows = ReadMlperf(kCsv);
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::ifstream in(kCsv);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(MlperfCsv(*rows), text);
  EXPECT_GT(rows->size(), 30u);
}

TEST(Mlperf, ErrorsNameLineAndColumn) {
  EXPECT_THAT(ErrorOf("8B,a,dgx-h100,none,llama3-8b,dp=8,seq=1,1,1\n"),
              HasSubstr("line 2: devices is \"none\"; expected a number above 0"));
  EXPECT_THAT(ErrorOf("9B,a,dgx-h100,8,llama3-8b,dp=8,seq=1,1,1\n"), HasSubstr("line 2: set is \"9B\""));
  EXPECT_THAT(ErrorOf("8B,a,dgx-h100,8,llama3-8b,dp=8,seq=1,0,1\n"),
              HasSubstr("line 2: measured_s is \"0\""));
}

TEST(Mlperf, SummaryCountsEachRunOnce) {
  MlperfRow row;
  row.step.measured_s = 1;
  row.step.predicted_s = 1.1;
  row.step.set = "405B";
  MlperfRow again = row;
  again.step.set = "405B, splits alone";
  again.step.predicted_s = 0.98;
  const std::string tables = MlperfTables({row, again});
  EXPECT_THAT(tables, HasSubstr("| 405B | 1 | 10.0 % | 10.0 % | +10.0 % | 10.0 % |"));
  EXPECT_THAT(tables, HasSubstr("| 405B, splits alone | 1 | 2.0 % | 2.0 % | -2.0 % | 2.0 % |"));
  EXPECT_THAT(tables, HasSubstr("| all | 1 | 10.0 % | 10.0 % | +10.0 % | 10.0 % |"));
}

TEST(Mlperf, ASetAboveItsBoundIsAFinding) {
  MlperfRow row;
  row.step.set = "8B";
  row.step.measured_s = 1;
  row.step.predicted_s = 2;
  for (const Finding& f : CheckMlperf({row})) EXPECT_FALSE(f.ok) << f.text;
}

}  // namespace
}  // namespace chakra::validation::CHAKRA_FILE
