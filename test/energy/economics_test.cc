// Cost and carbon: regression values of ACT, the arithmetic of published runs, tables and their errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "replay/cluster/devices.h"
#include "replay/economics/act.h"
#include "replay/economics/carbon.h"
#include "replay/economics/cost.h"
#include "replay/economics/tables.h"
#include "trace/io/proto_io.h"

namespace chakra::economics::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

std::string Said(const absl::Status& s) { return std::string(s.message()); }

double Kg(const std::string& part, const std::string& fab) {
  proto::EmbodiedPart p;
  proto::Fab f;
  EXPECT_TRUE(ParseTextMessage(part, "part", &p).ok());
  EXPECT_TRUE(ParseTextMessage(fab, "fab", &f).ok());
  const auto kg = EmbodiedKg(p, f);
  EXPECT_TRUE(kg.ok()) << kg.status();
  return kg.value_or(0);
}

TEST(Act, MatchesActRegressionValues) {
  EXPECT_NEAR(Kg("count: 2 area_cm2: 6.98 node_nm: 28 packages: 2", "grams_per_kwh: 820 abatement: 0.95"),
              23.1434, 1e-4);
  EXPECT_NEAR(Kg("count: 1 gbytes: 3840 kg_per_gbyte: 0.031 packages: 13", ""), 137.9957, 1e-4);
  EXPECT_NEAR(Kg("count: 12 gbytes: 36 kg_per_gbyte: 0.600 packages: 19", ""), 330.4286, 1e-4);
}

TEST(Act, CarbonOfAnH100DieAndItsMemory) {
  EXPECT_NEAR(Kg("area_cm2: 8.14 node_nm: 5", "grams_per_kwh: 642") - kPackageKg, 24.1, 0.1);
  EXPECT_NEAR(Kg("gbytes: 80 kg_per_gbyte: 0.065", "") - kPackageKg, 5.94, 0.01);
}

TEST(Act, ErrorsNameTheField) {
  proto::EmbodiedPart part;
  part.set_name("die");
  EXPECT_THAT(Said(EmbodiedKg(part, {}).status()), HasSubstr("area_cm2"));
  part.set_area_cm2(-1);
  EXPECT_THAT(Said(EmbodiedKg(part, {}).status()), HasSubstr("area_cm2 is -1"));
  part.set_area_cm2(1);
  part.set_node_nm(6);
  EXPECT_THAT(Said(EmbodiedKg(part, {}).status()),
              HasSubstr("node_nm is 6; ACT has 28, 20, 14, 10, 8, 7, 5, 3; the nearest is"));
  part.set_node_nm(7);
  proto::Fab fab;
  fab.set_yield(1.5);
  EXPECT_THAT(Said(EmbodiedKg(part, fab).status()), HasSubstr("fab.yield is 1.5"));
}

// This checks arithmetic and validates nothing: the published figures are devices x hours x watts x PUE, with
// measured or assumed watts.
struct PublishedRun {
  const char* name;
  double devices, hours, watts, pue, mwh, kg_per_kwh, tonnes;
};

TEST(Arithmetic, PublishedRunsMatchHoursTimesWatts) {
  // Patterson et al. (arXiv 2104.10350), table 4; PaLM, appendix B; BLOOM (Luccioni et al.); OPT and LLaMA
  // 65B (LLaMA, table 15).
  const PublishedRun runs[] = {{"T5", 512, 20 * 24, 310, 1.12, 85.7, 0.545, 46.7},
                               {"GShard", 1024, 3.1 * 24, 288, 1.09, 24.1, 0.177, 4.3},
                               {"Switch", 1024, 27 * 24, 245, 1.10, 179, 0.33, 59.1},
                               {"GPT-3", 10000, 14.8 * 24, 330, 1.10, 1287, 0.429, 552.1},
                               {"PaLM", 1, 8.405e6, 378.5, 1.08, 3436, 0.079, 271},
                               {"BLOOM", 1, 1082990, 400, 1, 433.196, 0.057, 24.69},
                               {"OPT", 1, 809472, 400, 1.1, 356, 0.385, 137},
                               {"LLaMA 65B", 1, 1022362, 400, 1.1, 449, 0.385, 173}};
  for (const PublishedRun& run : runs) {
    const double kwh = HoursTimesWattsKwh(run.devices, run.hours, run.watts, run.pue);
    EXPECT_NEAR(kwh / 1000, run.mwh, 0.01 * run.mwh) << run.name;
    EXPECT_NEAR(run.mwh * run.kg_per_kwh, run.tonnes, 0.01 * run.tonnes) << run.name;
  }
  // DeepSeek-V3: 2.788 million hours at 2 $.
  EXPECT_NEAR(2.788e6 * 2, 5.576e6, 1);
}

