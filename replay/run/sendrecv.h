// Sends and receives that begin together, as in nccl-tests' sendrecv_perf.
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

// The pattern of senders and receivers.
struct Peers {
  enum class Kind : uint8_t { kNext, kPair, kExchange, kIncast, kOutcast };
  Kind kind = Kind::kNext;
  int distance = 1;        // kNext: distance from a rank to the rank that it sends to
  int from = -1, to = -1;  // of kPair, and of kExchange with one pair; < 0: none

  // The shortest text from which ParsePeers() reads these peers: "next", "next:8", "pair:3,12".
  std::string Text() const;
};

// Reads "next", "next:DISTANCE", "pair:FROM,TO", "exchange", "exchange:A,B", "incast" or "outcast". Errors
// quote the text and say what was expected.
absl::StatusOr<Peers> ParsePeers(absl::string_view text);

struct SentMessage {
  int src, dst;  // ranks; they differ
};

// The messages between `ranks` ranks, in the order of their senders; none for one rank. `root`: of kIncast
// and kOutcast. Errors name --peers: ranks that do not exist, a message of a rank to itself, halves of an odd
// number.
absl::StatusOr<std::vector<SentMessage>> MessagesOf(const Peers& peers, int ranks, int root);

// The maximum number of `messages` that one rank sends, or that one rank receives.
int MostOfOneRank(const std::vector<SentMessage>& messages, int ranks);

struct SendRecvCall {
  std::vector<SentMessage> messages;
  uint64_t bytes = 0;                // of each
  int ranks = 0;                     // of the group
  std::optional<Protocol> protocol;  // overrides the library's choice; kLL or kSimple
};

struct PricedMessages {
  Time time;                         // from the common start until the last message has been received
  std::optional<Protocol> protocol;  // only with a library
  int channels = 1;
  std::string why;  // how the library runs the message that ends last; empty without a library
};

// Runs the messages on `machine`, which must be idle. With a library in `costs`, the messages have the
// library's costs (message_costs.h); otherwise they are bare flows. The fabric's clock continues from `now`,
// which becomes the end of the messages. `log` may be null; otherwise it is the log of `machine`. Errors: an
// end past the longest simulated time, 106 days; no route between two ranks.
absl::StatusOr<PricedMessages> PriceMessages(Machine& machine, const CollectiveCosts& costs,
                                             const SendRecvCall& call, Time* now, FlowLog* log = nullptr);

}  // namespace chakra
