#include "replay/report/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/collectives/accounting.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/model/kernel_names.h"
#include "replay/report/columns.h"
#include "replay/report/communication.h"
#include "replay/report/device_kernels.h"
#include "replay/run/description.h"
#include "trace/base/utf8.h"
#include "trace/model/device_copy.h"
#include "trace/model/distinct_graphs.h"
#include "trace/model/inspect.h"
#include "trace/model/unseen_work.h"

namespace chakra {
namespace {

void AddRanks(const Metrics& metrics, proto::Report* report) {
  for (size_t i = 0; i < metrics.ranks.size(); ++i) {
    const RankMetrics& m = metrics.ranks[i];
    proto::RankReport& r = *report->add_rank();
    r.set_rank(static_cast<int>(i));
    r.set_end_ps(m.end.picos());
    r.set_compute_busy_ps(m.compute_busy.picos());
    r.set_comm_busy_ps(m.comm_busy.picos());
    r.set_exposed_comm_ps(m.exposed_comm.picos());
    r.set_idle_ps(m.idle.picos());
    r.set_host_busy_ps(m.host_busy.picos());
    r.set_memory_busy_ps(m.memory_busy.picos());
    r.set_nodes(m.nodes);
    r.set_bubble_ps((metrics.makespan - (m.end - m.idle)).picos());
    r.set_waited_ps(m.waited.picos());
    r.set_kept_waiting_ps(m.kept_waiting.picos());
  }
}

void AddCollectives(const Metrics& metrics, const Groups& groups, proto::Report* report) {
  for (const auto& [key, m] : metrics.collectives) {
    proto::CollectiveReport& c = *report->add_collective();
    c.set_kind(ToUtf8(key.first));
    c.set_group(ToUtf8(key.second));
    if (const auto group = groups.find(key.second); group != groups.end())
      c.set_dimension(ToUtf8(GroupDimension(group->first, group->second)));
    else if (key.first != "send_recv" && key.second != kUnknownGroup)
      c.set_dimension(ToUtf8(GroupDimension(key.second, {})));
    c.set_ranks(m.ranks);
    c.set_count(m.count);
    c.set_bytes(m.bytes);
    c.set_time_ps(m.time.picos());
    c.set_wait_ps(m.wait.picos());
    c.set_algorithm(m.algorithm);
    for (const ChosenAlgorithm& chosen : m.chosen) {
      proto::ChosenAlgorithm& out = *c.add_chosen();
      out.set_algorithm(chosen.algorithm);
      out.set_count(chosen.count);
      out.set_least_bytes(chosen.least_bytes);
      out.set_most_bytes(chosen.most_bytes);
      out.set_why(chosen.why);
    }
    if (m.time > Time::Zero()) {
      const double rate = static_cast<double>(m.bytes) / m.time.seconds() / 1e9;
      c.set_algbw_gbytes_per_s(rate);
      c.set_busbw_gbytes_per_s(rate * BusFactor(key.first, m.ranks));
    }
    c.set_recorded_ps(m.recorded.picos());
    c.set_recorded_count(m.recorded_count);
    if (m.recorded_count == m.count && m.recorded > Time::Zero()) {
      c.set_simulated_to_recorded(m.time.seconds() / m.recorded.seconds());
    }
  }
}

void AddNames(const Metrics& metrics, proto::Report* report) {
  const auto fill = [](const NameMetrics& m, auto* row) {
    row->set_name(ToUtf8(m.name));
    row->set_count(m.count);
    row->set_time_ps(m.time.picos());
    row->set_merged(m.merged);
  };
  for (const NameMetrics& m : metrics.operators) fill(m, report->add_operator_());
  for (const NameMetrics& m : metrics.lanes) fill(m, report->add_lane());
}

void AddSteps(const std::vector<StepMetrics>& steps, proto::Report* report) {
  for (const StepMetrics& m : steps) {
    proto::StepReport& s = *report->add_step();
    s.set_rank(m.rank);
    s.set_recorded_rank(m.recorded_rank);
    s.set_step(ToUtf8(m.name));
    s.set_measured_ps(m.measured.picos());
    s.set_replayed_ps(m.replayed.picos());
    s.set_kernel_start_error_ps(m.kernel_start_error.picos());
    s.set_kernels(m.kernels);
  }
}

void AddLinks(const LinkUses& links, proto::Report* report) {
  report->set_links_used(links.links);
  report->set_link_bucket_ps(links.bucket.picos());
  const Time end = Time::Picos(report->makespan_ps());
  for (const LinkUse& use : links.busiest) {
    proto::LinkReport* r = report->add_link();
    *r = LinkTotalsOf(use, end);
    for (const float share : use.series) r->add_series(share);
    for (const uint64_t bytes : use.queued) r->add_queued(bytes);
    for (size_t k = 0; k < LinkUse::kCounts; ++k) {
      AddWholes(absl::StrCat(kLinkCounts[k].name, "_series"), use.counts[k], r);
    }
  }
}

void AddPackets(const PacketTotals& totals, proto::Report* report) {
  if (totals.transport.empty()) return;
  proto::PacketReport* p = report->mutable_packet();
  p->set_transport(totals.transport);
  for (const PacketCount& count : kPacketCounts) SetWhole(count.name, totals.*count.total, p);
  if (totals.skipped > 0) p->set_skip_error(totals.skip_error);
}

void AddFlowTimes(const std::vector<FlowTimesRow>& rows, proto::Report* report) {
  for (const FlowTimesRow& row : rows) {
    proto::FlowReport* f = report->add_flow_time();
    f->set_most_bytes(row.most_bytes);
    f->set_flows(row.flows);
    f->set_mean_ps(row.mean.picos());
    f->set_median_slowdown(row.median);
    f->set_p99_slowdown(row.p99);
    f->set_max_slowdown(row.max);
  }
}

void AddDimensions(const RunDescription& run, proto::Report* report) {
  for (const DimensionTraffic& t : run.traffic) {
    const auto i = static_cast<size_t>(report->dimension_size());
    proto::DimensionReport& d = *report->add_dimension();
    d.set_name(ToUtf8(t.name));
    d.set_kind(t.kind);
    d.set_size(t.size);
    d.set_bytes(t.bytes);
    if (i < run.dimensions.size()) {
      const NetworkSize& size = run.dimensions[i].size;
      d.set_injection_bytes_per_s(size.injection.bytes_per_second());
      d.set_rates_from(run.dimensions[i].rates_from);
      d.set_ports(size.ports);
      d.set_switches(size.switches);
      d.set_cables(size.cables);
      d.set_switch_ports(size.switch_ports);
    }
    if (t.size > 1 && t.bytes == 0) {
      report->add_warning(
          absl::StrFormat("dimension %s (%s of %d) carried no bytes", d.name(), t.kind, t.size));
    }
  }
}

// The product of a time and n, at most Never().
Time Times(Time time, uint64_t n) {
  int64_t product = 0;
  return __builtin_mul_overflow(time.picos(), n, &product) ? Time::Never() : Time::Picos(product);
}

void AddRepriced(const RunDescription& run, const DistinctGraphs& distinct, const std::vector<uint64_t>& uses,
                 proto::Report* report) {
  if (!run.captured_on.has_value()) return;
  std::map<uint8_t, proto::RepricedFamily> families;
  for (size_t g = 0; g < distinct.graphs.size(); ++g) {
    const Graph& graph = *distinct.graphs[g];
    const ComputeTimes& times = (*run.times)[g];
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (times.time_source[row] != TimeSource::kRepriced) continue;
      proto::RepricedFamily& f = families[times.spread[row].family];
      const auto n = static_cast<int64_t>(uses[g]);
      f.set_nodes(f.nodes() + uses[g]);
      f.set_recorded_ps(f.recorded_ps() + graph.duration[row].picos() * n);
      f.set_time_ps(f.time_ps() + times.time[row].picos() * n);
    }
  }
  report->set_repriced_from(ToUtf8(run.captured_on->name));
  for (auto& [family, f] : families) {
    f.set_family(std::string(Name(static_cast<KernelFamily>(family))));
    *report->add_repriced() = f;
  }
  std::stable_sort(report->mutable_repriced()->begin(), report->mutable_repriced()->end(),
                   [](const auto& a, const auto& b) { return a.recorded_ps() > b.recorded_ps(); });
}

void AddTimeSources(const RunDescription& run, proto::Report* report) {
  const DistinctGraphs distinct(*run.traces);
  std::vector<uint64_t> uses(distinct.graphs.size(), 0);
  for (uint32_t g : distinct.of_rank) ++uses[g];
  std::array<uint64_t, kTimeSources> nodes{};
  std::array<Time, kTimeSources> time{}, error{};
  uint64_t outside = 0, derived = 0;
  std::map<std::string, uint64_t> unanswered;
  for (size_t g = 0; g < distinct.graphs.size(); ++g) {
    const Graph& graph = *distinct.graphs[g];
    const ComputeTimes& times = (*run.times)[g];
    for (int i = 0; i < kTimeSources; ++i) error[i] += Times(times.error[i], uses[g]);
    outside += times.outside * uses[g];
    derived += times.derived * uses[g];
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] != NodeType::kComp || graph.is_kept_comm(row)) continue;
      const auto time_source = static_cast<size_t>(times.time_source[row]);
      nodes[time_source] += uses[g];
      time[time_source] += times.time[row] * static_cast<int64_t>(uses[g]);
      if (times.time_source[row] == TimeSource::kNone) unanswered[ToUtf8(graph.name_of(row))] += uses[g];
    }
  }
  for (int i = 0; i < kTimeSources; ++i) {
    const auto time_source = static_cast<TimeSource>(i);
    const bool always = time_source != TimeSource::kModel && time_source != TimeSource::kRepriced;
    // Omitted when unused, so that reports without them do not change.
    if (!always && nodes[i] == 0) continue;
    proto::TimeSourceReport& r = *report->add_time_source();
    r.set_time_source(std::string(Name(time_source)));
    if (time_source == TimeSource::kInterpolate) r.set_outside(outside);
    if (time_source == TimeSource::kRoofline) r.set_derived(derived);
    r.set_nodes(nodes[i]);
    r.set_time_ps(time[i].picos());
    r.set_error_ps(error[i].picos());
  }
  AddRepriced(run, distinct, uses, report);
  for (const auto& [name, count] : unanswered) {
    proto::Unanswered& u = *report->add_unanswered();
    u.set_name(name);
    u.set_nodes(count);
  }
}

