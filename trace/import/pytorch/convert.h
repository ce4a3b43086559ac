// PyTorch captures to Chakra traces.
#pragma once

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

// A capture, read, linked and joined.
struct Capture {
  std::vector<CaptureRank> ranks;  // ascending by rank
  Joined joined;
  std::vector<InputFile> inputs;
  proto::ConversionReport report;
};

// Reads the capture that `inputs` name (files, or folders with what lies in
// them), one device trace, host trace or both for each rank. With
// options.capture.host or .device, exactly these. Ranks are read on
// options.threads threads; the result does not depend on it.
// Errors name the file and the event, and say what was expected: two files for
// one rank, a rank that nothing tells, host and device traces of different
// runs, steps that the capture has not, a file that cannot be read.
absl::StatusOr<Capture> ReadCapture(const std::vector<std::string>& inputs, const ReadOptions& options);

// Writes PREFIX.N.et for each rank, compressed by `suffix` ("", ".gz", ".zst").
absl::Status WriteCapture(const Capture& capture, const std::string& prefix, const std::string& suffix);

// The traces that WriteCapture() would write, as if they had been read.
absl::StatusOr<TraceSet> CaptureTraces(const Capture& capture, const ReadOptions& options);

// For people. `page`: where it is to fit, once the page has finished it; null: anywhere.
std::string PrintConversion(const proto::ConversionReport& report, TextPage* page = nullptr);

}  // namespace chakra::pytorch
