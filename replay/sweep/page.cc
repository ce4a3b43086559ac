#include "replay/sweep/page.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/page/columns.h"
#include "replay/page/frame.h"
#include "replay/sweep/export.h"
#include "replay/sweep/query.h"
#include "replay/sweep/words.h"
#include "trace/base/json_text.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/io/proto_io.h"

namespace chakra::sweep {
namespace {

constexpr size_t kBestAsText = 10;

// Builds a JSON object, member by member.
class JsonObject {
 public:
  void Add(absl::string_view name, absl::string_view json) {
    absl::StrAppend(&out_, out_.empty() ? "{" : ",\n", JsonText(name), ":", json);
  }
  void AddText(absl::string_view name, absl::string_view text) { Add(name, JsonText(text)); }
  void AddNumber(absl::string_view name, uint64_t number) { Add(name, absl::StrCat(number)); }
  std::string Done() const { return absl::StrCat(out_.empty() ? "{" : out_, "}"); }

 private:
  std::string out_;
};

template <typename List, typename Print>
std::string JsonList(const List& list, const Print& print, absl::string_view between = ",") {
  std::string out = "[";
  absl::string_view separator = "";
  for (const auto& item : list) {
    absl::StrAppend(&out, separator, print(item));
    separator = between;
  }
  return out + "]";
}

std::string Number(const std::optional<double>& value) { return value.has_value() ? ToText(*value) : "null"; }

// Collects the words of commands; the page has each word once.
class Words {
 public:
  std::string IndicesOf(const std::vector<std::string>& words) {
    return JsonList(words, [&](const std::string& word) {
      const auto [it, is_new] = index_.emplace(word, index_.size());
      if (is_new) words_.push_back(QuoteWord(word));
      return absl::StrCat(it->second);
    });
  }
  std::string Json() const { return JsonList(words_, JsonText); }

 private:
  std::map<std::string, size_t> index_;
  std::vector<std::string> words_;
};

class PageWriter {
 public:
  PageWriter(const Results& results, const Query& query, const PageOptions& options)
      : results_(results),
        query_(query),
        options_(options),
        aim_(options.by.empty() ? query.Objective() : ParseAim(options.by)) {}

  absl::StatusOr<std::string> Write() {
    About();
    RETURN_IF_ERROR(Objective());
    Axes();
    Metrics();
    RETURN_IF_ERROR(Rows());
    json_.Add("words", words_.Json());
    Points();
    Inputs();
    absl::StatusOr<std::string> spec = results_.start->text();
    if (spec->empty()) spec = FormatMessage(results_.start->sweep(), MessageFormat::kText);
    if (!spec.ok()) return spec.status();
    json_.AddText("spec", *spec);
    return json_.Done();
  }

  const Aim& aim() const { return aim_; }
  // The best value of the objective; nullopt if no point has a value. Call this after Write().
  std::optional<double> BestValue() const {
    std::optional<double> best;
    for (const std::optional<double>& v : values_) {
      if (v.has_value() && (!best.has_value() || (aim_.maximize ? *v > *best : *v < *best))) best = v;
    }
    return best;
  }

 private:
  void About() {
    const proto::Sweep& sweep = results_.space->spec();
    json_.AddText("version", results_.start->version());
    json_.AddText("name", sweep.name());
    json_.AddText("description", sweep.description());
    json_.AddText("source", results_.start->source());
    json_.AddNumber("asked", results_.points);
    json_.AddNumber("failed", results_.failed);
    json_.AddNumber("ended", results_.rows.size());
    json_.AddNumber("left_out", results_.space->left_out());
    json_.AddNumber("damaged", results_.damaged);
    json_.AddNumber("repeats", sweep.repeats());
    json_.AddText("where", options_.where);
    json_.AddText("by", options_.by);
    json_.AddText("search", sweep.has_search() ? proto::Search::Method_Name(sweep.search().method()) : "");
    json_.Add("warnings", JsonList(results_.warnings, JsonText));
  }

  absl::Status Objective() {
    ASSIGN_OR_RETURN(values_, query_.Values(aim_.expression));
    json_.Add("objective", absl::StrCat("{\"expression\":", JsonText(aim_.expression),
                                        ",\"maximize\":", aim_.maximize ? "true" : "false", "}"));
    return absl::OkStatus();
  }

  // Writes the axes, with `numbers` if all values are numbers.
  void Axes() {
    const size_t seed = SeedAxis(results_);
    size_t at = 0;
    json_.Add(
        "axes",
        JsonList(
            results_.space->axes(),
            [&](const SweepAxis& axis) {
              JsonObject out;
              out.AddText("name", axis.name);
              out.AddText("sets", axis.option.empty() ? axis.field : axis.option);
              out.Add("values", JsonList(axis.values, [](const AxisValue& v) { return JsonText(v.text); }));
              if (std::all_of(axis.values.begin(), axis.values.end(),
                              [](const AxisValue& v) { return std::holds_alternative<double>(v.value); })) {
                out.Add("numbers", JsonList(axis.values, [](const AxisValue& v) { return ToText(v.value); }));
              }
              if (at++ == seed) out.Add("seed", "true");
              return out.Done();
            },
            ",\n"));
  }

