// Explains why a run cannot finish.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "replay/engine/match/match.h"
#include "trace/model/trace.h"

namespace chakra {

// What the engine knows when nothing more can happen.
struct StuckView {
  const TraceSet* traces = nullptr;
  const Matching* matching = nullptr;
  uint64_t finished = 0;
  uint64_t total = 0;
  std::function<uint32_t(int rank)> left;  // nodes not finished
  std::function<bool(uint32_t call, uint32_t member)> arrived;
  std::function<bool(uint32_t message)> receiver_waits;
  std::function<bool(uint32_t message)> sent;
  std::function<bool(uint32_t message)> sender_waits;  // for the receive; null: senders never do
  std::string fabric;                                  // FabricReport::WhyStuck()
};

// A FailedPrecondition error that lists one cycle of ranks that wait for each other, with rank, node, name,
// group and position. If the network holds what they wait for, the error says why.
absl::Status DiagnoseStuck(const StuckView& view);

}  // namespace chakra
