#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/validation/captures.h"
#include "test/validation/checks.h"
#include "test/validation/plot.h"
#include "test/validation/summary.h"

namespace chakra::validation::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHeader[] =
    "collective,gpu,gpus,nodes,algorithm,size_bytes,time_us,busbw_GBps,note,source\r\n";

std::string Line(const std::string& gpu, int ranks, int nodes, const std::string& algorithm, uint64_t bytes,
                 const std::string& us, double busbw = 1) {
  return absl::StrCat("all_reduce,", gpu, ",", ranks, ",", nodes, ",", algorithm, ",", bytes, ",", us, ",",
                      busbw, ",\"one, two\",vTrain trace/x\r\n");
}

// Curves of vTrain on V100 whose bus bandwidth jumps between the sizes `jump` / 2 and `jump`.
std::vector<MeasuredRow> Curves(uint64_t jump) {
  std::string text = kHeader;
  for (int ranks : {8, 7, 4}) {
    for (uint64_t bytes = 1 << 20; bytes <= 256 << 20; bytes *= 2) {
      absl::StrAppend(&text, Line("V100", ranks, 1, "n/a", bytes, "100", bytes < jump ? 10 : 50));
    }
  }
  return *ParseMeasured(text);
}

// Predicts the measured time times `factor` for rows that are compared.
PredictedColumn Times(const std::vector<MeasuredRow>& rows, double factor) {
  PredictedColumn column{"scaled", {}};
  for (const MeasuredRow& r : rows) {
    column.rows.emplace_back();
    if (r.left_out.empty()) column.rows.back() = Prediction{"ring", "simple", r.time_us * factor};
  }
  return column;
}

std::vector<std::string> Failed(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  for (const Finding& f : findings) {
    if (!f.ok) texts.push_back(f.text);
  }
  return texts;
}

TEST(Measured, ReadsMachinesRulesAndRowsLeftOut) {
  const auto rows = ParseMeasured(
      absl::StrCat(kHeader, Line("A100-SXM4-80GB", 8, 1, "file says NVLS; but not", 1024, "44.8"),
                   Line("H200", 4, 1, "Ring (NCCL_NVLS_ENABLE=0)", 2048, "1"),
                   Line("H200", 32, 4, "NVLSTree (forced)", 1, "1"), Line("H200", 16, 2, "NVLS", 1, "1"),
                   Line("V100 (16 per node)", 256, 16, "default", 1, "1")));
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::vector<std::string> seen;
  for (const MeasuredRow& r : *rows) {
    seen.push_back(absl::StrCat(r.preset, "|", r.rule, "|", r.source, "|", r.left_out.substr(0, 9)));
  }
  EXPECT_THAT(seen, ElementsAre("dgx-a100||vTrain|", "dgx-h200|ring|vTrain|", "dgx-h200|nvls_tree|vTrain|",
                                "||vTrain|two nodes", "||vTrain|a misconf"));
}

TEST(Measured, ErrorsNameLineAndColumn) {
  const std::string good = Line("A100", 8, 1, "n/a", 1024, "44.8");
  const auto error = [&](const std::string& line) {
    return std::string(ParseMeasured(absl::StrCat(kHeader, good, line)).status().message());
  };
  EXPECT_EQ(error(Line("A100", 8, 1, "n/a", 1024, "fast")),
            "line 3: time_us is \"fast\"; expected a number above 0");
  EXPECT_EQ(error(Line("A100", 0, 1, "n/a", 1024, "1")), "line 3: gpus is \"0\"; expected a number above 0");
  EXPECT_THAT(error(Line("TPU", 8, 1, "n/a", 1024, "1")),
              HasSubstr("line 3: gpu is \"TPU\"; expected A100..."));
  EXPECT_THAT(error(Line("A100", 8, 1, "Tree", 1024, "1")),
              HasSubstr("line 3: algorithm is \"Tree\"; expected"));
  EXPECT_EQ(error("all_reduce,A100"), "line 3: source is missing");
  EXPECT_EQ(ParseMeasured("gpu\nA100\n").status().message(), "line 2: collective is no column of the header");
  EXPECT_EQ(ParseMeasured(kHeader).status().message(), "no rows; expected a header and at least one");
}

TEST(Medians, SplitAtOneMiB) {
  std::string text = kHeader;
  for (uint64_t bytes : {1024, 2048, 1 << 20, 2 << 20, 4 << 20}) {
    absl::StrAppend(&text, Line("A100", 8, 1, "n/a", bytes, "100"));
  }
  const auto rows = *ParseMeasured(text);
  PredictedColumn column = Times(rows, 1);
  const double us[] = {90, 130, 80, 105, 150};
  for (size_t i = 0; i < 5; ++i) column.rows[i]->time_us = us[i];
  const Medians m = MediansOf(column, rows, Compared(rows));
  EXPECT_DOUBLE_EQ(*m.small, 0.2);  // 10 and 30 %
  EXPECT_DOUBLE_EQ(*m.large, 0.2);  // 5, 20, 50 %
  EXPECT_EQ(m.small_rows, 2u);
  EXPECT_EQ(m.large_rows, 3u);
  EXPECT_THAT(
      Failed(CheckMedians(rows, column, {0.15, 0.3, 0.25})),
      ElementsAre("scaled, all from 1 MiB up: median |error| 20.0 % of 3 rows; expected at most 15 %"));
  EXPECT_THAT(
      Failed(CheckMedians(rows, column, {0.21, 0.19, 0.19})),
      ElementsAre(HasSubstr("all below 1 MiB"), HasSubstr("dgx-a100, vTrain, 8 GPUs, from 1 MiB up")));
}

