// One simulated rank for all symmetric ranks, against the simulation of all ranks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/symmetry/check_symmetric_ranks.h"
#include "replay/report/run_replay.h"
#include "replay/run/cluster_model.h"
#include "replay/run/machine.h"
#include "replay/run/options.h"
#include "replay/run/traces.h"
#include "test/folders.h"
#include "trace/generate/importer.h"
#include "trace/generate/workload.h"

namespace chakra::CHAKRA_FILE {
namespace {

constexpr char kDense[] = "layers=4,hidden=512,heads=8,kv_heads=4,ffn=1024,vocab=4096";
constexpr char kExperts[] =
    "layers=4,hidden=512,heads=8,ffn=1024,vocab=4096,experts=8,top_k=2,expert_ffn=256,shared_ffn=512";

struct Case {
  std::string model, parallel, training = "seq=512,global_batch=64";
  std::string cluster = "dgx-h100";
  bool equal = true;  // symmetric ranks take equal times
};

TraceOptions InputOf(const Case& c, bool keep_symmetric) {
  generate::WorkloadOptions from;
  from.model = c.model;
  from.parallel = c.parallel;
  from.training = c.training;
  const auto workload = generate::ReadWorkload(from);
  EXPECT_TRUE(workload.ok()) << workload.status();
  TraceOptions options;
  options.inputs = {generate::WorkloadInput(workload.ok() ? *workload : proto::Workload())};
  options.keep_symmetric = keep_symmetric;
  return options;
}

proto::Report Replay(const Case& c, bool keep_symmetric, bool energy = false) {
  const auto traces = LoadTraces(InputOf(c, keep_symmetric));
  EXPECT_TRUE(traces.ok()) << traces.status();
  if (!traces.ok()) return {};
  EXPECT_EQ(traces->symmetric.empty(), !keep_symmetric);
  RunOptions run;
  run.cluster = c.cluster;
  run.fold_nodes = 0;
  run.energy = energy;
  const auto report = RunReplay(*traces, run, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : proto::Report();
}

bool SymmetricRanksAreEqual(const Case& c) {
  const auto traces = LoadTraces(InputOf(c, true));
  if (!traces.ok()) return false;
  RunOptions run;
  run.cluster = c.cluster;
  std::vector<std::string> warnings;
  const auto described = DescribeMachine(run, &warnings);
  if (!described.ok()) return false;
  const int ranks = static_cast<int>(traces->set.ranks.size());
  const auto cluster = BuildCluster(*described, ranks);
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  if (!cluster.ok()) return false;
  const auto machine = BuildMachine(*cluster, run, ranks, nullptr);
  return machine.ok() && CheckSymmetricRanks(traces->symmetric, traces->set, **machine, MemoryModel());
}

// The largest error of the makespan, by the report, as a share; plus one unit of the last digit shown.
double BoundOf(const proto::Report& report) {
  for (const std::string& w : report.warning()) {
    const size_t at = w.find("at most "), end = w.find(" % too long");
    double percent = 0;
    if (end != std::string::npos && absl::SimpleAtod(w.substr(at + 8, end - at - 8), &percent))
      return (percent + 0.0001) / 100;
  }
  ADD_FAILURE() << "the report does not say that ranks stand for others";
  return 0;
}

TEST(SymmetricRanks, ReportEqualsThatOfAllRanks) {
  const std::vector<Case> cases = {
      {kDense, "tp=8,pp=2,dp=2,zero=1"},
      {kDense, "tp=4,pp=2,dp=8,zero=3", "seq=512,global_batch=64,micro_batch=2"},
      {kDense, "tp=2,pp=4,dp=4,zero=1,order=tp-cp-ep-pp-dp"},
      {kDense, "tp=2,cp=4,pp=2,dp=2"},
      {kDense, "cp=4,cp_kind=ulysses,dp=4,overlap_grad=no"},
      {kDense, "tp=4,pp=2,vpp=2,dp=4,zero=2", "seq=512,global_batch=32,recompute=full,dtype=fp16"},
      {kDense, "pp=4,dp=16,schedule=zb-h1"},
      {kExperts, "dp=16,ep=8,pp=2,zero=1"},
      {kExperts, "tp=2,dp=8,ep=4,etp=2,pp=2"},
      {kExperts, "pp=4,dp=8,ep=8,schedule=dualpipe,zero=1"},
      {std::string(kDense) + ",tied=yes", "tp=4,pp=2,dp=4", "seq=512,global_batch=16,launch=5us"},
      {kDense, "tp=8,pp=2,dp=4,zero=1", "seq=512,global_batch=64", "dgx-a100"},
      // Ranks 0 and 3 hold the same experts, and rank 3 runs the same nodes as rank 1.
      {"layers=4,hidden=512,heads=8,ffn=1024,vocab=4096,experts=6,top_k=2", "cp=2,dp=12,ep=3",
       "seq=512,global_batch=24", "dgx-h100", false},
      // Groups cross nodes unequally: each rank is simulated.
      {"layers=4,hidden=768,heads=12,ffn=1536,vocab=4096", "tp=6,dp=4", "seq=768,global_batch=8", "dgx-h100",
       false},
  };
  for (const Case& c : cases) {
    const std::string what = absl::StrCat(c.model, " | ", c.parallel, " | ", c.training, " | ", c.cluster);
    EXPECT_EQ(SymmetricRanksAreEqual(c), c.equal) << what;
    const proto::Report one = Replay(c, true), all = Replay(c, false);
    EXPECT_GT(all.makespan_ps(), 0) << what;
    if (!c.equal) {
      EXPECT_EQ(one.DebugString(), all.DebugString()) << what;
      continue;
    }
    // Calls with unequal ends on their members make the makespan longer, by at most the error in the report.
    const double bound = BoundOf(one) * static_cast<double>(one.makespan_ps());
    EXPECT_GE(one.makespan_ps(), all.makespan_ps()) << what;
    EXPECT_LE(static_cast<double>(one.makespan_ps() - all.makespan_ps()), bound) << what;
    EXPECT_LE(static_cast<double>(one.makespan_ps()), 1.01 * static_cast<double>(all.makespan_ps())) << what;
    EXPECT_EQ(one.nodes(), all.nodes()) << what;
    EXPECT_EQ(one.flows() + one.fast_collectives(), all.flows() + all.fast_collectives()) << what;
    ASSERT_EQ(one.rank_size(), all.rank_size()) << what;
    for (int r = 0; r < all.rank_size(); ++r) {
      EXPECT_EQ(one.rank(r).compute_busy_ps(), all.rank(r).compute_busy_ps()) << what << " rank " << r;
      EXPECT_NEAR(static_cast<double>(one.rank(r).end_ps()), static_cast<double>(all.rank(r).end_ps()), bound)
          << what << " rank " << r;
    }
    ASSERT_EQ(one.collective_size(), all.collective_size()) << what;
    for (int i = 0; i < all.collective_size(); ++i) {
      EXPECT_EQ(one.collective(i).group(), all.collective(i).group()) << what;
      EXPECT_EQ(one.collective(i).count(), all.collective(i).count()) << what;
      EXPECT_EQ(one.collective(i).bytes(), all.collective(i).bytes()) << what;
    }
  }
}

// One rank's power stands for that of its symmetric ranks: in the total, by rank, by cause and by phase.
TEST(SymmetricRanks, EnergyEqualsThatOfAllRanks) {
  for (const Case& c :
       std::vector<Case>{{kDense, "tp=8,pp=2,dp=2,zero=1"},
                         {kDense, "tp=4,pp=2,dp=8,zero=3", "seq=512,global_batch=64,micro_batch=2"},
                         {kExperts, "dp=16,ep=8,pp=2,zero=1"},
                         {kDense, "tp=8,pp=2,dp=4,zero=1", "seq=512,global_batch=64", "dgx-a100"}}) {
    const std::string what = absl::StrCat(c.model, " | ", c.parallel);
    const proto::Report one = Replay(c, true, true), all = Replay(c, false, true);
    const double bound = BoundOf(one);
    const auto expect_near = [&](int64_t a, int64_t b, const std::string& of) {
      EXPECT_NEAR(static_cast<double>(a), static_cast<double>(b),
                  (2 * bound + 1e-9) * static_cast<double>(b) + 1)
          << what << ": " << of;
    };
    ASSERT_GT(all.energy().microjoules(), 0) << what;
    expect_near(one.energy().microjoules(), all.energy().microjoules(), "all");
    int64_t sum = 0;
    for (int r = 0; r < all.rank_size(); ++r) {
      expect_near(one.rank(r).energy_microjoules(), all.rank(r).energy_microjoules(),
                  absl::StrCat("rank ", r));
      sum += one.rank(r).energy_microjoules();
    }
    EXPECT_EQ(sum, one.energy().device_microjoules()) << what;
    const auto expect_shares = [&](const auto& a, const auto& b) {
      ASSERT_EQ(a.size(), b.size()) << what;
      for (int i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].name(), b[i].name()) << what;
        // The tolerance is that of the total: a cause is a part of it.
        EXPECT_NEAR(static_cast<double>(a[i].microjoules()), static_cast<double>(b[i].microjoules()),
                    (2 * bound + 1e-9) * static_cast<double>(all.energy().microjoules()) + 1)
            << what << ": " << a[i].name();
      }
    };
    expect_shares(one.energy().cause(), all.energy().cause());
    expect_shares(one.energy().phase(), all.energy().phase());
    expect_near(static_cast<int64_t>(one.energy().peak_watts()),
                static_cast<int64_t>(all.energy().peak_watts()), "peak");
  }
}

// The report of one captured rank that is replayed as many ranks.
proto::Report ReplayOfOne(const std::string& cluster, int ranks, bool keep_symmetric) {
  TraceOptions options;
  options.inputs = {absl::StrCat(CHAKRA_SOURCE_DIR, "/examples/capture/gloo_ddp_2")};
  options.read.capture.ranks = {1};
  options.ranks = ranks;
  options.keep_symmetric = keep_symmetric;
  const auto traces = LoadTraces(options);
  EXPECT_TRUE(traces.ok()) << traces.status();
  if (!traces.ok()) return {};
  EXPECT_EQ(traces->symmetric.empty(), !keep_symmetric);
  RunOptions run;
  run.cluster = cluster;
  run.fold_nodes = 0;
  auto report = RunReplay(*traces, run, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : proto::Report();
}

TEST(SymmetricRanks, OneRankOfACaptureStandsForAll) {
  for (const std::string cluster : {"", "dgx-h100"}) {
    proto::Report one = ReplayOfOne(cluster, 16, true), all = ReplayOfOne(cluster, 16, false);
    EXPECT_GT(all.step_size(), 16) << "steps of all ranks, beside what was measured";
    EXPECT_EQ(all.fixed_time().rank_size(), 16);
    if (cluster.empty()) {
      EXPECT_EQ(one.DebugString(), all.DebugString()) << "recorded communication: the same to the picosecond";
      continue;
    }
    ASSERT_EQ(one.warning_size(), all.warning_size() + 1)
        << absl::StrJoin(one.warning(), "\n") << "\nagainst\n"
        << absl::StrJoin(all.warning(), "\n");
    bool said = false;
    for (const std::string& w : one.warning()) said |= absl::StrContains(w, "1 of 16 ranks is simulated");
    EXPECT_TRUE(said);
    EXPECT_GE(one.makespan_ps(), all.makespan_ps());
    EXPECT_LE(static_cast<double>(one.makespan_ps()), 1.001 * static_cast<double>(all.makespan_ps()));
    EXPECT_EQ(one.nodes(), all.nodes());
    ASSERT_EQ(one.step_size(), all.step_size());
    for (int i = 0; i < all.step_size(); ++i) EXPECT_EQ(one.step(i).rank(), all.step(i).rank()) << i;
    ASSERT_EQ(one.collective_size(), all.collective_size());
    for (int i = 0; i < all.collective_size(); ++i) {
      EXPECT_EQ(one.collective(i).count(), all.collective(i).count());
      EXPECT_EQ(one.collective(i).recorded_ps(), all.collective(i).recorded_ps());
    }
  }
}

// ExpandSymmetricRanks() gives the same traces as a set without symmetric ranks.
TEST(SymmetricRanks, ExpandsToAllRanks) {
  const Case c = {kExperts, "tp=2,cp=2,dp=8,ep=4,pp=2,zero=1"};
  auto folded = LoadTraces(InputOf(c, true));
  const auto all = LoadTraces(InputOf(c, false));
  ASSERT_TRUE(folded.ok() && all.ok());
  ExpandSymmetricRanks(folded->symmetric, &folded->set);
  ASSERT_EQ(folded->set.ranks.size(), all->set.ranks.size());
  EXPECT_EQ(folded->set.groups, all->set.groups);
  for (size_t r = 0; r < all->set.ranks.size(); ++r) {
    const RankTrace &a = folded->set.ranks[r], &b = all->set.ranks[r];
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.metadata, b.metadata);
    EXPECT_EQ(a.group_names, b.group_names);
    ASSERT_EQ(a.peers.size(), b.peers.size());
    for (size_t i = 0; i < a.peers.size(); ++i) {
      EXPECT_EQ(a.peers[i].src, b.peers[i].src);
      EXPECT_EQ(a.peers[i].dst, b.peers[i].dst);
      EXPECT_EQ(a.peers[i].tag, b.peers[i].tag);
      EXPECT_EQ(a.peers[i].group, b.peers[i].group);
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
