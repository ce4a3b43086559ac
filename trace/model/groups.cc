#include "trace/model/groups.h"

#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/io/byte_source.h"

namespace chakra {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }

// Reads a rank, given as a number or as decimal text.
bool ToRank(element e, int* out) {
  int64_t n = 0;
  std::string_view text;
  if (e.get(n) != simdjson::SUCCESS) {
    if (e.get(text) != simdjson::SUCCESS || !absl::SimpleAtoi(View(text), &n)) return false;
  }
  *out = static_cast<int>(n);
  return n >= 0 && n <= std::numeric_limits<int>::max();
}

// Parses the ranks of a group. `subject`: "FILE, group \"KEY\"".
absl::StatusOr<std::vector<int>> ReadRanks(element value, absl::string_view subject) {
  array list;
  if (value.get(list) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat(subject, ": expected an array of ranks, found ",
                                                   View(simdjson::minify(value)).substr(0, 32)));
  }
  std::vector<int> ranks;
  for (const element e : list) {
    int rank = 0;
    if (!ToRank(e, &rank)) {
      return absl::InvalidArgumentError(absl::StrCat(subject, ", entry ", ranks.size(),
                                                     ": expected a rank, 0 or more, found ",
                                                     View(simdjson::minify(e)).substr(0, 32)));
    }
    ranks.push_back(rank);
  }
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(subject, ": rank ", *twice, " is listed more than once; expected each rank once"));
  }
  return ranks;
}

// Returns the JSON inside ['...'], a list of one string in Python syntax.
std::string FromPythonList(absl::string_view s) {
  if (s.size() < 4) return std::string(s);
  s = s.substr(2, s.size() - 4);
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\\' && i + 1 < s.size() && (s[i + 1] == '\'' || s[i + 1] == '\\')) ++i;
    out.push_back(s[i]);
  }
  return out;
}

// Finds the array of groups in `text`, in any of the accepted forms.
simdjson::error_code FindGroupArray(absl::string_view text, simdjson::dom::parser* parser, array* out) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  std::string json = text.substr(0, 2) == "['" ? FromPythonList(text) : std::string(text);
  for (int depth = 0;; ++depth) {
    if (const auto e = parser->parse(json).get(*out)) return e;
    std::string_view inner;
    if (depth == 2 || out->size() != 1 || out->at(0).get(inner) != simdjson::SUCCESS)
      return simdjson::SUCCESS;
    json = std::string(inner);
  }
}

absl::Status ReadGroupNodeEntry(element e, absl::string_view subject, Groups* groups, uint64_t* members) {
  object fields;
  std::string name;
  std::string_view text;
  int64_t number = 0;
  if (e.get(fields) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat(subject, ": expected an object for each group"));
  }
  if (fields["pg_name"].get(text) == simdjson::SUCCESS) {
    name = std::string(text);
  } else if (fields["pg_name"].get(number) == simdjson::SUCCESS) {
    name = absl::StrCat(number);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(subject, ": a group without pg_name"));
  }
  if (name.empty()) return absl::OkStatus();  // "" is the group of all ranks
  const std::string group = absl::StrCat(subject, ", group \"", name, "\"");
  std::vector<int> ranks;
  element list;
  if (fields["ranks"].get(list) == simdjson::SUCCESS) {
    ASSIGN_OR_RETURN(ranks, ReadRanks(list, group));
  }
  if (ranks.empty()) {
    constexpr int64_t kMaxRanks = 1 << 22;
    if (fields["group_size"].get(number) != simdjson::SUCCESS || number < 1 || number > kMaxRanks) {
      return absl::InvalidArgumentError(
          absl::StrCat(group, ": expected ranks, or a group_size from 1 to ", kMaxRanks));
    }
    for (int r = 0; r < number; ++r) ranks.push_back(r);
  }
  return MergeGroups({{name, std::move(ranks)}}, subject, groups, members);
}

std::string Quoted(absl::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

}  // namespace

absl::StatusOr<std::string> ReadGroupText(const std::string& path, InputFile* input) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(path));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(disk.get(), path));
  Buffer text;
  RETURN_IF_ERROR(ReadAll(content.get(), path, &text));
  input->path = path;
  input->role = "groups";
  RETURN_IF_ERROR(disk->Finish(&input->sha256, &input->bytes));
  return std::string(text.view());
}

