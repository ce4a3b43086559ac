// Checks of a plan that need no execution: every step is valid by itself, and each connection has one sender
// and one receiver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/proof.h"

namespace chakra {

inline constexpr uint32_t kNoStream = 0xffffffff;

// Streams and connections, numbered over all nodes of the plan.
struct Wiring {
  std::vector<uint32_t> stream_base;      // nodes + 1
  std::vector<uint32_t> connection_base;  // nodes + 1
  std::vector<uint32_t> node_of;          // by stream
  std::vector<uint32_t> sender;           // by connection: stream; kNoStream: unused
  std::vector<uint32_t> receiver;
};

// A step with absolute instead of relative peers and chunks.
struct PlainStep {
  StepOp op = StepOp::kSend;
  int peer = 0;             // node; kAwait: stream of the same node
  int chunk = 0;            // kAwait: steps
  int source = 0;           // kCopy, kReduce: the first chunk to read
  int count = 0;            // chunks
  uint8_t pattern = 0;      // as in Step
  uint32_t connection = 0;  // numbered over all nodes; sends and receives only
};

// Precondition: CheckPlan() accepted the step.
PlainStep Plain(const Plan& plan, const Wiring& wiring, int node, const Step& step);

std::string NodeName(const Plan& plan, int node);                    // "member 3", "switch 0"
std::string StepText(const Plan& plan, int node, const Step& step);  // "recv chunk 2 from member 1"
std::string StepPlace(const Plan& plan, int node, int stream,
                      int index);  // "member 3, stream 0, step 7 (...)"

// The error "plan ring for all_reduce on 5 members: PLACE: WHAT"; also fills `fault`. With stream or index
// -1, PLACE is the whole node.
absl::Status PlanError(const Plan& plan, const PlanFault& at, absl::string_view what, PlanFault* fault);

// Whether chunks a and b are equally large for every size of a call.
bool SameSize(const Plan& plan, int a, int b);

// Checks all steps and fills `wiring`.
absl::Status CheckPlan(const Plan& plan, Wiring* wiring, PlanFault* fault);

}  // namespace chakra
