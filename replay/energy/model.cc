#include "replay/energy/model.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "google/protobuf/reflection.h"
#include "replay/cluster/devices.h"
#include "replay/devices/known_devices.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/embedded.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"
#include "trace/io/settings.h"

namespace chakra::energy {
namespace built_in {
absl::Span<const EmbeddedFile> Embedded();  // model.txtpb
}  // namespace built_in

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using proto::Figure;

constexpr char kDefault[] = "default";
constexpr double kDefaultSpan =
    1000;  // watts between resident and rated that the default profile is written for

const proto::PowerProfile* ProfileIn(const proto::EnergyModel& model, const std::string& device) {
  for (const proto::PowerProfile& p : model.profile()) {
    if (p.device() == device) return &p;
  }
  return nullptr;
}

std::vector<std::string> ProfileNames(const proto::EnergyModel& model) {
  std::vector<std::string> names;
  for (const proto::PowerProfile& p : model.profile()) {
    if (p.device() != kDefault) names.push_back(p.device());
  }
  return names;
}

// Overwrites fields of `base` by those set in `over`. A figure is replaced as a whole.
void Replace(const Message& over, Message* base) {
  const auto& from = *over.GetReflection();
  const auto& to = *base->GetReflection();
  std::vector<const FieldDescriptor*> set;
  from.ListFields(over, &set);
  for (const FieldDescriptor* field : set) {
    if (field->is_repeated()) continue;
    if (field->message_type() == nullptr) {
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_INT32:
          to.SetInt32(base, field, from.GetInt32(over, field));
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          to.SetBool(base, field, from.GetBool(over, field));
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          to.SetString(base, field, from.GetString(over, field));
          break;
        default:
          to.SetDouble(base, field, from.GetDouble(over, field));
      }
    } else if (field->message_type() == Figure::descriptor()) {
      to.MutableMessage(base, field)->CopyFrom(from.GetMessage(over, field));
    } else {
      Replace(from.GetMessage(over, field), to.MutableMessage(base, field));
    }
  }
}

// Checks that each figure's range contains its value.
absl::Status CheckFigures(const Message& message, const std::string& place) {
  const auto& in = *message.GetReflection();
  std::vector<const FieldDescriptor*> set;
  in.ListFields(message, &set);
  for (const FieldDescriptor* field : set) {
    if (field->message_type() == nullptr) continue;
    const int count = field->is_repeated() ? in.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const Message& inner =
          field->is_repeated() ? in.GetRepeatedMessage(message, field, i) : in.GetMessage(message, field);
      const std::string at = absl::StrCat(place, place.empty() ? "" : ".", field->name(),
                                          field->is_repeated() ? absl::StrCat("[", i, "]") : "");
      RETURN_IF_ERROR(CheckFigures(inner, at));
      if (field->message_type() != Figure::descriptor()) continue;
      const auto& figure = static_cast<const Figure&>(inner);
      if (figure.low() == 0 && figure.high() == 0) continue;
      if (figure.low() <= figure.value() && figure.value() <= figure.high()) continue;
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.value is %g; expected it between its low, %g, and its high, %g", at,
                          figure.value(), figure.low(), figure.high()));
    }
  }
  return absl::OkStatus();
}

void Scale(double by, Figure* figure) {
  figure->set_value(figure->value() * by);
  figure->set_low(figure->low() * by);
  figure->set_high(figure->high() * by);
}

// Fills what the device's profile lacks, by shares of the range between resident and rated power.
void FillPower(const proto::DevicePower& shares, proto::DevicePower* power) {
  const double rated = power->most_watts().value();
  for (const auto& [mutable_figure, has, share] :
       {std::tuple{&proto::DevicePower::mutable_idle_watts, power->has_idle_watts(), &shares.idle_watts()},
        std::tuple{&proto::DevicePower::mutable_resident_watts, power->has_resident_watts(),
                   &shares.resident_watts()}}) {
    if (has) continue;
    *(power->*mutable_figure)() = *share;
    Scale(rated / kDefaultSpan, (power->*mutable_figure)());
  }
  const double span = std::max(0.0, rated - power->resident_watts().value());
  const std::tuple<Figure* (proto::DevicePower::*)(), bool, const Figure*> rest[] = {
      {&proto::DevicePower::mutable_busy_watts, power->has_busy_watts(), &shares.busy_watts()},
      {&proto::DevicePower::mutable_tensor_watts, power->has_tensor_watts(), &shares.tensor_watts()},
      {&proto::DevicePower::mutable_issue_watts, power->has_issue_watts(), &shares.issue_watts()},
      {&proto::DevicePower::mutable_memory_watts, power->has_memory_watts(), &shares.memory_watts()},
      {&proto::DevicePower::mutable_link_watts, power->has_link_watts(), &shares.link_watts()},
      {&proto::DevicePower::mutable_wait_watts, power->has_wait_watts(), &shares.wait_watts()},
      {&proto::DevicePower::mutable_copy_watts, power->has_copy_watts(), &shares.copy_watts()}};
  for (const auto& [figure, has, share] : rest) {
    if (has) continue;
    *(power->*figure)() = *share;
    Scale(span / kDefaultSpan, (power->*figure)());
  }
}

