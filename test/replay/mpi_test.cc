// MPI on buffers of hosts: the algorithms that the libraries choose, the time of their calls, and refused
// settings.
#include "replay/nccl/mpi/mpi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"
#include "replay/collectives/registry.h"
#include "replay/run/collective_table.h"
#include "trace/io/set_field.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using T = CollectiveType;

absl::StatusOr<CollectiveTable> TableOf(const std::string& cluster, T type, int ranks,
                                        const std::string& algorithm = "",
                                        const std::vector<std::string>& set = {}) {
  absl::StatusOr<proto::Cluster> loaded = LoadCluster(cluster);
  if (!loaded.ok()) return loaded.status();
  if (absl::Status s = SetFields(set, &*loaded); !s.ok()) return s;
  TableOptions options;
  options.type = type;
  options.ranks = ranks;
  options.fabric = "analytical";
  options.algorithm = algorithm;
  return CollectiveTable::Make(*loaded, options);
}

TableRow RowOf(const std::string& cluster, T type, int ranks, uint64_t bytes,
               const std::string& algorithm = "") {
  absl::StatusOr<CollectiveTable> table = TableOf(cluster, type, ranks, algorithm);
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return {};
  const absl::StatusOr<TableRow> row = table->Price(bytes);
  EXPECT_TRUE(row.ok()) << row.status();
  return row.ok() ? *row : TableRow();
}

std::string ErrorOf(const std::string& cluster, T type = T::kAllReduce,
                    const std::vector<std::string>& set = {}) {
  absl::StatusOr<CollectiveTable> table = TableOf(cluster, type, 16, "", set);
  if (!table.ok()) return std::string(table.status().message());
  return std::string(table->Price(1024).status().message());
}

// One rank on each node.
constexpr char kOnePerNode[] = "marenostrum5:nodes=4096,gpus_per_node=1,library=";

TEST(Mpi, OpenMpiChoosesByRanksAndBytes) {
  const auto chosen = [](T type, int ranks, uint64_t bytes) {
    return RowOf(absl::StrCat(kOnePerNode, "mpi"), type, ranks, bytes).algorithm;
  };
  EXPECT_EQ(chosen(T::kAllReduce, 64, 1 << 17), "recursive_doubling");
  EXPECT_EQ(chosen(T::kAllReduce, 64, 1 << 18), "rabenseifner");
  EXPECT_EQ(chosen(T::kAllReduce, 200, 1 << 14), "reduce_broadcast");
  EXPECT_EQ(chosen(T::kAllReduce, 256, 1 << 14), "rabenseifner");
  // The choice depends on a rank's share: 16 KiB and 128 KiB.
  EXPECT_EQ(chosen(T::kAllGather, 32, 1 << 19), "neighbor");
  EXPECT_EQ(chosen(T::kAllGather, 32, 1 << 22), "ring");
  EXPECT_EQ(chosen(T::kAllGather, 16, 1 << 22), "recursive_doubling");
  // The choice depends on the bytes to each peer: 64 and 512.
  EXPECT_EQ(chosen(T::kAllToAll, 32, 2048), "bruck");
  EXPECT_EQ(chosen(T::kAllToAll, 32, 16384), "linear");
  EXPECT_EQ(chosen(T::kBroadcast, 32, 1024), "binomial");
  EXPECT_EQ(chosen(T::kBroadcast, 256, 1 << 20), "knomial");
  EXPECT_EQ(chosen(T::kBroadcast, 1024, 1 << 20), "scatter_all_gather");
  EXPECT_EQ(chosen(T::kReduceScatter, 16, 1 << 20), "ring");
  EXPECT_EQ(chosen(T::kReduceScatter, 64, 1 << 20), "recursive_halving");
}

