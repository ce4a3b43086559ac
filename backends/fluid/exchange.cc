// FluidFabric::TimeOfExchange(): an exchange among many devices, computed by kinds of flows.
//
// Flows of one kind have the same size and use links of the same classes. If all links that flows of a kind
// use at their h-th hop carry the same number of flows of each kind, these links are symmetric, and one of
// them represents all: each flow of the kind has the same rate, because all are held by symmetric links. This
// is checked, not assumed. There are only a few kinds, whatever the number of flows.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "backends/fluid/filling.h"
#include "backends/fluid/fluid.h"

namespace chakra {
namespace {

constexpr size_t kMostKinds = 16;
constexpr size_t kMostHops = 16;

struct FlowKind {
  int src, dst;  // of the first flow of the kind
  ExchangeMessage message;
  Time latency;
  Time alone;       // its transfer time if isolated
  double most = 0;  // highest rate, bytes a picosecond
  double left = 0;  // bytes
  double rate = 0;
  bool whole = true;  // it was never slower than its path allows
  bool done = false;
  Time end;

  double limit() const { return static_cast<double>(message.limit.bytes_per_second()) * 1e-12; }
};

// How many flows of each kind a link carries, and at which of their hops.
struct ExchangeLink {
  double capacity = 0;
  double peak = 0;  // if it represents others: highest rate of its flows
  std::array<uint32_t, kMostKinds> flows{};
  std::array<uint16_t, kMostKinds> hops{};  // one bit for each hop

  bool Like(const ExchangeLink& o) const { return capacity == o.capacity && flows == o.flows; }
};

class Exchange {
 public:
  Exchange(const Topology& topology, double efficiency)
      : topology_(topology),
        efficiency_(efficiency),
        received_(static_cast<size_t>(topology.devices())),
        links_(topology.links()) {}

  // False: too many kinds or hops.
  bool Add(int src, int dst, const ExchangeMessage& message) {
    path_.clear();
    topology_.Path(src, dst, &path_);
    if (path_.size() > kMostHops) return false;
    key_.assign(1, message.wire_bytes);
    key_.push_back(static_cast<uint64_t>(message.delay.picos()));
    key_.push_back(static_cast<uint64_t>(message.limit.bytes_per_second()));
    for (const Hop& hop : path_) key_.push_back(hop.link_class);
    if (key_ != last_key_) {
      const auto [at, fresh] = kind_of_.try_emplace(key_, kinds_.size());
      if (fresh && !AddKind(src, dst, message)) return false;
      last_key_ = key_;
      last_ = at->second;
    }
    uint16_t& received = received_[static_cast<size_t>(dst)];
    received = static_cast<uint16_t>(received | 1u << last_);
    for (size_t h = 0; h < path_.size(); ++h) {
      ExchangeLink& link = links_[path_[h].link];
      link.capacity = CapacityOf(path_[h]);
      ++link.flows[last_];
      link.hops[last_] = static_cast<uint16_t>(link.hops[last_] | 1u << h);
    }
    return true;
  }

  // Chooses one link for each kind and hop. False: the links are not symmetric.
  bool FindStandIns() {
    std::map<std::pair<size_t, size_t>, const ExchangeLink*> stands;
    for (const ExchangeLink& link : links_) {
      for (size_t k = 0; k < kinds_.size(); ++k) {
        for (size_t h = 0; link.hops[k] >> h != 0; ++h) {
          if ((link.hops[k] >> h & 1) == 0) continue;
          const ExchangeLink* stand = stands.try_emplace({k, h}, &link).first->second;
          if (!link.Like(*stand)) return false;
        }
      }
    }
    for (const auto& at : stands) {
      const ExchangeLink& stand = *at.second;
      const auto same = [&](const ExchangeLink& l) { return l.Like(stand); };
      if (std::none_of(stand_ins_.begin(), stand_ins_.end(), same)) stand_ins_.push_back(stand);
    }
    return true;
  }

  std::vector<FlowKind>& kinds() { return kinds_; }
  // Whether all `devices` receive messages of the same kinds.
  bool AllReceiveAlike(const std::vector<int>& devices) const {
    return std::all_of(devices.begin(), devices.end(), [&](int d) {
      return received_[static_cast<size_t>(d)] == received_[static_cast<size_t>(devices[0])];
    });
  }
  // The highest rate of each link.
  void Peaks(std::vector<double>* peaks) const {
    peaks->assign(links_.size(), 0);
    for (size_t l = 0; l < links_.size(); ++l) {
      for (const ExchangeLink& stand : stand_ins_) {
        if (links_[l].Like(stand)) (*peaks)[l] = stand.peak;
      }
    }
  }

