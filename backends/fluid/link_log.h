// How much of each link is taken over time.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// Series of a fixed number of buckets. The buckets begin short, and whenever the
// run outlasts them, pairs are merged, so that memory does not grow with time.
class LinkLog {
 public:
  static constexpr size_t kBuckets = 128;
  static constexpr Time kBucket = Time::Micros(1);  // at first

  // Without `series` it keeps totals and peaks alone. Buckets are 2^n times `bucket` > 0.
  explicit LinkLog(bool series, Time bucket = kBucket) : series_(series), bucket_(bucket) {}

  // From `now` on, `rate` (bytes a picosecond) is taken of `link`; never earlier
  // than before for the link.
  void Set(uint32_t link, double rate, Time now) {
    if (link >= links_.size()) links_.resize(link + 1);
    Link& l = links_[link];
    if (rate > l.peak) l.peak = rate;
    if (!series_) return;
    Take(&l, now);
    l.rate = rate;
  }
  // The end of the run, for the series.
  void Finish(Time now);

  double peak(uint32_t link) const { return link < links_.size() ? links_[link].peak : 0; }
  // Bytes by bucket.
  const std::vector<double>& Series(uint32_t link) const;
  Time bucket() const { return bucket_; }

 private:
  struct Link {
    double rate = 0;
    double peak = 0;
    Time since;
    std::vector<double> bytes;  // by bucket
  };
  void Take(Link* link, Time now);
  void Widen();

  bool series_;
  Time bucket_;
  std::vector<Link> links_;
};

}  // namespace chakra
