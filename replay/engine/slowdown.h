// A collective slows computation that runs on the same device: the collective's kernel takes multiprocessors
// and memory bandwidth from other kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// The work on the devices of a run, measured in time at full speed. While at least one collective runs on a
// device, work there takes (1 + slowdown) times as long.
class Slowdown {
 public:
  struct End {
    uint32_t row;
    Time at;
  };

  // `slowdown` >= 0, rounded to 1e-6; 0 switches the slowdown off.
  Slowdown(double slowdown, size_t ranks);
  bool on() const { return factor_ != kFull; }

  // Computation `row` with `work` begins on `rank`. Returns its end, unless Change() moves it.
  Time Begin(uint32_t rank, uint32_t row, Time work, Time now);
  // Whether the end of `row` that was announced for `at` is still valid.
  bool Holds(uint32_t rank, uint32_t row, Time at) const;
  // Whether `row` ends now, as Holds() says. If so, forgets the row.
  bool Ends(uint32_t rank, uint32_t row, Time now);
  // A collective begins or ends on `rank`. Returns the new ends of all computation that is under way on
  // `rank`; none is earlier than `now`.
  const std::vector<End>& Change(uint32_t rank, bool begins, Time now);

 private:
  static constexpr int64_t kFull = 1000000;
  struct Work {
    uint32_t row;
    Time left;  // at full speed, at time `since`
    Time since;
    Time end;
  };
  struct Device {
    int collectives = 0;
    std::vector<Work> works;
  };
  int64_t Pace(const Device& d) const { return d.collectives > 0 ? factor_ : kFull; }

  int64_t factor_;  // millionths
  std::vector<Device> devices_;
  std::vector<End> ends_;
};

}  // namespace chakra
