#include "replay/cluster/mixed.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/cluster/check.h"
#include "replay/cluster/variation.h"
#include "trace/base/status_macros.h"
#include "trace/io/settings.h"

namespace chakra {
namespace {

absl::StatusOr<PacketChoice> Build(const Labelled& where, const proto::PacketChoice& proto, int ranks,
                                   const std::vector<int>& device_of) {
  PacketChoice c;
  c.link = proto.link();
  c.link_class = proto.link_class();
  c.dimension = proto.dimension();
  c.label = proto.label();
  RETURN_IF_ERROR(CheckSettings(proto, where.Field("")));
  c.after = Time::FromNanos(proto.after_us() * 1e3);
  if (proto.until_us() != 0) c.until = Time::FromNanos(proto.until_us() * 1e3);
  if (c.until <= c.after) {
    return where.Bad("until_us", absl::StrCat(proto.until_us()),
                     absl::StrCat("more than after_us, which is ", proto.after_us(), ", or 0 for no end"));
  }
  c.by_device = !proto.ranks().empty();
  if (c.by_device) {
    absl::StatusOr<std::vector<int>> list = ParseRanks(proto.ranks(), ranks);
    if (!list.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(where.Field("ranks"), ": ", list.status().message()));
    }
    c.devices = *std::move(list);
    for (int& device : c.devices) {
      if (!device_of.empty()) device = device_of[static_cast<size_t>(device)];
    }
    std::sort(c.devices.begin(), c.devices.end());
  }
  if (!c.by_link() && !c.by_device && !c.by_time()) {
    return where.Error(
        "selects no message; expected link, class, dimension, ranks, after or until, as link=leaf.0");
  }
  return c;
}

}  // namespace

absl::Status AddPacketChoice(const std::string& text, proto::Cluster* cluster) {
  proto::PacketChoice choice;
  choice.set_label(absl::StrCat("--mixed \"", text, "\""));
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(choice.label(), ": ", what));
  };
  if (text.empty()) {
    return bad(
        "no message is selected; expected key=value,... with link, class, dimension, ranks, after or until");
  }
  const absl::StatusOr<ShortForm> form = ParseShortForm(absl::StrCat("mixed:", text));
  if (!form.ok()) return bad(form.status().message());
  if (absl::Status s = ReadSettings(*form, &choice); !s.ok()) return bad(s.message());
  for (const auto& [key, value] : form->set) {
    if (key == "until" && choice.until_us() == 0)
      return bad("until is 0; expected more than after, as until=1ms");
  }
  *cluster->add_by_packets() = choice;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PacketChoice>> BuildPacketChoices(const proto::Cluster& cluster, int ranks,
                                                             const std::vector<int>& device_of) {
  std::vector<PacketChoice> choices;
  for (int i = 0; i < cluster.by_packets_size(); ++i) {
    const proto::PacketChoice& proto = cluster.by_packets(i);
    const Labelled where(proto.label(), absl::StrCat("by_packets[", i, "]"));
    ASSIGN_OR_RETURN(PacketChoice choice, Build(where, proto, ranks, device_of));
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace chakra
