// The end of a run: collects its metrics, or explains why it could not finish.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/causes/fixed_time.h"
#include "replay/engine/diagnose.h"
#include "replay/engine/engine_run.h"
#include "replay/engine/measure/kept_comm.h"
#include "replay/engine/measure/metrics.h"
#include "trace/base/status_macros.h"
#include "trace/import/locate.h"

namespace chakra {

absl::Status Engine::Unfinished() {
  RETURN_IF_ERROR(comm_->Unfinished(nodes_total_ - nodes_done_));
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
    return CommOf(matching_.calls[call].kept).Arrived(call, member);
  };
  view.receiver_waits = [this](uint32_t m) { return CommOf(matching_.messages[m].kept).ReceiverWaits(m); };
  view.sent = [this](uint32_t m) { return CommOf(matching_.messages[m].kept).Sent(m); };
  if (options_.recorded_comm) {
    view.sender_waits = [this](uint32_t m) { return recorded_.SenderWaits(m); };
  } else {
    view.fabric = machine_.WhyStuck();
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
  if (options_.fixed_time != nullptr)
    options_.fixed_time->path = FixedTimeOfPath(causes_.final(), traces_, compute_);
  if (options_.path != nullptr) {
    const auto explain = [this](uint32_t call, uint32_t origin, uint32_t member) {
      return comm_->Explain(call, origin, member);
    };
    *options_.path = TracePath(causes_.final(), now_, matching_, machine_, explain);
  }
  if (!ahead_) recorded_.Report(&metrics);
  comm_->Report(&metrics);
  if (!ahead_) CountKept(traces_, &metrics);
  if (HasSymmetricRanks()) AddSymmetricRanks(&metrics);
  return metrics;
}

// `waited` and `kept_waiting` are not copied: waits in calls are counted by group, for symmetric ranks too.
// The metrics of recorded communication are copied, because it ends at the same times on all symmetric ranks.
void Engine::AddSymmetricRanks(Metrics* metrics) const {
  for (size_t r = 0; r < metrics->ranks.size(); ++r) {
    const auto of = static_cast<size_t>((*options_.symmetric)[r]);
    if (of == r) continue;
    RankMetrics& is_symmetric = metrics->ranks[r];
    const Time waited = is_symmetric.waited, kept = is_symmetric.kept_waiting;
    is_symmetric = metrics->ranks[of];
    is_symmetric.waited = waited;
    is_symmetric.kept_waiting = kept;
  }
}

}  // namespace chakra
