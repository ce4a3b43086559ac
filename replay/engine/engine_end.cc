// The end of a run: its metrics, or why it could not finish.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/causes/pinned.h"
#include "replay/engine/diagnose.h"
#include "replay/engine/engine_run.h"
#include "replay/engine/measure/kept_comm.h"
#include "replay/engine/measure/metrics.h"
#include "trace/import/locate.h"

namespace chakra {

absl::Status Engine::Unfinished() {
  if (!events_.empty()) {
    const Event& event = events_.top();
    return absl::OutOfRangeError(absl::StrCat(
        "the run exceeds the longest simulated time, 106 days",
        event.rank & Event::kWake
            ? ""
            : absl::StrCat(": ", DescribeNode(traces_.ranks[event.rank], event.row & ~Event::kReady),
                           " would end later")));
  }
  StuckView view;
  view.traces = &traces_;
  view.matching = &matching_;
  view.finished = nodes_done_;
  view.total = nodes_total_;
  view.left = [this](int rank) { return ranks_[rank].left; };
  view.arrived = [this](uint32_t call, uint32_t member) {
    if (!options_.recorded_comm && !matching_.calls[call].kept) return runner_.Arrived(call, member);
    const int rank = matching_.groups[matching_.calls[call].group].members[member];
    return recorded_.AtCall(call, static_cast<uint32_t>(rank));
  };
  view.receiver_waits = [this](uint32_t m) {
    if (!options_.recorded_comm && !matching_.messages[m].kept) return messages_.receiver_waits(m);
    return recorded_.AtMessage(m, static_cast<uint32_t>(matching_.messages[m].dst));
  };
  view.sent = [this](uint32_t m) {
    if (!options_.recorded_comm && !matching_.messages[m].kept) return messages_.sent(m);
    return recorded_.AtMessage(m, static_cast<uint32_t>(matching_.messages[m].src));
  };
  if (!options_.recorded_comm) view.fabric = machine_.WhyStuck();
  if (options_.recorded_comm) {
    view.sender_waits = [this](uint32_t m) {
      const MatchedMessage& message = matching_.messages[m];
      return message.recv_row != kNoRow && recorded_.AtMessage(m, static_cast<uint32_t>(message.src)) &&
             !recorded_.AtMessage(m, static_cast<uint32_t>(message.dst));
    };
  }
  return DiagnoseStuck(view);
}

Metrics Engine::Collect() {
  Metrics metrics;
  metrics.makespan = now_;
  for (RankState& rank : ranks_) {
    metrics.ranks.push_back(rank.busy.Totals());
    metrics.ranks.back().nodes = rank.graph->size();
  }
  metrics.nodes = nodes_done_;
  for (const RankState& rank : ranks_)
    metrics.nodes += static_cast<uint64_t>(rank.ranks - 1) * rank.graph->size();
  metrics.invalid_nodes = invalid_;
  metrics.warnings = matching_.warnings;
  names_.Report(&metrics);
  if (options_.pinned != nullptr) options_.pinned->path = PinnedOfPath(causes_.final(), traces_, compute_);
  if (options_.path != nullptr) {
    const auto explain = [this](uint32_t call, uint32_t origin, uint32_t member) {
      return runner_.ExplainClosed(call, origin, member);
    };
    *options_.path = TracePath(causes_.final(), now_, matching_, machine_, explain);
  }
  if (options_.recorded_comm) {
    recorded_.Report(&metrics);
  } else {
    runner_.Report(&metrics);
    messages_.Report(&metrics);
    metrics.flows += memory_.flows();
    recorded_.ReportKept(&metrics);
  }
  CountKept(traces_, &metrics);
  if (HasTwins()) AddTwins(&metrics);
  return metrics;
}

// Waits in calls are counted by groups, of twins too. Recorded communication ends at the same times on all
// twins: nothing is to be said of it.
void Engine::AddTwins(Metrics* metrics) const {
  size_t simulated = 0;
  for (size_t r = 0; r < metrics->ranks.size(); ++r)
    simulated += (*options_.twins)[r] == static_cast<int>(r) ? 1 : 0;
  const double share = now_ > Time::Zero() ? twins_apart_.seconds() / now_.seconds() : 0;
  const std::string stand = absl::StrCat(simulated, simulated == 1 ? " rank stands" : " ranks stand",
                                         " for all ", metrics->ranks.size());
  if (!options_.recorded_comm) {
    metrics->warnings.push_back(absl::StrFormat(
        "%s: the others do the same on equal places. Ranks that end a call at unequal times are taken to end "
        "it with the last, so that the makespan is at most %.4f %% too long; --no-fast-path simulates each "
        "rank",
        stand, 100 * share));
  }
  for (size_t r = 0; r < metrics->ranks.size(); ++r) {
    const auto of = static_cast<size_t>((*options_.twins)[r]);
    if (of == r) continue;
    RankMetrics& twin = metrics->ranks[r];
    const Time waited = twin.waited, kept = twin.kept_waiting;
    twin = metrics->ranks[of];
    twin.waited = waited;
    twin.kept_waiting = kept;
  }
}

}  // namespace chakra
