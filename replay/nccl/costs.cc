#include <algorithm>
#include <cmath>

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

// A message goes at `rate`, in GB/s, spread over `ways` links or cards.
void SetRate(double rate, double ways, CallCosts::Level* level) {
  level->wire = static_cast<uint64_t>(std::llround(static_cast<double>(CallCosts::kWhole) / ways));
  level->limit = Bandwidth::FromGigabytes(std::clamp(rate / ways, 1e-9, 1e9));
}

// A message takes `times` as long.
void Slow(double times, CallCosts::Level* level) {
  const double limit = static_cast<double>(level->limit.bytes_per_second()) / times;
  level->limit = Bandwidth::BytesPerSecond(std::max<int64_t>(1, std::llround(limit)));
}

// What a message of `bytes` takes of one link.
double WireUs(const CallCosts::Level& level, double bytes) {
  return bytes * static_cast<double>(level.wire) / static_cast<double>(CallCosts::kWhole) /
         (static_cast<double>(level.limit.bytes_per_second()) * 1e-6);
}

// The rate of one message of the plan, in GB/s, on a path of `level`.
double MessageRate(const LibraryModel& library, const Rates& rates, const Candidate& c, Algorithm family,
                   size_t level) {
  if (family == Algorithm::kRing && c.algorithm == "ring") return rates.Bus(family, c.protocol, rates.bus());
  if (family == Algorithm::kTree) return rates.Bus(family, c.protocol, rates.bus());
  const bool network = library.levels[level].link == LibraryLink::kNet;
  const bool in_switch =
      network ? family == Algorithm::kCollNet : family == Algorithm::kNvls || family == Algorithm::kNvlsTree;
  if (in_switch) {
    if (const double rate = rates.InSwitch(network); rate > 0) return rate;
  }
  const double own = rates.OwnRate(level);
  // Each stream of a program from a file is one channel of the library.
  if (c.sends_at_once > 0) return rates.Channel(c, level);
  if (family == Algorithm::kNvlsTree) return rates.Bus(family, c.protocol, own);
  if (family == Algorithm::kPat) return 0.75 * rates.Bus(family, c.protocol, own);
  return rates.Bus(Algorithm::kRing, c.protocol, own);
}

// The number of messages to all other members that one link of a device in block `i` carries at the same
// time.
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

// The number of messages that streams of `c` send at the same time on one device's link of a level. For plans
// not listed it is 1: they send one message after the other, or to neighbours on separate links.
int AtOnce(const GroupShape& shape, const LibraryLevel& level, const Candidate& c) {
  const bool shared = level.kind == TopologyDimension::Kind::kSwitch;
  const bool network = level.link == LibraryLink::kNet;
  // Up and down two trees; between nodes, each tree has its own cards.
  if (c.plan == "double_binary_tree") return network ? 2 : 4;
  // Up and down one tree for each share. Agrees with analytical-fifo on 2 to 8 blocks.
  if (c.plan == "nvls_tree") return network ? 2 : 1;
  if (c.plan == "bidirectional_ring") return shared || shape.ranks == 2 ? 2 : 1;
  return 1;
}

// Each channel of a ring moves at most a chunk in a step; the rest needs further rounds.
void CutRing(const LibraryModel& library, uint64_t bytes, const GroupShape& shape, const Candidate& c,
             CallCosts* costs) {
  const double loop = static_cast<double>(ChunkBytes(library, c.protocol)) * c.channels * shape.ranks;
  costs->parts = static_cast<int>(std::clamp(std::ceil(static_cast<double>(bytes) / loop), 1.0, 1e6));
  if (c.protocol == Protocol::kSimple && library.copy_gbytes_per_s > 0) {
    const double part = static_cast<double>(bytes) / shape.ranks / costs->parts;
    costs->part_end = Time::FromNanos(part / (library.copy_gbytes_per_s * c.channels));
  }
}

double Micros(double bytes, double gbytes_per_s) { return bytes / (gbytes_per_s * 1e3); }

// The number of a device's links that the channels of a ring go over: on a switch one; on a mesh or a wiring
// they spread over several.
double LinksOf(const LibraryLevel& level, const Rates& rates) {
  const bool one = level.kind == TopologyDimension::Kind::kSwitch && level.wired == 0;
  return one ? 1 : rates.intra() / (level.link_gbytes_per_s * level.efficiency);
}

// What a direct exchange adds for its peers on other nodes: the network's proxy takes one message after the
// other, and the pipeline fills. That law is one node's, at the network's rate: no public table has sizes
// below the largest between nodes. Two nodes of 8 A100 took 404 us for 12.6 MB in a capture, and take 440 so.
double RemotePeersUs(const Rates& rates, const LibraryTerm& term, uint64_t bytes, const GroupShape& shape) {
  const int peers = shape.ranks - (rates.even() ? rates.per_node() : 1);
  const double out = static_cast<double>(bytes) / shape.ranks * peers;
  return nccl::kPostUs * peers +
         term.fill_share * Micros(std::min(out, term.fill_bytes), rates.OwnRate(true));
}

// What a channel's rate adds to the begin, in us, of one node. Steps of a ring or a chain then wait for a
// pass, and their messages take what the wire takes of them.
double AddChannels(const Rates& rates, const LibraryTerm& term, uint64_t bytes, const GroupShape& shape,
                   const Candidate& c, CallCosts* costs) {
  // A member of a chain passes on all of the data, of a ring a part in each step.
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
    // Along a chain one step follows upon the other: what the wire takes is a part of what the channel takes.
    if (chain) own_us = std::max(0.0, own_us - wire_us);
  }
  return own_us;
}

