// Reads Kineto's Chrome traces (the "traceEvents" JSON of torch.profiler).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/io/byte_source.h"

namespace chakra::pytorch {

// One rank of a file that holds several.
struct RankPart {
  std::string label;       // label of the rank's processes: "[TP00]", "rank0", "device 1"
  bool by_device = false;  // the file labels no process: the label is the device on which the rank launches
  std::unique_ptr<DeviceTrace> device;
};

// Reads a trace as a stream: memory grows with the number of kept events, not with the text. `source` gives
// plain JSON (unpacked by OpenContent()). A file that was cut short is read up to its last whole event, with
// a repair "truncated_kineto". Durations that are negative, missing or not numbers become 0 and are counted.
// Errors name the file, the event (its index and name) and the byte, and say what was expected.
//
// Event::extra: every row of kKernel, kMemcpy, kMemset and kSync has one; operators, annotations and calls
// have kNoRow if they have nothing extra. Without "baseTimeNanoseconds" the time of the earliest event is
// base_ns.
//
// Kinds of repairs, each with its count, the first event's index and a detail:
//   truncated_kineto, kineto_trailing_comma, kineto_bad_utf8 (now '?'),
//   kineto_control_character (in a string, now ' '), kineto_bad_escape (kept as text),
//   kineto_missing_duration, kineto_negative_duration, kineto_bad_duration,
//   kineto_quoted_time (a text, read as a number),
//   kineto_bad_argument (of the wrong type: left out), kineto_split_cut ("..."),
//   kineto_unknown_category, kineto_begin_end (phases B and E), kineto_no_phase (left out),
//   device_by_stream, device_by_process (operations of unknown categories),
//   device_waits_left_out, collective_parts_left_out (kineto_others.h), kineto_time_lost,
//   kineto_base_ignored (times already count from the epoch),
//   kineto_unpaired_flow, kineto_duplicate_correlation (kept),
//   kineto_group_without_name, kineto_group_without_ranks, kineto_group_twice.
//
// If a file holds several ranks (FindRanks()), each rank becomes a part in `parts`, and the result has no
// events. Such a file is an error if `parts` is null, or if its ranks cannot be told apart.
absl::StatusOr<DeviceTrace> ReadKineto(ByteSource* source, absl::string_view file,
                                       std::vector<RankPart>* parts = nullptr);

// Whether JSON text begins like a Kineto trace. `head`: the first 64 KiB or less.
bool LooksLikeKineto(absl::string_view head);

}  // namespace chakra::pytorch
