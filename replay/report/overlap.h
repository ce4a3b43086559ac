// How much of the communication of captures computation hides, by kind and lane.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/report.pb.h"
#include "replay/engine/measure/name_times.h"
#include "replay/engine/spans.h"
#include "trace/base/text_page.h"
#include "trace/model/capture_info.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

// Measures ranks one after the other. Thread-safe.
class OverlapMeter {
 public:
  // Whether there is something to measure. A log of calls does not know what computed beside them: it tells
  // the waits of its messages alone. `captures` by rank.
  static bool Takes(const TraceSet& traces, const std::vector<std::optional<CaptureInfo>>& captures);
  // `twins`: null: there are none. The arguments must outlive the object.
  OverlapMeter(const TraceSet& traces, const Twins* twins, LaneNames* lanes);
  // The spans of a rank that is no twin, once: it counts for its twins, too.
  void Measure(uint32_t rank, const std::vector<NodeSpan>& spans);
  // Fills Report::overlap, the longest first. Sums beyond the range of Time are Time::Never().
  void AddTo(proto::Report* report) const;

 private:
  struct Sum {
    __int128 time_ps = 0, hidden_ps = 0, waited_ps = 0;  // over all ranks, which Time may not hold
    uint64_t count = 0;
  };
  using Key = std::pair<std::string, std::string>;  // kind and lane

  const TraceSet& traces_;
  LaneNames* const lanes_;
  std::vector<int64_t> ranks_;  // by rank: how many do the same
  mutable std::mutex mutex_;
  std::map<Key, Sum> sums_;
};

// A table of Report::overlap; "" where there is none, and where nothing is hidden and nothing waited. `page`
// as for PrintReport().
std::string PrintOverlap(const proto::Report& report, TextPage* page);

}  // namespace chakra
