#include "replay/economics/tables.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "replay/cluster/devices.h"
#include "replay/devices/known_devices.h"
#include "replay/economics/act.h"
#include "replay/energy/model.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/embedded.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"
#include "trace/io/settings.h"

namespace chakra::economics {
namespace built_in {
absl::Span<const EmbeddedFile> Embedded();  // the *.txtpb files of this folder
}  // namespace built_in

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using proto::Figure;

constexpr char kBuiltIn[] = "built-in";

absl::Status CheckFigure(const std::string& field, const Figure& f) {
  const auto bad = [&](const char* of, double value, const std::string& expected) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s.%s is %g; expected %s", field, of, value, expected));
  };
  if (!(f.value() >= 0) || !std::isfinite(f.value())) return bad("value", f.value(), "at least 0");
  if (f.low() == 0 && f.high() == 0) return absl::OkStatus();
  if (!(f.low() >= 0 && f.low() <= f.value()))
    return bad("low", f.low(), absl::StrCat("0 to value, ", f.value()));
  if (!(f.high() >= f.value())) return bad("high", f.high(), absl::StrCat("at least value, ", f.value()));
  return absl::OkStatus();
}

// Checks the figures of a message and of its repeated messages. `needed`: absent figures of `message` are
// errors.
absl::Status CheckAll(const Message& message, const std::string& place, bool needed) {
  const auto& in = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->message_type() == nullptr) continue;
    const std::string at = absl::StrCat(place, field->name());
    if (field->is_repeated()) {
      for (int n = 0; n < in.FieldSize(message, field); ++n) {
        const Message& inner = in.GetRepeatedMessage(message, field, n);
        RETURN_IF_ERROR(CheckAll(inner, absl::StrCat(at, "[", n, "]."), false));
      }
    } else if (!in.HasField(message, field)) {
      if (needed && field->message_type() == Figure::descriptor())
        return absl::InvalidArgumentError(absl::StrCat(at, " is missing; expected a value"));
    } else if (field->message_type() == Figure::descriptor()) {
      RETURN_IF_ERROR(CheckFigure(at, static_cast<const Figure&>(in.GetMessage(message, field))));
    }
  }
  return absl::OkStatus();
}

absl::Status Above(const char* field, double value, double above) {
  if (value > above) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("%s is %g; expected more than %g", field, value, above));
}

absl::Status CheckPrices(const proto::Prices& prices) {
  RETURN_IF_ERROR(CheckAll(prices, "", true));
  for (int i = 0; i < prices.device_size(); ++i) {
    const proto::DevicePrice& d = prices.device(i);
    const std::string at = absl::StrCat("device[", i, "].");
    if (d.device().empty())
      return absl::InvalidArgumentError(absl::StrCat(at, "device is empty; expected a device"));
    if (!d.has_device_dollars() || !d.has_host_dollars()) {
      return absl::InvalidArgumentError(
          absl::StrCat(at, d.has_device_dollars() ? "host_dollars" : "device_dollars", " of ", d.device(),
                       " is missing; expected a value"));
    }
  }
  RETURN_IF_ERROR(Above("lifetime_years.low", energy::Low(prices.lifetime_years()), 0));
  RETURN_IF_ERROR(Above("used_share.low", energy::Low(prices.used_share()), 0));
  if (energy::High(prices.used_share()) > 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("used_share.high is %g; expected at most 1", energy::High(prices.used_share())));
  }
  return absl::OkStatus();
}

absl::Status CheckGrid(const proto::Grid& grid) {
  RETURN_IF_ERROR(CheckAll(grid, "", false));
  if (!grid.has_grams_per_kwh() && grid.hourly_grams_per_kwh_size() == 0)
    return absl::InvalidArgumentError("grams_per_kwh is missing; expected a value, or hourly_grams_per_kwh");
  for (int i = 0; i < grid.hourly_grams_per_kwh_size(); ++i) {
    const double grams = grid.hourly_grams_per_kwh(i);
    if (grams >= 0 && std::isfinite(grams)) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("hourly_grams_per_kwh[%d] is %g; expected at least 0", i, grams));
  }
  if (grid.hourly_grams_per_kwh_size() > 0) {
    if (const auto first = ParseMoment(grid.first_hour()); !first.ok())
      return absl::InvalidArgumentError(absl::StrCat("first_hour: ", first.status().message()));
  }
  RETURN_IF_ERROR(Above("device_years.low", energy::Low(grid.device_years()), 0));
  RETURN_IF_ERROR(Above("used_share.low", energy::Low(grid.used_share()), 0));
  RETURN_IF_ERROR(CheckFab(grid.fab()).status());
  for (int i = 0; i < grid.embodied_size(); ++i) {
    for (const auto* parts : {&grid.embodied(i).part(), &grid.embodied(i).host_part()}) {
      for (const proto::EmbodiedPart& part : *parts) {
        if (const auto kg = EmbodiedKg(part, grid.fab()); !kg.ok())
          return absl::InvalidArgumentError(absl::StrCat("embodied[", i, "]: ", kg.status().message()));
      }
    }
  }
  return absl::OkStatus();
}

std::string PlainName(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    out += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return out;
}

// Rows of `over` replace the rows of the same device in `base`.
template <typename Row>
void MergeRows(const google::protobuf::RepeatedPtrField<Row>& over,
               google::protobuf::RepeatedPtrField<Row>* base) {
  for (const Row& row : over) {
    const auto same =
        std::find_if(base->begin(), base->end(), [&](const Row& b) { return b.device() == row.device(); });
    if (same == base->end()) {
      *base->Add() = row;
    } else {
      *same = row;
    }
  }
}

