// From the results of readers of recordings to a capture, in which each rank's events are linked and all
// ranks are joined; and to traces.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/conversion.pb.h"
#include "trace/base/text_page.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/join/join.h"
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

// The result of a reader of recordings: a device trace, a host trace or both for each rank of one job.
struct RecordedRanks {
  std::vector<CaptureRank> ranks;  // distinct ranks; rank is set, and file and trace of host, device or both
  std::vector<InputFile> inputs;
  std::vector<std::string> warnings, files_left_out;
  std::map<int, std::string> graph_annotations;  // files by rank

  // Adds a rank. `trace.rank` and `trace.file` must be set. `fill`: see CaptureRank::fill.
  void Add(std::unique_ptr<DeviceTrace> trace, std::function<void(DeviceTrace*)> fill = nullptr) {
    CaptureRank& rank = ranks.emplace_back();
    rank.rank = trace->rank;
    rank.device_file = trace->file;
    rank.device = std::move(trace);
    rank.fill = std::move(fill);
  }
};

// Links the events of each rank and joins the ranks, on options.threads threads; the result does not depend
// on their number. Errors name the file and the event, and say what was expected: host and device traces of
// different runs, steps that are not in the capture, a rank that was asked for but not recorded.
absl::StatusOr<Capture> JoinRecorded(RecordedRanks recorded, const ReadOptions& options);

// The traces of the capture that JoinRecorded() would return, made with less memory: only the columns of each
// rank are kept until the ranks are joined. Errors: those of JoinRecorded() and of CaptureTraces().
absl::StatusOr<TraceSet> RecordedTraces(RecordedRanks recorded, const ReadOptions& options);

// Writes PREFIX.N.et for each rank, compressed according to `suffix` ("", ".gz", ".zst"). Error: a rank whose
// times or sizes a trace cannot hold.
absl::Status WriteCapture(const Capture& capture, const std::string& prefix, const std::string& suffix);
// Writes the same files with less memory: frees the data of each rank, except numbers and names, when it is
// written.
absl::Status WriteCapture(Capture&& capture, const std::string& prefix, const std::string& suffix);
// Writes the frames of the rank at `index`. The caller finishes the writer.
absl::Status WriteRank(const Capture& capture, uint32_t index, EtWriter* writer);

// The traces that WriteCapture() would write, as the reader would read them.
absl::StatusOr<TraceSet> CaptureTraces(const Capture& capture, const ReadOptions& options);
// The same traces with less memory: frees the data of each rank when its trace is made.
absl::StatusOr<TraceSet> CaptureTraces(Capture&& capture, const ReadOptions& options);

// The report as text for people. `page`: the page for which tables are laid out (the caller passes the text
// to TextPage::Finish()); null: no limit.
std::string PrintConversion(const proto::ConversionReport& report, TextPage* page = nullptr);

}  // namespace chakra::pytorch
