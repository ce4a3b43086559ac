// Reads XProf's and TensorBoard's view of a profile: JSON in Chrome's format (HOST.trace.json.gz), in the
// same folder as *.xplane.pb.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::xplane {

// Whether a file that begins with `head` is such a view.
bool LooksLikeTraceView(absl::string_view head);

// Returns the XSpace that the view shows: its processes are planes, its threads are lines, its spans are
// events with their arguments as stats. The view lacks other parts of the profile: compiled programs, and
// properties of devices. InvalidArgument, with `file`: no JSON, or no list of events.
absl::StatusOr<std::string> XSpaceOfTraceView(absl::string_view json, absl::string_view file);

}  // namespace chakra::xplane
