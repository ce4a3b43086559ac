// Writes .et files losslessly: the inverse of the reader.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/et_def.pb.h"
#include "trace/io/compressed_file.h"
#include "trace/model/trace.h"

namespace chakra {

// Writes a stream of frames, each a varint32 length and a message: first the metadata, then nodes. The same
// calls give the same bytes. After an error, every call returns this error. Errors give the path and the
// system's reason, or the node that cannot be written.
class EtWriter {
 public:
  // Writes to a file. Finish() makes the file appear under its name; if the writer is destroyed without
  // Finish(), no file is left behind.
  explicit EtWriter(const std::string& path);
  EtWriter(const std::string& path, Compression compression);
  EtWriter(const std::string& path, Compression compression, const FileEffort& effort);
  // Writes to the string `out`, which must outlive the writer and is complete after Finish().
  EtWriter(std::string* out, Compression compression);
  ~EtWriter();
  EtWriter(const EtWriter&) = delete;
  EtWriter& operator=(const EtWriter&) = delete;

  // Error (FailedPrecondition): it is not the first frame.
  absl::Status AddMetadata(const ChakraProtoMsg::GlobalMetadata& metadata);
  absl::Status AddNode(const ChakraProtoMsg::Node& node);
  // Adds a frame whose message is `body`, unchanged.
  absl::Status AddFrame(absl::string_view body);
  // Must be the last call.
  absl::Status Finish();

 private:
  absl::Status Add(const google::protobuf::MessageLite& message, absl::string_view subject);
  absl::Status Flush(bool last);

  std::unique_ptr<CompressedFile> sink_;
  std::string buffer_;   // frames that were not passed to the sink yet
  std::string scratch_;  // a serialized message
  uint64_t frames_ = 0;
  absl::Status status_;
};

// Adds an attribute to a node, or to metadata.
template <typename Message>
ChakraProtoMsg::AttributeProto* AddAttribute(const char* name, Message* to) {
  ChakraProtoMsg::AttributeProto* attribute = to->add_attr();
  attribute->set_name(name);
  return attribute;
}

// Returns metadata of schema 0.0.4 with one attribute.
ChakraProtoMsg::GlobalMetadata MetadataWith(const char* name, absl::string_view text);
// Returns node 0, which lists process groups in the form that PyTorch writes.
ChakraProtoMsg::Node NodeOfGroups(const Groups& groups);

// Writes the kept raw frames byte for byte. The extension of the path gives the compression. Error
// (FailedPrecondition): the trace was read without ReadOptions::keep_raw.
absl::Status WriteTrace(const RankTrace& trace, const std::string& path);
absl::Status WriteTrace(const RankTrace& trace, EtWriter* writer);

}  // namespace chakra
