#include "test/validation/captures.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cluster/load.h"
#include "replay/collectives/accounting.h"
#include "replay/engine/match/match.h"
#include "replay/run/collective_table.h"
#include "test/validation/measured.h"
#include "trace/base/median.h"
#include "trace/import/pytorch/find.h"
#include "trace/import/pytorch/load_files.h"
#include "trace/import/reader.h"

namespace chakra::validation {
namespace {

// The captures with collectives on devices.
constexpr const char* kCaptures[] = {
    "hta/a100_resnet50_ddp_rank-0_of_2.json.gz",    "hta/v100_recommender_rank-1_of_2.json.gz",
    "kineto/a100_rank-3_of_8_old_profiler.json.gz", "kineto/b200_eager_trace.json.gz",
    "kineto/mi300_resnet_act_checkpoint.json.gz",   "param/dlrm/kineto"};
constexpr std::pair<const char*, const char*> kPresets[] = {{"V100", "dgx-v100"}, {"A100", "dgx-a100"},
                                                            {"H100", "dgx-h100"}, {"H200", "dgx-h200"},
                                                            {"B200", "dgx-b200"}, {"MI300X", "mi300x"}};

constexpr double kSameSize = 1.1;  // sizes within this factor count as repeats
constexpr int kManyRepeats = 5;    // whose median is at most kAgree times the least
constexpr double kAgree = 1.15;
constexpr double kMostGapUs = 10;            // between two successive calls of a group
constexpr double kMostCaptureMedian = 0.15;  // of all, and of captures with kFewKnown known transfers or more
constexpr size_t kFewKnown = 5;
// The argument of kernels of NCCL up to 2.11, which sends to peers with Simple only: computeP2pWorkElem() of
// src/enqueue.cc has no protocol.
constexpr char kOldKernel[] = "(ncclWorkElem)";

constexpr const char* kKnown[] = {"holds waits",    "last arrival",  "root",
                                  "follows a call", "repeats agree", "another library"};

// The causes of the errors of single captures, as far as the files show them.
constexpr char kCaptureNotes[] = R"(
- `a100_resnet50_ddp`: no all-reduce carries more than 13 GB/s, on 8 channels. On NVLink NCCL makes 24, so its two GPUs may
  be joined by something slower than the preset's links; the file does not say.
- `a100_rank-3_of_8`: NCCL up to 2.11, whose kernels take `ncclWorkElem` and which sends to peers with Simple only. An
  all_to_all of 256 KiB takes 27 us here and 18 us with 2.27, the gap before it included (`nccl_one_node.csv`).
- `v100_recommender`: NCCL up to 2.11, too. Its collectives of 181 MB and more run beside computation, the preset's alone.
- `b200_eager_trace`: the all-reduces are PyTorch's own (`multimem_all_reduce_kernel`). The name tells the planner to take
  `multimem`, whose share of the link is fitted on this capture: the row counts in no median.
- A name of NCCL's own kernels tells neither algorithm nor protocol: the kernel named RING_LL runs all of them
  (NVIDIA/nccl#1595, #2196). `AllReduce_RING_LL` of a100_rank-3_of_8 took 1.6 ms for 181 MB on 8 GPUs, 201 GB/s of the bus, which LL cannot carry.
- `kineto/jobs`: collectives of gloo, on hosts. No preset has them.
)";

double Micros(Time t) { return static_cast<double>(t.picos()) * 1e-6; }

struct Call {
  CollectiveType type = CollectiveType::kAllReduce;
  int ranks = 0;
  uint64_t bytes = 0;  // the larger of a rank's buffers
  uint32_t group = 0;
  double us = 0;
  Known known = Known::kNo;
  bool old_kernel = false;
  const char* kernel = nullptr;  // see CollectiveCall::kernel
};

// The device that the first Kineto file at `path` names.
absl::StatusOr<std::string> DeviceOf(const std::string& path) {
  std::vector<std::string> others;
  const auto files = pytorch::FindCaptureFiles({path}, &others);
  if (!files.ok()) return files.status();
  for (const pytorch::CaptureFile& file : *files) {
    if (file.host) continue;
    pytorch::LoadedFile loaded;
    if (absl::Status s = pytorch::LoadFile(file, &loaded); !s.ok()) return s;
    if (loaded.device != nullptr && !loaded.device->devices.empty()) return loaded.device->devices[0];
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": expected deviceProperties with a name"));
}

// Adds calls of which only one member was recorded, in order of their starts.
void AddSingle(const RankTrace& trace, const Matching& matching, std::vector<Call>* calls) {
  const Graph& graph = *trace.graph;
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.type[row] == NodeType::kCollective) rows.push_back(row);
  }
  const auto start = [&](uint32_t row) { return graph.start.empty() ? Time::Zero() : graph.start[row]; };
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) { return start(a) < start(b); });
  const int own = trace.recorded_rank == kNoRank ? trace.rank : trace.recorded_rank;
  std::map<uint32_t, Time> ends;  // by group, of its last call
  for (const uint32_t row : rows) {
    const uint32_t at = graph.payload[row];
    const CollectiveCall& made = matching.calls[matching.slots[static_cast<size_t>(trace.rank)][at].index];
    const auto before = ends.find(made.group);
    const bool follows = before != ends.end() && Micros(start(row) - before->second) <= kMostGapUs;
    ends[made.group] = start(row) + graph.duration[row];
    if (made.kept || graph.duration[row] == Time::Zero()) continue;
    Call call;
    call.type = made.type;
    call.ranks = matching.groups[made.group].size;
    call.bytes = BufferBytes(made.type, made.bytes, call.ranks);
    call.group = made.group;
    call.us = Micros(graph.duration[row]);
    const int root = trace.peers[at].root == kNoRank ? 0 : trace.peers[at].root;
    if (made.type == CollectiveType::kBroadcast && root == own) {
      call.known = Known::kRoot;
    } else if (follows) {
      call.known = Known::kFollows;
    }
    const std::string kernel(graph.name_of(row));
    call.old_kernel = absl::StrContains(kernel, kOldKernel);
    call.kernel = made.kernel;
    if (!absl::StrContains(kernel, "nccl")) call.known = Known::kOther;
    if (call.ranks > 1 && call.bytes > 0) calls->push_back(call);
  }
}

