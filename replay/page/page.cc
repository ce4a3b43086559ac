#include "replay/page/page.h"

#include <algorithm>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "google/protobuf/util/json_util.h"
#include "replay/page/assets.h"
#include "replay/report/report.h"
#include "trace/checksum.h"
#include "trace/units.h"
#include "trace/utf8.h"

namespace chakra {
namespace {

// In the order in which they run; one script.
constexpr const char* kScripts[] = {"format.js", "table.js",    "charts.js", "ranks.js",
                                    "links.js",  "sections.js", "page.js"};

// `text` as HTML, in an element or a quoted attribute.
std::string Html(absl::string_view text) {
  return absl::StrReplaceAll(
      ToUtf8(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// JSON that may stand in a script element: nothing in it ends the element or a line of JavaScript. Outside of
// its strings JSON has none of these characters.
std::string Json(absl::string_view json) {
  return absl::StrReplaceAll(ToUtf8(json), {{"<", "\\u003c"},
                                            {">", "\\u003e"},
                                            {"&", "\\u0026"},
                                            {"\xe2\x80\xa8", "\\u2028"},
                                            {"\xe2\x80\xa9", "\\u2029"}});
}

std::string Script() {
  std::string script = "(() => {\n\"use strict\";\n";
  for (const char* name : kScripts) absl::StrAppend(&script, page::Asset(name));
  return absl::StrCat(script, "})();\n");
}

// Less the line that names a file for debuggers, which is not there.
absl::string_view Charts() {
  const absl::string_view charts = page::Asset("vendor/chart.umd.min.js");
  return charts.substr(0, charts.rfind("\n//# sourceMappingURL="));
}

// As a content security policy names what an element holds.
std::string Hash(absl::string_view content) {
  return absl::StrCat("'sha256-", absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(content))), "'");
}

// The traces in a few words: of one file its name, of several the folder that they share.
std::string TracesName(const proto::Report& report) {
  if (report.job_size() > 1) return absl::StrCat(report.job_size(), " jobs");
  std::string shared;
  int files = 0;
  for (const proto::InputFile& input : report.input()) {
    if (input.role() != "trace") continue;
    if (files++ == 0) {
      shared = input.path();
      continue;
    }
    const auto end = std::mismatch(shared.begin(), shared.end(), input.path().begin(), input.path().end());
    const size_t slash = shared.substr(0, end.first - shared.begin()).rfind('/');
    shared.resize(slash == std::string::npos ? 0 : slash + 1);
  }
  while (files > 1 && shared.size() > 1 && shared.back() == '/') shared.pop_back();
  return !shared.empty() ? shared : files == 0 ? "no traces" : absl::StrCat(files, " traces");
}

std::string Title(const proto::Report& report) {
  std::string title = absl::StrCat(FormatTime(Time::Picos(report.makespan_ps())), ": ", TracesName(report));
  if (!report.cluster().empty()) absl::StrAppend(&title, " on ", report.cluster());
  if (!report.fabric().empty()) absl::StrAppend(&title, ", ", report.fabric());
  return absl::StrCat(title, ", chakra-replay ", report.version());
}

// `frame` with what `values` has for each {{name}}, in one pass: what a value holds is not looked at again.
std::string Fill(absl::string_view frame, const std::map<std::string, std::string>& values) {
  std::string out;
  while (true) {
    const size_t open = frame.find("{{");
    const size_t close = frame.find("}}", open);
    if (close == absl::string_view::npos) return absl::StrCat(out, frame);
    const auto value = values.find(std::string(frame.substr(open + 2, close - open - 2)));
    absl::StrAppend(&out, frame.substr(0, open), value == values.end() ? "" : value->second);
    frame.remove_prefix(close + 2);
  }
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
  const absl::StatusOr<std::string> text = PrintReport(report, ReportFormat::kText);
  if (!text.ok()) return text.status();
  const std::string style(page::Asset("page.css")), script = Script(), charts(Charts());
  const std::string policy =
      absl::StrCat("default-src 'none'; img-src data:; style-src ", Hash(style), "; script-src ",
                   Hash(charts), " ", Hash(script), "; base-uri 'none'; form-action 'none'");
  return Fill(page::Asset("page.html"), {{"policy", policy},
                                         {"title", Html(Title(report))},
                                         {"traces", Html(TracesName(report))},
                                         {"makespan", Html(FormatTime(Time::Picos(report.makespan_ps())))},
                                         {"text", Html(*text)},
                                         {"style", style},
                                         {"licence", Html(page::Asset("vendor/LICENSE.md"))},
                                         {"report", Json(json)},
                                         {"charts", charts},
                                         {"script", script}});
}

}  // namespace chakra