// The time that a rank spends on a kind and group, with waits. Messages are one entry for all ranks: each
// rank gets an equal share of their time without waits; two ranks take part in each message.
double TimeOfRank(const Metrics& metrics, const std::string& kind, const std::string& group,
                  const CollectiveMetrics& m) {
  if (group == kUnknownGroup) return m.time.seconds() / static_cast<double>(metrics.ranks.size());
  if (kind == "send_recv") return 2 * m.time.seconds() / static_cast<double>(metrics.ranks.size());
  return (m.time + m.wait).seconds();
}

// The kind and group that rank `rank` spent most time on: ` (most: all_reduce on group "dp")`; "" if there is
// none.
std::string LargestCollective(const Metrics& metrics, const TraceSet& traces, int rank) {
  const std::pair<std::string, std::string>* best = nullptr;
  double most = 0;
  for (const auto& [key, m] : metrics.collectives) {
    const auto group = traces.groups.find(key.second);
    if (group != traces.groups.end() &&
        std::find(group->second.begin(), group->second.end(), rank) == group->second.end()) {
      continue;
    }
    const double time = TimeOfRank(metrics, key.first, key.second, m);
    if (time <= most) continue;
    most = time;
    best = &key;
  }
  if (best == nullptr) return "";
  const auto& [kind, group] = *best;
  if (kind == "send_recv") return " (most: send_recv)";
  if (group.empty()) return absl::StrCat(" (most: ", kind, " on all ranks)");
  if (group == kUnknownGroup) return absl::StrCat(" (most: ", kind, " on a group that is not known)");
  return absl::StrCat(" (most: ", kind, " on group \"", group, "\")");
}

