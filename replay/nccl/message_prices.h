// The costs of the messages of a run other than those of the wire. Each kind of message is computed once.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "backends/machine.h"
#include "replay/nccl/message_costs.h"

namespace chakra {

// Messages of one level, size and setting have the same costs, except where devices are wired. Not
// thread-safe.
class MessagePrices {
 public:
  // `machine` and `library` must outlive the object. A null library has no costs.
  MessagePrices(const MachineView& machine, const LibraryModel* library)
      : machine_(machine), library_(library) {}

  // The costs of a message of `bytes` from device `src` to `dst`. Null if the library adds nothing: there is
  // no library, the message has no bytes, or src and dst are the same. Valid until the next call.
  const MessageCosts* Of(int src, int dst, uint64_t bytes, const MessageSetting& setting,
                         std::optional<Protocol> protocol = std::nullopt);
  // The costs of a message that begins while no other does, in a group of its two ends.
  const MessageCosts* Of(int src, int dst, uint64_t bytes);

 private:
  using Key = std::tuple<int, int, int, uint64_t, MessageSetting, std::optional<Protocol>>;

  const MachineView& machine_;
  const LibraryModel* library_;
  absl::flat_hash_map<Key, MessageCosts> known_;
};

}  // namespace chakra
