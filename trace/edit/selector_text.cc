// Parses the texts in selectors (ranges, lanes, names), and finds the iterations of a trace.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/edit/selector.h"
#include "trace/model/capture_info.h"

namespace chakra::edit {
namespace {

bool ParseCount(absl::string_view text, int64_t* out) {
  return !text.empty() && absl::SimpleAtoi(text, out) && *out >= 0;
}

}  // namespace

absl::StatusOr<Interval> ParseInterval(absl::string_view text) {
  Interval out;
  absl::string_view rest = text;
  const size_t slash = rest.find('/');
  bool good = slash == rest.npos || (ParseCount(rest.substr(slash + 1), &out.step) && out.step > 0);
  if (slash != rest.npos) rest = rest.substr(0, slash);
  const size_t dash = rest.find('-');
  good = good && ParseCount(rest.substr(0, dash), &out.first);
  out.last = out.first;
  if (dash != rest.npos) good = good && ParseCount(rest.substr(dash + 1), &out.last) && out.last >= out.first;
  if (good) return out;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\", expected a number, a range (0-7), or every n-th of one (0-254/2)"));
}

absl::StatusOr<LaneSpec> ParseLane(absl::string_view text) {
  LaneSpec out;
  absl::string_view rest = text;
  if (text == "none") {
    out.none = true;
    return out;
  }
  out.cpu = absl::ConsumePrefix(&rest, "thread:");
  int64_t lane = 0;
  if (out.cpu || absl::ConsumePrefix(&rest, "stream:")) {
    out.any = rest == "*";
    if (out.any) return out;
    // Captures have lanes below 0; kNoLane means no lane.
    if (!rest.empty() && absl::SimpleAtoi(rest, &lane) && lane > kNoLane && lane <= INT32_MAX) {
      out.lane = static_cast<int32_t>(lane);
      return out;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\", expected stream:N, thread:N, stream:*, thread:* or none"));
}

absl::StatusOr<LaneSpec> ParseLaneToPutOn(absl::string_view text) {
  absl::StatusOr<LaneSpec> lane = ParseLane(text);
  if (!lane.ok() || lane->any || lane->none || lane->lane >= 0) return lane;
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" stands for an id of more than 31 bits; expected a lane from 0 on to put nodes on"));
}

absl::StatusOr<NodeType> ParseNodeType(absl::string_view text, std::vector<std::string> others) {
  std::vector<std::string> known = std::move(others);
  for (int t = 0; t < kNodeTypes; ++t) {
    known.emplace_back(Name(static_cast<NodeType>(t)));
    if (text == known.back()) return static_cast<NodeType>(t);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown type \"", text, "\"", SuggestName(std::string(text), known)));
}

absl::StatusOr<CollectiveType> ParseCollective(absl::string_view text) {
  std::vector<std::string> known;
  for (int t = 0; t < kCollectiveTypes; ++t) {
    known.emplace_back(Name(static_cast<CollectiveType>(t)));
    if (text == known.back()) return static_cast<CollectiveType>(t);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown collective \"", text, "\"", SuggestName(std::string(text), known)));
}

absl::StatusOr<Interval> ParseIteration(absl::string_view text, size_t count) {
  const auto end = static_cast<int64_t>(std::min<size_t>(count, INT64_MAX)) - 1;
  if (text == "first") return Interval{0, 0, 1};
  if (text == "last") return Interval{end, end, 1};
  absl::StatusOr<Interval> out = ParseInterval(text);
  if (!out.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\", expected first, last, a number from 0, or a range (2-4)"));
  }
  if (out->last > end) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\", but the trace has ", count,
                                                   count == 1 ? " iteration" : " iterations",
                                                   ", expected at most ", end));
  }
  return out;
}

absl::StatusOr<Iterations> FindIterations(Draft* draft) {
  ASSIGN_OR_RETURN(const auto order, draft->Order());
  Iterations out;
  ASSIGN_OR_RETURN(std::optional<CaptureInfo> info, ReadCaptureInfo(draft->trace()));
  // The rows with which iterations begin, in recorded order.
  std::vector<uint32_t> marks;
  if (info.has_value()) {
    for (const CaptureInfo::Step& step : info->steps) {
      if (absl::StartsWith(step.name, "ProfilerStep") && !draft->row(step.first).removed)
        marks.push_back(step.first);
    }
  } else {
    for (const uint32_t r : *order) {  // callees may divide the node of a step into several nodes
      const absl::string_view name = draft->row(r).name;
      if (absl::StartsWith(name, "ProfilerStep") && (marks.empty() || name != draft->row(marks.back()).name))
        marks.push_back(r);
    }
  }
  out.marked = !marks.empty();
  std::vector<bool> begins(draft->size());
  for (const uint32_t r : marks) begins[r] = true;
  if (!out.marked) {
    out.rows.emplace_back();
    out.names.emplace_back("all");
  }
  for (const uint32_t r : *order) {
    if (begins[r]) {
      out.rows.emplace_back();
      out.names.emplace_back(draft->row(r).name);
    }
    if (!out.rows.empty() && draft->row(r).works()) out.rows.back().push_back(r);
  }
  for (std::vector<uint32_t>& rows : out.rows) std::sort(rows.begin(), rows.end());
  return out;
}

}  // namespace chakra::edit
