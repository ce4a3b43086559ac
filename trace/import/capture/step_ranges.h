// Finds which ranges of a host's threads are the steps of a run: NVTX ranges, or annotations of a profiler.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/model/string_table.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// A range of a thread; times are those of the file.
struct StepRange {
  int64_t global_tid = 0, begin = 0, end = 0;
  uint32_t row = kNoRow;  // of DeviceTrace::events, if the range is an event
  uint32_t text = 0;      // index into StepRanges::strings_
  int64_t number = 0;     // of the step
};

// Chooses the ranges that are steps. With a pattern (--step-range): ranges whose text matches it. Without
// one, the ranges of an engine that serves requests ("execute_context_0(0)_generation_8(8)"), or the ranges
// of one thread that
// - follow each other and have the same text but for its numbers,
// - have "step", "iter" or "batch" in the text, and
// - cover at least half of the time from the begin of the first to the end of the last.
class StepRanges {
 public:
  // `pattern`: the text of the ranges, with '*' for any text; "": no pattern.
  explicit StepRanges(std::string pattern) : pattern_(std::move(pattern)) {}
  bool asked() const { return !pattern_.empty(); }
  // Whether a range of this text may be a step. Precondition: the range is not an operator.
  bool MayBe(absl::string_view text) const;
  void Add(int64_t process, StepRange range, absl::string_view text);
  // MoveRows() adds `rows` to the rows of a process's ranges. Forget() removes the ranges of a process.
  void MoveRows(int64_t process, uint32_t rows);
  void Forget(int64_t process) { ranges_.erase(process); }
  // The steps of each process, in order. Step numbers come from the texts if each text has a number and the
  // numbers increase; otherwise they are 0, 1, ...
  std::map<int64_t, std::vector<StepRange>> Choose() const;
  // The ranges that were added, by process.
  const std::map<int64_t, std::vector<StepRange>>& all() const { return ranges_; }
  // The text of a range: "iteration 3".
  std::string TextOf(const StepRange& range) const { return std::string(strings_.Get(range.text)); }

 private:
  std::vector<StepRange> ChooseOf(const std::vector<StepRange>& ranges) const;

  std::string pattern_;
  StringTable strings_;
  std::map<int64_t, std::vector<StepRange>> ranges_;  // by process
};

// Renames annotations that are steps to "ProfilerStep#N", the name of steps in PyTorch profiles. Without
// `pattern`, does nothing if the trace has such names already; otherwise the batches of an engine that serves
// requests become steps. Error: `pattern` matches no annotation or operator of the host.
absl::Status MarkSteps(const std::string& pattern, DeviceTrace* device);

}  // namespace chakra::pytorch
