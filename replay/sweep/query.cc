#include "replay/sweep/query.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/printable.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/io/csv.h"

namespace chakra::sweep {
namespace {

std::string CountedPoints(uint64_t n) { return absl::StrCat(FormatCount(n), n == 1 ? " point" : " points"); }

}  // namespace

Aim ParseAim(const std::string& text) {
  absl::string_view rest = text;
  Aim out;
  out.maximize = absl::ConsumePrefix(&rest, "max:");
  if (!out.maximize) absl::ConsumePrefix(&rest, "min:");
  out.expression = std::string(rest);
  return out;
}

std::string PrintAnswer(const Answer& answer, TextPage* page) {
  TextTable table(answer.header, answer.left);
  for (const auto& row : answer.rows) table.Add(row);
  std::string out = table.Print(page);
  for (const std::string& note : answer.notes) absl::StrAppend(&out, "  ", Printable(note), "\n");
  return out;
}

std::string AnswerToCsv(const Answer& answer) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) absl::StrAppend(&out, i > 0 ? "," : "", CsvField(cells[i]));
    out += "\n";
  };
  line(answer.header);
  for (const auto& row : answer.rows) line(row);
  return out;
}

absl::StatusOr<Query> Query::Make(const Results& results, const std::string& where, bool raw) {
  Query out(results, raw);
  RETURN_IF_ERROR(out.Select(where));
  return out;
}

absl::StatusOr<Expression> Query::ParseOver(const std::string& text) const {
  ASSIGN_OR_RETURN(auto e, Expression::Parse(text));
  std::vector<std::string> known = results_.metrics;
  for (const SweepAxis& axis : results_.space->axes()) known.push_back(axis.name);
  for (const std::string& name : e.names()) {
    if (std::find(known.begin(), known.end(), name) != known.end() || IsReportMetric(name)) continue;
    for (const proto::Metric& m : results_.space->spec().metric()) {
      if (m.name() == name)
        return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": no point has a value of ", name));
    }
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": there is neither a metric nor an axis \"",
                                                   name, "\"", SuggestName(name, known)));
  }
  return e;
}

absl::StatusOr<double> Query::Evaluate(const Expression& e, const Candidate& c) const {
  return EvaluateMetric(e, results_.AxesOf(*c.row), c.metrics);
}

