#include "replay/cluster/topology.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/inputs/explicit_graph.h"
#include "backends/topology/inputs/read_network.h"
#include "replay/cluster/check.h"
#include "replay/cluster/faults.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"
#include "trace/io/settings.h"

namespace chakra {
namespace {

using proto::Dimension;
using DimensionKind = TopologyDimension::Kind;

std::string DimensionField(int i, absl::string_view field) {
  return absl::StrCat("topology.dimension[", i, "].", field);
}

absl::Status CheckNetworkFields(const Dimension& d, int i) {
  const proto::Network& n = d.network();
  const int ways = (n.build().empty() ? 0 : 1) + (n.file().empty() ? 0 : 1) + (n.has_graph() ? 1 : 0);
  if (ways != 1) {
    return BadField(DimensionField(i, "network"), ways == 0 ? "empty" : "given in several ways",
                    "one of build, file and graph");
  }
  const bool given = d.bandwidth_gbytes_per_s() != 0 || d.bandwidth_bytes_per_s() != 0 || d.latency_ns() != 0;
  if (given && n.build().empty()) {
    return BadField(DimensionField(i, "bandwidth and latency"), "given",
                    "none: the links of a network from a file or graph have them");
  }
  return absl::OkStatus();
}

Bandwidth BandwidthOf(const Dimension& d) {
  return d.bandwidth_bytes_per_s() > 0 ? Bandwidth::BytesPerSecond(d.bandwidth_bytes_per_s())
                                       : Bandwidth::FromGigabytes(d.bandwidth_gbytes_per_s());
}

// A hint for files whose hosts may be whole nodes.
std::string RailsHint(const proto::Network& n) {
  if (n.file().empty() || n.span() == proto::Network::EACH_RAIL) return "";
  return "; if its hosts are blocks, use a network for each position in a block: --network FILE:span=rails "
         "(in a "
         "file: "
         "span: EACH_RAIL)";
}

// The NICs of the devices that a network connects.
Cards CardsOf(const Dimension& d) { return {BandwidthOf(d), Time::FromNanos(d.latency_ns())}; }

absl::StatusOr<TopologyDimension> CheckDimension(const Dimension& d, int i) {
  TopologyDimension out;
  switch (d.kind()) {
    case Dimension::RING:
      out.kind = TopologyDimension::Kind::kRing;
      break;
    case Dimension::FULLY_CONNECTED:
      out.kind = TopologyDimension::Kind::kFullyConnected;
      break;
    case Dimension::SWITCH:
      out.kind = TopologyDimension::Kind::kSwitch;
      break;
    case Dimension::NETWORK:
      out.kind = TopologyDimension::Kind::kNetwork;
      break;
    default:
      return BadField(DimensionField(i, "kind"),
                      d.kind() == 0 ? std::string("not set") : absl::StrCat(d.kind()),
                      "RING, FULLY_CONNECTED, SWITCH or NETWORK");
  }
  out.size = d.size();
  out.name = d.name().empty() ? absl::StrCat("dim", i) : d.name();
  if (out.kind == TopologyDimension::Kind::kNetwork) {
    out.each_rail = d.network().span() == proto::Network::EACH_RAIL;
    RETURN_IF_ERROR(CheckNetworkFields(d, i));
    return out;
  }
  if (d.has_network()) return BadField(DimensionField(i, "network"), "given", "kind NETWORK with it");
  out.bandwidth = BandwidthOf(d);
  if (out.bandwidth.bytes_per_second() == 0)
    return BadField(DimensionField(i, "bandwidth_gbytes_per_s"), "0", "a number > 0 and <= 1e+09");
  out.latency = Time::FromNanos(d.latency_ns());
  return out;
}

// The number of devices of a rack-sized block (NVL72) that `ranks` use in each block. Schedulers give a job
// equal parts of racks, for example 64 of 72 to a job of 256. The result is the largest number that divides
// the ranks, if it is at least half of the block; 0: none.
int PartOfRack(int64_t ranks, int block) {
  constexpr int kLeastRack = 32;
  if (block < kLeastRack) return 0;
  for (int part = block; 2 * part >= block; --part) {
    if (ranks % part == 0) return part;
  }
  return 0;
}

// Fills the open dimension, or shrinks the fixed ones; see BuildCluster().
absl::Status SizeTo(int64_t ranks, size_t open, std::vector<TopologyDimension>* dims,
                    std::vector<int>* asked) {
  int64_t fixed = 1;
  for (size_t i = 0; i < dims->size(); ++i) {
    if (i != open) fixed = std::min<int64_t>(fixed * (*dims)[i].size, int64_t{1} << 31);
  }
  if (dims->size() == 2 && open == 1 && ranks > fixed && ranks % fixed != 0) {
    const int part = PartOfRack(ranks, static_cast<int>(fixed));
    if (part > 0) fixed = (*dims)[0].size = part;
  }
  (*dims)[open].size = static_cast<int>(std::max<int64_t>(1, ranks / fixed));
  int64_t left = ranks;
  const bool whole = ranks < fixed || ranks % fixed == 0;
  if (ranks < fixed) {  // the smallest part of a block that has room for all ranks
    for (TopologyDimension& dim : *dims) {
      if (left < dim.size) dim.size = static_cast<int>(left);
      left = (left + dim.size - 1) / dim.size;
    }
  }
  if (!whole) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: ", ranks, " ranks do not fill whole blocks of the fixed dimensions (", fixed,
                     " devices); expected a multiple of ", fixed, ", or give topology.dimension[", open,
                     "].size (nodes=N of a preset) or another size of the others (gpus_per_node=N)"));
  }
  if ((*dims)[open].size == 1 && dims->size() > 1) {
    dims->erase(dims->begin() + static_cast<std::ptrdiff_t>(open));
    asked->erase(asked->begin() + static_cast<std::ptrdiff_t>(open));
  }
  return absl::OkStatus();
}