double VoltageAt(const proto::FrequencyCurve& curve, double clock) {
  if (clock <= curve.knee()) return curve.least_voltage();
  return curve.least_voltage() + (1 - curve.least_voltage()) * (clock - curve.knee()) / (1 - curve.knee());
}

double DynamicShare(const proto::FrequencyCurve& curve, double clock) {
  const double voltage = VoltageAt(curve, clock);
  return clock * voltage * voltage;
}

absl::Status BadCap(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--power-cap ", text, ": ", what));
}

// Parses a power with its unit; returns watts, or < 0 if the text is not a power.
double Watts(absl::string_view text) {
  double number = 0;
  absl::string_view unit;
  if (!SplitQuantity(text, &number, &unit)) return -1;
  if (unit == "W") return number;
  if (unit == "kW") return number * 1e3;
  return unit == "MW" ? number * 1e6 : -1;
}

}  // namespace

const proto::EnergyModel& BuiltInModel() {
  static const auto* const kBuiltIn = [] {
    auto* model = new proto::EnergyModel;
    const absl::string_view text = FindEmbedded(built_in::Embedded(), "model.txtpb");
    if (!ParseTextMessage(text, "replay/energy/model.txtpb", model).ok() ||
        !AddDeviceParts("energy", model->mutable_profile()).ok())
      model->Clear();
    return model;
  }();
  return *kBuiltIn;
}

double Low(const Figure& f) { return f.low() == 0 && f.high() == 0 ? f.value() : f.low(); }
double High(const Figure& f) { return f.low() == 0 && f.high() == 0 ? f.value() : f.high(); }

absl::StatusOr<proto::EnergyModel> LoadEnergyModel(const std::string& file) {
  proto::EnergyModel model = BuiltInModel();
  if (model.profile_size() == 0) return absl::InternalError("the built-in constants of energy do not parse");
  if (file.empty()) return model;
  proto::EnergyModel given;
  RETURN_IF_ERROR(ReadMessageFile(file, &given));
  const std::string place = absl::StrCat(file, ": ");
  RETURN_IF_ERROR(CheckSettings(given, place));
  if (absl::Status s = CheckFigures(given, ""); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat(place, s.message()));
  std::set<std::string> seen;
  for (int i = 0; i < given.profile_size(); ++i) {
    const proto::PowerProfile& p = given.profile(i);
    const std::string at = absl::StrCat(place, "profile[", i, "].device");
    if (p.device().empty())
      return absl::InvalidArgumentError(absl::StrCat(at, " is empty; expected a device"));
    if (!seen.insert(p.device()).second)
      return absl::InvalidArgumentError(absl::StrCat(at, " is \"", p.device(), "\", which is given twice"));
    proto::PowerProfile* base = nullptr;
    for (proto::PowerProfile& b : *model.mutable_profile()) base = b.device() == p.device() ? &b : base;
    if (base == nullptr) base = model.add_profile();
    Replace(p, base);
  }
  Replace(given.network(), model.mutable_network());
  if (given.has_pue()) *model.mutable_pue() = given.pue();
  if (given.has_site_fixed_share()) *model.mutable_site_fixed_share() = given.site_fixed_share();
  if (model.site_fixed_share().value() > 1) {
    return absl::InvalidArgumentError(absl::StrFormat("%ssite_fixed_share.value is %g; expected 0 to 1",
                                                      place, model.site_fixed_share().value()));
  }
  if (model.pue().value() < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%spue.value is %g; expected at least 1", place, model.pue().value()));
  }
  return model;
}

