#include "trace/generate/tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/rank_list.h"
#include "trace/base/status_macros.h"
#include "trace/io/settings.h"

namespace chakra::generate {
namespace {

constexpr int64_t kMostTables = 16384, kMostRows = int64_t{1} << 40, kMostPooling = 1 << 20,
                  kMostWidth = 1 << 20;

absl::Status BadTables(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Reads numbers joined by +.
absl::StatusOr<std::vector<int64_t>> NumbersOf(absl::string_view field, const std::string& text,
                                               int64_t most) {
  std::vector<int64_t> out;
  for (const absl::string_view part : absl::StrSplit(text, '+')) {
    int64_t n = 0;
    if (!absl::SimpleAtoi(part, &n) || n < 1 || n > most) {
      return BadTables(absl::StrCat(field, " has \"", part, "\"; expected whole numbers from 1 to ", most,
                                    " with + between them, as 512+256+128"));
    }
    out.push_back(n);
  }
  return out;
}

absl::Status MissingOfTables(absl::string_view field) {
  return BadTables(absl::StrCat(field, " is missing; a recommendation model needs it"));
}

// Reads one number for each table, or one for all tables.
absl::StatusOr<std::vector<int64_t>> ForEachTable(absl::string_view field, const std::string& text,
                                                  int64_t tables, int64_t most) {
  ASSIGN_OR_RETURN(auto numbers, NumbersOf(field, text, most));
  const auto given = static_cast<int64_t>(numbers.size());
  if (given == 1) numbers.assign(static_cast<size_t>(tables), numbers.front());
  if (static_cast<int64_t>(numbers.size()) == tables) return numbers;
  return BadTables(absl::StrCat(field, " lists ", given,
                                " numbers; expected one for all tables, or one for each of model.tables, ",
                                tables));
}

absl::Status TakeMlps(const proto::Model& m, TableModel* out) {
  if (!m.has_dense_features()) return MissingOfTables("model.dense_features");
  out->dense = m.dense_features();
  if (m.bottom().empty()) return MissingOfTables("model.bottom");
  ASSIGN_OR_RETURN(out->bottom, NumbersOf("model.bottom", m.bottom(), kMostWidth));
  if (m.top().empty()) return MissingOfTables("model.top");
  ASSIGN_OR_RETURN(out->top, NumbersOf("model.top", m.top(), kMostWidth));
  out->dim = m.has_table_dim() ? m.table_dim() : out->bottom.back();
  if (out->dim == out->bottom.back()) return absl::OkStatus();
  return BadTables(absl::StrCat("model.table_dim is ", out->dim,
                                "; expected the last number of model.bottom, ", out->bottom.back(),
                                ", because interaction takes both; the nearest is ", out->bottom.back()));
}

absl::Status TakeCross(const proto::Model& m, TableModel* out) {
  out->cross_layers = m.cross_layers();
  if (out->cross_layers == 0) {
    if (m.has_cross_rank())
      return BadTables("model.cross_rank is for cross layers; expected model.cross_layers too");
    return absl::OkStatus();
  }
  if (!m.has_cross_rank())
    return BadTables("model.cross_rank is missing; cross layers (model.cross_layers) need it");
  out->cross_rank = m.cross_rank();
  return absl::OkStatus();
}

// Whether a recommendation model has this field of proto::Model.
bool HasTablesField(absl::string_view name) {
  for (const char* known : {"preset", "config", "source", "tables", "table_rows", "table_dim", "pooling",
                            "dense_features", "bottom", "top", "cross_layers", "cross_rank"}) {
    if (name == known) return true;
  }
  return false;
}

absl::Status CheckModelFields(const proto::Model& m) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  m.GetReflection()->ListFields(m, &fields);
  for (const auto* f : fields) {
    if (HasTablesField(f->name())) continue;
    return BadTables(
        absl::StrCat("model.", f->name(),
                     " is for transformers; expected no such setting with model.tables, or no tables"));
  }
  return absl::OkStatus();
}

// Reads "none", "all", or tables in the form of a list of ranks, with + for commas.
absl::Status ReadList(absl::string_view field, std::string text, int64_t tables, std::vector<int>* out) {
  if (text.empty() || text == "none") return absl::OkStatus();
  if (text == "all") {
    out->resize(static_cast<size_t>(tables));
    std::iota(out->begin(), out->end(), 0);
    return absl::OkStatus();
  }
  const std::string given = text;
  std::replace(text.begin(), text.end(), '+', ',');
  if (ParseRanks(text, static_cast<int>(tables), out).ok()) return absl::OkStatus();
  return BadTables(absl::StrCat(field, " is \"", given, "\"; expected tables from 0 to ", tables - 1,
                                ", as 0+9+19-22, none or all"));
}

// Bytes of a table's rows and of their optimizer's states.
int64_t BytesOf(const TableModel& m, const proto::Training& t, const Table& table) {
  const auto optimizer = t.has_table_optimizer() ? t.table_optimizer() : proto::Training::TABLE_ADAGRAD;
  const auto dtype = t.has_table_dtype() ? t.table_dtype() : proto::Training::FP32;
  return table.rows * m.dim * TableBytes(dtype) + TableStateBytes(optimizer, table.rows, m.dim);
}

void ShareByRows(const TableModel& m, const proto::Training& t, int64_t ranks, TablePlan* out) {
  double all = 0;
  for (const Table& table : m.tables) all += static_cast<double>(BytesOf(m, t, table));
  for (size_t i = 0; i < m.tables.size(); ++i) {
    const bool larger = static_cast<double>(BytesOf(m, t, m.tables[i])) * static_cast<double>(ranks) > all;
    if (larger && ranks > 1 && out->place[i] == TablePlace::kOneRank) out->place[i] = TablePlace::kRows;
  }
}

void DealOut(const TableModel& m, const proto::Training& t, int64_t ranks, TablePlan* out) {
  out->held.assign(static_cast<size_t>(ranks), {});
  std::vector<int32_t> order;
  for (size_t i = 0; i < m.tables.size(); ++i) {
    if (out->place[i] == TablePlace::kOneRank) order.push_back(static_cast<int32_t>(i));
  }
  const auto table = [&](int32_t i) -> const Table& { return m.tables[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return table(a).pooling > table(b).pooling; });
  // rows and vectors of a sample's lookups; bytes of tables; rank
  using Load = std::tuple<int64_t, int64_t, size_t>;
  std::vector<Load> heap;  // the smallest first
  for (size_t r = 0; r < out->held.size(); ++r) heap.emplace_back(0, 0, r);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  for (const int32_t i : order) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    Load& least = heap.back();
    std::get<0>(least) += table(i).pooling + 1;
    std::get<1>(least) += BytesOf(m, t, table(i));
    out->held[std::get<2>(least)].push_back(i);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }
  for (auto& held : out->held) std::sort(held.begin(), held.end());
}

// Gives one role to ranks that hold equal numbers of tables of the same sizes; they run the same graph.
void FindRoles(const TableModel& m, TablePlan* out) {
  std::map<std::vector<std::pair<int64_t, int64_t>>, int32_t> known;
  for (const auto& held : out->held) {
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (const int32_t i : held)
      sizes.emplace_back(m.tables[static_cast<size_t>(i)].rows, m.tables[static_cast<size_t>(i)].pooling);
    std::sort(sizes.begin(), sizes.end());
    const auto [at, fresh] = known.try_emplace(std::move(sizes), static_cast<int32_t>(out->roles.size()));
    if (fresh) out->roles.push_back(held);
    out->role_of_rank.push_back(at->second);
  }
}

int64_t MlpParameters(int64_t in, const std::vector<int64_t>& widths) {
  int64_t sum = 0;
  for (const int64_t out : widths) {
    sum += in * out + out;
    in = out;
  }
  return sum;
}

double MlpOperations(int64_t in, const std::vector<int64_t>& widths) {
  double sum = 0;
  for (const int64_t out : widths) {
    sum += static_cast<double>(in) * static_cast<double>(out);
    in = out;
  }
  return 6 * sum;
}

void TakeDense(const TableModel& m, TableParameters* out) {
  out->bottom = MlpParameters(m.dense, m.bottom);
  out->cross = m.cross_layers * (2 * m.crossed() * m.cross_rank + m.crossed());
  out->top = MlpParameters(m.top_input(), m.top);
}

void Take(const Table& table, TableSum* sum) {
  ++sum->tables;
  sum->rows += table.rows;
  sum->pooling += table.pooling;
  sum->most_rows = std::max(sum->most_rows, table.rows);
  sum->each.push_back(table);
}

}  // namespace

