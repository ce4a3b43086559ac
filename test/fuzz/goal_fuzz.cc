// GOAL programs, text and binary: any bytes give an error with a reason, or a program that is the same after
// a write and a read. Its conversion to traces is refused or keeps the number of nodes.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/goal/program.h"
#include "trace/import/goal/to_traces.h"

FUZZ_TARGET(goal_fuzz, data, size) {
  using namespace chakra;
  using namespace chakra::goal;
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  const auto program =
      LooksLikeGoalBinary(content) ? ReadGoalBinary(content, "fuzz.bin") : ReadGoalText(content, "fuzz.goal");
  if (!program.ok()) {
    fuzz::Require(!program.status().message().empty(), "an error says why");
    return 0;
  }
  const auto text = ReadGoalText(GoalText(*program), "again"),
             binary = ReadGoalBinary(GoalBinary(*program), "again");
  fuzz::Require(text.ok() && text->ranks == program->ranks, "written as text, the program is the same");
  fuzz::Require(binary.ok() && binary->ranks == program->ranks, "written as binary, the program is the same");
  const auto traces = ProgramTraces(*program, "fuzz.goal", ReadOptions());
  if (!traces.ok()) return 0;
  fuzz::Require(traces->ranks.size() == program->ranks.size(), "each rank has a trace");
  for (size_t r = 0; r < program->ranks.size(); ++r)
    fuzz::Require(traces->ranks[r].graph->size() == program->ranks[r].ops.size(), "each operation is a node");
  return 0;
}