  // Computes the fair rates of the kinds that are not done.
  void Fill() {
    filling_.Clear();
    for (const ExchangeLink& link : stand_ins_) filling_.AddLink(link.capacity);
    auto own = static_cast<uint32_t>(stand_ins_.size());  // links of limits
    for (const FlowKind& kind : kinds_) {
      if (!kind.done && kind.message.limit.bytes_per_second() > 0) filling_.AddLink(kind.limit());
    }
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k].done) continue;
      filling_.AddFlow(1);
      for (uint32_t l = 0; l < stand_ins_.size(); ++l) {
        if (stand_ins_[l].flows[k] > 0) filling_.On(l, stand_ins_[l].flows[k]);
      }
      if (kinds_[k].message.limit.bytes_per_second() > 0) filling_.On(own++, 1);
    }
    filling_.Run();
    uint32_t flow = 0;
    for (FlowKind& kind : kinds_) {
      if (!kind.done) kind.rate = filling_.level(flow++);
    }
    for (uint32_t l = 0; l < stand_ins_.size(); ++l) {
      stand_ins_[l].peak = std::max(stand_ins_[l].peak, stand_ins_[l].capacity - filling_.left(l));
    }
  }

 private:
  double CapacityOf(const Hop& hop) const {
    const Bandwidth b = topology_.link_classes()[hop.link_class].bandwidth;
    return static_cast<double>(b.bytes_per_second()) * 1e-12 * efficiency_;
  }
  bool AddKind(int src, int dst, const ExchangeMessage& message) {
    if (kinds_.size() == kMostKinds) return false;
    FlowKind kind{src, dst, message};
    kind.left = static_cast<double>(message.wire_bytes);
    kind.most = CapacityOf(path_[0]);
    for (const Hop& hop : path_) {
      kind.latency += topology_.link_classes()[hop.link_class].latency;
      kind.most = std::min(kind.most, CapacityOf(hop));
    }
    if (message.limit.bytes_per_second() > 0) kind.most = std::min(kind.most, kind.limit());
    kinds_.push_back(kind);
    return true;
  }

  const Topology& topology_;
  double efficiency_;
  std::vector<Hop> path_;
  std::vector<uint64_t> key_, last_key_;  // size, delay, limit, classes of links
  size_t last_ = 0;
  std::map<std::vector<uint64_t>, size_t> kind_of_;
  std::vector<FlowKind> kinds_;
  std::vector<uint16_t> received_;  // by device: one bit for each kind
  std::vector<ExchangeLink> links_;
  std::vector<ExchangeLink> stand_ins_;
  Filling filling_;
};

}  // namespace

std::optional<ExchangeTime> FluidFabric::TimeOfExchange(const std::vector<int>& devices,
                                                        const std::vector<ExchangeMessage>& messages,
                                                        std::vector<double>* peaks) const {
  const bool idle = events_.empty() && tells_.empty() && ends_.empty() && clocks_ == nullptr &&
                    waiting_.empty() && background_on_.empty() && early_.empty() && last_.empty();
  // Not supported: routers choose paths by hash, and series of links need each flow.
  if (!idle || cost_.router() != nullptr || !changes_.empty() || link_series_) return std::nullopt;
  const Topology& topology = cost_.topology();
  Exchange exchange(topology, options_.efficiency);
  for (const int src : devices) {
    for (const int dst : devices) {
      if (src == dst) continue;
      const auto level = static_cast<size_t>(topology.Level(src, dst));
      if (level >= messages.size() || !exchange.Add(src, dst, messages[level])) return std::nullopt;
    }
  }
  if (!exchange.FindStandIns()) return std::nullopt;
  Time now = options_.startup, last;
  size_t left = 0;
  for (FlowKind& kind : exchange.kinds()) {
    kind.alone = Cost(kind.src, kind.dst, kind.message.wire_bytes)
                     .Limited(kind.message.wire_bytes, kind.message.limit)
                     .transfer;
    kind.done = kind.left == 0;
    left += !kind.done;
    if (kind.done) last = std::max(last, now + kind.latency + kind.message.delay);
  }
  while (left > 0) {
    exchange.Fill();
    Time next = Time::Never();
    for (FlowKind& kind : exchange.kinds()) {
      if (kind.done) continue;
      kind.whole = kind.whole && kind.rate >= kind.most * kWhole;
      Transfer t;
      t.begin = kind.whole ? options_.startup : Time::Never();
      t.most = kind.most;
      t.alone = kind.alone;
      kind.end = EndOf(t, {kind.left, kind.rate, now}, now);
      next = std::min(next, kind.end);
    }
    if (next == Time::Never()) return std::nullopt;
    for (FlowKind& kind : exchange.kinds()) {
      if (kind.done) continue;
      kind.left = std::max(0.0, kind.left - kind.rate * static_cast<double>((next - now).picos()));
      kind.done = kind.end == next;
      left -= kind.done;
      if (kind.done) last = std::max(last, next + kind.latency + kind.message.delay);
    }
    now = next;
  }
  if (peaks != nullptr) exchange.Peaks(peaks);
  return ExchangeTime{last, exchange.AllReceiveAlike(devices)};
}

}  // namespace chakra
