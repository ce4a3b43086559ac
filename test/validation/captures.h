// The collectives of captures against presets: the time of each call after its last member arrived, and the
// time from the preset of the capture's device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/validation/checks.h"

namespace chakra::validation {

// The evidence that a recorded duration contains no wait for members without traces.
enum class Known : uint8_t {
  kNo,           // none: the duration is an upper bound of the transfer
  kLastArrival,  // all members were recorded
  kRoot,         // the root of a broadcast waits for nobody; only its own part counts
  kFollows,      // the call started right after the group's previous call, which the members left together
  kRepeats,      // many repeats took nearly the same
  kOther,        // another library's kernel, which the preset does not price
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
  double simulated_us = 0;  // of the kernel only, without launch and gap; with kRoot, of the root's kernel
  std::string algorithm;  // "ring/ll"
  double Error() const { return simulated_us / recorded_us - 1; }
};

// The captures of `folder` (../shared/data) with collectives; none if the folder is absent. Errors: a capture
// that cannot be read, a device without a preset, and those of CollectiveTable.
absl::StatusOr<std::vector<CaptureRow>> ReadCaptures(const std::string& folder);

// A table by capture, and one of every row.
std::string CapturesMarkdown(const std::vector<CaptureRow>& rows);

// The figures that presets must reach: the median over all known transfers, and over those of each capture
// with many known transfers.
std::vector<Finding> CheckCaptures(const std::vector<CaptureRow>& rows);

}  // namespace chakra::validation
