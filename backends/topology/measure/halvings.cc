// Measures the bandwidth between balanced halves of the devices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>

#include "absl/strings/str_cat.h"
#include "backends/topology/measure.h"
#include "backends/topology/measure/max_flow.h"

namespace chakra {
namespace {

using Order = std::vector<uint32_t>;  // devices; the first half is one side

Order InOrder(const NetworkGraph& g) {
  Order order(g.devices());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

// The devices sorted by `key`, then by their number.
Order By(const NetworkGraph& g, const std::vector<uint32_t>& key) {
  Order order = InOrder(g);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
  return order;
}

Order Interleaved(const NetworkGraph& g) {
  std::vector<uint32_t> key(g.devices());
  for (uint32_t d = 0; d < g.devices(); ++d) key[d] = d % 2;
  return By(g, key);
}

// The devices nearest to device 0 first.
Order Around(const NetworkGraph& g) {
  std::vector<uint32_t> key(g.vertices(), NetworkGraph::kNone);
  std::vector<uint32_t> queue = {0};
  key[0] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (uint32_t arc = g.begin(queue[i]); arc < g.end(queue[i]); ++arc) {
      if (key[g.target(arc)] != NetworkGraph::kNone) continue;
      key[g.target(arc)] = key[queue[i]] + 1;
      queue.push_back(g.target(arc));
    }
  }
  return By(g, key);
}

// The devices by coordinate in one dimension of a group's grid: a device's own coordinate, or that of its
// first neighbour in the group. Empty if some device has neither.
Order ByGrid(const NetworkGraph& g, const VertexGroup& group, size_t dimension) {
  uint64_t stride = 1;
  for (size_t i = 0; i < dimension; ++i) stride *= static_cast<uint64_t>(group.shape[i]);
  const auto size = static_cast<uint64_t>(group.shape[dimension]);
  const auto inside = [&](uint32_t v) { return v >= group.first && v < group.first + group.count; };
  std::vector<uint32_t> key(g.devices());
  for (uint32_t d = 0; d < g.devices(); ++d) {
    uint32_t v = d;
    for (uint32_t arc = g.begin(d); !inside(v) && arc < g.end(d); ++arc) v = g.target(arc);
    if (!inside(v)) return {};
    key[d] = static_cast<uint32_t>((v - group.first) / stride % size);
  }
  return By(g, key);
}

Order Shuffled(const NetworkGraph& g, std::mt19937_64* random) {
  Order order = InOrder(g);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[(*random)() % i]);
  return order;
}

std::vector<std::pair<std::string, Order>> Orders(const NetworkGraph& g, const MeasureOptions& options) {
  std::vector<std::pair<std::string, Order>> out;
  out.emplace_back("in device order", InOrder(g));
  for (const VertexGroup& group : g.groups()) {
    for (size_t i = 0; i < group.shape.size(); ++i) {
      if (group.shape[i] < 2) continue;
      Order order = ByGrid(g, group, i);
      if (!order.empty())
        out.emplace_back(absl::StrCat("dimension ", i, " of ", group.name), std::move(order));
    }
  }
  out.emplace_back("around device 0", Around(g));
  out.emplace_back("interleaved", Interleaved(g));
  std::mt19937_64 random(options.seed);
  for (int i = 0; i < options.random_halvings; ++i) {
    out.emplace_back(absl::StrCat("random ", i + 1), Shuffled(g, &random));
  }
  return out;
}

// A graph in which each half of the devices is one vertex and all other vertices are unchanged. Rates are
// shifted right by `shift_` bits if their sum would not fit.
class Halves {
 public:
  explicit Halves(const NetworkGraph& g) : g_(g) {
    unsigned __int128 sum = 0;
    for (uint32_t arc = 0; arc < g.arcs(); ++arc) sum += Rate(arc);
    while (sum >> shift_ > static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max() / 2)) ++shift_;
  }

  // The maximum flow between the halves; negative if it needs more than `budget`.
  double Flow(const Order& order, uint64_t budget, double* injection) const {
    const uint32_t devices = g_.devices();
    std::vector<uint32_t> number(g_.vertices());  // 0: the first half, 1: the second
    double sends[2] = {0, 0};
    for (uint32_t i = 0; i < devices; ++i) {
      const uint32_t d = order[i];
      number[d] = i < devices / 2 ? 0 : 1;
      for (uint32_t arc = g_.begin(d); arc < g_.end(d); ++arc)
        sends[number[d]] += static_cast<double>(Rate(arc));
    }
    *injection = std::min(sends[0], sends[1]);
    for (uint32_t v = devices; v < g_.vertices(); ++v) number[v] = v - devices + 2;
    MaxFlow flow(g_.vertices() - devices + 2);
    std::map<std::pair<uint32_t, uint32_t>, int64_t> ends;  // links of the halves, merged by pair of vertices
    for (uint32_t arc = 0; arc < g_.arcs(); ++arc) {
      const uint32_t a = number[g_.source(arc)], b = number[g_.target(arc)];
      if (arc > g_.reverse(arc) || a == b) continue;
      const auto rate = static_cast<int64_t>(Rate(arc) >> shift_);
      if (a < 2 || b < 2) {
        ends[std::minmax(a, b)] += rate;
      } else {
        flow.AddEdge(a, b, rate);
      }
    }
    for (const auto& [pair, rate] : ends) flow.AddEdge(pair.first, pair.second, rate);
    const std::optional<int64_t> found = flow.Run(0, 1, budget);
    return found ? std::ldexp(static_cast<double>(*found), shift_) : -1;
  }

 private:
  uint64_t Rate(uint32_t arc) const {
    return static_cast<uint64_t>(g_.link_class(arc).bandwidth.bytes_per_second());
  }

  const NetworkGraph& g_;
  int shift_ = 0;
};

}  // namespace

std::vector<Halving> MeasureHalvings(const NetworkGraph& graph, const MeasureOptions& options,
                                     int* left_out) {
  std::vector<Halving> out;
  *left_out = 0;
  if (graph.devices() < 2) return out;
  const Halves halves(graph);
  for (const auto& [name, order] : Orders(graph, options)) {
    double injection = 0;
    const double flow = halves.Flow(order, options.flow_budget, &injection);
    if (flow < 0) {
      ++*left_out;
      continue;
    }
    out.push_back({name, flow, injection > 0 ? flow / injection : 0});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Halving& a, const Halving& b) { return a.bandwidth < b.bandwidth; });
  return out;
}

}  // namespace chakra
