// Breadth-first searches from 64 devices at once: each device is one bit of a word. Devices that do not
// forward messages and that have the same neighbours are merged into one vertex with a weight.
#include <algorithm>
#include <bit>
#include <map>
#include <random>

#include "backends/topology/measure.h"

namespace chakra {
namespace {

constexpr uint32_t kBatch = 64;

struct Merged {
  std::vector<uint32_t> first, target;   // without parallel links
  std::vector<uint32_t> representative;  // by merged vertex
  std::vector<uint32_t> weight;          // number of devices that were merged; 0: not a device
  std::vector<bool> forwards;
  std::vector<bool> mates_meet;  // whether two of the merged devices can reach each other
};

// By vertex: the first device with the same neighbours, or the vertex itself.
std::vector<uint32_t> Representatives(const NetworkGraph& g) {
  std::vector<uint32_t> rep(g.vertices());
  for (uint32_t v = 0; v < g.vertices(); ++v) rep[v] = v;
  if (g.devices_forward()) return rep;
  std::map<std::vector<uint32_t>, uint32_t> seen;
  for (uint32_t d = 0; d < g.devices(); ++d) {
    std::vector<uint32_t> next;
    for (uint32_t arc = g.begin(d); arc < g.end(d); ++arc) next.push_back(g.target(arc));
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    rep[d] = seen.emplace(std::move(next), d).first->second;
  }
  return rep;
}

Merged Merge(const NetworkGraph& g) {
  const std::vector<uint32_t> rep = Representatives(g);
  std::vector<uint32_t> number(g.vertices(), 0);
  Merged m;
  for (uint32_t v = 0; v < g.vertices(); ++v) {
    if (rep[v] != v) continue;
    number[v] = static_cast<uint32_t>(m.representative.size());
    m.representative.push_back(v);
  }
  m.weight.assign(m.representative.size(), 0);
  m.mates_meet.assign(m.representative.size(), false);
  for (uint32_t d = 0; d < g.devices(); ++d) ++m.weight[number[rep[d]]];
  m.first.push_back(0);
  for (size_t i = 0; i < m.representative.size(); ++i) {
    const uint32_t v = m.representative[i];
    m.forwards.push_back(g.Forwards(v));
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      m.target.push_back(number[rep[g.target(arc)]]);
      if (g.Forwards(g.target(arc))) m.mates_meet[i] = true;
    }
    std::sort(m.target.begin() + m.first.back(), m.target.end());
    m.target.erase(std::unique(m.target.begin() + m.first.back(), m.target.end()), m.target.end());
    m.first.push_back(static_cast<uint32_t>(m.target.size()));
  }
  return m;
}

// At most 64 merged vertices of equal weight, so that every pair counts the same.
using Batch = std::vector<uint32_t>;

std::vector<Batch> Batches(const Merged& m) {
  std::map<uint32_t, std::vector<uint32_t>> by_weight;
  for (uint32_t v = 0; v < m.weight.size(); ++v) {
    if (m.weight[v] > 0) by_weight[m.weight[v]].push_back(v);
  }
  std::vector<Batch> out;
  for (const auto& [weight, all] : by_weight) {
    for (size_t i = 0; i < all.size(); i += kBatch) {
      out.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i),
                       all.begin() + static_cast<std::ptrdiff_t>(std::min(i + kBatch, all.size())));
    }
  }
  return out;
}

class Search {
 public:
  Search(const Merged& m, uint64_t devices)
      : m_(m), devices_(devices), seen_(m.weight.size()), fresh_(m.weight.size()), next_(m.weight.size()) {}