TEST(Mpi, MpichChoosesByBytes) {
  const auto chosen = [](T type, int ranks, uint64_t bytes) {
    return RowOf(absl::StrCat(kOnePerNode, "mpich"), type, ranks, bytes).algorithm;
  };
  EXPECT_EQ(chosen(T::kAllReduce, 64, 2048), "recursive_doubling");
  EXPECT_EQ(chosen(T::kAllReduce, 64, 4096), "rabenseifner");
  EXPECT_EQ(chosen(T::kAllGather, 64, 1 << 18), "recursive_doubling");
  EXPECT_EQ(chosen(T::kAllGather, 64, 1 << 19), "ring");
  EXPECT_EQ(chosen(T::kAllToAll, 8, 2048), "bruck");
  EXPECT_EQ(chosen(T::kAllToAll, 4, 1024), "linear");
  EXPECT_EQ(chosen(T::kAllToAll, 8, 1 << 20), "pairwise");
  EXPECT_EQ(chosen(T::kBroadcast, 8, 12288), "scatter_all_gather");
}

// If ranks have fewer elements than an algorithm has parts, the libraries fall back to another algorithm.
TEST(Mpi, FallsBackForFewElements) {
  const TableRow row = RowOf(absl::StrCat(kOnePerNode, "mpi"), T::kAllReduce, 4096, 1 << 14, "rabenseifner");
  EXPECT_GT(row.time_us,
            RowOf(absl::StrCat(kOnePerNode, "mpi"), T::kAllReduce, 2048, 1 << 14, "rabenseifner").time_us);
  EXPECT_NEAR(RowOf(absl::StrCat(kOnePerNode, "mpi"), T::kAllReduce, 32, 64, "ring").time_us,
              RowOf(absl::StrCat(kOnePerNode, "mpi"), T::kAllReduce, 32, 64, "recursive_doubling").time_us,
              1e-9);
  // 4,096 ranks, 2,048 elements: each rank's message goes to one root and back.
  const TableRow many =
      RowOf("dgx-a100:nodes=16,gpus_per_node=256,library=mpi", T::kAllReduce, 4096, 8192, "rabenseifner");
  EXPECT_GT(many.time_us, 5000);
}

// Plans, simulated send by send, against the closed form. On powers of four, all paths have the same cost.
TEST(Mpi, PlansMatchClosedForms) {
  for (const T type : {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kAllToAll, T::kBroadcast,
                       T::kReduce, T::kBarrier}) {
    for (const mpi::MpiAlgorithm& a : mpi::AlgorithmsOf(type)) {
      for (const int ranks : {4, 16, 64}) {
        for (const uint64_t bytes : {uint64_t{1} << 14, uint64_t{1} << 24}) {
          SCOPED_TRACE(absl::StrCat(std::string(Name(type)), " ", a.name, " ", ranks, " ", bytes));
          const TableRow row =
              RowOf(absl::StrCat(kOnePerNode, "mpi"), type, ranks, type == T::kBarrier ? 0 : bytes, a.name);
          double law = 0;
          for (const Candidate& c : row.candidates) law = c.algorithm == a.name ? c.time_us : law;
          EXPECT_EQ(row.algorithm, a.name);
          EXPECT_NEAR(row.time_us / law, 1, 0.01);
        }
      }
    }
  }
}

// By hand: 1 us for the call, then 6 rounds of 1.8 + 1.3 us, with 64 KiB through buffers and at 0.8 of 25
// GB/s, sums, and one copy.
TEST(Mpi, RecursiveDoublingMatchesHandComputation) {
  const double bytes = 65536;
  const double round = 1.8 + 1.3 + 6.5 + bytes / 20e3 + bytes / 12.5e3;
  EXPECT_NEAR(RowOf(absl::StrCat(kOnePerNode, "mpi"), T::kAllReduce, 64, 65536, "recursive_doubling").time_us,
              1 + 6 * round + bytes / 10e3, 0.5);
}

TEST(Mpi, RanksOfANodeShareItsNics) {
  // All 4 ranks of a node send to other nodes in 2 of 4 rounds; each rank has a NIC. With one NIC they take
  // turns.
  const std::string cluster = "marenostrum5:nodes=4,library=mpi";
  const double own = RowOf(cluster, T::kAllReduce, 16, 1 << 24, "recursive_doubling").time_us;
  absl::StatusOr<CollectiveTable> shared =
      TableOf(cluster, T::kAllReduce, 16, "recursive_doubling", {"collectives.library.level[1].shared_by=4"});
  ASSERT_TRUE(shared.ok()) << shared.status();
  const double longer = shared->Price(1 << 24)->time_us - own;
  EXPECT_NEAR(longer, 2 * 3 * (1 << 24) / 20e3, 0.05 * longer);
  // A ring crosses each border once: one rank sends at a time, so sharing changes nothing.
  const double ring = RowOf(cluster, T::kAllReduce, 16, 1 << 24, "ring").time_us;
  absl::StatusOr<CollectiveTable> one =
      TableOf(cluster, T::kAllReduce, 16, "ring", {"collectives.library.level[1].shared_by=4"});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_NEAR(one->Price(1 << 24)->time_us, ring, 1e-6);
}

