// Makes the values of one axis of a sweep.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/sweep.pb.h"
#include "replay/sweep/space.h"

namespace chakra::sweep {

// Makes an axis and its values. Errors (InvalidArgument) begin with `where`, the path of the axis in the
// spec.
absl::StatusOr<SweepAxis> MakeAxis(const proto::Axis& axis, const std::string& where);

// The value of a range at `share` (in [0, 1]) of its length.
AxisValue ValueInRange(const proto::ValueRange& range, double share);

// A number as a value of an axis.
AxisValue NumberValue(double number);

}  // namespace chakra::sweep