// Adds calls of which all members were recorded: the longest transfer of the members, from the last arrival
// on.
void AddWhole(const TraceSet& traces, const Matching& matching, std::vector<Call>* calls) {
  std::vector<Time> longest(matching.calls.size(), Time::Zero());
  for (const RankTrace& trace : traces.ranks) {
    const Graph& graph = *trace.graph;
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kCollective) continue;
      const uint32_t at = graph.payload[row];
      if (graph.transfer_of(at) == Time::Never()) continue;
      Time& most = longest[matching.slots[static_cast<size_t>(trace.rank)][at].index];
      most = std::max(most, graph.transfer_of(at));
    }
  }
  for (size_t i = 0; i < longest.size(); ++i) {
    const CollectiveCall& made = matching.calls[i];
    if (made.kept || longest[i] == Time::Zero() || matching.groups[made.group].size < 2) continue;
    Call call;
    call.type = made.type;
    call.ranks = matching.groups[made.group].size;
    call.bytes = BufferBytes(made.type, made.bytes, call.ranks);
    call.group = made.group;
    call.us = Micros(longest[i]);
    call.known = Known::kLastArrival;
    calls->push_back(call);
  }
}

// Divides calls of one kind and group into runs of nearly equal size.
std::vector<std::vector<Call>> BySize(std::vector<Call> calls) {
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& a, const Call& b) { return a.bytes < b.bytes; });
  std::vector<std::vector<Call>> runs;
  for (const Call& call : calls) {
    if (runs.empty() ||
        static_cast<double>(call.bytes) > kSameSize * static_cast<double>(runs.back()[0].bytes)) {
      runs.emplace_back();
    }
    runs.back().push_back(call);
  }
  return runs;
}

