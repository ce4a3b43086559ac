// Traces of other projects, if present: read, replayed, and checked against closed forms and invariants.
#include <algorithm>
#include <filesystem>
#include <map>

#include "acceptance_testing.h"
#include "test/folders.h"
#include "trace/import/reader.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

const std::string kData = CHAKRA_SHARED_DATA;
const std::string kAstra = kData + "/astra-sim/";
constexpr int64_t kRate = 53687091200;  // 50 * 2^30 B/s
constexpr int64_t kHop = 500000;        // ps

class RealData : public Bench {
 protected:
  void SetUp() override {
    if (!fs::is_directory(kData))
      GTEST_SKIP() << "NO REAL DATA: " << kData << " is absent; nothing was checked";
    Write("ring8.txtpb", Ring(8));
    Write("ring16.txtpb", Ring(16));
  }
  // Checks that hold for every finished run.
  static void CheckInvariants(const proto::Report& report) {
    int64_t last = 0;
    uint64_t nodes = 0;
    for (const auto& r : report.rank()) {
      last = std::max(last, r.end_ps());
      nodes += r.nodes();
      EXPECT_LE(r.exposed_comm_ps(), r.comm_busy_ps());
      EXPECT_GE(r.idle_ps(), 0);
      EXPECT_LE(std::max({r.compute_busy_ps(), r.comm_busy_ps(), r.host_busy_ps(), r.memory_busy_ps(),
                          r.idle_ps()}),
                r.end_ps());
      EXPECT_GE(r.compute_busy_ps() + r.comm_busy_ps() + r.host_busy_ps() + r.memory_busy_ps() + r.idle_ps(),
                r.end_ps());
    }
    EXPECT_EQ(last, report.makespan_ps());
    EXPECT_EQ(nodes, report.nodes());
    EXPECT_EQ(report.rank_size(), report.ranks());
    for (const auto& c : report.collective()) {
      EXPECT_GT(c.count(), 0u);
      EXPECT_GE(c.time_ps(), 0);
    }
  }
  // The report is equal for any number of threads. The makespan is equal with and without closed forms.
  void CheckDeterministic(const std::string& arguments) const {
    const auto report = [&](const std::string& more) {
      const Outcome r = Run("replay " + arguments + " -q --format json " + more);
      EXPECT_EQ(r.status, 0) << r.err;
      return r.out;
    };
    const std::string one = report("--threads 1");
    EXPECT_EQ(one, report("--threads 4"));
    EXPECT_EQ(Replayed(arguments + " --no-fast-path").makespan_ps(), Replayed(arguments).makespan_ps());
  }
};

int64_t Wire(int64_t bytes) {
  return TransferTime(static_cast<uint64_t>(bytes), Bandwidth::BytesPerSecond(kRate)).picos();
}

// The time of one collective of 2^20 B (a rank's input) on a ring of n.
int64_t ClosedForm(const std::string& kind, int n) {
  const int64_t bytes = 1 << 20, part = bytes / n;
  if (kind == "all_reduce") return 2 * (n - 1) * (kHop + Wire(part));
  if (kind == "all_gather") return (n - 1) * (kHop + Wire(bytes));
  if (kind == "reduce_scatter") return (n - 1) * (kHop + Wire(part));
  // all_to_all: the message of round i leaves after i - 1 others and passes i hops, on the shorter route.
  int64_t end = 0;
  for (int i = 1; i < n; ++i) end = std::max(end, i * Wire(part) + std::min(i, n - i) * kHop);
  return end;
}

