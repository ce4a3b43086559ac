#include "trace/base/quantity.h"

#include <gtest/gtest.h>

#include "trace/base/median.h"
#include "trace/base/units.h"

namespace chakra::CHAKRA_FILE {
namespace {

TEST(Units, SplitNumberAndUnit) {
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

TEST(Units, ConvertTimeSizeAndRate) {
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

TEST(Medians, HandleEvenAndOddCounts) {
  EXPECT_EQ(Median<int>({}), 0);
  EXPECT_EQ(Median<int>({3, 1, 2}), 2);
  EXPECT_EQ(Median<int>({1, 4, 2, 9}), 3);
  EXPECT_EQ(Median<int64_t>({1, 2}), 1);
  EXPECT_EQ(Median<double>({1, 2}), 1.5);
  EXPECT_EQ(UpperMedian<int>({}), 0);
  EXPECT_EQ(UpperMedian<int>({1, 4, 2, 9}), 4);
  EXPECT_EQ(UpperMedian<double>({5}), 5);
}

TEST(Units, OverlongTransfersAreNever) {
  // For all sizes: 16 to 24 MiB at one byte a second once took microseconds.
  for (const uint64_t bytes : {9300000, 16000000, 16777216, 18000000, 18446744, 25165824, 1000000000}) {
    EXPECT_EQ(TransferTime(bytes, Bandwidth::BytesPerSecond(1)), Time::Never()) << bytes;
    EXPECT_EQ(TransferTime(bytes, Bandwidth::BytesPerSecond(1000)),
              Time::Nanos(static_cast<int64_t>(bytes) * 1000000));
  }
  EXPECT_EQ(TransferTime(9000000, Bandwidth::BytesPerSecond(1)), Time::Picos(9000000000000000000));
  EXPECT_EQ(TransferTime(9000000, Bandwidth::BytesPerSecond(INT64_MAX)), Time::Picos(1));
  EXPECT_EQ(Time::Nanos(INT64_MAX / 100), Time::Never());
  EXPECT_EQ(Time::Micros(INT64_MAX / 1000), Time::Never());
  EXPECT_EQ(Time::Picos(INT64_MAX / 2) * 3, Time::Never());
  EXPECT_EQ(Time::Picos(-5) * 3, Time::Picos(-15));
  EXPECT_EQ(Time::Picos(INT64_MIN + 1) - Time::Picos(5), Time::Picos(INT64_MIN));
  EXPECT_EQ(Time::FromNanos(1e16), Time::Never());
  EXPECT_EQ(FormatTime(Time::Never()), "> 106 days");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
