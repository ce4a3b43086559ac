#include "trace/import/kineto/graph_capture.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "trace/import/capture/launch_calls.h"

namespace chakra::pytorch {
namespace {

// Whether a call makes a node of a graph while its stream is captured.
bool MakesNode(absl::string_view name) {
  return LaunchesKernel(name) || absl::StrContains(name, "MemcpyAsync") ||
         absl::StrContains(name, "MemsetAsync") || absl::StrContains(name, "MemsetD");
}

// An operator that called a launching function during a capture. Views into the capturing trace.
struct Captured {
  absl::string_view name, shapes, types;
  bool operator==(const Captured& o) const {
    return name == o.name && shapes == o.shapes && types == o.types;
  }
};
using CapturedGraph = std::vector<Captured>;  // by node

// Finds the graphs that the threads of a trace captured. Precondition: events are sorted.
class CaptureFinder {
 public:
  explicit CaptureFinder(const DeviceTrace& trace) : d_(trace), threads_(trace.threads.size()) {}

  void Run(std::vector<CapturedGraph>* out) {
    for (const Event& e : d_.events) {
      if (!OnHost(e.kind)) continue;
      Thread& thread = threads_[e.lane];
      while (!thread.open.empty() && EndOf(*thread.open.back()) <= e.ts) thread.open.pop_back();
      if (e.kind == EventKind::kCpuOp) thread.open.push_back(&e);
      if (!IsCall(e)) continue;
      const absl::string_view name = d_.name_of(e);
      if (BeginsCapture(name)) {
        thread.capturing = true;
        thread.nodes.clear();
      } else if (EndsCapture(name) && thread.capturing) {
        thread.capturing = false;
        if (!thread.nodes.empty()) out->push_back(std::move(thread.nodes));
        thread.nodes.clear();
      } else if (thread.capturing && MakesNode(name)) {
        thread.nodes.push_back(OperatorAround(thread));
      }
    }
  }

 private:
  struct Thread {
    std::vector<const Event*> open;  // operators, the innermost last
    bool capturing = false;
    CapturedGraph nodes;
  };
  static int64_t EndOf(const Event& e) { return e.ts + e.dur; }
  Captured OperatorAround(const Thread& thread) const {
    if (thread.open.empty()) return {};
    const Event& e = *thread.open.back();
    Captured out = {d_.name_of(e), "", ""};
    if (e.extra != kNoRow) {
      out.shapes = d_.strings.Get(d_.ops[e.extra].shapes);
      out.types = d_.strings.Get(d_.ops[e.extra].types);
    }
    return out;
  }

  const DeviceTrace& d_;
  std::vector<Thread> threads_;
};

// The operators that all captures of one length have in common. A name, or shapes and types, that differ
// become "".
CapturedGraph Agreed(const std::vector<const CapturedGraph*>& captures) {
  CapturedGraph out = *captures[0];
  for (const CapturedGraph* other : captures) {
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i].name != (*other)[i].name) out[i] = {};
      if (!(out[i] == (*other)[i])) out[i].shapes = out[i].types = "";
    }
  }
  return out;
}

// Copies of the texts: interning into a string table invalidates views of it.
struct OwnOp {
  std::string name, shapes, types;
};

// The graph node of the device operation at `row`; -1: not recorded.
int64_t NodeOf(const DeviceTrace& trace, uint32_t row) {
  const uint32_t extra = trace.events[row].extra;
  const auto it = std::lower_bound(trace.graph_nodes.begin(), trace.graph_nodes.end(), extra,
                                   [](const GraphNodeOf& n, uint32_t e) { return n.extra < e; });
  return it != trace.graph_nodes.end() && it->extra == extra ? it->node : -1;
}

// Sorts the operations of a launch, given by start, into the order in which their nodes were made. False:
// that order is not known.
bool InOrderOfNodes(const DeviceTrace& trace, std::vector<uint32_t>* rows) {
  const auto lane = [&](uint32_t row) { return trace.events[row].lane; };
  if (std::all_of(rows->begin(), rows->end(), [&](uint32_t row) { return lane(row) == lane(rows->front()); }))
    return true;
  std::map<uint32_t, int64_t> last;  // the last node of each stream
  std::vector<std::pair<int64_t, uint32_t>> nodes;
  for (const uint32_t row : *rows) {
    const int64_t node = NodeOf(trace, row);
    const auto [it, first] = last.try_emplace(lane(row), node);
    if (node < 0 || (!first && it->second >= node)) return false;
    it->second = node;
    nodes.push_back({node, row});
  }
  std::sort(nodes.begin(), nodes.end());
  for (size_t i = 0; i < nodes.size(); ++i) (*rows)[i] = nodes[i].second;
  return true;
}

}  // namespace

bool ShowsGraphCaptureOnly(const DeviceTrace& trace) {
  bool captures = false;
  for (const Event& e : trace.events) {
    if (!IsCall(e)) continue;
    if (LaunchesGraph(trace.name_of(e))) return false;
    captures = captures || BeginsCapture(trace.name_of(e));
  }
  return captures;
}

GraphJoin JoinCapturedGraphs(const std::vector<const DeviceTrace*>& from, DeviceTrace* to) {
  GraphJoin join;
  absl::flat_hash_map<int64_t, std::vector<uint32_t>> launches;  // rows of device operations by correlation
  for (const Event& e : to->events) {
    if (IsCall(e) && e.correlation >= 0 && LaunchesGraph(to->name_of(e))) launches.try_emplace(e.correlation);
  }
  if (launches.empty()) return join;
  for (uint32_t row = 0; row < to->events.size(); ++row) {
    const Event& e = to->events[row];
    if (!OnDevice(e.kind) || e.extra == kNoRow) continue;
    const auto it = launches.find(e.correlation);
    if (it != launches.end()) it->second.push_back(row);
  }
  std::vector<CapturedGraph> graphs;
  for (const DeviceTrace* trace : from) CaptureFinder(*trace).Run(&graphs);
  std::map<size_t, std::vector<const CapturedGraph*>> by_length;
  for (const CapturedGraph& graph : graphs) by_length[graph.size()].push_back(&graph);
  std::map<size_t, std::vector<OwnOp>> agreed;
  for (const auto& [length, captures] : by_length) {
    for (const Captured& op : Agreed(captures))
      agreed[length].push_back({std::string(op.name), std::string(op.shapes), std::string(op.types)});
  }
  std::map<size_t, std::vector<uint32_t>> rows_of;  // rows of graph_ops by length
  for (const auto& [length, ops] : agreed) {
    for (const OwnOp& op : ops) {
      rows_of[length].push_back(op.name.empty() ? kNoRow : static_cast<uint32_t>(to->graph_ops.size()));
      if (!op.name.empty())
        to->graph_ops.push_back(
            {to->strings.Intern(op.name), to->strings.Intern(op.shapes), to->strings.Intern(op.types)});
    }
  }
  for (auto& launch : launches) {
    std::vector<uint32_t>& rows = launch.second;
    join.kernels += rows.size();
    const auto ops = rows_of.find(rows.size());
    if (ops == rows_of.end() || !InOrderOfNodes(*to, &rows)) continue;
    for (size_t i = 0; i < rows.size(); ++i) {
      to->device[to->events[rows[i]].extra].graph_op = ops->second[i];
      join.joined += ops->second[i] == kNoRow ? 0 : 1;
    }
  }
  return join;
}

}  // namespace chakra::pytorch
