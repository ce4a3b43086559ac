#include "trace/io/topic.h"

#include "absl/strings/str_cat.h"
#include "proto/setting.pb.h"
#include "trace/base/did_you_mean.h"

namespace chakra {

absl::string_view TopicOf(const google::protobuf::Descriptor& type) {
  return type.options().GetExtension(proto::topic);
}

std::string SeeTopic(std::string message, absl::string_view topic) {
  return topic.empty() ? message : SeeCommand(message, absl::StrCat("chakra-replay help ", topic));
}

std::string SuggestKey(absl::string_view key, const std::vector<std::string>& known,
                       absl::string_view topic) {
  const bool near = !NearestName(key, known).empty();
  return SeeTopic(near || topic.empty() ? SuggestName(key, known) : "", topic);
}

}  // namespace chakra
