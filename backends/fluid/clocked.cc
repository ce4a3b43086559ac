// If each end changes the rates of hundreds of flows, FluidFabric gives its transfers to FluidClocks, and
// later takes them back.
#include <algorithm>
#include <memory>
#include <utility>

#include "backends/fluid/fluid.h"

namespace chakra {
namespace {

// With fewer changed rates for each added or removed flow, FluidNetwork is as fast.
constexpr size_t kChanges = 32;

}  // namespace

bool FluidFabric::Churns() {
  const bool many = changed_.size() >= clock_from_ && changed_.size() >= kChanges * came_or_gone_;
  churned_ = many || clock_from_ == 0 ? churned_ + 1 : 0;
  came_or_gone_ = 0;
  // Clocks support neither priorities nor changes of links nor background flows.
  if (churned_ < clock_after_ || !changes_.empty() || !background_on_.empty()) return false;
  return std::all_of(options_.classes.begin(), options_.classes.end(),
                     [](const ServiceClass& c) { return c.priority == 0; });
}

void FluidFabric::Clock() {
  churned_ = 0;
  auto clocks = std::make_unique<FluidClocks>();
  for (const LinkRecord& link : links_) clocks->AddLink(link.capacity);
  for (uint32_t f = 0; f < transfer_of_.size(); ++f) {
    const uint32_t i = transfer_of_[f];
    if (i == kNone || transfers_[i].network_flow != f) continue;
    Transfer& t = transfers_[i];
    Progress& p = progress_[i];
    if (p.rate < t.most * kWhole && now_ > p.since) t.begin = Time::Never();
    if (t.begin != Time::Never()) whole_.push_back(i);
    p.left = LeftOf(p);
    p.since = now_;
    path_links_.clear();
    network_.ForEachHop(f, [&](uint32_t link, double share) { path_links_.push_back({link, share}); });
    network_.RemoveFlow(f);
    ends_.Remove(i);
    t.network_flow = clocks->Add(path_links_, options_.ClassOf(t.flow.service_class).weight, p.left, i);
  }
  network_.Solve(&changed_);
  clocks_ = std::move(clocks);
  solve_at_ = now_;
  SettleClocks();
}

void FluidFabric::Unclock() {
  const std::unique_ptr<FluidClocks> clocks = std::move(clocks_);
  clocks->levels().ForEach([&](uint32_t f) {
    const uint32_t i = clocks->item(f);
    progress_[i] = {clocks->Left(f, now_), clocks->levels().rate(f), now_};
    path_links_.clear();
    clocks->levels().ForEachHop(f, [&](uint32_t link, double share) {
      path_links_.push_back({link, share});
    });
    EnterNetwork(i);
    joined_.push_back(i);
  });
  whole_.clear();
}

void FluidFabric::SettleClocks() {
  joined_.clear();
  if (!clocks_->dirty()) return;
  if (now_ < solve_at_ && came_ < now_ && clocks_->levels().flows() > 0) return clocks_->Skip(now_);
  solve_at_ =
      now_ +
      Time::Picos(static_cast<int64_t>(options_.tolerance * static_cast<double>((now_ - came_).picos())));
  size_t kept = 0;
  for (const uint32_t i : whole_) {
    Transfer& t = transfers_[i];
    const Progress& p = progress_[i];
    const bool here = t.network_flow != kNone && clocks_->item(t.network_flow) == i;
    if (!here || t.begin == Time::Never()) continue;
    if (p.rate < t.most * kWhole && now_ > p.since) {
      t.begin = Time::Never();
    } else {
      whole_[kept++] = i;
    }
  }
  whole_.resize(kept);
  clocks_->Solve(now_);
  for (const uint32_t link : clocks_->levels().changed()) {
    // Only links whose use changed.
    const double used = clocks_->levels().used(link);
    if (links_[link].taken != used) SetTaken(link, used);
  }
  for (const uint32_t i : whole_) {
    const Transfer& t = transfers_[i];
    progress_[i].rate = clocks_->levels().rate(t.network_flow);
    progress_[i].since = now_;
    if (progress_[i].rate >= t.most * kWhole) clocks_->SetEnd(t.network_flow, t.begin + t.alone);
  }
  if (clocks_->levels().flows() == 0) clocks_ = nullptr;
}

}  // namespace chakra
