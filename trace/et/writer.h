// Writes .et files: the inverse of the reader, without loss.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/et_def.pb.h"
#include "trace/io/compressed_file.h"
#include "trace/model/trace.h"

namespace chakra {

// A stream of frames, each a varint32 length and one message: the metadata
// first, then nodes. The same calls give the same bytes.
// Errors stay: after the first, every call returns it. They name the path and
// what the system said, or the node that cannot be written.
class EtWriter {
 public:
  // To a file, which appears under its name in Finish() and not before; a
  // writer that is destroyed without a Finish() leaves nothing behind.
  explicit EtWriter(const std::string& path);
  EtWriter(const std::string& path, Compression compression);
  // To a string that outlives the writer; complete after Finish().
  EtWriter(std::string* out, Compression compression);
  ~EtWriter();
  EtWriter(const EtWriter&) = delete;
  EtWriter& operator=(const EtWriter&) = delete;

  // FailedPrecondition unless it is the first frame.
  absl::Status AddMetadata(const ChakraProtoMsg::GlobalMetadata& metadata);
  absl::Status AddNode(const ChakraProtoMsg::Node& node);
  // A message body as it is.
  absl::Status AddFrame(absl::string_view body);
  // Once, last.
  absl::Status Finish();

 private:
  absl::Status Add(const google::protobuf::MessageLite& message, absl::string_view subject);
  absl::Status Flush(bool last);

  std::unique_ptr<CompressedFile> sink_;
  std::string buffer_;   // frames not yet handed to the sink
  std::string scratch_;  // of one message
  uint64_t frames_ = 0;
  absl::Status status_;
};

// Writes kept raw frames byte for byte; compressed by the ending of the name.
// FailedPrecondition when the trace was read without ReadOptions::keep_raw.
absl::Status WriteTrace(const RankTrace& trace, const std::string& path);
absl::Status WriteTrace(const RankTrace& trace, EtWriter* writer);

}  // namespace chakra
