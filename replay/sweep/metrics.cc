#include "replay/sweep/metrics.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/report/columns.h"
#include "replay/sweep/space.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra::sweep {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kBytes[] = "bytes_";

// The metrics of MachineCounts, with their places among those of reports.
struct MachineMetric {
  const char* name;
  int64_t MachineCounts::*of;
  int place;
};
constexpr MachineMetric kOfMachine[] = {{"devices", &MachineCounts::devices, 170},
                                        {"switches", &MachineCounts::switches, 180},
                                        {"links", &MachineCounts::links, 190},
                                        {"switch_ports", &MachineCounts::switch_ports, 200},
                                        {"injection_bytes_per_s", &MachineCounts::injection_bytes_per_s, 210},
                                        {"cable_bytes_per_s", &MachineCounts::cable_bytes_per_s, 220}};

// A field that a sweep keeps.
struct KeptField {
  const FieldDescriptor* in;  // the field of Report whose messages have `field`; null: Report itself has it
  const FieldDescriptor* field;
  const proto::Kept* kept;
};

const std::vector<KeptField>& KeptFields() {
  static const auto* const kFields = [] {
    auto* fields = new std::vector<KeptField>;
    const auto add = [&](const FieldDescriptor* in, const Descriptor& type) {
      for (int i = 0; i < type.field_count(); ++i) {
        const auto& options = type.field(i)->options();
        if (options.HasExtension(proto::kept))
          fields->push_back({in, type.field(i), &options.GetExtension(proto::kept)});
      }
    };
    const Descriptor& report = *proto::Report::descriptor();
    add(nullptr, report);
    for (int i = 0; i < report.field_count(); ++i) {
      const FieldDescriptor* in = report.field(i);
      if (in->message_type() != nullptr) add(in, *in->message_type());
    }
    return fields;
  }();
  return *kFields;
}

// A name of a dimension as part of a metric's name. Users choose names of dimensions freely: "nvlink",
// "rail-0".
std::string AsName(const std::string& text) {
  std::string out;
  for (const char c : text) out += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

std::vector<const Message*> MessagesOf(const proto::Report& report, const KeptField& k) {
  if (k.in == nullptr) return {&report};
  const auto& in = *report.GetReflection();
  std::vector<const Message*> out;
  if (k.in->is_repeated()) {
    for (int i = 0; i < in.FieldSize(report, k.in); ++i)
      out.push_back(&in.GetRepeatedMessage(report, k.in, i));
  } else if (in.HasField(report, k.in)) {
    out.push_back(&in.GetMessage(report, k.in));
  }
  return out;
}

// The message with the longest time; the first of equals.
const Message* Longest(const std::vector<const Message*>& messages) {
  const Message* longest = nullptr;
  double most = 0;
  for (const Message* m : messages) {
    const double time = NumberIn(*m, *m->GetDescriptor()->FindFieldByName("time_ps"));
    if (longest != nullptr && time <= most) continue;
    longest = m;
    most = time;
  }
  return longest;
}

void Keep(const KeptField& k, const std::vector<const Message*>& messages, PointMetrics* out) {
  const std::string& name = k.kept->name();
  double sum = 0, most = 0;
  for (const Message* m : messages) {
    const double value = NumberIn(*m, *k.field);
    sum += value;
    most = std::max(most, value);
  }
  switch (k.kept->of()) {
    case proto::Kept::SUM:
      (*out)[name] = sum;
      return;
    case proto::Kept::MEAN_AND_MOST:
      (*out)[name + "_mean_ps"] = messages.empty() ? 0 : sum / static_cast<double>(messages.size());
      (*out)[name + "_max_ps"] = most;
      return;
    case proto::Kept::MOST:
      if (!messages.empty()) (*out)[name] = most;
      return;
    case proto::Kept::LONGEST:
      if (!messages.empty()) (*out)[name] = NumberIn(*Longest(messages), *k.field);
      return;
    case proto::Kept::EACH:
      for (const Message* m : messages) {
        const FieldDescriptor* named = m->GetDescriptor()->FindFieldByName("name");
        (*out)[name + AsName(m->GetReflection()->GetString(*m, named))] += NumberIn(*m, *k.field);
      }
      return;
    default:
      if (!messages.empty()) (*out)[name] = NumberIn(*messages[0], *k.field);
  }
}

Lookup WithMetrics(const Lookup& axes, const PointMetrics& metrics) {
  return [&axes, &metrics](const std::string& name) -> std::optional<Value> {
    if (const auto found = metrics.find(name); found != metrics.end()) return Value(found->second);
    return axes(name);
  };
}

}  // namespace

