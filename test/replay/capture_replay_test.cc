// The replay of an unchanged capture reproduces the measurement; the replay of a changed one follows its
// dependencies.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "capture_testing.h"
#include "replay/engine/lane_policy.h"
#include "test/folders.h"
#include "test/sanitized.h"
#include "test/trace/pytorch/capture_builder.h"
#include "test/trace/pytorch/capture_files.h"
#include "trace/et/read_options.h"
#include "trace/import/locate.h"
#include "trace/import/reader.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using pytorch::Capture;
using pytorch::EdgeKind;
using pytorch::Shared;
using pytorch::Timeline;

// Replays the capture with `change` applied to each rank's timeline, by dependencies alone.
Replayed ReplayChanged(Capture* capture, const std::function<Timeline(Timeline)>& change) {
  for (pytorch::CaptureRank& rank : capture->ranks) rank.timeline = change(std::move(rank.timeline));
  capture->joined = pytorch::JoinRanks(capture->ranks);
  Replayed r;
  auto traces = CaptureTraces(*capture, {});
  EXPECT_TRUE(traces.ok()) << traces.status();
  if (!traces.ok()) return r;
  r.traces = *std::move(traces);
  Run(&r, LanePolicy::kUnlimited, nullptr);
  return r;
}

struct Known {
  const char* name;
  std::vector<std::string> files;  // of the shared data
  std::vector<double> steps_us;    // as published; empty: no steps
  bool kernels = true;             // has device operations
};

std::ostream& operator<<(std::ostream& out, const Known& k) { return out << k.name; }

class Measured : public testing::TestWithParam<Known> {
 protected:
  void SetUp() override { SKIP_WITHOUT_SHARED_DATA(); }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const std::string& f : GetParam().files) files.push_back(Shared(f));
    return files;
  }
};

