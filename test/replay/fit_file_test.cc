// The files of replay/compute/fitted: all are complete, and an error in one is reported with its line.
#include "replay/compute/model/fit_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "bench/kernel_laws/fit.h"
#include "trace/base/embedded.h"

namespace chakra::fitted {
absl::Span<const EmbeddedFile> Embedded();
}  // namespace chakra::fitted

namespace chakra::laws::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

constexpr size_t kSides = std::size(kGemmSides);

std::vector<std::string> GemmLabels() {
  std::vector<std::string> labels;
  for (double m : kGemmRows) {
    for (double n : kGemmSides) labels.push_back(GemmLabel(m, n));
  }
  return labels;
}

TEST(FitFile, TablesAreComplete) {
  const std::vector<std::string> labels = GemmLabels();
  for (const GemmFit& fit : GemmFits()) {
    ASSERT_EQ(fit.residuals.rows(), labels.size());
    for (size_t row = 0; row < labels.size(); ++row) EXPECT_EQ(fit.residuals.Label(row), labels[row]);
  }
  for (const AttentionFit& fit : AttentionFits()) {
    size_t row = 0;
    EXPECT_FALSE(fit.groups.empty());
    ASSERT_EQ(fit.residuals.rows(), fit.groups.size() * std::size(kAttentionLengths));
    for (const AttentionGroup& g : fit.groups) {
      for (double seq : kAttentionLengths) EXPECT_EQ(fit.residuals.Label(row++), AttentionLabel(g, seq));
    }
  }
  for (const MoeFit& fit : MoeFits()) {
    std::vector<MoeGroup> groups;
    for (size_t row = 0; row < fit.residuals.rows(); ++row) {
      groups.push_back(MoeGroupOfLabel(fit.residuals.Label(row)));
      EXPECT_EQ(fit.residuals.Label(row), MoeLabel(groups.back()));
    }
    EXPECT_FALSE(groups.empty());
    EXPECT_THAT(groups, testing::WhenSorted(testing::ElementsAreArray(groups))) << fit.device;
    EXPECT_EQ(std::set(groups.begin(), groups.end()).size(), groups.size());
  }
}

// The fit with a new table, made of the labels and numbers that were read.
template <typename Fit>
Fit Rebuilt(Fit fit, size_t columns) {
  std::vector<std::string> labels;
  std::vector<int> steps;
  for (size_t row = 0; row < fit.residuals.rows(); ++row) {
    labels.emplace_back(fit.residuals.Label(row));
    for (size_t column = 0; column < columns; ++column) {
      steps.push_back(fit.residuals.Steps(row, column));
      EXPECT_LE(std::abs(steps.back()), kMostResidualSteps);
    }
  }
  fit.residuals = ResidualTable(labels, steps, columns);
  return fit;
}

// bench/kernel_laws writes each file again from the fits that were read: every character is the same.
TEST(FitFile, FilesAreWrittenAsRead) {
  kernel_laws::Fits fits;
  for (const GemmFit& f : GemmFits()) fits.gemm.push_back(Rebuilt(f, kSides));
  for (const AttentionFit& f : AttentionFits())
    fits.attention.push_back(Rebuilt(f, std::size(kAttentionHeads)));
  for (const MoeFit& f : MoeFits()) fits.moe.push_back(Rebuilt(f, std::size(kMoeTokens)));
  const std::vector<kernel_laws::FitText> written = kernel_laws::WriteFits(fits);
  EXPECT_EQ(written.size(), fitted::Embedded().size());
  for (const kernel_laws::FitText& file : written) {
    EXPECT_TRUE(file.content == FindEmbedded(fitted::Embedded(), file.name)) << file.name;
  }
}

// The first fit counts: for a device's attention kernels, the one whose name comes first.
TEST(FitFile, FitsAreSortedAndUnique) {
  std::vector<std::string> order;
  for (const AttentionFit& f : AttentionFits()) {
    order.push_back(absl::StrCat(f.device, " ", f.kernel, " ", static_cast<int>(f.dtype), " ",
                                 static_cast<int>(f.kv_dtype)));
  }
  for (const GemmFit& f : GemmFits())
    order.push_back(absl::StrCat("gemm ", f.device, " ", f.kernel, static_cast<int>(f.dtype)));
  for (const MoeFit& f : MoeFits())
    order.push_back(absl::StrCat("moe ", f.device, " ", f.kernel, static_cast<int>(f.dtype)));
  EXPECT_THAT(order, testing::WhenSorted(testing::ElementsAreArray(order)));
  EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size());
}

