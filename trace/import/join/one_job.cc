#include "trace/import/join/one_job.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/units.h"
#include "trace/import/join/call_streams.h"

namespace chakra::pytorch {
namespace {

std::string Rank(const CaptureRank& rank) { return absl::StrCat("rank ", rank.rank, " (", rank.file(), ")"); }

std::set<int64_t> StepNumbers(const CaptureRank& rank) {
  const StepMarks steps(rank);
  std::set<int64_t> numbers;
  for (const StepMarks::Mark& mark : steps.marks()) numbers.insert(mark.number);
  return numbers;
}

class Checker {
 public:
  Checker(const std::vector<CaptureRank>& ranks, const CallGroups& groups) : ranks_(ranks), groups_(groups) {}

  absl::Status Run() {
    if (ranks_.empty()) return absl::OkStatus();
    for (size_t r = 1; r < ranks_.size(); ++r) {
      CompareWorlds(ranks_[0], ranks_[r]);
      CompareWindows(ranks_[0], ranks_[r]);
      CompareSteps(ranks_[0], ranks_[r]);
    }
    CompareGroups();
    CompareCalls();
    if (reasons_.empty()) return absl::OkStatus();
    constexpr size_t kShown = 4;
    const size_t more = reasons_.size() > kShown ? reasons_.size() - kShown : 0;
    reasons_.resize(reasons_.size() - more);
    return absl::InvalidArgumentError(absl::StrCat(
        "the captures are not from one job: ", absl::StrJoin(reasons_, "; "),
        more > 0 ? absl::StrCat("; and ", more, " more") : "",
        "; expected the ranks of one run, captured at one time (--select-ranks selects some of them)"));
  }

 private:
  void Reason(std::string text) { reasons_.push_back(std::move(text)); }
  void CompareWorlds(const CaptureRank& a, const CaptureRank& b);
  void CompareWindows(const CaptureRank& a, const CaptureRank& b);
  void CompareSteps(const CaptureRank& a, const CaptureRank& b);
  void CompareGroups();
  void CompareCalls();

  const std::vector<CaptureRank>& ranks_;
  const CallGroups& groups_;
  std::vector<std::string> reasons_;
};

void Checker::CompareWorlds(const CaptureRank& a, const CaptureRank& b) {
  const int one = a.device == nullptr ? 0 : a.device->world_size,
            other = b.device == nullptr ? 0 : b.device->world_size;
  if (one > 0 && other > 0 && one != other)
    Reason(
        absl::StrCat(Rank(a), " is from a job of ", one, " ranks, ", Rank(b), " is from a job of ", other));
}

void Checker::CompareWindows(const CaptureRank& a, const CaptureRank& b) {
  // Times of a file without a base count from the start of the machine and cannot be compared.
  constexpr int64_t kYear2001Ns = 978307200'000000000;
  if (a.device == nullptr || b.device == nullptr || a.device_file.empty() || b.device_file.empty()) return;
  const int64_t a_begin = a.device->base_ns + a.timeline.window_begin,
                a_end = a.device->base_ns + a.timeline.window_end;
  const int64_t b_begin = b.device->base_ns + b.timeline.window_begin,
                b_end = b.device->base_ns + b.timeline.window_end;
  if (a_begin < kYear2001Ns || b_begin < kYear2001Ns) return;
  const int64_t apart = std::max(b_begin - a_end, a_begin - b_end);
  if (apart > kMostApartNs)
    Reason(
        absl::StrCat(Rank(a), " and ", Rank(b), " were captured ", FormatTime(Time::Nanos(apart)), " apart"));
}

void Checker::CompareSteps(const CaptureRank& a, const CaptureRank& b) {
  const std::set<int64_t> one = StepNumbers(a), other = StepNumbers(b);
  if (one.empty() || other.empty()) return;
  const bool common = std::any_of(one.begin(), one.end(), [&](int64_t n) { return other.contains(n); });
  if (common) return;
  Reason(absl::StrCat(Rank(a), " has steps ", *one.begin(), " to ", *one.rbegin(), ", ", Rank(b), " steps ",
                      *other.begin(), " to ", *other.rbegin()));
}

// Two ranks must list the same members for a group that both are in.
void Checker::CompareGroups() {
  std::map<std::string, std::vector<std::pair<size_t, const std::vector<int>*>>> listed;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].device == nullptr) continue;
    for (const auto& [name, members] : ranks_[r].device->groups) listed[name].push_back({r, &members});
  }
  for (const auto& [name, lists] : listed) {
    const std::vector<int>& first = *lists[0].second;
    for (const auto& list : lists) {
      const size_t r = list.first;
      const std::vector<int>* members = list.second;
      const auto in_both = [&](int rank) {
        return std::find(first.begin(), first.end(), rank) != first.end() &&
               std::find(members->begin(), members->end(), rank) != members->end();
      };
      // Ranks know groups that they are not in, and several groups may have one name.
      if (*members == first || !in_both(ranks_[lists[0].first].rank) || !in_both(ranks_[r].rank)) continue;
      Reason(absl::StrCat("group \"", name, "\" has ranks ", absl::StrJoin(first, ","), " in ",
                          Rank(ranks_[lists[0].first]), ", ", absl::StrJoin(*members, ","), " in ",
                          Rank(ranks_[r])));
      break;
    }
  }
}

// If two ranks both make many calls on a group with known members, some of these calls must have the same
// kind and size.
void Checker::CompareCalls() {
  std::map<uint32_t, std::map<size_t, std::set<uint64_t>>> kinds;  // by group and rank
  std::map<std::pair<uint32_t, size_t>, size_t> calls;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    const StepMarks steps(ranks_[r]);
    for (const TimelineNode& node : ranks_[r].timeline.nodes) {
      if (node.comm == kNoRow || node.event == kNoRow) continue;
      if (IsPointToPoint(ranks_[r].timeline.comms[node.comm].op)) continue;
      const uint32_t group = groups_.of[r][node.comm];
      if (group == kNoRow || groups_.groups[group].origin != GroupOrigin::kNamed) continue;
      kinds[group][r].insert(Comparable(ranks_[r], steps, node).key);
      ++calls[{group, r}];
    }
  }
  for (const auto& [group, by_rank] : kinds) {
    const auto& [a, first] = *by_rank.begin();
    for (const auto& [b, other] : by_rank) {
      if (calls[{group, a}] < kMany || calls[{group, b}] < kMany) continue;
      if (std::any_of(first.begin(), first.end(), [&, &o = other](uint64_t key) { return o.contains(key); }))
        continue;
      Reason(absl::StrCat(Rank(ranks_[a]), " and ", Rank(ranks_[b]), " make ", calls[{group, a}], " and ",
                          calls[{group, b}], " calls on group \"", groups_.groups[group].name,
                          "\", none of one kind and size"));
    }
  }
}

}  // namespace

absl::Status CheckOneJob(const std::vector<CaptureRank>& ranks, const CallGroups& groups) {
  return Checker(ranks, groups).Run();
}

}  // namespace chakra::pytorch