template <typename Row>
const Row* RowOf(const google::protobuf::RepeatedPtrField<Row>& rows, const std::string& device) {
  for (const Row& row : rows) {
    if (row.device() == device) return &row;
  }
  const auto known = device.empty() ? absl::NotFoundError("") : FindDevice(device);
  if (!known.ok()) return nullptr;
  for (const Row& row : rows) {
    if (row.device() == known->name()) return &row;
  }
  return nullptr;
}

bool IsFile(const std::string& name) {
  struct stat unused;
  return ::stat(name.c_str(), &unused) == 0;
}

// Fields that are set in `over` replace those of `base`; the others stay.
template <typename Table>
void MergeTable(Table over, Table* base) {
  std::vector<const FieldDescriptor*> set;
  over.GetReflection()->ListFields(over, &set);
  for (const FieldDescriptor* field : set) base->GetReflection()->ClearField(base, field);
  base->MergeFrom(over);
}

// Reads a built-in file of this folder.
absl::Status ReadBuiltIn(const char* name, Message* message) {
  return ParseTextMessage(FindEmbedded(built_in::Embedded(), name), absl::StrCat("replay/economics/", name),
                          message);
}

absl::StatusOr<proto::Grids> BuiltInGrids() {
  proto::Grids grids;
  RETURN_IF_ERROR(ReadBuiltIn("grids.txtpb", &grids));
  return grids;
}

absl::Status InFile(const std::string& file, const absl::Status& s) {
  return absl::Status(s.code(), absl::StrCat(file, ": ", s.message()));
}

}  // namespace

absl::StatusOr<proto::Prices> LoadPrices(const std::string& file) {
  proto::Prices prices;
  RETURN_IF_ERROR(ReadBuiltIn("prices.txtpb", &prices));
  RETURN_IF_ERROR(AddDeviceParts("price", prices.mutable_device()));
  if (file == kBuiltIn) return prices;
  proto::Prices given;
  RETURN_IF_ERROR(ReadMessageFile(file, &given));
  if (absl::Status s = CheckAll(given, "", false); !s.ok()) return InFile(file, s);
  if (given.name().empty()) given.set_name(file);
  MergeRows(given.device(), prices.mutable_device());
  given.clear_device();
  MergeTable(given, &prices);
  if (absl::Status s = CheckPrices(prices); !s.ok()) return InFile(file, s);
  return prices;
}

std::vector<std::string> Regions() {
  std::vector<std::string> names;
  const auto grids = BuiltInGrids();
  if (!grids.ok()) return names;
  for (const proto::Grid& region : grids->region()) names.push_back(region.region());
  return names;
}

absl::StatusOr<proto::Grid> LoadGrid(const std::string& region_or_file) {
  ASSIGN_OR_RETURN(proto::Grids built_in, BuiltInGrids());
  proto::Grid grid = std::move(*built_in.mutable_common());
  RETURN_IF_ERROR(AddDeviceParts("footprint", grid.mutable_embodied()));
  for (const proto::Grid& region : built_in.region()) {
    if (PlainName(region.region()) != PlainName(region_or_file)) continue;
    grid.MergeFrom(region);
    return grid;
  }
  if (!IsFile(region_or_file)) {
    return absl::NotFoundError(absl::StrCat("--grid \"", region_or_file, "\" is neither a region nor a file",
                                            SuggestName(region_or_file, Regions())));
  }
  proto::Grid given;
  RETURN_IF_ERROR(ReadMessageFile(region_or_file, &given));
  if (given.region().empty()) given.set_region(region_or_file);
  MergeRows(given.embodied(), grid.mutable_embodied());
  given.clear_embodied();
  MergeTable(given, &grid);
  if (absl::Status s = CheckGrid(grid); !s.ok()) return InFile(region_or_file, s);
  return grid;
}

const proto::DevicePrice* PriceOf(const proto::Prices& prices, const std::string& device) {
  return RowOf(prices.device(), device);
}

const proto::Embodied* EmbodiedOf(const proto::Grid& grid, const std::string& device) {
  return RowOf(grid.embodied(), device);
}

absl::StatusOr<double> ParseMoment(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a time; expected a time as 2026-03-01T12:00:00Z"));
  }
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

double MeanIntensity(const proto::Grid& grid, double start, double seconds) {
  const int hours = grid.hourly_grams_per_kwh_size();
  if (hours == 0) return grid.grams_per_kwh().value();
  const auto first = ParseMoment(grid.first_hour());
  const double begin = (start - first.value_or(0)) / 3600, end = begin + std::max(seconds, 1e-9) / 3600;
  const double span = hours;
  // Whole rounds of the list, then the rest of one round.
  double whole = 0;
  for (const double grams : grid.hourly_grams_per_kwh()) whole += grams;
  const double rounds = std::floor((end - begin) / span);
  double sum = rounds * whole;
  double at = begin + rounds * span;
  while (at < end) {
    const double hour = std::floor(at), stop = std::min(end, hour + 1);
    const auto index = static_cast<int>(hour - span * std::floor(hour / span));
    sum += (stop - at) * grid.hourly_grams_per_kwh(std::min(index, hours - 1));
    if (stop <= at) break;
    at = stop;
  }
  return sum / (end - begin);
}

}  // namespace chakra::economics
