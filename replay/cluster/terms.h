// What a collective library's kernels take on the device, by the name of its generation: files of terms/.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"

namespace chakra {

// The text format of a CollectiveLibrary that has terms and kernel_gap_us alone; "": none has that name.
absl::string_view TermsText(absl::string_view name);

// Puts the terms that `collectives.library.terms` names in the place of those that are there, and clears the
// name. Errors: a name that is not known, with the nearest one.
absl::Status TakeTerms(proto::Cluster* cluster);

}  // namespace chakra
