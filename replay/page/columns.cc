#include "replay/page/columns.h"

#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/report/columns.h"

namespace chakra::page {
namespace {

using google::protobuf::Descriptor;

std::string Text(absl::string_view text) { return absl::StrCat("\"", absl::CEscape(text), "\""); }

std::string ColumnJson(const ReportColumn& c) {
  std::string json =
      absl::StrCat("{\"of\":", Text(c.field->name()), ",\"at\":", c.place, ",\"title\":", Text(c.label()),
                   ",\"unit\":", Text(proto::Shown::Unit_Name(c.unit)), ",\"digits\":", c.digits());
  if (!c.shown->bar().empty()) absl::StrAppend(&json, ",\"bar\":", Text(c.shown->bar()));
  if (!c.shown->group().empty()) absl::StrAppend(&json, ",\"group\":", Text(c.shown->group()));
  if (c.shown->if_any()) absl::StrAppend(&json, ",\"any\":true");
  return json + "}";
}

// Adds the tables of a type and of the types of its fields.
void Add(const Descriptor& type, std::map<std::string, std::string>* tables) {
  if (!tables->emplace(type.name(), "").second) return;
  std::set<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& options = type.field(i)->options();
    for (int n = 0; n < options.ExtensionSize(proto::shown); ++n)
      names.insert(options.GetExtension(proto::shown, n).table());
    if (type.field(i)->message_type() != nullptr) Add(*type.field(i)->message_type(), tables);
  }
  for (const std::string& name : names) {
    const std::vector<ReportColumn> columns = chakra::ColumnsOf(type, View::kPage, name);
    if (columns.empty()) continue;
    (*tables)[name.empty() ? type.name() : absl::StrCat(type.name(), " ", name)] =
        absl::StrJoin(columns, ",", [](std::string* out, const ReportColumn& c) { *out += ColumnJson(c); });
  }
}

}  // namespace

std::string ColumnsOf(const Descriptor& type) {
  std::map<std::string, std::string> tables;
  Add(type, &tables);
  std::string json;
  for (const auto& [name, columns] : tables) {
    if (columns.empty()) continue;
    absl::StrAppend(&json, json.empty() ? "{" : ",\n", Text(name), ":[", columns, "]");
  }
  return json + "}";
}

}  // namespace chakra::page
