// What ports sent and counted over time, and how much waited.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backends/link_use.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/port_totals.h"

namespace chakra::packet {

// Buckets of equal time from 0. When there are too many, pairs are merged, so that memory does not grow with
// the simulated time.
class PortSeries {
 public:
  static constexpr size_t kMostBuckets = 4096;

  // `bucket` is the time of a bucket; zero: off.
  explicit PortSeries(Time bucket) : bucket_(bucket.picos()), next_(bucket.picos()) {}
  bool on() const { return bucket_ > 0; }
  Time bucket() const { return Time::Picos(bucket_); }
  // The end of the current bucket; ps.
  int64_t next() const { return next_; }
  // Must be called before anything happens at or after `at` >= next(). Ends all buckets up to `at`.
  void Note(const PacketNetwork& network, int64_t at);
  // Ends the current bucket early, at `now`.
  void Finish(const PacketNetwork& network, int64_t now);
  // Fills LinkUse::series (shares of `rate`, bytes a second), ::queued, ::counts and ::peak for a port.
  void Tell(uint32_t port, double rate, LinkUse* use) const;

 private:
  struct Series {
    PortTotals before;  // totals at the end of the last bucket
    std::vector<uint64_t> bytes;
    std::vector<uint64_t> queued;  // bytes at the end of the bucket; the maximum after merges
    std::array<std::vector<uint64_t>, LinkUse::kCounts> counts;  // as LinkUse::counts, but may be shorter
  };
  // Ends the current bucket at `at`.
  void End(const PacketNetwork& network, int64_t at);
  void Begin();
  void Merge();

  int64_t bucket_, next_;  // ps
  size_t buckets_ = 0;     // number of finished buckets
  std::vector<Series> ports_;
};

}  // namespace chakra::packet
