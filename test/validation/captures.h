// The collectives of captures against presets: what each call took once its last member had arrived, and what
// the preset of the capture's device says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

// How a recorded duration is known to hold no wait for members whose traces are not there.
enum class Known : uint8_t {
  kNo,           // nothing tells: an upper bound of the transfer
  kLastArrival,  // all members were recorded
  kRoot,         // of the root of a broadcast, which waits for nobody: its own part alone
  kFollows,  // it began when the group's call before it had just ended, and the members left that together
  kRepeats,  // many repeats took nearly the same
  kOther,    // another library's kernel, which the preset does not price
};

// The calls of one kind, group and size (within kSameSize) of a capture.
struct CaptureRow {
  std::string capture, device, preset;
  std::string collective;
  uint64_t bytes = 0;  // the larger of a rank's buffers, of the fastest call
  int ranks = 0;
  int calls = 0;
  Known known = Known::kNo;
  double recorded_us = 0;  // of the fastest call
  double simulated_us =
      0;                  // of the kernel alone: neither launch nor gap; of the root's where `known` says so
  std::string algorithm;  // "ring/ll"
  double Error() const { return simulated_us / recorded_us - 1; }
};

// The captures of `folder` (../shared/data) with collectives. None where the folder is absent. Errors: a
// capture that cannot be read, a device without a preset, and those of CollectiveTable.
absl::StatusOr<std::vector<CaptureRow>> ReadCaptures(const std::string& folder);

// A table by capture, and one of every row.
std::string CapturesMarkdown(const std::vector<CaptureRow>& rows);

// The figures that presets must reach: the median over all known transfers, and over those of a
// capture with many of them.
std::vector<Finding> CheckCaptures(const std::vector<CaptureRow>& rows);

}  // namespace chakra::validation
