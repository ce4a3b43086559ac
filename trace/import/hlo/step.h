// From an XLA module to what its devices run, node by node: calls in place, loops as often as they go round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/hlo/collectives.h"
#include "trace/import/hlo/facts.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// The streams that XLA's GPU runtime uses: a start waits for all that the main stream was given before, and
// what the main stream is given after an end waits for what the start began. kBeside: kernels of async-start.
enum class StepStream : uint8_t { kCompute, kCollective, kSend, kReceive, kCopy, kBeside };

struct StepNode {
  uint32_t computation = 0, instruction = 0;  // in the module
  uint32_t facts = kNoRow;                    // index into Step::facts; kNoRow: communication
  uint32_t collective = kNoRow;               // index into Step::collectives; kNoRow: computation
  StepStream stream = StepStream::kCompute;
  uint32_t dep_begin = 0, dep_end = 0;  // in Step::deps
};

// A collective, resolved to devices. One entry for each instruction, however often it runs.
struct StepCollective {
  Collective what;
  std::vector<std::vector<int64_t>> groups;        // of devices
  std::vector<std::pair<int64_t, int64_t>> pairs;  // of a permute, sends and receives
  std::vector<uint32_t> group_of;                  // by device: its row of groups; kNoRow: in none
  std::vector<int64_t> source_of, target_of;       // by device; -1: none
  uint32_t tag = 0;  // of its messages: a send's is that of the receives that it meets
};

struct Step {
  Mesh mesh;
  std::vector<StepNode> nodes;
  std::vector<uint32_t> deps;  // each less than the node's own index
  std::vector<Facts> facts;
  std::vector<StepCollective> collectives;
  std::vector<std::string> warnings;
};

// The most nodes that a step may have.
inline constexpr size_t kMostNodes = size_t{1} << 24;

// Errors name `file` and the instruction: groups that do not fit the devices; more than kMostNodes nodes.
// Warnings: a loop whose count is not known goes round once; of a conditional the branch with the most work
// is taken; custom calls that nothing tells; what goes to and from the host, and is left out; a module from
// before its optimisations.
absl::StatusOr<Step> BuildStep(const Module& module, absl::string_view file);

}  // namespace chakra::hlo
