#include "replay/collectives/builders.h"

namespace chakra {
namespace {

// Member m sends `chunk` (as an offset from m; for i > 0 also by the peer's
// offset where `follow` is true) to every other, and then receives theirs into
// its own range. Connections [first, first + n - 1) at the receiver.
void Exchange(int n, int first, bool follow, StepOp receive, int count, Program* program) {
  for (int i = 1; i < n; ++i) {
    program->steps.push_back(
        {StepOp::kSendWait, static_cast<uint16_t>(first + i - 1), i, follow ? i : 0, count});
  }
  for (int i = 1; i < n; ++i) {
    const int from = n - i;  // who sends on this connection
    const bool gathers = receive == StepOp::kRecv;
    program->steps.push_back(
        {receive, static_cast<uint16_t>(first + i - 1), from, gathers ? from : 0, count});
  }
}

}  // namespace

void BuildDirect(Plan* plan, int) {
  const int n = plan->members;
  Program program;
  int connections = 0;
  if (plan->type != CollectiveType::kAllGather) {
    Exchange(n, connections, true, StepOp::kRecvReduce, 1, &program);
    connections += n - 1;
  }
  if (plan->type == CollectiveType::kAllReduce || plan->type == CollectiveType::kAllGather) {
    Exchange(n, connections, false, StepOp::kRecv, 1, &program);
    connections += n - 1;
  }
  program.connections = static_cast<uint32_t>(connections);
  program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  plan->chunks = n;
  plan->chunk_is_whole = plan->type == CollectiveType::kAllGather;
  plan->rotational = true;
  plan->synchronizing = true;
  plan->programs = {std::move(program)};
}

void BuildOneShot(Plan* plan, int) {
  const int n = plan->members;
  Program program;
  program.connections = static_cast<uint32_t>(n - 1);
  for (int i = 1; i < n; ++i) {
    program.steps.push_back({StepOp::kSendWait, static_cast<uint16_t>(i - 1), i, 0, 1});
  }
  for (int i = 1; i < n; ++i) {
    program.steps.push_back({StepOp::kRecvReduce, static_cast<uint16_t>(i - 1), n - i, 0, 1});
  }
  program.streams = {{0, static_cast<uint32_t>(program.steps.size())}};
  plan->chunks = 1;
  plan->rotational = true;
  plan->synchronizing = true;
  plan->programs = {std::move(program)};
}

}  // namespace chakra
