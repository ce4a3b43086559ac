// What one message of the library costs beside the wire: a send and the receive that meets it (ncclSend,
// ncclRecv).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>

#include "backends/machine.h"
#include "replay/nccl/library.h"
#include "trace/base/units.h"

namespace chakra {

// What begins together with a message.
struct MessageSetting {
  int ranks = 2;       // of the communicator
  int nodes = 1;       // that these are on
  int busy_nodes = 1;  // that those ranks are on that send or receive now
  // Messages that one of the two ends sends, or that it receives, of the same kind (inside the node, over the
  // network); and those of them that share a link of that end with this message.
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
  Bandwidth limit;  // the most that the library makes, in bytes of data: Flow::limit
};

// The protocol that the library's release takes for a message of `bytes`.
Protocol ProtocolOfMessage(const LibraryModel& library, uint64_t bytes);

// The channels that serve a message of `bytes` to one peer inside a node, in a communicator of `ranks` on
// `nodes`.
int ChannelsOfMessage(const LibraryModel& library, uint64_t bytes, int ranks, int nodes);

// The costs of a message of `bytes` (> 0) from rank `src` to another, `dst`. `protocol`: in place of
// ProtocolOfMessage()'s; kLL or kSimple; not of MPI.
MessageCosts CostsOfMessage(const LibraryModel& library, const MachineView& machine, int src, int dst,
                            uint64_t bytes, const MessageSetting& setting,
                            std::optional<Protocol> protocol = std::nullopt);

}  // namespace chakra
