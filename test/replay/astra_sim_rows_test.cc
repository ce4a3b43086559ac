// Times of ASTRA-sim for single collectives on networks of one to three dimensions, against the engine with
// the same algorithm for each dimension, splits and active chunks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/analytical/options.h"
#include "backends/registry.h"
#include "replay/collectives/registry.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/price.h"
#include "replay/nccl/collective_costs.h"
#include "test/folders.h"
#include "trace/io/file.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

struct Row {
  CollectiveType type = CollectiveType::kAllReduce;
  int64_t bytes = 0;
  std::vector<TopologyDimension> dimensions;
  std::string algorithm;
  int splits = 1, at_once = 1;
  double memory = 1600;  // GB/s
  bool aware = false;    // of contention
  double astra_ns = 0;
  std::string text;
  int ranks() const {
    int n = 1;
    for (const TopologyDimension& d : dimensions) n *= d.size;
    return n;
  }
};

TopologyDimension Dimension(Kind kind, int size, int64_t gib_per_s, double ns) {
  TopologyDimension d;
  d.kind = kind;
  d.size = size;
  d.bandwidth = Bandwidth::BytesPerSecond(gib_per_s << 30);
  d.latency = Time::FromNanos(ns);
  return d;
}

// `by_messages`: simulates each message, even if there is a closed form.
double PriceNs(const Row& row, bool by_messages = false) {
  FabricOptions fabric_options;
  fabric_options.Ask<PathOptions>().store_and_forward = row.aware;
  auto machine = *MakeMachine(row.aware ? "analytical-fifo" : "analytical", *Topology::Make(row.dimensions),
                              fabric_options);
  CollectiveCosts costs;
  costs.splits = row.splits;
  costs.splits_at_once = row.at_once;
  costs.step_overhead = Time::Nanos(10);
  costs.reduce_bandwidth = Bandwidth::FromGigabytes(row.memory);
  costs.algorithm[std::string(Name(row.type))] = row.algorithm;
  std::vector<int> members(static_cast<size_t>(row.ranks()));
  std::iota(members.begin(), members.end(), 0);
  Time now;
  FlowLog log([](absl::string_view) { return absl::OkStatus(); });
  const absl::StatusOr<PricedCall> call =
      PriceCall(*machine, costs, row.type, static_cast<uint64_t>(row.bytes), 0, members, &now,
                by_messages ? &log : nullptr);
  EXPECT_TRUE(call.ok()) << row.text << ": " << call.status();
  return call.ok() ? static_cast<double>(call->time.picos()) / 1000 : 0;
}

