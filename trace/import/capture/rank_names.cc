#include "trace/import/capture/rank_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "trace/base/ascii.h"

namespace chakra::pytorch {
namespace {

// Dimensions in the order in which Megatron-LM, vLLM and SGLang count ranks, the slowest first. vLLM counts
// data before pipeline.
constexpr absl::string_view kDimensions[] = {"pp", "dp", "edp", "ep", "cp", "dcp", "sp", "etp", "tp"};

bool IsLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }

// The number at `at`, or after one separator there; -1: no number, or more than six digits.
int NumberAt(absl::string_view name, size_t at) {
  if (at < name.size() && absl::StrContains("-_.=: ", name[at])) ++at;
  size_t end = at;
  while (end < name.size() && IsDigit(name[end])) ++end;
  int number = -1;
  return end > at && end - at <= 6 && absl::SimpleAtoi(name.substr(at, end - at), &number) ? number : -1;
}

// Reads the dimension at `at`, the beginning of a word (letters, optionally "_rank", a number), into `out`.
void ReadPlace(absl::string_view name, size_t at, NamedRank* out) {
  size_t end = at;
  while (end < name.size() && IsLetter(name[end])) ++end;
  absl::string_view word = name.substr(at, end - at);
  const bool with_rank = absl::ConsumeSuffix(&word, "rank");
  if (!with_rank) {
    const absl::string_view rest = name.substr(end);
    if (rest.size() > 4 && absl::StrContains("-_.", rest[0]) && absl::StartsWith(rest.substr(1), "rank"))
      end += 5;
  }
  if (std::find(std::begin(kDimensions), std::end(kDimensions), word) == std::end(kDimensions)) return;
  const int number = NumberAt(name, end);
  if (number < 0) return;
  const auto same = [&](const Place& p) { return p.first == word; };
  if (std::none_of(out->places.begin(), out->places.end(), same)) out->places.emplace_back(word, number);
}

// Whether "rank" at `at` belongs to the dimension before it, as in "pp_rank_0".
bool OfDimension(absl::string_view name, size_t at) {
  if (at > 0 && absl::StrContains("-_.", name[at - 1])) --at;
  size_t begin = at;
  while (begin > 0 && IsLetter(name[begin - 1])) --begin;
  return std::find(std::begin(kDimensions), std::end(kDimensions), name.substr(begin, at - begin)) !=
         std::end(kDimensions);
}

// The ranks of places, counted in mixed radix: the last dimension of `order` varies fastest.
std::vector<int> Count(const std::vector<std::map<std::string, int>>& at,
                       const std::vector<std::string>& order) {
  std::map<std::string, int> size;
  for (const auto& place : at) {
    for (const auto& [dimension, k] : place) size[dimension] = std::max(size[dimension], k + 1);
  }
  std::vector<int> ranks;
  for (const auto& place : at) {
    int64_t rank = 0;
    for (const std::string& d : order) rank = std::min<int64_t>(rank * size[d] + place.at(d), 1 << 30);
    ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

bool Distinct(const std::vector<std::map<std::string, int>>& at, const std::vector<std::string>& dimensions) {
  std::set<std::vector<int>> seen;
  for (const auto& place : at) {
    std::vector<int> key;
    for (const std::string& d : dimensions) key.push_back(place.at(d));
    if (!seen.insert(key).second) return false;
  }
  return true;
}

bool Holds(const std::vector<PlacedFile>& files, const std::vector<int>& ranks) {
  for (size_t i = 0; i < files.size(); ++i) {
    const std::vector<int>& may = files[i].members;
    if (!may.empty() && std::find(may.begin(), may.end(), ranks[i]) == may.end()) return false;
  }
  return true;
}

// The dimensions that all files name and that differ between files, without dimensions that follow from the
// others: SGLang's data and expert ranks follow from the tensor rank.
std::vector<std::string> NeededDimensions(const std::vector<std::map<std::string, int>>& at) {
  std::vector<std::string> needed;
  for (const absl::string_view d : kDimensions) {
    const std::string name(d);
    std::set<int> values;
    for (const auto& place : at) {
      if (place.contains(name)) values.insert(place.at(name));
    }
    const bool all =
        std::all_of(at.begin(), at.end(), [&](const auto& place) { return place.contains(name); });
    if (all && (values.size() > 1 || at.size() == 1)) needed.push_back(name);
  }
  for (const absl::string_view d : {"ep", "edp", "dp", "dcp", "cp", "sp", "etp"}) {
    std::vector<std::string> fewer = needed;
    fewer.erase(std::remove(fewer.begin(), fewer.end(), std::string(d)), fewer.end());
    if (!fewer.empty() && Distinct(at, fewer)) needed = std::move(fewer);
  }
  return needed;
}

}  // namespace

NamedRank RankFromName(absl::string_view written) {
  NamedRank out;
  std::string name = absl::AsciiStrToLower(written);
  for (const absl::string_view end : {".gz", ".zst", ".json", ".pt.trace", ".trace"}) {
    if (absl::EndsWith(name, end)) name.resize(name.size() - end.size());
  }
  for (size_t at = 0; at < name.size(); ++at) {
    if (IsLetter(name[at]) && (at == 0 || !IsLetter(name[at - 1]))) ReadPlace(name, at, &out);
  }
  for (const absl::string_view word : {"rank", "worker"}) {
    for (size_t at = name.rfind(std::string(word)); at != name.npos && !out.sure;
         at = at == 0 ? name.npos : name.rfind(std::string(word), at - 1)) {
      const int rank = NumberAt(name, at + word.size());
      if (rank < 0 || OfDimension(name, at)) continue;
      out.rank = rank;
      out.sure = true;
    }
    if (out.sure) return out;
  }
  if (!out.places.empty()) return out;
  size_t at = name.size();
  while (at > 0 && IsDigit(name[at - 1])) --at;
  if (at < name.size()) out.rank = NumberAt(name, at);
  return out;
}

bool SplitProcess(absl::string_view process, std::string* label, std::string* number) {
  size_t at = process.size();
  while (at > 0 && IsDigit(process[at - 1])) --at;
  if (at == 0 || at == process.size() || IsLetter(process[at - 1])) return false;
  absl::string_view before = process.substr(0, at);
  while (!before.empty() && absl::StrContains(" :/|-_#", before.back())) before.remove_suffix(1);
  const NamedRank named = RankFromName(before);
  int bare = 0;
  const bool bracketed = before.size() > 2 && before.front() == '[' && before.back() == ']' &&
                         absl::SimpleAtoi(before.substr(1, before.size() - 2), &bare);
  if (!named.sure && named.places.empty() && !bracketed) return false;
  *label = bracketed ? absl::StrCat("rank", bare) : std::string(before);
  *number = std::string(process.substr(at));
  return true;
}

std::string LabelOfName(absl::string_view name) {
  std::string label, number;
  NamedRank named = RankFromName(name);
  // A bare number in brackets is a rank only if the number of a process follows it.
  if (!named.sure && named.places.empty() && SplitProcess(name, &label, &number)) named = RankFromName(label);
  std::vector<std::string> parts;
  for (const auto& [dimension, k] : named.places)
    parts.push_back(absl::StrCat(absl::AsciiStrToUpper(dimension), k));
  if (named.sure) parts.push_back(absl::StrCat("rank", named.rank));
  return absl::StrJoin(parts, "-");
}

std::vector<int> RanksFromPlaces(const std::vector<PlacedFile>& files, std::string* order, std::string* why) {
  std::vector<std::map<std::string, int>> at;
  for (const PlacedFile& file : files) at.emplace_back(file.places.begin(), file.places.end());
  std::vector<std::string> needed = NeededDimensions(at);
  if (needed.empty() || !Distinct(at, needed)) {
    *why = "several files have the same place";
    return {};
  }
  std::vector<std::string> other = needed;  // data before pipeline
  const auto pp = std::find(other.begin(), other.end(), "pp"),
             dp = std::find(other.begin(), other.end(), "dp");
  if (pp != other.end() && dp != other.end()) std::iter_swap(pp, dp);
  std::vector<int> found;
  for (const std::vector<std::string>& tried : {needed, other}) {
    std::vector<int> ranks = Count(at, tried);
    if (!Holds(files, ranks)) continue;
    if (!found.empty() && ranks != found) {
      *why = "pipeline and data ranks can count in two orders, and no group shows which";
      return {};
    }
    found = std::move(ranks);
    *order = absl::StrJoin(tried, ", ");
  }
  if (found.empty())
    *why = absl::StrCat("counted from ", absl::StrJoin(needed, ", "),
                        ", the ranks are not members of the groups of the calls in the files");
  return found;
}

}  // namespace chakra::pytorch
