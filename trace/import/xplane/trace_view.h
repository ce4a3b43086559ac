// XProf's and TensorBoard's view of a profile: Chrome's JSON (HOST.trace.json.gz), which lies beside
// *.xplane.pb.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::xplane {

// Whether JSON text begins as a view does.
bool LooksLikeTraceView(absl::string_view head);

// The XSpace that the view shows: its processes are planes, its threads lines, its spans events, with
// arguments as stats. What the profile has beside that (compiled programs, properties of devices) is not in
// it. InvalidArgument, with file: no JSON, or no list of events.
absl::StatusOr<std::string> XSpaceOfTraceView(absl::string_view json, absl::string_view file);

}  // namespace chakra::xplane