TEST_P(Measured, ReplayReproducesTheMeasurement) {
  for (const LanePolicy lanes : {LanePolicy::kRecorded, LanePolicy::kUnlimited}) {
    const Replayed r = ReplayOf(Files(), nullptr, lanes);
    ASSERT_FALSE(r.steps.empty());
    std::vector<double> steps;
    uint64_t kernels = 0;
    for (const StepMetrics& s : r.steps) {
      const auto measured = static_cast<double>(s.measured.picos());
      ASSERT_GT(measured, 0) << s.name;
      // The goals are 1 % and 2 %.
      EXPECT_NEAR(static_cast<double>(s.replayed.picos()) / measured, 1, 0.001) << s.name;
      EXPECT_LE(static_cast<double>(s.kernel_start_error.picos()) / measured, 0.001) << s.name;
      if (s.name != "window") steps.push_back(measured / 1e6);
      kernels += s.name == "window" ? s.kernels : 0;
    }
    EXPECT_EQ(kernels > 0, GetParam().kernels);
    ASSERT_EQ(steps.size(), GetParam().steps_us.size());
    for (size_t i = 0; i < steps.size(); ++i)
      EXPECT_NEAR(steps[i], GetParam().steps_us[i], 1) << "step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Captures, Measured,
    testing::Values(
        Known{"linear", {"param/linear_et.json.gz", "param/linear_kineto.json.gz"}, {}},
        Known{"linear_device_only", {"param/linear_kineto.json.gz"}, {}},
        Known{"simple_add", {"hta/simple_add_et.json.gz", "hta/simple_add_kineto.json.gz"}, {}},
        Known{"simple_add_device_only", {"hta/simple_add_kineto.json.gz"}, {}},
        Known{"simple_add_sync", {"hta/simple_add_sync.json.gz"}, {}},
        Known{"resnet50", {"hta/a100_resnet50_ddp_rank-0_of_2.json.gz"}, {222442, 219727, 224936}},
        Known{"recommender",
              {"hta/v100_recommender_rank-1_of_2.json.gz"},
              {100298, 122149, 166403, 81971, 107230, 166350}},
        Known{"nanoseconds", {"hta/v100_ns_resolution_rank-0.json.gz"}, {35116, 72077, 95697, 95551, 95699}},
        Known{"event_sync", {"hta/cuda_event_sync.json.gz"}, {3154}},
        Known{"event_sync_streams", {"hta/cuda_event_sync_multi_stream.json.gz"}, {}},
        Known{"alexnet", {"hta/alexnet.json.gz"}, {}},
        Known{"amd", {"hta/amd_mi250_toy.json.gz"}, {9288, 49}},
        Known{"mtia", {"hta/mtia_inference_rank_0.json.gz"}, {}},
        Known{"triton", {"hta/triton_example.json.gz"}, {13336316}},
        Known{"legacy", {"hta/legacy_categories.json.gz"}, {}},
        Known{"host_events_only", {"hta/cpu_only_rank-34.json.gz"}, {210109}, false},
        Known{"counters", {"hta/cupti_counters_no_kernels.json.gz"}, {}, false}),
    [](const auto& info) { return std::string(info.param.name); });

// The project's own capture: two processes, gloo, no device.
TEST(OwnCapture, ReplayReproducesTheMeasurement) {
  for (const LanePolicy lanes : {LanePolicy::kRecorded, LanePolicy::kUnlimited}) {
    const Replayed r =
        ReplayOf({std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2"}, nullptr, lanes);
    ASSERT_GE(r.steps.size(), 4u);
    for (const StepMetrics& s : r.steps) {
      EXPECT_NEAR(static_cast<double>(s.replayed.picos()) / static_cast<double>(s.measured.picos()), 1, 0.01)
          << s.recorded_rank << s.name;
    }
    EXPECT_FALSE(r.metrics.collectives.empty());
  }
}

// Jobs of four ranks, whose groups and peers the captures do not name: one is tensor x data parallel, one has
// a pipeline.
class GlooJobs : public testing::TestWithParam<const char*> {};

TEST_P(GlooJobs, ReplayReproducesTheMeasurement) {
  SKIP_WITHOUT_SHARED_DATA();
  for (const LanePolicy lanes : {LanePolicy::kRecorded, LanePolicy::kUnlimited}) {
    const Replayed r = ReplayOf({Shared(std::string("kineto/jobs/") + GetParam())}, nullptr, lanes);
    ASSERT_EQ(r.steps.size(), 16u) << "three steps and the window, of four ranks";
    for (const StepMetrics& s : r.steps) {
      EXPECT_NEAR(static_cast<double>(s.replayed.picos()) / static_cast<double>(s.measured.picos()), 1, 0.001)
          << s.recorded_rank << s.name;
    }
    EXPECT_EQ(r.metrics.collectives.empty(), false);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, GlooJobs, testing::Values("gloo_tp4", "gloo_pp4"),
                         [](const auto& info) { return std::string(info.param); });

// ------------------------------------------------------------------- DLRM

class Dlrm : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_SHARED_DATA(); }
  static constexpr int kRanks = 8;
  static std::string Both() { return Shared("param/dlrm"); }
  static std::string Devices() { return Shared("param/dlrm/kineto"); }
};

TEST_F(Dlrm, EveryRankReproducesStepsAndWindow) {
  static constexpr double kSteps[kRanks] = {14455, 19901, 13017, 19313, 17979, 17797, 13091, 12509};
  for (const std::string& input : {Both(), Devices()}) {
    for (const LanePolicy lanes : {LanePolicy::kRecorded, LanePolicy::kUnlimited}) {
      const Replayed r = ReplayOf({input}, nullptr, lanes);
      ASSERT_EQ(r.traces.ranks.size(), static_cast<size_t>(kRanks));
      for (const StepMetrics& s : r.steps) {
        const auto measured = static_cast<double>(s.measured.picos());
        EXPECT_NEAR(static_cast<double>(s.replayed.picos()) / measured, 1, 0.001)
            << s.recorded_rank << s.name;
        EXPECT_LE(static_cast<double>(s.kernel_start_error.picos()) / measured, 0.001)
            << s.recorded_rank << s.name;
        if (s.name != "window") {
          EXPECT_NEAR(measured / 1e6, kSteps[s.recorded_rank], 1) << s.recorded_rank;
        }
      }
      EXPECT_EQ(r.steps.size(), 2u * kRanks);
      EXPECT_NEAR(static_cast<double>(r.metrics.makespan.picos()) / 1e6, 20823, 208);
    }
  }
}

// The calls of a host trace, read without the project's reader: the kind of each call, and the bytes of its
// tensors.
void CollectTensors(simdjson::dom::element value, int64_t* bytes) {
  simdjson::dom::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return;
  std::string_view device;
  if (list.size() == 6 && list.at(5).get_string().get(device) == simdjson::SUCCESS) {
    *bytes += static_cast<int64_t>(list.at(3)) * static_cast<int64_t>(list.at(4));
    return;
  }
  for (const auto item : list) CollectTensors(item, bytes);
}

std::string KindOf(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'a' && c <= 'z') letters.push_back(c);
  }
  if (letters == "alltoall" || letters == "alltoallv") return "all_to_all";
  return letters == "allreduce" ? "all_reduce" : letters;
}

