#include "backends/topology/paths/destination_fields.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/base/median.h"

namespace chakra {

DestinationFields::DestinationFields(const NetworkGraph& graph, uint64_t budget)
    : graph_(&graph), budget_(budget) {}

void DestinationFields::Renew() {
  fields_.clear();
  last_to_ = NetworkGraph::kNone;
  FindHomes();
  stale_ = false;
}

// Devices of one leaf have consecutive numbers, so it is enough to compare each with the previous device.
void DestinationFields::FindHomes() {
  const NetworkGraph& g = *graph_;
  if (g.devices_forward()) return;
  home_.resize(g.devices());
  const auto same = [&](uint32_t a, uint32_t b) {
    if (g.degree(a) != g.degree(b)) return false;
    for (uint32_t i = 0; i < g.degree(a); ++i) {
      const uint32_t x = g.begin(a) + i, y = g.begin(b) + i;
      // Fields have no number for a device, so a device next to a device needs its own field.
      if (g.target(x) != g.target(y) || g.target(x) < g.devices()) return false;
      if (Alive(x) != Alive(y) || Alive(g.reverse(x)) != Alive(g.reverse(y))) return false;
    }
    return true;
  };
  for (uint32_t d = 0; d < g.devices(); ++d) home_[d] = d > 0 && same(d, d - 1) ? home_[d - 1] : d;
}

void DestinationFields::Shrink() {
  const uint64_t most = std::max<uint64_t>(budget_ / FieldBytes(), 1);
  if (fields_.size() <= most) return;
  // Drops half of the fields at once, so that eviction costs little per search.
  std::vector<uint64_t> used;
  for (const auto& [to, field] : fields_) used.push_back(field.used);
  const uint64_t middle = UpperMedian(std::move(used));
  for (auto it = fields_.begin(); it != fields_.end();) {
    it = it->second.used < middle ? fields_.erase(it) : std::next(it);
  }
}

}  // namespace chakra
