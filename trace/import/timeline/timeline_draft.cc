#include "trace/import/timeline/timeline_draft.h"

#include <functional>
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "trace/import/capture/event_order.h"

namespace chakra::pytorch {

TimelineDraft::TimelineDraft(const DeviceTrace& device, const HostThreads& host)
    : first_node(device.events.size(), kNoRow),
      last_node(device.events.size(), kNoRow),
      d_(device),
      nodes_of_(host.threads.size()) {
  t.window_begin = host.window_begin;
  t.window_end = host.window_end;
  // Most calls have one stretch or two. Unused room takes no memory.
  t.nodes.reserve(device.events.size() + device.events.size() / 2 + 1);
  edges.reserve(2 * device.events.size() + 1);
  TimelineNode root;
  root.start = t.window_begin;
  t.nodes.push_back(root);
}

uint32_t TimelineDraft::Add(const TimelineNode& node) {
  const auto row = static_cast<uint32_t>(t.nodes.size());
  t.nodes.push_back(node);
  if (node.event == kNoRow) return row;
  if (first_node[node.event] == kNoRow) first_node[node.event] = row;
  last_node[node.event] = row;
  return row;
}

uint32_t TimelineDraft::AddOnThread(uint32_t thread, const TimelineNode& node) {
  const uint32_t row = Add(node);
  Rows& rows = nodes_of_[thread];
  if (rows.begin == rows.end) rows.begin = row;
  rows.end = row + 1;
  return row;
}

uint32_t TimelineDraft::LastEnded(uint32_t thread, int64_t time, int64_t before) const {
  const auto row = [this](uint32_t i) { return t.nodes.begin() + i; };
  const Rows& rows = nodes_of_[thread];
  const auto it = std::partition_point(row(rows.begin), row(rows.end), [&](const TimelineNode& n) {
    return n.start + n.dur <= time && n.start < before;
  });
  const auto after = static_cast<uint32_t>(it - t.nodes.begin());
  return after == rows.begin ? kNoRow : after - 1;
}

// Rows of nodes, sorted by start. Nodes that start at the same time come after the nodes that they wait for,
// otherwise in the order found.
std::vector<uint32_t> TimelineDraft::OrderNodes() const {
  const auto n = static_cast<uint32_t>(t.nodes.size());
  std::vector<uint32_t> order(n), place(n);
  // The root stays first.
  const auto before = [this](uint32_t a, uint32_t b) {
    return a != b && (a == 0 || (b != 0 && t.nodes[a].start < t.nodes[b].start));
  };
  if (!OrderByRuns(before, &order)) std::stable_sort(order.begin(), order.end(), before);
  for (uint32_t i = 0; i < n; ++i) place[order[i]] = i;
  // Edges between nodes that start at the same time, sorted by place. The order is computed again only if it
  // breaks one of these edges.
  std::vector<std::pair<uint32_t, uint32_t>> ties;
  bool wrong = false;
  for (const NewEdge& e : edges) {
    if (t.nodes[e.edge.from].start != t.nodes[e.to].start) continue;
    ties.push_back({place[e.edge.from], place[e.to]});
    wrong = wrong || place[e.edge.from] > place[e.to];
  }
  if (!wrong) return order;
  std::sort(ties.begin(), ties.end());
  std::vector<uint32_t> unmet(n), sorted;
  for (const auto& [from, to] : ties) ++unmet[to];
  sorted.reserve(n);
  for (uint32_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && t.nodes[order[end]].start == t.nodes[order[begin]].start) ++end;
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>> ready;
    for (uint32_t i = begin; i < end; ++i) {
      if (unmet[i] == 0) ready.push(i);
    }
    std::vector<bool> done(end - begin);
    for (uint32_t next = begin; sorted.size() < end;) {
      if (ready.empty()) {  // a cycle: the first of the remaining nodes goes first
        while (done[next - begin]) ++next;
        ready.push(next);
      }
      const uint32_t i = ready.top();
      ready.pop();
      if (done[i - begin]) continue;
      done[i - begin] = true;
      sorted.push_back(order[i]);
      for (auto it = std::lower_bound(ties.begin(), ties.end(), std::make_pair(i, 0u));
           it != ties.end() && it->first == i; ++it) {
        if (--unmet[it->second] == 0) ready.push(it->second);
      }
    }
  }
  return sorted;
}

