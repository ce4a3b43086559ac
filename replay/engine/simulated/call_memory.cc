#include "replay/engine/simulated/call_memory.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "replay/nccl/fast_path.h"
#include "trace/base/free_memory.h"

namespace chakra {
namespace {

constexpr uint64_t kMuch = uint64_t{256} << 20;  // bytes
// Bytes of a connection: the number of messages that have arrived, and the stream that waits for one.
constexpr uint64_t kOfConnection = 2 * sizeof(uint32_t);

// The number of sends that begin at once: those at the start of their stream, with only sends before them.
uint64_t SendsAtOnce(const Plan& plan) {
  uint64_t sends = 0;
  for (const Program& program : plan.programs) {
    for (const Stream& stream : program.streams) {
      for (uint32_t i = stream.begin; i < stream.end && IsSend(program.steps[i].op); ++i) {
        ++sends;
        if (program.steps[i].op == StepOp::kSendWait) break;
      }
    }
  }
  return plan.rotational ? sends * static_cast<uint64_t>(plan.members) : sends;
}

// The bytes of a message on the wire of the outermost level.
uint64_t WireBytes(const PlannedCall& planned, uint64_t bytes) {
  const CallCosts& costs = planned.costs;
  uint64_t chunk = EqualChunk(planned, bytes);
  if (chunk == kUnevenChunks) chunk = ChunkBytes(*planned.plan, bytes, 0, 1);
  return costs.levels.empty() ? chunk : costs.OnWire(chunk, static_cast<int>(costs.levels.size()) - 1);
}

}  // namespace

CallMemory LeastMemoryOf(const Fabric& fabric, const PlannedCall& planned, uint64_t bytes) {
  const Plan& plan = *planned.plan;
  CallMemory memory;
  memory.messages = SendsAtOnce(plan) * static_cast<uint64_t>(planned.costs.at_once);
  memory.bytes = memory.messages * fabric.FlowMemory(WireBytes(planned, bytes)) +
                 uint64_t{plan.connection_base.back()} * static_cast<uint64_t>(planned.costs.at_once) *
                     kOfConnection;
  return memory;
}

absl::Status CheckCallMemory(const Fabric& fabric, const CollectiveCall& call, uint64_t members,
                             const PlannedCall& planned) {
  const CallMemory memory = LeastMemoryOf(fabric, planned, call.bytes);
  if (memory.bytes <= kMuch) return absl::OkStatus();
  const uint64_t free = FreeMemory();
  if (memory.bytes <= free) return absl::OkStatus();
  const auto text = [](uint64_t bytes) { return MemoryText(static_cast<double>(bytes)); };
  return absl::ResourceExhaustedError(absl::StrCat(
      std::string(Name(call.type)), " (", planned.algorithm, ") on ", members, " ranks begins ",
      memory.messages, " messages at once, which need at least ", text(memory.bytes), ", and ", text(free),
      " are free; expected fewer ranks, --fabric fluid or analytical, or more memory"));
}

}  // namespace chakra
