#include "trace/import/timeline/overruns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/base/median.h"
#include "trace/base/utf8.h"
#include "trace/import/comm/comm_names.h"
#include "trace/import/timeline/device_calls.h"

namespace chakra::pytorch {
namespace {

class Cutter {
 public:
  explicit Cutter(DeviceTrace* device) : d_(device), names_(*device), of_stream_(device->streams.size()) {
    CallNames calls(*device);
    bool several = false;  // with several devices, it is not known which one a call waits for
    for (const StreamLane& s : d_->streams) several = several || s.device != d_->streams[0].device;
    for (uint32_t row = 0; row < d_->events.size(); ++row) {
      const Event& e = d_->events[row];
      if (OnDevice(e.kind)) of_stream_[e.lane].push_back(row);
      const bool call = e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver;
      if (call && !several && calls.Sync(e) == SyncCall::kDevice) synced_.push_back({e.ts, e.ts + e.dur});
    }
    for (size_t i = synced_.size(); i-- > 1;)
      synced_[i - 1].second = std::min(synced_[i - 1].second, synced_[i].second);
  }

  void Run() {
    std::vector<std::pair<uint32_t, int64_t>> cuts;  // row, and its new end
    for (const std::vector<uint32_t>& rows : of_stream_) {
      for (size_t i = 0; i < rows.size(); ++i) {
        if (const int64_t end = BoundOf(rows, i); end != kNone) cuts.push_back({rows[i], end});
      }
    }
    if (cuts.empty()) return;
    const Event& longest =
        d_->events[std::max_element(cuts.begin(), cuts.end(), [&](const auto& a, const auto& b) {
                     return d_->events[a.first].dur < d_->events[b.first].dur;
                   })->first];
    Repair repair;
    repair.kind = "device_duration_cut";
    repair.file = d_->file;
    repair.rank = d_->rank;
    repair.count = cuts.size();
    repair.detail = absl::StrCat(
        "operations that end after a later operation of their stream, or after a wait for them, which is "
        "impossible; cut there; the longest, \"",
        ToUtf8(d_->name_of(longest)), "\", is recorded with ", longest.dur / 1000, " us");
    d_->repairs.push_back(std::move(repair));
    for (const auto& [row, end] : cuts) d_->events[row].dur = end - d_->events[row].ts;
  }

 private:
  // The latest possible end of rows[i], if its recorded duration is impossible; else kNone.
  int64_t BoundOf(const std::vector<uint32_t>& rows, size_t i) {
    constexpr size_t kLook = 64;
    const Event& e = d_->events[rows[i]];
    const int64_t end = e.ts + e.dur;
    const bool linked = e.correlation >= 0;
    int64_t next = kNone;
    int contained = 0;
    for (size_t k = i + 1; k < rows.size() && k <= i + kLook && contained < 2; ++k) {
      const Event& later = d_->events[rows[k]];
      if (later.ts >= end) break;
      if (linked ? later.correlation == e.correlation || later.correlation < 0 : d_->schema != "kineto")
        continue;
      if (next == kNone && later.ts > e.ts) next = later.ts;
      contained += later.ts + later.dur <= end ? 1 : 0;
    }
    const bool outlasts =
        next != kNone && contained > 0 && IsLong(e, next, contained > 1 && linked ? kLong : kVeryLong);
    const int64_t synced = SyncedAfter(e);
    const bool outlasts_sync = end > synced && IsLong(e, INT64_MAX, kLong);
    if ((!outlasts && !outlasts_sync) || Communicates(e)) return kNone;
    return std::min(outlasts ? next : INT64_MAX, outlasts_sync ? synced : INT64_MAX);
  }

  bool Communicates(const Event& e) {
    const CommKernel* kernel = nullptr;
    return names_.Kernel(e, &kernel) == KernelSays::kCommunicates;
  }

  // Whether `e` lasts `times` as long as usual for its name, or extremely long compared with the time until
  // the next operation began, at `next`.
  bool IsLong(const Event& e, int64_t next, int64_t times) {
    const bool beside_next =
        next != INT64_MAX && next - e.ts >= kSome / kVeryLong && e.dur / kVeryLong >= next - e.ts;
    return beside_next || e.dur / times >= std::max<int64_t>(1, UsualOf(e.name));
  }

  // The end of the host's first wait for the whole device after the launch of `e`. INT64_MAX: there is no
  // such wait, or `e` is short.
  int64_t SyncedAfter(const Event& e) {
    if (synced_.empty() || e.dur < kSome || e.correlation < 0) return INT64_MAX;
    if (!std::exchange(launches_read_, true)) {
      for (const Event& call : d_->events) {
        if (call.correlation >= 0 && (call.kind == EventKind::kRuntime || call.kind == EventKind::kDriver))
          launched_.try_emplace(call.correlation, call.ts);
      }
    }
    const auto launch = launched_.find(e.correlation);
    if (launch == launched_.end()) return INT64_MAX;
    const auto at =
        std::upper_bound(synced_.begin(), synced_.end(), std::make_pair(launch->second, INT64_MAX));
    return at == synced_.end() ? INT64_MAX : std::max(e.ts, at->second);
  }

  // The median duration of the operations of a name; INT64_MAX if there are fewer than three.
  int64_t UsualOf(uint32_t name) {
    if (usual_.empty()) {
      std::vector<std::vector<int64_t>> durations(d_->strings.size());
      for (const std::vector<uint32_t>& rows : of_stream_) {
        for (const uint32_t row : rows) durations[d_->events[row].name].push_back(d_->events[row].dur);
      }
      for (std::vector<int64_t>& of_name : durations)
        usual_.push_back(of_name.size() < 3 ? INT64_MAX : LowerMedian(std::move(of_name)));
    }
    return usual_[name];
  }

  static constexpr int64_t kLong = 100, kVeryLong = 1000;
  static constexpr int64_t kSome = 1000000;  // ns; shorter operations do no harm

  DeviceTrace* d_;
  CommNames names_;
  std::vector<std::vector<uint32_t>> of_stream_;
  // For each wait for the device, by begin: its begin, and the first end of this or a later wait.
  std::vector<std::pair<int64_t, int64_t>> synced_;
  std::vector<int64_t> usual_;  // by name; filled when first needed
  bool launches_read_ = false;
  // Begins of calls by correlation; filled when first needed.
  absl::flat_hash_map<int64_t, int64_t> launched_;
};

}  // namespace

void CutOverruns(DeviceTrace* device) { Cutter(device).Run(); }

}  // namespace chakra::pytorch