TEST(Mpi, RefusesUnsupportedSettings) {
  EXPECT_THAT(
      ErrorOf("alps:library=openmpi"),
      HasSubstr(
          "collectives.library.name is \"openmpi\"; did you mean 'open-mpi'?; expected one of: nccl, mpi, "
          "mpich, open-mpi"));
  EXPECT_THAT(ErrorOf("dgx-a100:library=mpi", T::kAllReduce,
                      {"collectives.library.level[1].transport.name=mine",
                       "collectives.library.level[1].transport.message_us=1"}),
              HasSubstr("level[1].transport is \"mine\"; expected one that has `host`"));
  EXPECT_THAT(ErrorOf("dgx-a100:transport=gvnic"),
              HasSubstr("level[1].transport is \"gvnic\"; expected one that has "
                        "more than `host`"));
  EXPECT_THAT(ErrorOf("alps:library=mpi", T::kGather),
              HasSubstr("gather by Open MPI 4.1: not priced; expected one of: all_reduce"));
  EXPECT_THAT(ErrorOf("alps:library=mpi", T::kAllReduce,
                      {"collectives.library.level[1].transport.host.rate_share=2"}),
              HasSubstr("level[1].transport.host.rate_share is 2; expected a number >= 0 and <= 1"));
}

TEST(Mpi, RefusesProtocolNames) {
  absl::StatusOr<CollectiveTable> table = TableOf("alps:library=mpi", T::kAllReduce, 16, "ring/simple");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(std::string(table->Price(1024).status().message()),
              HasSubstr("\"ring/simple\" names a protocol; expected \"ring\": libraries on hosts have none"));
}

TEST(Mpi, FileErrorsNameTheField) {
  const auto error = [](const std::string& text) {
    return std::string(mpi::ParseMpi(text, "x").status().message());
  };
  constexpr char kRates[] =
      "memory { rank_gbytes_per_s: 1 } reduce_gbytes_per_s: 1 large_reduce_gbytes_per_s: 1 "
      "copy_gbytes_per_s: 1 "
      "fresh_gbytes_per_s: 1 ";
  EXPECT_TRUE(mpi::ParseMpi(kRates, "x").ok());
  EXPECT_THAT(error("choice { collective: \"all_red\" }"),
              HasSubstr("x: choice[0].collective is \"all_red\""));
  EXPECT_THAT(error("choice { collective: \"all_reduce\" algorithm: \"5 ring\" }"),
              HasSubstr("choice[0].algorithm[0] is \"5 ring\"; expected no bytes in the first"));
  EXPECT_THAT(error("choice { collective: \"all_reduce\" algorithm: \"rings\" }"),
              HasSubstr("with one of: "));
  EXPECT_THAT(error("choice { collective: \"all_reduce\" algorithm: [\"ring\", \"8 ring\", \"8 ring\"] }"),
              HasSubstr("algorithm[2]"));
  EXPECT_THAT(error("choice { collective: \"all_reduce\" }"), HasSubstr("choice[0].algorithm is not there"));
  EXPECT_THAT(error("copy_gbytes_per_s: 1"), HasSubstr("memory.rank_gbytes_per_s is not set"));
  EXPECT_THAT(error("memory { rank_gbytes_per_s: 1 }"),
              HasSubstr("reduce_gbytes_per_s is 0; expected a number > 0"));
  EXPECT_THAT(error(absl::StrCat(kRates, "of_few: \"none\"")),
              HasSubstr("of_few is \"none\"; expected one of: ring"));
  EXPECT_THAT(error(absl::StrCat(kRates, "of_share: \"none\"")), HasSubstr("of_share is \"none\""));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
