#include "trace/import/hlo/asynchronous.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra::hlo {
namespace {

constexpr absl::string_view kOwnStarts[] = {"all-reduce", "all-gather", "collective-permute", "copy",
                                            "async"};

// Returns X if the opcode is X followed by `half` ("fusion" of "fusion-start"); "": the opcode is not such a
// half, or X has start opcodes of its own.
absl::string_view Wrapped(absl::string_view opcode, absl::string_view half) {
  if (!absl::ConsumeSuffix(&opcode, half)) return "";
  const bool own = std::find(std::begin(kOwnStarts), std::end(kOwnStarts), opcode) != std::end(kOwnStarts);
  return own || opcode == "send" || opcode == "recv" ? "" : opcode;
}

// Makes the computation of one operation, `opcode`. Moves its attributes there from `start`.
Computation ComputationOf(const Computation& in, Instruction* start, absl::string_view opcode) {
  Computation out;
  out.name = absl::StrCat(start->name, " in ", in.name);
  Instruction root = *start;
  root.opcode = std::string(opcode);
  root.operands.clear();
  root.control.clear();
  for (const uint32_t operand : start->operands) {
    Instruction parameter;
    parameter.opcode = "parameter";
    parameter.parameter = static_cast<int64_t>(out.instructions.size());
    parameter.name = absl::StrCat("p", parameter.parameter);
    parameter.shape = in.instructions[operand].shape;
    const auto row = static_cast<uint32_t>(out.instructions.size());
    out.rows.emplace(parameter.name, row);
    out.instructions.push_back(std::move(parameter));
    root.operands.push_back(row);
  }
  // The shape is ((operands), result, state).
  if (start->shape.tuple() && start->shape.parts.size() >= 2) root.shape = start->shape.parts[1];
  out.root = static_cast<uint32_t>(out.instructions.size());
  root.name = absl::StrCat(start->name, ".", opcode);
  out.rows.emplace(root.name, out.root);
  out.instructions.push_back(std::move(root));
  start->calls.clear();
  start->pairs.clear();
  start->replica_groups = ReplicaGroups();
  return out;
}

}  // namespace

void WrapAsynchronous(Module* m) {
  const size_t computations = m->computations.size();
  for (size_t c = 0; c < computations; ++c) {
    for (size_t row = 0; row < m->computations[c].instructions.size(); ++row) {
      Computation& in = m->computations[c];
      Instruction& i = in.instructions[row];
      if (!Wrapped(i.opcode, "-update").empty()) i.opcode = "async-update";
      if (!Wrapped(i.opcode, "-done").empty()) i.opcode = "async-done";
      const std::string opcode(Wrapped(i.opcode, "-start"));
      if (opcode.empty()) continue;
      Computation wrapped = ComputationOf(in, &i, opcode);
      i.opcode = "async-start";
      i.calls = {static_cast<uint32_t>(m->computations.size())};
      m->computations.push_back(std::move(wrapped));
    }
  }
}

}  // namespace chakra::hlo
