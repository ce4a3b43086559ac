// Finds the best splits of a workload on a cluster: estimates all in closed form, and replays the best.
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

// The share of a device's memory that tensors cannot use. The allocator reserves up to 1.09 times what it
// hands out (SimuMax's 43 runs on B200), and the device's context and the buffers of libraries need memory
// too.
inline constexpr double kReserve = 0.1;
// The total number of nodes of all replays after which no other replay is started: half a minute on one core.
inline constexpr uint64_t kReplayNodes = 60'000'000;

// The progress of the replays of a plan.
struct PlanProgress {
  int done = 0, of = 0;                  // replays
  double share = 0;                      // done share of the nodes of all replays
  const proto::PlanRow* best = nullptr;  // the fastest split that was replayed; null: none yet
};

struct PlanRequest {
  proto::Workload workload;
  std::vector<std::string> tries;  // see MakeSplitSpace()
  RunOptions run;                  // the machine; its device_memory is the limit before the reserve
  int ranks = 0;                   // 0: those of the cluster, or of the workload's split if that is complete
  int top = 10;                    // number of rows in the report
  // The quantity to minimise. All but time need run.energy, run.prices or run.grid.
  enum class Aim { kTime, kEnergy, kCost, kCarbon };
  Aim aim = Aim::kTime;
  double reserve = kReserve;  // share of the device's memory that tensors cannot use
  // Limit for the nodes of all replays; the best two are always replayed; 0: no limit.
  uint64_t replay_nodes = kReplayNodes;
  int threads = 1;  // replays at the same time; the answer does not depend on it
  // Called before the replays, often while they run, and after each. May be null. Called from any thread, by
  // one thread at a time.
  std::function<void(const PlanProgress& progress)> progress;
};

// "time", "energy", "cost" or "carbon".
absl::string_view NameOf(PlanRequest::Aim aim);

// Returns the splits that are fastest in closed form, ordered by the aim. If nothing fits, the report has no
// row, but the split that lacks the least memory, and changes that would help. If the caller's StopScope
// stops the replays, the report has those that were done, and a warning. Errors: those of MakeSplitSpace(),
// of the machine, and of replays; no valid split at all (the error has the most frequent reason); Cancelled.
absl::StatusOr<proto::PlanReport> MakePlan(const PlanRequest& request);

}  // namespace chakra::planning