absl::Status Query::Select(const std::string& where) {
  const size_t seed = SeedAxis(results_);
  std::map<Place, size_t> by_place;  // without the seed
  for (const ResultRow& row : results_.rows) {
    if (!row.error.empty()) {
      failed_.push_back(&row);
      continue;
    }
    Place place = row.place;
    if (seed != kNotAxis) place.pop_back();
    const auto [it, is_new] = by_place.emplace(std::move(place), candidates_.size());
    if (is_new) {
      candidates_.push_back({&row, {}, {&row}});
    } else {
      candidates_[it->second].repeats.push_back(&row);
    }
  }
  for (Candidate& c : candidates_) {
    std::vector<const PointMetrics*> metrics;
    for (const ResultRow* row : c.repeats) metrics.push_back(&row->metrics);
    c.metrics = MeanOf(metrics);
  }
  if (seed != kNotAxis) notes_.push_back("means over the seeds of each point");
  if (!failed_.empty()) {
    notes_.push_back(absl::StrCat(
        CountedPoints(failed_.size()), failed_.size() == 1 ? " failed and is" : " failed and are",
        " left out: point ", failed_.front()->number, ": ", failed_.front()->error,
        failed_.size() == 1 ? "" : "; the other errors are in column error of the tables (sweep export)"));
  }
  const uint64_t left = results_.points - std::min<uint64_t>(results_.points, results_.rows.size());
  if (left > 0)
    notes_.push_back(absl::StrCat(FormatCount(left), " of ", CountedPoints(results_.points),
                                  left == 1 ? " has" : " have", " no result yet"));
  if (where.empty()) return absl::OkStatus();
  auto e = ParseOver(where);
  if (!e.ok()) return absl::InvalidArgumentError(absl::StrCat("--where: ", e.status().message()));
  std::vector<Candidate> kept;
  for (Candidate& c : candidates_) {
    auto holds = Evaluate(*e, c);
    if (!holds.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("--where: point ", c.row->number, ": ", holds.status().message()));
    if (*holds != 0) kept.push_back(std::move(c));
  }
  if (kept.empty() && !candidates_.empty())
    notes_.push_back(absl::StrCat("none of ", FormatCount(candidates_.size()), " points fits --where"));
  candidates_ = std::move(kept);
  const auto excluded = [&](const ResultRow* row) {
    const auto holds = Evaluate(*e, Candidate{row, {}, {row}});
    return holds.ok() && *holds == 0;
  };
  failed_.erase(std::remove_if(failed_.begin(), failed_.end(), excluded), failed_.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<double>>> Query::Values(const std::string& expression) const {
  ASSIGN_OR_RETURN(auto e, ParseOver(expression));
  std::vector<std::optional<double>> out;
  for (const Candidate& c : candidates_) {
    auto value = Evaluate(e, c);
    out.push_back(value.ok() ? std::optional<double>(*value) : std::nullopt);
  }
  return out;
}

std::string Query::Cell(const std::string& expression, double value) const {
  if (raw_) return ToText(value);
  const bool name = IsName(expression);
  if (name && absl::EndsWith(expression, "_ps") && std::fabs(value) < 9e18) {
    return FormatTime(Time::Picos(static_cast<int64_t>(std::llround(value))));
  }
  if (value == std::rint(value) && value >= 0 && value < 1e15)
    return FormatCount(static_cast<uint64_t>(value));
  return absl::StrFormat("%.4g", value);
}

std::string Query::Heading(const std::string& expression) const {
  const bool timed = !raw_ && IsName(expression) && absl::EndsWith(expression, "_ps");
  return timed ? expression.substr(0, expression.size() - 3) : expression;
}

Answer Query::Begin(const std::vector<Aim>& aims) const {
  Answer out;
  out.header = {"point"};
  out.left = {false};
  const size_t seed = SeedAxis(results_);
  for (size_t a = 0; a < results_.space->axes().size(); ++a) {
    if (a == seed) continue;
    out.header.push_back(results_.space->axes()[a].name);
    out.left.push_back(true);
  }
  for (const Aim& aim : aims) {
    out.header.push_back(Heading(aim.expression));
    out.left.push_back(false);
  }
  out.notes = notes_;
  return out;
}

void Query::AddRow(const Candidate& c, const std::vector<double>& values, const std::vector<Aim>& aims,
                   Answer* out) const {
  std::vector<std::string> cells = {absl::StrCat(c.row->number)};
  const size_t seed = SeedAxis(results_);
  for (size_t a = 0; a < c.row->place.size(); ++a) {
    if (a != seed) cells.push_back(results_.Axis(*c.row, a));
  }
  for (size_t i = 0; i < aims.size(); ++i) cells.push_back(Cell(aims[i].expression, values[i]));
  out->rows.push_back(std::move(cells));
}

Aim Query::Objective() const {
  const proto::Objective& o = results_.space->spec().objective();
  return {o.metric().empty() ? "makespan_ps" : o.metric(), o.goal() == proto::Objective::MAXIMIZE};
}

absl::StatusOr<Answer> Query::Best(const std::optional<Aim>& given, size_t top) const {
  std::vector<Aim> aims = {given.value_or(Objective())};
  ASSIGN_OR_RETURN(auto e, ParseOver(aims[0].expression));
  // Additional columns for the reader.
  for (const proto::Metric& m : results_.space->spec().metric()) {
    if (m.name() != aims[0].expression) aims.push_back({m.name(), false});
  }
  if (aims[0].expression != "makespan_ps") aims.push_back({"makespan_ps", false});
  std::vector<std::pair<double, const Candidate*>> order;
  size_t without = 0;
  for (const Candidate& c : candidates_) {
    auto value = Evaluate(e, c);
    if (value.ok()) {
      order.emplace_back(aims[0].maximize ? -*value : *value, &c);
    } else {
      ++without;
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Answer out = Begin(aims);
  for (size_t i = 0; i < std::min(top, order.size()); ++i) {
    std::vector<std::string> cells;
    const Candidate& c = *order[i].second;
    std::vector<double> values = {aims[0].maximize ? -order[i].first : order[i].first};
    for (size_t a = 1; a < aims.size(); ++a) {
      const auto found = c.metrics.find(aims[a].expression);
      values.push_back(found == c.metrics.end() ? std::nan("") : found->second);
    }
    AddRow(c, values, aims, &out);
  }
  if (order.size() > top) out.notes.push_back(absl::StrCat("and ", FormatCount(order.size() - top), " more"));
  if (without > 0)
    out.notes.push_back(
        absl::StrCat(CountedPoints(without), without == 1 ? " has" : " have", " no ", aims[0].expression));
  return out;
}

absl::StatusOr<Answer> Query::Pareto(const std::vector<Aim>& aims) const {
  if (aims.size() < 2) return absl::InvalidArgumentError("pareto expects at least two metrics");
  std::vector<Expression> expressions;
  for (const Aim& aim : aims) {
    ASSIGN_OR_RETURN(auto e, ParseOver(aim.expression));
    expressions.push_back(std::move(e));
  }
  struct Scored {
    const Candidate* candidate;
    std::vector<double> cost, value;
  };
  std::vector<Scored> all;
  for (const Candidate& c : candidates_) {
    Scored s{&c, {}, {}};
    for (size_t i = 0; i < aims.size(); ++i) {
      auto value = Evaluate(expressions[i], c);
      if (!value.ok()) break;
      s.value.push_back(*value);
      s.cost.push_back(aims[i].maximize ? -*value : *value);
    }
    if (s.cost.size() == aims.size()) all.push_back(std::move(s));
  }
  // In this order, no later point dominates an earlier one.
  std::stable_sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) { return a.cost < b.cost; });
  std::vector<const Scored*> front;
  for (const Scored& s : all) {
    const bool dominated = std::any_of(front.begin(), front.end(), [&](const Scored* f) {
      if (f->cost == s.cost) return false;
      for (size_t i = 0; i < s.cost.size(); ++i) {
        if (f->cost[i] > s.cost[i]) return false;
      }
      return true;
    });
    if (!dominated) front.push_back(&s);
  }
  Answer out = Begin(aims);
  for (const Scored* s : front) AddRow(*s->candidate, s->value, aims, &out);
  out.notes.push_back(absl::StrCat(FormatCount(all.size() - front.size()), " of ", FormatCount(all.size()),
                                   " points are dominated"));
  return out;
}

absl::StatusOr<size_t> Query::FindAxis(const std::string& name) const {
  std::vector<std::string> known;
  for (const SweepAxis& axis : results_.space->axes()) {
    if (axis.name == name) return known.size();
    known.push_back(axis.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no axis \"", name, "\"", SuggestName(name, known)));
}

absl::StatusOr<Answer> Query::Table(const std::string& rows, const std::string& columns, const Aim& show,
                                    bool mean) const {
  ASSIGN_OR_RETURN(auto row_axis, FindAxis(rows));
  size_t column_axis = kNotAxis;
  if (!columns.empty()) {
    ASSIGN_OR_RETURN(column_axis, FindAxis(columns));
    if (column_axis == row_axis)
      return absl::InvalidArgumentError(absl::StrCat("rows and columns are both ", rows));
  }
  ASSIGN_OR_RETURN(auto e, ParseOver(show.expression));
  struct CellOf {
    double sum = 0, best = 0;
    size_t count = 0;
  };
  std::map<std::pair<uint32_t, uint32_t>, CellOf> cells;
  size_t most = 0;
  for (const Candidate& c : candidates_) {
    auto value = Evaluate(e, c);
    if (!value.ok()) continue;
    CellOf& cell = cells[{c.row->place[row_axis], column_axis == kNotAxis ? 0 : c.row->place[column_axis]}];
    const bool better = show.maximize ? *value > cell.best : *value < cell.best;
    if (cell.count == 0 || better) cell.best = *value;
    cell.sum += *value;
    most = std::max(most, ++cell.count);
  }
  const auto& axes = results_.space->axes();
  Answer out;
  out.header = {columns.empty() ? rows : absl::StrCat(rows, " \\ ", columns)};
  out.left = {true};
  std::vector<uint32_t> used_rows, used_columns;
  for (const auto& [at, cell] : cells) {
    used_rows.push_back(at.first);
    used_columns.push_back(at.second);
  }
  for (auto* used : {&used_rows, &used_columns}) {
    std::sort(used->begin(), used->end());
    used->erase(std::unique(used->begin(), used->end()), used->end());
  }
  for (const uint32_t c : used_columns) {
    out.header.push_back(columns.empty() ? Heading(show.expression) : axes[column_axis].values[c].text);
    out.left.push_back(false);
  }
  for (const uint32_t r : used_rows) {
    std::vector<std::string> line = {axes[row_axis].values[r].text};
    for (const uint32_t c : used_columns) {
      const auto found = cells.find({r, c});
      line.push_back(
          found == cells.end()
              ? ""
              : Cell(show.expression, mean ? found->second.sum / static_cast<double>(found->second.count)
                                           : found->second.best));
    }
    out.rows.push_back(std::move(line));
  }
  out.notes = notes_;
  if (!columns.empty()) out.notes.insert(out.notes.begin(), Heading(show.expression));
  if (most > 1) {
    out.notes.push_back(absl::StrCat("each cell is ",
                                     mean            ? "the mean"
                                     : show.maximize ? "the largest"
                                                     : "the least",
                                     " of up to ", CountedPoints(most)));
  }
  return out;
}

}  // namespace chakra::sweep
