#include <utility>
#include <vector>

#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// A round of the all-gather: every member sends, to the member `distance` ahead, the blocks of the members
// that are `offsets` behind itself.
struct Round {
  int distance;
  std::vector<int> offsets;
};

std::vector<Round> PatRounds(int n) {
  std::vector<Round> rounds;
  int distance = 1;
  while (distance * 2 < n) distance *= 2;
  std::vector<int> held = {0};
  for (; distance >= 1; distance /= 2) {
    Round round{distance, {}};
    for (const int o : held) {
      if (o + distance < n) round.offsets.push_back(o);
    }
    for (const int o : round.offsets) held.push_back(o + distance);
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace

absl::Status BuildPat(const PlanRequest&, Plan* plan) {
  const int n = plan->members;
  const bool gathers = plan->type == CollectiveType::kAllGather;
  const std::vector<Round> rounds = PatRounds(n);
  Program program;
  program.connections = static_cast<uint32_t>(rounds.size());
  for (size_t i = 0; i < rounds.size(); ++i) {
    const auto connection = static_cast<uint16_t>(i);
    // Reduce-scatter is the reverse of the all-gather: the last round comes first, and receivers send.
    const Round& round = gathers ? rounds[i] : rounds[rounds.size() - 1 - i];
    const int d = round.distance;
    const auto behind = [n](int o) { return (n - o) % n; };
    for (const int o : round.offsets) {
      program.steps.push_back(
          {StepOp::kSendWait, connection, gathers ? d : n - d, gathers ? behind(o) : behind(o + d), 1});
    }
    for (const int o : round.offsets) {
      program.steps.push_back({gathers ? StepOp::kRecv : StepOp::kRecvReduce, connection, gathers ? n - d : d,
                               gathers ? behind(o + d) : behind(o), 1});
    }
  }
  plan->chunk_is_whole = gathers;
  SetRotational(std::move(program), n, plan);
  return absl::OkStatus();
}

}  // namespace chakra
