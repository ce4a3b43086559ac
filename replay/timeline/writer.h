// The interface that all formats of a timeline share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "replay/engine/spans.h"
#include "trace/base/units.h"
#include "trace/io/csv.h"

namespace chakra {

// A value: `text` if it is not null, else `number`.
struct TimelineValue {
  const char* key;
  uint64_t number = 0;
  absl::string_view text = {};
};

// One end of an arrow between two slices. Both ends have the same id and spans.
struct TimelineArrow {
  uint64_t id = 0;  // from 1
  bool leaves = false;
  NodeSpan from, to;
};

struct TimelineSlice {
  absl::string_view name;
  const char* category = "";
  NodeSpan span;
  std::vector<TimelineValue> values;
  std::vector<TimelineArrow> arrows;
  std::string wait;  // name of an inner slice from the begin to wait_end; "": none
  Time wait_end;     // at most span.end
};

// The caller writes processes, each with its tracks. Each track has slices in order of begin, or samples in
// order of time. Slices of one track do not overlap. Errors of all methods: those of `write`, which gets the
// bytes in large pieces.
class TimelineWriter {
 public:
  explicit TimelineWriter(WriteBytes write) : write_(std::move(write)) {}
  virtual ~TimelineWriter() = default;

  // `place` is the sort order of processes.
  virtual void Process(int pid, int place, absl::string_view name) = 0;
  // `place` is the sort order of the tracks of a process, from 1.
  virtual void Track(int place, absl::string_view name) = 0;
  virtual absl::Status Slice(const TimelineSlice& slice) = 0;
  // `unit`: "%", "bytes", "W", or text for people.
  virtual void Counter(int place, absl::string_view name, absl::string_view unit) = 0;
  virtual absl::Status Sample(Time at, double value) = 0;
  virtual absl::Status Finish() = 0;

  uint64_t arrows() const { return arrows_; }  // number of arrows that leave a slice

 protected:
  static int64_t Nanos(Time t) { return t.picos() / 1000; }
  // Passes out_ to `write` if it is large, or if `end` is set.
  absl::Status Flush(bool end = false);

  std::string out_;
  uint64_t arrows_ = 0;

 private:
  WriteBytes write_;
};

std::unique_ptr<TimelineWriter> NewPerfettoWriter(WriteBytes write);
std::unique_ptr<TimelineWriter> NewChromeJsonWriter(WriteBytes write);

}  // namespace chakra
