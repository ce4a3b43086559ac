// Recommendation models: parameters, operations and bytes against second counts, where tables lie, and the
// collectives of a capture of 8 V100.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/layout.h"
#include "trace/generate/memory.h"
#include "trace/generate/presets.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StepGraphs Built(const StepPlan& plan) {
  auto step = BuildStep(plan);
  EXPECT_TRUE(step.ok()) << step.status();
  return step.ok() ? *std::move(step) : StepGraphs();
}

// Rows of both Criteo sets are known; so are the widths of the layers.
TEST(GenerateTables, ParametersOfPresetsAreExact) {
  const auto parameters = [](const char* name) {
    return CountParameters(PlanOf(name, "", "global_batch=8").tables);
  };
  const TableParameters first = parameters("dlrm"), second = parameters("dlrm-dcnv2");
  EXPECT_EQ(first.tables, int64_t{187767399} * 128);
  EXPECT_EQ(second.tables, int64_t{204184588} * 128);
  const int64_t bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
  const auto top = [](int64_t in) {
    return in * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 256 + 1;
  };
  EXPECT_EQ(first.bottom, bottom);
  EXPECT_EQ(first.top, top(128 + 27 * 26 / 2));
  EXPECT_EQ(first.cross, 0);
  EXPECT_EQ(second.bottom, bottom);
  EXPECT_EQ(second.top, top(27 * 128));
  EXPECT_EQ(second.cross, 3 * (2 * 27 * 128 * 512 + 27 * 128));
  EXPECT_EQ(second.total(), second.tables + second.bottom + second.cross + second.top);
}

constexpr char kTwoWays[][64] = {"", ",cross_layers=2,cross_rank=24"};

std::string RandomModel(std::mt19937* random, bool cross) {
  const auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(*random);
  };
  std::vector<int64_t> rows, pooling;
  for (int64_t i = pick(1, 12); i-- > 0;) {
    rows.push_back(pick(0, 1) == 0 ? pick(1, 50) : pick(1000, 100000));
    pooling.push_back(pick(1, 9));
  }
  return absl::StrCat("table_rows=", absl::StrJoin(rows, "+"), ",pooling=", absl::StrJoin(pooling, "+"),
                      ",dense_features=", pick(1, 20), ",bottom=", pick(1, 64), "+16,top=", pick(1, 64), "+",
                      pick(1, 64), "+1", kTwoWays[cross ? 1 : 0]);
}

// Each GEMM that a rank runs, against the count of a sample.
TEST(GenerateTables, GemmsOfTheGraphMatchTheCount) {
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    const StepPlan plan = PlanOf(RandomModel(&random, i % 2 == 1), "dp=4",
                                 "global_batch=32,dtype=" + std::string(i % 3 == 0 ? "fp32" : "bf16"));
    for (const StageGraph& graph : Built(plan).stages) {
      int64_t operations = 0;
      for (const StepNode& n : graph.nodes) {
        if (n.type != NodeType::kComp || n.stream == Stream::kHost) continue;
        const Operator& op = graph.operators[n.op];
        if (op.name == "aten::mm" || op.name == "aten::bmm") operations += op.operations;
      }
      EXPECT_EQ(static_cast<double>(operations), 8 * TrainingFlopsPerToken(plan)) << plan.workload;
    }
  }
}

