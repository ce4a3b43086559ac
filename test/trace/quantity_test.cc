#include "trace/base/quantity.h"

#include <gtest/gtest.h>

#include "trace/base/median.h"

namespace chakra {
namespace {

TEST(Units, SplitQuantity) {
  const struct {
    const char* text;
    double number;
    const char* unit;
  } kGood[] = {{"1.5us", 1.5, "us"},       {" 400 KB ", 400, "KB"}, {"7", 7, ""},
               {"1e3ms", 1000, "ms"},      {"+3E-6s", 3e-6, "s"},   {"2e", 2, "e"},
               {"5e+x", 5, "e+x"},         {".5%", 0.5, "%"},       {"0", 0, ""},
               {"1.5e3MBps", 1500, "MBps"}};
  for (const auto& good : kGood) {
    double number = -1;
    absl::string_view unit;
    EXPECT_TRUE(SplitQuantity(good.text, &number, &unit)) << good.text;
    EXPECT_EQ(number, good.number) << good.text;
    EXPECT_EQ(unit, good.unit) << good.text;
  }
  for (const char* bad : {"", "us", "-1us", "++1us", "1.2.3us", ".", "nan%", "inf", "1e999s"}) {
    double number = -1;
    absl::string_view unit;
    EXPECT_FALSE(SplitQuantity(bad, &number, &unit)) << bad;
  }
}

TEST(Units, OfTimeSizeAndRate) {
  EXPECT_EQ(PicosOfUnit("ps"), 1);
  EXPECT_EQ(PicosOfUnit("s"), 1e12);
  EXPECT_EQ(PicosOfUnit(""), 0);
  EXPECT_EQ(PicosOfUnit("min"), 0);
  EXPECT_EQ(BytesOfUnit("kB"), 1000);
  EXPECT_EQ(BytesOfUnit("GiB"), 1 << 30);
  EXPECT_EQ(BytesOfUnit("TB"), 1e12);
  EXPECT_EQ(BytesOfUnit("TiB"), 0x1p40);
  EXPECT_EQ(BytesOfUnit("kb"), 0);
  EXPECT_EQ(RateOfUnit("Gb/s"), 125e6);
  EXPECT_EQ(RateOfUnit("GB/s"), 1e9);
  EXPECT_EQ(RateOfUnit("bit/s"), 0.125);
  EXPECT_EQ(RateOfUnit("Mibps"), 131072);
  EXPECT_EQ(RateOfUnit("TBps"), 1e12);
  for (const char* bad : {"", "G", "Gb", "GGb/s", "ms", "Xb/s", "Gib"}) EXPECT_EQ(RateOfUnit(bad), 0) << bad;
}

TEST(Sizes, AreWholeBytesUpToAThousandTerabytes) {
  EXPECT_EQ(ParseBytes("1.5TB").value_or(0), 1'500'000'000'000u);
  EXPECT_EQ(ParseBytes("2TiB").value_or(0), uint64_t{2} << 40);
  EXPECT_EQ(ParseBytes("1000TB").value_or(0), 1'000'000'000'000'000u);
  EXPECT_EQ(ParseBytes("1001TB").status().message(), "\"1001TB\"; expected at most 1000TB");
  EXPECT_EQ(ParseBytes("1.5B").status().message(), "\"1.5B\"; expected whole bytes");
}

TEST(Medians, OfEvenAndOddNumbers) {
  EXPECT_EQ(Median<int>({}), 0);
  EXPECT_EQ(Median<int>({3, 1, 2}), 2);
  EXPECT_EQ(Median<int>({1, 4, 2, 9}), 3);
  EXPECT_EQ(Median<int64_t>({1, 2}), 1);
  EXPECT_EQ(Median<double>({1, 2}), 1.5);
  EXPECT_EQ(UpperMedian<int>({}), 0);
  EXPECT_EQ(UpperMedian<int>({1, 4, 2, 9}), 4);
  EXPECT_EQ(UpperMedian<double>({5}), 5);
}

}  // namespace
}  // namespace chakra
