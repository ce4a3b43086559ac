#include "trace/generate/presets.h"

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/embedded.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra::generate {
namespace models {
absl::Span<const EmbeddedFile> Embedded();  // the files in models/
}  // namespace models

absl::StatusOr<proto::Model> FindPreset(absl::string_view name) {
  const absl::string_view text = FindEmbedded(models::Embedded(), absl::StrCat(name, ".txtpb"));
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no model \"", name, "\"", SuggestName(name, PresetNames())));
  }
  proto::Model model;
  RETURN_IF_ERROR(ParseTextMessage(text, absl::StrCat("model ", name), &model));
  model.set_preset(std::string(name));
  return model;
}

std::vector<std::string> PresetNames() { return EmbeddedNames(models::Embedded()); }

}  // namespace chakra::generate
