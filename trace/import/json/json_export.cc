#include <google/protobuf/util/json_util.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/status_macros.h"
#include "trace/et/kept_frames.h"
#include "trace/import/json/json.h"
#include "trace/io/json_message.h"

namespace chakra {
namespace {

using ChakraProtoMsg::GlobalMetadata;
using ChakraProtoMsg::Node;
using google::protobuf::Message;

absl::Status AppendJson(const KeptFrames& frames, size_t i, Message* m, std::string* out) {
  RETURN_IF_ERROR(frames.Parse(i, m));
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

}  // namespace

absl::StatusOr<std::string> EtToJson(const RankTrace& trace) {
  const KeptFrames frames(trace, "JSON");
  RETURN_IF_ERROR(frames.Check());
  std::string out;
  for (size_t i = frames.begin(); i < frames.end(); ++i) {
    GlobalMetadata metadata;
    Node node;
    Message* m = i == 0 ? static_cast<Message*>(&metadata) : &node;
    RETURN_IF_ERROR(AppendJson(frames, i, m, &out));
    const bool bare = node.id() == 0 && node.name().empty() && node.type() == 0 && node.ctrl_deps().empty() &&
                      node.data_deps().empty() && node.start_time_micros() == 0 &&
                      node.duration_micros() == 0 && !node.has_inputs() && !node.has_outputs();
    if (i == 1 && frames.begin() == 1 && bare) {
      return frames.Error(i, node, "there is no metadata frame, and this node would be read as the metadata");
    }
  }
  return out;
}

}  // namespace chakra
