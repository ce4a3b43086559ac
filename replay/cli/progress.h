// The line that tells how far a long replay is.
#pragma once

#include <chrono>

#include "replay/engine/options.h"

namespace chakra::cli {

// Draws on stderr, when that is a terminal, from the second second of a run
// on, and at most ten times a second. The destructor erases the line.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool enabled() const { return enabled_; }
  void Update(const Progress& progress);
  void Erase();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point begin_;
  Clock::time_point next_;
};

}  // namespace chakra::cli
