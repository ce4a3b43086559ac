#include "replay/compare/page.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "replay/compare/print.h"
#include "replay/page/columns.h"
#include "replay/page/frame.h"
#include "trace/base/status_macros.h"
#include "trace/base/units.h"

namespace chakra {
namespace {

constexpr size_t kRowsOfText = 10;

absl::StatusOr<std::string> Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto printed = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (printed.ok()) return json;
  return absl::InternalError(absl::StrCat("cannot print the comparison: ", printed.ToString()));
}

// The parts of a side's report that the page shows, in addition to the comparison.
proto::Report Shown(const proto::Report& report) {
  proto::Report out;
  out.set_makespan_ps(report.makespan_ps());
  out.set_bound(report.bound());
  *out.mutable_rank() = report.rank();
  *out.mutable_activity() = report.activity();
  out.set_activity_bucket_ps(report.activity_bucket_ps());
  return out;
}

std::string TimeOf(const proto::Report& r) {
  return r.makespan_ps() > 0 ? FormatTime(Time::Picos(r.makespan_ps())) : "A";
}

}  // namespace

absl::StatusOr<std::string> MakeComparisonPage(const proto::Comparison& comparison, const proto::Report& a,
                                               const proto::Report& b) {
  const auto compared = Json(comparison), of_a = Json(Shown(a)), of_b = Json(Shown(b));
  for (const auto* json : {&compared, &of_a, &of_b}) {
    if (!json->ok()) return json->status();
  }
  ASSIGN_OR_RETURN(const auto text, PrintComparison(comparison, ReportFormat::kText, kRowsOfText));
  page::Parts parts;
  parts.sections = "compare/compare.html";
  parts.styles = {"page.css"};
  parts.scripts = {"format.js", "table.js",    "charts.js",         "theme.js",
                   "ranks.js",  "timeline.js", "compare/compare.js"};
  parts.columns = page::ColumnsOf(*proto::InputFile::descriptor());
  parts.kind = "comparison";
  parts.data = absl::StrCat("{\"comparison\":", *compared, ",\"a\":", *of_a, ",\"b\":", *of_b, "}");
  const bool times = a.makespan_ps() > 0 && b.makespan_ps() > 0;
  parts.heading = times ? absl::StrCat(TimeOf(a), " to ", TimeOf(b)) : "A and B";
  parts.of = absl::StrCat("from ", comparison.a().path(), " to ", comparison.b().path());
  parts.title = absl::StrCat(parts.heading, ": ", comparison.a().path(), " and ", comparison.b().path(),
                             ", chakra-replay ", comparison.version());
  parts.text = text;
  return page::Assemble(parts);
}

}  // namespace chakra
