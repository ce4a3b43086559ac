#include "replay/devices/known_devices.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/embedded.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace devices {
absl::Span<const EmbeddedFile> Embedded();  // *.txtpb
}  // namespace devices

namespace {

bool IsMaker(absl::string_view word) {
  return word == "nvidia" || word == "tesla" || word == "amd" || word == "instinct" ||
         word == "vf";  // a virtual function is the device
}

// Without case, separators and makers.
std::string Plain(absl::string_view name) {
  std::string out;
  size_t word = 0;  // where it begins
  for (const char c : name) {
    if (c != ' ' && c != '-' && c != '_') {
      out += absl::ascii_tolower(static_cast<unsigned char>(c));
      continue;
    }
    if (IsMaker(absl::string_view(out).substr(word))) out.resize(word);
    word = out.size();
  }
  if (IsMaker(absl::string_view(out).substr(word))) out.resize(word);
  return out;
}

absl::string_view NameOf(const EmbeddedFile& file) { return absl::StripSuffix(file.name, ".txtpb"); }

// Whether the file's line of aliases has the name. Read without a parser: a look for a name passes over all
// files.
bool HasAlias(absl::string_view text, absl::string_view plain) {
  constexpr absl::string_view kAlias = "\nalias: [";
  const size_t begin = text.find(kAlias);
  if (begin == absl::string_view::npos) return false;
  text.remove_prefix(begin + kAlias.size());
  for (absl::string_view part : absl::StrSplit(text.substr(0, text.find(']')), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (absl::ConsumePrefix(&part, "\"") && absl::ConsumeSuffix(&part, "\"") && Plain(part) == plain)
      return true;
  }
  return false;
}

// What stands between the braces of `part`, on one line or on several.
absl::string_view PartOf(absl::string_view text, absl::string_view part) {
  const std::string head = absl::StrCat("\n", part, " {");
  const size_t begin = text.find(head);
  if (begin == absl::string_view::npos) return "";
  text.remove_prefix(begin + head.size());
  if (absl::ConsumePrefix(&text, "\n")) return text.substr(0, text.find("\n}\n") + 1);
  return absl::StripSuffix(text.substr(0, text.find('\n')), "}");
}

}  // namespace

std::vector<std::string> DeviceNames() { return EmbeddedNames(devices::Embedded()); }

absl::StatusOr<std::optional<proto::Device>> KnownDevice(absl::string_view name) {
  const std::string plain = Plain(name);
  if (plain.empty()) return std::nullopt;
  for (const EmbeddedFile& file : devices::Embedded()) {
    if (Plain(NameOf(file)) != plain && !HasAlias(file.text, plain)) continue;
    proto::Device found;
    RETURN_IF_ERROR(ParseTextMessage(PartOf(file.text, "device"), file.name, &found));
    return found;
  }
  return std::nullopt;
}

absl::string_view DeviceFileText(absl::string_view name) {
  return FindEmbedded(devices::Embedded(), absl::StrCat(name, ".txtpb"));
}

absl::string_view DevicePart(absl::string_view name, absl::string_view part) {
  return PartOf(DeviceFileText(name), part);
}

std::vector<std::string> PeakDtypes() {
  return {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8"};
}

}  // namespace chakra
