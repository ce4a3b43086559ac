// From an XLA module to the nodes that its devices run: calls are run in place, and loops as often as they
// iterate.
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

// The streams of XLA's GPU runtime. A start waits for all work that was put on the main stream before it;
// work that is put on the main stream after an end waits for the work of the start. kBeside: kernels of
// async-start.
enum class StepStream : uint8_t { kCompute, kCollective, kSend, kReceive, kCopy, kBeside };

struct StepNode {
  uint32_t computation = 0, instruction = 0;  // in the module
  uint32_t facts = kNoRow;                    // index into Step::facts; kNoRow: communication
  uint32_t collective = kNoRow;               // index into Step::collectives; kNoRow: computation
  StepStream stream = StepStream::kCompute;
  uint32_t dep_begin = 0, dep_end = 0;  // in Step::deps
};

// A collective as groups or pairs of devices. There is one for each instruction, however often it runs.
struct StepCollective {
  Collective what;
  std::vector<std::vector<int64_t>> groups;        // of devices
  std::vector<std::pair<int64_t, int64_t>> pairs;  // of a permute, sends and receives
  std::vector<uint32_t> group_of;                  // by device: its row of groups; kNoRow: in none
  std::vector<int64_t> source_of, target_of;       // by device; -1: none
  uint32_t tag = 0;  // of its messages; a send and the receives that match it have the same tag
};

struct Step {
  Mesh mesh;
  std::vector<StepNode> nodes;
  std::vector<uint32_t> deps;  // each less than the node's own index
  std::vector<Facts> facts;
  std::vector<StepCollective> collectives;
  std::vector<std::string> warnings;
};

// Maximum number of nodes of a step.
inline constexpr size_t kMostNodes = size_t{1} << 24;

// Builds the step of a module. Errors name `file` and the instruction: groups do not fit the devices; there
// are more than kMostNodes nodes. Warnings: a loop whose trip count is not known runs once; of a conditional,
// the branch with the most work runs; custom calls of unknown work; transfers to and from the host, which are
// left out; a module from before its optimizations.
absl::StatusOr<Step> BuildStep(const Module& module, absl::string_view file);

}  // namespace chakra::hlo
