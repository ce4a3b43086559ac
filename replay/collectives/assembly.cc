#include "replay/collectives/assembly.h"

#include "absl/strings/str_cat.h"

namespace chakra {

int Assembly::Open(int node) {
  std::vector<int>& own = of_node_[static_cast<size_t>(node)];
  streams_.push_back({node, static_cast<int>(own.size()), {}});
  own.push_back(static_cast<int>(streams_.size()) - 1);
  return own.back();
}

std::vector<int> Assembly::OpenEach(int first, int count) {
  std::vector<int> streams;
  for (int i = 0; i < count; ++i) streams.push_back(Open(first + i));
  return streams;
}

uint16_t Assembly::Connection(int from, int to) {
  const auto [it, added] = connection_.try_emplace({from, to}, 0);
  if (added) it->second = connections_[static_cast<size_t>(streams_[static_cast<size_t>(to)].node)]++;
  return static_cast<uint16_t>(it->second);
}

void Assembly::Send(StepOp op, int from, int to, int chunk, int count, uint8_t pattern) {
  streams_[static_cast<size_t>(from)].steps.push_back(
      {op, Connection(from, to), streams_[static_cast<size_t>(to)].node, chunk, count, pattern});
}

void Assembly::Receive(StepOp op, int from, int to, int chunk, int count, uint8_t pattern) {
  streams_[static_cast<size_t>(to)].steps.push_back(
      {op, Connection(from, to), streams_[static_cast<size_t>(from)].node, chunk, count, pattern});
}

void Assembly::Copy(int stream, int source, int chunk, int count) {
  streams_[static_cast<size_t>(stream)].steps.push_back({StepOp::kCopy, 0, source, chunk, count});
}

void Assembly::Await(int stream, int other, int steps) {
  if (steps == 0) return;
  streams_[static_cast<size_t>(stream)].steps.push_back(
      {StepOp::kAwait, 0, streams_[static_cast<size_t>(other)].index, steps, 0});
}

absl::Status Assembly::Finish() {
  plan_->programs.resize(of_node_.size());
  for (size_t node = 0; node < of_node_.size(); ++node) {
    Program& program = plan_->programs[node];
    constexpr uint32_t kMost = 1 << 16;
    if (connections_[node] > kMost) {
      return absl::InvalidArgumentError(absl::StrCat(
          plan_->algorithm, " for ", std::string(Name(plan_->type)), " on ", plan_->members, " ranks: node ",
          node, " has ", connections_[node], " incoming connections, expected at most ", kMost));
    }
    program.connections = connections_[node];
    for (const int stream : of_node_[node]) {
      const auto begin = static_cast<uint32_t>(program.steps.size());
      std::vector<Step>& steps = streams_[static_cast<size_t>(stream)].steps;
      program.steps.insert(program.steps.end(), steps.begin(), steps.end());
      program.streams.push_back({begin, static_cast<uint32_t>(program.steps.size())});
      std::vector<Step>().swap(steps);
    }
  }
  return absl::OkStatus();
}

absl::Status NeedBlocks(const PlanRequest& request) {
  if (request.blocks.size() >= 2) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(request.algorithm, " for ", std::string(Name(request.type)), " on ", request.members,
                   " ranks: blocks has ", request.blocks.size(),
                   " levels, expected at least 2 (such as devices of a node, nodes)"));
}

absl::Status CheckSteps(const PlanRequest& request, int64_t steps) {
  constexpr int64_t kMost = int64_t{1} << 26;
  if (steps <= kMost) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      request.algorithm, " for ", std::string(Name(request.type)), " on ", request.members, " ranks, pieces ",
      request.pieces, ": a plan of ", steps, " steps, expected at most ", kMost,
      "; fewer ranks or pieces, or an algorithm in which all ranks do the same (ring), need fewer"));
}

}  // namespace chakra