bool IsOfTables(const proto::Model& model) { return model.tables() > 0 || !model.table_rows().empty(); }

absl::StatusOr<TableModel> ResolveTables(const proto::Model& m) {
  RETURN_IF_ERROR(CheckSettings(m, "model."));
  RETURN_IF_ERROR(CheckModelFields(m));
  if (m.table_rows().empty()) return MissingOfTables("model.table_rows");
  TableModel out;
  ASSIGN_OR_RETURN(auto listed, NumbersOf("model.table_rows", m.table_rows(), kMostRows));
  const int64_t tables = m.tables() > 0 ? m.tables() : static_cast<int64_t>(listed.size());
  if (tables > kMostTables) {
    return BadTables(absl::StrCat("model.table_rows lists ", tables, " tables; expected at most ",
                                  kMostTables, "; the nearest is ", kMostTables));
  }
  ASSIGN_OR_RETURN(const auto rows, ForEachTable("model.table_rows", m.table_rows(), tables, kMostRows));
  ASSIGN_OR_RETURN(const auto pooling, ForEachTable("model.pooling", m.pooling().empty() ? "1" : m.pooling(),
                                                    tables, kMostPooling));
  for (size_t i = 0; i < rows.size(); ++i) out.tables.push_back({rows[i], pooling[i]});
  RETURN_IF_ERROR(TakeMlps(m, &out));
  RETURN_IF_ERROR(TakeCross(m, &out));
  return out;
}

