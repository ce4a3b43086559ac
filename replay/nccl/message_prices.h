// What the messages of a run cost beside the wire, each kind of them worked out once.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "backends/machine.h"
#include "replay/nccl/message_costs.h"

namespace chakra {

// Messages of one level, size and setting cost the same, but where devices are wired. Not thread-safe.
class MessagePrices {
 public:
  // `machine` and `library` must outlive the object. A null library costs nothing.
  MessagePrices(const MachineView& machine, const LibraryModel* library)
      : machine_(machine), library_(library) {}

  // Of a message of `bytes` from device `src` to `dst`; null where the library adds nothing: there is none,
  // the message has no bytes or stays where it is. Valid until the next call.
  const MessageCosts* Of(int src, int dst, uint64_t bytes, const MessageSetting& setting,
                         std::optional<Protocol> protocol = std::nullopt);
  // The same of a message that begins alone, in a communicator of its two ends.
  const MessageCosts* Of(int src, int dst, uint64_t bytes);

 private:
  using Key = std::tuple<int, int, int, uint64_t, MessageSetting, std::optional<Protocol>>;

  const MachineView& machine_;
  const LibraryModel* library_;
  absl::flat_hash_map<Key, MessageCosts> known_;
};

}  // namespace chakra