// Adds calls of unknown size. They cannot be priced, and keep their recorded time if they have one.
void AddSizeless(const TraceSet& traces, KeptComm* kept) {
  const DistinctGraphs distinct(traces);
  std::vector<KeptComm> of_graph(distinct.graphs.size());
  for (size_t g = 0; g < of_graph.size(); ++g) {
    const Graph& graph = *distinct.graphs[g];
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] < NodeType::kSend) continue;
      const Comm& comm = graph.comm[graph.payload[row]];
      const bool barrier = comm.type == static_cast<uint8_t>(CollectiveType::kBarrier);
      if (comm.has_bytes || barrier || graph.duration[row] == Time::Zero()) continue;
      ++of_graph[g].nodes;
      of_graph[g].time += graph.duration[row];
    }
  }
  for (const uint32_t g : distinct.of_rank) {
    kept->nodes += of_graph[g].nodes;
    kept->time += of_graph[g].time;
  }
}

// The word for the memory operations of a rank: those of captures are copies.
const char* MemoryWord(const TraceSet& traces, int rank) {
  const auto& flags = traces.ranks[static_cast<size_t>(rank)].graph->flags;
  const bool copies =
      std::any_of(flags.begin(), flags.end(), [](uint8_t f) { return (f & kDeviceCopy) != 0; });
  return copies ? "copies" : "memory operations";
}

}  // namespace

