#include "replay/compare/report_tables.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/measure/name_times.h"

namespace chakra {
namespace {

ComparedTable Run(const proto::Report& r) {
  ComparedTable t{"run",
                  {"makespan_ps", "nodes", "flows", "fast_collectives", "distinct_graphs", "invalid_nodes",
                   "links_used"}};
  t.rows.push_back({"run",
                    {r.makespan_ps(), r.nodes(), r.flows(), r.fast_collectives(), r.distinct_graphs(),
                     r.invalid_nodes(), r.links_used()}});
  return t;
}

// Disjoint shares of the time of the rank that ends last, the first of such.
ComparedTable LastRank(const proto::Report& r) {
  ComparedTable t{"last_rank", {"time_ps"}};
  const auto last = std::max_element(
      r.rank().begin(), r.rank().end(),
      [](const proto::RankReport& x, const proto::RankReport& y) { return x.end_ps() < y.end_ps(); });
  if (last == r.rank().end()) return t;
  const __int128 compute = last->compute_busy_ps(), exposed = last->exposed_comm_ps(), idle = last->idle_ps();
  t.rows = {{"computation", {compute}},
            {"exposed communication", {exposed}},
            {"host and memory operations alone", {last->end_ps() - compute - exposed - idle}},
            {"idle waiting", {idle}}};
  return t;
}

ComparedTable Jobs(const proto::Report& r) {
  ComparedTable t{"jobs", {"makespan_ps", "start_ps", "end_ps", "first_rank", "ranks"}, {"traces"}};
  for (const proto::JobReport& j : r.job()) {
    t.rows.push_back(
        {j.name(), {j.makespan_ps(), j.start_ps(), j.end_ps(), j.first_rank(), j.ranks()}, {j.input()}});
  }
  return t;
}

ComparedTable Ranks(const proto::Report& r) {
  ComparedTable t{"ranks",
                  {"end_ps", "compute_busy_ps", "comm_busy_ps", "exposed_comm_ps", "idle_ps", "host_busy_ps",
                   "memory_busy_ps", "nodes"}};
  for (const proto::RankReport& x : r.rank()) {
    t.rows.push_back({absl::StrCat("rank ", x.rank()),
                      {x.end_ps(), x.compute_busy_ps(), x.comm_busy_ps(), x.exposed_comm_ps(), x.idle_ps(),
                       x.host_busy_ps(), x.memory_busy_ps(), x.nodes()}});
  }
  return t;
}

// "ring/simple x 3, tree/ll x 1".
std::string Algorithms(const proto::CollectiveReport& c) {
  if (c.chosen_size() == 0) return c.algorithm();
  return absl::StrJoin(c.chosen(), ", ", [](std::string* out, const proto::ChosenAlgorithm& x) {
    absl::StrAppend(out, x.algorithm(), " x ", x.count());
  });
}

ComparedTable Collectives(const proto::Report& r) {
  ComparedTable t{"collectives",
                  {"time_ps", "wait_ps", "count", "bytes", "algbw_gbytes_per_s", "busbw_gbytes_per_s",
                   "ranks", "recorded_ps", "recorded_count"},
                  {"algorithm"}};
  for (const proto::CollectiveReport& c : r.collective()) {
    t.rows.push_back({CollectiveName(c.kind(), c.group()),
                      {c.time_ps(), c.wait_ps(), c.count(), c.bytes(), c.algbw_gbytes_per_s(),
                       c.busbw_gbytes_per_s(), c.ranks(), c.recorded_ps(), c.recorded_count()},
                      {Algorithms(c)}});
  }
  return t;
}

constexpr char kOthers[] = "(others)";

bool IsOthers(const std::string& name, bool merged) { return merged && name == kOthers; }

template <typename Rows>
ComparedTable Names(const std::string& name, const Rows& rows, bool merge_numbers) {
  ComparedTable t{name, {"time_ps", "count"}};
  std::map<std::string, size_t> index;  // of merged names
  for (const auto& row : rows) {
    const std::string name_of = merge_numbers ? MergeNumbers(row.name()) : row.name();
    const auto [it, fresh] = index.emplace(name_of, t.rows.size());
    t.cut |= IsOthers(row.name(), row.merged());
    if (fresh || !merge_numbers) {
      t.rows.push_back({name_of.empty() ? "(no name)" : name_of, {row.time_ps(), row.count()}});
      continue;
    }
    std::vector<Number>& numbers = t.rows[it->second].numbers;
    numbers[0].whole += row.time_ps();
    numbers[1].whole += static_cast<__int128>(row.count());
  }
  return t;
}

ComparedTable Steps(const proto::Report& r) {
  ComparedTable t{"steps", {"replayed_ps", "measured_ps", "kernel_start_error_ps", "kernels"}};
  for (const proto::StepReport& s : r.step()) {
    t.rows.push_back({absl::StrCat("rank ", s.rank(), ", ", s.step()),
                      {s.replayed_ps(), s.measured_ps(), s.kernel_start_error_ps(), s.kernels()}});
  }
  return t;
}

ComparedTable Rungs(const proto::Report& r) {
  ComparedTable t{"rungs", {"time_ps", "nodes"}};
  for (const proto::RungReport& x : r.rung()) {
    if (x.nodes() > 0) t.rows.push_back({x.rung(), {x.time_ps(), x.nodes()}});
  }
  return t;
}

ComparedTable Dimensions(const proto::Report& r) {
  ComparedTable t{"dimensions", {"bytes", "size"}, {"kind"}};
  for (const proto::DimensionReport& d : r.dimension()) {
    t.rows.push_back({d.name(), {d.bytes(), d.size()}, {d.kind()}});
  }
  return t;
}

ComparedTable Links(const proto::Report& r) {
  ComparedTable t{"links",
                  {"bytes", "flows", "utilization", "peak", "bandwidth_bytes_per_s", "packets",
                   "most_queued_bytes", "marks", "drops", "lost", "trims", "pauses", "paused_ps"},
                  {"class"}};
  for (const proto::LinkReport& l : r.link()) {
    t.rows.push_back(
        {l.name(),
         {l.bytes(), l.flows(), l.utilization(), l.peak(), l.bandwidth_bytes_per_s(), l.packets(),
          l.most_queued(), l.marks(), l.drops(), l.lost(), l.trims(), l.pauses(), l.paused_ps()},
         {l.link_class()}});
  }
  t.cut = r.links_used() > static_cast<uint64_t>(r.link_size());
  return t;
}

ComparedTable Packets(const proto::Report& r) {
  ComparedTable t{"packets", {"count"}};
  if (!r.has_packet()) return t;
  const proto::PacketReport& p = r.packet();
  t.rows = {{"packets of data", {p.packets()}},
            {"sent again", {p.sent_again()}},
            {"acknowledgements", {p.acknowledgements()}},
            {"drops", {p.drops()}},
            {"lost", {p.lost()}},
            {"trims", {p.trims()}},
            {"marks", {p.marks()}},
            {"pauses", {p.pauses()}},
            {"timeouts", {p.timeouts()}},
            {"packet-hops", {p.packet_hops()}},
            {"events", {p.events()}},
            {"messages by packets", {p.messages()}},
            {"bytes by packets", {p.message_bytes()}},
            {"fluid messages", {p.fluid_messages()}},
            {"fluid bytes", {p.fluid_bytes()}},
            {"skipped packets", {p.skipped_packets()}},
            {"jumps", {p.jumps()}},
            {"repeated messages", {p.repeated_messages()}}};
  return t;
}

ComparedTable Flows(const proto::Report& r) {
  ComparedTable t{"flows", {"mean_ps", "flows", "median_slowdown", "p99_slowdown", "max_slowdown"}};
  for (const proto::FlowReport& f : r.flow_time()) {
    const bool large = f.most_bytes() == ~uint64_t{0};
    t.rows.push_back({large ? "larger flows" : absl::StrCat("flows of at most ", f.most_bytes(), " bytes"),
                      {f.mean_ps(), f.flows(), f.median_slowdown(), f.p99_slowdown(), f.max_slowdown()}});
  }
  return t;
}

ComparedTable UnansweredNames(const proto::Report& r) {
  ComparedTable t{"unanswered", {"nodes"}};
  for (const proto::Unanswered& u : r.unanswered()) t.rows.push_back({u.name(), {u.nodes()}});
  return t;
}

ComparedTable Repairs(const proto::Report& r) {
  ComparedTable t{"repairs", {"count", "first_node"}};
  for (const proto::Repair& x : r.repair()) {
    t.rows.push_back({absl::StrCat(x.kind(), " of rank ", x.rank()), {x.count(), x.first_node()}});
  }
  return t;
}

}  // namespace

std::string CollectiveName(absl::string_view kind, absl::string_view group) {
  if (!group.empty()) return absl::StrCat(kind, " on group \"", group, "\"");
  return kind == "send_recv" || kind == "send" || kind == "recv" ? std::string(kind)
                                                                 : absl::StrCat(kind, " on all ranks");
}

bool HasMergedNumbers(const proto::Report& report) {
  return std::any_of(
      report.operator_().begin(), report.operator_().end(),
      [](const proto::OperatorReport& row) { return row.merged() && !IsOthers(row.name(), row.merged()); });
}

std::vector<ComparedTable> ReportTables(const proto::Report& r, bool merge_numbers) {
  return {Run(r),
          LastRank(r),
          Jobs(r),
          Ranks(r),
          Collectives(r),
          Names("operators", r.operator_(), merge_numbers),
          Names("lanes", r.lane(), false),
          Steps(r),
          Rungs(r),
          Dimensions(r),
          Links(r),
          Packets(r),
          Flows(r),
          UnansweredNames(r),
          Repairs(r)};
}

}  // namespace chakra
