// Converts PyTorch captures to Chakra traces.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/conversion.pb.h"
#include "trace/base/text_page.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/pytorch/join/join.h"
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

// What a reader of another recording hands over: a device trace of each rank of one job.
struct RecordedRanks {
  std::vector<CaptureRank> ranks;  // rank, device_file and device are set; ranks are distinct
  std::vector<InputFile> inputs;
  std::vector<std::string> warnings, files_left_out;

  // `trace.rank` and `trace.file` are set. `fill`: as CaptureRank::fill.
  void Add(std::unique_ptr<DeviceTrace> trace, std::function<void(DeviceTrace*)> fill = nullptr) {
    CaptureRank& rank = ranks.emplace_back();
    rank.rank = trace->rank;
    rank.device_file = trace->file;
    rank.device = std::move(trace);
    rank.fill = std::move(fill);
  }
};

// Links and joins them as ReadCapture() does those that it has read. Errors: those of what comes after
// reading.
absl::StatusOr<Capture> JoinRecorded(RecordedRanks recorded, const ReadOptions& options);

// The traces of what ReadCapture() or JoinRecorded() reads, in less memory: of each rank only its columns are
// kept until the ranks are joined. Errors: those of these, and of CaptureTraces().
absl::StatusOr<TraceSet> ReadCaptureTraces(const std::vector<std::string>& inputs,
                                           const ReadOptions& options);
absl::StatusOr<TraceSet> RecordedTraces(RecordedRanks recorded, const ReadOptions& options);

// Writes PREFIX.N.et for each rank, compressed by `suffix` ("", ".gz", ".zst").
absl::Status WriteCapture(const Capture& capture, const std::string& prefix, const std::string& suffix);

// The traces that WriteCapture() would write, as the reader would read them.
absl::StatusOr<TraceSet> CaptureTraces(const Capture& capture, const ReadOptions& options);
// The same in less memory: frees what ranks have while their traces are made.
absl::StatusOr<TraceSet> CaptureTraces(Capture&& capture, const ReadOptions& options);

// The report as text for people. `page`: the page to lay tables out for (the caller passes the text to
// TextPage::Finish()); null: no limit.
std::string PrintConversion(const proto::ConversionReport& report, TextPage* page = nullptr);

}  // namespace chakra::pytorch
