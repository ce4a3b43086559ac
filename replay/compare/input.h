// Determines the kind of the two inputs of a comparison.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/report.pb.h"

namespace chakra {

// The report at `path`; nullopt if `path` names traces: a folder, a prefix, or a file that does not look like
// a report. A pipe must contain a report. Errors: those of LooksLikeReport(), ReadMessageFile() and
// CheckReport().
absl::StatusOr<std::optional<proto::Report>> ReadReportIfAny(const std::string& path);

// Whether `content` is a report: JSON with a key of proto::Report, text format, or binary with its fields.
// `content` may be cut after the first megabyte. Errors (InvalidArgument): a report in CSV or as text for
// people, which cannot be read back; the error names the formats that can. `name` is for messages.
absl::StatusOr<bool> LooksLikeReport(absl::string_view content, absl::string_view name);

// Refuses reports that no replay writes: without ranks, with times below 0, or with numbers that are not
// finite. Errors (InvalidArgument) name the field.
absl::Status CheckReport(const proto::Report& report, absl::string_view name);

}  // namespace chakra
