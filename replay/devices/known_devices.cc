#include "replay/devices/known_devices.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/embedded.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace devices {
absl::Span<const EmbeddedFile> Embedded();  // *.txtpb
}  // namespace devices

namespace {

// Without case, separators and vendors.
std::string Plain(absl::string_view name) {
  std::vector<std::string> words;
  for (absl::string_view w : absl::StrSplit(name, absl::ByAnyChar(" -_"), absl::SkipEmpty())) {
    const std::string word = absl::AsciiStrToLower(w);
    if (word == "nvidia" || word == "tesla" || word == "amd" || word == "instinct") continue;
    if (word == "vf") continue;  // a virtual function is the device
    words.push_back(word);
  }
  return absl::StrJoin(words, "");
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

absl::StatusOr<proto::DeviceFile> Parse(const EmbeddedFile& file) {
  proto::DeviceFile out;
  const std::string where = absl::StrCat("replay/devices/", file.name);
  if (absl::Status s = ParseTextMessage(file.text, where, &out); !s.ok()) return s;
  const std::string& name = out.device().name();
  if (name != NameOf(file)) {
    return absl::InternalError(
        absl::StrCat(where, ": device.name is \"", name, "\"; expected the name of the file"));
  }
  if (out.has_energy()) out.mutable_energy()->set_device(name);
  if (out.has_price()) out.mutable_price()->set_device(name);
  if (out.has_footprint()) out.mutable_footprint()->set_device(name);
  return out;
}

}  // namespace

std::vector<std::string> DeviceNames() { return EmbeddedNames(devices::Embedded()); }

const std::vector<proto::DeviceFile>& KnownDevices() {
  static const auto* const kAll = [] {
    auto* all = new std::vector<proto::DeviceFile>;
    for (const EmbeddedFile& file : devices::Embedded()) {
      absl::StatusOr<proto::DeviceFile> device = Parse(file);
      if (!device.ok()) {
        all->clear();
        break;
      }
      all->push_back(*std::move(device));
    }
    return all;
  }();
  return *kAll;
}

absl::StatusOr<std::optional<proto::Device>> KnownDevice(absl::string_view name) {
  const std::string plain = Plain(name);
  if (plain.empty()) return std::nullopt;
  for (const EmbeddedFile& file : devices::Embedded()) {
    if (Plain(NameOf(file)) != plain && !HasAlias(file.text, plain)) continue;
    absl::StatusOr<proto::DeviceFile> found = Parse(file);
    if (!found.ok()) return found.status();
    return std::move(*found->mutable_device());
  }
  return std::nullopt;
}

absl::string_view DeviceText(absl::string_view name) {
  constexpr absl::string_view kBegin = "\ndevice {\n", kEnd = "\n}\n";
  absl::string_view text = FindEmbedded(devices::Embedded(), absl::StrCat(name, ".txtpb"));
  const size_t begin = text.find(kBegin);
  if (begin == absl::string_view::npos) return "";
  text.remove_prefix(begin + kBegin.size());
  return text.substr(0, text.find(kEnd) + 1);
}

std::vector<std::string> PeakDtypes() {
  return {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8"};
}

}  // namespace chakra