// The presets predict the curves; the measured jump moves.
TEST(Switches, FailFarFromMeasuredSwitches) {
  Machines machines;
  const auto failed = [&](uint64_t jump) {
    const auto rows = Curves(jump);
    const auto column = PresetColumn(rows, machines);
    const auto findings = CheckSwitches(rows, *column, machines);
    EXPECT_TRUE(findings.ok()) << findings.status();
    return Failed(*findings);
  };
  EXPECT_THAT(failed(256 << 20), ElementsAre(HasSubstr("dgx-v100, vTrain, 8 GPUs: to ring/simple "),
                                             HasSubstr("dgx-v100, vTrain, 7 GPUs: to ring/simple "),
                                             HasSubstr("dgx-v100, vTrain, 4 GPUs: to ring/simple from ")));
}

TEST(Switches, NeedMeasuredCurves) {
  const auto rows = *ParseMeasured(absl::StrCat(kHeader, Line("A100", 8, 1, "n/a", 1024, "1")));
  Machines machines;
  EXPECT_EQ(CheckSwitches(rows, Times(rows, 1), machines).status().message(),
            "no curve of vTrain on V100 with 8 GPUs");
}

// A column may lack predictions of some rows.
TEST(Tables, ColumnsMayHaveHoles) {
  const auto rows = *ParseMeasured(absl::StrCat(kHeader, Line("A100", 8, 1, "n/a", 1024, "10"),
                                                Line("A100", 8, 1, "n/a", 2048, "20"),
                                                Line("A100", 8, 1, "n/a", 4 << 20, "100")));
  PredictedColumn holes = Times(rows, 2);
  holes.name = "holes";
  holes.rows[1].reset();
  const std::vector<PredictedColumn> columns = {Times(rows, 1.5), holes};
  EXPECT_THAT(CsvTable(rows, columns),
              HasSubstr("A100,dgx-a100,vTrain,8,1,2048,auto,20.0,ring,simple,30.0,50.0,,,,,\n"));
  EXPECT_THAT(Markdown(rows, columns, {}),
              HasSubstr("| dgx-a100 | vTrain | 8 | 1 | 2 | 50.0 % | 50.0 % | 100.0 % | 100.0 % |"));
  EXPECT_THAT(Plot(rows, columns), HasSubstr(">holes</text>"));
}

CaptureRow Recorded(const std::string& capture, Known known, double recorded_us, double simulated_us) {
  CaptureRow row;
  row.capture = capture;
  row.collective = "all_reduce";
  row.known = known;
  row.recorded_us = recorded_us;
  row.simulated_us = simulated_us;
  return row;
}

// Durations that contain waits, and kernels of other libraries, are listed but not judged.
TEST(Captures, JudgesOnlyKnownTransfers) {
  std::vector<CaptureRow> rows = {Recorded("a", Known::kRoot, 10, 11), Recorded("a", Known::kNo, 1000, 10),
                                  Recorded("a", Known::kOther, 10, 90), Recorded("b", Known::kFollows, 10, 8),
                                  Recorded("b", Known::kLastArrival, 10, 10)};
  std::vector<Finding> findings = CheckCaptures(rows);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].text, HasSubstr("captures, all: median |error| 10.0 % of 3 known transfers"));
  EXPECT_TRUE(findings[0].ok);
  rows[4].simulated_us = 12;
  rows[0].simulated_us = 12;
  EXPECT_FALSE(CheckCaptures(rows)[0].ok);
  const std::string page = CapturesMarkdown(rows);
  EXPECT_THAT(page, HasSubstr("| a |  |  | 2 | 1 | 20.0 % | 59.5 % |"));
  EXPECT_THAT(page, HasSubstr("| a | all_reduce | 0 | 0 | 0 | 10.0 us | another library | 90.0 us |"));
}

TEST(Captures, JudgesCapturesWithManyKnownTransfers) {
  std::vector<CaptureRow> rows(20, Recorded("a", Known::kRoot, 10, 10));
  rows.resize(24, Recorded("b", Known::kRoot, 10, 20));
  EXPECT_EQ(CheckCaptures(rows).size(), 2u);
  rows.resize(25, Recorded("b", Known::kRoot, 10, 20));
  const std::vector<Finding> findings = CheckCaptures(rows);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_TRUE(findings[0].ok);
  EXPECT_TRUE(findings[1].ok);
  EXPECT_FALSE(findings[2].ok);
}

TEST(Captures, FailsWithoutKnownTransfers) {
  EXPECT_FALSE(CheckCaptures({Recorded("a", Known::kNo, 10, 10)})[0].ok);
}

TEST(Captures, MissingFolderGivesNoRows) {
  const auto rows = ReadCaptures("no/such/folder");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->empty());
}

}  // namespace
}  // namespace chakra::validation::CHAKRA_FILE