  void Metrics() {
    json_.Add("metrics", JsonList(results_.metrics, JsonText));
    if (options_.wall) json_.Add("wall", "true");
    json_.Add("expressions", JsonList(results_.space->spec().metric(), [](const proto::Metric& m) {
                return absl::StrCat("[", JsonText(m.name()), ",", JsonText(m.expression()), "]");
              }));
  }

  absl::StatusOr<std::string> Row(const ResultRow& row) {
    std::vector<std::optional<double>> metrics;
    for (const std::string& name : results_.metrics) {
      const auto found = row.metrics.find(name);
      metrics.push_back(found == row.metrics.end() ? std::nullopt : std::optional<double>(found->second));
    }
    if (options_.wall) metrics.emplace_back(row.record.wall_s());
    ASSIGN_OR_RETURN(auto words, results_.space->Words(row.place));
    return absl::StrCat("[", row.number, ",", JsonText(row.id), ",[", absl::StrJoin(row.place, ","), "],",
                        JsonList(metrics, Number), ",", words_.IndicesOf(words), row.error.empty() ? "" : ",",
                        row.error.empty() ? "" : JsonText(row.error), "]");
  }

  absl::Status Rows() {
    std::vector<const ResultRow*> chosen = query_.failed();
    for (const Candidate& c : query_.candidates())
      chosen.insert(chosen.end(), c.repeats.begin(), c.repeats.end());
    std::sort(chosen.begin(), chosen.end(),
              [](const ResultRow* a, const ResultRow* b) { return a->number < b->number; });
    std::string rows;
    for (const ResultRow* row : chosen) {
      const size_t index = index_.size();
      index_[row] = index;
      ASSIGN_OR_RETURN(auto json, Row(*row));
      absl::StrAppend(&rows, index == 0 ? "\n" : ",\n", json);
    }
    json_.Add("rows", absl::StrCat("[", rows, "]"));
    return absl::OkStatus();
  }

  void Points() {
    size_t at = 0;
    json_.Add("points", JsonList(query_.candidates(), [&](const Candidate& c) {
                const auto row = [&](const ResultRow* r) { return absl::StrCat(index_.at(r)); };
                return absl::StrCat("[", Number(values_[at++]), ",", JsonList(c.repeats, row), "]");
              }));
  }

  // Writes each file once. A file that changed during the sweep is written once for each content.
  void Inputs() {
    std::map<std::pair<std::string, std::string>, const proto::InputFile*> files;
    for (const auto& [row, index] : index_) {
      const auto found = results_.files.find(row->record.inputs());
      if (found == results_.files.end()) continue;
      for (const proto::InputFile& file : found->second.file()) files[{file.path(), file.sha256()}] = &file;
    }
    json_.Add("inputs", JsonList(files, [](const auto& entry) {
                const proto::InputFile& file = *entry.second;
                return absl::StrCat("{\"path\":", JsonText(file.path()), ",\"role\":", JsonText(file.role()),
                                    ",\"bytes\":", file.bytes(), ",\"sha256\":", JsonText(file.sha256()),
                                    "}");
              }));
    json_.Add("traces", JsonList(results_.space->spec().trace(), JsonText));
  }

  const Results& results_;
  const Query& query_;
  const PageOptions& options_;
  const Aim aim_;
  std::vector<std::optional<double>> values_;  // of the objective, for each candidate
  std::map<const ResultRow*, size_t> index_;   // of the rows in the page
  Words words_;
  JsonObject json_;
};

}  // namespace

absl::StatusOr<std::string> PageData(const Results& results, const PageOptions& options) {
  ASSIGN_OR_RETURN(auto query, Query::Make(results, options.where, false));
  return PageWriter(results, query, options).Write();
}

absl::StatusOr<std::string> MakePage(const Results& results, const PageOptions& options) {
  ASSIGN_OR_RETURN(auto query, Query::Make(results, options.where, false));
  PageWriter writer(results, query, options);
  ASSIGN_OR_RETURN(auto data, writer.Write());
  const Aim& aim = writer.aim();
  ASSIGN_OR_RETURN(auto best, query.Best(aim, kBestAsText));
  const std::optional<double> first = writer.BestValue();
  const std::string name = results.space->spec().name();
  page::Parts parts;
  parts.sections = "sweep/sweep.html";
  parts.styles = {"page.css", "sweep/sweep.css"};
  parts.scripts = {"format.js",       "table.js",        "charts.js",        "theme.js",
                   "sweep/data.js",   "sweep/choose.js", "sweep/answer.js",  "sweep/glyphs.js",
                   "sweep/points.js", "sweep/scale.js",  "sweep/scatter.js", "sweep/effects.js",
                   "sweep/again.js",  "sweep/sweep.js"};
  parts.columns = page::ColumnsOf(*proto::InputFile::descriptor());
  parts.kind = "sweep";
  parts.data = data;
  parts.heading = first.has_value() ? query.Cell(aim.expression, *first) : "No result";
  const uint64_t points = first.has_value() ? query.candidates().size() : query.failed().size();
  parts.of = absl::StrCat(first.has_value() ? (aim.maximize ? "is the largest " : "is the least ") : "for ",
                          query.Heading(aim.expression), " of ", FormatCount(points),
                          points == 1 ? " point" : " points", ": ", name);
  parts.title = absl::StrCat(name, ": ", parts.heading, ", ", query.Heading(aim.expression),
                             ", chakra-replay ", results.start->version());
  parts.text = PrintAnswer(best);
  return page::Assemble(parts);
}

}  // namespace chakra::sweep
