// Models by the names that HuggingFace and MaxText give them.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"

namespace chakra::foreign {

// The preset (trace/generate/presets.h) of an id "meta-llama/Llama-3.1-8B", or of MaxText's "llama3.1-8b";
// "": none.
std::string PresetOf(absl::string_view id);
// All presets that PresetOf() returns.
std::vector<std::string> PresetsOfIds();

// Sets `model.preset`, or `model.config` if the value of the key is a folder with a config.json, unless
// another option gives the model. Error of `keys`: an id without a preset, with the options that give the
// model.
void TakeModelId(absl::string_view names, const Source& source, ForeignKeys& keys, proto::Workload* out);

}  // namespace chakra::foreign
