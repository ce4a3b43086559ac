#include "replay/compare/reports.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/compare/report_tables.h"
#include "replay/compare/table.h"

namespace chakra {
namespace {

constexpr size_t kNamedFiles = 3;

void AddDifferent(const std::string& name, const std::string& a, const std::string& b,
                  proto::Comparison* out) {
  proto::TextChange* text = out->add_setting();
  text->set_name(name);
  text->set_a(a);
  text->set_b(b);
}

void AddSetting(const std::string& name, const std::string& a, const std::string& b, proto::Comparison* out) {
  if (a != b) AddDifferent(name, a, b, out);
}

// The files of one role, by their content.
using Files = std::multimap<std::string, std::string>;  // sha256 -> path

std::string DescribeFiles(const Files& files, const Files& others) {
  std::vector<std::string> own;
  std::map<std::string, size_t> seen;
  for (const auto& [sha256, path] : files) {
    if (++seen[sha256] > others.count(sha256)) own.push_back(std::filesystem::path(path).filename());
  }
  if (files.empty()) return "";
  const std::string all = absl::StrCat(files.size(), files.size() == 1 ? " file" : " files");
  if (own.empty()) return all;
  std::sort(own.begin(), own.end());
  const size_t more = own.size() > kNamedFiles ? own.size() - kNamedFiles : 0;
  own.resize(own.size() - more);
  return absl::StrCat(all, ", only here: ", absl::StrJoin(own, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

void CompareInputs(const proto::Report& a, const proto::Report& b, proto::Comparison* out) {
  std::map<std::string, std::pair<Files, Files>> roles;
  for (const proto::InputFile& f : a.input()) roles[f.role()].first.emplace(f.sha256(), f.path());
  for (const proto::InputFile& f : b.input()) roles[f.role()].second.emplace(f.sha256(), f.path());
  for (const auto& [role, files] : roles) {
    const auto& [of_a, of_b] = files;
    const auto same_key = [](const auto& x, const auto& y) { return x.first == y.first; };
    if (std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same_key)) continue;
    AddDifferent(absl::StrCat("files of role ", role), DescribeFiles(of_a, of_b), DescribeFiles(of_b, of_a),
                 out);
  }
}

void CompareLines(const std::string& name, const google::protobuf::RepeatedPtrField<std::string>& a,
                  const google::protobuf::RepeatedPtrField<std::string>& b, proto::Comparison* out) {
  const std::multiset<std::string> of_a(a.begin(), a.end()), of_b(b.begin(), b.end());
  std::set<std::string> all(of_a.begin(), of_a.end());
  all.insert(of_b.begin(), of_b.end());
  for (const std::string& line : all) {
    if (of_a.count(line) == of_b.count(line)) continue;
    const bool more_a = of_a.count(line) > of_b.count(line);
    AddSetting(name, more_a ? line : "", more_a ? "" : line, out);
  }
}

void CompareSettings(const proto::Report& a, const proto::Report& b, proto::Comparison* out) {
  const auto of_a = ReportSettings(a), of_b = ReportSettings(b);
  for (size_t i = 0; i < of_a.size(); ++i) AddSetting(of_a[i].first, of_a[i].second, of_b[i].second, out);
  CompareInputs(a, b, out);
  CompareLines("assumption", a.assumption(), b.assumption(), out);
  CompareLines("warning", a.warning(), b.warning(), out);
}

// Top-level fields that differ, apart from the paths of inputs.
std::vector<std::string> DifferentFields(proto::Report a, proto::Report b) {
  for (proto::Report* r : {&a, &b}) {
    for (proto::InputFile& f : *r->mutable_input()) f.clear_path();
    r->clear_group_source();
  }
  std::vector<std::string> names;
  const auto* type = proto::Report::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    google::protobuf::util::MessageDifferencer differencer;
    if (!differencer.CompareWithFields(a, b, {type->field(i)}, {type->field(i)})) {
      names.push_back(type->field(i)->name());
    }
  }
  return names;
}

}  // namespace

proto::Comparison CompareReports(const proto::Report& a, const proto::Report& b, bool merge_numbers) {
  proto::Comparison out;
  CompareSettings(a, b, &out);
  bool identical = out.setting_size() == 0;
  const bool merge = merge_numbers || HasMergedNumbers(a) || HasMergedNumbers(b);
  const std::vector<ComparedTable> tables_a = ReportTables(a, merge), tables_b = ReportTables(b, merge);
  for (size_t i = 0; i < tables_a.size(); ++i) {
    if (tables_a[i].rows.empty() && tables_b[i].rows.empty()) continue;
    *out.add_section() = DiffTables(tables_a[i], tables_b[i]);
    identical &= out.section().rbegin()->changed() == 0;
  }
  out.set_identical(identical);
  if (identical) {
    const std::vector<std::string> fields = DifferentFields(a, b);
    if (!fields.empty()) {
      out.add_note(
          absl::StrCat("the reports differ in fields that are not compared: ", absl::StrJoin(fields, ", ")));
    }
  }
  return out;
}

}  // namespace chakra
