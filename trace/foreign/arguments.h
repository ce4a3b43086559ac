// The arguments of a command line or of a script.
#pragma once

#include "absl/strings/string_view.h"
#include "trace/foreign/keys.h"

namespace chakra::foreign {

// Reads "--some-key value" as the key "some_key", and a flag as "true". Names of variables, as ${TP}, are
// replaced by the values that the script gives them before.
void ReadArguments(absl::string_view content, ForeignKeys* keys);

}  // namespace chakra::foreign
