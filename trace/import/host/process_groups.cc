#include "trace/import/host/process_groups.h"

#include <simdjson.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/host/json_scan.h"
#include "trace/model/groups.h"

namespace chakra::pytorch {
namespace {

// `text`; if it is an array that was cut, an array of its whole entries.
std::string WholeEntries(absl::string_view text, bool* cut) {
  size_t at = SkipSpace(text, 0);
  *cut = at < text.size() && text[at] == '[' && SkipValue(text, at) == absl::string_view::npos;
  if (!*cut) return std::string(text);
  const size_t begin = at;
  size_t whole = ++at;  // position after the last whole entry
  for (;;) {
    at = SkipValue(text, SkipSpace(text, at));
    if (at == absl::string_view::npos) break;
    whole = at;
    at = SkipSpace(text, at);
    if (at >= text.size() || text[at] != ',') break;
    ++at;
  }
  return absl::StrCat(text.substr(begin, whole - begin), "]");
}

void ReadAliases(const std::string& json, GroupNote* note) {
  simdjson::dom::parser parser;
  simdjson::dom::array entries;
  if (parser.parse(json).get(entries) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element e : entries) {
    uint64_t id = 0;
    std::string_view name;
    if (e["backend_id"].get(id) == simdjson::SUCCESS && e["pg_name"].get(name) == simdjson::SUCCESS) {
      note->alias.emplace(absl::StrCat(id), std::string(name));
    }
  }
}

}  // namespace

absl::StatusOr<GroupNote> ReadGroupNote(absl::string_view text, absl::string_view subject) {
  GroupNote note;
  const std::string json = WholeEntries(text, &note.cut);
  ASSIGN_OR_RETURN(note.groups, ParseGroupNode(json, subject));
  ReadAliases(json, &note);
  return note;
}

std::vector<int> StridedGroup(int64_t start, int64_t stride, int64_t size) {
  constexpr int64_t kMaxRanks = 1 << 20;
  constexpr int64_t kMaxRank = std::numeric_limits<int>::max();
  if (start < 0 || start > kMaxRank || size < 1 || size > kMaxRanks) return {};
  if (size > 1 && (stride < 1 || stride > (kMaxRank - start) / (size - 1))) return {};
  std::vector<int> ranks;
  for (int64_t i = 0; i < size; ++i) ranks.push_back(static_cast<int>(start + i * stride));
  return ranks;
}

}  // namespace chakra::pytorch
