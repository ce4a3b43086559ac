// Communication in the report: dimensions of the split, and symmetric groups in one row.
#include "replay/report/communication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(GroupDimension, ComesFromNamesOrRanks) {
  EXPECT_EQ(GroupDimension("", {0, 1}), "all ranks");
  EXPECT_EQ(GroupDimension("tp8", {8, 9}), "tp");
  EXPECT_EQ(GroupDimension("job1/dp12", {4, 12}), "job1/dp");
  EXPECT_EQ(GroupDimension("default_pg", {0, 1}), "default_pg");
  EXPECT_EQ(GroupDimension("17", {3, 2, 1, 0}), "4 ranks, 1 apart");
  EXPECT_EQ(GroupDimension("5:1", {0, 16, 32}), "3 ranks, 16 apart");
  EXPECT_EQ(GroupDimension("7f3a", {0, 1, 5}), "3 ranks");
  EXPECT_EQ(GroupDimension("7f3a", {}), "");
}

void Add(proto::Report* r, const std::string& kind, const std::string& group, const std::string& dimension,
         uint64_t bytes, int64_t ps) {
  proto::CollectiveReport& c = *r->add_collective();
  c.set_kind(kind);
  c.set_group(group);
  c.set_dimension(dimension);
  c.set_ranks(8);
  c.set_count(4);
  c.set_bytes(bytes);
  c.set_time_ps(ps);
  c.set_algbw_gbytes_per_s(1e3 * static_cast<double>(bytes) / static_cast<double>(ps));
  c.set_busbw_gbytes_per_s(1.75 * c.algbw_gbytes_per_s());
}

// 448 tensor groups do not hide the one of data parallelism.
TEST(PrintCommunication, SymmetricGroupsAreOneRow) {
  proto::Report r;
  for (int i = 0; i < 448; ++i)
    Add(&r, "all_reduce", absl::StrCat("tp", 8 * i), "tp", 1 << 20, 3'000'000 + i % 2);
  Add(&r, "all_reduce", "dp0", "dp", 4 << 20, 1'000'000);
  EXPECT_EQ(
      PrintCommunication(r, nullptr),
      "\nCommunication, the longest first (symmetric groups share a row, with mean values; algbw, busbw in "
      "GB/s)\n"
      "  kind        group  groups  ranks  count  bytes  time  wait    algbw    busbw  algorithm\n"
      "  all_reduce  tp0       448      8      4  1 MiB  3 us   0 s   349.53   611.67  -\n"
      "  all_reduce  dp0         1      8      4  4 MiB  1 us   0 s  4194.30  7340.03  -\n");
}

TEST(PrintCommunication, UnknownSizesAreShownAsADash) {
  proto::Report r;
  Add(&r, "all_to_all", "ep", "ep", 0, 2'000'000);
  Add(&r, "barrier", "ep", "ep", 0, 1'000'000);
  EXPECT_EQ(PrintCommunication(r, nullptr),
            "\nCommunication, the longest first (algbw, busbw in GB/s)\n"
            "  kind        group  ranks  count  bytes  time  wait  algbw  busbw  algorithm\n"
            "  all_to_all  ep         8      4      -  2 us   0 s      -      -  -\n"
            "  barrier     ep         8      4    0 B  1 us   0 s   0.00   0.00  -\n");
  r.mutable_collective(0)->set_recorded_count(4);
  EXPECT_THAT(PrintCommunication(r, nullptr), HasSubstr("  all_to_all  ep         8      4      -  2 us"));
}

// If the groups of a dimension differ, their sum comes first.
TEST(PrintCommunication, SumsByKindAndDimensionComeFirst) {
  proto::Report r;
  for (int i = 0; i < 6; ++i)
    Add(&r, "all_gather", absl::StrCat("dp", i), "dp", 1000 * (i / 2 + 1), 1000 * (i + 1));
  Add(&r, "all_reduce", "tp0", "tp", 500, 8000);
  const std::string text = PrintCommunication(r, nullptr);
  EXPECT_THAT(
      text,
      HasSubstr("\nCommunication by kind and dimension of the split\n"
                "  kind        dimension  groups  ranks  count      bytes  time a group  wait a group\n"
                "  all_reduce  tp              1      8      4      500 B          8 ns           0 s\n"
                "  all_gather  dp              6      8     24  11.72 KiB        3.5 ns           0 s\n"));
  EXPECT_THAT(text, HasSubstr("\nCommunication, the longest first (symmetric groups share a row"));
  proto::Report one;
  Add(&one, "all_reduce", "tp0", "tp", 500, 8000);
  EXPECT_THAT(PrintCommunication(one, nullptr), Not(HasSubstr("by kind and dimension")));
  EXPECT_EQ(PrintCommunication(proto::Report(), nullptr), "");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
