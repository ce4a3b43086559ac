#include "backends/packet/network/port_series.h"

#include <algorithm>

namespace chakra::packet {
namespace {

// Replaces each pair of values by its sum.
void Halve(std::vector<uint64_t>* values) {
  for (size_t i = 0; i < values->size(); i += 2) {
    (*values)[i / 2] = (*values)[i] + (i + 1 < values->size() ? (*values)[i + 1] : 0);
  }
  values->resize((values->size() + 1) / 2);
}

}  // namespace

void PortSeries::End(const PacketNetwork& network, int64_t at) {
  ports_.resize(network.ports());
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    Series& s = ports_[i];
    const uint64_t queued = network.backlog(i).bytes;
    PortTotals now = TotalsOf(network, i);
    now.paused = network.Paused(i, at);
    if (queued == 0 && now == s.before) continue;
    s.bytes.resize(buckets_);
    s.queued.resize(buckets_);
    s.bytes.push_back(now.bytes - s.before.bytes);
    s.queued.push_back(queued);
    for (size_t k = 0; k < LinkUse::kCounts; ++k) {
      const uint64_t by = now.*kLinkCounts[k].total - s.before.*kLinkCounts[k].total;
      if (by == 0) continue;
      s.counts[k].resize(buckets_);
      s.counts[k].push_back(by);
    }
    s.before = now;
  }
  ++buckets_;
}

void PortSeries::Merge() {
  bucket_ *= 2;
  buckets_ = (buckets_ + 1) / 2;
  for (Series& s : ports_) {
    for (size_t i = 0; i < s.queued.size(); i += 2) {
      s.queued[i / 2] = std::max(s.queued[i], i + 1 < s.queued.size() ? s.queued[i + 1] : 0);
    }
    s.queued.resize((s.queued.size() + 1) / 2);
    Halve(&s.bytes);
    for (std::vector<uint64_t>& count : s.counts) Halve(&count);
  }
}

// Begins the next bucket.
void PortSeries::Begin() {
  if (buckets_ >= kMostBuckets) Merge();
  next_ = static_cast<int64_t>(buckets_ + 1) * bucket_;
}

void PortSeries::Note(const PacketNetwork& network, int64_t at) {
  End(network, next_);
  Begin();
  if (next_ > at) return;
  // The other buckets had no events: packets that waited, or classes that were paused, still are.
  bool waits = false;
  for (uint32_t i = 0; i < network.ports() && !waits; ++i) {
    waits = network.backlog(i).bytes > 0 || network.port(i).paused != 0;
  }
  while (next_ <= at) {
    if (waits) {
      End(network, next_);
    } else {
      const auto idle = static_cast<size_t>((at - next_) / bucket_ + 1);
      buckets_ += std::min(idle, kMostBuckets - buckets_);
    }
    Begin();
  }
}

void PortSeries::Finish(const PacketNetwork& network, int64_t now) {
  while (now >= next_) Note(network, now);
  End(network, now);
}

void PortSeries::Tell(uint32_t port, double rate, LinkUse* use) const {
  if (port >= ports_.size()) return;
  const Series& s = ports_[port];
  const double full = static_cast<double>(bucket_) * 1e-12 * rate;
  for (size_t i = 0; i < s.bytes.size(); ++i) {
    use->series.push_back(static_cast<float>(static_cast<double>(s.bytes[i]) / full));
    use->queued.push_back(s.queued[i]);
    // Limited to 1, because a packet counts in the bucket in which it begins to leave.
    use->peak = std::max(use->peak, std::min(1.0, static_cast<double>(s.bytes[i]) / full));
  }
  for (size_t k = 0; k < s.counts.size(); ++k) {
    use->counts[k] = s.counts[k];
    if (!s.counts[k].empty()) use->counts[k].resize(s.bytes.size());
  }
}

}  // namespace chakra::packet
