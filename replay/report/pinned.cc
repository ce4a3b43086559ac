#include "replay/report/pinned.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "replay/report/row_table.h"
#include "replay/run/options.h"
#include "trace/base/text_table.h"

namespace chakra {
namespace {

constexpr size_t kRows = 16;     // of ranks
constexpr double kNamed = 0.01;  // of the time of all: causes below this are not named

struct CauseText {
  PinnedCause cause;
  void (proto::PinnedTime::*set)(int64_t);
  int64_t (proto::PinnedTime::*get)() const;
  const char* name;
  const char* blind;  // what does not change it
};
using P = proto::PinnedTime;
constexpr CauseText kCauses[kPinnedCauses] = {
    {PinnedCause::kHostGaps, &P::set_host_gaps_ps, &P::host_gaps_ps, "host gaps",
     "a faster device, faster operators or faster communication do not shorten them"},
    {PinnedCause::kLaunchLatency, &P::set_launch_latency_ps, &P::launch_latency_ps, "launch latency",
     "faster operators and a faster device do not shorten it"},
    {PinnedCause::kStreamGaps, &P::set_stream_gaps_ps, &P::stream_gaps_ps, "stream gaps",
     "faster device operations do not shorten them"},
    {PinnedCause::kStart, &P::set_start_ps, &P::start_ps, "start",
     "no edit moves work whose cause is before the window"},
    {PinnedCause::kUnexplained, &P::set_unexplained_ps, &P::unexplained_ps, "unexplained",
     "no edit of what the capture shows shortens it"},
    {PinnedCause::kRecordedWaits, &P::set_recorded_waits_ps, &P::recorded_waits_ps, "recorded waits",
     "a faster device does not end them sooner"},
    {PinnedCause::kOther, &P::set_other_delays_ps, &P::other_delays_ps, "other delays",
     "only edits of delays change them"},
};

double ShareOf(Time part, Time whole) {
  return whole > Time::Zero() ? static_cast<double>(part.picos()) / static_cast<double>(whole.picos()) : 0;
}

void Fill(const std::string& of, const PinnedTime& time, Time whole, proto::PinnedTime* out) {
  out->set_of(of);
  out->set_time_ps(time.total().picos());
  out->set_share(ShareOf(time.total(), whole));
  for (const CauseText& c : kCauses) (out->*c.set)(time[c.cause].picos());
}

// The causes, the longest first: "host gaps 12.3 % (a faster device ...)".
std::string CausesOf(const proto::PinnedTime& time, bool blind) {
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
    absl::StrAppendFormat(out, "%s %.1f %%", c->name, 100 * time.share() * part);
    if (blind) absl::StrAppend(out, " (", c->blind, ")");
  });
}

}  // namespace

proto::PinnedReport MakePinnedReport(const std::vector<PinnedTime>& ranks, const PinnedTime& path,
                                     const Metrics& metrics, const std::vector<Time>& starts) {
  proto::PinnedReport out;
  const auto most = std::max_element(ranks.begin(), ranks.end(), [](const PinnedTime& a, const PinnedTime& b) {
    return a.total() < b.total();
  });
  Fill("run", most == ranks.end() ? PinnedTime() : *most, metrics.makespan, out.mutable_run());
  Fill("critical path", path, metrics.makespan, out.mutable_critical_path());
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Time start = starts.empty() ? Time::Zero() : starts[r];
    Fill(absl::StrCat("rank ", r), ranks[r], metrics.ranks[r].end - start, out.add_rank());
  }
  out.set_share(out.run().share());
  out.set_path_share(out.critical_path().share());
  return out;
}

std::string WarnOfPinned(const proto::PinnedReport& pinned) {
  if (100 * pinned.share() <= kPinnedWarning) return "";
  return absl::StrFormat("%.1f %% of the makespan are pinned, %.1f %% along the critical path: %s",
                         100 * pinned.share(), 100 * pinned.path_share(), CausesOf(pinned.run(), true));
}

absl::Status CheckPinned(const proto::PinnedReport& pinned, double percent) {
  if (100 * pinned.share() <= percent) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("--strict-causes: %.1f %% of the makespan are pinned, expected at most %g %%: %s. Edits of "
                      "durations do not move that time; without --strict-causes the report shows it by rank",
                      100 * pinned.share(), percent, CausesOf(pinned.run(), false)));
}

std::string PrintPinned(const proto::Report& report, TextPage* page) {
  if (!report.has_pinned()) return "";
  const proto::PinnedReport& pinned = report.pinned();
  std::vector<const proto::PinnedTime*> ranks;
  for (const proto::PinnedTime& r : pinned.rank()) ranks.push_back(&r);
  const bool cut = ranks.size() > kRows;
  if (cut) {
    std::stable_sort(ranks.begin(), ranks.end(), [](const auto* a, const auto* b) { return a->share() > b->share(); });
    ranks.resize(kRows);
  }
  RowTable<proto::PinnedTime> table;
  table.Left("of");
  table.Add(pinned.run());
  table.Add(pinned.critical_path());
  for (const proto::PinnedTime* r : ranks) {
    if (report.rank_size() > 1) table.Add(*r);
  }
  const auto rest = static_cast<uint64_t>(pinned.rank_size()) - ranks.size();
  return absl::StrCat("\nPinned: what the replay takes as given, and no edit of durations moves\n",
                      table.Print(page),
                      cut ? absl::StrCat("  ... and ", FormatCount(rest), " more ranks, of less (all are in "
                                         "--format json)\n")
                          : "");
}

}  // namespace chakra
