// Records how much of each link is used over time.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// Series with a fixed number of buckets. Buckets are short at first. When the run gets longer than all
// buckets, pairs of buckets are merged, so memory does not grow with the simulated time.
class LinkLog {
 public:
  static constexpr size_t kBuckets = 128;
  static constexpr Time kBucket = Time::Micros(1);  // initial length of a bucket

  // Without `series`, the log keeps only totals and peaks. The length of a bucket is 2^n times `bucket` > 0.
  explicit LinkLog(bool series, Time bucket = kBucket) : series_(series), bucket_(bucket) {}

  // From `now` on, flows have `rate` (bytes a picosecond) on `link`. The calls for one link must be in the
  // order of time.
  void Set(uint32_t link, double rate, Time now) {
    Peak(link, rate);
    if (!series_) return;
    if (link >= links_.size()) links_.resize(link + 1);
    Link& l = links_[link];
    Take(&l, now);
    l.rate = rate;
  }
  // Records that a link had this rate at some time, without adding to the series.
  void Peak(uint32_t link, double rate) {
    if (link >= peaks_.size()) peaks_.resize(link + 1);
    if (rate > peaks_[link]) peaks_[link] = rate;
  }
  // Ends the series at `now`, the end of the run.
  void Finish(Time now);

  double peak(uint32_t link) const { return link < peaks_.size() ? peaks_[link] : 0; }
  // Bytes by bucket.
  const std::vector<double>& Series(uint32_t link) const;
  Time bucket() const { return bucket_; }

 private:
  struct Link {
    double rate = 0;
    Time since;
    std::vector<double> bytes;  // by bucket
  };
  void Take(Link* link, Time now);
  void Widen();

  bool series_;
  Time bucket_;
  std::vector<double> peaks_;  // by link
  std::vector<Link> links_;    // with series
};

}  // namespace chakra