struct Losses {
  int asked;  // index in the proto
  std::vector<LinkLoss> losses;
};

class Builder {
 public:
  Builder(const proto::Topology& proto, int ranks) : proto_(proto), ranks_(ranks) {}

  absl::StatusOr<BuiltTopology> Build();

 private:
  absl::Status ReadDimensions();
  absl::Status ReadNetworks();
  absl::Status Size();
  absl::Status BuildNetworks();
  absl::Status CheckLeftOut();
  absl::Status BuildOne(size_t i, int64_t below);
  absl::Status SplitAxes();
  absl::Status MakeNetworks();
  absl::Status ReadRouting(BuiltTopology* built) const;
  int64_t Below(size_t i) const;
  absl::Status InDimension(size_t i, absl::string_view what, const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat("cluster: ", DimensionField(asked_[i], what), ": ", status.message()));
  }

  const proto::Topology& proto_;
  const int ranks_;
  std::vector<TopologyDimension> dims_;
  std::vector<int> asked_, made_;
  std::vector<Losses> losses_;
  std::vector<std::string> notes_;
};

absl::Status Builder::ReadDimensions() {
  if (proto_.dimension_size() == 0) return BadField("topology.dimension", "missing", "at least one");
  if (proto_.dimension_size() > Topology::kMaxDimensions) {
    return BadField("topology.dimension", absl::StrCat("there ", proto_.dimension_size(), " times"),
                    absl::StrCat("at most ", Topology::kMaxDimensions));
  }
  for (int i = 0; i < proto_.dimension_size(); ++i) {
    ASSIGN_OR_RETURN(TopologyDimension d, CheckDimension(proto_.dimension(i), i));
    dims_.push_back(std::move(d));
    asked_.push_back(i);
  }
  return absl::OkStatus();
}

// The number of devices of the blocks that dimension `i` connects.
int64_t Builder::Below(size_t i) const {
  int64_t below = 1;
  for (size_t k = 0; k < i; ++k) below = std::min<int64_t>(below * dims_[k].size, int64_t{1} << 31);
  return dims_[i].each_rail ? 1 : below;
}

