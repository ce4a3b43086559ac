#include "trace/io/topic.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"

namespace chakra {
namespace {

struct Topic {
  absl::string_view message, name;
};
constexpr Topic kTopics[] = {{"Model", "model"},           {"Parallel", "parallel"},
                             {"Training", "training"},     {"Routing", "routing"},
                             {"LinkFault", "fault"},       {"PacketChoice", "mixed"},
                             {"Checkpoint", "checkpoint"}, {"PacketNetwork", "packet"}};

}  // namespace

absl::string_view TopicOf(const google::protobuf::Descriptor& type) {
  for (const Topic& topic : kTopics) {
    if (type.name() == topic.message) return topic.name;
  }
  return "";
}

std::string SeeTopic(std::string message, absl::string_view topic) {
  if (topic.empty()) return message;
  const absl::string_view see = absl::EndsWith(message, "?") ? " See" : "; see";
  return absl::StrCat(message, see, " `chakra-replay help ", topic, "`");
}

std::string SuggestKey(absl::string_view key, const std::vector<std::string>& known,
                       absl::string_view topic) {
  const bool near = !NearestName(key, known).empty();
  return SeeTopic(near || topic.empty() ? SuggestName(key, known) : "", topic);
}

}  // namespace chakra
