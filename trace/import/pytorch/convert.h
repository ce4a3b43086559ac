// Converts PyTorch captures to Chakra traces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/conversion.pb.h"
#include "trace/base/text_page.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/pytorch/join.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// A capture that was read, linked and joined.
struct Capture {
  std::vector<CaptureRank> ranks;  // ascending by rank
  Joined joined;
  std::vector<InputFile> inputs;
  proto::ConversionReport report;
};

// Reads the capture that `inputs` name (files, or folders with their contents): for each rank a device trace,
// a host trace or both. If options.capture.host or .device is set, reads exactly these files. Uses
// options.threads threads; the result does not depend on their number. Errors name the file and the event,
// and say what was expected: two files for one rank, a rank that no input tells, host and device traces of
// different runs, steps that are not in the capture, a file that cannot be read.
absl::StatusOr<Capture> ReadCapture(const std::vector<std::string>& inputs, const ReadOptions& options);

// Device traces that another reader made: `trace.rank` is the global rank of each, and no two are of one
// rank.
struct DeviceRuns {
  std::vector<std::unique_ptr<DeviceTrace>> traces;
  std::vector<InputFile> inputs;
  std::vector<std::string> files_left_out, warnings;
};

// Links and joins them as ReadCapture() does what it reads. Errors as there.
absl::StatusOr<Capture> LinkCapture(DeviceRuns runs, const ReadOptions& options);

// Writes PREFIX.N.et for each rank, compressed by `suffix` ("", ".gz", ".zst").
absl::Status WriteCapture(const Capture& capture, const std::string& prefix, const std::string& suffix);

// The traces that WriteCapture() would write, as the reader would read them.
absl::StatusOr<TraceSet> CaptureTraces(const Capture& capture, const ReadOptions& options);

// The report as text for people. `page`: the page to lay tables out for (the caller passes the text to
// TextPage::Finish()); null: no limit.
std::string PrintConversion(const proto::ConversionReport& report, TextPage* page = nullptr);

}  // namespace chakra::pytorch
