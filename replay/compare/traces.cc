#include "replay/compare/traces.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/compare/frames.h"
#include "replay/compare/launchers.h"
#include "replay/compare/pair_nodes.h"
#include "replay/compare/table.h"
#include "replay/compare/trace_tables.h"
#include "replay/engine/measure/name_times.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

// Nodes of one name that only one side has.
struct Unpaired {
  uint64_t a = 0, b = 0;
};

// Compares the nodes of all ranks. Ranks with the same pair of distinct graphs are compared together.
class NodeComparison {
 public:
  NodeComparison(const TraceSet& a, const TraceSet& b, const TraceCompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  absl::Status Run() {
    const size_t common = std::min(a_.ranks.size(), b_.ranks.size());
    std::map<std::pair<const Graph*, const Graph*>, size_t> index;
    std::vector<std::vector<size_t>> together;  // ranks with the same pair of graphs, by their first rank
    for (size_t r = 0; r < common; ++r) {
      const auto [it, fresh] =
          index.emplace(std::pair(a_.ranks[r].graph.get(), b_.ranks[r].graph.get()), together.size());
      if (fresh) together.emplace_back();
      together[it->second].push_back(r);
    }
    for (const std::vector<size_t>& ranks : together) {
      RETURN_IF_ERROR(Compare(ranks));
    }
    for (size_t r = common; r < a_.ranks.size(); ++r) CountAll(*a_.ranks[r].graph, &Unpaired::a);
    for (size_t r = common; r < b_.ranks.size(); ++r) CountAll(*b_.ranks[r].graph, &Unpaired::b);
    return absl::OkStatus();
  }

  // Fills `nodes`, and adds the section "unpaired".
  void Report(proto::Comparison* out) {
    for (const auto& [name, count] : unpaired_) {
      out_.set_only_a(out_.only_a() + count.a);
      out_.set_only_b(out_.only_b() + count.b);
    }
    std::stable_sort(out_.mutable_change()->begin(), out_.mutable_change()->end(),
                     [](const proto::NodeChange& x, const proto::NodeChange& y) {
                       return x.nodes() != y.nodes() ? x.nodes() > y.nodes() : x.name() < y.name();
                     });
    *out->mutable_nodes() = out_;
    ComparedTable a{"unpaired", {"count"}}, b = a;
    for (const auto& [name, count] : unpaired_) {
      if (count.a > 0) a.rows.push_back({name, {count.a}});
      if (count.b > 0) b.rows.push_back({name, {count.b}});
    }
    if (!unpaired_.empty()) *out->add_section() = DiffTables(a, b);
  }

 private:
  void Count(const Graph& graph, uint32_t row, uint64_t ranks, uint64_t Unpaired::*side) {
    const absl::string_view name = graph.name_of(row);
    const std::string key = name.empty()             ? "(no name)"
                            : options_.merge_numbers ? MergeNumbers(name)
                                                     : std::string(name);
    unpaired_[key].*side += ranks;
  }
  void CountAll(const Graph& graph, uint64_t Unpaired::*side) {
    for (uint32_t row = 0; row < graph.size(); ++row) Count(graph, row, 1, side);
  }

  void Add(const std::vector<NodeDifference>& differences, uint64_t ranks, const RankTrace& first) {
    for (const NodeDifference& d : differences) {
      const auto [it, fresh] = index_.emplace(d.name, out_.change_size());
      proto::NodeChange* change = fresh ? out_.add_change() : out_.mutable_change(it->second);
      const uint64_t before = change->nodes();
      change->set_nodes(before + d.nodes * ranks);
      if (!fresh && change->first_rank() <= first.rank) continue;
      change->set_name(ToUtf8(d.name));
      change->set_first_rank(first.rank);
      change->set_first_node(first.graph->id[d.row]);
      change->set_first_name(ToUtf8(first.graph->name_of(d.row)));
      change->set_a(ToUtf8(d.a));
      change->set_b(ToUtf8(d.b));
    }
  }

  absl::Status Compare(const std::vector<size_t>& ranks) {
    const Graph& a = *a_.ranks[ranks[0]].graph;
    const Graph& b = *b_.ranks[ranks[0]].graph;
    const NodePairs pairs = PairNodes(a, b);
    const GraphDifference shared = CompareGraphs(a, b, pairs);
    Add(shared.differences, ranks.size(), a_.ranks[ranks[0]]);
    out_.set_paired(out_.paired() + shared.paired * ranks.size());
    out_.set_renumbered(out_.renumbered() + shared.renumbered * ranks.size());
    for (uint32_t row = 0; row < pairs.b_of_a.size(); ++row) {
      if (pairs.b_of_a[row] == kNoRow) Count(a, row, ranks.size(), &Unpaired::a);
    }
    for (const uint32_t row : pairs.only_b) Count(b, row, ranks.size(), &Unpaired::b);
    for (const size_t r : ranks) {
      std::vector<NodeDifference> own;
      std::vector<uint8_t> changed = shared.changed;
      changed.resize(a.size());
      ComparePeers(a_.ranks[r], b_.ranks[r], pairs, &own, &changed);
      if (options_.attributes) {
        RETURN_IF_ERROR(CompareFrames(a_.ranks[r], b_.ranks[r], pairs, &own, &changed));
      }
      Add(own, 1, a_.ranks[r]);
      out_.set_changed(out_.changed() + static_cast<uint64_t>(std::count(changed.begin(), changed.end(), 1)));
    }
    return absl::OkStatus();
  }

  const TraceSet& a_;
  const TraceSet& b_;
  const TraceCompareOptions& options_;
  proto::NodeChanges out_;
  std::map<std::string, int> index_;  // of out_.change
  std::map<std::string, Unpaired> unpaired_;
};

// A note if the captures have different numbers of steps; "" if not.
std::string StepNote(const proto::Comparison& c) {
  for (const proto::Section& section : c.section()) {
    if (section.name() != "run" || section.change_size() == 0) continue;
    for (const proto::MeasureChange& m : section.change(0).measure()) {
      if (m.name() != "steps" || m.a() == m.b() || m.a() == 0 || m.b() == 0) continue;
      return absl::StrCat("A has ", m.a(), m.a() == 1 ? " step" : " steps", ", B ", m.b(),
                          ": sums are over all steps; --steps selects equal numbers");
    }
  }
  return "";
}

// The number of files whose content differs at the same place of both lists, or that only one list has.
size_t DifferentFiles(const TraceSet& a, const TraceSet& b) {
  size_t n = 0;
  for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
    n += a.inputs[i].sha256 != b.inputs[i].sha256;
  }
  return n + std::max(a.inputs.size(), b.inputs.size()) - std::min(a.inputs.size(), b.inputs.size());
}

}  // namespace