std::map<std::string, std::pair<uint64_t, int64_t>> CallsInHostTrace(const std::string& file) {
  std::map<std::string, std::pair<uint64_t, int64_t>> calls;
  simdjson::dom::parser parser;
  const std::string text = pytorch::Unpacked(file);
  for (const simdjson::dom::element node : parser.parse(text)["nodes"].get_array()) {
    if (std::string_view(node["name"]) != "record_param_comms") continue;
    int64_t bytes = 0;
    std::string kind;
    bool first = true;
    for (const auto value : node["inputs"].get_array()) {
      std::string_view word;
      if (first) CollectTensors(value, &bytes);
      first = false;
      if (value.get_string().get(word) == simdjson::SUCCESS) kind = KindOf(word);
    }
    if (kind == "wait" || kind == "init") continue;
    ++calls[kind].first;
    calls[kind].second += bytes;
  }
  return calls;
}

TEST_F(Dlrm, TracesHaveTheBytesOfHostTraces) {
  ReadOptions options;
  auto traces = ReadTraceSet({Both()}, options);
  ASSERT_TRUE(traces.ok()) << traces.status();
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto wanted =
        CallsInHostTrace(pytorch::SharedWithPrefix("param/dlrm/et", absl::StrCat("dlrm_eg_", rank, ".")));
    ASSERT_FALSE(wanted.empty());
    std::map<std::string, std::pair<uint64_t, int64_t>> found;
    const Graph& g = *traces->ranks[static_cast<size_t>(rank)].graph;
    for (uint32_t row = 0; row < g.size(); ++row) {
      if (g.type[row] < NodeType::kSend) continue;
      const Comm& comm = g.comm[g.payload[row]];
      auto& [count, bytes] = found[std::string(Name(static_cast<CollectiveType>(comm.type)))];
      ++count;
      bytes += static_cast<int64_t>(comm.bytes);
    }
    EXPECT_EQ(found, wanted) << "rank " << rank;
  }
}

