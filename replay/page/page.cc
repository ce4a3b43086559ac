#include "replay/page/page.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "replay/page/columns.h"
#include "replay/page/frame.h"
#include "replay/report/report.h"
#include "trace/base/status_macros.h"
#include "trace/base/units.h"
#include "trace/model/trace.h"

namespace chakra {
namespace {

// A short name of the traces: the name of a single file, the common folder of several files, or the model of
// a generated step.
std::string TracesName(const proto::Report& report) {
  if (report.job_size() > 1) return absl::StrCat(report.job_size(), " jobs");
  std::string shared;
  int files = 0;
  for (const proto::InputFile& input : report.input()) {
    if (!IsTraceRole(input.role())) continue;
    if (files++ == 0) {
      shared = input.path();
      continue;
    }
    const auto end = std::mismatch(shared.begin(), shared.end(), input.path().begin(), input.path().end());
    const size_t slash = shared.substr(0, end.first - shared.begin()).rfind('/');
    shared.resize(slash == std::string::npos ? 0 : slash + 1);
  }
  while (files > 1 && shared.size() > 1 && shared.back() == '/') shared.pop_back();
  if (files == 0 && report.has_training())
    return absl::StrCat(report.training().model(), ", ", report.training().split());
  return !shared.empty() ? shared : files == 0 ? "no traces" : absl::StrCat(files, " traces");
}

std::string Title(const proto::Report& report) {
  std::string title = absl::StrCat(FormatTime(Time::Picos(report.makespan_ps())), ": ", TracesName(report));
  if (!report.cluster().empty()) absl::StrAppend(&title, " on ", report.cluster());
  if (!report.fabric().empty()) absl::StrAppend(&title, ", ", report.fabric());
  return absl::StrCat(title, ", chakra-replay ", report.version());
}

}  // namespace

absl::StatusOr<std::string> MakePage(const proto::Report& report) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto printed = google::protobuf::util::MessageToJsonString(report, &json, options);
  if (!printed.ok()) {
    return absl::InternalError(absl::StrCat("cannot print the report: ", printed.ToString()));
  }
  ASSIGN_OR_RETURN(const std::string text, PrintReport(report, ReportFormat::kText));
  page::Parts parts;
  parts.sections = "page.html";
  parts.styles = {"page.css"};
  parts.scripts = {"format.js",   "table.js", "charts.js",   "theme.js",  "ranks.js",
                   "timeline.js", "links.js", "sections.js", "energy.js", "page.js"};
  parts.columns = page::ColumnsOf(*proto::Report::descriptor());
  parts.kind = "report";
  parts.data = json;
  parts.title = Title(report);
  parts.heading = FormatTime(Time::Picos(report.makespan_ps()));
  parts.of = absl::StrCat("for ", TracesName(report));
  parts.text = text;
  return page::Assemble(parts);
}

}  // namespace chakra
