// The frames of a rank as messages, for output formats that cannot represent all of them.
#pragma once

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

class KeptFrames {
 public:
  // `format` is the name of the output format, for messages. `trace` and `format` must outlive the object.
  KeptFrames(const RankTrace& trace, absl::string_view format) : trace_(trace), format_(format) {}

  // Error (FailedPrecondition): the frames were not kept.
  absl::Status Check() const;

  // Frames by number: 0 is the metadata, if there is any, and 1 is the first node.
  size_t begin() const { return trace_.raw->has_metadata ? 0 : 1; }
  size_t end() const { return trace_.raw->begin.size() - 1; }

  // Parses frame `i` into `out`, a GlobalMetadata for frame 0, otherwise a Node. Errors are made by Error():
  // the frame is not such a message, or has a field that the schema lacks.
  absl::Status Parse(size_t i, google::protobuf::Message* out) const;

  // Returns the error "FILE: rank R, node N (frame I): FORMAT cannot carry it: WHAT" (InvalidArgument).
  absl::Status Error(size_t i, const google::protobuf::Message& m, absl::string_view what) const;

 private:
  const RankTrace& trace_;
  absl::string_view format_;
};

}  // namespace chakra