// A fit without residuals whose constants are 1, 2, 3, ...
template <typename Fit>
Fit Numbered() {
  Fit fit = {};
  fit.device = "D";
  fit.kernel = "K";
  fit.dtype = KernelDtype::kFp8;
  std::iota(fit.constants.begin(), fit.constants.end(), 1);
  fit.spreads = {{0.1, 0.2, 0.3, 0.4}, {0.5, 0.6, 0.7, 0.8}, {0.9, 1, 1.1, 1.2}};
  return fit;
}

std::string Sample() {
  GemmFit fit = Numbered<GemmFit>();
  std::vector<int> steps(std::size(kGemmRows) * kSides * kSides);
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<int>(i % 91) - kMostResidualSteps;
  fit.residuals = ResidualTable(GemmLabels(), steps, kSides);
  return kernel_laws::WriteFits({{fit}, {}, {}})[0].content;
}

TEST(FitFile, KeepsTheNumbersOfAFit) {
  const std::string text = Sample();
  const absl::StatusOr<GemmFit> fit = ReadGemmFit("gemm_d.txt", text);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->device, "D");
  EXPECT_EQ(fit->kernel, "K");
  EXPECT_EQ(fit->dtype, KernelDtype::kFp8);
  EXPECT_EQ(fit->constants, Numbered<GemmFit>().constants);
  EXPECT_EQ(fit->spreads.bare[1], 0.6);
  EXPECT_EQ(fit->spreads.across[3], 1.2);
  for (size_t i = 0; i < 572 * kSides; ++i) {
    ASSERT_EQ(fit->residuals.Steps(i / kSides, i % kSides), static_cast<int>(i % 91) - kMostResidualSteps);
  }
  EXPECT_EQ(fit->residuals.Residual(0, 0), -0.9);
  EXPECT_EQ(fit->residuals.Label(23), "m=4 n=64");
}

// Names have the order of the constants.
TEST(FitFile, ConstantsAreWrittenByName) {
  const auto text = [](const kernel_laws::Fits& fits) { return kernel_laws::WriteFits(fits)[0].content; };
  const auto line = [](const char* name, size_t constant) {
    return absl::StrCat("\n", name, ": ", constant + 1, "  #");
  };
  const std::string gemm = Sample();
  EXPECT_THAT(gemm, HasSubstr(line("start_cycles", kStartCycles)));
  EXPECT_THAT(gemm, HasSubstr(line("peak_share", kPeakShare)));
  EXPECT_THAT(gemm, HasSubstr(line("memory_share", kMemoryShare)));
  EXPECT_THAT(gemm, HasSubstr(line("feed_bytes", kFeedBytes)));
  EXPECT_THAT(gemm, HasSubstr(line("tile_cycles", kTileCycles)));
  EXPECT_THAT(gemm, HasSubstr(line("half_tile", kHalfTile)));
  EXPECT_THAT(gemm, HasSubstr(line("split_cycles", kSplitCycles)));
  EXPECT_THAT(gemm, HasSubstr(line("split_share", kSplitShare)));
  EXPECT_THAT(gemm, HasSubstr(line("raster_tiles", kRasterTiles)));
  EXPECT_THAT(gemm, HasSubstr(line("hot_share", kHotShare)));
  EXPECT_THAT(gemm, HasSubstr(line("hot_us", kHotUs)));
  EXPECT_THAT(gemm, HasSubstr(line("step_cycles", kStepCycles)));
  const std::string attention = text({{}, {Numbered<AttentionFit>()}, {}});
  EXPECT_THAT(attention, HasSubstr(line("start_cycles", kAttentionStartCycles)));
  EXPECT_THAT(attention, HasSubstr(line("peak_share", kAttentionPeakShare)));
  EXPECT_THAT(attention, HasSubstr(line("pair_cycles", kPairCycles)));
  EXPECT_THAT(attention, HasSubstr(line("tail_share", kTailShare)));
  EXPECT_THAT(attention, HasSubstr(line("memory_share", kAttentionMemoryShare)));
  EXPECT_THAT(attention, HasSubstr(line("block_cycles", kBlockCycles)));
  const std::string moe = text({{}, {}, {Numbered<MoeFit>()}});
  EXPECT_THAT(moe, HasSubstr(line("start_cycles", kMoeStartCycles)));
  EXPECT_THAT(moe, HasSubstr(line("peak_share", kMoePeakShare)));
  EXPECT_THAT(moe, HasSubstr(line("memory_share", kMoeMemoryShare)));
  EXPECT_THAT(moe, HasSubstr(line("block_rows", kMoeBlockRows)));
  EXPECT_THAT(moe, HasSubstr(line("row_share", kMoeRowShare)));
  EXPECT_THAT(moe, HasSubstr(line("expert_cycles", kMoeExpertCycles)));
  EXPECT_THAT(moe, HasSubstr(line("hot_share", kMoeHotShare)));
}

