#include "test/validation/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

std::optional<double> MedianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  return Median(std::move(values));
}

std::string Percent(std::optional<double> share) {
  return share ? absl::StrFormat("%.1f %%", 100 * *share) : "-";
}

std::string Rule(const MeasuredRow& row) { return row.rule.empty() ? "auto" : row.rule; }

void AppendMediansTable(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns,
                        std::string* out) {
  absl::StrAppend(out, "| machine | source | GPUs | rows from 1 MiB | below |");
  for (const PredictedColumn& c : columns) absl::StrAppend(out, " ", c.name, ": from 1 MiB | below |");
  absl::StrAppend(out, "\n|---|---|---|---|---|");
  for (size_t i = 0; i < columns.size(); ++i) absl::StrAppend(out, "---|---|");
  const auto line = [&](const std::string& head, const std::vector<size_t>& of) {
    const auto large = std::count_if(of.begin(), of.end(), [&](size_t i) { return rows[i].bytes >= kLarge; });
    std::string cells;
    for (const PredictedColumn& c : columns) {
      const Medians m = MediansOf(c, rows, of);
      absl::StrAppend(&cells, " ", Percent(m.large), " | ", Percent(m.small), " |");
    }
    absl::StrAppend(out, "\n| ", head, " | ", large, " | ", static_cast<int64_t>(of.size()) - large, " |",
                    cells);
  };
  line("all | |", Compared(rows));
  for (const Subset& s : Subsets(rows)) line(absl::StrCat(s.preset, " | ", s.source, " | ", s.ranks), s.rows);
  absl::StrAppend(out, "\n");
}

void AppendWorst(const std::vector<MeasuredRow>& rows, const PredictedColumn& column, std::string* out) {
  constexpr size_t kWorst = 12;
  std::vector<size_t> order = Compared(rows);
  order.erase(std::remove_if(order.begin(), order.end(), [&](size_t i) { return !column.rows[i]; }),
              order.end());
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(column.Error(rows, a)) > std::abs(column.Error(rows, b));
  });
  order.resize(std::min(order.size(), kWorst));
  absl::StrAppend(out, "\n## Worst rows: ", column.name,
                  "\n\n| machine | source | GPUs | size | measured | predicted | with | error |\n"
                  "|---|---|---|---|---|---|---|---|\n");
  for (size_t i : order) {
    const MeasuredRow& r = rows[i];
    const Prediction& p = *column.rows[i];
    absl::StrAppendFormat(out, "| %s | %s | %d | %s | %.1f us | %.1f us | %s/%s | %+.1f %% |\n", r.preset,
                          r.source, r.ranks, SizeText(r.bytes), r.time_us, p.time_us, p.algorithm, p.protocol,
                          100 * column.Error(rows, i));
  }
}

}  // namespace

std::vector<size_t> Compared(const std::vector<MeasuredRow>& rows) {
  std::vector<size_t> all;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].left_out.empty()) all.push_back(i);
  }
  return all;
}

Medians MediansOf(const PredictedColumn& column, const std::vector<MeasuredRow>& rows,
                  const std::vector<size_t>& of) {
  std::vector<double> large, small;
  for (size_t i : of) {
    if (column.rows[i]) (rows[i].bytes >= kLarge ? large : small).push_back(std::abs(column.Error(rows, i)));
  }
  return {MedianOf(large), MedianOf(small), large.size(), small.size()};
}

std::string CsvTable(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns) {
  std::string out = "gpu,machine,source,ranks,nodes,bytes,choice,measured_us";
  for (const PredictedColumn& c : columns) {
    const std::string n = absl::StrCat(",", c.name, "_");
    absl::StrAppend(&out, n, "algorithm", n, "protocol", n, "us", n, "error_pct");
  }
  out += ",left_out\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const MeasuredRow& r = rows[i];
    absl::StrAppendFormat(&out, "%s,%s,%s,%d,%d,%d,%s,%.1f", r.gpu, r.preset, r.source, r.ranks, r.nodes,
                          r.bytes, Rule(r), r.time_us);
    for (const PredictedColumn& c : columns) {
      if (!c.rows[i]) {
        out += ",,,,";
        continue;
      }
      absl::StrAppendFormat(&out, ",%s,%s,%.1f,%.1f", c.rows[i]->algorithm, c.rows[i]->protocol,
                            c.rows[i]->time_us, 100 * c.Error(rows, i));
    }
    absl::StrAppend(&out, ",", r.left_out, "\n");
  }
  return out;
}

std::string Markdown(const std::vector<MeasuredRow>& rows, const std::vector<PredictedColumn>& columns,
                     const std::vector<std::string>& notes) {
  const size_t compared = Compared(rows).size();
  std::string out = absl::StrCat(
      "# All-reduce, measured and predicted\n\n", compared, " of ", rows.size(),
      " published measurements; each row is in `collectives.csv`, each curve in `collectives.svg`.\n"
      "preset: predicted with the presets alone. calibrated: the preset fitted to every third size of a "
      "machine and "
      "source, on\nthe other sizes. The error is predicted / measured - 1; below are medians of its absolute "
      "value.\n\n");
  AppendMediansTable(rows, columns, &out);
  for (const PredictedColumn& c : columns) AppendWorst(rows, c, &out);
  std::map<std::string, size_t> reasons;
  for (const MeasuredRow& r : rows) {
    if (!r.left_out.empty()) ++reasons[absl::StrCat(r.gpu, ", ", r.source, ": ", r.left_out)];
  }
  absl::StrAppend(&out, "\n## Left out\n\n");
  if (reasons.empty()) out += "Nothing.\n";
  for (const auto& [reason, count] : reasons) absl::StrAppend(&out, "- ", count, " rows of ", reason, "\n");
  absl::StrAppend(&out, "\n## Where the choice changes\n\n");
  for (const std::string& n : notes) absl::StrAppend(&out, "- ", n, "\n");
  return out;
}

}  // namespace chakra::validation
