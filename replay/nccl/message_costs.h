// The costs of one message of the library other than those of the wire: a send and its matching receive
// (ncclSend, ncclRecv).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>

#include "backends/machine.h"
#include "replay/nccl/library.h"
#include "trace/base/units.h"

namespace chakra {

// What happens at the same time as a message.
struct MessageSetting {
  int ranks = 2;       // ranks of the group
  int nodes = 1;       // nodes of these ranks
  int busy_nodes = 1;  // nodes of those ranks that send or receive now
  // `peers`: the number of messages of the same kind (inside the node, or over the network) that one of the
  // two ends sends, or that it receives. `on_link`: the number of these that share a link of that end with
  // this message.
  int peers = 1;
  int on_link = 1;
  auto operator<=>(const MessageSetting&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const MessageSetting& s) {
    return H::combine(std::move(h), s.ranks, s.nodes, s.busy_nodes, s.peers, s.on_link);
  }
};

struct MessageCosts {
  std::optional<Protocol> protocol;  // nullopt: MPI, which has none
  int channels = 1;
  Time begin;       // before the message starts
  Time latency;     // added to it: Flow::delay
  Bandwidth limit;  // maximum rate that the library reaches, in bytes of data: Flow::limit
};

// The protocol that the library's release uses for a message of `bytes`.
Protocol ProtocolOfMessage(const LibraryModel& library, uint64_t bytes);

// The number of channels that serve a message of `bytes` to one peer inside a node, in a group of `ranks` on
// `nodes`.
int ChannelsOfMessage(const LibraryModel& library, uint64_t bytes, int ranks, int nodes);

// The costs of a message of `bytes` (> 0) from rank `src` to another rank, `dst`. `protocol` (kLL or kSimple)
// overrides ProtocolOfMessage(); it must not be set for MPI.
MessageCosts CostsOfMessage(const LibraryModel& library, const MachineView& machine, int src, int dst,
                            uint64_t bytes, const MessageSetting& setting,
                            std::optional<Protocol> protocol = std::nullopt);

}  // namespace chakra
