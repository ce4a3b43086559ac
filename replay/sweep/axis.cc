#include "replay/sweep/axis.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/cluster.pb.h"
#include "proto/workload.pb.h"
#include "replay/sweep/words.h"
#include "trace/base/status_macros.h"
#include "trace/generate/workload.h"
#include "trace/io/set_field.h"

namespace chakra::sweep {
namespace {

constexpr uint32_t kMostValues = 1000000;

AxisValue TextValue(const std::string& text) {
  AxisValue out;
  out.text = text;
  double number = 0;
  // strtod() would accept "inf" and "nan", which are names here.
  const bool plain = !text.empty() && text.find_first_not_of("0123456789+-.eE") == text.npos;
  if (plain && absl::SimpleAtod(text, &number) && std::isfinite(number)) {
    out.value = number;
  } else {
    out.value = text;
  }
  return out;
}

absl::Status CheckRange(const proto::ValueRange& r, const std::string& where) {
  if (!std::isfinite(r.from()) || !std::isfinite(r.to()) || !std::isfinite(r.step())) {
    return SpecError(where, "from, to and step are numbers");
  }
  if (r.from() > r.to()) {
    return SpecError(
        where, absl::StrCat("from ", r.from(), " is above to ", r.to(), "; expected the smaller first"));
  }
  if (r.steps() > 0 && r.step() != 0)
    return SpecError(where, "steps and step were given; expected one of them");
  if (r.steps() == 1) return SpecError(absl::StrCat(where, ".steps"), "1, expected at least 2");
  if (r.steps() > kMostValues) {
    return SpecError(absl::StrCat(where, ".steps"),
                     absl::StrCat(r.steps(), ", expected at most ", kMostValues));
  }
  if (r.log() && r.from() <= 0) {
    return SpecError(absl::StrCat(where, ".from"),
                     absl::StrCat(r.from(), ", expected above 0 where log is set"));
  }
  const double least = r.log() ? 1 : 0;
  if (r.step() != 0 && r.step() <= least) {
    return SpecError(absl::StrCat(where, ".step"),
                     absl::StrCat(r.step(), ", expected above ", least,
                                  r.log() ? ", the factor from one value to the next" : ""));
  }
  return absl::OkStatus();
}

absl::Status FillRange(const proto::ValueRange& r, const std::string& where, SweepAxis* out) {
  RETURN_IF_ERROR(CheckRange(r, where));
  if (r.steps() > 0) {
    for (uint32_t i = 0; i < r.steps(); ++i) {
      out->values.push_back(ValueInRange(r, static_cast<double>(i) / (r.steps() - 1)));
    }
  } else if (r.step() > 0) {
    const double length =
        r.log() ? std::log(r.to() / r.from()) / std::log(r.step()) : (r.to() - r.from()) / r.step();
    if (length >= kMostValues) {
      return SpecError(where,
                       absl::StrCat("about ", std::ceil(length), " values, expected at most ", kMostValues));
    }
    const int last = static_cast<int>(std::floor(length + 1e-9));
    for (int i = 0; i <= last; ++i) {
      double v = r.log() ? r.from() * std::pow(r.step(), i) : r.from() + r.step() * i;
      if (r.integer()) v = std::round(v);
      out->values.push_back(NumberValue(v));
    }
  } else {
    out->range = &r;
  }
  // Drops whole numbers that became equal by rounding.
  const auto same = [](const AxisValue& a, const AxisValue& b) { return a.text == b.text; };
  if (r.integer()) {
    out->values.erase(std::unique(out->values.begin(), out->values.end(), same), out->values.end());
  }
  return absl::OkStatus();
}

absl::Status FillChoices(const proto::Axis& axis, const std::string& where, SweepAxis* out) {
  if (axis.sets_case() != proto::Axis::SETS_NOT_SET) {
    return SpecError(where, "choice sets its own fields; expected neither option nor field");
  }
  for (int i = 0; i < axis.choice_size(); ++i) {
    const std::string at = absl::StrCat(where, ".choice[", i, "]");
    AxisValue value = TextValue(axis.choice(i).label());
    if (value.text.empty()) return SpecError(at, "label is missing");
    auto words = SplitWords(axis.choice(i).words());
    if (!words.ok()) return SpecError(absl::StrCat(at, ".words"), words.status().message());
    value.words = *std::move(words);
    out->values.push_back(std::move(value));
  }
  return absl::OkStatus();
}

absl::Status CheckSets(const proto::Axis& axis, const std::string& where, const SweepAxis& made) {
  if (axis.sets_case() == proto::Axis::kOption && axis.option() != "TRACE" &&
      (!absl::StartsWith(axis.option(), "-") || axis.option().find_first_of("= ") != std::string::npos)) {
    return SpecError(
        absl::StrCat(where, ".option"),
        absl::StrCat("\"", axis.option(), "\", expected an option of replay, as --fabric, or TRACE"));
  }
  if (axis.sets_case() != proto::Axis::kField) return absl::OkStatus();
  const proto::Cluster cluster;
  const proto::Workload workload;
  const bool of_workload = generate::IsWorkloadField(axis.field());
  const google::protobuf::Message& type =
      of_workload ? static_cast<const google::protobuf::Message&>(workload) : cluster;
  // For a range that is not drawn yet, only its ends are checked.
  std::vector<AxisValue> values = made.values;
  if (made.range != nullptr) values = {ValueInRange(*made.range, 0), ValueInRange(*made.range, 1)};
  for (const AxisValue& v : values) {
    if (absl::Status s = CheckField(axis.field(), v.text, type); !s.ok()) {
      return SpecError(absl::StrCat(where, ".field"), s.message());
    }
  }
  return absl::OkStatus();
}

}  // namespace

AxisValue NumberValue(double number) {
  AxisValue out;
  // Sums of steps are not exact: use the number that a person would have written.
  const double rounded = std::strtod(absl::StrCat(number).c_str(), nullptr);  // six digits
  if (std::fabs(rounded - number) <= 1e-12 * std::fabs(number)) number = rounded;
  out.value = number;
  out.text = ToText(out.value);
  return out;
}

AxisValue ValueInRange(const proto::ValueRange& r, double share) {
  double v = share >= 1 ? r.to()
             : r.log()  ? r.from() * std::pow(r.to() / r.from(), share)
                        : r.from() + (r.to() - r.from()) * share;
  if (r.integer()) v = std::round(v);
  return NumberValue(std::clamp(v, r.from(), r.to()));
}

absl::StatusOr<SweepAxis> MakeAxis(const proto::Axis& axis, const std::string& where) {
  SweepAxis out;
  out.name = axis.name();
  out.where = where;
  out.option = axis.option();
  out.field = axis.field();
  if (axis.name().empty()) return SpecError(absl::StrCat(where, ".name"), "it is missing");
  if (!IsName(axis.name())) {
    return SpecError(
        absl::StrCat(where, ".name"),
        absl::StrCat("\"", axis.name(), "\", expected letters, digits and _, beginning with no digit"));
  }
  if (IsReservedName(axis.name())) {
    return SpecError(absl::StrCat(where, ".name"),
                     absl::StrCat("\"", axis.name(), "\" is a column of every sweep; expected another name"));
  }
  const int kinds = (axis.value_size() > 0) + axis.has_range() + (axis.choice_size() > 0);
  if (kinds != 1) {
    return SpecError(where, absl::StrCat("axis ", axis.name(),
                                         kinds == 0 ? " has no values" : " has several kinds of values",
                                         "; expected one of value, range and choice"));
  }
  for (const std::string& text : axis.value()) out.values.push_back(TextValue(text));
  if (axis.has_range()) {
    RETURN_IF_ERROR(FillRange(axis.range(), absl::StrCat(where, ".range"), &out));
  }
  if (axis.choice_size() > 0) {
    RETURN_IF_ERROR(FillChoices(axis, where, &out));
  }
  std::set<std::string> seen;
  for (const AxisValue& v : out.values) {
    if (seen.insert(v.text).second) continue;
    return SpecError(where, absl::StrCat("axis ", axis.name(), " has the value \"", v.text, "\" twice"));
  }
  RETURN_IF_ERROR(CheckSets(axis, where, out));
  return out;
}

}  // namespace chakra::sweep