  void Run(const Batch& batch) {
    std::fill(seen_.begin(), seen_.end(), 0);
    frontier_.clear();
    for (size_t i = 0; i < batch.size(); ++i) {
      seen_[batch[i]] = fresh_[batch[i]] = uint64_t{1} << i;
      frontier_.push_back(batch[i]);
    }
    const uint64_t weight = m_.weight[batch[0]];
    uint64_t found = 0;  // ordered pairs, for one device of each source
    for (const uint32_t v : batch) {
      if (weight > 1 && m_.mates_meet[v]) found += Count(2, weight - 1, weight);
    }
    for (int distance = 1; !frontier_.empty(); ++distance) {
      Spread(distance == 1);
      for (const uint32_t v : frontier_) {
        if (m_.weight[v] == 0) continue;
        found += Count(distance, static_cast<uint64_t>(std::popcount(fresh_[v])) * m_.weight[v], weight);
      }
    }
    sources_ += batch.size() * weight;
    const uint64_t missing = batch.size() * (devices_ - 1) - found;
    if (missing == 0) return;
    unreachable_ += missing * weight;
    Explain(batch);
  }

  DistanceFigures Result() const {
    DistanceFigures out;
    out.diameter = diameter_;
    out.average = pairs_ == 0 ? 0 : sum_ / static_cast<double>(pairs_);
    out.devices = sources_;
    out.exact = sources_ == devices_;
    out.unreachable = unreachable_;
    out.examples = examples_;
    return out;
  }
  uint64_t visits() const { return visits_; }

 private:
  // Counts `pairs` pairs for each of `weight` devices.
  uint64_t Count(int distance, uint64_t pairs, uint64_t weight) {
    if (pairs == 0) return 0;
    diameter_ = std::max(diameter_, distance);
    pairs_ += pairs * weight;
    sum_ += static_cast<double>(distance) * static_cast<double>(pairs * weight);
    return pairs;
  }

  // Advances by one link. Sources send even if they do not forward.
  void Spread(bool sources) {
    touched_.clear();
    for (const uint32_t v : frontier_) {
      const uint64_t bits = fresh_[v];
      fresh_[v] = 0;
      if (!sources && !m_.forwards[v]) continue;
      visits_ += m_.first[v + 1] - m_.first[v];
      for (uint32_t i = m_.first[v]; i < m_.first[v + 1]; ++i) {
        const uint32_t to = m_.target[i];
        if (next_[to] == 0) touched_.push_back(to);
        next_[to] |= bits;
      }
    }
    frontier_.clear();
    for (const uint32_t v : touched_) {
      fresh_[v] = next_[v] & ~seen_[v];
      next_[v] = 0;
      if (fresh_[v] == 0) continue;
      seen_[v] |= fresh_[v];
      frontier_.push_back(v);
    }
  }

  void Explain(const Batch& batch) {
    for (size_t i = 0; i < batch.size() && examples_.size() < DistanceFigures::kMaxExamples; ++i) {
      for (uint32_t v = 0; v < m_.weight.size(); ++v) {
        if (m_.weight[v] == 0 || (seen_[v] >> i & 1) != 0) continue;
        examples_.emplace_back(m_.representative[batch[i]], m_.representative[v]);
        break;  // one example for each source is more useful than many for the first source
      }
    }
  }

  const Merged& m_;
  uint64_t devices_;
  std::vector<uint64_t> seen_, fresh_, next_;  // by vertex; a bit for each source
  std::vector<uint32_t> frontier_, touched_;
  int diameter_ = 0;
  double sum_ = 0;
  uint64_t pairs_ = 0, sources_ = 0, unreachable_ = 0, visits_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> examples_;
};

}  // namespace

DistanceFigures MeasureDistances(const NetworkGraph& graph, const MeasureOptions& options) {
  const Merged merged = Merge(graph);
  std::vector<Batch> batches = Batches(merged);
  std::mt19937_64 random(options.seed);
  for (size_t i = batches.size(); i > 1; --i) std::swap(batches[i - 1], batches[random() % i]);
  Search search(merged, graph.devices());
  for (const Batch& batch : batches) {
    search.Run(batch);
    if (search.visits() > options.distance_budget) break;
  }
  return search.Result();
}

}  // namespace chakra
