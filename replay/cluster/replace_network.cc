// Replaces networks of a cluster by the option --network.
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/topology/inputs/read_network.h"
#include "backends/topology/measure.h"
#include "backends/topology/network.h"
#include "backends/topology/size.h"
#include "replay/cluster/options.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

using proto::Dimension;

bool IsFile(const std::string& path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

// The option --network, parsed.
struct Asked {
  std::string file;  // "": a network given by its name
  NetworkSpec spec;  // without `span`; for a file: with no name
  std::string span;  // "", "all", "rails" or "machine"
};

absl::StatusOr<Asked> Parse(const std::string& text) {
  Asked asked;
  const size_t colon = text.rfind(':');
  if (IsFile(text)) {
    asked.file = text;
  } else if (colon != std::string::npos && IsFile(text.substr(0, colon))) {
    asked.file = text.substr(0, colon);
    ASSIGN_OR_RETURN(asked.spec, ParseNetworkSpec(absl::StrCat("file", text.substr(colon))));
  } else {
    ASSIGN_OR_RETURN(asked.spec, ParseNetworkSpec(text));
  }
  auto& set = asked.spec.set;
  const auto span = std::find_if(set.begin(), set.end(), [](const auto& s) { return s.first == "span"; });
  if (span != set.end()) {
    asked.span = span->second;
    set.erase(span);
    if (asked.span != "rails" && asked.span != "all" && asked.span != "machine") {
      return absl::InvalidArgumentError(absl::StrCat("network \"", text, "\": span is \"", asked.span,
                                                     "\"; expected rails, all or machine"));
    }
  }
  if (!asked.file.empty() && !set.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("network \"", text, "\": a file has its own ",
                                                   set.front().first,
                                                   "; expected span=rails, all or machine"));
  }
  return asked;
}

absl::StatusOr<const NetworkKind*> KindOf(const NetworkSpec& spec) {
  std::vector<std::string> names;
  for (const NetworkKind& k : NetworkKinds()) {
    names.emplace_back(k.name);
    if (spec.name == k.name) return &k;
  }
  return absl::InvalidArgumentError(absl::StrCat("there is neither a network nor a file \"", spec.name, "\"",
                                                 SuggestName(spec.name, names)));
}

// Replaces all dimensions.
void ReplaceAll(const std::string& text, const Dimension& dimension, proto::Cluster* cluster,
                std::vector<std::string>* notes) {
  cluster->mutable_topology()->clear_dimension();
  *cluster->mutable_topology()->add_dimension() = dimension;
  if (!cluster->collectives().has_library()) return;
  cluster->mutable_collectives()->clear_library();
  notes->push_back(absl::StrCat("the network ", text,
                                " replaces the whole machine: the cluster's collective library, which is for "
                                "the cluster's dimensions, is not used"));
}

// The ports of a built network get the rate and the latency of the NICs that it replaces.
void TakeCards(const Dimension& last, Dimension* dimension) {
  if (dimension->network().build().empty()) return;
  dimension->set_bandwidth_gbytes_per_s(last.bandwidth_gbytes_per_s());
  dimension->set_bandwidth_bytes_per_s(last.bandwidth_bytes_per_s());
  dimension->set_latency_ns(last.latency_ns());
}

// Replaces the dimension that connects the blocks of the dimensions below.
void ReplaceLast(Dimension dimension, proto::Topology* topology) {
  const bool joins = topology->dimension_size() > 1 && !dimension.network().build().empty();
  if (joins) dimension.set_size(topology->dimension(topology->dimension_size() - 1).size());
  topology->mutable_dimension()->RemoveLast();
  *topology->add_dimension() = std::move(dimension);
}

// Whether the dimension inside nodes can represent the NVSwitches of a file.
bool SwitchesFit(const proto::Topology& topology) {
  return topology.dimension_size() == 2 && topology.dimension(0).kind() == Dimension::SWITCH;
}

absl::Status ReplaceByFile(const std::string& text, const Asked& asked, proto::Cluster* cluster,
                           std::vector<std::string>* notes) {
  ASSIGN_OR_RETURN(auto contents, ReadFile(asked.file));
  ASSIGN_OR_RETURN(const auto read, ReadNetworkFile(contents, asked.file));
  const NetworkGraph& graph = read.network.graph;
  proto::Topology* topology = cluster->mutable_topology();
  Dimension dimension;
  dimension.set_kind(Dimension::NETWORK);
  dimension.set_name("network");
  dimension.mutable_network()->set_file(asked.file);
  if (asked.span == "rails") dimension.mutable_network()->set_span(proto::Network::EACH_RAIL);
  const bool switched = std::any_of(graph.groups().begin(), graph.groups().end(),
                                    [](const VertexGroup& g) { return g.kind == VertexKind::kNvSwitch; });
  std::optional<SwitchedBlocks> blocks;
  if (switched && SwitchesFit(*topology)) blocks = SwitchedBlocksOf(graph);
  const bool whole = graph.devices_forward() || (switched && !blocks.has_value());
  if (asked.span == "machine" || (asked.span.empty() && whole)) {
    ReplaceAll(text, dimension, cluster, notes);
    return absl::OkStatus();
  }
  if (blocks.has_value() && asked.span.empty()) {
    Dimension* inside = topology->mutable_dimension(0);
    inside->set_size(blocks->size);
    inside->set_bandwidth_bytes_per_s(blocks->bandwidth.bytes_per_second());
    inside->set_bandwidth_gbytes_per_s(static_cast<double>(blocks->bandwidth.bytes_per_second()) / 1e9);
    inside->set_latency_ns(static_cast<double>(blocks->latency.picos()) / 1000);
    notes->push_back(absl::StrCat(
        asked.file, ": its NVSwitches join ", blocks->size, " devices each, and are simulated as dimension ",
        inside->name(), " at ", FormatRate(static_cast<double>(blocks->bandwidth.bytes_per_second())),
        " a device; span=machine simulates each link, without the collective library"));
  }
  ReplaceLast(std::move(dimension), topology);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReplaceNetwork(const std::string& text, proto::Cluster* cluster,
                            std::vector<std::string>* notes) {
  proto::Topology* topology = cluster->mutable_topology();
  if (topology->dimension_size() == 0)
    return absl::InvalidArgumentError("cluster: topology.dimension is missing");
  ASSIGN_OR_RETURN(const auto asked, Parse(text));
  if (!asked.file.empty()) return ReplaceByFile(text, asked, cluster, notes);
  ASSIGN_OR_RETURN(const auto kind, KindOf(asked.spec));
  Dimension dimension;
  dimension.set_kind(Dimension::NETWORK);
  dimension.set_name(asked.spec.name);
  dimension.mutable_network()->set_build(PrintShortForm(asked.spec));
  if (asked.span == "rails") dimension.mutable_network()->set_span(proto::Network::EACH_RAIL);
  if (kind->whole && !asked.span.empty() && asked.span != "machine") {
    return absl::InvalidArgumentError(absl::StrCat("network \"", text, "\": span is \"", asked.span,
                                                   "\", but ", asked.spec.name,
                                                   " is a whole machine; expected machine, or no span"));
  }
  if (!kind->whole) TakeCards(topology->dimension(topology->dimension_size() - 1), &dimension);
  if (kind->whole || asked.span == "machine") {
    ReplaceAll(text, dimension, cluster, notes);
  } else {
    ReplaceLast(std::move(dimension), topology);
  }
  return absl::OkStatus();
}

}  // namespace chakra
