#include "replay/cluster/presets.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "replay/cluster/terms.h"
#include "replay/devices/known_devices.h"
#include "trace/base/embedded.h"

namespace chakra {
namespace machines {
absl::Span<const EmbeddedFile> Embedded();  // the files of machines/
}  // namespace machines

namespace {

// The name in a line that consists of `before`, a name in quotes, and `after`; "": the line has another form.
absl::string_view NameIn(absl::string_view line, absl::string_view before, absl::string_view after) {
  line = absl::StripAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, before) || !absl::ConsumeSuffix(&line, after)) return "";
  return absl::StripSuffix(absl::StripPrefix(line, "\""), "\"");
}

void AddIndented(absl::string_view text, absl::string_view indent, std::string* out) {
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n'))
    absl::StrAppend(out, line.empty() ? "" : indent, line, "\n");
}

// The text with the names of a device and of terms replaced by the text that they refer to.
std::string Whole(absl::string_view text) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    const absl::string_view indent = line.substr(0, line.find_first_not_of(' '));
    if (const auto device = NameIn(line, "device { name: ", " }"); !device.empty()) {
      absl::StrAppend(&out, "device {\n", DevicePart(device, "device"), "}\n");
    } else if (const auto terms = NameIn(line, "terms: ", ""); !terms.empty()) {
      AddIndented(TermsText(terms), indent, &out);
    } else {
      absl::StrAppend(&out, line, "\n");
    }
  }
  return out;
}

absl::string_view FileOf(absl::string_view name) {
  return FindEmbedded(machines::Embedded(), absl::StrCat(name, ".txtpb"));
}

}  // namespace

bool IsPreset(absl::string_view name) { return !FileOf(name).empty(); }

std::string PresetText(absl::string_view name) {
  const absl::string_view text = FileOf(name);
  return text.empty() || absl::StrContains(text, "\nbase: ") ? std::string(text) : Whole(text);
}

std::vector<std::string> PresetNames() { return EmbeddedNames(machines::Embedded()); }

}  // namespace chakra
