#include "replay/nccl/rates.h"

#include <algorithm>
#include <limits>

#include "replay/nccl/between_nodes.h"

namespace chakra {
namespace {

// PCIe 3.0 x16: NCCL, src/graph/topo.h, PCI_BW.
constexpr double kPciGigabytes = 12;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The rate of all links of a device that a ring over `members` of a block can use.
double DeviceRate(const LibraryLevel& level, int members) {
  switch (level.kind) {
    case TopologyDimension::Kind::kFullyConnected:
      return level.link_gbytes_per_s * (members - 1);
    case TopologyDimension::Kind::kRing:
      return level.link_gbytes_per_s * (members > 2 ? 2 : 1);
    case TopologyDimension::Kind::kSwitch:
    case TopologyDimension::Kind::kNetwork:
      break;
  }
  return level.link_gbytes_per_s;
}

}  // namespace

nccl::Algorithm FamilyOf(absl::string_view algorithm) {
  return algorithm == "tree"        ? nccl::Algorithm::kTree
         : algorithm == "nvls"      ? nccl::Algorithm::kNvls
         : algorithm == "nvls_tree" ? nccl::Algorithm::kNvlsTree
         : algorithm == "collnet"   ? nccl::Algorithm::kCollNet
         : algorithm == "pat"       ? nccl::Algorithm::kPat
                                    : nccl::Algorithm::kRing;
}

Rates::Rates(const LibraryModel& library, const GroupShape& shape, absl::string_view measured)
    : library_(library),
      measured_(measured),
      levels_(shape.levels),
      channels_(library.channels),
      intra_(kUnlimited),
      inter_(kUnlimited) {
  if (shape.uneven_nodes > 0) {
    even_ = false;
    nodes_ = shape.uneven_nodes;
    per_node_ = shape.uneven_per_node;
    levels_.clear();
    for (int level = 0; level <= shape.levels[0]; ++level) {
      levels_.push_back(level);
      AddLevel(shape, level,
               library.levels[static_cast<size_t>(level)].link == LibraryLink::kNet ? nodes_ : per_node_);
    }
  } else {
    for (size_t i = 0; i < shape.blocks.size(); ++i) {
      const bool network = library.levels[static_cast<size_t>(shape.levels[i])].link == LibraryLink::kNet;
      (network ? nodes_ : per_node_) *= shape.blocks[i];
      AddLevel(shape, shape.levels[i], shape.blocks[i]);
    }
  }
  inter_ *= per_node_;
  if (per_node_ == 1) intra_ = inter_;
}

void Rates::AddLevel(const GroupShape& shape, int index, int members) {
  if (members < 2) return;
  const LibraryLevel& level = library_.levels[static_cast<size_t>(index)];
  // The tuner uses the rate that its search assumes; costs use the measured rate.
  const double rate = DeviceRate(level, members) * level.efficiency * (measured_.empty() ? 1 : level.carried);
  if (level.link == LibraryLink::kNet) {
    if (rate <= inter_) network_ = &level;
    inter_ = std::min(inter_, rate);
    return;
  }
  intra_link_ = std::max(intra_link_, level.link);
  if (shape.rings > 0 && index == 0) {
    intra_ = std::min(intra_, shape.rings * level.wire_gbytes_per_s * level.efficiency);
    channels_ = std::min(channels_, 2 * shape.rings);
  } else if (level.wired > 0 && shape.levels.size() == 1 && shape.levels[0] == 0) {
    intra_ = std::min(intra_, kPciGigabytes);  // no ring of links: data goes over PCIe
    intra_link_ = LibraryLink::kPci;
  } else {
    intra_ = std::min(intra_, rate);
  }
  if (level.in_switch_efficiency <= 0) return;
  in_switch_channels_ = level.in_switch_channels;
  in_switch_ranks_ = level.in_switch_ranks;
  in_switch_alone_ = level.in_switch_alone;
}

const LibraryTerm* Rates::Term(Protocol p) const {
  if (measured_.empty() || library_.terms.empty()) return nullptr;
  const auto found = library_.terms.find({measured_, p});
  return found == library_.terms.end() ? nullptr : &found->second;
}

const LibraryTerm* Rates::TermOfKernel(Protocol p) const {
  const LibraryTerm* own = Term(p);
  if (own != nullptr || nodes_ <= 1 || measured_ != "tree") return own;
  const auto ring = library_.terms.find({"ring", p});
  return ring == library_.terms.end() ? nullptr : &ring->second;
}

double Rates::Share(Protocol p) const {
  const LibraryTerm* term = Term(p);
  if (term == nullptr) return 1;
  return (nodes_ > 1 ? term->network_share : term->bus_share).value_or(1);
}

double Rates::Base(nccl::Algorithm a, Protocol p) const {
  if (const LibraryTerm* term = TermOfKernel(p); term != nullptr && term->base_us) return *term->base_us;
  if (a == nccl::Algorithm::kNvlsTree && nodes_ > 1 && !measured_.empty()) return nccl::kNvlsTreeBeginUs;
  const bool in_switch = a == nccl::Algorithm::kNvls || a == nccl::Algorithm::kNvlsTree;
  return nccl::BaseLatency(a, p) + (in_switch ? nccl::StepLatency(a, p, LibraryLink::kNvlink) : 0);
}

double Rates::StepAt(nccl::Algorithm a, Protocol p, size_t index) const {
  const LibraryLevel& level = library_.levels[index];
  const bool network = level.link == LibraryLink::kNet;
  // Steps that overlap with their data were measured on one node, where no step waits for the proxy of
  // another step.
  const LibraryTerm* kernel = TermOfKernel(p);
  if (!network && kernel != nullptr && kernel->step_us && !(kernel->step_overlaps && nodes_ > 1))
    return *kernel->step_us;
  const bool in_switch = a == nccl::Algorithm::kNvls || a == nccl::Algorithm::kNvlsTree;
  if (in_switch && !network) return 0;  // included in the base
  // With one member on each node, a network step of the ring costs as much as one of the tree. The same holds
  // for the only step of a direct exchange, which no earlier step hides.
  const bool bare = per_node_ == 1 || measured_ == "direct";
  const nccl::Algorithm as = network && bare && a == nccl::Algorithm::kRing ? nccl::Algorithm::kTree : a;
  // Peers of an exchange have their buffers ready, so no step waits for the previous one.
  const Protocol steps_as = measured_ == "direct" && network ? Protocol::kLL : p;
  double us = nccl::StepLatency(as, steps_as, level.link);
  if (network) {
    const bool tuner = measured_.empty();
    const LibraryTerm* term = Term(p);
    if (term != nullptr && term->network_step_us)
      us = *term->network_step_us;
    else if (a == nccl::Algorithm::kNvlsTree && !tuner)
      us = nccl::kNvlsTreeStepUs;
    const double card =
        level.nic_latency_us + (tuner ? level.transport.tuner_latency_us : level.transport.message_us);
    return us + card * (steps_as == Protocol::kSimple ? 2 : 1);
  }
  // Each step must be signalled to the network's proxy: 1 us, or 3 us with the fences of Simple.
  if (nodes_ > 1 && a == nccl::Algorithm::kRing) us = std::max(us, p == Protocol::kSimple ? 3.0 : 1.0);
  return us;
}

double Rates::Step(nccl::Algorithm a, Protocol p, bool network) const {
  double most = 0;
  for (const int level : levels_) {
    const bool is_network = library_.levels[static_cast<size_t>(level)].link == LibraryLink::kNet;
    if (is_network == network) most = std::max(most, StepAt(a, p, static_cast<size_t>(level)));
  }
  return most;
}

double Rates::tuner_tree_bus() const {
  const bool both_ways = nodes_ == 2 && per_node_ > 1 && library_.generation >= Generation::kHopper;
  return both_ways ? std::min(intra_, 2 * inter_) : bus();
}

double Rates::NetworkBus(Protocol p) const {
  const double crowding = network_ == nullptr ? 1 : network_->transport.Crowding(nodes_);
  return Share(p) * inter_ * nccl::DataShare(p) / crowding;
}

double Rates::RingBus(Protocol p, bool network) const {
  return network ? NetworkBus(p) : nccl::RingShare(p) * Bus(nccl::Algorithm::kRing, p, intra_);
}

double Rates::TreeBus(Protocol p, bool network) const {
  return network ? NetworkBus(p) : nccl::TreeShare(p) * Bus(nccl::Algorithm::kTree, p, intra_);
}

double Rates::CardRate(size_t level) const {
  return OwnRate(level) / library_.levels[level].transport.Crowding(nodes_);
}

double Rates::Bus(nccl::Algorithm a, Protocol p, double simple) const {
  return Share(p) * BuiltInBus(a, p, simple);
}

double Rates::BuiltInBus(nccl::Algorithm a, Protocol p, double simple) const {
  const Generation g = library_.generation;
  if (a == nccl::Algorithm::kRing) {
    if (p == Protocol::kLL) return std::min(nccl::MaxLL(g, nodes_), simple / 2);
    if (p == Protocol::kLL128) {
      const int found = measured_.empty() ? std::min(channels_, library_.search_channels) : channels_;
      return std::min(0.92 * simple, found * nccl::MaxRingLL128(g));
    }
    return simple;
  }
  // Two racks of GB200 use LL128 up to 64 MiB, at the rate of the channels that the search found.
  const int found = nodes_ > 1 ? std::min(channels_, library_.search_channels) : channels_;
  if (a != nccl::Algorithm::kTree) return simple;
  if (p == Protocol::kLL) return std::min(simple / 3.8, nccl::MaxLL(g, nodes_));
  if (p == Protocol::kLL128) {
    return std::min(simple * (nodes_ == 1 ? 7.0 / 9 : 120.0 / 128), found * nccl::MaxTreeLL128(g, nodes_));
  }
  return std::min(0.92 * simple, channels_ * nccl::MaxTree(g, nodes_));
}

double Rates::OwnRate(size_t level) const {
  const LibraryLevel& l = library_.levels[level];
  if (level == 0 && l.wired > 0 && nodes_ == 1) return intra_;  // the rate of the wiring
  return l.link_gbytes_per_s * l.efficiency * l.carried / l.shared_by;
}

double Rates::OwnRate(bool network) const {
  double least = kUnlimited;
  for (const int level : levels_) {
    const bool is_network = library_.levels[static_cast<size_t>(level)].link == LibraryLink::kNet;
    if (is_network == network) least = std::min(least, OwnRate(static_cast<size_t>(level)));
  }
  return least;
}

double Rates::Channel(const Candidate& c, size_t level) const {
  const LibraryLevel& l = library_.levels[level];
  const auto measured = library_.terms.find({"program", c.protocol});
  const bool known = measured != library_.terms.end() && measured->second.channel_gbytes_per_s > 0;
  const double own = Bus(nccl::Algorithm::kRing, c.protocol, OwnRate(level));
  if (!known) return own / std::max(library_.channels, c.sends_at_once);
  // On a mesh, each peer has its own link.
  const bool mesh = l.kind == TopologyDimension::Kind::kFullyConnected && l.wired == 0;
  const int sharing = std::max(1, mesh ? c.sends_to_peer : c.sends_at_once);
  return std::min(measured->second.channel_gbytes_per_s, own / sharing);
}

bool Rates::OneSwitch(bool network) const {
  const LibraryLevel* only = nullptr;
  for (const int i : levels_) {
    const LibraryLevel& level = library_.levels[static_cast<size_t>(i)];
    if ((level.link == LibraryLink::kNet) != network) continue;
    if (only != nullptr) return false;
    only = &level;
  }
  return even_ && only != nullptr && only->kind == TopologyDimension::Kind::kSwitch &&
         only->in_switch_efficiency > 0;
}

double Rates::InSwitch(bool network) const {
  for (const int i : levels_) {
    const LibraryLevel& level = library_.levels[static_cast<size_t>(i)];
    if ((level.link == LibraryLink::kNet) != network || level.in_switch_efficiency <= 0) continue;
    const double idle = level.in_switch_channels > 1 ? 1 - 1.0 / level.in_switch_channels : 1;
    return level.link_gbytes_per_s * level.in_switch_efficiency * idle * Share(Protocol::kSimple);
  }
  return 0;
}

}  // namespace chakra
