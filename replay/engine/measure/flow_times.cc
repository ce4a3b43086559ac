#include "replay/engine/measure/flow_times.h"

#include <algorithm>
#include <bit>

namespace chakra {
namespace {

constexpr int kDropped = 52 - 6;  // low bits of a double's fraction, which buckets ignore

uint32_t BucketOf(double x) { return static_cast<uint32_t>(std::bit_cast<uint64_t>(x) >> kDropped); }

// The value in the middle of a bucket.
double ValueOf(uint32_t bucket) {
  return std::bit_cast<double>(uint64_t{bucket} << kDropped | uint64_t{1} << (kDropped - 1));
}

}  // namespace

void FlowTimes::Add(uint64_t bytes, Time time, Time alone) {
  size_t i = 0;
  for (uint64_t most = 1000; i + 1 < kClasses && bytes > most; most *= 10) ++i;
  Class& c = classes_[i];
  const double slowdown = static_cast<double>(time.picos()) / static_cast<double>(alone.picos());
  ++c.flows;
  c.time += static_cast<unsigned __int128>(time.picos());
  c.max = std::max(c.max, slowdown);
  ++c.buckets[BucketOf(slowdown)];
}

std::vector<FlowTimesRow> FlowTimes::Rows() const {
  std::vector<FlowTimesRow> rows;
  uint64_t most = 1000;
  for (size_t i = 0; i < kClasses; ++i, most *= 10) {
    const Class& c = classes_[i];
    if (c.flows == 0) continue;
    // The nearest-rank quantile: the smallest value with at least this share of flows at or below it.
    const auto quantile = [&c](uint64_t percent) {
      const uint64_t rank = (c.flows * percent + 99) / 100;
      uint64_t seen = 0;
      for (const auto& [bucket, flows] : c.buckets) {
        seen += flows;
        if (seen >= rank) return std::min(ValueOf(bucket), c.max);
      }
      return c.max;
    };
    FlowTimesRow row;
    row.most_bytes = i + 1 == kClasses ? ~uint64_t{0} : most;
    row.flows = c.flows;
    row.mean = Time::Picos(static_cast<int64_t>(c.time / c.flows));
    row.median = quantile(50);
    row.p99 = quantile(99);
    row.max = c.max;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace chakra