// The second count: a loop over tables for each rank, by what TorchRec exchanges.
TEST(GenerateTables, BytesOfCollectivesAreExact) {
  std::mt19937 random(11);
  const auto pick = [&](std::initializer_list<const char*> of) {
    return std::string(*(of.begin() + std::uniform_int_distribution<size_t>(0, of.size() - 1)(random)));
  };
  for (int i = 0; i < 120; ++i) {
    const StepPlan plan =
        PlanOf(RandomModel(&random, i % 2 == 1),
               absl::StrCat("dp=", pick({"2", "3", "8"}), ",row_wise=", pick({"none", "0", "all"}),
                            ",overlap_indices=", pick({"yes", "no"}),
                            ",overlap_vectors=", pick({"yes", "no"}), ",overlap_grad=", pick({"yes", "no"})),
               absl::StrCat("global_batch=48,dtype=", pick({"bf16", "fp32"})));
    const int64_t ranks = plan.split.dp, all = 48, own = all / ranks,
                  e = plan.training.dtype == proto::Training::FP32 ? 4 : 2, dim = plan.tables.dim;
    const Layout layout(plan.split);
    const StepGraphs step = Built(plan);
    for (int rank = 0; rank < ranks; ++rank) {
      int64_t lengths_sent = 0, lengths_got = 0, sent = 0, got = 0, features_sent = 0, features_got = 0,
              parts = 0;
      int64_t shared_bags = 0;
      for (size_t t = 0; t < plan.tables.tables.size(); ++t) {
        const int64_t pooling = plan.tables.tables[t].pooling;
        sent += own * pooling;
        if (plan.table_plan.place[t] == TablePlace::kRows) {
          lengths_sent += own * ranks;
          lengths_got += all;
          shared_bags += all * pooling;
          parts += all * dim * e;
          continue;
        }
        lengths_sent += own;
        features_got += own * dim * e;
        const auto& held = plan.table_plan.held[static_cast<size_t>(rank)];
        if (std::find(held.begin(), held.end(), static_cast<int32_t>(t)) == held.end()) continue;
        lengths_got += all;
        got += all * pooling;
        features_sent += all * dim * e;
      }
      got += (shared_bags + ranks - 1) / ranks;
      std::map<std::string, int64_t> expected = {{"indices.sizes", 24 * ranks},
                                                 {"indices.lengths", 4 * std::max(lengths_sent, lengths_got)},
                                                 {"indices", 4 * std::max(sent, got)},
                                                 {"tables.vectors", std::max(features_sent, features_got)},
                                                 {"tables.gradients", std::max(features_sent, features_got)},
                                                 {"rows.vectors", parts},
                                                 {"rows.gradients", parts / ranks},
                                                 {"gradients", 4 * CountParameters(plan.tables).dense()}};
      const StageGraph& graph = step.stages[static_cast<size_t>(layout.GraphOf(rank))];
      for (const StepNode& n : graph.nodes) {
        if (n.type != NodeType::kCollective) continue;
        EXPECT_EQ(n.group, GroupKind::kData);
        expected[n.spot.part] -= n.bytes;
      }
      for (const auto& [part, rest] : expected)
        EXPECT_EQ(rest, 0) << part << " of rank " << rank << "\n" << plan.workload;
    }
  }
}

// Each table is in one place; no rank looks up more than an equal share and the largest table.
TEST(GenerateTables, EachTableIsOnOneRankAndRanksAreBalanced) {
  std::mt19937 random(13);
  for (int i = 0; i < 60; ++i) {
    const StepPlan plan = PlanOf(RandomModel(&random, false), absl::StrCat("dp=", 1 + i % 9),
                                 absl::StrCat("global_batch=", 1 + i % 9));
    std::vector<int> seen(plan.tables.tables.size());
    int64_t sum = 0, largest = 0, most = 0;
    for (const auto& held : plan.table_plan.held) {
      int64_t load = 0;
      for (const int32_t t : held) {
        ++seen[static_cast<size_t>(t)];
        const int64_t rows = plan.tables.tables[static_cast<size_t>(t)].pooling + 1;
        load += rows;
        largest = std::max(largest, rows);
      }
      sum += load;
      most = std::max(most, load);
    }
    for (size_t t = 0; t < seen.size(); ++t)
      EXPECT_EQ(seen[t], plan.table_plan.place[t] == TablePlace::kOneRank ? 1 : 0);
    EXPECT_LE(static_cast<double>(most),
              static_cast<double>(sum) / static_cast<double>(plan.split.dp) + static_cast<double>(largest));
  }
}

TEST(GenerateTables, LargeTablesAreSharedByRows) {
  const auto by_rows = [](const std::string& parallel) {
    const StepPlan plan = PlanOf("dlrm-dcnv2", parallel, "global_batch=1024");
    std::set<int64_t> out;
    for (size_t t = 0; t < plan.tables.tables.size(); ++t)
      if (plan.table_plan.place[t] == TablePlace::kRows) out.insert(static_cast<int64_t>(t));
    return out;
  };
  EXPECT_THAT(by_rows("dp=8"), ElementsAre(0, 9, 19, 20, 21));
  EXPECT_THAT(by_rows("dp=128"), ElementsAre(0, 9, 10, 19, 20, 21));
  EXPECT_THAT(by_rows("dp=8,row_wise=20+21"), ElementsAre(20, 21));
  EXPECT_TRUE(by_rows("dp=8,row_wise=none").empty());
  EXPECT_TRUE(by_rows("dp=1").empty());
  EXPECT_EQ(by_rows("dp=8,row_wise=all").size(), 26u);
  // As many equal tables as ranks, or a multiple: each rank has as many as the others, and all ranks are
  // symmetric.
  const StepPlan equal =
      PlanOf("tables=32,table_rows=1000,dense_features=4,bottom=16,top=1", "dp=8", "global_batch=8");
  EXPECT_EQ(equal.split.graphs(), 1);
  EXPECT_EQ(Layout(equal.split).RanksOf(0), 8);
}

