// The progress line of a long replay.
#pragma once

#include <chrono>
#include <string>

#include "replay/engine/options.h"

namespace chakra::cli {

// "40 s", "2 min 05 s" or "3 h 10 min".
std::string DurationText(double seconds);

// Draws on stderr, from one second after the start on, and at most ten times a second. The destructor erases
// the line. If stderr is no terminal, a long replay prints one line after kNote, which stays.
class ProgressLine {
 public:
  static constexpr std::chrono::seconds kNote{10};

  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool enabled() const { return enabled_; }
  // Whether the line should be drawn now.
  bool Due() const { return terminal_ && enabled_ && Clock::now() >= next_; }
  double spent() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  void Draw(const std::string& text);
  // Draws if the line is due.
  void Update(const Progress& progress);
  void Erase();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool terminal_;
  bool noted_ = false;
  bool drawn_ = false;
  Clock::time_point begin_;
  Clock::time_point next_;
};

}  // namespace chakra::cli
