#include "trace/import/nsys/owners.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "trace/base/status_macros.h"

namespace chakra::nsys {

absl::Status Owners::ReadCalls() {
  constexpr absl::string_view kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  if (!db_.Has(kTable)) return db_.CheckPlain(kTable);
  ASSIGN_OR_RETURN(SqliteScan rows, db_.Read(kTable, {"!start", "!correlationId", "!globalTid"}));
  bool several = false;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    const int64_t process = ProcessOf(rows.IntOr(2, 0));
    several = several || (!calls_.empty() && std::get<2>(calls_.back()) != process);
    calls_.emplace_back(rows.IntOr(1, -1), rows.IntOr(0, INT64_MIN), process);
  }
  if (several) {
    std::sort(calls_.begin(), calls_.end());
    return ReadDevices();
  }
  if (!calls_.empty()) only_ = std::get<2>(calls_.back());
  std::vector<std::tuple<int64_t, int64_t, int64_t>>().swap(calls_);
  return absl::OkStatus();
}

absl::Status Owners::ReadDevices() {
  constexpr absl::string_view kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
  if (!db_.Has(kTable)) return db_.CheckPlain(kTable);
  ASSIGN_OR_RETURN(SqliteScan rows, db_.Read(kTable, {"!deviceId"}));
  std::set<int64_t> devices;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    devices.insert(rows.IntOr(0, 0));
  }
  devices_.assign(devices.begin(), devices.end());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Owners::Of(int64_t correlation, int64_t start, int64_t device) {
  if (!read_) {
    RETURN_IF_ERROR(ReadCalls());
    read_ = true;
  }
  if (calls_.empty()) return only_;
  const auto begin = std::lower_bound(calls_.begin(), calls_.end(),
                                      std::make_tuple(correlation, INT64_MIN, INT64_MIN)),
             end = std::upper_bound(begin, calls_.end(), std::make_tuple(correlation, INT64_MAX, INT64_MAX));
  if (begin == end) return 0;
  std::set<int64_t> processes;
  for (auto call = begin; call != end; ++call) processes.insert(std::get<2>(*call));
  const auto place = std::lower_bound(devices_.begin(), devices_.end(), device);
  if (processes.size() > 1 && processes.size() == devices_.size() && place != devices_.end())
    return *std::next(processes.begin(), place - devices_.begin());
  const auto after = std::upper_bound(begin, end, std::make_tuple(correlation, start, INT64_MAX));
  return std::get<2>(*std::prev(after == begin ? end : after));
}

}  // namespace chakra::nsys
