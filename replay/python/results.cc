#include "replay/python/results.h"

#include <pybind11/stl.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "replay/python/errors.h"
#include "replay/python/table.h"
#include "replay/sweep/export.h"
#include "replay/sweep/page.h"
#include "replay/sweep/query.h"
#include "replay/sweep/results.h"
#include "trace/io/compressed_file.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

void AddTextColumn(const std::string& name, const std::vector<std::string>& texts, Table* table) {
  absl::flat_hash_map<std::string, int32_t> index;
  std::vector<std::string> words;
  std::vector<int32_t> codes;
  for (const std::string& text : texts) {
    const auto [found, fresh] = index.try_emplace(text, static_cast<int32_t>(words.size()));
    if (fresh) words.push_back(text);
    codes.push_back(found->second);
  }
  table->AddWords(name, "", std::move(codes), std::move(words), false);
}

std::shared_ptr<Table> RowsOf(const sweep::Results& results) {
  auto table = std::make_shared<Table>();
  table->rows = static_cast<int64_t>(results.rows.size());
  std::vector<uint64_t> numbers;
  std::vector<std::string> ids, errors;
  for (const sweep::ResultRow& row : results.rows) {
    numbers.push_back(row.number);
    ids.push_back(row.id);
    errors.push_back(row.error);
  }
  table->Add("point", "its number in the sweep", std::move(numbers));
  AddTextColumn("id", ids, table.get());
  for (size_t a = 0; a < results.space->axes().size(); ++a) {
    std::vector<std::string> texts;
    for (const sweep::ResultRow& row : results.rows) texts.push_back(results.Axis(row, a));
    AddValues(results.space->axes()[a].name, texts, table.get());
  }
  for (const std::string& metric : results.metrics) {
    std::vector<double> values;
    for (const sweep::ResultRow& row : results.rows) {
      const auto found = row.metrics.find(metric);
      values.push_back(found == row.metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->second);
    }
    table->Add(metric, "", std::move(values));
  }
  AddTextColumn("error", errors, table.get());
  return table;
}

std::shared_ptr<Table> AnswerTable(const sweep::Answer& answer) {
  auto table = std::make_shared<Table>();
  table->rows = static_cast<int64_t>(answer.rows.size());
  for (size_t c = 0; c < answer.header.size(); ++c) {
    std::vector<std::string> texts;
    for (const auto& row : answer.rows) texts.push_back(row[c]);
    AddValues(answer.header[c], texts, table.get());
  }
  return table;
}

std::vector<sweep::Aim> AimsOf(const std::vector<std::string>& texts) {
  std::vector<sweep::Aim> aims;
  for (const std::string& text : texts) aims.push_back(sweep::ParseAim(text));
  return aims;
}

void BindQuestions(py::class_<sweep::Results, std::shared_ptr<sweep::Results>>* type) {
  type->def("best",
            [](const sweep::Results& r, const std::string& by, size_t top, const std::string& where) {
              const sweep::Query query = OrThrow(sweep::Query::Make(r, where, true));
              return AnswerTable(OrThrow(query.Best(
                  by.empty() ? std::nullopt : std::optional<sweep::Aim>(sweep::ParseAim(by)), top)));
            })
      .def("pareto",
           [](const sweep::Results& r, const std::vector<std::string>& aims, const std::string& where) {
             const sweep::Query query = OrThrow(sweep::Query::Make(r, where, true));
             return AnswerTable(OrThrow(query.Pareto(AimsOf(aims))));
           })
      .def("table", [](const sweep::Results& r, const std::string& rows, const std::string& columns,
                       const std::string& show, bool mean, const std::string& where) {
        const sweep::Query query = OrThrow(sweep::Query::Make(r, where, true));
        return AnswerTable(OrThrow(
            query.Table(rows, columns, show.empty() ? query.Objective() : sweep::ParseAim(show), mean)));
      });
}

}  // namespace

void AddValues(const std::string& name, const std::vector<std::string>& texts, Table* table) {
  std::vector<double> numbers(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!absl::SimpleAtod(texts[i], &numbers[i])) return AddTextColumn(name, texts, table);
  }
  table->Add(name, "", std::move(numbers));
}

void BindResults(py::module_& module) {
  py::class_<sweep::Results, std::shared_ptr<sweep::Results>> type(module, "SweepRows",
                                                                   "Results of a sweep.");
  type.def_static("load",
                  [](const std::vector<std::string>& folders) {
                    return std::make_shared<sweep::Results>(OrThrow(sweep::LoadResults(folders)));
                  })
      .def_property_readonly("points", [](const sweep::Results& r) { return r.points; })
      .def_property_readonly("failed", [](const sweep::Results& r) { return r.failed; })
      .def_property_readonly("metrics", [](const sweep::Results& r) { return r.metrics; })
      .def_property_readonly("axes",
                             [](const sweep::Results& r) {
                               std::vector<std::string> names;
                               for (const sweep::SweepAxis& axis : r.space->axes())
                                 names.push_back(axis.name);
                               return names;
                             })
      .def_property_readonly("warnings", [](const sweep::Results& r) { return r.warnings; })
      .def("rows", &RowsOf)
      .def("to_csv", [](const sweep::Results& r, bool timing) { return Text(sweep::ToCsv(r, timing)); })
      .def("to_jsonl",
           [](const sweep::Results& r, bool timing) { return Text(OrThrow(sweep::ToJsonLines(r, timing))); })
      .def("html",
           [](const sweep::Results& r, const std::string& where, const std::string& by) {
             return Text(OrThrow(sweep::MakePage(r, {where, by, false})));
           })
      .def("write_sqlite", [](const sweep::Results& r, const std::string& path) {
        ThrowIf(sweep::WriteSqlite(r, false, path));
      });
  BindQuestions(&type);
}

}  // namespace chakra::python
