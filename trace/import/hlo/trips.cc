#include "trace/import/hlo/trips.h"

#include <algorithm>

namespace chakra::hlo {
namespace {

// The instruction behind copies and views of it.
const Instruction& Behind(const Computation& c, uint32_t row) {
  for (int hops = 0; hops < 16; ++hops) {
    const Instruction& i = c.instructions[row];
    const bool view =
        i.opcode == "copy" || i.opcode == "bitcast" || i.opcode == "convert" || i.opcode == "reshape";
    if (!view || i.operands.empty()) break;
    row = i.operands[0];
  }
  return c.instructions[row];
}

bool IsConstant(const Instruction& i) { return i.opcode == "constant" && i.constant != INT64_MIN; }

// The part of the loop's state that the instruction is; -1: it is none.
int64_t PartOfState(const Computation& c, const Instruction& i) {
  if (i.opcode != "get-tuple-element" || i.operands.empty()) return -1;
  return c.instructions[i.operands[0]].opcode == "parameter" ? i.tuple_index : -1;
}

// What the body adds to a part of the state each time; 0: something else happens to it.
int64_t AddedTo(const Computation& body, int64_t part) {
  if (body.root == kNoRow || body.instructions[body.root].opcode != "tuple") return 0;
  const Instruction& root = body.instructions[body.root];
  if (part < 0 || static_cast<size_t>(part) >= root.operands.size()) return 0;
  const Instruction& next = Behind(body, root.operands[static_cast<size_t>(part)]);
  if (next.opcode != "add" || next.operands.size() != 2) return 0;
  const Instruction &a = Behind(body, next.operands[0]), &b = Behind(body, next.operands[1]);
  if (PartOfState(body, a) == part && IsConstant(b)) return b.constant;
  if (PartOfState(body, b) == part && IsConstant(a)) return a.constant;
  return 0;
}

}  // namespace

int64_t TripCount(const Module& m, const Instruction& loop) {
  constexpr int64_t kMostTrips = int64_t{1} << 24;
  if (loop.calls.size() < 2 || loop.operands.empty()) return -1;
  const Computation &body = m.computations[loop.calls[0]], &condition = m.computations[loop.calls[1]];
  if (condition.root == kNoRow) return -1;
  const Instruction& test = condition.instructions[condition.root];
  if (test.opcode != "compare" || test.operands.size() != 2 ||
      (test.direction != "LT" && test.direction != "LE"))
    return -1;
  const Instruction &counter = Behind(condition, test.operands[0]),
                    &bound = Behind(condition, test.operands[1]);
  const int64_t part = PartOfState(condition, counter);
  if (part < 0 || !IsConstant(bound)) return -1;
  const int64_t step = AddedTo(body, part);
  // The state's first value is in the computation that the loop is in.
  for (const Computation& c : m.computations) {
    const auto row = c.rows.find(loop.name);
    if (row == c.rows.end() || &c.instructions[row->second] != &loop) continue;
    const Instruction& state = Behind(c, loop.operands[0]);
    if (state.opcode != "tuple" || static_cast<size_t>(part) >= state.operands.size()) return -1;
    const Instruction& first = Behind(c, state.operands[static_cast<size_t>(part)]);
    if (!IsConstant(first) || step <= 0 || step > kMostTrips) return -1;
    if (std::max(bound.constant, first.constant) > kMostTrips ||
        std::min(bound.constant, first.constant) < -kMostTrips)
      return -1;
    const int64_t end = bound.constant + (test.direction == "LE" ? 1 : 0);
    if (end <= first.constant) return 0;
    return (end - first.constant + step - 1) / step;
  }
  return -1;
}

}  // namespace chakra::hlo
