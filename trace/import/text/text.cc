#include "trace/import/text/text.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/et_def.pb.h"
#include "trace/base/status_macros.h"
#include "trace/et/kept_frames.h"
#include "trace/et/writer.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

using ChakraProtoMsg::GlobalMetadata;
using ChakraProtoMsg::Node;
using google::protobuf::Message;

constexpr absl::string_view kTextEndings[] = {".txtpb"};

// message EtText { GlobalMetadata metadata = 1; repeated Node node = 2; }. It is made at run time because it
// is not a file format of its own.
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

bool LooksLikeTextFormat(absl::string_view s) {
  s = absl::StripLeadingAsciiWhitespace(s.substr(0, 64));
  if (!absl::ConsumePrefix(&s, "metadata") && !absl::ConsumePrefix(&s, "node")) return false;
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(s), "{");
}

absl::StatusOr<std::string> EtToText(const RankTrace& trace) {
  const KeptFrames frames(trace, "text format");
  RETURN_IF_ERROR(frames.Check());
  EtText text;
  std::string expected;
  EtWriter writer(&expected, Compression::kNone);
  const auto* r = text.message()->GetReflection();
  for (size_t i = frames.begin(); i < frames.end(); ++i) {
    Message* m = i == 0 ? r->MutableMessage(text.message(), text.metadata())
                        : r->AddMessage(text.message(), text.node());
    RETURN_IF_ERROR(frames.Parse(i, m));
    RETURN_IF_ERROR(writer.AddFrame(m->SerializeAsString()));
  }
  RETURN_IF_ERROR(writer.Finish());
  ASSIGN_OR_RETURN(std::string out, FormatMessage(*text.message(), MessageFormat::kText));
  ASSIGN_OR_RETURN(const std::string back, EtFromText(out, trace.file));
  if (back != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        trace.file, ": rank ", trace.rank, ": text format cannot carry it: it does not read back the same"));
  }
  return out;
}

absl::StatusOr<std::string> EtFromText(absl::string_view content, absl::string_view file) {
  google::protobuf::LogSilencer quiet;
  EtText text;
  RETURN_IF_ERROR(ParseTextMessage(content, file, text.message()));
  const Message& m = *text.message();
  const auto* r = m.GetReflection();
  std::string out;
  EtWriter writer(&out, Compression::kNone);
  if (r->HasField(m, text.metadata())) {
    RETURN_IF_ERROR(writer.AddFrame(r->GetMessage(m, text.metadata()).SerializeAsString()));
  }
  const int nodes = r->FieldSize(m, text.node());
  for (int i = 0; i < nodes; ++i) {
    const Message& node = r->GetRepeatedMessage(m, text.node(), i);
    RETURN_IF_ERROR(writer.AddFrame(node.SerializeAsString()));
  }
  RETURN_IF_ERROR(writer.Finish());
  return out;
}

const Importer kTextImporter = {
    .name = "text",
    .title = "Chakra trace as text",
    .help = "protobuf's text format of the metadata and the nodes",
    .endings = kTextEndings,
    .sniff = LooksLikeTextFormat,
    .frames = [](absl::string_view plain, absl::string_view file,
                 std::string* keep) -> absl::StatusOr<absl::string_view> {
      ASSIGN_OR_RETURN(*keep, EtFromText(plain, file));
      return *keep;
    },
};

}  // namespace chakra