TEST_F(Dlrm, WaitingDoesNotCountAsTransfer) {
  // The first all-to-all's kernel lasts 7,635 us on rank 1, which came first,
  // and 10 us on rank 7: the transfer itself takes 9 to 11 us.
  auto traces = ReadTraceSet({Both()}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  int64_t longest_kernel = 0;
  for (const RankTrace& rank : traces->ranks) {
    const Graph& g = *rank.graph;
    for (const uint32_t row : g.order) {
      if (g.type[row] != NodeType::kCollective) continue;
      EXPECT_LE(g.transfer_of(g.payload[row]).picos(), 100000000) << DescribeNode(rank, row);
      longest_kernel = std::max(longest_kernel, g.duration[row].picos());
    }
    const auto first = std::find_if(g.order.begin(), g.order.end(),
                                    [&](uint32_t row) { return g.type[row] == NodeType::kCollective; });
    ASSERT_NE(first, g.order.end());
    const Comm& comm = g.comm[g.payload[*first]];
    EXPECT_EQ(comm.type, static_cast<uint8_t>(CollectiveType::kAllToAll));
    EXPECT_NEAR(static_cast<double>(g.transfer_of(g.payload[*first]).picos()) / 1e6, 10, 2.5) << rank.rank;
  }
  EXPECT_GT(longest_kernel, 7000000000);
}

TEST_F(Dlrm, SlowRankDelaysOthersThroughCollectives) {
  const Replayed before = ReplayOf({Both()});
  // Rank 7 loses 5 ms before its first collective: the others wait for it.
  const auto delay = [](Replayed* r) {
    const Graph& g = r->graph(7);
    const DistinctGraphs distinct(r->traces);
    r->times[distinct.of_rank[7]].time[g.order[2]] += Time::Micros(5000);
  };
  const Replayed after = ReplayOf({Both()}, delay);
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_NEAR(
        static_cast<double>((after.metrics.ranks[rank].end - before.metrics.ranks[rank].end).picos()) / 1e6,
        5000, 1500)
        << rank;
  }
}

// -------------------------------------------------------------- Ablations

// A part that is removed from the timelines of a capture. By dependencies alone, the worst step must then be
// off by at least `off`, as a share of the measurement.
struct Missing {
  const char* name;
  const char* capture;
  std::function<Timeline(Timeline)> change;
  double off;
};

std::ostream& operator<<(std::ostream& out, const Missing& m) { return out << m.name; }

std::function<Timeline(Timeline)> Drop(const std::set<EdgeKind>& kinds) {
  return [kinds](Timeline t) { return pytorch::Dropped(std::move(t), kinds); };
}

constexpr char kResnet[] = "hta/a100_resnet50_ddp_rank-0_of_2.json.gz";
constexpr char kRecommender[] = "hta/v100_recommender_rank-1_of_2.json.gz";
constexpr char kNanoseconds[] = "hta/v100_ns_resolution_rank-0.json.gz";
constexpr char kLinear[] = "param/linear_kineto.json.gz";

class Ablation : public testing::TestWithParam<Missing> {
 protected:
  void SetUp() override { SKIP_WITHOUT_SHARED_DATA(); }
};

TEST_P(Ablation, IncreasesTheError) {
  Capture capture = MustRead({Shared(GetParam().capture)});
  const Replayed whole = ReplayChanged(&capture, [](Timeline t) { return t; });
  const Replayed less = ReplayChanged(&capture, GetParam().change);
  ASSERT_EQ(whole.steps.size(), less.steps.size());
  double worst = 0;
  for (size_t i = 0; i < whole.steps.size(); ++i) {
    const auto measured = static_cast<double>(whole.steps[i].measured.picos());
    EXPECT_NEAR(static_cast<double>(whole.steps[i].replayed.picos()) / measured, 1, 0.001);
    worst = std::max(worst, std::abs(static_cast<double>(less.steps[i].replayed.picos()) / measured - 1));
  }
  EXPECT_GE(worst, GetParam().off);
}

