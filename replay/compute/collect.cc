#include "replay/compute/collect.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/operators/operator_work.h"
#include "trace/base/median.h"
#include "trace/base/status_macros.h"
#include "trace/import/locate.h"

namespace chakra {
namespace {

struct Measured {
  std::string shapes, dtypes, op, code;  // of the first measured node, as written in the trace
  uint64_t operations = 0, bytes = 0;
  std::vector<int64_t> picos;
};

double Micros(int64_t picos) { return static_cast<double>(picos) / 1e6; }

class Collector {
 public:
  Collector(const CollectOptions& options, CollectNotes* notes) : options_(options), notes_(notes) {}

  absl::Status AddRank(const RankTrace& trace) {
    const Graph& g = *trace.graph;
    if (!graphs_.insert(&g).second) return absl::OkStatus();
    for (uint32_t row = 0; row < g.size(); ++row) {
      if (g.type[row] != NodeType::kComp) continue;
      if (g.is_kept_comm(row)) {
        ++notes_->comm;
        continue;
      }
      if (g.is_cpu(row) && !options_.host) {
        ++notes_->host;
      } else if (g.duration[row] <= Time::Zero() || g.name_of(row).empty()) {
        ++notes_->no_duration;
      } else {
        RETURN_IF_ERROR(Add(trace, row));
      }
    }
    return absl::OkStatus();
  }

  proto::KernelTable Table() {
    ShareWork();
    proto::KernelTable table;
    table.set_device(options_.device);
    table.set_source(options_.source);
    std::set<std::string> shaped;
    for (const auto& [key, m] : rows_) {
      if (!std::get<1>(key).empty()) shaped.insert(std::get<0>(key));
    }
    for (auto& [key, m] : rows_) {
      if (std::get<1>(key).empty() && m.operations == 0 && m.bytes == 0 &&
          shaped.count(std::get<0>(key)) > 0) {
        notes_->no_shapes += m.picos.size();
        notes_->nodes -= m.picos.size();
        continue;
      }
      proto::KernelRow* row = table.add_row();
      row->set_name(std::get<0>(key));
      row->set_shapes(m.shapes);
      row->set_dtypes(m.dtypes);
      std::vector<double> us;
      for (const int64_t picos : m.picos) us.push_back(Micros(picos));
      const auto [least, most] = std::minmax_element(us.begin(), us.end());
      row->set_min_us(*least);
      row->set_max_us(*most);
      row->set_count(us.size());
      row->set_duration_us(Median(std::move(us)));
      row->set_op(m.op);
      row->set_code(m.code);
      row->set_operations(m.operations);
      row->set_bytes(m.bytes);
    }
    return table;
  }

 private:
  absl::Status Add(const RankTrace& trace, uint32_t row) {
    const Graph& g = *trace.graph;
    const std::string shapes(g.shapes.empty() ? "" : g.strings.Get(g.shapes[row]));
    const std::string dtypes(g.types.empty() ? "" : g.strings.Get(g.types[row]));
    const std::string code(g.code.empty() ? "" : g.strings.Get(g.code[row]));
    const Work work = g.payload[row] == kNoRow ? Work() : g.work[g.payload[row]];
    const auto operations = static_cast<uint64_t>(std::max<int64_t>(0, work.num_ops));
    const bool by_work = WithoutBlanks(shapes).empty();
    Measured& m = rows_[KernelKey{std::string(g.name_of(row)), WithoutBlanks(shapes), WithoutBlanks(dtypes),
                                  by_work ? operations : 0, by_work ? work.tensor_bytes : 0, code}];
    if (m.picos.empty()) {
      m.shapes = shapes;
      m.dtypes = dtypes;
      m.code = code;
      m.operations = operations;
      m.bytes = work.tensor_bytes;
      RETURN_IF_ERROR(ReadOp(trace, row, &m.op));
    }
    m.picos.push_back(g.duration[row].picos());
    ++notes_->nodes;
    return absl::OkStatus();
  }

  static absl::Status ReadOp(const RankTrace& trace, uint32_t row, std::string* op) {
    if (trace.raw == nullptr) return absl::OkStatus();
    const absl::string_view frame = trace.raw->frame(row + 1);
    ChakraProtoMsg::Node node;
    if (!node.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) {
      return absl::InvalidArgumentError(absl::StrCat(DescribeNode(trace, row), ": the node does not parse"));
    }
    for (const auto& attribute : node.attr()) {
      if (attribute.name() == "op") *op = attribute.string_val();
    }
    return absl::OkStatus();
  }

  // Gives each operator's work to one row without work: the row with the longest total time.
  void ShareWork() {
    // Key: operator (or name, if there is no operator), shapes and dtypes.
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::pair<Measured*, int64_t>>
        longest;
    for (auto& [key, m] : rows_) {
      if (m.operations > 0 || m.bytes > 0) continue;
      int64_t total = 0;
      for (int64_t p : m.picos) total += p;
      auto& [best, most] =
          longest[{m.op, m.op.empty() ? std::get<0>(key) : "", std::get<1>(key), std::get<2>(key)}];
      if (best != nullptr && total <= most) continue;
      best = &m;
      most = total;
    }
    for (auto& [call, row] : longest) {
      const auto work =
          WorkOfKernel(std::get<1>(call), std::get<0>(call), std::get<2>(call), std::get<3>(call), 0);
      if (!work.has_value()) continue;
      row.first->operations = static_cast<uint64_t>(work->operations);
      row.first->bytes = static_cast<uint64_t>(work->bytes);
    }
  }