proto::LinkReport LinkTotalsOf(const LinkUse& use, Time end) {
  proto::LinkReport r;
  r.set_name(ToUtf8(use.name));
  r.set_link_class(ToUtf8(use.link_class));
  r.set_bandwidth_bytes_per_s(use.bandwidth.bytes_per_second());
  r.set_bytes(use.bytes);
  r.set_flows(use.flows);
  const double most = static_cast<double>(use.bandwidth.bytes_per_second()) * end.seconds();
  r.set_utilization(most > 0 ? static_cast<double>(use.bytes) / most : 0);
  // Rounded, since rates that are summed in another order differ in their last bits.
  r.set_peak(std::round(use.peak * 1e12) / 1e12);
  r.set_packets(use.packets);
  r.set_most_queued(use.most_queued);
  for (const LinkCount& count : kLinkCounts) SetWhole(count.name, use.*count.total, &r);
  return r;
}

std::string DescribeBound(const Metrics& metrics, const TraceSet& traces) {
  const auto last =
      std::max_element(metrics.ranks.begin(), metrics.ranks.end(),
                       [](const RankMetrics& a, const RankMetrics& b) { return a.end < b.end; });
  if (last == metrics.ranks.end() || last->end == Time::Zero())
    return "nothing bounds the run: it takes no time";
  const int rank = static_cast<int>(last - metrics.ranks.begin());
  struct Share {
    const char* name;
    Time time;
    std::string detail;
    bool device = false;  // work of the device
  };
  const Time memory = last->exposed_memory;
  const Time host = last->end - last->compute_busy - last->exposed_comm - memory - last->idle;
  std::vector<Share> shares = {
      {"computation", last->compute_busy, "", true},
      {"exposed communication", last->exposed_comm, LargestCollective(metrics, traces, rank), true},
      {MemoryWord(traces, rank), memory, "", true},
      {"host operations", host, ""},
      {"idle waiting", last->idle, ""},
  };
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.time > b.time; });
  const UnseenWork unseen = UnseenOf(traces);
  std::string line;
  for (const Share& s : shares) {
    if (s.time <= Time::Zero()) continue;
    const double percent = 100 * s.time.seconds() / last->end.seconds();
    if (line.empty() && unseen.Counts() && !s.device) {
      line = absl::StrFormat(
          "not known what bounds the run, because of %s; shown are %s: %.1f %%%s of rank %d, which ends "
          "last at %s",
          Describe(unseen), s.name, percent, s.detail, rank, FormatTime(last->end));
    } else if (line.empty()) {
      line = absl::StrFormat("bound by %s: %.1f %%%s of rank %d, which ends last at %s", s.name, percent,
                             s.detail, rank, FormatTime(last->end));
    } else {
      absl::StrAppendFormat(&line, "; %s %.1f %%%s", s.name, percent, s.detail);
    }
  }
  return line;
}