TEST(Prices, YearlySharesRepayThePrice) {
  EXPECT_DOUBLE_EQ(YearlyShare(4, 0), 0.25);
  // 4 payments of 0.3019 are worth 1 at 8 %.
  double worth = 0;
  for (int year = 1; year <= 4; ++year) worth += YearlyShare(4, 0.08) / std::pow(1.08, year);
  EXPECT_NEAR(worth, 1, 1e-12);
}

class Tables : public testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = testing::TempDir() + "/economics_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name() + ".txtpb";
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(Tables, BuiltInTablesAreValid) {
  const auto prices = LoadPrices("built-in");
  ASSERT_TRUE(prices.ok()) << prices.status();
  EXPECT_TRUE(LoadPrices(Write("name: \"mine\"")).ok());
  for (const proto::DevicePrice& d : prices->device()) EXPECT_TRUE(FindDevice(d.device()).ok()) << d.device();
  for (const std::string& region : Regions()) {
    const auto grid = LoadGrid(region);
    ASSERT_TRUE(grid.ok()) << grid.status();
    EXPECT_GT(grid->grams_per_kwh().value(), 0);
    for (const proto::Embodied& e : grid->embodied()) EXPECT_TRUE(FindDevice(e.device()).ok()) << e.device();
  }
}

TEST_F(Tables, PriceErrorsNameTheField) {
  EXPECT_THAT(Said(LoadPrices(Write("rack_dollars { value: -5 }")).status()),
              HasSubstr("rack_dollars.value is -5; expected at least 0"));
  EXPECT_THAT(
      Said(LoadPrices(Write("device { device: \"H100-SXM5-80GB\" device_dollars { value: 1 } }")).status()),
      HasSubstr("host_dollars of H100-SXM5-80GB is missing"));
  EXPECT_THAT(Said(LoadPrices(Write("cable_dollars { value: 5 low: 6 high: 7 }")).status()),
              HasSubstr("cable_dollars.low is 6"));
  EXPECT_THAT(Said(LoadPrices(Write("lifetime_years { value: 0 }")).status()),
              HasSubstr("lifetime_years.low is 0"));
  EXPECT_THAT(Said(LoadPrices(Write("rack_dolars { value: 5 }")).status()), HasSubstr("rack_dollars"));
}

TEST_F(Tables, RefusesUnknownRegionsAndBadGrids) {
  EXPECT_THAT(Said(LoadGrid("iowe").status()), HasSubstr("did you mean 'iowa'"));
  EXPECT_THAT(Said(LoadGrid(Write("region: \"here\"")).status()), HasSubstr("grams_per_kwh is missing"));
  EXPECT_THAT(Said(LoadGrid(Write("grams_per_kwh { value: -3 }")).status()),
              HasSubstr("grams_per_kwh.value is -3"));
  EXPECT_THAT(Said(LoadGrid(Write("hourly_grams_per_kwh: 5")).status()), HasSubstr("first_hour"));
  EXPECT_THAT(Said(LoadGrid(Write("grams_per_kwh { value: 3 } fab { yield: 2 }")).status()),
              HasSubstr("fab.yield is 2"));
}

TEST_F(Tables, GridHoursRepeat) {
  const auto grid =
      LoadGrid(Write("hourly_grams_per_kwh: [100, 200, 300] first_hour: \"2026-01-01T00:00:00Z\""));
  ASSERT_TRUE(grid.ok()) << grid.status();
  const double first = *ParseMoment("2026-01-01T00:00:00Z");
  EXPECT_DOUBLE_EQ(MeanIntensity(*grid, first, 3600), 100);
  EXPECT_DOUBLE_EQ(MeanIntensity(*grid, first + 3600, 60), 200);
  EXPECT_NEAR(MeanIntensity(*grid, first + 1800, 3600), 150, 1e-9);
  EXPECT_NEAR(MeanIntensity(*grid, first + 2 * 3600, 2 * 3600), 200, 1e-9);
  EXPECT_NEAR(MeanIntensity(*grid, first - 3600, 3600), 300, 1e-9);
  EXPECT_NEAR(MeanIntensity(*grid, first, 3 * 3600 * 1000), 200, 1e-9);
}

}  // namespace
}  // namespace chakra::economics::CHAKRA_FILE
