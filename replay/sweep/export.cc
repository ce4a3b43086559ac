#include "replay/sweep/export.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/sweep/words.h"
#include "trace/base/json_text.h"
#include "trace/base/status_macros.h"
#include "trace/io/csv.h"

namespace chakra::sweep {
namespace {

std::string JsonValueOf(const Value& value) {
  return std::holds_alternative<double>(value) ? ToText(value) : JsonText(std::get<std::string>(value));
}

}  // namespace

absl::StatusOr<std::string> CommandOf(const Space& space, const Place& place) {
  ASSIGN_OR_RETURN(auto words, space.Words(place));
  return absl::StrCat("chakra-replay replay ", QuoteWords(words));
}

std::string ToCsv(const Results& results, bool wall) {
  std::string out = "point,id";
  for (const SweepAxis& axis : results.space->axes()) absl::StrAppend(&out, ",", CsvField(axis.name));
  for (const std::string& name : results.metrics) absl::StrAppend(&out, ",", CsvField(name));
  absl::StrAppend(&out, ",error", wall ? ",wall_s" : "", "\n");
  for (const ResultRow& row : results.rows) {
    absl::StrAppend(&out, row.number, ",", row.id);
    for (size_t a = 0; a < row.place.size(); ++a) absl::StrAppend(&out, ",", CsvField(results.Axis(row, a)));
    for (const std::string& name : results.metrics) {
      const auto found = row.metrics.find(name);
      absl::StrAppend(&out, ",", found == row.metrics.end() ? "" : ToText(found->second));
    }
    absl::StrAppend(&out, ",", CsvField(row.error));
    if (wall) absl::StrAppendFormat(&out, ",%.6f", row.record.wall_s());
    out += "\n";
  }
  return out;
}

absl::StatusOr<std::string> ToJsonLines(const Results& results, bool wall) {
  std::string out;
  for (const ResultRow& row : results.rows) {
    absl::StrAppend(&out, "{\"point\":", row.number, ",\"id\":", JsonText(row.id), ",\"axes\":{");
    for (size_t a = 0; a < row.place.size(); ++a) {
      const SweepAxis& axis = results.space->axes()[a];
      absl::StrAppend(&out, a > 0 ? "," : "", JsonText(axis.name), ":",
                      JsonValueOf(axis.values[row.place[a]].value));
    }
    absl::StrAppend(&out, "},\"metrics\":{");
    const char* comma = "";
    for (const std::string& name : results.metrics) {
      const auto found = row.metrics.find(name);
      if (found == row.metrics.end()) continue;
      absl::StrAppend(&out, comma, JsonText(name), ":", ToText(found->second));
      comma = ",";
    }
    out += "}";
    if (!row.error.empty()) absl::StrAppend(&out, ",\"error\":", JsonText(row.error));
    if (wall) absl::StrAppendFormat(&out, ",\"wall_s\":%.6f", row.record.wall_s());
    ASSIGN_OR_RETURN(auto command, CommandOf(*results.space, row.place));
    absl::StrAppend(&out, ",\"command\":", JsonText(command), "}\n");
  }
  return out;
}

}  // namespace chakra::sweep