INSTANTIATE_TEST_SUITE_P(
    Captures, Ablation,
    testing::Values(
        // Bound by the device: kernels queue.
        Missing{"stream_order_recommender", kRecommender, Drop({EdgeKind::kStream}), 0.55},
        Missing{"stream_order_nanoseconds", kNanoseconds, Drop({EdgeKind::kStream}), 0.15},
        // Without event waits, kernels would still wait for the kernels that made room for them (kRelease).
        Missing{"cross_stream_waits_recommender", kRecommender,
                Drop({EdgeKind::kEventWait, EdgeKind::kRelease}), 0.25},
        Missing{"cross_stream_waits_dlrm", "param/dlrm", Drop({EdgeKind::kEventWait}), 0.35},
        Missing{"synchronisation_recommender", kRecommender, Drop({EdgeKind::kSync}), 0.55},
        Missing{"synchronisation_dlrm", "param/dlrm", Drop({EdgeKind::kSync}), 0.35},
        // Bound by the host.
        Missing{"host_time_resnet", kResnet, pytorch::WithoutHostTime, 0.75},
        Missing{"host_time_linear", kLinear, pytorch::WithoutHostTime, 0.75},
        Missing{"host_time_dlrm", "param/dlrm", pytorch::WithoutHostTime, 0.85},
        Missing{"other_threads_resnet", kResnet, Drop({EdgeKind::kHandOff, EdgeKind::kWakeUp}), 0.4},
        Missing{"other_threads_nanoseconds", kNanoseconds, Drop({EdgeKind::kHandOff, EdgeKind::kWakeUp}),
                0.4},
        Missing{"launches_dlrm", "param/dlrm", Drop({EdgeKind::kLaunch}), 0.35}),
    [](const auto& info) { return std::string(info.param.name); });

// --------------------------------------------------- One kernel made longer

class Longer : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_SHARED_DATA(); }
};

// Rows that depend on `row`, by the graph alone.
std::vector<bool> Reach(const Graph& g, uint32_t row) {
  std::vector<bool> reached(g.size());
  std::vector<uint32_t> open = {row};
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    for (uint32_t k = g.child_begin[at]; k < g.child_begin[at + 1]; ++k) {
      if (reached[g.child[k]]) continue;
      reached[g.child[k]] = true;
      open.push_back(g.child[k]);
    }
  }
  return reached;
}

TEST_F(Longer, DoubledKernelMovesOnlyItsDependents) {
  std::vector<const char*> files = {"hta/alexnet.json.gz"};
  if (!kSanitized) files.insert(files.end(), {kLinear, kResnet, kNanoseconds});
  for (const char* file : files) {
    const Replayed before = ReplayOf({Shared(file)});
    const Graph& g = before.graph(0);
    std::vector<uint32_t> kernels;
    for (const uint32_t row : g.order) {
      if (g.type[row] == NodeType::kComp && !g.is_cpu(row) && g.duration[row] > Time::Zero())
        kernels.push_back(row);
    }
    ASSERT_GT(kernels.size(), 4u);
    for (const size_t which : {kernels.size() / 4, kernels.size() / 2, kernels.size() - 1}) {
      const uint32_t row = kernels[which];
      const Replayed after =
          ReplayOf({Shared(file)}, [row](Replayed* r) { r->times[0].time[row] += r->times[0].time[row]; });
      const std::vector<bool> reach = Reach(g, row);
      const Time more = g.duration[row];
      uint64_t moved = 0, stayed = 0;
      for (uint32_t i = 0; i < g.size(); ++i) {
        const Time by = after.spans[0][i].begin - before.spans[0][i].begin;
        if (!reach[i]) {
          ASSERT_EQ(by.picos(), 0) << file << ": " << DescribeNode(before.traces.ranks[0], i)
                                   << " moved with " << DescribeNode(before.traces.ranks[0], row);
        }
        ASSERT_GE(by.picos(), 0);
        ASSERT_LE(by.picos(), more.picos());
        (by > Time::Zero() ? moved : stayed) += 1;
        // Each row begins exactly when its last dependency, with its delay, allows.
        Time ready;
        for (uint32_t d = g.dep_begin[i]; d < g.dep_begin[i + 1]; ++d) {
          ready =
              std::max(ready, after.spans[0][g.dep[d]].end + (g.dep_delay.empty() ? Time() : g.dep_delay[d]));
        }
        ASSERT_EQ(after.spans[0][i].begin.picos(), ready.picos()) << DescribeNode(before.traces.ranks[0], i);
      }
      EXPECT_EQ((after.spans[0][row].end - before.spans[0][row].end).picos(), more.picos());
      EXPECT_GT(stayed, 0u);
    }
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