// Reads the networks of files and of graphs in the proto, which have a size of their own.
absl::Status Builder::ReadNetworks() {
  for (size_t i = 0; i < dims_.size(); ++i) {
    const proto::Network& n = proto_.dimension(asked_[i]).network();
    if (n.file().empty() && !n.has_graph()) continue;
    absl::StatusOr<ReadNetwork> read = absl::UnknownError("");
    if (n.has_graph()) {
      read = BuildExplicitGraph(n.graph(),
                                absl::StrCat("cluster: ", DimensionField(asked_[i], "network.graph")));
    } else {
      ASSIGN_OR_RETURN(auto text, ReadFile(n.file()));
      read = ReadNetworkFile(text, n.file());
    }
    if (!read.ok()) return read.status();
    notes_.insert(notes_.end(), read->notes.begin(), read->notes.end());
    losses_.push_back({asked_[i], read->losses});
    const int64_t devices = read->network.graph.devices();
    dims_[i].network = std::make_shared<const Network>(std::move(read->network));
    const int64_t below = Below(i);
    if (below == 0) {
      return BadField(DimensionField(asked_[i], "network"), "from a file or graph",
                      "a size of all dimensions below it");
    }
    if (devices % below != 0 || (dims_[i].size != 0 && dims_[i].size != devices / below)) {
      return BadField(DimensionField(asked_[i], "network"), absl::StrCat("of ", devices, " devices"),
                      dims_[i].size == 0
                          ? absl::StrCat("a multiple of ", below, ", the devices of a block", RailsHint(n))
                          : absl::StrCat(dims_[i].size * below, " as size says"));
    }
    dims_[i].size = static_cast<int>(devices / below);
  }
  return absl::OkStatus();
}

absl::Status Builder::Size() {
  int open = -1;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].size != 0) continue;
    if (open >= 0) {
      return BadField(DimensionField(asked_[i], "size"), "0",
                      absl::StrCat(">= 1: dimension[", open, "] already gets its size from the trace"));
    }
    open = static_cast<int>(i);
  }
  return open < 0 ? absl::OkStatus() : SizeTo(ranks_, static_cast<size_t>(open), &dims_, &asked_);
}

// Checks networks that are left out because the ranks do not need them.
absl::Status Builder::CheckLeftOut() {
  for (int i = 0; i < proto_.dimension_size(); ++i) {
    if (std::find(asked_.begin(), asked_.end(), i) != asked_.end()) continue;
    const Dimension& d = proto_.dimension(i);
    if (d.kind() != Dimension::NETWORK) continue;
    auto spec = ParseNetworkSpec(d.network().build());
    const absl::Status known = spec.ok() ? CheckParameters(*spec) : spec.status();
    if (!known.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cluster: ", DimensionField(i, "network.build"), ": ", known.message()));
    }
    notes_.push_back(absl::StrCat("the ranks (", ranks_,
                                  ") fit into one block of the other dimensions: the network \"",
                                  d.network().build(), "\" is not used"));
  }
  return absl::OkStatus();
}

absl::Status Builder::BuildOne(size_t i, int64_t below) {
  TopologyDimension& d = dims_[i];
  const proto::Network& n = proto_.dimension(asked_[i]).network();
  auto spec = ParseNetworkSpec(n.build());
  if (!spec.ok()) return InDimension(i, "network.build", spec.status());
  const int64_t devices = below * d.size;
  if (devices > Topology::kMaxDevices) {
    return BadField(DimensionField(asked_[i], "size"), absl::StrCat(d.size),
                    absl::StrCat("at most ", Topology::kMaxDevices, " devices in all"));
  }
  const Cards cards = CardsOf(proto_.dimension(asked_[i]));
  auto network = BuildNetwork(*spec, static_cast<int>(devices), cards);
  if (!network.ok() && proto_.dimension(asked_[i]).size() == 0) {
    // The parameters may allow only one size.
    auto own = BuildNetwork(*spec, 0, cards);
    if (own.ok() && own->graph.devices() >= devices && own->graph.devices() % below == 0)
      network = std::move(own);
  }
  if (!network.ok()) return InDimension(i, "network.build", network.status());
  d.size = static_cast<int>(network->graph.devices() / below);
  d.network = std::make_shared<const Network>(*std::move(network));
  return absl::OkStatus();
}