absl::StatusOr<TablePlan> PlaceTables(const TableModel& m, const proto::Workload& w, int64_t ranks) {
  TablePlan out;
  const proto::Parallel& p = w.parallel();
  out.place.assign(m.tables.size(), TablePlace::kOneRank);
  std::vector<int> by_rows, copied;
  RETURN_IF_ERROR(ReadList("parallel.row_wise", p.row_wise(), m.count(), &by_rows));
  RETURN_IF_ERROR(ReadList("parallel.copied", p.copied(), m.count(), &copied));
  for (const int i : by_rows) out.place[static_cast<size_t>(i)] = TablePlace::kRows;
  for (const int i : copied) {
    TablePlace& place = out.place[static_cast<size_t>(i)];
    if (place == TablePlace::kRows)
      return BadTables(absl::StrCat("parallel.copied has ", i, ", which parallel.row_wise has too; expected ",
                                    "each table in one of them"));
    place = TablePlace::kCopied;
  }
  if (p.row_wise().empty()) ShareByRows(m, w.training(), ranks, &out);
  if (ranks == 1) {  // one rank holds every table
    std::replace(out.place.begin(), out.place.end(), TablePlace::kRows, TablePlace::kOneRank);
  }
  DealOut(m, w.training(), ranks, &out);
  FindRoles(m, &out);
  for (size_t i = 0; i < m.tables.size(); ++i)
    Take(m.tables[i], &out.sums[static_cast<size_t>(out.place[i])]);
  out.overlap_indices = !p.has_overlap_indices() || p.overlap_indices();
  out.overlap_vectors = p.overlap_vectors();
  return out;
}

TableSum SumOfRole(const TableModel& m, const TablePlan& plan, int64_t role) {
  TableSum sum;
  for (const int32_t i : plan.roles[static_cast<size_t>(role)]) Take(m.tables[static_cast<size_t>(i)], &sum);
  return sum;
}

int64_t TableStateBytes(proto::Training::TableOptimizer optimizer, int64_t rows, int64_t dim) {
  switch (optimizer) {
    case proto::Training::TABLE_ADAGRAD:
      return 4 * rows * dim;
    case proto::Training::ROWWISE_ADAGRAD:
      return 4 * rows;
    default:
      return 0;
  }
}

TableParameters CountParameters(const TableModel& m) {
  TableParameters out;
  TakeDense(m, &out);
  for (const Table& table : m.tables) out.tables += table.rows * m.dim;
  return out;
}

int64_t DenseParameters(const TableModel& m) {
  TableParameters out;
  TakeDense(m, &out);
  return out.dense();
}

double TrainingFlopsPerSample(const TableModel& m) {
  const auto d = [](int64_t n) { return static_cast<double>(n); };
  const double first = 2 * d(m.dense) * d(m.bottom.front());
  const double between = m.cross_layers > 0 ? 6 * d(m.cross_layers) * 2 * d(m.crossed()) * d(m.cross_rank)
                                            : 6 * d(m.vectors()) * d(m.vectors()) * d(m.dim);
  return MlpOperations(m.dense, m.bottom) - first + between + MlpOperations(m.top_input(), m.top);
}

int64_t RowsMet(int64_t rows, int64_t bags) {
  if (rows <= 1) return std::min(rows, bags);
  const auto n = static_cast<double>(rows);
  const double met = -n * std::expm1(static_cast<double>(bags) * std::log1p(-1 / n));
  return std::min({std::max<int64_t>(bags > 0 ? 1 : 0, std::llround(met)), rows, bags});
}

}  // namespace chakra::generate
