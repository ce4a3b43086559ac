#include "trace/et/writer.h"

#include <google/protobuf/stubs/logging.h>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/wire.h"
#include "trace/model/groups.h"

namespace chakra {
namespace {

constexpr size_t kFlushAt = 1 << 20;

}  // namespace

EtWriter::EtWriter(const std::string& path) : EtWriter(path, CompressionOf(path)) {}

EtWriter::EtWriter(const std::string& path, Compression compression)
    : EtWriter(path, compression, FileEffort()) {}

EtWriter::EtWriter(const std::string& path, Compression compression, const FileEffort& effort)
    : sink_(std::make_unique<CompressedFile>()) {
  status_ = sink_->Open(path, compression, effort);
}

EtWriter::EtWriter(std::string* out, Compression compression) : sink_(std::make_unique<CompressedFile>()) {
  status_ = sink_->Open(out, compression);
}

EtWriter::~EtWriter() = default;

absl::Status EtWriter::Flush(bool last) {
  status_ = last ? sink_->Finish(buffer_) : sink_->Append(buffer_);
  buffer_.clear();
  return status_;
}

absl::Status EtWriter::AddFrame(absl::string_view body) {
  if (!status_.ok()) return status_;
  if (sink_ == nullptr) return absl::FailedPreconditionError("the writer is finished");
  if (body.size() > 0x7fffffff) {
    return status_ = absl::InvalidArgumentError(absl::StrCat("frame ", frames_, " has ", body.size(),
                                                             " bytes; a message has less than 2 GiB"));
  }
  wire::AppendVarint(body.size(), &buffer_);
  buffer_.append(body.data(), body.size());
  ++frames_;
  return buffer_.size() < kFlushAt ? absl::OkStatus() : Flush(false);
}

absl::Status EtWriter::Add(const google::protobuf::MessageLite& message, absl::string_view subject) {
  if (!status_.ok()) return status_;
  if (message.ByteSizeLong() > 0x7fffffff) {
    return status_ = absl::InvalidArgumentError(absl::StrCat(subject, " is larger than 2 GiB"));
  }
  google::protobuf::LogSilencer quiet;
  scratch_.clear();
  if (!message.SerializeToString(&scratch_)) {
    return status_ = absl::InternalError(absl::StrCat(subject, " cannot be serialized"));
  }
  return AddFrame(scratch_);
}

absl::Status EtWriter::AddMetadata(const ChakraProtoMsg::GlobalMetadata& metadata) {
  if (frames_ != 0) return absl::FailedPreconditionError("the metadata must be the first frame");
  return Add(metadata, "the metadata");
}

absl::Status EtWriter::AddNode(const ChakraProtoMsg::Node& node) {
  return Add(node, absl::StrCat("node ", node.id()));
}

absl::Status EtWriter::Finish() {
  if (!status_.ok()) return status_;
  if (sink_ == nullptr) return absl::FailedPreconditionError("the writer is finished");
  Flush(true).IgnoreError();  // an error stays in status_
  sink_.reset();
  return status_;
}

ChakraProtoMsg::GlobalMetadata MetadataWith(const char* name, absl::string_view text) {
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  AddAttribute(name, &metadata)->set_string_val(std::string(text));
  return metadata;
}

ChakraProtoMsg::Node NodeOfGroups(const Groups& groups) {
  ChakraProtoMsg::Node node;
  node.set_id(0);
  node.set_name("## process_group:init ##");
  node.set_type(ChakraProtoMsg::METADATA_NODE);
  node.mutable_inputs()->set_values(GroupNodeText(groups));
  AddAttribute("is_cpu_op", &node)->set_bool_val(true);
  return node;
}

absl::Status WriteTrace(const RankTrace& trace, EtWriter* writer) {
  if (trace.raw == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(trace.file, ": rank ", trace.rank,
                                                      ": the frames were not kept when the trace was read"));
  }
  const RawFrames& raw = *trace.raw;
  for (size_t i = raw.has_metadata ? 0 : 1; i + 1 < raw.begin.size(); ++i) {
    RETURN_IF_ERROR(writer->AddFrame(raw.frame(i)));
  }
  return writer->Finish();
}

absl::Status WriteTrace(const RankTrace& trace, const std::string& path) {
  EtWriter writer(path);
  return WriteTrace(trace, &writer);
}

}  // namespace chakra
