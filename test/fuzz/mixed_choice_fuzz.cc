// Text of --mixed: any bytes give a choice that the fabric accepts, or an error that names the wrong part.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/registry.h"
#include "replay/cluster/mixed.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

namespace {

constexpr int kRanks = 16;

const chakra::Topology& Machine() {
  static const auto* const machine = [] {
    chakra::TopologyDimension inside, outside;
    inside.size = 4;
    inside.bandwidth = chakra::Bandwidth::FromGigabytes(400);
    inside.name = "nvlink";
    outside.kind = chakra::TopologyDimension::Kind::kNetwork;
    outside.size = 4;
    outside.name = "net";
    auto spec = chakra::ParseNetworkSpec("leaf_spine:hosts_per_leaf=4,spines=2");
    chakra::fuzz::Require(spec.ok(), "the network is written well");
    auto network = chakra::BuildNetwork(*spec, kRanks);
    chakra::fuzz::Require(network.ok(), "the network can be built");
    outside.network = std::make_shared<const chakra::Network>(*std::move(network));
    auto made = chakra::Topology::Make({inside, outside});
    chakra::fuzz::Require(made.ok(), "the topology can be made");
    return new chakra::Topology(*std::move(made));
  }();
  return *machine;
}

}  // namespace

FUZZ_TARGET(mixed_choice_fuzz, data, size) {
  using chakra::fuzz::Require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string label = absl::StrCat("--mixed \"", text, "\"");
  const auto of_it = [&](const absl::Status& s) { return absl::StartsWith(s.message(), label); };
  chakra::proto::Cluster cluster;
  const absl::Status added = chakra::AddPacketChoice(text, &cluster);
  Require(added.ok() == (cluster.by_packets_size() == 1), "what is refused is not added");
  if (!added.ok()) {
    Require(of_it(added), "an error says of what");
    return 0;
  }
  const auto choices = chakra::BuildPacketChoices(cluster, kRanks, {});
  if (!choices.ok()) {
    Require(of_it(choices.status()), "an error says of what");
    return 0;
  }
  const absl::Status checked = chakra::CheckPacketChoices(Machine(), *choices);
  if (!checked.ok()) {
    Require(of_it(checked), "an error says of what");
    return 0;
  }
  const chakra::PacketChoice& choice = choices->front();
  const std::vector<bool> links = chakra::ChosenLinks(Machine(), choice);
  Require(choice.by_link() == (std::count(links.begin(), links.end(), true) > 0),
          "links that it names are there");
  chakra::FabricOptions options;
  options.Ask<chakra::PacketChoices>().any_of = *choices;
  Require(chakra::MakeFabric("mixed", Machine(), options).ok(), "what is checked is taken");
  return 0;
}
