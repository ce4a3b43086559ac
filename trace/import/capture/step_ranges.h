// Which ranges of a host's threads are the steps of a run: NVTX's, or a profiler's annotations.
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
  uint32_t row = kNoRow;  // of DeviceTrace::events, if it is there
  uint32_t text = 0;      // in the strings of StepRanges
  int64_t number = 0;     // of the step
};

// The ranges whose text is as --step-range says; without it, ranges that follow each other on one thread with
// one text but for digits, which has "step", "iter" or "batch" in it, and that together are most of the time
// from the first to the last; or those of an engine that serves requests
// ("execute_context_0(0)_generation_8(8)").
class StepRanges {
 public:
  // `pattern`: with '*' for any text; "": as above.
  explicit StepRanges(std::string pattern) : pattern_(std::move(pattern)) {}
  bool asked() const { return !pattern_.empty(); }
  // Whether a range of this text, which is no operator's, may be a step.
  bool MayBe(absl::string_view text) const;
  void Add(int64_t process, StepRange range, absl::string_view text);
  // Moves the rows of a process's ranges behind `rows` others; forgets those of a process.
  void MoveRows(int64_t process, uint32_t rows);
  void Forget(int64_t process) { ranges_.erase(process); }
  // The steps of each process, in order. Numbers are those in the texts, where each has one and they grow;
  // else 0, 1, ...
  std::map<int64_t, std::vector<StepRange>> Choose() const;
  // What was added, by process.
  const std::map<int64_t, std::vector<StepRange>>& all() const { return ranges_; }
  // "iteration 3": the text of a range.
  std::string TextOf(const StepRange& range) const { return std::string(strings_.Get(range.text)); }

 private:
  std::vector<StepRange> ChooseOf(const std::vector<StepRange>& ranges) const;

  std::string pattern_;
  StringTable strings_;
  std::map<int64_t, std::vector<StepRange>> ranges_;  // by process
};

// Gives the annotations that are steps the name that a PyTorch profile's steps have, "ProfilerStep#N".
// Without `pattern` nothing is done where there are such; else those of an engine that serves requests are
// steps. Error: `pattern` matches no annotation or operator of the host.
absl::Status MarkSteps(const std::string& pattern, DeviceTrace* device);

}  // namespace chakra::pytorch