TEST_F(RealData, MicrobenchmarksMatchClosedForms) {
  for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}) {
    for (const int n : {4, 8, 16}) {
      const std::string traces = kAstra + "microbenchmarks/" + kind + "/" + std::to_string(n) + "npus_1MB";
      const std::string on = " --cluster ring" + std::to_string(n) + ".txtpb";
      const proto::Report report = Replayed(traces + on + " --compute recorded");
      EXPECT_EQ(report.makespan_ps(), ClosedForm(kind, n)) << kind << n;
      ASSERT_EQ(report.collective_size(), 1);
      EXPECT_EQ(report.collective(0).kind(), kind);
      EXPECT_EQ(report.collective(0).count(), 1u);
      EXPECT_EQ(report.collective(0).ranks(), n);
      EXPECT_EQ(report.collective(0).time_ps(), ClosedForm(kind, n));
      EXPECT_EQ(report.input_size(), n + 1);
      EXPECT_EQ(report.repair_size(), 0);
      CheckInvariants(report);
      CheckDeterministic(traces + on);
      // A ring has no contention with itself, on any fabric.
      if (std::string(kind) != "all_to_all") {
        EXPECT_EQ(Replayed(traces + on + " --fabric analytical-fifo").makespan_ps(), ClosedForm(kind, n));
      }
    }
  }
}

// ASTRA-sim's own example with two active chunks, in ns: without and with contention.
TEST_F(RealData, MatchesAstraSimValidatedExample) {
  const std::string configs = kAstra + "configs/HGX-H100-validated";
  const Outcome r =
      Run("convert astra-sim --network " + configs + ".yml --system " + configs + ".json -o hgx.txtpb");
  ASSERT_EQ(r.status, 0) << r.err;
  const struct {
    const char* kind;
    double unaware, aware;
  } rows[] = {{"all_reduce", 55222, 57426}, {"all_gather", 34908, 44058}, {"reduce_scatter", 27810, 28950}};
  for (const auto& row : rows) {
    const std::string run =
        kAstra + "microbenchmarks/" + row.kind + "/8npus_1MB --cluster hgx.txtpb --lanes single";
    EXPECT_NEAR(static_cast<double>(Replayed(run).makespan_ps()) / 1e3 / row.unaware, 1, 0.01) << row.kind;
    const std::string aware = run + " --fabric analytical-fifo --store-and-forward";
    EXPECT_NEAR(static_cast<double>(Replayed(aware).makespan_ps()) / 1e3 / row.aware, 1, 0.01) << row.kind;
  }
}

TEST_F(RealData, LogicalTopologyIsNotAGroupFile) {
  const std::string folder = kData + "/strangers/logical_dims_beside_traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "SKIPPED: no folder " << folder;
  EXPECT_GT(Replayed(folder + " --cluster ring4.txtpb").makespan_ps(), 0);
}

TEST_F(RealData, OrderOfFilesDoesNotMatter) {
  const std::string stem = kAstra + "microbenchmarks/all_reduce/4npus_1MB/all_reduce.";
  std::string up, down;
  for (int r = 0; r < 4; ++r) {
    const std::string file = stem + std::to_string(r) + ".et ";
    up += file;
    down = file + down;
  }
  const auto run = [&](const std::string& files) {
    return Run("replay " + files + "--cluster ring4.txtpb -q --format csv").out;
  };
  EXPECT_NE(run(up), "");
  EXPECT_EQ(run(up), run(down));
}

TEST_F(RealData, RingOfSendsCarriesRingAllReduce) {
  const std::string traces = kAstra + "custom_ring_allreduce_8npus_1MB";
  const auto set = ReadTraceSet({traces}, {});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 8u);
  for (const RankTrace& t : set->ranks) {
    EXPECT_EQ(t.graph->size(), 35u);
    int sends = 0;
    for (uint32_t row = 0; row < t.graph->size(); ++row) {
      if (t.graph->type[row] != NodeType::kSend) continue;
      ++sends;
      EXPECT_EQ(t.peers[t.graph->payload[row]].dst, (t.rank + 1) % 8);
      EXPECT_EQ(t.graph->comm[t.graph->payload[row]].bytes, 131072u);
    }
    EXPECT_EQ(sends, 14);
  }
  const proto::Report report = Replayed(traces + " --cluster ring8.txtpb --compute recorded");
  CheckInvariants(report);
  EXPECT_EQ(report.nodes(), 8u * 35);
  EXPECT_EQ(report.flows(), 8u * 14);
  // At least the time of its messages one after another; the rest is recorded computation.
  EXPECT_GE(report.makespan_ps(), ClosedForm("all_reduce", 8));
  ASSERT_EQ(report.dimension_size(), 1);
  EXPECT_EQ(report.dimension(0).bytes(), 8u * 14 * 131072);
  CheckDeterministic(traces + " --cluster ring8.txtpb");
}

