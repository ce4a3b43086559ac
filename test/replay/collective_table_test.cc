// The price of one call, the table of prices, and the sizes that a user may give.
#include "replay/run/collective_table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "replay/cluster/load.h"
#include "replay/engine/price.h"
#include "replay/nccl/sizes.h"
#include "test/folders.h"
#include "test/replay/library_testing.h"
#include "trace/io/file.h"

namespace chakra::CHAKRA_FILE {
namespace {

using T = CollectiveType;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string SizeError(const std::string& text, double factor = 2) {
  const auto sizes = ParseSizes(text, factor);
  EXPECT_FALSE(sizes.ok()) << text;
  return std::string(sizes.status().message());
}

TEST(CollectiveSizes, ReadsUnits) {
  for (const auto& [text, bytes] : std::map<std::string, uint64_t>{{"1", 1},
                                                                   {"1048576", 1048576},
                                                                   {"8B", 8},
                                                                   {"1K", 1024},
                                                                   {"1KiB", 1024},
                                                                   {"1Ki", 1024},
                                                                   {"1k", 1024},
                                                                   {"1kB", 1000},
                                                                   {"3MB", 3000000},
                                                                   {"1.5KiB", 1536},
                                                                   {"8G", uint64_t{8} << 30},
                                                                   {"0.25GiB", 256 << 20},
                                                                   {"1e15", 0},
                                                                   {"1T", uint64_t{1} << 40},
                                                                   {"1000000000000000", 1000000000000000}}) {
    const auto size = ParseSize(text);
    EXPECT_EQ(size.ok() ? *size : 0, bytes) << text;
  }
  for (const char* text : {"", "x", "K", "1X", "1KiBB", "1PiB", "-1", "+1", " 1", "1 K", "0", "0.5", "1.2.3",
                           ".", "1.0001K", "1000000000000001", "9999999999999999999999", "0x10", "nan"}) {
    EXPECT_FALSE(ParseSize(text).ok()) << text;
    EXPECT_THAT(SizeError(text), HasSubstr("size \"" + std::string(text) + "\": expected")) << text;
  }
}

TEST(CollectiveSizes, ReadsListsAndRanges) {
  EXPECT_THAT(*ParseSizes("8", 2), ElementsAre(8));
  EXPECT_THAT(*ParseSizes("1KiB..8KiB", 2), ElementsAre(1024, 2048, 4096, 8192));
  EXPECT_THAT(*ParseSizes("1K..9K,64,3", 3), ElementsAre(1024, 3072, 9216, 64, 3));
  EXPECT_THAT(*ParseSizes("100..1000", 10), ElementsAre(100, 1000));
  EXPECT_THAT(*ParseSizes("100..999", 10), ElementsAre(100));
  EXPECT_THAT(*ParseSizes("5..5", 2), ElementsAre(5));
  EXPECT_THAT(*ParseSizes("10..34", 1.5), ElementsAre(10, 15, 23, 34));
  EXPECT_THAT(SizeError("8,,9"), HasSubstr("size \"\""));
  EXPECT_THAT(SizeError("2K..1K"), AllOf(HasSubstr("\"2K..1K\""), HasSubstr("smaller size first")));
  EXPECT_THAT(SizeError("1..2..3"), HasSubstr("\"2..3\""));
  EXPECT_THAT(SizeError("1.."), HasSubstr("expected"));
  for (const double factor : {1.0, 0.5, -2.0, std::nan("")}) {
    EXPECT_THAT(SizeError("1..2", factor), HasSubstr("a factor above 1"));
  }
  EXPECT_THAT(SizeError("1K..1T", 1.0000001), HasSubstr("at most 10000 sizes"));
}

CollectiveTable Make(const std::string& cluster, const TableOptions& options) {
  auto table = CollectiveTable::Make(*LoadCluster(cluster), options);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

TableOptions Options(T type, int ranks) {
  TableOptions options;
  options.type = type;
  options.ranks = ranks;
  return options;
}

std::string MakeError(const std::string& cluster, const TableOptions& options) {
  const auto table = CollectiveTable::Make(*LoadCluster(cluster), options);
  EXPECT_FALSE(table.ok());
  return std::string(table.status().message());
}

TableRow Price(CollectiveTable& table, uint64_t bytes) {
  const auto row = table.Price(bytes);
  EXPECT_TRUE(row.ok()) << row.status();
  return row.ok() ? *row : TableRow();
}

// A row takes 1.2 us between kernels and the time of PriceCall(), but at least the host's 3.75 us for each
// device of a thread.
TEST(CollectiveTables, AddsKernelGapsAndLaunches) {
  TestMachine m = Preset("dgx-h200", 8);
  TableOptions options = Options(T::kAllReduce, 8);
  CollectiveTable table = Make("dgx-h200", options);
  const double kernel = static_cast<double>(CallPicos(m, T::kAllReduce, 1 << 30)) * 1e-6;
  EXPECT_GT(kernel, 1000);
  const TableRow large = Price(table, 1 << 30);
  EXPECT_DOUBLE_EQ(large.time_us, 1.2 + kernel);
  EXPECT_DOUBLE_EQ(large.device_us, 1.2 + kernel);
  EXPECT_DOUBLE_EQ(large.host_us, 3.75);
  EXPECT_DOUBLE_EQ(large.algbw, (1 << 30) / (1.2 + kernel) * 1e-3);
  EXPECT_DOUBLE_EQ(large.busbw, large.algbw * 14 / 8);
  EXPECT_EQ(large.algorithm, "nvls");
  EXPECT_EQ(large.protocol, "simple");
  EXPECT_EQ(large.channels, 16);
  EXPECT_EQ(large.bytes, 1u << 30);
  const double small = static_cast<double>(CallPicos(m, T::kAllReduce, 8)) * 1e-6;
  EXPECT_GT(small, 10);
  EXPECT_DOUBLE_EQ(Price(table, 8).time_us, 1.2 + small);
  options.devices_per_thread = 8;
  CollectiveTable one_thread = Make("dgx-h200", options);
  EXPECT_DOUBLE_EQ(Price(one_thread, 8).time_us, 30);
  CollectiveTable none = Make("dgx-h200", Options(T::kAllReduce, 1));
  EXPECT_DOUBLE_EQ(Price(none, 8).time_us, 3.75);
}

TEST(CollectiveTables, RowsDoNotDependOnOneAnother) {
  CollectiveTable table = Make("dgx-a100", Options(T::kAllToAll, 16));
  const double first = Price(table, 1 << 20).time_us;
  for (const uint64_t bytes : {1u << 28, 8u, 1u << 20}) Price(table, bytes);
  EXPECT_EQ(Price(table, 1 << 20).time_us, first);
  TableOptions fifo = Options(T::kAllToAll, 16);
  fifo.fabric = "analytical-fifo";
  CollectiveTable queued = Make("dgx-a100", fifo);
  const double contended = Price(queued, 1 << 20).time_us;
  Price(queued, 1 << 24);
  EXPECT_EQ(Price(queued, 1 << 20).time_us, contended);
  EXPECT_GE(contended, 0.99 * first);
}

// Bytes are those of the larger buffer; an all-gather cannot divide it unevenly.
TEST(CollectiveTables, RoundsTheBytesOfAllGather) {
  CollectiveTable table = Make("dgx-h100", Options(T::kAllGather, 8));
  EXPECT_EQ(Price(table, 4099).bytes, 4096u);
  EXPECT_EQ(Price(table, 3).bytes, 8u);
  const TableRow row = Price(table, 8 << 20);
  TestMachine m = Preset("dgx-h100", 8);
  EXPECT_DOUBLE_EQ(row.time_us, 1.2 + CallPicos(m, T::kAllGather, 1 << 20) * 1e-6);
  EXPECT_DOUBLE_EQ(row.busbw, row.algbw * 7 / 8);
}

TEST(CollectiveTables, PricesEveryKindOnEveryPreset) {
  for (const char* preset : {"dgx-v100", "dgx2", "dgx-a100", "dgx-h100", "dgx-h800", "dgx-b200", "dgx-b300",
                             "gb200-nvl72", "gb300-nvl72", "l40s", "rtx-pro-6000", "mi300x"}) {
    for (int type = 0; type < kCollectiveTypes; ++type) {
      double last = 0;
      for (const int ranks : {1, 2, 3, 5, 8}) {
        TableOptions options = Options(static_cast<T>(type), ranks);
        options.root = ranks - 1;
        CollectiveTable table = Make(preset, options);
        for (const uint64_t bytes : {1u, 1000003u}) {
          const TableRow row = Price(table, bytes);
          EXPECT_GT(row.time_us, 0) << preset << type << ranks;
          EXPECT_EQ(row.why.empty(), ranks == 1);
          last = row.time_us;
        }
      }
      EXPECT_LT(last, 5000) << preset << type;
    }
  }
}

TEST(CollectiveTables, UsesForcedAlgorithmAndProtocol) {
  TableOptions options = Options(T::kAllReduce, 8);
  const auto takes = [&](const char* algorithm, const char* protocol) {
    options.algorithm = algorithm;
    options.protocol = protocol;
    CollectiveTable table = Make("dgx-h100", options);
    const TableRow row = Price(table, 1 << 20);
    return row.algorithm + "/" + row.protocol;
  };
  EXPECT_EQ(takes("", ""), "ring/ll");
  EXPECT_EQ(takes("tree", ""), "tree/ll128");
  EXPECT_EQ(takes("ring", "simple"), "ring/simple");
  EXPECT_EQ(takes("", "ll128"), "tree/ll128");
  EXPECT_EQ(takes("auto", "ll128"), "tree/ll128");
  EXPECT_EQ(takes("cheapest", "simple").substr(0, 9), "direct/si");
  EXPECT_EQ(takes("ring/ll", "ll"), "ring/ll");
  EXPECT_EQ(takes("halving_doubling", ""), "halving_doubling/ll");  // cheaper than Simple
  const auto refused = [&](const char* algorithm, const char* protocol) {
    options.algorithm = algorithm;
    options.protocol = protocol;
    return MakeError("dgx-h100", options);
  };
  EXPECT_THAT(refused("rings", ""), AllOf(HasSubstr("\"rings\""), HasSubstr("'ring'")));
  EXPECT_THAT(refused("ring/ll", "simple"),
              AllOf(HasSubstr("\"ring/ll\""), HasSubstr("\"simple\" contradict")));
  EXPECT_THAT(refused("ring/simple/xyz", ""), HasSubstr("no protocol \"simple/xyz\" for ring"));
  EXPECT_THAT(refused("nvls", "ll"), HasSubstr("no protocol \"ll\" for nvls"));
}

TEST(CollectiveTables, BarriersHaveNoBandwidth) {
  CollectiveTable table = Make("dgx-h100", Options(T::kBarrier, 8));
  const TableRow row = Price(table, 1 << 30);
  EXPECT_GT(row.time_us, 0);
  EXPECT_EQ(row.algbw + row.busbw, 0);
}

TEST(CollectiveTables, RefusesTimesThatOverflow) {
  const proto::Cluster slow = ClusterText(
      "topology { dimension { kind: FULLY_CONNECTED size: 8 bandwidth_bytes_per_s: 1 } } collectives { "
      "library {"
      " generation: HOPPER channels: 24 level { link: NVLINK efficiency: 0.82 } } }");
  auto table = CollectiveTable::Make(slow, Options(T::kAllReduce, 8));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(std::string(table->Price(1 << 30).status().message()),
              AllOf(HasSubstr("all_reduce of 1073741824 bytes on 8 ranks"), HasSubstr("106 days")));
}

// A program has channels and a protocol of its own, whatever its name. It is not a candidate for calls that
// it does not serve.
TEST(CollectiveTables, UsesAProgramFromAFile) {
  std::string xml = *ReadFile(std::string(CHAKRA_SOURCE_DIR) + "/test/fuzz/corpus/msccl_fuzz/gather2.xml");
  xml.replace(xml.find("\"a\""), 3, "\"x/y\"");
  const std::string path = ::testing::TempDir() + "/table_program.xml";
  std::ofstream(path) << xml;
  proto::Cluster cluster = *LoadCluster("dgx-h100");
  cluster.mutable_collectives()->add_program(path);
  TableOptions options = Options(T::kAllGather, 2);
  for (const char* rule : {"", "x/y", "x/y/simple"}) {
    options.algorithm = rule;
    auto table = CollectiveTable::Make(cluster, options);
    ASSERT_TRUE(table.ok()) << table.status();
    const TableRow row = Price(*table, 1 << 20);
    EXPECT_EQ(row.algorithm, "x/y");
    EXPECT_EQ(row.protocol, "simple");
    EXPECT_EQ(row.channels, 2);
  }
  options.ranks = 4;
  auto other = CollectiveTable::Make(cluster, options);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_THAT(std::string(other->Price(1 << 20).status().message()),
              AllOf(HasSubstr("on 4 ranks"), HasSubstr("\"x/y\" is for all_gather on 2 ranks, 0 bytes and more")));
  cluster.mutable_collectives()->clear_library();
  auto plain = CollectiveTable::Make(cluster, Options(T::kAllGather, 2));
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(Price(*plain, 1 << 20).algorithm, "x/y");
}

TEST(CollectiveTables, PricesWithoutALibrary) {
  const proto::Cluster cluster = ClusterText(
      "topology { dimension { kind: FULLY_CONNECTED size: 4 bandwidth_gbytes_per_s: 50 latency_ns: 500 } }");
  TableOptions options = Options(T::kAllReduce, 4);
  auto table = CollectiveTable::Make(cluster, options);
  ASSERT_TRUE(table.ok()) << table.status();
  const TableRow row = Price(*table, 4000);
  EXPECT_DOUBLE_EQ(row.time_us, 6 * (0.5 + 0.02));  // 1,000 bytes at 20 ps
  EXPECT_EQ(row.algorithm + row.protocol, "ring-");
  EXPECT_EQ(row.candidates.size(), 0u);
  options.algorithm = "one_shot";
  auto shot = CollectiveTable::Make(cluster, options);
  EXPECT_DOUBLE_EQ(Price(*shot, 4000).time_us, 0.5 + 0.08);  // each message on a link of its own
  options.protocol = "ll";
  EXPECT_THAT(std::string(CollectiveTable::Make(cluster, options).status().message()),
              HasSubstr("collectives.library"));
  options.protocol = "";
  options.algorithm = "one_shoot";
  auto wrong = CollectiveTable::Make(cluster, options);
  const std::string error(wrong.ok() ? wrong->Price(8).status().message() : wrong.status().message());
  EXPECT_THAT(error, AllOf(HasSubstr("\"one_shoot\""), HasSubstr("one_shot")));
}

TEST(CollectiveTables, RefusesBadRanksAndFabrics) {
  EXPECT_THAT(MakeError("dgx-h100", Options(T::kAllReduce, 9)),
              AllOf(HasSubstr("9 ranks"), HasSubstr("multiple of 8")));
  EXPECT_THAT(MakeError("dgx-h100:nodes=2", Options(T::kAllReduce, 17)),
              AllOf(HasSubstr("17 ranks"), HasSubstr("16 devices")));
  TableOptions options = Options(T::kAllReduce, 8);
  options.fabric = "fluidity";
  EXPECT_THAT(MakeError("dgx-h100", options), HasSubstr("fluidity"));
}

// A call that cannot run gives an error, and leaves the machine unchanged.
TEST(CollectivePrice, FailedCallsLeaveTheMachineUnchanged) {
  TestMachine m = Preset("dgx-h100", 16);
  Time now;
  m.Force(T::kAllReduce, "nvls");
  EXPECT_FALSE(PriceCall(*m.fabric, m.costs(), T::kAllReduce, 8, 0, m.All(), &now).ok());
  EXPECT_EQ(now, Time::Zero());
  const auto one = PriceCall(*m.fabric, m.costs(), T::kAllReduce, 8 << 20, 0, {8, 9, 10, 11}, &now);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->algorithm, "nvls/simple");
  EXPECT_EQ(now, one->time);
  const auto again = PriceCall(*m.fabric, m.costs(), T::kAllReduce, 8 << 20, 0, {8, 9, 10, 11}, &now);
  EXPECT_EQ(again->time, one->time);
  EXPECT_EQ(now, one->time + one->time);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