absl::StatusOr<Groups> ParseGroups(absl::string_view json, absl::string_view file) {
  simdjson::dom::parser parser;
  element root;
  object entries;
  if (const auto e = parser.parse(json.data(), json.size()).get(root)) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": invalid JSON: ", simdjson::error_message(e)));
  }
  if (root.get(entries) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": expected an object of groups, {\"1\": [0, 1], ...}"));
  }
  Groups groups;
  for (const auto& [key, value] : entries) {
    const std::string subject = absl::StrCat(file, ", group \"", View(key), "\"");
    if (key.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(subject, ": this name always means all ranks"));
    }
    ASSIGN_OR_RETURN(std::vector<int> ranks, ReadRanks(value, subject));
    if (ranks.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(subject, ": expected at least one rank"));
    }
    if (!groups.emplace(std::string(key), std::move(ranks)).second) {
      return absl::InvalidArgumentError(absl::StrCat(subject, ": expected each group once"));
    }
  }
  return groups;
}

absl::Status GroupsFromFile(const std::string& path, TraceSet* set) {
  InputFile input;
  ASSIGN_OR_RETURN(std::string text, ReadGroupText(path, &input));
  ASSIGN_OR_RETURN(set->groups, ParseGroups(text, path));
  set->group_source = path;
  set->inputs.push_back(std::move(input));
  return absl::OkStatus();
}

bool LooksLikeGroups(absl::string_view json) {
  simdjson::dom::parser parser;
  object entries;
  if (parser.parse(json.data(), json.size()).get(entries) != simdjson::SUCCESS) return false;
  for (const auto& [key, value] : entries) {
    array list;
    if (key == "logical-dims" || value.get(list) != simdjson::SUCCESS)
      return false;  // a topology of ASTRA-sim
    for (const element e : list) {
      if (!e.is_int64() && !e.is_uint64() && !e.is_string()) return false;
    }
  }
  return entries.size() > 0;
}

absl::StatusOr<Groups> ParseGroupNode(absl::string_view text, absl::string_view subject) {
  simdjson::dom::parser parser;
  array list;
  if (const auto e = FindGroupArray(text, &parser, &list)) {
    return absl::InvalidArgumentError(
        absl::StrCat(subject, ", field inputs.values: invalid JSON array: ", simdjson::error_message(e)));
  }
  Groups groups;
  uint64_t members = 0;
  for (const element e : list) {
    RETURN_IF_ERROR(ReadGroupNodeEntry(e, subject, &groups, &members));
  }
  return groups;
}

std::string GroupNodeText(const Groups& groups) {
  std::vector<std::string> items;
  for (const auto& [name, members] : groups) {
    items.push_back(absl::StrCat("{\"pg_name\":", Quoted(name), ",\"group_size\":", members.size(),
                                 ",\"ranks\":[", absl::StrJoin(members, ","), "]}"));
  }
  return absl::StrCat("[", absl::StrJoin(items, ","), "]");
}

std::string GroupFileText(const Groups& groups) {
  std::vector<std::string> items;
  for (const auto& [name, members] : groups)
    items.push_back(absl::StrCat("  ", Quoted(name), ": [", absl::StrJoin(members, ", "), "]"));
  return absl::StrCat("{\n", absl::StrJoin(items, ",\n"), "\n}\n");
}

absl::Status MergeGroups(const Groups& more, absl::string_view subject, Groups* groups, uint64_t* members) {
  for (const auto& [name, ranks] : more) {
    const auto it = groups->find(name);
    if (it == groups->end()) {
      *members += ranks.size();
      if (*members > kMaxGroupMembers) {
        return absl::InvalidArgumentError(absl::StrCat(subject, ", group \"", name,
                                                       "\": expected groups of at most ", kMaxGroupMembers,
                                                       " members in all"));
      }
      groups->emplace(name, ranks);
      continue;
    }
    if (it->second == ranks) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(subject, ", group \"", name, "\": its ranks differ from those given before"));
  }
  return absl::OkStatus();
}

void ResolveGroupZero(const Groups& groups, std::vector<RankTrace>* ranks) {
  if (groups.count("0") > 0) return;
  for (RankTrace& r : *ranks) {
    for (uint32_t g = 1; g < r.group_names.size(); ++g) {
      if (r.group_names[g] != "0") continue;
      r.group_names[g].clear();
      std::vector<Peer> peers = r.peers;
      for (Peer& p : peers) {
        if (p.group == g) p.group = 0;
      }
      r.peers = std::move(peers);
    }
  }
}

}  // namespace chakra
