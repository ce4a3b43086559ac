// A timeline under construction: nodes and edges in the order in which they are found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// An edge, and the node that waits.
struct NewEdge {
  uint32_t to = 0;
  TimelineEdge edge;
};

class TimelineDraft {
 public:
  // Begins with the root node. `device` must outlive the object.
  TimelineDraft(const DeviceTrace& device, const HostThreads& host);

  // Adds a node and returns its row; rows are consecutive. The first and the last node of an event are
  // recorded.
  uint32_t Add(const TimelineNode& node);
  // Adds a node of a host thread, in the thread's order. Precondition: since the thread's first node, no node
  // of another thread or of the device was added.
  uint32_t AddOnThread(uint32_t thread, const TimelineNode& node);
  void AddEdge(uint32_t from, uint32_t to, EdgeKind kind, int64_t delay, int64_t unexplained = 0) {
    delay = std::max<int64_t>(0, delay);
    unexplained = std::min(delay, unexplained);
    TimelineEdge edge(from, kind);
    if (unexplained > 0) edge.extra = AddExtra({0, unexplained, 1});
    SetDelay(delay, &edge);
    edges.push_back({to, edge});
  }
  // `from` releases `to` at a share of its duration.
  void AddRelease(uint32_t from, uint32_t to, double share) {
    TimelineEdge edge(from, EdgeKind::kRelease);
    edge.extra = AddExtra({0, 0, share});
    edges.push_back({to, edge});
  }
  int64_t EndOf(uint32_t node) const { return t.nodes[node].start + t.nodes[node].dur; }
  // When edge `e` lets its node begin.
  int64_t ReadyBy(const TimelineEdge& e) const {
    const TimelineNode& from = t.nodes[e.from];
    return from.start + ReleasedAfter(from.dur, t.ShareOf(e)) + t.DelayOf(e);
  }
  // The last node of `thread` that had ended at `time` and had begun before `before`; kNoRow: none.
  uint32_t LastEnded(uint32_t thread, int64_t time, int64_t before = INT64_MAX) const;

  // Sorts the nodes, and the edges by node. Drops edges that contradict time (counted), and lengthens or adds
  // edges so that the nodes that lost one still begin as measured.
  Timeline Finish();

  // Nodes are not sorted; edge_begin and edges are empty. Has fewer extras than TimelineEdge::kNoExtra.
  Timeline t;
  std::vector<NewEdge> edges;
  std::vector<uint32_t> first_node, last_node;  // by event row; kNoRow: none

 private:
  // The nodes of a thread, which are consecutive.
  struct Rows {
    uint32_t begin = 0, end = 0;
  };
  uint32_t AddExtra(const EdgeExtra& extra) {
    t.extras.push_back(extra);
    return static_cast<uint32_t>(t.extras.size() - 1);
  }
  void SetDelay(int64_t delay, TimelineEdge* edge) {
    edge->delay = static_cast<uint32_t>(std::min<int64_t>(delay, TimelineEdge::kLongDelay));
    if (edge->delay != TimelineEdge::kLongDelay) return;
    EdgeExtra extra = edge->extra == TimelineEdge::kNoExtra ? EdgeExtra() : t.extras[edge->extra];
    extra.delay_ns = delay;
    edge->extra = AddExtra(extra);  // another edge may use the old row
  }
  std::vector<uint32_t> OrderNodes() const;
  void Tighten(const std::vector<uint32_t>& nodes);
  void DropReleases();
  uint64_t Renumber();
  void SortEdges();

  const DeviceTrace& d_;
  std::vector<Rows> nodes_of_;  // by thread
};

}  // namespace chakra::pytorch