absl::StatusOr<Constants> ConstantsOf(const proto::EnergyModel& model, const std::string& device) {
  Constants out;
  const proto::PowerProfile* known = ProfileIn(model, device);
  if (known == nullptr && !device.empty()) {
    if (const auto found = FindDevice(device); found.ok()) known = ProfileIn(model, found->name());
  }
  const proto::PowerProfile* shares = ProfileIn(model, kDefault);
  if (known == nullptr || shares == nullptr || known->power().most_watts().value() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--energy: the power of the device ", device.empty() ? "(the cluster names none)" : "",
        device.empty() ? "" : absl::StrCat("\"", device, "\""),
        " is not known; expected a file with profile { device: \"", device,
        "\" power { most_watts { value: ... } } }, or another device",
        NearestOfKnown(device, ProfileNames(model))));
  }
  out.profile = *shares;
  out.profile.mutable_power()->Clear();
  Replace(*known, &out.profile);
  const proto::DevicePower& own = known->power();
  out.assumed = !own.has_tensor_watts() || !own.has_resident_watts();
  FillPower(shares->power(), out.profile.mutable_power());
  proto::DevicePower* power = out.profile.mutable_power();
  const double room = power->most_watts().value() - power->resident_watts().value();
  if (std::max(power->busy_watts().value(), power->wait_watts().value()) > room) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--energy: profile \"%s\": resident_watts, %g, and busy_watts or wait_watts are above most_watts, %g",
        known->device(), power->resident_watts().value(), power->most_watts().value()));
  }
  out.network = model.network();
  out.pue = model.pue();
  out.site_fixed_share = model.site_fixed_share();
  return out;
}

double LeastShare(const proto::FrequencyCurve& curve) { return DynamicShare(curve, kLeastClock); }

double SlowdownAt(const proto::FrequencyCurve& curve, double share) {
  if (share >= 1) return 1;
  double low = kLeastClock, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (DynamicShare(curve, middle) > share ? high : low) = middle;
  }
  return curve.compute_share() / low + 1 - curve.compute_share();
}

absl::Status SetCap(absl::string_view text, Constants* constants) {
  const absl::string_view whole = text;
  const bool rack = absl::ConsumePrefix(&text, "rack=");
  if (!rack) absl::ConsumePrefix(&text, "device=");
  const double watts = Watts(text);
  if (watts < 0) return BadCap(whole, "expected watts, as 500W, device=500W or rack=40kW");
  const proto::DevicePower& power = constants->profile.power();
  const proto::NodePower& node = constants->profile.node();
  const double most = power.most_watts().value();
  const double floor =
      power.resident_watts().value() + std::max(power.busy_watts().value(), power.wait_watts().value());
  const double least = floor + LeastShare(constants->profile.frequency()) * (most - floor);
  const double hosts = node.nodes_per_rack() * node.host_watts().value();
  const double extra = (1 + node.fans_share().value()) * (1 + node.supply_loss_share().value());
  const int devices = node.nodes_per_rack() * node.devices();
  const double cap = rack ? (watts / extra - hosts) / devices : watts;
  if (cap < least) {
    const double needed = rack ? (least * devices + hosts) * extra : least;
    return BadCap(
        whole, absl::StrFormat(
                   "%s cannot be held: %s resident with a kernel running draws %g W, and %g W at a tenth of "
                   "its clock; expected at least %.0fW",
                   rack ? "a rack of such devices" : "it", constants->profile.device(), floor, least,
                   std::ceil(needed)));
  }
  constants->cap_watts = std::min(cap, most);
  return absl::OkStatus();
}

DeviceLevels LevelsOf(const Constants& constants) {
  const proto::DevicePower& power = constants.profile.power();
  DeviceLevels levels;
  levels.resident = ToMilliwatts(power.resident_watts().value());
  levels.busy = ToMilliwatts(power.busy_watts().value());
  levels.wait = ToMilliwatts(power.wait_watts().value());
  levels.most = ToMilliwatts(constants.cap_watts > 0 ? constants.cap_watts : power.most_watts().value());
  return levels;
}

std::vector<NamedFigure> FiguresOf(const Constants& constants) {
  std::vector<NamedFigure> out;
  const auto add = [&out](const Message& message) {
    const auto& in = *message.GetReflection();
    const auto* type = message.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      if (type->field(i)->message_type() != Figure::descriptor()) continue;
      out.push_back(
          {type->field(i)->name(), static_cast<const Figure*>(&in.GetMessage(message, type->field(i)))});
    }
  };
  add(constants.profile.power());
  add(constants.profile.node());
  add(constants.network);
  out.push_back({"pue", &constants.pue});
  if (constants.site_fixed_share.value() > 0)
    out.push_back({"site_fixed_share", &constants.site_fixed_share});
  return out;
}

}  // namespace chakra::energy