absl::Status Predict(const Call& call, CaptureRow* row) {
  absl::StatusOr<proto::Cluster> cluster = LoadCluster(row->preset);
  if (!cluster.ok()) return cluster.status();
  if (call.old_kernel && call.type == CollectiveType::kAllToAll) {
    (*cluster->mutable_collectives()->mutable_library()->mutable_choice())["all_to_all"] = "direct/simple";
  }
  TableOptions options;
  options.type = call.type;
  options.ranks = call.ranks;
  if (call.kernel != nullptr) options.algorithm = call.kernel;
  absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(*cluster, options);
  if (!table.ok()) return table.status();
  const absl::StatusOr<TableRow> priced = table->Price(call.bytes);
  if (!priced.ok()) return priced.status();
  row->simulated_us = call.known == Known::kRoot
                          ? priced->root_us
                          : priced->device_us - cluster->collectives().library().kernel_gap_us();
  row->algorithm = absl::StrCat(priced->algorithm, "/", priced->protocol);
  return absl::OkStatus();
}

absl::Status AddRow(const std::vector<Call>& calls, CaptureRow row, std::vector<CaptureRow>* rows) {
  const Call& fastest =
      *std::min_element(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.us < b.us; });
  std::vector<double> times;
  for (const Call& call : calls) times.push_back(call.us);
  row.collective = std::string(Name(fastest.type));
  row.bytes = fastest.bytes;
  row.ranks = fastest.ranks;
  row.calls = static_cast<int>(calls.size());
  row.recorded_us = fastest.us;
  row.known = fastest.known;
  if (row.known == Known::kNo && row.calls >= kManyRepeats && Median(times) <= kAgree * fastest.us) {
    row.known = Known::kRepeats;
  }
  if (absl::Status s = Predict(fastest, &row); !s.ok()) return s;
  rows->push_back(std::move(row));
  return absl::OkStatus();
}

