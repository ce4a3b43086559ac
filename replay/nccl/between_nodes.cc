#include "replay/nccl/between_nodes.h"

#include <algorithm>
#include <cmath>

namespace chakra::nccl {
namespace {

// Each array is by protocol: LL, LL128, Simple.
constexpr double kDataShare[kProtocols] = {0.5, 120.0 / 128, 1};

// Additional time of a ring's step of large chunks. On MareNostrum 5, Simple takes 24 us with the steps
// inside a node, from 128 KiB a step on, where LL and LL128 are far from their constants of 2.7 and 4 us.
constexpr double kRingLargeUs[kProtocols] = {4.5, 20, 8};
constexpr double kRingLargeBytes = 65536;

// The data of a channel that is under way in a step of a tree: a share of the call's bytes, up to a maximum
// in bytes. A step of 8 MiB takes 55 us on MareNostrum 5, of 16 MiB 130 us on Alps.
constexpr double kTreeShareUnderWay[kProtocols] = {0.5, 0.9, 0.34};
constexpr double kTreeBytesUnderWay[kProtocols] = {55000, 540000, 600000};
// On two nodes of 8 H100 with InfiniBand, a call takes this much longer than its bytes: 118 us at 16 MiB, 135
// at 32, 198 at 64, 210 from 128 MiB on.
constexpr double kNvlsShareUnderWay = 1.2;
constexpr double kNvlsBytesUnderWay = 3700000;  // of each member
// The number of messages that a full pipeline has under way one after another, each with the transport's own
// latency. At 64 MiB on two nodes, TCPXO takes 0.9 ms more than the bytes do, EFA 0.35 ms, InfiniBand 0.2 ms.
constexpr double kMessagesUnderWay = 3.5;

// The bytes that fill the pipeline of an exchange: this share of the bytes that a member sends to others,
// counted up to this maximum.
constexpr double kExchangeFillBytes = 2.5e6;
constexpr double kExchangeFillShare = 0.35;

// The minimum size of a channel's messages, in bytes, if a call uses all channels.
constexpr double kLeastMessage = 4096;
constexpr double kMostTreeMessage[kProtocols] = {65536, 131072, 131072};

}  // namespace

double DataShare(Protocol p) { return kDataShare[static_cast<int>(p)]; }

double CarriedByTree(int nodes) { return nodes <= 2 ? 1 : nodes == 3 ? 1.5 : 2; }

double RingStepUs(const Transport& transport, Protocol p, double bytes, int channels) {
  const double used = std::clamp(bytes / kLeastMessage, 1.0, static_cast<double>(channels));
  return transport.LargeUs(bytes / used / DataShare(p)) +
         kRingLargeUs[static_cast<int>(p)] * RiseTo(kRingLargeBytes, bytes);
}

double TreeStepUs(const Transport& transport, Protocol p, double bytes, int channels, double node_rate) {
  const auto i = static_cast<size_t>(p);
  const double used = std::clamp(bytes * DataShare(p) / kLeastMessage, 1.0, static_cast<double>(channels));
  const double message = std::min(bytes / used, kMostTreeMessage[i]) / DataShare(p);
  const double most = kTreeBytesUnderWay[i] * channels;
  const double under_way = std::min(bytes * kTreeShareUnderWay[i], most) / DataShare(p);
  return transport.LargeUs(message) + under_way / (node_rate * 1e3) +
         kMessagesUnderWay * transport.message_us * std::min(1.0, under_way / most);
}

double NvlsTreeStepUs(const Transport& transport, double bytes, int channels, int per_node, double rate) {
  const double parts = static_cast<double>(channels) * per_node;
  const double most = kNvlsBytesUnderWay * per_node;
  const double under_way = std::min(bytes * kNvlsShareUnderWay, most);
  return transport.LargeUs(std::min(bytes / parts, 131072.0)) + under_way / (rate * 1e3) +
         kMessagesUnderWay * transport.message_us * under_way / most;
}

double ExchangeFillUs(double bytes, double card_rate) {
  return kExchangeFillShare * (std::min(bytes, kExchangeFillBytes) / (card_rate * 1e3));
}

double RingBeginUs(int per_node) { return per_node > 1 ? 1.7 * per_node : 0; }
double RingShare(Protocol p) { return p == Protocol::kLL ? 0.36 : 1; }
double TreeShare(Protocol p) { return p == Protocol::kLL128 ? 1.25 : 1; }

}  // namespace chakra::nccl
