#include "replay/sweep/metrics.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/sweep/space.h"
#include "trace/io/proto_io.h"

namespace chakra::sweep {
namespace {

struct RankTime {
  const char* name;
  int64_t (proto::RankReport::*of)() const;
};

constexpr RankTime kRankTimes[] = {
    {"end", &proto::RankReport::end_ps},
    {"compute", &proto::RankReport::compute_busy_ps},
    {"comm", &proto::RankReport::comm_busy_ps},
    {"exposed_comm", &proto::RankReport::exposed_comm_ps},
    {"idle", &proto::RankReport::idle_ps},
    {"host", &proto::RankReport::host_busy_ps},
    {"memory", &proto::RankReport::memory_busy_ps},
};

constexpr const char* kOthers[] = {"makespan_ps",
                                   "collective_ps",
                                   "collective_wait_ps",
                                   "algbw_gbytes_per_s",
                                   "busbw_gbytes_per_s",
                                   "ranks",
                                   "trace_nodes",
                                   "flows",
                                   "fast_collectives",
                                   "link_utilization_max",
                                   "packets",
                                   "packet_drops",
                                   "packet_lost",
                                   "packet_marks",
                                   "packet_pauses",
                                   "packets_sent_again",
                                   "devices",
                                   "switches",
                                   "links"};

constexpr char kBytes[] = "bytes_";

// Dimensions are named as users like: "nvlink", "rail-0".
std::string AsName(const std::string& text) {
  std::string out;
  for (const char c : text) out += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

void AddRanks(const proto::Report& report, PointMetrics* out) {
  for (const RankTime& time : kRankTimes) {
    double sum = 0, most = 0;
    for (const proto::RankReport& rank : report.rank()) {
      const auto ps = static_cast<double>((rank.*time.of)());
      sum += ps;
      most = std::max(most, ps);
    }
    (*out)[absl::StrCat(time.name, "_mean_ps")] = report.rank_size() > 0 ? sum / report.rank_size() : 0;
    (*out)[absl::StrCat(time.name, "_max_ps")] = most;
  }
}

void AddCollectives(const proto::Report& report, PointMetrics* out) {
  double time = 0, wait = 0;
  const proto::CollectiveReport* longest = nullptr;
  for (const proto::CollectiveReport& c : report.collective()) {
    time += static_cast<double>(c.time_ps());
    wait += static_cast<double>(c.wait_ps());
    if (longest == nullptr || c.time_ps() > longest->time_ps()) longest = &c;
  }
  (*out)["collective_ps"] = time;
  (*out)["collective_wait_ps"] = wait;
  if (longest == nullptr) return;
  (*out)["algbw_gbytes_per_s"] = longest->algbw_gbytes_per_s();
  (*out)["busbw_gbytes_per_s"] = longest->busbw_gbytes_per_s();
}

void AddNetwork(const proto::Report& report, PointMetrics* out) {
  for (const proto::DimensionReport& d : report.dimension()) {
    (*out)[kBytes + AsName(d.name())] += static_cast<double>(d.bytes());
  }
  double most = 0;
  for (const proto::LinkReport& link : report.link()) most = std::max(most, link.utilization());
  if (report.link_size() > 0) (*out)["link_utilization_max"] = most;
  if (!report.has_packet()) return;
  (*out)["packets"] = static_cast<double>(report.packet().packets());
  (*out)["packet_drops"] = static_cast<double>(report.packet().drops());
  (*out)["packet_lost"] = static_cast<double>(report.packet().lost());
  (*out)["packet_marks"] = static_cast<double>(report.packet().marks());
  (*out)["packet_pauses"] = static_cast<double>(report.packet().pauses());
  (*out)["packets_sent_again"] = static_cast<double>(report.packet().sent_again());
}

Lookup WithMetrics(const Lookup& axes, const PointMetrics& metrics) {
  return [&axes, &metrics](const std::string& name) -> std::optional<Value> {
    if (const auto found = metrics.find(name); found != metrics.end()) return Value(found->second);
    return axes(name);
  };
}

}  // namespace

std::vector<std::string> ReportMetricNames() {
  std::vector<std::string> out(std::begin(kOthers), std::end(kOthers));
  for (const RankTime& time : kRankTimes) {
    out.push_back(absl::StrCat(time.name, "_mean_ps"));
    out.push_back(absl::StrCat(time.name, "_max_ps"));
  }
  return out;
}

bool IsReportMetric(const std::string& name) {
  if (absl::StartsWith(name, kBytes)) return true;
  const std::vector<std::string> names = ReportMetricNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

PointMetrics MetricsOf(const proto::Report& report, const MachineCounts& machine) {
  PointMetrics out;
  out["makespan_ps"] = static_cast<double>(report.makespan_ps());
  out["ranks"] = report.rank_size();
  out["trace_nodes"] = static_cast<double>(report.nodes());
  out["flows"] = static_cast<double>(report.flows());
  out["fast_collectives"] = static_cast<double>(report.fast_collectives());
  out["devices"] = static_cast<double>(machine.devices);
  out["switches"] = static_cast<double>(machine.switches);
  out["links"] = static_cast<double>(machine.links);
  AddRanks(report, &out);
  AddCollectives(report, &out);
  AddNetwork(report, &out);
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
    if (absl::Status s = check(spec.metric(i).expression(), where + ".expression"); !s.ok()) return s;
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