std::vector<std::string> ReportMetricNames() {
  std::multimap<int, std::string> by_place;
  for (const MachineMetric& m : kOfMachine) by_place.emplace(m.place, m.name);
  for (const KeptField& k : KeptFields()) {
    const std::string& name = k.kept->name();
    if (k.kept->of() == proto::Kept::EACH) continue;
    const bool two = k.kept->of() == proto::Kept::MEAN_AND_MOST;
    by_place.emplace(k.kept->place(), two ? name + "_mean_ps" : name);
    if (two) by_place.emplace(k.kept->place(), name + "_max_ps");
  }
  std::vector<std::string> out;
  for (auto& [place, name] : by_place) out.push_back(std::move(name));
  return out;
}

bool IsReportMetric(const std::string& name) {
  if (absl::StartsWith(name, kBytes)) return true;
  const std::vector<std::string> names = ReportMetricNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

PointMetrics MetricsOf(const proto::Report& report, const MachineCounts& machine) {
  PointMetrics out;
  for (const KeptField& k : KeptFields()) Keep(k, MessagesOf(report, k), &out);
  for (const MachineMetric& m : kOfMachine) out[m.name] = static_cast<double>(machine.*m.of);
  return out;
}

absl::Status CheckMetrics(const proto::Sweep& spec, const std::vector<std::string>& axes) {
  std::vector<std::string> known = ReportMetricNames();
  known.insert(known.end(), axes.begin(), axes.end());
  if (spec.repeats() > 0) known.emplace_back("seed");
  const auto check = [&](const std::string& text, const std::string& where) -> absl::Status {
    auto e = Expression::Parse(text);
    if (!e.ok()) return SpecError(where, e.status().message());
    for (const std::string& name : e->names()) {
      if (absl::StartsWith(name, kBytes) || std::find(known.begin(), known.end(), name) != known.end())
        continue;
      return SpecError(where, absl::StrCat("there is neither a metric nor an axis \"", name, "\"",
                                           SuggestName(name, known)));
    }
    return absl::OkStatus();
  };
  for (int i = 0; i < spec.metric_size(); ++i) {
    const std::string where = absl::StrCat("metric[", i, "]");
    const std::string& name = spec.metric(i).name();
    if (!IsName(name)) {
      return SpecError(
          where + ".name",
          absl::StrCat("\"", name, "\", expected letters, digits and _, beginning with no digit"));
    }
    if (IsReservedName(name) || std::find(known.begin(), known.end(), name) != known.end()) {
      return SpecError(
          where + ".name",
          absl::StrCat("\"", name, "\" is a metric, column or axis already; expected another name"));
    }
    RETURN_IF_ERROR(check(spec.metric(i).expression(), where + ".expression"));
    known.push_back(name);
  }
  if (spec.objective().metric().empty()) return absl::OkStatus();
  return check(spec.objective().metric(), "objective.metric");
}

absl::StatusOr<double> EvaluateMetric(const Expression& expression, const Lookup& axes,
                                      const PointMetrics& metrics) {
  return expression.EvaluateNumber(WithMetrics(axes, metrics));
}

void AddDerived(const proto::Sweep& spec, const Lookup& axes, PointMetrics* metrics) {
  for (const proto::Metric& m : spec.metric()) {
    auto e = Expression::Parse(m.expression());
    if (!e.ok()) continue;
    if (auto value = EvaluateMetric(*e, axes, *metrics); value.ok()) (*metrics)[m.name()] = *value;
  }
}

}  // namespace chakra::sweep