TEST_F(RealData, ReadsAndRepairsResNet) {
  const auto set = ReadTraceSet({kData + "/chakra/resnet50_ddp.0.et.gz"}, {});
  ASSERT_TRUE(set.ok()) << set.status();
  const RankTrace& t = set->ranks[0];
  const Graph& g = *t.graph;
  EXPECT_EQ(g.size(), 3664u);
  EXPECT_EQ(g.dep.size(), 181878u);  // data dependencies only, all different
  int64_t total = 0;
  std::vector<uint64_t> roots;
  std::map<uint64_t, uint32_t> row_of;
  for (uint32_t row = 0; row < g.size(); ++row) {
    total += g.duration[row].picos();
    row_of[g.id[row]] = row;
    if (g.dep_begin[row] == g.dep_begin[row + 1]) roots.push_back(g.id[row]);
  }
  EXPECT_EQ(total, int64_t{381795} * 1000000);
  std::sort(roots.begin(), roots.end());
  ASSERT_EQ(roots.size(), 5u);
  EXPECT_EQ(roots[0], 216u);
  EXPECT_EQ(roots[1], 432u);
  std::vector<uint64_t> children;
  const uint32_t first = row_of[216];
  for (uint32_t e = g.child_begin[first]; e < g.child_begin[first + 1]; ++e)
    children.push_back(g.id[g.child[e]]);
  std::sort(children.begin(), children.end());
  ASSERT_EQ(children.size(), 331u);
  children.resize(3);
  EXPECT_EQ(children, (std::vector<uint64_t>{217, 430, 435}));
  const uint32_t broadcast = row_of[435];
  ASSERT_EQ(g.type[broadcast], NodeType::kCollective);
  EXPECT_EQ(g.comm[g.payload[broadcast]].type, static_cast<uint8_t>(CollectiveType::kBroadcast));
  EXPECT_EQ(g.comm[g.payload[broadcast]].bytes, 212480u);
  EXPECT_EQ(g.duration[broadcast], Time::Micros(28));
  std::map<std::string, uint64_t> repairs;
  for (const Repair& r : t.repairs) repairs[r.kind] = r.count;
  EXPECT_EQ(repairs["self_ctrl_dep"], 383u);
  EXPECT_EQ(repairs["dangling_ctrl_dep"], 1277u);
}

TEST_F(RealData, ReplaysResNet) {
  for (const char* more : {"", " --ranks 4", " --ranks 2 --lanes unlimited", " --lanes single"}) {
    const std::string arguments = kData + "/chakra/resnet50_ddp.0.et.gz --compute recorded" + more;
    const proto::Report report = Replayed(arguments);
    CheckInvariants(report);
    EXPECT_EQ(report.nodes(), 3664u * static_cast<uint64_t>(report.ranks()));
    EXPECT_GT(report.makespan_ps(), int64_t{9} * 1000000000);
    CheckDeterministic(arguments);
  }
}

// Its only collective has neither a type nor a size.
TEST_F(RealData, ReadsFeederJsonButRefusesReplay) {
  const std::string file = kData + "/chakra/feeder_form_small.0.json";
  const auto set = ReadTraceSet({file}, {});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->nodes(), 7u);
  Refused("replay " + file, {"feeder_form_small.0.json", "rank 0", "node 435", "comm_type: missing"});
}

// Not JSON in spite of its name: the resource fork of a file from another system.
TEST_F(RealData, RefusesAResourceFork) {
  Refused("replay " + kData + "/chakra/all_gather_et.1.0.2.json.gz",
          {"all_gather_et.1.0.2.json.gz", "rank 0", "byte"});
}

class Stage : public RealData, public testing::WithParamInterface<const char*> {};