absl::StatusOr<proto::Comparison> CompareTraces(const TraceSet& a, const TraceSet& b,
                                                const TraceCompareOptions& options) {
  proto::Comparison out;
  CompareMetadata(a, b, &out);
  const TraceTableOptions how{options.merge_numbers, !ShareThreads(a, b),
                              HasHostAndDevice(a) && HasHostAndDevice(b)};
  const std::vector<ComparedTable> tables_a = TraceTables(a, how), tables_b = TraceTables(b, how);
  for (size_t i = 0; i < tables_a.size(); ++i) {
    if (tables_a[i].rows.empty() && tables_b[i].rows.empty()) continue;
    *out.add_section() = DiffTables(tables_a[i], tables_b[i]);
  }
  if (const std::string note = StepNote(out); !note.empty()) out.add_note(note);
  NodeComparison nodes(a, b, options);
  RETURN_IF_ERROR(nodes.Run());
  nodes.Report(&out);
  const proto::NodeChanges& changes = out.nodes();
  out.set_identical(out.setting_size() == 0 && changes.change_size() == 0 && changes.renumbered() == 0 &&
                    std::all_of(out.section().begin(), out.section().end(),
                                [](const proto::Section& s) { return s.changed() == 0; }));
  if (const size_t files = DifferentFiles(a, b); files > 0 && out.identical()) {
    out.add_note(absl::StrCat(
        files, files == 1 ? " input file differs" : " input files differ",
        options.attributes ? " only in form, such as compression or the order of fields"
                           : " in form, or in attributes that replay does not use (see --attributes)"));
  }
  return out;
}

bool HasRecordedTimes(const TraceSet& traces) {
  return std::any_of(traces.ranks.begin(), traces.ranks.end(), [](const RankTrace& rank) {
    return std::any_of(rank.graph->duration.begin(), rank.graph->duration.end(),
                       [](Time t) { return t > Time::Zero(); });
  });
}

}  // namespace chakra