// facebookresearch/param's capture of TorchRec's DLRM on 8 V100: 16 samples a rank, rows of 16, two tables
// copied.
TEST(GenerateTables, MatchesTheCollectivesOfADlrmCapture) {
  const auto preset = FindPreset("dlrm-dcnv2");
  ASSERT_TRUE(preset.ok());
  const StepPlan plan =
      PlanOf(absl::StrCat("table_rows=", preset->table_rows(), ",pooling=", preset->pooling(),
                          ",dense_features=13,bottom=256+128+16,top=512+512+256+1"),
             "dp=8,row_wise=none,copied=5+16", "global_batch=128,dtype=fp32");
  const StepGraphs step = Built(plan);
  std::multiset<int64_t> reduced, exchanged;
  int64_t lookups = 0;
  for (const StageGraph& graph : step.stages) {
    for (const StepNode& n : graph.nodes) {
      if (n.type != NodeType::kCollective) continue;
      if (&graph == &step.stages[0] && n.collective == CollectiveType::kAllReduce) reduced.insert(n.bytes);
      if (n.collective != CollectiveType::kAllToAll) continue;
      if (absl::string_view(n.spot.part) == "indices") lookups = std::max(lookups, n.bytes);
      if (absl::string_view(n.spot.part) == "indices.sizes") exchanged.insert(n.bytes);
    }
  }
  EXPECT_THAT(reduced, ElementsAre(448, 907840, 1576964));
  EXPECT_EQ(exchanged.count(24 * 8), 8u);
  EXPECT_EQ(plan.table_plan.Sum(TablePlace::kOneRank).pooling * 16 * 4, 3392 * 4);
  EXPECT_EQ(lookups, 128 * 100 * 4);  // the rank of the table with 100 rows a bag
}

TEST(GenerateTables, CountsTheMemoryOfARank) {
  const StepPlan plan =
      PlanOf("table_rows=1000+3000,pooling=2,dense_features=4,bottom=8,top=1", "dp=2,row_wise=1",
             "global_batch=64,dtype=fp32,table_optimizer=rowwise_adagrad");
  const int64_t dense = 4 * 8 + 8 + (8 + 3) + 1;
  const int64_t rows[2] = {1000 + 1500, 1500};
  for (int64_t role = 0; role < 2; ++role) {
    const RankMemory m = MemoryOfStage(plan, role);
    EXPECT_EQ(m.weights, 4 * (rows[role] * 8 + dense));
    EXPECT_EQ(m.gradients, 4 * dense);
    EXPECT_EQ(m.optimizer, 4 * (rows[role] + dense));
    const int64_t kept = 4 * 32 * (4 + 8 + 3 * 8 + 11 + 1);
    const int64_t tables = role == 0 ? 2 : 1, lookups = tables == 2 ? 128 + 64 : 64;
    EXPECT_EQ(m.activations, kept + 2 * 8 * (lookups + 64 * tables));
    const int64_t vectors = tables == 2 ? 64 * 8 * 4 : 0, got = 32 * 8 * 4;
    EXPECT_EQ(m.working, vectors + got + 64 * 8 * 4 + 32 * 8 * 4 + 24 * (tables == 2 ? 128 : 64) + 4 * dense);
  }
  // Adam's averages, and a sum for each weight of tables.
  const StepPlan more = PlanOf("table_rows=1000,dense_features=4,bottom=8,top=1", "",
                               "global_batch=64,optimizer=adam,table_dtype=fp16");
  const RankMemory m = MemoryOfStage(more, 0);
  EXPECT_EQ(m.weights, 2 * 8000 + 4 * (4 * 8 + 8 + 9 + 1));
  EXPECT_EQ(m.optimizer, 4 * 8000 + 8 * (4 * 8 + 8 + 9 + 1));
}

TEST(GenerateTables, CountsDistinctRows) {
  EXPECT_EQ(RowsMet(1, 100), 1);
  EXPECT_EQ(RowsMet(1000000, 1), 1);
  EXPECT_EQ(RowsMet(10, 1000000), 10);
  EXPECT_EQ(RowsMet(1000, 1000), std::llround(1000 * (1 - std::pow(0.999, 1000))));
  EXPECT_EQ(RowsMet(5, 0), 0);
}

