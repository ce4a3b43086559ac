#include <algorithm>
#include <cmath>
#include <utility>

#include "replay/nccl/between_nodes.h"
#include "replay/nccl/mpi/mpi.h"
#include "replay/nccl/pieces.h"
#include "replay/nccl/rates.h"
#include "replay/nccl/shipped.h"

namespace chakra {
namespace {

using nccl::Algorithm;

uint64_t ChunkBytes(const LibraryModel& library, Protocol p) {
  return p == Protocol::kLL      ? nccl::kChunkLL
         : p == Protocol::kLL128 ? nccl::kChunkLL128
                                 : library.chunk_bytes;
}

// Sets the rate of a message to `rate`, in GB/s, spread over `ways` links or NICs.
void SetRate(double rate, double ways, CallCosts::Level* level) {
  level->wire = static_cast<uint64_t>(std::llround(static_cast<double>(CallCosts::kWhole) / ways));
  level->limit = Bandwidth::FromGigabytes(std::clamp(rate / ways, 1e-9, 1e9));
}

// Makes messages take `times` as long.
void Slow(double times, CallCosts::Level* level) {
  const double limit = static_cast<double>(level->limit.bytes_per_second()) / times;
  level->limit = Bandwidth::BytesPerSecond(std::max<int64_t>(1, std::llround(limit)));
}

// The time that a message of `bytes` occupies one link.
double WireUs(const CallCosts::Level& level, double bytes) {
  return bytes * static_cast<double>(level.wire) / static_cast<double>(CallCosts::kWhole) /
         (static_cast<double>(level.limit.bytes_per_second()) * 1e-6);
}

// The rate of one message of the plan, in GB/s, on a path of `level`.
double MessageRate(const LibraryModel& library, const Rates& rates, const Candidate& c, Algorithm family,
                   size_t level) {
  const bool network = library.levels[level].link == LibraryLink::kNet;
  const bool several = rates.nodes() > 1;
  if (family == Algorithm::kRing && c.algorithm == "ring") {
    if (!several) return rates.Bus(family, c.protocol, rates.bus());
    // The members of a ring step together. The members of a chain pass on pieces, inside the node at the rate
    // of its links.
    const double own = rates.RingBus(c.protocol, network);
    return c.plan == "chain" ? own : std::min(own, rates.RingBus(c.protocol, !network));
  }
  if (family == Algorithm::kTree)
    return several ? rates.TreeBus(c.protocol, network) : rates.Bus(family, c.protocol, rates.bus());
  const bool in_switch =
      network ? family == Algorithm::kCollNet : family == Algorithm::kNvls || family == Algorithm::kNvlsTree;
  if (in_switch) {
    if (const double rate = rates.InSwitch(network); rate > 0)
      return family == Algorithm::kNvlsTree ? rate * nccl::kNvlsTreeShare : rate;
  }
  double own = network ? rates.CardRate(level) : rates.OwnRate(level);
  if (network && c.plan == "direct") own *= library.levels[level].transport.exchange_share;
  // Each stream of a program from a file is one channel of the library.
  if (c.sends_at_once > 0) return rates.Channel(c, level);
  if (family == Algorithm::kNvlsTree) return rates.Share(c.protocol) * own;
  if (family == Algorithm::kPat) return 0.75 * rates.Bus(family, c.protocol, own);
  return rates.Bus(Algorithm::kRing, c.protocol, own);
}

// The number of messages, in an exchange with all other members, that one link of a device in block `i`
// carries at the same time.
double ToAll(const GroupShape& shape, size_t i, const LibraryLevel& level) {
  const int size = shape.blocks[i];
  int below = 1;  // the number of members whose messages cross this level on the same links
  for (size_t b = 0; b < i; ++b) below *= shape.blocks[b];
  switch (level.kind) {
    case TopologyDimension::Kind::kSwitch:
    case TopologyDimension::Kind::kNetwork:
      return std::max(1.0, below * (size - 1) / level.ports);
    case TopologyDimension::Kind::kFullyConnected:
      return below;
    case TopologyDimension::Kind::kRing:  // in an all-to-all, k^2 / 8 messages cross each link
      return below * std::max(1, size * size / 8);
  }
  return 1;
}

// The number of children of an inner node of a tree over nodes.
int ChildrenOf(int nodes) { return nodes > 2 ? 2 : 1; }

// The number of messages that streams of `c` send at the same time on one device's link of a level. It is 1
// for plans not listed: they send one message after the other, or to neighbours on separate links.
double AtOnce(const GroupShape& shape, const LibraryLevel& level, int nodes, const Candidate& c) {
  const bool shared = level.kind == TopologyDimension::Kind::kSwitch;
  const bool network = level.link == LibraryLink::kNet;
  // Data goes up and down two trees, each with half of the data. Between nodes, a stream serves both children
  // in turn.
  const double between = 2 * nccl::CarriedByTree(nodes) / ChildrenOf(nodes);
  if (c.plan == "double_binary_tree") return network ? between : 4;
  if (c.plan == "nvls_tree") return network ? between : 1;
  if (c.plan == "bidirectional_ring") return shared || shape.ranks == 2 ? 2 : 1;
  return 1;
}

// In a step, each channel of a ring moves at most one chunk; more data needs further rounds.
void CutRing(const LibraryModel& library, uint64_t bytes, const GroupShape& shape, const Candidate& c,
             CallCosts* costs) {
  const double loop = static_cast<double>(ChunkBytes(library, c.protocol)) * c.channels * shape.ranks;
  costs->parts = static_cast<int>(std::clamp(std::ceil(static_cast<double>(bytes) / loop), 1.0, 1e6));
  if (c.protocol == Protocol::kSimple && library.copy_gbytes_per_s > 0) {
    const double part = static_cast<double>(bytes) / shape.ranks / costs->parts;
    costs->part_end = Time::FromNanos(part / (library.copy_gbytes_per_s * c.channels));
  }
}

// The number of a device's links over which the channels of a ring are spread: one on a switch; several on a
// mesh or a wiring.
double LinksOf(const LibraryLevel& level, const Rates& rates) {
  const bool one = level.kind == TopologyDimension::Kind::kSwitch && level.wired == 0;
  return one ? 1 : rates.intra() / (level.link_gbytes_per_s * level.efficiency);
}

// The additional time of a direct exchange for its peers on other nodes: the network's proxy serves one
// message after the other, and the pipeline fills.
double RemotePeersUs(const Rates& rates, Protocol p, uint64_t bytes, const GroupShape& shape) {
  const Transport& transport = rates.network()->transport;
  const int peers = shape.ranks - (rates.even() ? rates.per_node() : 1);
  const double message = static_cast<double>(bytes) / shape.ranks;
  return nccl::kExchangeBeginUs + transport.ExchangeUs(message, peers) +
         transport.LargeUs(message / nccl::DataShare(p)) +
         nccl::ExchangeFillUs(message * peers, rates.OwnRate(true));
}

// Additional pieces of an all-reduce over switches and trees, for each doubling of nodes: measured on plans
// of 8 to 64 pieces for 2 to 32 nodes.
constexpr double kPiecesUnderWayPerDoubling = 4;

// The counterpart of TreePipeline() for NVLS trees. A member sends all data up to the switch and its share of
// the sums back, while the law has the call's bus bandwidth.
void NvlsTreePipeline(const Rates& rates, uint64_t bytes, const Candidate& c, int ranks, CallCosts* costs) {
  const double doublings = std::log2(std::max(1, rates.nodes()));
  const double fills =
      1 + kPiecesUnderWayPerDoubling * doublings / PiecesOf(rates.library(), c, bytes, ranks);
  const double members = ranks;
  const double up = (1 + 1.0 / rates.per_node()) * members / (members - 1);
  for (size_t i = 0; i < costs->levels.size(); ++i) {
    const bool network = rates.library().levels[i].link == LibraryLink::kNet;
    Slow(1 / (fills * (network ? 1 : up)), &costs->levels[i]);
  }
}

// The maximum number of a member's channels that serve its NIC: NCCL's search makes 2 to 4 on a node of one
// device and one NIC.
constexpr int kChannelsOfCard = 4;

// The additional time of a step over the network, compared to a step of few bytes.
double NetworkStepUs(const Rates& rates, Algorithm family, uint64_t bytes, const Candidate& c, int ranks) {
  if (rates.network() == nullptr) return 0;
  const Transport& transport = rates.network()->transport;
  const double all = static_cast<double>(bytes);
  const int channels = std::min(rates.channels(), kChannelsOfCard * rates.per_node());
  if (family == Algorithm::kTree)
    return nccl::TreeStepUs(transport, c.protocol, all, channels, rates.inter());
  if (family == Algorithm::kNvlsTree) {
    const double of_switch = 2 * rates.InSwitch(false) * nccl::kNvlsTreeShare;
    const double of_cards = 2 * rates.NetworkBus(Protocol::kSimple) / nccl::CarriedByTree(rates.nodes());
    return nccl::NvlsTreeStepUs(transport, all, rates.in_switch_channels(), rates.per_node(),
                                std::min(of_switch, of_cards));
  }
  if (c.plan == "chain") {  // each piece passes through all members
    const double piece = all / std::max(1, PiecesOf(rates.library(), c, bytes, ranks));
    return nccl::RingStepUs(transport, c.protocol, piece, channels);
  }
  // Plans that the library does not have are priced like its rings. RemotePeersUs() prices an exchange.
  return c.plan == "direct" ? 0 : nccl::RingStepUs(transport, c.protocol, all / ranks, channels);
}

// The factor by which messages of a tree must be faster so that the whole call takes the time of its links:
// the pieces of a tree first fill its branches before the first piece comes back, at the rates of the tree's
// messages. NetworkStepUs() prices the library's own chunks.
double TreePipeline(const LibraryModel& library, const Rates& rates, uint64_t bytes, const Candidate& c,
                    int ranks) {
  const double chunk = static_cast<double>(bytes) / 2 / PiecesOf(library, c, bytes, ranks);
  const double inside = rates.per_node() > 1 ? 4 * chunk / rates.TreeBus(c.protocol, false) : 0;
  const double between = 2 * nccl::CarriedByTree(rates.nodes()) * chunk / rates.TreeBus(c.protocol, true);
  const double slowest = std::max(inside, between);
  if (slowest <= 0) return 1;
  const double fills = 2 * ((rates.per_node() - 1) * inside + std::log2(rates.nodes()) * between);
  const int pieces = PiecesOf(library, c, bytes, ranks);
  return (fills + (pieces - 1) * slowest) / (pieces * slowest);
}

// Returns the additional begin time, in us, for a channel's rate, on one node. Steps of a ring or a chain
// then wait for a pass, and their messages take only the time of the wire.
double AddChannels(const Rates& rates, const LibraryTerm& term, uint64_t bytes, const GroupShape& shape,
                   const Candidate& c, CallCosts* costs) {
  // A member of a chain passes on all of the data; a member of a ring passes on a part in each step.
  const bool chain = c.plan == "chain";
  const double carried = static_cast<double>(bytes) / (chain ? 1 : shape.ranks);
  const bool direct = c.plan == "direct";
  const double rate = rates.Share(c.protocol) * term.channel_gbytes_per_s * (direct ? 1 : c.channels);
  if (direct) return Micros(carried, rate);
  const double pass = std::min(carried, static_cast<double>(nccl::kPass) * c.channels);
  const double flagged = c.protocol == Protocol::kLL ? 2 : 128.0 / 120;
  const std::vector<LibraryLevel>& levels = rates.library().levels;
  double own_us = Micros(carried, rate);
  for (const int index : shape.levels) {
    CallCosts::Level& level = costs->levels[static_cast<size_t>(index)];
    const LibraryLevel& of = levels[static_cast<size_t>(index)];
    const double links = LinksOf(of, rates);
    SetRate(of.link_gbytes_per_s * links / flagged, std::max(1.0, links), &level);
    level.latency += Time::FromNanos(term.step_share * Micros(pass, rate) * 1e3);
    const double wire_us = WireUs(level, carried);
    // Along a chain, steps follow each other, so the time of the wire is a part of the channel's time.
    if (chain) own_us = std::max(0.0, own_us - wire_us);
  }
  return own_us;
}

// Adds the fill of the pipeline as longer messages, so that it scales with the links.
void AddFill(const LibraryTerm& term, CollectiveType type, double own, const GroupShape& shape,
             const Candidate& c, CallCosts* costs) {
  // The bytes that a member sends in a step, and in the whole call.
  const double members = shape.ranks;
  const double step = FamilyOf(c.algorithm) == Algorithm::kNvls ? own * members
                      : c.plan == "direct"                      ? own * (members - 1)
                                                                : own;
  const double all =
      c.plan == "ring" ? own * (type == CollectiveType::kAllReduce ? 2 : 1) * (members - 1) : step;
  const double longer = 1 + term.fill_share * std::min(step, term.fill_bytes) / all;
  for (const int index : shape.levels) Slow(longer, &costs->levels[static_cast<size_t>(index)]);
}

// The parts of a ring follow each other without a gap, so its steps wait once for all parts. This is the same
// with a term and without: a term that repeats a built-in constant must change nothing.
void WaitOnce(const LibraryTerm* term, bool several, double own, const GroupShape& shape, CallCosts* costs) {
  for (const int index : shape.levels) {
    CallCosts::Level& level = costs->levels[static_cast<size_t>(index)];
    double wait_us = static_cast<double>(level.latency.picos()) * 1e-6;
    if (term != nullptr && term->step_overlaps && !several) {
      const double wire_us = WireUs(level, own);
      wait_us = std::hypot(wait_us, wire_us) - wire_us;
    }
    level.latency = Time::FromNanos(wait_us * 1e3 / costs->parts);
  }
}

// Additional pieces of an all-reduce in the switch: measured on plans of 2 to 64 pieces.
constexpr double kPiecesUnderWay = 1.66;

// Slows messages in the switch: a channel carries less, the smaller its chunk is.
void AddChunks(const Rates& rates, uint64_t bytes, const GroupShape& shape, const Candidate& c,
               CallCosts* costs) {
  const nccl::NvlsChannel channel = nccl::NvlsChannelFor(bytes, c.channels, shape.ranks);
  costs->begin += Time::FromNanos(channel.fill_us * shape.ranks * 1e3);
  // A member sends its data up and its share of the sums back.
  const double share_of_link = rates.InSwitch(false) / (1 + 1.0 / shape.ranks);
  // The plan's own pipeline already adds this many pieces to fill and drain.
  const double pipeline = 1 + kPiecesUnderWay / PiecesOf(rates.library(), c, bytes, shape.ranks);
  const double longer = std::max(1.0, share_of_link / (channel.gbytes_per_s * c.channels)) / pipeline;
  for (const int index : shape.levels) Slow(longer, &costs->levels[static_cast<size_t>(index)]);
}

// Adds the costs of transfers from the candidate's term: see proto::LibraryTerm.
void AddKernelCost(const Rates& rates, CollectiveType type, uint64_t bytes, const GroupShape& shape,
                   const Candidate& c, CallCosts* costs) {
  const LibraryTerm* term = rates.Term(c.protocol);
  const double own = static_cast<double>(bytes) / shape.ranks;
  if (c.plan == "ring") WaitOnce(term, rates.nodes() > 1, own, shape, costs);
  const bool direct = c.plan == "direct";
  if (rates.nodes() > 1) {
    if (direct && rates.network() != nullptr)
      costs->begin += Time::FromNanos(RemotePeersUs(rates, c.protocol, bytes, shape) * 1e3);
    return;
  }
  if (term == nullptr) return;
  // Peers of a direct exchange are served in parallel; each doubling of their number adds one step.
  const double step_us = rates.Step(FamilyOf(c.algorithm), c.protocol, false);
  double begin_us = direct ? step_us * (std::log2(shape.ranks) - 1) : 0;
  if (term->channel_gbytes_per_s > 0) begin_us += AddChannels(rates, *term, bytes, shape, c, costs);
  if (term->fill_share > 0 && own > 0) AddFill(*term, type, own, shape, c, costs);
  if (term->by_chunk && c.algorithm == "nvls" && type == CollectiveType::kAllReduce) {
    AddChunks(rates, bytes, shape, c, costs);
  }
  if (term->own_gbytes_per_s > 0) {
    const double copied = term->own_bytes > 0 ? std::min(own, term->own_bytes) : own;
    const double copy_us = Micros(copied, term->own_gbytes_per_s);
    if (c.plan == "ring") {
      costs->part_end = Time::FromNanos(copy_us * 1e3 / costs->parts);
    } else {
      begin_us += copy_us;
    }
  }
  costs->begin += Time::FromNanos(begin_us * 1e3);
}

// The costs of a shipped kernel: its law, which a term of the library may replace.
CallCosts ShippedCosts(const LibraryModel& library, const Rates& rates, const Candidate& c) {
  const shipped::Law law = shipped::LawOf(c.algorithm, library.generation);
  const LibraryTerm* term = rates.Term(c.protocol);
  CallCosts costs;
  costs.begin = Time::FromNanos((term != nullptr ? term->base_us.value_or(law.base_us) : law.base_us) * 1e3);
  for (const LibraryLevel& level : library.levels) {
    const double share = level.link == LibraryLink::kNet ? law.network_share : law.link_share;
    SetRate(level.link_gbytes_per_s * share * rates.Share(c.protocol), 1, &costs.levels.emplace_back());
  }
  return costs;
}

}  // namespace

void ShareLinks(const LibraryModel& library, CollectiveType type, const GroupShape& shape, const Candidate& c,
                CallCosts* costs) {
  if (c.of_hosts) return;  // mpi::CostsOf() has done this
  if (type == CollectiveType::kGather && c.plan == "linear") return ShareAmongPeers(library, shape, costs);
  const int nodes = Rates(library, shape).nodes();
  for (const int level : shape.levels) {
    const auto index = static_cast<size_t>(level);
    Slow(AtOnce(shape, library.levels[index], nodes, c), &costs->levels[index]);
  }
}

void ShareAmongPeers(const LibraryModel& library, const GroupShape& shape, CallCosts* costs) {
  for (size_t i = 0; i < shape.levels.size(); ++i) {
    const auto index = static_cast<size_t>(shape.levels[i]);
    Slow(ToAll(shape, i, library.levels[index]), &costs->levels[index]);
  }
}

CallCosts CostsOf(const LibraryModel& library, CollectiveType type, uint64_t bytes, const GroupShape& shape,
                  const Candidate& c) {
  if (c.of_hosts) return mpi::CostsOf(library, type, bytes, shape, c);
  const Rates rates(library, shape, c.algorithm);
  if (c.shipped) return ShippedCosts(library, rates, c);
  const Algorithm family = FamilyOf(c.algorithm);
  CallCosts costs;
  const bool ring = family == Algorithm::kRing && c.algorithm == "ring";
  const bool several = rates.nodes() > 1;
  costs.begin = Time::FromNanos(
      (rates.Base(family, c.protocol) + (ring && several ? nccl::RingBeginUs(rates.per_node()) : 0)) * 1e3);
  const double step_us = NetworkStepUs(rates, family, bytes, c, shape.ranks);
  for (size_t level = 0; level < library.levels.size(); ++level) {
    CallCosts::Level out;
    // On the network, CollNet goes up to the switch and down again in one step.
    const bool half = family == Algorithm::kCollNet && library.levels[level].link == LibraryLink::kNet;
    const bool network = library.levels[level].link == LibraryLink::kNet;
    double latency_us = rates.StepAt(family, c.protocol, level) + (network ? step_us : 0);
    if (half) latency_us /= 2;
    // A plan in the switch sends few pieces before the first comes back, so the time of its steps counts once
    // for the call.
    if (network && several && family == Algorithm::kNvlsTree) {
      costs.begin += Time::FromNanos(2 * std::log2(rates.nodes()) * std::exchange(latency_us, 0) * 1e3);
    }
    // The longest path around the plan's ring crosses all borders between nodes; a part of the library's ring
    // crosses all but one.
    if (network && several && c.plan == "ring") latency_us *= 1 - 1.0 / rates.nodes();
    out.latency = Time::FromNanos(latency_us * 1e3);
    // The rates of rings and trees are those of all NICs of a node, and of all links of a device.
    const bool all_links = ring || family == Algorithm::kTree;
    if (all_links && network) out.cards = rates.per_node();
    const double ways = !all_links ? 1
                        : network  ? out.cards
                                   : std::max(1.0, LinksOf(library.levels[level], rates));
    SetRate(MessageRate(library, rates, c, family, level), ways, &out);
    costs.levels.push_back(out);
  }
  if (family == Algorithm::kTree && several) {
    const double fills = TreePipeline(library, rates, bytes, c, shape.ranks);
    for (CallCosts::Level& level : costs.levels) Slow(1 / fills, &level);
  }
  if (family == Algorithm::kNvlsTree && several) NvlsTreePipeline(rates, bytes, c, shape.ranks, &costs);
  // The library serves one peer at a time on each channel. RemotePeersUs() covers this between nodes.
  if ((c.plan == "direct" && !several) || c.plan == "pairwise" || c.plan == "linear" ||
      c.plan == "one_shot") {
    const int rounds = (shape.ranks - 2) / library.channels;
    const double step = std::max(rates.Step(family, c.protocol, false), rates.Step(family, c.protocol, true));
    costs.begin += Time::FromNanos(rounds * step * 1e3);
  }
  if (c.plan == "ring") CutRing(library, bytes, shape, c, &costs);
  AddKernelCost(rates, type, bytes, shape, c, &costs);
  return costs;
}

}  // namespace chakra
