// Carries a measured time from one device to another: measured time x the model's time there / its time here.
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

// What a kernel's time is multiplied by, and within what 90 of 100 lie.
struct TimeRatio {
  double ratio = 1, low = 1, high = 1;
  KernelFamily family = KernelFamily::kNone;
  bool sized = false;  // by the kernel's shapes or work; false: by the size that its measured time tells
};

// Between two devices. What the model cannot know of a kernel (its quality, its epilogue) is in the measured
// time and stays.
//
// The call is that of shapes or work (CallsOfKernel). If there is none, or if the model finds the measured
// time to be more than kPlausible times off on the first device (operands are those of an operator, of which
// the kernel may be a small part), the kernel is one of its family of the size at which the model gives the
// measured time on the first device: for streams so many bytes, for products (and experts) a cube, for
// attention one sequence of 16 heads of 128. Copies to and from the host keep their time. Kernels of no
// family get the geometric mean of the least and the most change that the data sheets allow (device_rates.h).
//
// The error is that of both predictions, as if they were independent (in logarithms, in quadrature): errors
// that the devices share fall out of the ratio, so that this is an upper bound.
class Repricer {
 public:
  // The models are borrowed.
  Repricer(const KernelModel& from, const KernelModel& to) : from_(from), to_(to) {}

  // `us`: measured on the first device, >= 0. `calls`: of CallsOfKernel(); `dtype`: of the operands
  // (DtypeOf()), "": not told; `name`: of the kernel.
  TimeRatio Ratio(const FamilyCalls& calls, absl::string_view name, absl::string_view dtype, double us);

  const KernelModel& from() const { return from_; }
  const KernelModel& to() const { return to_; }

 private:
  // The call of a family that takes `us` on the first device; nullopt: the model knows none.
  std::optional<KernelCall> OfSize(KernelFamily family, bool backward, KernelDtype dtype, double us) const;
  std::optional<TimeRatio> Between(const std::vector<KernelCall>& calls, double us) const;
  TimeRatio BySheets(absl::string_view dtype) const;

  const KernelModel& from_;
  const KernelModel& to_;
  std::map<std::tuple<KernelFamily, bool, KernelDtype, int64_t>, std::optional<TimeRatio>> by_size_;
};

inline constexpr double kPlausible = 4;

}  // namespace chakra
