// The costs of a collective library's kernels on the device, by the name of the device's generation: files of
// terms/.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"

namespace chakra {

// A CollectiveLibrary in text format that has only terms and kernel_gap_us; "": no file has that name.
absl::string_view TermsText(absl::string_view name);

// Replaces the terms of the library by those that `collectives.library.terms` names, and clears the name.
// Errors: an unknown name, with the nearest one.
absl::Status TakeTerms(proto::Cluster* cluster);

}  // namespace chakra