TEST(FitFile, ErrorsNameFileAndLine) {
  struct Bad {
    const char *from, *to, *says;
  };
  for (const Bad& bad :
       {Bad{"hot_us: 11 ", "hot_us: x ", "gemm_d.txt:15: expected a number"},
        {"hot_us:", "hot:", "gemm_d.txt:15: expected hot_us"},
        {"hot_share: 10", "peak_share: 10", "gemm_d.txt:14: expected hot_share"},
        {"0.5, ", "", "gemm_d.txt:19: expected ,"},
        {"0.5, ", "0.5, 0.5, ", "gemm_d.txt:19: expected ]"},
        {"\"fp8\"", "\"fp9\"", "gemm_d.txt:4: expected a dtype"},
        {"device: \"D\"\n", "", "gemm_d.txt:2: expected device:"},
        {"\n---\n", "\n", "gemm_d.txt:22: expected ---"},
        {"m=2 n=32 ", "m=2 n=32", "gemm_d.txt:23: expected rows of one length with 22 numbers"},
        {"m=2 n=64 ", "m=2 n=64", "gemm_d.txt:23: expected rows of one length with 22 numbers"},
        {"m=2 n=64       : ", "m=2 n=64       :   1 ", "gemm_d.txt:23: expected rows of one length"}}) {
    const std::string text = absl::StrReplaceAll(Sample(), {{bad.from, bad.to}});
    const absl::StatusOr<GemmFit> fit = ReadGemmFit("gemm_d.txt", text);
    ASSERT_FALSE(fit.ok()) << bad.to;
    EXPECT_THAT(std::string(fit.status().message()), testing::StartsWith(bad.says)) << bad.to;
  }
  // One row less.
  const std::string sample = Sample();
  const size_t last = sample.rfind("\n", sample.size() - 2);
  const absl::StatusOr<GemmFit> less =
      ReadGemmFit("gemm_d.txt", absl::string_view(sample).substr(0, last + 1));
  EXPECT_THAT(std::string(less.status().message()), HasSubstr("a multiple of 572"));
}

TEST(FitFile, LabelsContainTheGroups) {
  const MoeGroup groups[] = {{4096, 768, 8, 128, 2, 1, 0}, {4096, 14336, 2, 8, 1, 4, 1}};
  const std::vector<std::string> labels = {MoeLabel(groups[0]), MoeLabel(groups[1])};
  std::vector<int> steps(std::size(kMoeTokens), -7);
  steps.resize(2 * steps.size(), 5);
  MoeFit moe = Numbered<MoeFit>();
  moe.residuals = ResidualTable(labels, steps, std::size(kMoeTokens));
  const std::string text = kernel_laws::WriteFits({{}, {}, {moe}})[0].content;
  const absl::StatusOr<MoeFit> read = ReadMoeFit("moe_d.txt", text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(MoeGroupOfLabel(read->residuals.Label(1)), groups[1]);
  EXPECT_EQ(MoeGroupOfLabel("hidden=1 inter=2"), MoeGroup());

  MoeCall call{.tokens = 100, .hidden = 4096, .inter = 14336, .topk = 2, .experts = 8, .tp = 1, .ep = 4};
  EXPECT_EQ(ResidualOf(*read, call), 0);
  call.power_law = 1.2;
  EXPECT_DOUBLE_EQ(ResidualOf(*read, call), 5 * kResidualStep);
  const MoeCall other{.tokens = 1, .hidden = 4096, .inter = 768, .topk = 8, .experts = 128, .tp = 2, .ep = 1};
  EXPECT_DOUBLE_EQ(ResidualOf(*read, other), -7 * kResidualStep);

  AttentionFit attention = Numbered<AttentionFit>();
  attention.groups = {{128, 4096, true}};
  std::vector<std::string> rows;
  for (double seq : kAttentionLengths) rows.push_back(AttentionLabel(attention.groups[0], seq));
  const std::vector<int> zeros(rows.size() * std::size(kAttentionHeads));
  attention.residuals = ResidualTable(rows, zeros, std::size(kAttentionHeads));
  const std::string with = kernel_laws::WriteFits({{}, {attention}, {}})[0].content;
  const absl::StatusOr<AttentionFit> again = ReadAttentionFit("attention_d.txt", with);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->groups.size(), 1u);
  EXPECT_EQ(again->groups[0].window, 4096);
  EXPECT_TRUE(again->groups[0].shared);
  const std::string without = absl::StrReplaceAll(with, {{"window=", "window "}});
  EXPECT_THAT(std::string(ReadAttentionFit("attention_d.txt", without).status().message()),
              HasSubstr("expected four numbers in the label of row 0"));
}

}  // namespace
}  // namespace chakra::laws::CHAKRA_FILE
