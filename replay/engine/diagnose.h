// Explains why a run cannot finish.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "replay/engine/match/match.h"
#include "trace/model/trace.h"

namespace chakra {

// The state of the engine when no event is left.
struct StuckView {
  const TraceSet* traces = nullptr;
  const Matching* matching = nullptr;
  uint64_t finished = 0;
  uint64_t total = 0;
  std::function<uint32_t(int rank)> left;  // number of unfinished nodes
  std::function<bool(uint32_t call, uint32_t member)> arrived;
  std::function<bool(uint32_t message)> receiver_waits;
  std::function<bool(uint32_t message)> sent;
  std::function<bool(uint32_t message)> sender_waits;  // whether the sender waits for the receive; null:
                                                       // senders never wait
  std::string fabric;                                  // FabricReport::WhyStuck()
};

// Returns a FailedPrecondition error that lists one cycle of ranks that wait for each other, each with rank,
// node, name, group and position. If the network holds the messages that ranks wait for, the error says why.
absl::Status DiagnoseStuck(const StuckView& view);

}  // namespace chakra