// The fill of the pipeline makes each message longer, so that it scales with its links.
void AddFill(const LibraryTerm& term, CollectiveType type, double own, const GroupShape& shape,
             const Candidate& c, CallCosts* costs) {
  // What goes out in a step, and in all.
  const double members = shape.ranks;
  const double step = FamilyOf(c.algorithm) == Algorithm::kNvls ? own * members
                      : c.plan == "direct"                      ? own * (members - 1)
                                                                : own;
  const double all =
      c.plan == "ring" ? own * (type == CollectiveType::kAllReduce ? 2 : 1) * (members - 1) : step;
  const double longer = 1 + term.fill_share * std::min(step, term.fill_bytes) / all;
  for (const int index : shape.levels) Slow(longer, &costs->levels[static_cast<size_t>(index)]);
}

// The parts of a ring follow upon each other without a gap, so that its steps wait once for all of them.
// This holds with a term as without: a term that repeats a built-in constant must change nothing.
void WaitOnce(const LibraryTerm* term, double own, const GroupShape& shape, CallCosts* costs) {
  for (const int index : shape.levels) {
    CallCosts::Level& level = costs->levels[static_cast<size_t>(index)];
    double wait_us = static_cast<double>(level.latency.picos()) * 1e-6;
    if (term != nullptr && term->step_overlaps) {
      const double wire_us = WireUs(level, own);
      wait_us = std::hypot(wait_us, wire_us) - wire_us;
    }
    level.latency = Time::FromNanos(wait_us * 1e3 / costs->parts);
  }
}

// Of an all-reduce in the switch, beside the pieces of the data: measured on plans of 2 to 64 pieces.
constexpr double kPiecesUnderWay = 1.66;

// In the switch a channel carries the less the smaller its chunk is.
void AddChunks(const Rates& rates, uint64_t bytes, const GroupShape& shape, const Candidate& c,
               CallCosts* costs) {
  const nccl::NvlsChannel channel = nccl::NvlsChannelFor(bytes, c.channels, shape.ranks);
  costs->begin += Time::FromNanos(channel.fill_us * shape.ranks * 1e3);
  // A member sends its data up and its share of the sums back.
  const double share_of_link = rates.InSwitch(false) / (1 + 1.0 / shape.ranks);
  // The plan's own pipeline fills and drains by so many pieces more.
  const double pipeline = 1 + kPiecesUnderWay / PiecesOf(rates.library(), c, bytes, shape.ranks);
  const double longer = std::max(1.0, share_of_link / (channel.gbytes_per_s * c.channels)) / pipeline;
  for (const int index : shape.levels) Slow(longer, &costs->levels[static_cast<size_t>(index)]);
}

// Adds what the candidate's term says of transfers: see proto::LibraryTerm.
void AddKernel(const Rates& rates, CollectiveType type, uint64_t bytes, const GroupShape& shape,
               const Candidate& c, CallCosts* costs) {
  const LibraryTerm* term = rates.Term(c.protocol);
  const double own = static_cast<double>(bytes) / shape.ranks;
  if (c.plan == "ring" && rates.nodes() <= 1) WaitOnce(term, own, shape, costs);
  if (term == nullptr) return;
  const bool direct = c.plan == "direct";
  if (rates.nodes() > 1) {
    if (direct) costs->begin += Time::FromNanos(RemotePeersUs(rates, *term, bytes, shape) * 1e3);
    return;
  }
  // Peers of a direct exchange are served side by side; each doubling of them adds one step.
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
  if (type == CollectiveType::kGather && c.plan == "linear") return ShareAmongPeers(library, shape, costs);
  for (const int level : shape.levels) {
    const auto index = static_cast<size_t>(level);
    Slow(AtOnce(shape, library.levels[index], c), &costs->levels[index]);
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
  const Rates rates(library, shape, c.algorithm);
  if (c.shipped) return ShippedCosts(library, rates, c);
  const Algorithm family = FamilyOf(c.algorithm);
  CallCosts costs;
  costs.begin = Time::FromNanos(rates.Base(family, c.protocol) * 1e3);
  for (size_t level = 0; level < library.levels.size(); ++level) {
    CallCosts::Level out;
    // On the network, CollNet goes up to the switch and down again in one step.
    const bool half = family == Algorithm::kCollNet && library.levels[level].link == LibraryLink::kNet;
    out.latency = Time::FromNanos(rates.StepAt(family, c.protocol, level) * (half ? 500 : 1000));
    // The rates of rings and trees include all cards of a node, and all links of a device.
    const bool all_links =
        (family == Algorithm::kRing && c.algorithm == "ring") || family == Algorithm::kTree;
    const bool network = library.levels[level].link == LibraryLink::kNet;
    if (all_links && network) out.cards = rates.per_node();
    const double ways = !all_links ? 1
                        : network  ? out.cards
                                   : std::max(1.0, LinksOf(library.levels[level], rates));
    SetRate(MessageRate(library, rates, c, family, level), ways, &out);
    costs.levels.push_back(out);
  }
  // The library serves one peer on each channel at a time.
  if (c.plan == "direct" || c.plan == "pairwise" || c.plan == "linear" || c.plan == "one_shot") {
    const int rounds = (shape.ranks - 2) / library.channels;
    const double step = std::max(rates.Step(family, c.protocol, false), rates.Step(family, c.protocol, true));
    costs.begin += Time::FromNanos(rounds * step * 1e3);
  }
  if (c.plan == "ring") CutRing(library, bytes, shape, c, &costs);
  AddKernel(rates, type, bytes, shape, c, &costs);
  return costs;
}

}  // namespace chakra
