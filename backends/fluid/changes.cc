// Links that change during a run, and the flows that must move.
#include <algorithm>

#include "backends/fluid/fluid.h"

namespace chakra {

// Takes a transfer, with its remaining bytes, off its links.
void FluidFabric::Leave(uint32_t i) {
  Transfer& t = transfers_[i];
  Progress& p = progress_[i];
  ends_.Remove(i);
  p.left = LeftOf(p);
  p.rate = 0;
  p.since = now_;
  std::vector<uint32_t>& crossed = crossed_[i];
  network_.ForEachHop(t.network_flow, [&](uint32_t link, double share) {
    if (links_[link].own) return;
    links_[link].bytes -= p.left * share;
    if (std::find(crossed.begin(), crossed.end(), link) == crossed.end()) crossed.push_back(link);
  });
  LeaveNetwork(i);
  t.begin = Time::Never();  // it was not always isolated
}

const std::vector<uint32_t>* FluidFabric::Crossed(uint32_t i) const {
  if (crossed_.empty()) return nullptr;
  const auto it = crossed_.find(i);
  return it == crossed_.end() ? nullptr : &it->second;
}

void FluidFabric::Change(const LinkChange& change) {
  double& now = change_of_[change.link];
  if ((now > 0) != (change.bandwidth > 0)) links_down_ += change.bandwidth > 0 ? -1 : 1;
  if (cost_.router() != nullptr && (now > 0) != (change.bandwidth > 0)) {
    cost_.router()->SetAlive(change.link, change.bandwidth > 0);
  }
  now = change.Left();
  const uint32_t link = link_of_[change.link];
  if (link == kNone) return;
  network_.SetCapacity(link, links_[link].capacity * now);
  if (now > 0 || cost_.router() == nullptr) return;
  network_.ForEachFlow(link, [&](uint32_t f) {
    if (transfer_of_[f] != kNone) waiting_.push_back(transfer_of_[f]);
  });
}

void FluidFabric::CallBack() {
  for (uint32_t i = 0; i < transfers_.size(); ++i) {
    Transfer& t = transfers_[i];
    if (!t.detoured || t.network_flow == kNone) continue;
    const Way& way = WayOf(t.flow);
    t.detoured = links_down_ > 0;
    if (!way.route->found) continue;
    size_t hops = 0;
    bool same = true;
    network_.ForEachHop(t.network_flow, [&](uint32_t link, double share) {
      if (links_[link].own) return;
      same =
          same && hops < way.links.size() && way.links[hops].link == link && way.links[hops].share == share;
      ++hops;
    });
    if (!same || hops != way.links.size()) waiting_.push_back(i);
  }
}

// Applies all changes of this instant. Then transfers that lost their path, or wait for one, look for a new
// one, and transfers that avoided a link that is back return to their own path.
void FluidFabric::ChangeLinks() {
  const int down = links_down_;
  for (; next_change_ < changes_.size() && changes_[next_change_].at == now_; ++next_change_) {
    Change(changes_[next_change_]);
  }
  if (links_down_ < down && cost_.router() != nullptr) CallBack();
  std::vector<uint32_t> moved;
  moved.swap(waiting_);
  std::sort(moved.begin(), moved.end(),
            [&](uint32_t a, uint32_t b) { return transfers_[a].order < transfers_[b].order; });
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  for (const uint32_t i : moved) {
    if (ends_.at(i) <= now_) continue;  // its last byte leaves now
    if (transfers_[i].network_flow != kNone) Leave(i);
    Enter(i, now_);
  }
}

}  // namespace chakra