TEST_P(Stage, ReplaysOnEachFabric) {
  if (IsSkipped()) return;
  const std::string name = GetParam();
  const bool large = name != "llama_tiny_8";
  if (kSanitized && large) GTEST_SKIP() << name << " is left out under sanitizers: too slow";
  for (const char* fabric : {"analytical", "analytical-fifo"}) {
    const proto::Report report = Replayed(kData + "/stage/" + name + " --fabric " + fabric);
    CheckInvariants(report);
    EXPECT_EQ(report.ranks(), large ? 16 : 8);
    EXPECT_GT(report.makespan_ps(), 0);
    EXPECT_NE(report.group_source().find("workload.json"), std::string::npos);
    for (const auto& r : report.time_source())
      EXPECT_TRUE(r.time_source() != "none" || r.nodes() == 0) << r.nodes();
    const auto set = ReadTraceSet({kData + "/stage/" + name}, {});
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(report.nodes(), set->nodes());
  }
  CheckDeterministic(kData + "/stage/" + name);
}

INSTANTIATE_TEST_SUITE_P(All, Stage, testing::Values("llama_tiny_8", "llama8b_fsdp_16"));

TEST_F(RealData, ReplaysLlama70b) {
  if (kSanitized) GTEST_SKIP() << "llama70b_256 is left out under sanitizers: too slow";
  const proto::Report report = Replayed(kData + "/stage/llama70b_256.tar.zst");
  CheckInvariants(report);
  EXPECT_EQ(report.ranks(), 256);
  EXPECT_GT(report.nodes(), 6500000u);
  EXPECT_LT(report.distinct_graphs(), 256u);
}

TEST_F(RealData, RefusesOrRepairsSmallBadFiles) {
  const std::string bad = kData + "/bad/";
  const std::map<std::string, std::string> refused = {
      {"allcycle.et", "cycle"},       {"cycle2.et", "cycle"},  {"dup_ids.et", "field id"},
      {"empty.et", "empty"},          {"garbage.et", "not a"}, {"self_data.et", "itself"},
      {"trunc_body.et", "truncated"}, {"text.et", "text.et"},  {"trunc_varint.et", "truncated"},
  };
  const std::map<std::string, std::string> repaired = {
      {"missing_ctrl.et", "dangling_ctrl_dep"}, {"missing_dep.et", "dangling_data_dep"},
      {"no_md.et", "missing_metadata"},         {"only_md.et", "no_nodes"},
      {"self_ctrl.et", "self_ctrl_dep"},
  };
  int files = 0;
  for (const auto& entry : fs::directory_iterator(bad)) {
    const std::string name = entry.path().filename().string();
    ++files;
    if (const auto it = refused.find(name); it != refused.end()) {
      Refused("replay " + bad + name, {name, it->second});
    } else if (const auto r = repaired.find(name); r != repaired.end()) {
      Repaired(bad + name, r->second, 1);
    } else {
      const proto::Report report = Replayed("--strict " + bad + name);
      EXPECT_GT(report.nodes(), 0u) << name;
      EXPECT_EQ(report.repair_size(), 0) << name;
    }
  }
  EXPECT_EQ(files, 24);
}

// Models that ran on both devices: the busy time of each from the capture of the other, within 15 %.
TEST_F(RealData, PredictsCapturesFromAnotherDevice) {
  struct Pair {
    const char *of, *cluster, *target;
  };
  for (const char* model : {"Qwen_Qwen1.5-0.5B-Chat__1016005", "gaunernst_bert-small-uncased__1016001"}) {
    for (const Pair& p : {Pair{"h100_", "mi300x", "mi300_"}, Pair{"mi300_", "dgx-h100", "h100_"}}) {
      const auto file = [&](const char* device) { return kData + "/kineto/" + device + model + ".json.gz"; };
      const proto::Report predicted = ReportOf(file(p.of) + " --cluster " + p.cluster);
      const proto::Report measured = ReportOf(file(p.target));
      EXPECT_FALSE(predicted.repriced_from().empty()) << file(p.of);
      const double ratio = static_cast<double>(predicted.rank(0).compute_busy_ps()) /
                           static_cast<double>(measured.rank(0).compute_busy_ps());
      EXPECT_NEAR(ratio, 1, 0.15) << file(p.of) << " on " << p.cluster;
      RecordProperty(std::string(p.of) + model, std::to_string(ratio));
    }
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