TEST(GenerateTables, RefusesSettingsThatDoNotApply) {
  constexpr char kModel[] = "table_rows=100+200,dense_features=4,bottom=8+16,top=8+1";
  const struct {
    std::string model;
    const char *parallel, *training, *error;
  } kCases[] = {
      {"dlrm", "", "", "training.global_batch is missing; expected the samples of a step"},
      {"dlrm", "dp=8", "global_batch=62",
       "training.global_batch is 62; expected a multiple of parallel.dp, 8; the nearest is 64"},
      {"dlrm", "tp=8", "global_batch=64",
       "parallel.tp is 8; with model.tables expected 1: parallel.dp shares"},
      {"dlrm", "cp=2", "global_batch=64", "parallel.cp is 2; with model.tables expected 1"},
      {"dlrm", "pp=2", "global_batch=64", "parallel.pp is 2; with model.tables expected 1"},
      {"dlrm", "ep=2", "global_batch=64", "parallel.ep is 2; with model.tables expected 1"},
      {"dlrm", "zero=1,dp=2", "global_batch=64", "parallel.zero is 1; with model.tables expected 0"},
      {"dlrm", "schedule=gpipe", "global_batch=64",
       "parallel.schedule is \"gpipe\", but is for transformers; expected no such setting with model.tables"},
      {"dlrm", "", "global_batch=64,seq=64", "training.seq is 64, but is for transformers"},
      {"dlrm", "", "global_batch=64,recompute=full",
       "training.recompute is full; with model.tables expected none: activations are a small part of memory; "
       "the nearest is none"},
      {"dlrm", "", "global_batch=64,dtype=fp8",
       "training.dtype is fp8; with model.tables expected bf16 or fp32; the nearest is bf16"},
      {"dlrm", "", "global_batch=64,framework=fsdp",
       "training.framework is fsdp; with model.tables expected ddp"},
      {"dlrm", "", "global_batch=64,micro_batch=3", "expected the samples of a rank, global_batch / dp, 64"},
      {"dlrm", "", "global_batch=64,lora=8", "training.lora is 8; with model.tables expected 0"},
      {"dlrm", "", "global_batch=64,table_dtype=fp8",
       "training.table_dtype is fp8; expected fp32, fp16 or bf16"},
      {"dlrm", "dp=2,row_wise=26", "global_batch=64",
       "parallel.row_wise is \"26\"; expected tables from 0 to 25, as 0+9+19-22, none or all"},
      {"dlrm", "dp=2,row_wise=3,copied=3-4", "global_batch=64",
       "parallel.copied has 3, which parallel.row_wise has too"},
      {"dlrm:layers=4", "", "global_batch=64", "model.layers is for transformers"},
      {"dlrm:pooling=1+2", "", "global_batch=64",
       "model.pooling lists 2 numbers; expected one for all tables, or one for each of model.tables, 26"},
      {"dlrm:table_dim=64", "", "global_batch=64",
       "model.table_dim is 64; expected the last number of model.bottom, 128"},
      {"dlrm:cross_layers=2", "", "global_batch=64", "model.cross_rank is missing"},
      {"dlrm:cross_rank=2", "", "global_batch=64", "model.cross_rank is for cross layers"},
      {"tables=4", "", "global_batch=64", "model.table_rows is missing; a recommendation model needs it"},
      {absl::StrCat(kModel, "+x"), "", "global_batch=64", "model.top has \"x\"; expected whole numbers"},
      {"table_rows=4,bottom=8,top=1", "", "global_batch=64", "model.dense_features is missing"},
      {"table_rows=1000000000000+1000000000000,dense_features=4,bottom=524288,top=1", "", "global_batch=64",
       "expected less than 1e18 of each"},
      {"llama3-8b", "row_wise=all", "seq=64", "parallel.row_wise is for tables"},
      {"llama3-8b:bottom=4", "", "seq=64", "model.bottom is for tables"},
      {"llama3-8b", "", "seq=64,table_optimizer=rowwise_adagrad", "training.table_optimizer is for tables"},
  };
  for (const auto& c : kCases)
    EXPECT_THAT(ErrorOf(c.model, c.parallel, c.training), HasSubstr(c.error)) << c.model << "|" << c.parallel;
  EXPECT_EQ(ErrorOf(kModel, "tp=1,zero=0", "global_batch=64,recompute=none,framework=ddp,micro_batch=64"),
            "");
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