proto::Report MakeReport(const Metrics& metrics, const RunDescription& run) {
  proto::Report report;
  report.set_version(run.version);
  report.set_makespan_ps(metrics.makespan.picos());
  if (run.range.has_value()) {
    report.set_makespan_low_ps(run.range->low.picos());
    report.set_makespan_high_ps(run.range->high.picos());
  }
  report.set_cluster(ToUtf8(run.cluster));
  report.set_fabric(run.fabric);
  report.set_lanes(run.lanes);
  report.set_compute(run.compute);
  report.set_comm(run.comm);
  report.set_ranks(static_cast<int>(metrics.ranks.size()));
  report.set_nodes(metrics.nodes);
  report.set_flows(metrics.flows);
  report.set_fast_collectives(metrics.fast_collectives);
  report.set_distinct_graphs(run.traces->distinct_graphs());
  report.set_group_source(ToUtf8(run.traces->group_source));
  report.set_invalid_nodes(metrics.invalid_nodes);
  report.set_variation(ToUtf8(run.variation));
  report.set_placement(ToUtf8(run.placement));
  for (proto::JobReport& job : ReportJobs(run.jobs, metrics)) {
    job.set_input(ToUtf8(job.input()));
    *report.add_job() = std::move(job);
  }
  for (const std::string& a : run.traces->assumptions) report.add_assumption(ToUtf8(a));
  for (const std::string& w : run.warnings) report.add_warning(ToUtf8(w));
  for (const std::string& w : metrics.warnings) report.add_warning(ToUtf8(w));
  if (report.makespan_ps() == 0) {
    report.add_warning(absl::StrFormat(
        "no node takes time, so the makespan of 0 s has no meaning: none of %d nodes has a recorded time, "
        "work that "
        "a model can price, or bytes to send; give a kernel table (--kernels), or see `chakra-replay doctor`",
        metrics.nodes));
  }
  report.set_kept_comm(metrics.kept.nodes);
  report.set_kept_comm_ps(metrics.kept.time.picos());
  KeptComm kept = metrics.kept;
  if (run.comm == "simulated") AddSizeless(*run.traces, &kept);
  if (kept.nodes > 0 && run.comm == "simulated") {
    report.add_warning(absl::StrFormat(
        "%d communication nodes, %s, are of unknown kind, size or group: they keep their recorded time",
        kept.nodes, FormatTime(kept.time)));
  }
  if (const UnseenWork unseen = UnseenOf(*run.traces); unseen.Counts())
    report.add_warning(absl::StrCat(Describe(unseen), ": computation is too low, and the makespan may be"));
  AddRanks(metrics, &report);
  AddCollectives(metrics, run.traces->groups, &report);
  AddNames(metrics, &report);
  AddSteps(run.steps, &report);
  AddDimensions(run, &report);
  AddLinks(run.links, &report);
  AddPackets(run.packets, &report);
  AddFlowTimes(run.flow_times, &report);
  if (run.path != nullptr) *report.mutable_critical_path() = *run.path;
  if (run.fixed_time != nullptr) *report.mutable_fixed_time() = *run.fixed_time;
  if (run.edits != nullptr) *report.mutable_edits() = *run.edits;
  AddTimeSources(run, &report);
  AddDeviceKernels(run, &report);
  for (const RankTrace& rank : run.traces->ranks) {
    for (const Repair& repair : rank.repairs) *report.add_repair() = ToProto(repair);
  }
  for (const Repair& repair : metrics.repairs) *report.add_repair() = ToProto(repair);
  for (const InputFile& file : run.traces->inputs) *report.add_input() = ToProto(file);
  for (const InputFile& file : run.inputs) *report.add_input() = ToProto(file);
  report.set_bound(ToUtf8(DescribeBound(metrics, *run.traces)));
  return report;
}

}  // namespace chakra
