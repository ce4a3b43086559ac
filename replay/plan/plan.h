// The best splits of a workload on a cluster: all by a closed form, the best of them replayed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/plan.pb.h"
#include "proto/workload.pb.h"
#include "replay/run/options.h"

namespace chakra::planning {

// Of a device's memory, what tensors cannot have: the allocator reserves up to 1.09 times what it gives out
// (SimuMax's 43 runs on B200), and the device's context and the buffers of libraries come on top.
inline constexpr double kReserve = 0.1;
// Of all replays together, from which no further one is begun: half a minute on one core.
inline constexpr uint64_t kReplayNodes = 60'000'000;

// How far the replays of a plan are.
struct PlanProgress {
  int done = 0, of = 0;                  // replays
  double share = 0;                      // of their nodes
  const proto::PlanRow* best = nullptr;  // of those that are done by time; null: none is
};

struct PlanRequest {
  proto::Workload workload;
  std::vector<std::string> tries;  // see MakeSplitSpace()
  RunOptions run;                  // the machine; its device_memory is the limit before the reserve
  int ranks = 0;                   // 0: those of the cluster, or of a split that the workload has whole
  int top = 10;                    // rows
  // What the best split has least of. All but time need run.energy, run.prices or run.grid.
  enum class Aim { kTime, kEnergy, kCost, kCarbon };
  Aim aim = Aim::kTime;
  double reserve = kReserve;             // share of the device's memory
  uint64_t replay_nodes = kReplayNodes;  // the best two are replayed anyhow; 0: any number
  int threads = 1;                       // replays at once; the answer does not depend on it
  // Called before the replays, often while they go on, and after each; may be null; from any thread, one at a
  // time.
  std::function<void(const PlanProgress& progress)> progress;
};

// "time", "energy", "cost" or "carbon".
absl::string_view NameOf(PlanRequest::Aim aim);

// The best by the aim first, of the fastest by the closed form. Where nothing fits, the report has no row,
// but the split that lacks least and what would help. Where the caller's StopScope says stop after the search,
// the report has what was replayed until then, and a warning. Errors: those of MakeSplitSpace(), of the machine,
// and of replays; no valid split at all, with the most frequent reason; Cancelled.
absl::StatusOr<proto::PlanReport> MakePlan(const PlanRequest& request);

}  // namespace chakra::planning
