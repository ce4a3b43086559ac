#include "trace/et/kept_frames.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/stubs/logging.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"

namespace chakra {
namespace {

using ChakraProtoMsg::Node;
using google::protobuf::Message;

// Returns the number of the first unknown field of a message or of a message in it; 0 if there is none.
int UnknownField(const Message& m) {
  const auto* r = m.GetReflection();
  if (!r->GetUnknownFields(m).empty()) return r->GetUnknownFields(m).field(0).number();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  r->ListFields(m, &fields);
  for (const auto* f : fields) {
    if (f->message_type() == nullptr) continue;
    if (!f->is_repeated()) {
      if (const int n = UnknownField(r->GetMessage(m, f))) return n;
      continue;
    }
    for (int i = 0; i < r->FieldSize(m, f); ++i) {
      if (const int n = UnknownField(r->GetRepeatedMessage(m, f, i))) return n;
    }
  }
  return 0;
}

}  // namespace

absl::Status KeptFrames::Check() const {
  if (trace_.raw != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(trace_.file, ": rank ", trace_.rank,
                                                    ": the frames were not kept when the trace was read"));
}

absl::Status KeptFrames::Parse(size_t i, Message* out) const {
  google::protobuf::LogSilencer quiet;
  const absl::string_view body = trace_.raw->frame(i);
  if (!out->ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Error(i, *out, "it is not valid protobuf, or text in it is not UTF-8");
  }
  if (const int n = UnknownField(*out)) return Error(i, *out, absl::StrCat("unknown field number ", n));
  return absl::OkStatus();
}

absl::Status KeptFrames::Error(size_t i, const Message& m, absl::string_view what) const {
  const std::string subject =
      i == 0 ? "the metadata" : absl::StrCat("node ", static_cast<const Node&>(m).id());
  return absl::InvalidArgumentError(absl::StrCat(trace_.file, ": rank ", trace_.rank, ", ", subject,
                                                 " (frame ", i, "): ", format_, " cannot carry it: ", what));
}

}  // namespace chakra
