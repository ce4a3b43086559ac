// A GOAL program: the messages and computations of each rank, and their dependencies.
//
// GOAL is the input of LogGOPSim and ATLAHS (Hoefler, Siebert, Lumsdaine: "Group Operation Assembly
// Language", ICPP 2009). The grammar of the text is that of LogGOPSim's txt2bin.re, the layout of the binary
// that of its Parser.hpp.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::goal {

enum class OpType : uint8_t { kSend = 1, kRecv = 2, kCalc = 3 };  // as in the binary

inline constexpr uint32_t kAny = 0xffffffff;  // the peer or tag of a receive that accepts any

struct GoalOp {
  OpType type = OpType::kCalc;
  uint8_t cpu = 0, nic = 0;
  uint32_t peer = 0, tag = 0;
  uint64_t size = 0;  // bytes; of a calc, nanoseconds
  bool operator==(const GoalOp&) const = default;
};

// `op` waits for the end of `of` (requires), or for its begin (irequires).
struct GoalDep {
  uint32_t op = 0, of = 0;
  bool start = false;
  auto operator<=>(const GoalDep&) const = default;
};

struct GoalRank {
  std::vector<GoalOp> ops;
  std::vector<GoalDep> deps;  // sorted by op, then by the operation that it waits for; each once
  bool operator==(const GoalRank&) const = default;
  void SortDeps();
};

struct Program {
  std::vector<GoalRank> ranks;
};

inline constexpr uint32_t kMostGoalRanks = 1 << 22;

bool LooksLikeGoalText(absl::string_view head);
bool LooksLikeGoalBinary(absl::string_view head);

// Reads the text form. `file` is for messages. Errors name file and line, what was expected and what was
// found: an unknown statement; options out of order; a label that is not defined before; a number out of
// range; a peer that is not a rank; ranks that are missing or out of order.
absl::StatusOr<Program> ReadGoalText(absl::string_view text, absl::string_view file);

// Reads the binary form. Errors name file, rank, node and byte: another magic; blocks that overlap or are
// outside the file; an unknown type; a successor that is not a node; dependency counts that differ from the
// edges.
absl::StatusOr<Program> ReadGoalBinary(absl::string_view bytes, absl::string_view file);

// Write a program in a form that LogGOPSim reads. Equal programs give equal bytes, and the bytes give an
// equal program when they are read.
std::string GoalText(const Program& program);
std::string GoalBinary(const Program& program);

}  // namespace chakra::goal