absl::Status ReadCapture(const std::string& folder, const std::string& name, std::vector<CaptureRow>* rows) {
  const std::string path = absl::StrCat(folder, "/", name);
  CaptureRow row;
  row.capture = name;
  const absl::StatusOr<std::string> device = DeviceOf(path);
  if (!device.ok()) return device.status();
  row.device = *device;
  for (const auto& [part, preset] : kPresets) {
    if (absl::StrContains(row.device, part)) row.preset = preset;
  }
  if (row.preset.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": no preset of the device \"", row.device, "\""));
  }
  const absl::StatusOr<TraceSet> traces = ReadTraceSet({path}, ReadOptions{});
  if (!traces.ok()) return traces.status();
  const absl::StatusOr<Matching> matching = MatchCommunication(*traces, {}, true);
  if (!matching.ok()) return matching.status();
  std::vector<Call> calls;
  if (traces->ranks.size() == 1) {
    AddSingle(traces->ranks[0], *matching, &calls);
  } else {
    AddWhole(*traces, *matching, &calls);
  }
  std::map<std::tuple<CollectiveType, uint32_t>, std::vector<Call>> kinds;
  for (const Call& call : calls) kinds[{call.type, call.group}].push_back(call);
  for (const auto& [kind, of_kind] : kinds) {
    for (const std::vector<Call>& run : BySize(of_kind)) {
      if (absl::Status s = AddRow(run, row, rows); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

double MedianOfCaptures(const std::vector<CaptureRow>& rows, const std::string& capture, bool known,
                        size_t* count) {
  std::vector<double> errors;
  for (const CaptureRow& row : rows) {
    if (row.known == Known::kOther) continue;
    if ((capture.empty() || row.capture == capture) && (!known || row.known != Known::kNo)) {
      errors.push_back(std::abs(row.Error()));
    }
  }
  *count = errors.size();
  return Median(std::move(errors));
}

}  // namespace

absl::StatusOr<std::vector<CaptureRow>> ReadCaptures(const std::string& folder) {
  std::vector<CaptureRow> rows;
  if (!std::filesystem::exists(folder)) return rows;
  for (const char* name : kCaptures) {
    if (absl::Status s = ReadCapture(folder, name, &rows); !s.ok()) return s;
  }
  return rows;
}

std::string CapturesMarkdown(const std::vector<CaptureRow>& rows) {
  std::string out = absl::StrCat(
      "\n# Collectives of captures\n\nThe fastest of the calls of a kind, group and size, and the kernel "
      "that "
      "the preset of the capture's device\nsimulates. Where one rank of a group was recorded, a duration "
      "holds its wait for the others. It counts as a\ntransfer where something tells that it holds none: "
      "the rank is the root of a broadcast (its own part alone is\ncompared); the call began within ",
      absl::StrFormat(
          "%.0f us of the end of the group's call before it; or the median of\n%d or more repeats "
          "is within %.0f %% of the least.",
          kMostGapUs, kManyRepeats, 100 * (kAgree - 1)),
      " Durations of PyTorch 1.x and of DLRM are whole microseconds.\n\n"
      "| capture | device | preset | shapes | transfers known | median \\|error\\| | of all shapes |\n"
      "|---|---|---|---|---|---|---|\n");
  std::vector<std::string> captures = {""};
  for (const CaptureRow& row : rows) {
    if (captures.back() != row.capture) captures.push_back(row.capture);
  }
  for (const std::string& capture : captures) {
    size_t known = 0, all = 0;
    const double median = MedianOfCaptures(rows, capture, true, &known);
    const double of_all = MedianOfCaptures(rows, capture, false, &all);
    const auto first =
        std::find_if(rows.begin(), rows.end(), [&](const CaptureRow& r) { return r.capture == capture; });
    absl::StrAppend(&out, "| ", capture.empty() ? "all" : capture, " | ",
                    capture.empty() ? " | " : absl::StrCat(first->device, " | ", first->preset), " | ", all,
                    " | ", known, " | ", known == 0 ? "-" : absl::StrFormat("%.1f %%", 100 * median), " | ",
                    absl::StrFormat("%.1f %%", 100 * of_all), " |\n");
  }
  absl::StrAppend(&out, kCaptureNotes);
  absl::StrAppend(
      &out,
      "\n| capture | collective | bytes | GPUs | calls | recorded | known by | simulated | with | "
      "error |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const CaptureRow& r : rows) {
    absl::StrAppendFormat(&out, "| %s | %s | %d | %d | %d | %.1f us | %s | %.1f us | %s | %+.1f %% |\n",
                          r.capture, r.collective, r.bytes, r.ranks, r.calls, r.recorded_us,
                          kKnown[static_cast<size_t>(r.known)], r.simulated_us, r.algorithm, 100 * r.Error());
  }
  return out;
}

std::vector<Finding> CheckCaptures(const std::vector<CaptureRow>& rows) {
  std::vector<Finding> findings;
  const auto check = [&](const std::string& what, double median, size_t known) {
    findings.push_back(
        {absl::StrFormat(
             "captures, %s: median |error| %.1f %% of %d known transfers; expected at most %.0f %%", what,
             100 * median, known, 100 * kMostCaptureMedian),
         known > 0 && median <= kMostCaptureMedian});
  };
  size_t known = 0;
  const double median = MedianOfCaptures(rows, "", true, &known);
  check("all", median, known);
  std::set<std::string> captures;
  for (const CaptureRow& row : rows) captures.insert(row.capture);
  for (const std::string& capture : captures) {
    const double of_one = MedianOfCaptures(rows, capture, true, &known);
    if (known >= kFewKnown) check(capture, of_one, known);
  }
  return findings;
}

}  // namespace chakra::validation
