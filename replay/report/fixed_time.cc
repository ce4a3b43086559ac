#include "replay/report/fixed_time.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/report/row_table.h"
#include "replay/run/options.h"
#include "trace/base/text_table.h"
#include "trace/model/inspect.h"

namespace chakra {
namespace {

constexpr size_t kRankLines = 16;  // rows of ranks
constexpr double kNamed = 0.01;    // share of the total; causes below it are not named

using P = proto::FixedTime;
struct CauseText {
  FixedTimeCause cause;
  int64_t (P::*get)() const;
  const char* blind;  // limits of the trace, or edits that do not change this time
};
constexpr CauseText kCauses[kFixedTimeCauses] = {
    {FixedTimeCause::kHostGaps, &P::host_gaps_ps,
     "the trace does not show what these host threads did or waited for; annotations around their work "
     "would"},
    {FixedTimeCause::kLaunchLatency, &P::launch_latency_ps,
     "faster operators, a faster device or fewer bytes do not shorten it"},
    {FixedTimeCause::kStreamGaps, &P::stream_gaps_ps, "faster device operations do not shorten them"},
    {FixedTimeCause::kStart, &P::start_ps,
     "the trace does not show the time before it: streams that ran earlier work, ranks with a later start of "
     "the recording; a recording that begins while all are idle would"},
    {FixedTimeCause::kUnexplained, &P::unexplained_ps, "nothing that the capture shows shortens it"},
    {FixedTimeCause::kRecordedWaits, &P::recorded_waits_ps,
     "a faster device or faster communication does not end them sooner"},
    {FixedTimeCause::kOther, &P::other_delays_ps, "only edits of delays change them"},
};

// The causes, the longest first: "host gaps 12.3 % (a faster device ...)"
std::string CausesOf(const proto::FixedTime& time, bool blind) {
  std::vector<const CauseText*> causes;
  for (const CauseText& c : kCauses) {
    const auto ps = static_cast<double>((time.*c.get)());
    if (ps > 0 && ps >= kNamed * static_cast<double>(time.time_ps())) causes.push_back(&c);
  }
  std::stable_sort(causes.begin(), causes.end(), [&](const CauseText* a, const CauseText* b) {
    return (time.*a->get)() > (time.*b->get)();
  });
  return absl::StrJoin(causes, blind ? "; " : ", ", [&](std::string* out, const CauseText* c) {
    const double part = static_cast<double>((time.*c->get)()) / static_cast<double>(time.time_ps());
    absl::StrAppendFormat(out, "%s %.1f %%", Name(c->cause), 100 * time.share() * part);
    if (blind) absl::StrAppend(out, " (", c->blind, ")");
  });
}

}  // namespace

proto::FixedTimeReport MakeFixedTimeReport(const FixedTimeRun& run, const Metrics& metrics,
                                           const std::vector<Time>& starts) {
  const std::vector<FixedTime>& ranks = run.ranks;
  proto::FixedTimeReport out;
  const auto most = std::max_element(ranks.begin(), ranks.end(), [](const FixedTime& a, const FixedTime& b) {
    return a.total() < b.total();
  });
  *out.mutable_run() = ToProto(most == ranks.end() ? FixedTime() : *most, "run", metrics.makespan);
  *out.mutable_critical_path() = ToProto(run.path, "critical path", metrics.makespan);
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Time start = starts.empty() ? Time::Zero() : starts[r];
    *out.add_rank() = ToProto(ranks[r], absl::StrCat("rank ", r), metrics.ranks[r].end - start);
  }
  out.set_share(out.run().share());
  out.set_path_share(out.critical_path().share());
  return out;
}

std::string WarnOfFixedTime(const proto::FixedTimeReport& fixed_time,
                            absl::FunctionRef<bool()> device_alone) {
  if (100 * fixed_time.share() <= kFixedTimeWarning) return "";
  return absl::StrFormat(
      "%.1f %% of the makespan is fixed time, %.1f %% along the critical path: %s%s",
      100 * fixed_time.share(), 100 * fixed_time.path_share(), CausesOf(fixed_time.run(), true),
      device_alone() ? ". No call of the host was recorded, so its launches, work and waits are unknown; "
                       "these times include the device's waits for the host"
                     : "");
}

proto::HeldEdits HeldByFixedTime(const MakespansWithoutFixedTime& unedited,
                                 const MakespansWithoutFixedTime& edited) {
  const int64_t seen = (unedited.run - edited.run).picos();
  const int64_t whole = (unedited.without - edited.without).picos();
  proto::HeldEdits held;
  held.set_unedited_ps(unedited.run.picos());
  held.set_effect_ps(seen);
  held.set_effect_without_fixed_ps(whole);
  held.set_held_ps(whole > 0 ? std::max<int64_t>(0, whole - seen) : std::min<int64_t>(0, whole - seen));
  return held;
}

std::string WarnOfHeldEdits(const proto::FixedTimeReport& fixed_time, Time makespan) {
  const proto::HeldEdits& held = fixed_time.held();
  if (held.held_ps() == 0) return "";
  const bool shorter = held.effect_without_fixed_ps() > 0;
  const auto length = [](int64_t ps) { return FormatTime(Time::Picos(std::abs(ps))); };
  const std::string run = held.effect_ps() == 0 ? "as long as before"
                                                : absl::StrCat(length(held.effect_ps()), " ",
                                                               held.effect_ps() > 0 ? "shorter" : "longer");
  return absl::StrCat("the edits ", shorter ? "take away " : "add ", length(held.effect_without_fixed_ps()),
                      ", but fixed time ", shorter ? "holds " : "hides ", length(held.held_ps()),
                      " of these: the run is ", run, ", ", FormatTime(Time::Picos(held.unedited_ps())),
                      " before and ", FormatTime(makespan),
                      " now. No edit of durations makes it shorter than ",
                      FormatTime(Time::Picos(fixed_time.run().time_ps())), " (",
                      CausesOf(fixed_time.run(), false), " of the makespan)");
}

absl::Status CheckFixedTime(const proto::FixedTimeReport& fixed_time, double percent) {
  if (100 * fixed_time.share() <= percent) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "--strict-causes: %.1f %% of the makespan is fixed time, expected at most %g %%: %s. Edits of "
      "durations do not move that time; without --strict-causes the report shows it by rank",
      100 * fixed_time.share(), percent, CausesOf(fixed_time.run(), true)));
}

std::string PrintFixedTime(const proto::Report& report, TextPage* page) {
  if (!report.has_fixed_time()) return "";
  const proto::FixedTimeReport& fixed_time = report.fixed_time();
  std::vector<const proto::FixedTime*> ranks;
  for (const proto::FixedTime& r : fixed_time.rank()) ranks.push_back(&r);
  const bool cut = ranks.size() > kRankLines;
  if (cut) {
    std::stable_sort(ranks.begin(), ranks.end(),
                     [](const auto* a, const auto* b) { return a->share() > b->share(); });
    ranks.resize(kRankLines);
  }
  RowTable<proto::FixedTime> table;
  table.Left("of");
  table.Add(fixed_time.run());
  table.Add(fixed_time.critical_path());
  for (const proto::FixedTime* r : ranks) {
    if (report.rank_size() > 1) table.Add(*r);
  }
  const auto rest = static_cast<uint64_t>(fixed_time.rank_size()) - ranks.size();
  return absl::StrCat("\nFixed time: taken as recorded; edits of durations do not move it\n",
                      table.Print(page),
                      cut ? absl::StrCat("  ... and ", FormatCount(rest),
                                         " more ranks, of less (all are in "
                                         "--format json)\n")
                          : "");
}

}  // namespace chakra
