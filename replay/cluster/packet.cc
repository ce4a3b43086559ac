#include "replay/cluster/packet.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/cluster/check.h"

namespace chakra {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The parts of a field's name: "xoff_us" is the key xoff in microseconds.
struct Unit {
  const char* suffix;
  const char* unit;
  double nanos;  // 0: bytes
};
constexpr Unit kUnits[] = {{"_bytes", "B", 0}, {"_ns", "ns", 1}, {"_us", "us", 1000}};

std::string KeyOf(const FieldDescriptor& field, const Unit** unit) {
  for (const Unit& u : kUnits) {
    if (!absl::EndsWith(field.name(), u.suffix)) continue;
    *unit = &u;
    return field.name().substr(0, field.name().size() - absl::string_view(u.suffix).size());
  }
  return field.name() == "weight" ? "weights" : field.name();
}

// A number as a user may have written it, and exactly.
std::string Print(double v) {
  std::string text = absl::StrCat(v);
  double back = 0;
  if (!absl::SimpleAtod(text, &back) || back != v) text = absl::StrFormat("%.17g", v);
  return text;
}

absl::StatusOr<std::string> PrintNumber(const std::string& path, double v, const Unit* unit) {
  if (unit == nullptr) return Print(v);
  if (absl::Status s = CheckNumber(path, v, 1e9 / unit->nanos, false); !s.ok()) return s;
  const int64_t picos = Time::FromNanos(v * unit->nanos).picos();
  if (picos % 1000000 == 0) return absl::StrCat(picos / 1000000, "us");
  if (picos % 1000 == 0) return absl::StrCat(picos / 1000, "ns");
  return absl::StrCat(picos, "ps");
}

// A field as the text form has it.
absl::StatusOr<std::string> PrintField(const Message& m, const FieldDescriptor& field, const Unit* unit) {
  const auto& reflection = *m.GetReflection();
  const std::string path = absl::StrCat("packet.", field.name());
  if (field.is_repeated()) {
    std::vector<uint32_t> numbers;
    for (int i = 0; i < reflection.FieldSize(m, &field); ++i) {
      numbers.push_back(reflection.GetRepeatedUInt32(m, &field, i));
    }
    return absl::StrJoin(numbers, "x");
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(m, &field) ? "yes" : "no";
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(reflection.GetUInt32(m, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(reflection.GetUInt64(m, &field), unit == nullptr ? "" : unit->unit);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return PrintNumber(path, reflection.GetDouble(m, &field), unit);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = reflection.GetEnumValue(m, &field);
      if (const auto* value = field.enum_type()->FindValueByNumber(number)) {
        return absl::AsciiStrToLower(value->name());
      }
      std::vector<std::string> names;
      for (int i = 0; i < field.enum_type()->value_count(); ++i)
        names.push_back(field.enum_type()->value(i)->name());
      return BadField(path, absl::StrCat(number), absl::StrJoin(names, ", "));
    }
    default:
      return reflection.GetString(m, &field);
  }
}

absl::Status After(absl::string_view place, const absl::Status& s) {
  return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(place, s.message()));
}

// Unless the key is there already.
void Add(const std::string& key, const std::string& value, NetworkSpec* spec) {
  for (const auto& [other, unused] : spec->set) {
    if (other == key) return;
  }
  spec->set.emplace_back(key, value);
}

}  // namespace

absl::StatusOr<packet::PacketOptions> BuildPacket(const proto::PacketNetwork& packet) {
  absl::StatusOr<NetworkSpec> spec = packet::ParsePacketSpec(packet.options());
  if (!spec.ok()) return After("cluster: ", spec.status());
  std::vector<const FieldDescriptor*> fields;
  packet.GetReflection()->ListFields(packet, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->number() == proto::PacketNetwork::kOptionsFieldNumber) continue;
    const Unit* unit = nullptr;
    const std::string key = KeyOf(*field, &unit);
    absl::StatusOr<std::string> value = PrintField(packet, *field, unit);
    if (!value.ok()) return value.status();
    Add(key, *value, &*spec);
  }
  absl::StatusOr<packet::PacketOptions> options = packet::ReadPacketOptions(*std::move(spec));
  if (!options.ok()) return After("cluster: ", options.status());
  return options;
}

absl::Status SetPacket(const std::string& text, proto::Cluster* cluster) {
  absl::StatusOr<NetworkSpec> spec = packet::ParsePacketSpec(text);
  if (!spec.ok()) return After("--packet: ", spec.status());
  proto::PacketNetwork* packet = cluster->mutable_packet();
  absl::StatusOr<NetworkSpec> before = packet::ParsePacketSpec(packet->options());
  if (!before.ok()) return After("cluster: ", before.status());
  for (const auto& [key, value] : before->set) Add(key, value, &*spec);
  packet->set_options(absl::StrJoin(spec->set, ",", absl::PairFormatter("=")));
  return After("--packet and the ", BuildPacket(*packet).status());
}

}  // namespace chakra
