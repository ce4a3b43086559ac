// Sends and receives that begin together, as nccl-tests' sendrecv_perf has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/machine.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/library.h"

namespace chakra {

class FlowLog;  // replay/engine/flow_log.h

inline constexpr char kSendRecv[] = "sendrecv";

// Who sends to whom.
struct Peers {
  enum class Kind : uint8_t { kNext, kPair, kExchange, kIncast, kOutcast };
  Kind kind = Kind::kNext;
  int distance = 1;        // kNext: from a rank to the one that it sends to
  int from = -1, to = -1;  // kPair, and kExchange of one pair; < 0: none

  // The shortest text that ParsePeers() reads so: "next", "next:8", "pair:3,12".
  std::string Text() const;
};

// Reads "next", "next:DISTANCE", "pair:FROM,TO", "exchange", "exchange:A,B", "incast" or "outcast". Errors
// quote the text and say what was expected.
absl::StatusOr<Peers> ParsePeers(absl::string_view text);

struct SentMessage {
  int src, dst;  // ranks, different ones
};

// The messages between `ranks` ranks, in the order of their senders; none where there is one rank. `root`: of
// kIncast and kOutcast. Errors name --peers: ranks that are not there, a message of a rank to itself, halves
// of an odd number.
absl::StatusOr<std::vector<SentMessage>> MessagesOf(const Peers& peers, int ranks, int root);

// The most of `messages` that one rank sends, or that one receives.
int MostOfOneRank(const std::vector<SentMessage>& messages, int ranks);

struct SendRecvCall {
  std::vector<SentMessage> messages;
  uint64_t bytes = 0;                // of each
  int ranks = 0;                     // of the communicator
  std::optional<Protocol> protocol;  // in place of the library's choice; kLL or kSimple
};

struct PricedMessages {
  Time time;                         // from the common begin until the last has been received
  std::optional<Protocol> protocol;  // with a library
  int channels = 1;
  std::string why;  // what the library takes for the message that ends last; without a library empty
};

// Runs the messages on `machine`, which must be idle: `costs` has a library, whose costs they have
// (message_costs.h), or they are bare flows. The fabric's clock goes on from `now`; their end is added to it.
// `log`, where given, is of `machine`. Errors: an end past the longest time, 106 days; no way between two
// ranks.
absl::StatusOr<PricedMessages> PriceMessages(Machine& machine, const CollectiveCosts& costs,
                                             const SendRecvCall& call, Time* now, FlowLog* log = nullptr);

}  // namespace chakra
