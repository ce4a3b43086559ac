// How much of the communication of captures is hidden by computation, by kind and lane.
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
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// Measures ranks one after the other. Thread-safe.
class OverlapMeter {
 public:
  // Whether there is something to measure. A log of calls does not record what computed during the calls:
  // only the waits of its messages can be measured. `captures` by rank.
  static bool Takes(const TraceSet& traces, const std::vector<std::optional<CaptureInfo>>& captures);
  // `symmetric`: the symmetric ranks; null: none. The arguments must outlive the object.
  OverlapMeter(const TraceSet& traces, const SymmetricRanks* symmetric, LaneNames* lanes);
  // Measures a rank that is simulated itself, from its spans. Call once for each such rank. Symmetric ranks
  // are counted too.
  void Measure(uint32_t rank, const std::vector<NodeSpan>& spans);
  // Fills Report::overlap, the longest first. Sums beyond the range of Time become Time::Never().
  void AddTo(proto::Report* report) const;

 private:
  struct Sum {
    __int128 time_ps = 0, hidden_ps = 0, waited_ps = 0;  // over all ranks; Time may be too small for these
    uint64_t count = 0;
  };
  using Key = std::pair<std::string, std::string>;  // kind and lane

  const TraceSet& traces_;
  LaneNames* const lanes_;
  std::vector<int64_t> ranks_;  // by rank: the number of ranks that it is simulated for, including itself
  mutable std::mutex mutex_;
  std::map<Key, Sum> sums_;
};

// A table of Report::overlap. Returns "" if there is none, or if nothing was hidden and nothing waited.
// `page` as for PrintReport().
std::string PrintOverlap(const proto::Report& report, TextPage* page);

}  // namespace chakra
