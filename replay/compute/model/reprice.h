// Transfers a measured time from one device to another: measured time x the model's time there / its time
// here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "replay/compute/model/calls.h"
#include "replay/compute/model/kernel_model.h"

namespace chakra {

// The factor on a kernel's time, and the range in which 90 of 100 factors are.
struct TimeRatio {
  double ratio = 1, low = 1, high = 1;
  KernelFamily family = KernelFamily::kNone;
  bool sized = false;  // the kernel's shapes or work gave its size; false: its measured time gave the size
};

// The ratio of times on two devices. The properties of a kernel that the model does not know (its quality,
// its epilogue) are in the measured time and stay.
//
// The call is that of shapes or work (CallsOfKernel). Its modelled time on the first device may be off the
// measured time by a factor of at most kPlausible (operands are those of an operator, and the kernel may be a
// small part of the operator). If it is further off, or there is no call, the kernel is a call of its family
// of the size for which the model gives the measured time on the first device: a number of bytes for streams,
// a cube for GEMMs and experts, one sequence of 16 heads of 128 for attention. Copies to and from the host
// keep their time. Kernels of no family get the geometric mean of the smallest and the largest change that
// the data sheets allow (device_rates.h).
//
// The range is that of both predictions, as if their errors were independent (in logarithms, in quadrature).
// Errors that the devices share cancel in the ratio, so the range is an upper bound.
class Repricer {
 public:
  // The models are not owned.
  Repricer(const KernelModel& from, const KernelModel& to) : from_(from), to_(to) {}

  // `us`: the time measured on the first device, >= 0. `calls`: from CallsOfKernel(). `dtype`: of the
  // operands (DtypeOf()); "": unknown. `name`: of the kernel.
  TimeRatio Ratio(const FamilyCalls& calls, absl::string_view name, absl::string_view dtype, double us);

  const KernelModel& from() const { return from_; }
  const KernelModel& to() const { return to_; }

 private:
  // The call of a family that takes `us` on the first device; nullopt: the model cannot price the family.
  std::optional<KernelCall> OfSize(KernelFamily family, bool backward, KernelDtype dtype, double us) const;
  std::optional<TimeRatio> Between(const std::vector<KernelCall>& calls, double us) const;
  TimeRatio BySheets(absl::string_view dtype) const;

  const KernelModel& from_;
  const KernelModel& to_;
  std::map<std::tuple<KernelFamily, bool, KernelDtype, int64_t>, std::optional<TimeRatio>> by_size_;
};

inline constexpr double kPlausible = 4;

}  // namespace chakra
