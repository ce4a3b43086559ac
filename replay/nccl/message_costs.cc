#include "replay/nccl/message_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "replay/nccl/between_nodes.h"
#include "replay/nccl/mpi/mpi.h"
#include "replay/nccl/rates.h"

namespace chakra {
namespace {

using nccl::Algorithm;

// A message is priced as an exchange with one peer, with the terms of that plan.
constexpr char kPlan[] = "direct";

// The library uses more channels if a channel would get more of a message than this, within one node and over
// several nodes: NCCL src/enqueue.cc, calcP2pChannelCount.
constexpr uint64_t kMostOfChannel = 16 << 20, kMostOfChannelOverNodes = 512 << 10;

// The rate of a channel to one peer over NVLink with Simple. sendrecv_perf on 8 H100, NCCL 2.29.2
// (xxrjun/nccl-tests-cluster): 33.5 and 67 MB, 4 channels, 82 GB/s; 134 MB, 8 channels, 163 GB/s. Other
// generations: assumed.
constexpr double kChannelGigabytes = 20.6;

double BeginUs(const Rates& rates, Protocol p, double bytes, const MessageSetting& setting) {
  double us = rates.Base(Algorithm::kRing, p);
  if (rates.nodes() > 1) {
    const Transport& transport = rates.network()->transport;
    // exchange_us is the time that an exchange takes between its messages.
    us += nccl::kExchangeBeginUs +
          (setting.peers > 1 ? transport.ExchangeUs(bytes, setting.peers) : transport.post_us) +
          nccl::ExchangeFillUs(bytes * setting.peers, rates.OwnRate(true));
    return us;
  }
  const double step_us = rates.Step(Algorithm::kRing, p, false);
  us += (setting.peers - 1) / rates.library().channels * step_us;
  // As in an exchange, each doubling of the peers adds a step.
  if (rates.Term(p) != nullptr) us += step_us * (std::log2(setting.peers + 1) - 1);
  return us;
}

double LatencyUs(const Rates& rates, Protocol p, double bytes, size_t level) {
  double us = rates.StepAt(Algorithm::kRing, p, level);
  if (rates.nodes() > 1) return us + rates.network()->transport.LargeUs(bytes / nccl::DataShare(p));
  const LibraryTerm* term = rates.Term(p);
  if (term != nullptr && term->channel_gbytes_per_s > 0)
    us += Micros(bytes, rates.Share(p) * term->channel_gbytes_per_s);
  return us;
}

// The rate that all messages on the link of an end reach together, in GB/s.
double LinkRate(const Rates& rates, Protocol p, double bytes, size_t level, const MessageSetting& setting) {
  double own = rates.OwnRate(level);
  if (rates.nodes() > 1) {
    const Transport& transport = rates.network()->transport;
    own *= (setting.peers > 1 ? transport.exchange_share : 1) / transport.Crowding(setting.busy_nodes);
    return rates.Bus(Algorithm::kRing, p, own);
  }
  double rate = rates.Bus(Algorithm::kRing, p, own);
  // A single message does not lose the share of a link that an exchange loses: it has 367 of 371 GB/s on 8
  // H100, where an exchange has 348.
  if (setting.peers == 1) rate /= std::min(1.0, rates.Share(p));
  const LibraryTerm* term = rates.Term(p);
  const double all = bytes * setting.peers;
  if (term != nullptr && term->fill_share > 0)
    rate /= 1 + term->fill_share * std::min(all, term->fill_bytes) / all;
  return rate;
}

Bandwidth LimitOf(double gbytes_per_s) {
  return Bandwidth::FromGigabytes(std::clamp(gbytes_per_s, 1e-9, 1e9));
}

MessageCosts OfHosts(const LibraryLevel& level, const mpi::MpiModel& mpi, double bytes, int peers,
                     double sharing) {
  const HostMessages& host = mpi::MessagesOn(level, mpi);
  MessageCosts costs;
  costs.begin = Time::FromNanos((host.OwnUs(bytes) + (peers - 1) * host.post_us) * 1e3);
  costs.latency = Time::FromNanos(std::max(0.0, host.latency_us - level.wire_us) * 1e3);
  costs.limit = LimitOf(mpi::RateOn(level, mpi) / sharing);
  return costs;
}

}  // namespace

Protocol ProtocolOfMessage(const LibraryModel& library, uint64_t bytes) {
  return library.version >= nccl::kFirstWithLLToPeer && bytes <= nccl::kMostLLToPeer ? Protocol::kLL
                                                                                     : Protocol::kSimple;
}

int ChannelsOfMessage(const LibraryModel& library, uint64_t bytes, int ranks, int nodes) {
  const unsigned all = std::bit_ceil(static_cast<unsigned>(std::max(1, library.channels)));
  const uint64_t most = nodes > 1 ? kMostOfChannelOverNodes : kMostOfChannel;
  // The first number is so small that each rank of the group could have as many channels to every other rank.
  unsigned channels = all;
  while (channels > 1 && uint64_t{channels} * static_cast<unsigned>(ranks) > all) channels /= 2;
  while (channels < all && bytes > channels * most) channels *= 2;
  return static_cast<int>(channels);
}

MessageCosts CostsOfMessage(const LibraryModel& library, const MachineView& machine, int src, int dst,
                            uint64_t bytes, const MessageSetting& setting, std::optional<Protocol> protocol) {
  const auto level = static_cast<size_t>(machine.Level(src, dst));
  const double sharing = std::max(1.0, setting.on_link / library.levels[level].ports);
  const auto data = static_cast<double>(bytes);
  if (library.mpi != nullptr)
    return OfHosts(library.levels[level], *library.mpi, data, setting.peers, sharing);
  MessageCosts costs;
  const GroupShape pair = ShapeOf(machine, &library, {std::min(src, dst), std::max(src, dst)});
  const Rates rates(library, pair, kPlan);
  const Protocol p = protocol.value_or(ProtocolOfMessage(library, bytes));
  costs.protocol = p;
  costs.begin = Time::FromNanos(BeginUs(rates, p, data, setting) * 1e3);
  costs.latency = Time::FromNanos(LatencyUs(rates, p, data, level) * 1e3);
  double rate = LinkRate(rates, p, data, level, setting) / sharing;
  if (p == Protocol::kSimple) {
    costs.channels = ChannelsOfMessage(library, bytes, setting.ranks, setting.nodes);
    if (library.levels[level].link == LibraryLink::kNvlink)
      rate = std::min(rate, costs.channels * kChannelGigabytes);
  }
  costs.limit = LimitOf(rate);
  return costs;
}

}  // namespace chakra
