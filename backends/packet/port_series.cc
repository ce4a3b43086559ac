#include "backends/packet/port_series.h"

#include <algorithm>

namespace chakra {

void PortSeries::End(const PacketNetwork& network) {
  ports_.resize(network.ports());
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    Series& s = ports_[i];
    const uint64_t sent = network.port(i).sent, queued = network.info(i).queued;
    if (sent == s.sent && queued == 0) continue;
    s.bytes.resize(buckets_);
    s.queued.resize(buckets_);
    s.bytes.push_back(sent - s.sent);
    s.queued.push_back(queued);
    s.sent = sent;
  }
  ++buckets_;
}

void PortSeries::Merge() {
  bucket_ *= 2;
  buckets_ = (buckets_ + 1) / 2;
  for (Series& s : ports_) {
    for (size_t i = 0; i < s.bytes.size(); i += 2) {
      const bool pair = i + 1 < s.bytes.size();
      s.bytes[i / 2] = s.bytes[i] + (pair ? s.bytes[i + 1] : 0);
      s.queued[i / 2] = std::max(s.queued[i], pair ? s.queued[i + 1] : 0);
    }
    s.bytes.resize((s.bytes.size() + 1) / 2);
    s.queued.resize(s.bytes.size());
  }
}

void PortSeries::Note(const PacketNetwork& network, int64_t at) {
  End(network);
  next_ += bucket_;
  // Nothing happened in the others.
  while (next_ <= at) {
    const int64_t idle = (at - next_) / bucket_ + 1;
    const int64_t room = static_cast<int64_t>(kMostBuckets) - static_cast<int64_t>(buckets_);
    const int64_t now = std::min(idle, std::max<int64_t>(room, 0));
    buckets_ += static_cast<size_t>(now);
    next_ += now * bucket_;
    if (buckets_ < kMostBuckets) continue;
    Merge();
    next_ = static_cast<int64_t>(buckets_ + 1) * bucket_;
  }
  if (buckets_ < kMostBuckets) return;
  Merge();
  next_ = static_cast<int64_t>(buckets_ + 1) * bucket_;
}

void PortSeries::Finish(const PacketNetwork& network, int64_t now) {
  while (now >= next_) Note(network, now);
  End(network);
}

void PortSeries::Tell(uint32_t port, double rate, LinkUse* use) const {
  if (port >= ports_.size()) return;
  const Series& s = ports_[port];
  const double full = static_cast<double>(bucket_) * 1e-12 * rate;
  for (size_t i = 0; i < s.bytes.size(); ++i) {
    use->series.push_back(static_cast<float>(static_cast<double>(s.bytes[i]) / full));
    use->queued.push_back(s.queued[i]);
    // A packet counts where it begins to leave.
    use->peak = std::max(use->peak, std::min(1.0, static_cast<double>(s.bytes[i]) / full));
  }
}

}  // namespace chakra