absl::Status Builder::BuildNetworks() {
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].kind != DimensionKind::kNetwork || dims_[i].network != nullptr) continue;
    RETURN_IF_ERROR(BuildOne(i, Below(i)));
  }
  return absl::OkStatus();
}

// Replaces a grid of span EACH_AXIS by a dimension for each axis.
absl::Status Builder::SplitAxes() {
  for (size_t i = 0; i < dims_.size(); ++i) {
    const proto::Network& n = proto_.dimension(asked_[i]).network();
    if (dims_[i].kind != DimensionKind::kNetwork || n.span() != proto::Network::EACH_AXIS) continue;
    const std::vector<Network::Axis>& axes = dims_[i].network->axes;
    if (i > 0 || axes.empty()) {
      return BadField(DimensionField(asked_[i], "network.span"), "EACH_AXIS",
                      i > 0 ? "the first dimension with it"
                            : "a torus, mesh or tpu_pod without a twist, whose devices are its routers");
    }
    std::vector<TopologyDimension> rings;
    for (size_t a = 0; a < axes.size(); ++a) {
      const Network::Axis& axis = axes[a];
      if (axis.size == 1 && (!rings.empty() || a + 1 < axes.size())) continue;
      const bool whole = axis.closed && axis.size > 2;
      TopologyDimension& ring = rings.emplace_back();
      ring.kind = DimensionKind::kRing;
      ring.size = axis.size;
      ring.name = absl::StrCat(dims_[i].name, ".", a);
      ring.bandwidth = Bandwidth::BytesPerSecond(axis.bandwidth.bytes_per_second() / (whole ? 1 : 2));
      ring.latency = axis.latency;
    }
    if (dims_.size() - 1 + rings.size() > Topology::kMaxDimensions) {
      return BadField(DimensionField(asked_[i], "network"), absl::StrCat("with ", rings.size(), " axes"),
                      absl::StrCat("at most ", Topology::kMaxDimensions, " dimensions in all"));
    }
    asked_.insert(asked_.begin(), rings.size() - 1, asked_[i]);
    dims_.erase(dims_.begin());
    dims_.insert(dims_.begin(), rings.begin(), rings.end());
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Converts dimensions of other kinds that faults name to networks, whose vertices faults can name.
absl::Status Builder::MakeNetworks() {
  std::set<int> named;
  for (const proto::LinkFault& f : proto_.fault()) named.insert(f.dimension());
  for (size_t i = 0; i < dims_.size(); ++i) {
    TopologyDimension& d = dims_[i];
    if (named.count(asked_[i]) == 0 || d.kind == DimensionKind::kNetwork) continue;
    NetworkSpec spec{d.kind == DimensionKind::kRing     ? "ring"
                     : d.kind == DimensionKind::kSwitch ? "switch"
                                                        : "full_mesh",
                     {}};
    spec.set.emplace_back("link", absl::StrCat(d.bandwidth.bytes_per_second(), "B/s"));
    spec.set.emplace_back("latency", absl::StrCat(d.latency.picos(), "ps"));
    auto network = BuildNetwork(spec, d.size);
    if (!network.ok()) return InDimension(i, "kind", network.status());
    d.kind = DimensionKind::kNetwork;
    d.each_rail = true;
    d.network = std::make_shared<const Network>(*std::move(network));
    made_.push_back(static_cast<int>(i));
  }
  return absl::OkStatus();
}

absl::Status Builder::ReadRouting(BuiltTopology* built) const {
  const proto::Routing& r = proto_.routing();
  RoutingOptions& out = built->routing;
  if (!r.policy().empty()) {
    auto policy = ParseRoutingPolicy(r.policy());
    if (!policy.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cluster: topology.routing.policy: ", policy.status().message()));
    }
    out.policy = *policy;
  }
  if (r.paths() > 0) out.paths = r.paths();
  if (r.queue_pairs() > 0) out.queue_pairs = r.queue_pairs();
  if (r.seed() != 0) out.seed = r.seed();
  out.ugal_bias = r.ugal_bias();
  out.up_down = r.up_down();
  std::vector<size_t> networks;  // in the order of the proto
  out.routes.resize(dims_.size());
  for (size_t i = 0; i < dims_.size(); ++i) {
    const bool kept = dims_[i].kind == DimensionKind::kNetwork;
    if (kept && proto_.dimension(asked_[i]).kind() == Dimension::NETWORK) networks.push_back(i);
  }
  if (r.route_file_size() > static_cast<int>(networks.size())) {
    return BadField(
        "topology.routing.route_file", absl::StrCat("there ", r.route_file_size(), " times"),
        absl::StrCat("at most once for each dimension of kind NETWORK; the cluster has ", networks.size()));
  }
  for (int i = 0; i < r.route_file_size(); ++i) {
    if (r.route_file(i).empty()) continue;
    const size_t d = networks[static_cast<size_t>(i)];
    ASSIGN_OR_RETURN(auto routes, RouteFile::Load(r.route_file(i), dims_[d].network->graph));
    out.routes[d] = std::make_shared<const RouteFile>(std::move(routes));
  }
  return absl::OkStatus();
}

absl::StatusOr<BuiltTopology> Builder::Build() {
  for (const auto step :
       {&Builder::ReadDimensions, &Builder::ReadNetworks, &Builder::Size, &Builder::CheckLeftOut,
        &Builder::BuildNetworks, &Builder::SplitAxes, &Builder::MakeNetworks}) {
    RETURN_IF_ERROR((this->*step)());
  }
  BuiltTopology built{Topology(), {}, {}, asked_, made_, notes_};
  RETURN_IF_ERROR(ReadRouting(&built));
  ASSIGN_OR_RETURN(built.topology, Topology::Make(dims_));
  std::map<uint32_t, double> losses;
  for (const Losses& l : losses_) {
    const auto at = std::find(asked_.begin(), asked_.end(), l.asked);
    if (at == asked_.end()) continue;
    const int dimension = static_cast<int>(at - asked_.begin());
    const NetworkGraph& g = dims_[static_cast<size_t>(dimension)].network->graph;
    for (uint32_t copy = 0; copy < built.topology.NetworkCopies(dimension); ++copy) {
      for (const LinkLoss& loss : l.losses) {
        for (const uint32_t arc : {loss.arc, g.reverse(loss.arc)}) {
          losses[built.topology.NetworkHop(dimension, copy, arc).link] = loss.rate;
        }
      }
    }
  }
  ASSIGN_OR_RETURN(built.changes, ExpandFaults(proto_, built.topology, asked_, losses));
  return built;
}

}  // namespace

absl::StatusOr<BuiltTopology> BuildTopology(const proto::Topology& topology, int ranks) {
  RETURN_IF_ERROR(CheckSettings(topology, "cluster: topology."));
  return Builder(topology, ranks).Build();
}

std::string RatesFrom(const Dimension& d, const NetworkSize& built) {
  if (d.kind() != Dimension::NETWORK) return "cluster";
  if (d.network().build().empty()) return "file";
  const int64_t card = BandwidthOf(d).bytes_per_second(), all = built.injection.bytes_per_second();
  return card > 0 && (all == card || all == card * built.ports) ? "cluster" : "network";
}

void RecordTopology(const BuiltTopology& built, proto::Topology* out) {
  const proto::Topology asked = *out;
  out->clear_dimension();
  for (size_t i = 0; i < built.topology.dimensions().size(); ++i) {
    const TopologyDimension& d = built.topology.dimensions()[i];
    Dimension* p = out->add_dimension();
    *p = asked.dimension(built.asked[i]);
    p->set_size(d.size);
    p->set_name(d.name);
    if (p->kind() == Dimension::NETWORK && d.kind == DimensionKind::kRing) {  // an axis of it
      p->set_kind(Dimension::RING);
      p->clear_network();
    }
    if (p->kind() == Dimension::NETWORK) continue;
    p->set_bandwidth_gbytes_per_s(static_cast<double>(d.bandwidth.bytes_per_second()) / 1e9);
    p->set_bandwidth_bytes_per_s(d.bandwidth.bytes_per_second());
    p->set_latency_ns(static_cast<double>(d.latency.picos()) / 1000);
  }
}

}  // namespace chakra
