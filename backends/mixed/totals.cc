// Reports of MixedFabric: the sums over both sides.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "backends/mixed/mixed_fabric.h"

namespace chakra {
namespace {

constexpr size_t kAll = ~size_t{0};

// Converts series from buckets of `from` to buckets of `to`, a multiple of `from`.
void Widen(Time from, Time to, LinkUse* use) {
  if (from == to || use->series.empty()) return;
  const auto n = static_cast<size_t>(to.picos() / from.picos());
  const size_t size = (use->series.size() + n - 1) / n;
  for (size_t i = 0; i < size; ++i) {
    double sum = 0;
    const size_t end = std::min(use->series.size(), (i + 1) * n);
    for (size_t k = i * n; k < end; ++k) sum += static_cast<double>(use->series[k]);
    use->series[i] = static_cast<float>(sum / static_cast<double>(n));
    // The bytes that wait at the end of a bucket; after the last bucket nothing waits.
    if (!use->queued.empty()) use->queued[i] = end == (i + 1) * n ? use->queued[end - 1] : 0;
  }
  for (std::vector<uint64_t>& count : use->counts) {
    if (count.empty()) continue;
    for (size_t k = 0; k < count.size(); ++k) {
      const uint64_t of_bucket = std::exchange(count[k], 0);
      count[k / n] += of_bucket;
    }
    count.resize(size);
  }
  use->series.resize(size);
  if (!use->queued.empty()) use->queued.resize(size);
}

void Add(const LinkUse& other, LinkUse* use) {
  use->bytes += other.bytes;
  use->flows += other.flows;
  use->peak = std::max(use->peak, other.peak);
  if (use->series.size() < other.series.size()) use->series.resize(other.series.size());
  for (size_t i = 0; i < other.series.size(); ++i) use->series[i] += other.series[i];
  // A peak of both sides together can only be seen if it lasts for a bucket.
  for (const float taken : use->series) {
    use->peak = std::max(use->peak, std::min(1.0, static_cast<double>(taken)));
  }
}

}  // namespace

std::vector<DimensionTraffic> MixedFabric::Traffic() const {
  std::vector<DimensionTraffic> traffic = fluid_.Traffic();
  const std::vector<DimensionTraffic> packets = packet_.Traffic();
  for (size_t i = 0; i < traffic.size(); ++i) traffic[i].bytes += packets[i].bytes;
  return traffic;
}

LinkUses MixedFabric::Links(size_t most) const {
  LinkUses fluid = fluid_.Links(kAll), both = packet_.Links(kAll);
  const Time bucket = std::max(fluid.bucket, both.bucket);
  absl::flat_hash_map<uint32_t, size_t> place;
  for (size_t i = 0; i < both.busiest.size(); ++i) {
    place[both.busiest[i].link] = i;
    Widen(both.bucket, bucket, &both.busiest[i]);
  }
  for (LinkUse& use : fluid.busiest) {
    Widen(fluid.bucket, bucket, &use);
    const auto [it, is_new] = place.try_emplace(use.link, both.busiest.size());
    if (is_new) {
      both.busiest.push_back(std::move(use));
    } else {
      Add(use, &both.busiest[it->second]);
    }
  }
  both.bucket = bucket;
  both.links = both.busiest.size();
  const auto load = [](const LinkUse& use) {
    return static_cast<double>(use.bytes) / static_cast<double>(use.bandwidth.bytes_per_second());
  };
  std::sort(both.busiest.begin(), both.busiest.end(), [&](const LinkUse& a, const LinkUse& b) {
    return load(a) != load(b) ? load(a) > load(b) : a.link < b.link;
  });
  if (both.busiest.size() > most) both.busiest.resize(most);
  for (LinkUse& use : both.busiest) {
    use.queued.resize(use.packets > 0 ? use.series.size() : 0);
    for (std::vector<uint64_t>& count : use.counts) {
      if (!count.empty()) count.resize(use.series.size());
    }
  }
  return both;
}

PacketTotals MixedFabric::Packets() const {
  PacketTotals totals = packet_.Packets();
  totals += totals_;
  return totals;
}

}  // namespace chakra
