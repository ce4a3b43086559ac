// What the two things to be compared are.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/report.pb.h"

namespace chakra {

// The report at `path`, or nothing where there are traces: a folder, a prefix,
// and any file that does not look like a report. A pipe has to hold a report.
// Errors: those of LooksLikeReport(), ReadMessageFile() and CheckReport().
absl::StatusOr<std::optional<proto::Report>> ReadReportIfAny(const std::string& path);

// Told by content: JSON with a key, text format, or binary with fields of
// proto::Report. `content` may be cut after the first megabyte.
// Errors (InvalidArgument): a report in CSV or as text for people, which cannot
// be read back, with what can. `name` is for messages.
absl::StatusOr<bool> LooksLikeReport(absl::string_view content, absl::string_view name);

// Refuses what no replay writes: no ranks, times below 0, numbers that are not
// finite. Errors (InvalidArgument) name the field.
absl::Status CheckReport(const proto::Report& report, absl::string_view name);

}  // namespace chakra
