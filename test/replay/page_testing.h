// Helpers for tests of pages: reports to make pages from, and readers of a page's content.
#pragma once

#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "google/protobuf/util/json_util.h"
#include "proto/report.pb.h"

namespace chakra {

inline constexpr char kHostile[] = "</script><script>alert(1)//<!--\xe2\x80\xa8'\"&amp;{{script}}";

// Sets every field of `message`: all numbers differ, and each list has `entries` entries.
inline void FillMessage(google::protobuf::Message* message, int entries, int64_t* next) {
  const google::protobuf::Reflection* reflection = message->GetReflection();
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const google::protobuf::FieldDescriptor* f = message->GetDescriptor()->field(i);
    const int n = f->is_repeated() ? entries : 1;
    for (int k = 0; k < n; ++k) {
      const int64_t value = ++*next;
      const std::string text = "text" + std::to_string(value);
      const bool many = f->is_repeated();
      switch (f->cpp_type()) {
        case google::protobuf::FieldDescriptor::CPPTYPE_INT32:
          reflection->SetInt32(message, f, static_cast<int32_t>(value));
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_INT64:
          reflection->SetInt64(message, f, value * 1234567);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_UINT64:
          many ? reflection->AddUInt64(message, f, value) : reflection->SetUInt64(message, f, value * 12345);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_FLOAT:
          many ? reflection->AddFloat(message, f, 0.5f) : reflection->SetFloat(message, f, 0.5f);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE:
          reflection->SetDouble(message, f, static_cast<double>(value) / 65536);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_BOOL:
          reflection->SetBool(message, f, true);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_STRING:
          many ? reflection->AddString(message, f, text) : reflection->SetString(message, f, text);
          break;
        default:
          FillMessage(many ? reflection->AddMessage(message, f) : reflection->MutableMessage(message, f),
                      entries, next);
      }
    }
  }
}

inline proto::Report FullReport(int entries = 3) {
  proto::Report report;
  int64_t next = 100;
  FillMessage(&report, entries, &next);
  return report;
}

// A report like that of a run with `ranks` ranks, without energy and costs.
inline proto::Report LargeReport(int ranks) {
  proto::Report report = FullReport(100);
  report.clear_rank();
  report.clear_collective();
  report.clear_input();
  report.clear_energy();
  report.clear_cost();
  report.clear_carbon();
  report.clear_goodput();
  report.clear_explained();
  report.set_ranks(ranks);
  report.set_makespan_ps(9'000'000'000'000);
  for (int r = 0; r < ranks; ++r) {
    proto::RankReport* rank = report.add_rank();
    int64_t next = 1'000'000'000 + 97 * r;
    FillMessage(rank, 0, &next);
    rank->set_rank(r);
    rank->clear_energy_microjoules();
    rank->clear_peak_watts();
    proto::CollectiveReport* collective = report.add_collective();
    FillMessage(collective, 1, &next);
    collective->set_group("replicas of pipeline stage " + std::to_string(r));
    collective->set_dimension("8 ranks, 4 apart");
    collective->clear_recorded_ps();  // steps of so many groups are generated
    collective->clear_recorded_count();
    collective->clear_simulated_to_recorded();
    proto::InputFile* input = report.add_input();
    input->set_path("/a/folder/of/traces/with/a/long/name/workload." + std::to_string(r) + ".et.zst");
    input->set_sha256(std::string(64, 'a'));
    input->set_role("trace");
  }
  return report;
}

// The text between the first `open` and the next `close`; empty if either is missing.
inline std::string Between(const std::string& text, const std::string& open, const std::string& close) {
  const size_t begin = text.find(open);
  if (begin == std::string::npos) return "";
  const size_t end = text.find(close, begin + open.size());
  if (end == std::string::npos) return "";
  return text.substr(begin + open.size(), end - begin - open.size());
}

// Names that the script of a page declares more than once. Its files share a scope, so that such a script
// would not run. `all` gets every declared name.
inline std::set<std::string> DeclaredTwice(const std::string& page, std::set<std::string>* all) {
  std::istringstream lines(Between(page, "<script>(() => {\n", "</script>"));
  std::set<std::string> twice;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, name;
    words >> what >> name;
    if (what.empty() || line[0] == ' ' ||
        (what != "const" && what != "let" && what != "function" && what != "class"))
      continue;
    name.resize(name.find_first_of("(={;,") == std::string::npos ? name.size() : name.find_first_of("(={;,"));
    if (!all->insert(name).second) twice.insert(name);
  }
  return twice;
}

// The report in a page; empty if it cannot be read.
inline proto::Report ReportOfPage(const std::string& page) {
  proto::Report report;
  const auto read = google::protobuf::util::JsonStringToMessage(
      Between(page, "<script type=\"application/json\" id=\"report\">", "</script>"), &report);
  return read.ok() ? report : proto::Report();
}

}  // namespace chakra
