// The frames of a rank as messages, for formats that cannot carry all of them.
#pragma once

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

class KeptFrames {
 public:
  // `format` is what they are to become, for messages. Both must outlive this.
  KeptFrames(const RankTrace& trace, absl::string_view format) : trace_(trace), format_(format) {}

  // Error (FailedPrecondition): the frames were not kept.
  absl::Status Check() const;

  // Frames by their number: 0 is the metadata, where there is some, and 1 the first node.
  size_t begin() const { return trace_.raw->has_metadata ? 0 : 1; }
  size_t end() const { return trace_.raw->begin.size() - 1; }

  // `out` is a GlobalMetadata for frame 0, else a Node. Errors: those of Error(), for what is no such message
  // or has a field that the schema has not.
  absl::Status Parse(size_t i, google::protobuf::Message* out) const;

  // "FILE: rank R, node N (frame I): FORMAT cannot carry it: WHAT" (InvalidArgument).
  absl::Status Error(size_t i, const google::protobuf::Message& m, absl::string_view what) const;

 private:
  const RankTrace& trace_;
  absl::string_view format_;
};

}  // namespace chakra
