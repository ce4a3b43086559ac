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

// One of several ranks in a file.
struct RankPart {
  std::string label;       // of its processes: "[TP00]", "rank0", "device 1"
  bool by_device = false;  // the file labels no process: the label is the device that the rank launches on
  std::unique_ptr<DeviceTrace> device;
};

// Reads as a stream: memory grows with the number of kept events, not with the text. `source` gives plain
// JSON (unpacked by OpenContent). A file that was cut short is read up to its last whole event, with a repair
// "truncated_kineto". Durations that are negative, missing or not numbers become 0 and are counted. Errors
// name the file, the event (its index and name) and the byte, and say what was expected.
//
// Event::extra: every row of kKernel, kMemcpy, kMemset and kSync has one; operators, annotations and calls
// have kNoRow if they have nothing extra. Without "baseTimeNanoseconds" the earliest event is base_ns.
//
// Kinds of repairs, each with its count, the first event's index and a detail:
//   truncated_kineto, kineto_trailing_comma, kineto_bad_utf8 (now '?'),
//   kineto_control_character (in a string, now ' '), kineto_bad_escape (kept as text),
//   kineto_missing_duration, kineto_negative_duration, kineto_bad_duration,
//   kineto_bad_argument (of the wrong type: left out), kineto_split_cut ("..."),
//   kineto_unknown_category, kineto_begin_end (phases B and E), kineto_no_phase (left out),
//   device_by_stream, device_by_process (operations of categories that are not known),
//   device_waits_left_out, collective_parts_left_out (kineto_others.h), kineto_time_lost,
//   kineto_base_ignored (times already count from the epoch),
//   kineto_unpaired_flow, kineto_duplicate_correlation (kept),
//   kineto_group_without_name, kineto_group_without_ranks, kineto_group_twice.
//
// A file that holds several ranks (FindRanks()) goes to `parts`, one for each, and the result has no events;
// where `parts` is null, such a file is an error, as is one whose ranks nothing takes apart.
absl::StatusOr<DeviceTrace> ReadKineto(ByteSource* source, absl::string_view file,
                                       std::vector<RankPart>* parts = nullptr);

// Whether JSON text begins like a Kineto trace. `head`: the first 64 KiB or less.
bool LooksLikeKineto(absl::string_view head);

}  // namespace chakra::pytorch