// Lengthens the latest edge of each of these nodes so that it ends at the node's measured start.
void TimelineDraft::Tighten(const std::vector<uint32_t>& nodes) {
  struct Latest {
    size_t edge = SIZE_MAX;
    int64_t ready = 0;
  };
  absl::flat_hash_map<uint32_t, Latest> latest;
  for (const uint32_t node : nodes) latest[node] = Latest();
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto it = latest.find(edges[i].to);
    if (it == latest.end()) continue;
    const int64_t ready = ReadyBy(edges[i].edge);
    if (it->second.edge == SIZE_MAX || ready > it->second.ready) it->second = {i, ready};
  }
  for (const uint32_t node : nodes) {
    Latest& l = latest[node];
    if (l.edge == SIZE_MAX) {
      l.edge = edges.size();
      AddEdge(0, node, EdgeKind::kStart, t.nodes[node].start - t.window_begin);
    } else if (l.ready < t.nodes[node].start) {
      TimelineEdge* edge = &edges[l.edge].edge;
      SetDelay(t.DelayOf(*edge) + t.nodes[node].start - l.ready, edge);
    }
    l.ready = t.nodes[node].start;
  }
}

// Drops releases by nodes that communicate, whose end is not known when they begin, and by nodes that were
// divided since.
void TimelineDraft::DropReleases() {
  std::vector<uint32_t> freed;
  std::erase_if(edges, [&](const NewEdge& e) {
    if (e.edge.kind != EdgeKind::kRelease) return false;
    if (t.nodes[e.edge.from].comm == kNoRow && ReadyBy(e.edge) == t.nodes[e.to].start) return false;
    freed.push_back(e.to);
    return true;
  });
  if (!freed.empty()) Tighten(freed);
}

// Puts the nodes in their order. Returns the number of edges that contradicted time and were dropped.
uint64_t TimelineDraft::Renumber() {
  const auto n = static_cast<uint32_t>(t.nodes.size());
  std::vector<uint32_t> order = OrderNodes();
  std::vector<uint32_t> place(n);
  for (uint32_t i = 0; i < n; ++i) place[order[i]] = i;
  std::vector<TimelineNode> nodes(n);
  for (uint32_t i = 0; i < n; ++i) nodes[i] = t.nodes[order[i]];
  t.nodes = std::move(nodes);
  std::vector<uint32_t>().swap(order);
  std::vector<uint32_t> lost;  // nodes that lost an edge
  for (NewEdge& e : edges) {
    e.to = place[e.to];
    e.edge.from = place[e.edge.from];
    if (e.edge.from >= e.to) {
      lost.push_back(e.to);
      e.to = kNoRow;
    }
  }
  std::erase_if(edges, [](const NewEdge& e) { return e.to == kNoRow; });
  if (!lost.empty()) Tighten(lost);
  for (TimelineStep& step : t.steps) {
    step.first = place[step.first];
    step.last = place[step.last];
  }
  return lost.size();
}

// Sorts the edges by node, without duplicates: of the edges from one node, the one with the longest delay
// stays. Most nodes have one edge or two, so edges are first distributed to their nodes and then sorted
// there.
void TimelineDraft::SortEdges() {
  const size_t n = t.nodes.size();
  std::vector<uint64_t>& next = t.edge_begin;
  next.assign(n + 1, 0);
  for (const NewEdge& e : edges) ++next[e.to + 1];
  for (size_t i = 0; i < n; ++i) next[i + 1] += next[i];
  std::vector<TimelineEdge> dealt(edges.size());
  // Afterwards next[i] is where the edges of node i + 1 begin.
  for (const NewEdge& e : edges) dealt[next[e.to]++] = e.edge;
  std::vector<NewEdge>().swap(edges);
  size_t kept = 0, begin = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t end = next[i], first = kept;
    if (end - begin > 1) {
      std::sort(dealt.begin() + static_cast<std::ptrdiff_t>(begin),
                dealt.begin() + static_cast<std::ptrdiff_t>(end),
                [this](const TimelineEdge& a, const TimelineEdge& b) {
                  return a.from != b.from ? a.from < b.from : t.DelayOf(a) > t.DelayOf(b);
                });
    }
    for (size_t e = begin; e < end; ++e) {
      if (kept == first || dealt[kept - 1].from != dealt[e].from) dealt[kept++] = dealt[e];
    }
    begin = end;
    next[i] = kept;
  }
  std::move_backward(next.begin(), next.end() - 1, next.end());
  next[0] = 0;
  dealt.resize(kept);
  t.edges = std::move(dealt);
}

Timeline TimelineDraft::Finish() {
  for (std::vector<uint32_t>* rows : {&first_node, &last_node}) std::vector<uint32_t>().swap(*rows);
  DropReleases();
  const uint64_t lost = Renumber();
  SortEdges();
  if (lost > 0) {
    t.repairs.push_back({"contradictory_edges", d_.file, d_.rank, lost, 0,
                         "edges that contradict the order of time were dropped"});
  }
  return std::move(t);
}

}  // namespace chakra::pytorch
