#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/et/writer.h"
#include "trace/import/json/json.h"
#include "trace/io/json_message.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

using ChakraProtoMsg::GlobalMetadata;
using ChakraProtoMsg::Node;
using google::protobuf::Message;

// The first unknown field of a message or of one in it; 0: none.
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

// Walks the kept frames as messages that the other format can carry.
class Frames {
 public:
  Frames(const RankTrace& trace, absl::string_view format) : trace_(trace), format_(format) {}

  absl::Status Check() const {
    if (trace_.raw != nullptr) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(trace_.file, ": rank ", trace_.rank, ": the frames were not kept when it was read"));
  }
  size_t begin() const { return trace_.raw->has_metadata ? 0 : 1; }
  size_t end() const { return trace_.raw->begin.size() - 1; }

  absl::Status Parse(size_t i, Message* out) const {
    google::protobuf::LogSilencer quiet;
    const absl::string_view body = trace_.raw->frame(i);
    if (!out->ParseFromArray(body.data(), static_cast<int>(body.size()))) {
      return Error(i, *out, "it is not valid protobuf, or text in it is not UTF-8");
    }
    if (const int n = UnknownField(*out)) return Error(i, *out, absl::StrCat("unknown field number ", n));
    return absl::OkStatus();
  }

  absl::Status Error(size_t i, const Message& m, absl::string_view what) const {
    const std::string subject =
        i == 0 ? "the metadata" : absl::StrCat("node ", static_cast<const Node&>(m).id());
    return absl::InvalidArgumentError(absl::StrCat(trace_.file, ": rank ", trace_.rank, ", ", subject,
                                                   " (frame ", i, "): ", format_,
                                                   " cannot carry it: ", what));
  }

 private:
  const RankTrace& trace_;
  absl::string_view format_;
};

absl::Status AppendJson(const Frames& frames, size_t i, Message* m, std::string* out) {
  if (absl::Status s = frames.Parse(i, m); !s.ok()) return s;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  std::string text;
  if (const auto s = google::protobuf::util::MessageToJsonString(*m, &text, options); !s.ok()) {
    return frames.Error(i, *m, std::string(s.message()));
  }
  std::unique_ptr<Message> back(m->New());
  JsonReader reader(text, "frame");
  const absl::StatusOr<JsonValue> value = reader.Next();
  if (!value.ok()) return frames.Error(i, *m, std::string(value.status().message()));
  if (absl::Status s = JsonToMessage(reader, *value, back.get()); !s.ok()) {
    return frames.Error(i, *m, std::string(s.message()));
  }
  if (back->SerializeAsString() != m->SerializeAsString())
    return frames.Error(i, *m, "it does not read back the same");
  if (!absl::EndsWith(text, "\n")) text.push_back('\n');
  out->append(text);
  return absl::OkStatus();
}

// message EtText { GlobalMetadata metadata = 1; repeated Node node = 2; }, made
// at run time because it is no file format of its own.
class EtText {
 public:
  EtText() : pool_(google::protobuf::DescriptorPool::generated_pool()), factory_(&pool_) {
    google::protobuf::FileDescriptorProto file;
    file.set_name("chakra_et_text.proto");
    file.set_syntax("proto3");
    file.set_package("chakra.text");
    file.add_dependency(Node::descriptor()->file()->name());
    auto* type = file.add_message_type();
    type->set_name("EtText");
    const auto add = [&](const char* name, int number, bool repeated, const std::string& full_name) {
      auto* f = type->add_field();
      f->set_name(name);
      f->set_number(number);
      f->set_type(google::protobuf::FieldDescriptorProto::TYPE_MESSAGE);
      f->set_type_name("." + full_name);
      f->set_label(repeated ? google::protobuf::FieldDescriptorProto::LABEL_REPEATED
                            : google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    };
    add("metadata", 1, false, GlobalMetadata::descriptor()->full_name());
    add("node", 2, true, Node::descriptor()->full_name());
    factory_.SetDelegateToGeneratedFactory(true);
    const auto* built = pool_.BuildFile(file);
    message_.reset(factory_.GetPrototype(built->message_type(0))->New());
  }

  Message* message() { return message_.get(); }
  const google::protobuf::FieldDescriptor* metadata() const { return message_->GetDescriptor()->field(0); }
  const google::protobuf::FieldDescriptor* node() const { return message_->GetDescriptor()->field(1); }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  std::unique_ptr<Message> message_;
};

}  // namespace

absl::StatusOr<std::string> EtToJson(const RankTrace& trace) {
  const Frames frames(trace, "JSON");
  if (absl::Status s = frames.Check(); !s.ok()) return s;
  std::string out;
  for (size_t i = frames.begin(); i < frames.end(); ++i) {
    GlobalMetadata metadata;
    Node node;
    Message* m = i == 0 ? static_cast<Message*>(&metadata) : &node;
    if (absl::Status s = AppendJson(frames, i, m, &out); !s.ok()) return s;
    const bool bare = node.id() == 0 && node.name().empty() && node.type() == 0 && node.ctrl_deps().empty() &&
                      node.data_deps().empty() && node.start_time_micros() == 0 &&
                      node.duration_micros() == 0 && !node.has_inputs() && !node.has_outputs();
    if (i == 1 && frames.begin() == 1 && bare) {
      return frames.Error(i, node, "there is no metadata frame, and this node would be read as one");
    }
  }
  return out;
}

absl::StatusOr<std::string> EtToText(const RankTrace& trace) {
  const Frames frames(trace, "text format");
  if (absl::Status s = frames.Check(); !s.ok()) return s;
  EtText text;
  std::string expected;
  EtWriter writer(&expected, Compression::kNone);
  const auto* r = text.message()->GetReflection();
  for (size_t i = frames.begin(); i < frames.end(); ++i) {
    Message* m = i == 0 ? r->MutableMessage(text.message(), text.metadata())
                        : r->AddMessage(text.message(), text.node());
    if (absl::Status s = frames.Parse(i, m); !s.ok()) return s;
    if (absl::Status s = writer.AddFrame(m->SerializeAsString()); !s.ok()) return s;
  }
  if (absl::Status s = writer.Finish(); !s.ok()) return s;
  absl::StatusOr<std::string> out = FormatMessage(*text.message(), MessageFormat::kText);
  if (!out.ok()) return out;
  const absl::StatusOr<std::string> back = EtFromText(*out, trace.file);
  if (!back.ok()) return back.status();
  if (*back != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        trace.file, ": rank ", trace.rank, ": text format cannot carry it: it does not read back the same"));
  }
  return out;
}

absl::StatusOr<std::string> EtFromText(absl::string_view content, absl::string_view file) {
  google::protobuf::LogSilencer quiet;
  EtText text;
  if (absl::Status s = ParseTextMessage(content, file, text.message()); !s.ok()) return s;
  const Message& m = *text.message();
  const auto* r = m.GetReflection();
  std::string out;
  EtWriter writer(&out, Compression::kNone);
  if (r->HasField(m, text.metadata())) {
    if (absl::Status s = writer.AddFrame(r->GetMessage(m, text.metadata()).SerializeAsString()); !s.ok())
      return s;
  }
  const int nodes = r->FieldSize(m, text.node());
  for (int i = 0; i < nodes; ++i) {
    const Message& node = r->GetRepeatedMessage(m, text.node(), i);
    if (absl::Status s = writer.AddFrame(node.SerializeAsString()); !s.ok()) return s;
  }
  if (absl::Status s = writer.Finish(); !s.ok()) return s;
  return out;
}

}  // namespace chakra
