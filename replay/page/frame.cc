#include "replay/page/frame.h"

#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "replay/page/assets.h"
#include "trace/base/checksum.h"
#include "trace/base/utf8.h"

namespace chakra::page {
namespace {

// Escapes text for an HTML element or a quoted attribute.
std::string Html(absl::string_view text) {
  return absl::StrReplaceAll(
      ToUtf8(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// JSON for a script element: escapes all characters that could end the element or a line of JavaScript. JSON
// has these characters only inside strings.
std::string Json(absl::string_view json) {
  return absl::StrReplaceAll(ToUtf8(json), {{"<", "\\u003c"},
                                            {">", "\\u003e"},
                                            {"&", "\\u0026"},
                                            {"\xe2\x80\xa8", "\\u2028"},
                                            {"\xe2\x80\xa9", "\\u2029"}});
}

// Joins all scripts in a scope of their own.
std::string Script(const Parts& parts) {
  std::string script = absl::StrCat("(() => {\n\"use strict\";\nconst kShown = ", Json(parts.columns), ";\n");
  for (const std::string& name : parts.scripts) absl::StrAppend(&script, Asset(name));
  return absl::StrCat(script, "})();\n");
}

// The charts without the line that names a source map for debuggers, since the map is not included.
absl::string_view Charts() {
  const absl::string_view charts = Asset("vendor/chart.umd.min.js");
  return charts.substr(0, charts.rfind("\n//# sourceMappingURL="));
}

// The hash of an element's content, as a content security policy has it.
std::string Hash(absl::string_view content) {
  return absl::StrCat("'sha256-", absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(content))), "'");
}

// Replaces each {{name}} in `frame` by its value in `values`. Single pass: values are not searched.
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

std::string Assemble(const Parts& parts) {
  std::string style;
  for (const std::string& name : parts.styles) absl::StrAppend(&style, Asset(name));
  const std::string script = Script(parts), charts(Charts());
  const std::string policy =
      absl::StrCat("default-src 'none'; img-src data:; style-src ", Hash(style), "; script-src ",
                   Hash(charts), " ", Hash(script), "; base-uri 'none'; form-action 'none'");
  return Fill(Asset("frame.html"), {{"policy", policy},
                                    {"title", Html(parts.title)},
                                    {"heading", Html(parts.heading)},
                                    {"of", Html(parts.of)},
                                    {"text", Html(parts.text)},
                                    {"style", style},
                                    {"licence", Html(Asset("vendor/LICENSE.md"))},
                                    {"sections", std::string(Asset(parts.sections))},
                                    {"kind", parts.kind},
                                    {"data", Json(parts.data)},
                                    {"charts", charts},
                                    {"script", script}});
}

}  // namespace chakra::page
