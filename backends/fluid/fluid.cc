#include "backends/fluid/fluid.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "backends/fluid/rounding.h"
#include "backends/registry.h"

namespace chakra {
namespace {

constexpr size_t kAhead = 8;  // events

double RateOf(Bandwidth b) {
  return static_cast<double>(b.bytes_per_second()) * 1e-12;
}  // bytes a picosecond

Time Picos(double ps) {
  const bool fits = ps < static_cast<double>(Time::Never().picos());
  return fits ? Time::Picos(static_cast<int64_t>(ps)) : Time::Never();
}

}  // namespace

FluidFabric::FluidFabric(const Topology& topology, const FabricOptions& options, Time bucket)
    : cost_(topology, false, options.routing),
      all_options_(options),
      options_(options.Get<FlowOptions>()),
      link_series_(options.link_series),
      link_of_(topology.links(), kNone),
      changes_(options.changes),
      ways_(cost_.router() == nullptr ? kWays : 1),
      log_(options.link_series, bucket) {
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  if (!changes_.empty()) change_of_.assign(topology.links(), 1);
  if (cost_.router() != nullptr) cost_.router()->set_load(this);
  if (!changes_.empty() && changes_.front().at == Time::Zero()) ChangeLinks();
}

double FluidFabric::FlowsOn(uint32_t link) const {
  const uint32_t l = link_of_[link];
  if (l == kNone) return 0;
  return static_cast<double>(InNetwork(l)) + (links_[l].isolated == kNone ? 0 : 1);
}

uint32_t FluidFabric::LinkOf(const Hop& hop) {
  uint32_t& link = link_of_[hop.link];
  if (link == kNone) {
    const Bandwidth b = cost_.topology().link_classes()[hop.link_class].bandwidth;
    const double capacity = RateOf(b) * options_.efficiency;
    link = network_.AddLink(change_of_.empty() ? capacity : capacity * change_of_[hop.link]);
    links_.emplace_back();
    links_.back().hop = hop;
    links_.back().capacity = capacity;
    if (clocks_ != nullptr) clocks_->AddLink(capacity);
  }
  return link;
}

void FluidFabric::FindWay(const Flow& flow, Way* way) {
  if (cost_.router() != nullptr) {
    way->route = &cost_.router()->Find(flow.src, flow.dst, flow.tag);
  } else {
    hops_.clear();
    cost_.topology().Path(flow.src, flow.dst, &hops_);
    way->own.hops.clear();
    way->own.latency = Time::Zero();
    for (const Hop& hop : hops_) {
      way->own.hops.push_back({hop, 1});
      way->own.latency += cost_.topology().link_classes()[hop.link_class].latency;
    }
    way->route = &way->own;
  }
  way->links.clear();
  for (const RouteHop& h : way->route->hops) {
    const uint32_t link = LinkOf(h.hop);
    const double most = links_[link].capacity / h.share;
    way->most = way->links.empty() ? most : std::min(way->most, most);
    way->links.push_back({link, h.share});
  }
}

const FluidFabric::Way& FluidFabric::WayOf(const Flow& flow) {
  Way& way = ways_[static_cast<size_t>(flow.src) % ways_.size()];
  const bool known = cost_.router() == nullptr && way.src == flow.src && way.dst == flow.dst;
  if (known && way.bytes == flow.OnLinks()) return way;
  if (!known) FindWay(flow, &way);
  way.src = flow.src;
  way.dst = flow.dst;
  way.bytes = flow.OnLinks();
  if (!way.route->found) return way;
  way.alone = cost_.Price(*way.route, way.bytes).transfer;
  if (options_.efficiency != 1) {
    way.alone = Picos(std::ceil(static_cast<double>(way.alone.picos()) / options_.efficiency));
  }
  return way;
}

FlowCost FluidFabric::Cost(int src, int dst, uint64_t bytes) const {
  FlowCost cost = cost_.Price(src, dst, bytes);
  if (src == dst) return cost;
  if (options_.efficiency != 1) {
    cost.transfer = Picos(std::ceil(static_cast<double>(cost.transfer.picos()) / options_.efficiency));
  }
  cost.sent = options_.startup + cost.transfer;
  cost.latency += options_.startup;
  return cost;
}

void FluidFabric::Post(Time at, Kind kind, uint32_t transfer) {
  if (at == Time::Never()) return;
  events_.Post(at, transfers_[transfer].order * kKinds + kind, transfer);
}

FlowId FluidFabric::Start(const Flow& flow, Time now) {
  // Transfers that end by now first release their links.
  if (now > now_) AdvanceTo(now, &early_);
  uint32_t i;
  if (!unused_.empty()) {
    i = unused_.back();
    unused_.pop_back();
  } else {
    i = static_cast<uint32_t>(transfers_.size());
    transfers_.emplace_back();
    progress_.emplace_back();
  }
  Transfer& t = transfers_[i];
  t = Transfer();
  t.flow = flow;
  t.order = orders_++;
  t.ready = flow.src == flow.dst ? now : now + options_.startup;
  if (flow.in_order) {
    const auto [last, first] = last_.try_emplace(flow.tag, i);
    if (!first) {
      transfers_[last->second].next = i;
      last->second = i;
      return t.order;
    }
  }
  BeginWhenReady(i, now);
  return t.order;
}

void FluidFabric::BeginWhenReady(uint32_t i, Time now) {
  if (transfers_[i].ready > now) {
    Post(transfers_[i].ready, kBegin, i);
  } else {
    Begin(i, now);
  }
}

void FluidFabric::Begin(uint32_t i, Time now) {
  Transfer& t = transfers_[i];
  t.begin = now;
  progress_[i] = {static_cast<double>(t.flow.OnLinks()), 0, now};
  if (t.flow.src == t.flow.dst) {
    End(i, now);
  } else {
    Enter(i, now);
  }
}

void FluidFabric::Enter(uint32_t i, Time now) {
  Transfer& t = transfers_[i];
  const Way& way = WayOf(t.flow);
  if (!way.route->found) {
    waiting_.push_back(i);
    return;
  }
  t.latency = way.route->latency;
  if (!t.counted) cost_.Account(*way.route, t.flow.bytes);
  t.counted = true;
  t.detoured = links_down_ > 0;
  t.alone = way.alone;
  t.most = way.most;
  if (t.flow.limit.bytes_per_second() > 0) {
    t.alone = std::max(t.alone, TransferTime(way.bytes, t.flow.limit));
    t.most = std::min(t.most, RateOf(t.flow.limit));
  }
  const std::vector<uint32_t>* crossed = Crossed(i);
  for (const FluidHop& h : way.links) {
    const bool again =
        crossed != nullptr && std::find(crossed->begin(), crossed->end(), h.link) != crossed->end();
    if (!again) ++links_[h.link].flows;
    links_[h.link].bytes += progress_[i].left * h.share;
  }
  if (progress_[i].left == 0) {
    End(i, now);
  } else if (!StandAlone(i, way)) {
    for (const FluidHop& h : way.links) Join(h.link);
    path_links_ = way.links;
    AddOwnLink(i, way.most);
    EnterNetwork(i);
  }
}

uint32_t FluidFabric::TakeOwnLink(double limit) {
  std::vector<uint32_t>& unused = own_links_[limit];
  if (!unused.empty()) {
    const uint32_t link = unused.back();
    unused.pop_back();
    return link;
  }
  const uint32_t link = network_.AddLink(limit);
  links_.emplace_back();
  links_.back().own = true;
  links_.back().capacity = limit;
  if (clocks_ != nullptr) clocks_->AddLink(limit);
  return link;
}

void FluidFabric::AddOwnLink(uint32_t i, double path_most) {
  Transfer& t = transfers_[i];
  if (t.flow.limit.bytes_per_second() == 0) return;
  const double limit = RateOf(t.flow.limit);
  if (limit >= path_most && changes_.empty()) return;
  t.own_link = TakeOwnLink(limit);
  path_links_.push_back({t.own_link, 1});
}

// Enters the solver, with the links in path_links_.
void FluidFabric::EnterNetwork(uint32_t i) {
  Transfer& t = transfers_[i];
  const ServiceClass c = options_.ClassOf(t.flow.service_class);
  came_ = now_;
  if (clocks_ != nullptr) {
    progress_[i].left = LeftOf(progress_[i]);
    progress_[i].since = now_;
    t.network_flow = clocks_->Add(path_links_, c.weight, progress_[i].left, i);
    if (t.begin != Time::Never()) whole_.push_back(i);
    return;
  }
  ++came_or_gone_;
  t.network_flow = network_.AddFlow(path_links_, c.weight, c.priority);
  if (t.network_flow >= transfer_of_.size()) transfer_of_.resize(t.network_flow + 1, kNone);
  transfer_of_[t.network_flow] = i;
}

void FluidFabric::LeaveNetwork(uint32_t i) {
  uint32_t& flow = transfers_[i].network_flow;
  if (flow == kNone) return;
  if (clocks_ != nullptr) {
    clocks_->Remove(flow);
  } else {
    ++came_or_gone_;
    network_.RemoveFlow(flow);
  }
  flow = kNone;
  const uint32_t own = std::exchange(transfers_[i].own_link, kNone);
  if (own != kNone) own_links_[links_[own].capacity].push_back(own);
}

bool FluidFabric::StandAlone(uint32_t i, const Way& way) {
  // If links change during the run, all flows enter the solver.
  if (!changes_.empty()) return false;
  for (const FluidHop& h : way.links) {
    if (links_[h.link].isolated != kNone || InNetwork(h.link) != 0) return false;
  }
  uint32_t next = kNone;
  for (const FluidHop& h : way.links) {
    LinkRecord& record = links_[h.link];
    record.isolated = i;
    record.next = next;
    record.share = h.share;
    next = h.link;
  }
  transfers_[i].isolated_link = next;
  isolated_.push_back(i);
  return true;
}

void FluidFabric::LeaveAlone(uint32_t i) {
  for (uint32_t link = transfers_[i].isolated_link; link != kNone; link = links_[link].next) {
    links_[link].isolated = kNone;
    SetTaken(link, 0);
  }
  transfers_[i].isolated_link = kNone;
}

void FluidFabric::Join(uint32_t link) {
  const uint32_t i = links_[link].isolated;
  if (i == kNone) return;
  path_links_.clear();
  double most = std::numeric_limits<double>::infinity();
  for (uint32_t l = transfers_[i].isolated_link; l != kNone; l = links_[l].next) {
    path_links_.push_back({l, links_[l].share});
    most = std::min(most, links_[l].capacity / links_[l].share);
  }
  std::reverse(path_links_.begin(), path_links_.end());
  AddOwnLink(i, most);
  LeaveAlone(i);
  EnterNetwork(i);
  joined_.push_back(i);
}

// The last byte has left.
void FluidFabric::End(uint32_t i, Time now) {
  Transfer& t = transfers_[i];
  if (t.isolated_link != kNone) LeaveAlone(i);
  LeaveNetwork(i);
  if (!crossed_.empty()) crossed_.erase(i);
  if (t.flow.want_sent) tells_.Add(now, Time::Zero(), t.order * kKinds + kTellSent, t.flow.tag);
  tells_.Add(now, t.latency + t.flow.delay, t.order * kKinds + kTellReceived, t.flow.tag);
  unused_.push_back(i);
  if (!t.flow.in_order) return;
  const uint32_t next = t.next;
  if (next == kNone) {
    last_.erase(t.flow.tag);
  } else {
    BeginWhenReady(next, now);
  }
}

Time FluidFabric::EndOf(const Transfer& t, const Progress& p, Time now) const {
  if (p.rate <= 0) return Time::Never();  // no bandwidth until others make room
  // Exactly the time of `analytical`.
  if (t.begin != Time::Never() && p.rate >= t.most * kWhole) return t.begin + t.alone;
  return now + FirstPico(p.left / p.rate);
}

void FluidFabric::SettleIsolated() {
  for (const uint32_t i : isolated_) {
    const Transfer& t = transfers_[i];
    if (t.isolated_link == kNone) continue;  // others joined at the same instant
    progress_[i].rate = t.most;
    for (uint32_t link = t.isolated_link; link != kNone; link = links_[link].next) {
      SetTaken(link, t.most * links_[link].share);
    }
    Post(now_ + t.alone, kIsolatedEnd, i);
  }
  isolated_.clear();
}

void FluidFabric::Settle() {
  SettleIsolated();
  if (clocks_ != nullptr) {
    SettleClocks();
  } else if (network_.dirty()) {
    SettleNetwork();
    if (Churns()) Clock();
  }
}

void FluidFabric::SettleNetwork() {
  network_.Solve(&changed_);
  // Solve() does not report flows that never had a rate.
  for (const uint32_t i : joined_) {
    const uint32_t f = transfers_[i].network_flow;
    if (f != kNone && network_.rate(f) == 0) changed_.push_back(f);
  }
  joined_.clear();
#ifndef NDEBUG
  // The check visits everything, so for large networks it runs only now and then.
  if (++solved_ % 64 == 0 || transfers_.size() <= 64) assert(network_.IsMaxMin(1e-9));
#endif
  for (const uint32_t link : network_.touched()) {
    SetTaken(link, background_on_.empty() ? network_.used(link)
                                          : std::max(0.0, network_.used(link) - BackgroundOn(link)));
  }
  const bool many = changed_.size() > 64 && changed_.size() > ends_.size() / 8;
  for (size_t c = 0; c < changed_.size(); ++c) {
    if (c + kAhead < changed_.size()) {
      const uint32_t ahead = transfer_of_[changed_[c + kAhead]];
      if (ahead != kNone) Fetch(ahead);
    }
    const uint32_t f = changed_[c];
    const uint32_t i = transfer_of_[f];
    if (i == kNone) continue;  // a background flow
    Progress& p = progress_[i];
    Transfer& t = transfers_[i];
    if (p.rate < t.most * kWhole && now_ > t.begin) t.begin = Time::Never();
    p.left = LeftOf(p);
    p.since = now_;
    p.rate = network_.rate(f);
    const Time end = EndOf(t, p, now_);
    if (many) {
      ends_.SetLoosely(i, end, t.order * kKinds + kEnd);
    } else {
      ends_.Set(i, end, t.order * kKinds + kEnd);
    }
  }
  if (many) ends_.Restore();
}

Time FluidFabric::NextKnown() const {
  Time at = tells_.at();
  if (!events_.empty()) at = std::min(at, events_.at());
  if (!ends_.empty()) at = std::min(at, ends_.at());
  if (clocks_ != nullptr) at = std::min(at, clocks_->next());
  return at;
}

Time FluidFabric::NextAt() const {
  Time at = NextKnown();
  if (clocks_ != nullptr && clocks_->dirty()) at = std::min(at, solve_at_);
  // Changes matter only while something is under way.
  const bool idle = events_.empty() && tells_.empty() && ends_.empty() && waiting_.empty();
  if (!idle && next_change_ < changes_.size()) at = std::min(at, changes_[next_change_].at);
  return at;
}

Time FluidFabric::NextEvent() {
  if (!early_.empty()) return early_.front().at;
  Settle();
  if (!ends_.empty()) {
    FetchLinks(ends_.item());
    ends_.ForEachSoon([&](uint32_t item) { Fetch(item); });
  }
  return NextAt();
}

Time FluidFabric::NextEvent(Time limit) {
  if (limit == now_ && early_.empty() && NextKnown() > now_) return now_ + Time::Picos(1);
  return NextEvent();
}

void FluidFabric::Handle(const EventQueue::Event& e) {
  const Transfer& t = transfers_[e.item];
  switch (static_cast<Kind>(e.order % kKinds)) {
    case kBegin:
      Begin(e.item, now_);
      break;
    case kIsolatedEnd:
      // The transfer is no longer isolated, or another transfer has its number.
      if (t.isolated_link == kNone || t.order != e.order / kKinds) break;
      [[fallthrough]];
    case kEnd:
      End(e.item, now_);
      break;
    case kTellSent:
    case kTellReceived:
      break;  // these are in tells_
  }
}

void FluidFabric::FetchLinks(uint32_t i) const {
  const Transfer& t = transfers_[i];
  if (t.isolated_link != kNone) {
    PrefetchToWrite(&links_[t.isolated_link]);
  } else if (t.network_flow != kNone && clocks_ == nullptr) {
    network_.Fetch(t.network_flow);
  }
}

void FluidFabric::Step(std::vector<FlowEnd>* ended) {
  told_.clear();
  for (;;) {
    due_.clear();
    if (!ends_.empty() && ends_.at() == now_) ends_.TakeFirst(&due_);
    if (!events_.empty() && events_.at() == now_) events_.Take(now_, &due_);
    if (clocks_ != nullptr && clocks_->next() == now_) {
      taken_.clear();
      clocks_->TakeEnds(&taken_);
      for (const uint32_t i : taken_) due_.push_back({transfers_[i].order * kKinds + kEnd, i});
    }
    if (due_.empty()) break;
    if (!std::is_sorted(due_.begin(), due_.end())) std::sort(due_.begin(), due_.end());
    for (size_t i = 0; i < due_.size(); ++i) {
      if (i + 2 * kAhead < due_.size()) Fetch(due_[i + 2 * kAhead].item);
      if (i + kAhead < due_.size()) FetchLinks(due_[i + kAhead].item);
      Handle(due_[i]);
    }
  }
  if (tells_.at() == now_) {
    tells_.Take([&](uint64_t order, uint64_t tag) {
      const bool sent = order % kKinds == kTellSent;
      told_.push_back({order, {tag, now_, sent ? FlowEnd::kSent : FlowEnd::kReceived}});
    });
  }
  // An end that an event reports may come before an end that an earlier event reported.
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(told_.begin(), told_.end(), before)) std::sort(told_.begin(), told_.end(), before);
  for (const auto& [order, end] : told_) ended->push_back(end);
}

void FluidFabric::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  if (ended != &early_ && !early_.empty()) {
    ended->insert(ended->end(), early_.begin(), early_.end());
    early_.clear();
  }
  const auto next = [&] {
    const Time change = next_change_ < changes_.size() ? changes_[next_change_].at : Time::Never();
    return std::min(NextAt(), change);
  };
  while (true) {
    Settle();
    const Time at = next();
    if (at > t || at == Time::Never()) break;
    now_ = at;
    if (next_change_ < changes_.size() && changes_[next_change_].at == now_) ChangeLinks();
    Step(ended);
  }
  now_ = t;
}

const FabricKind& FluidKind() {
  static const FabricKind kind = {
      .name = "fluid",
      .help = "flows share links max-min fairly, with weights and priorities",
      .make = [](const Topology& topology, const FabricOptions& options) -> std::unique_ptr<Fabric> {
        return std::make_unique<FluidFabric>(topology, options);
      },
      .takes = {&FlowOptions::kSet},
      .follows_links = true,
      .shows_links = true,
      .check =
          [](const Topology&, const FabricOptions& options) {
            return CheckFlowOptions("fluid", options.Get<FlowOptions>());
          }};
  return kind;
}

}  // namespace chakra
