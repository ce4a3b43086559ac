// Constants of a transport that the user gives in place of those of a published set.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/topology/spec.h"

namespace chakra::packet {

// Each call reads its key into `value` where the user gave it; what he did not
// give keeps its value. status() tells of the first that is wrong.
class Overrides {
 public:
  explicit Overrides(const Parameters& parameters) : p_(parameters) {}

  void Number(absl::string_view key, double least, double most, double* value) {
    if (Wanted(key)) Take(p_.Number(key, least, most), value);
  }
  void Count(absl::string_view key, int least, int most, int* value) {
    if (Wanted(key)) Take(p_.Count(key, least, most), value);
  }
  void Flag(absl::string_view key, bool* value) {
    if (Wanted(key)) Take(p_.Flag(key), value);
  }
  void Bytes(absl::string_view key, uint64_t least, uint64_t most, double* value) {
    if (Wanted(key)) Take(p_.Bytes(key, least, most), value);
  }
  // In bytes a picosecond.
  void Rate(absl::string_view key, double* value) {
    if (!Wanted(key)) return;
    const auto rate = p_.Rate(key);
    if (!rate.ok()) status_ = rate.status();
    if (rate.ok()) *value = static_cast<double>(rate->bytes_per_second()) * 1e-12;
  }
  // In picoseconds; at least kLeastSpan, for a timer that is due all the time lets no time pass.
  void Span(absl::string_view key, int64_t* value) {
    if (!Wanted(key)) return;
    const auto span = p_.Latency(key);
    if (!span.ok()) {
      status_ = span.status();
    } else if (*span < kLeastSpan) {
      status_ = p_.Bad(key, "at least 100ns, the nearest");
    } else {
      *value = span->picos();
    }
  }
  // `reason` says why the key has no meaning beside the others.
  void Refuse(absl::string_view key, absl::string_view reason) {
    if (Wanted(key)) status_ = p_.Bad(key, reason);
  }
  const absl::Status& status() const { return status_; }

  static constexpr Time kLeastSpan = Time::Nanos(100);

 private:
  bool Wanted(absl::string_view key) const { return status_.ok() && p_.Given(key); }
  template <typename From, typename To>
  void Take(const absl::StatusOr<From>& from, To* to) {
    if (!from.ok()) status_ = from.status();
    if (from.ok()) *to = static_cast<To>(*from);
  }

  const Parameters& p_;
  absl::Status status_;
};

}  // namespace chakra::packet