// The rows of algorithms ring, direct and halvingDoubling, of both released back ends. A network of one
// dimension has 50 GB/s and 500 ns; one of several has 200, 50, 25 GB/s and 300, 700, 1,500 ns.
// HGX-H100-validated has values of its own.
std::vector<Row> ReadRows(const std::string& path) {
  static const std::map<std::string, Kind> kKinds = {
      {"Ring", Kind::kRing}, {"Switch", Kind::kSwitch}, {"FullyConnected", Kind::kFullyConnected}};
  static const std::map<std::string, std::string> kAlgorithms = {
      {"ring", "ring"}, {"direct", "direct"}, {"halvingDoubling", "halving_doubling"}};
  std::vector<Row> rows;
  std::map<std::string, size_t> column;
  for (const absl::string_view line : absl::StrSplit(*ReadFile(path), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> cells =
        absl::StrSplit(absl::StripAsciiWhitespace(line), absl::MaxSplits(',', 12));
    if (column.empty()) {
      for (size_t i = 0; i < cells.size(); ++i) column[cells[i]] = i;
      continue;
    }
    const auto cell = [&](const char* name) { return cells[column.at(name)]; };
    Row row;
    row.text = absl::StrCat(line.substr(0, line.find(",unaware")));
    const std::optional<CollectiveType> type = CollectiveNamed(cell("collective"));
    const std::string back_end = cell("backend"), note = cell("note");
    if (!type || (back_end != "unaware" && back_end != "aware") || absl::StrContains(note, "baseline"))
      continue;
    if (!absl::SimpleAtoi(cell("bytes"), &row.bytes) ||
        !absl::SimpleAtod(cell("astra_sim_ns"), &row.astra_ns))
      continue;
    row.type = *type;
    row.aware = back_end == "aware";
    EXPECT_TRUE(absl::SimpleAtoi(cell("splits"), &row.splits));
    EXPECT_TRUE(absl::SimpleAtoi(cell("active_chunks"), &row.at_once));
    const std::vector<std::string> sizes = absl::StrSplit(cell("dims"), 'x');
    const std::vector<std::string> kinds = absl::StrSplit(cell("topology"), '+');
    std::vector<std::string> algorithms = absl::StrSplit(cell("implementations"), '+');
    if (algorithms.size() != sizes.size()) continue;
    bool known = true;
    for (std::string& a : algorithms) {
      known = known && kAlgorithms.contains(a);
      if (known) a = kAlgorithms.at(a);
    }
    if (!known) continue;
    row.algorithm = absl::StrJoin(algorithms, "+");
    for (size_t d = 0; d < sizes.size(); ++d) {
      constexpr int64_t kGib[] = {200, 50, 25};
      constexpr double kNs[] = {300, 700, 1500};
      int size = 0;
      EXPECT_TRUE(absl::SimpleAtoi(sizes[d], &size));
      const bool one = sizes.size() == 1;
      row.dimensions.push_back(Dimension(kKinds.at(kinds[d]), size, one ? 50 : kGib[d], one ? 500 : kNs[d]));
    }
    if (absl::StrContains(note, "HGX-H100-validated")) {
      row.dimensions[0] = Dimension(Kind::kSwitch, 8, 400, 936.25);
      row.memory = 3350;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(AstraSimRows, AreReproducedWithinBounds) {
  const std::string path = std::string(CHAKRA_SHARED_DATA) + "/astra-sim/several_dimensions.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "SKIPPED: no file " << path;
  struct Sum {
    int rows = 0, within = 0;
    double worst = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Row& row : ReadRows(path)) {
    const size_t dimensions = row.dimensions.size();
    if (row.aware && dimensions > 1) continue;  // the back end refuses them
    const double off = std::abs(PriceNs(row) / row.astra_ns - 1);
    for (const std::string& key :
         {absl::StrCat(row.aware ? "aware" : "unaware"),
          absl::StrCat(row.aware ? "aware" : "unaware", ", ", dimensions, " dimensions, ", row.algorithm)}) {
      Sum& sum = sums[key];
      ++sum.rows;
      sum.within += off <= (row.aware ? 0.02 : 0.01) ? 1 : 0;
      sum.worst = std::max(sum.worst, off);
    }
    if (off > 0.02) std::printf("%s %s: %.4f\n", row.text.c_str(), row.aware ? "aware" : "unaware", off);
  }
  for (const auto& [key, sum] : sums)
    std::printf("%-60s %4d rows, %4d within, worst %.4f\n", key.c_str(), sum.rows, sum.within, sum.worst);
  EXPECT_GT(sums["unaware"].rows, 600);
  EXPECT_GE(sums["unaware"].within, 0.95 * sums["unaware"].rows);
  EXPECT_LE(sums["unaware"].worst, 0.02);
  EXPECT_GT(sums["aware"].rows, 40);
  EXPECT_EQ(sums["aware"].within, sums["aware"].rows);
}

// If all ranks begin together, a closed form gives the same time as the simulation of each message.
TEST(AstraSimRows, ClosedFormsEqualSimulatedMessages) {
  for (const std::vector<int>& sizes : {std::vector<int>{4, 4}, {8, 2}, {2, 2, 4}, {3, 4}, {5, 2, 3}}) {
    for (const Kind kind : {Kind::kRing, Kind::kSwitch, Kind::kFullyConnected}) {
      for (const char* algorithm : {"ring", "direct", "halving_doubling"}) {
        for (const CollectiveType type : {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                          CollectiveType::kReduceScatter, CollectiveType::kAllToAll}) {
          Row row;
          row.type = type;
          std::vector<std::string> names;
          bool halves = absl::string_view(algorithm) == "halving_doubling";
          for (size_t d = 0; d < sizes.size(); ++d) {
            row.dimensions.push_back(Dimension(d == 1 ? Kind::kRing : kind, sizes[d], 40 << d, 300.5));
            const bool fits = halves && type != CollectiveType::kAllToAll && (sizes[d] & (sizes[d] - 1)) == 0;
            names.push_back(halves && !fits ? "ring" : algorithm);
          }
          row.algorithm = absl::StrJoin(names, "+");
          row.bytes = int64_t{row.ranks()} * 12 * 4096;
          for (const auto& [splits, at_once] : {std::pair{1, 1}, {3, 1}, {4, 2}, {4, 3}}) {
            row.splits = splits;
            row.at_once = at_once;
            row.text = absl::StrCat(Name(type), " ", row.algorithm, " on ", absl::StrJoin(sizes, "x"), ", ",
                                    splits, "/", at_once);
            EXPECT_EQ(PriceNs(row), PriceNs(row, true)) << row.text;
          }
        }
      }
    }
  }
}

// On a fabric whose flows do not delay each other, parts that run at the same time do not slow each other:
// the time is the number of rounds.
TEST(AstraSimRows, ConcurrentPartsDivideTheTime) {
  for (const char* algorithm : {"ring", "direct", "halving_doubling"}) {
    for (const bool by_messages : {true, false}) {
      Row row;
      row.dimensions = {Dimension(Kind::kSwitch, 8, 50, 500)};
      row.algorithm = algorithm;
      row.bytes = 8 * 6 * 4096;
      row.splits = 6;
      const double in_turn = PriceNs(row, by_messages);
      row.at_once = 2;
      EXPECT_DOUBLE_EQ(PriceNs(row, by_messages), in_turn / 2) << algorithm;
      row.at_once = 4;
      EXPECT_DOUBLE_EQ(PriceNs(row, by_messages), in_turn / 3) << algorithm;
      row.at_once = 99;
      EXPECT_DOUBLE_EQ(PriceNs(row, by_messages), in_turn / 6) << algorithm;
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