  const CollectOptions& options_;
  CollectNotes* notes_;
  std::set<const Graph*> graphs_;
  std::map<KernelKey, Measured> rows_;
};

// Returns the value that both rows have, else the default. A default value agrees with any value.
template <typename T>
T Agreed(const T& a, const T& b) {
  if (a == b || b == T()) return a;
  return a == T() ? b : T();
}

void MergeRow(const proto::KernelRow& from, proto::KernelRow* to) {
  const double a = static_cast<double>(std::max<uint64_t>(1, to->count()));
  const double b = static_cast<double>(std::max<uint64_t>(1, from.count()));
  const bool spread = to->max_us() > 0 && from.max_us() > 0;
  to->set_duration_us((to->duration_us() * a + from.duration_us() * b) / (a + b));
  to->set_min_us(spread ? std::min(to->min_us(), from.min_us()) : 0);
  to->set_max_us(spread ? std::max(to->max_us(), from.max_us()) : 0);
  if (spread) to->set_duration_us(std::clamp(to->duration_us(), to->min_us(), to->max_us()));
  to->set_count(static_cast<uint64_t>(a + b));
  to->set_op(Agreed(to->op(), from.op()));
  to->set_operations(Agreed(to->operations(), from.operations()));
  to->set_bytes(Agreed(to->bytes(), from.bytes()));
  to->set_error(std::max(to->error(), from.error()));
}

// A merged row, with the shortest and longest duration of the rows that became this row.
struct MergedRow {
  proto::KernelRow row;
  double shortest = 0, longest = 0;
  bool joined = false;
};

void Note(const MergedRow& merged, MergeNotes* notes) {
  if (!merged.joined) return;
  ++notes->joined;
  if (merged.longest == merged.shortest) return;
  ++notes->differ;
  const double ratio = merged.shortest > 0 ? merged.longest / merged.shortest : HUGE_VAL;
  if (ratio <= notes->ratio) return;
  notes->ratio = ratio;
  notes->name = merged.row.name();
}

void AddOnce(const std::string& text, absl::string_view separator, std::vector<std::string>* seen,
             std::string* joined) {
  if (text.empty() || std::find(seen->begin(), seen->end(), text) != seen->end()) return;
  seen->push_back(text);
  absl::StrAppend(joined, joined->empty() ? "" : separator, text);
}

}  // namespace

absl::StatusOr<proto::KernelTable> CollectKernels(const TraceSet& traces, const CollectOptions& options,
                                                  CollectNotes* notes) {
  *notes = CollectNotes();
  Collector collector(options, notes);
  for (const RankTrace& trace : traces.ranks) {
    RETURN_IF_ERROR(collector.AddRank(trace));
  }
  proto::KernelTable table = collector.Table();
  if (table.row_size() > 0) return table;
  return absl::InvalidArgumentError(absl::StrCat(
      "the traces have no measured kernel: ", notes->host, " host operations were skipped, ",
      notes->no_duration, " compute nodes have no duration; expected device operations with durations",
      notes->host > 0 ? ", or the option for host operations" : ""));
}

absl::StatusOr<proto::KernelTable> MergeKernels(const std::vector<proto::KernelTable>& tables,
                                                const std::vector<std::string>& names, bool any_device,
                                                MergeNotes* notes) {
  MergeNotes unused;
  if (notes == nullptr) notes = &unused;
  *notes = MergeNotes();
  std::map<KernelKey, MergedRow> rows;
  std::vector<std::string> devices, sources;
  std::string device, source;
  for (size_t i = 0; i < tables.size(); ++i) {
    RETURN_IF_ERROR(KernelTableIndex::Make(tables[i], names[i]).status());
    AddOnce(tables[i].device(), " + ", &devices, &device);
    AddOnce(tables[i].source(), "; ", &sources, &source);
    if (devices.size() > 1 && !any_device) {
      return absl::InvalidArgumentError(absl::StrCat(names[i], ": device is \"", tables[i].device(),
                                                     "\", expected \"", devices[0],
                                                     "\" as in the tables before"));
    }
    for (const proto::KernelRow& row : tables[i].row()) {
      const double us = row.duration_us();
      const auto [at, fresh] = rows.try_emplace(KeyOf(row), MergedRow{row, us, us, false});
      if (fresh) continue;
      MergedRow& to = at->second;
      MergeRow(row, &to.row);
      to.shortest = std::min(to.shortest, us);
      to.longest = std::max(to.longest, us);
      to.joined = true;
    }
  }
  proto::KernelTable merged;
  merged.set_device(device);
  merged.set_source(source);
  for (size_t i = 0; i < tables.size() && !device.empty(); ++i) {
    if (tables[i].device().empty()) notes->adopted.push_back(names[i]);
  }
  for (auto& [key, row] : rows) {
    Note(row, notes);
    *merged.add_row() = std::move(row.row);
  }
  return merged;
}

}  // namespace chakra
