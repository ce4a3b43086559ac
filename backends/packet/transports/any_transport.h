// The transports by name. To add one: its file here, and its class in the list.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/packet/transports/dcqcn.h"
#include "backends/packet/transports/dctcp.h"
#include "backends/packet/transports/fixed_window.h"
#include "backends/packet/transports/hpcc.h"
#include "backends/packet/transports/nscc.h"
#include "backends/packet/transports/swift.h"
#include "backends/packet/transports/timely.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

template <typename... T>
struct TransportList {
  using Configs = std::variant<typename T::Config...>;
  using States = std::variant<std::monostate, T...>;
};

using Transports = TransportList<FixedWindow, Dcqcn, Dctcp, Hpcc, Nscc, Swift, Timely>;
using TransportConfig = Transports::Configs;
using TransportState = Transports::States;

std::vector<TransportKind> TransportKinds();
const TransportKind& KindOf(const TransportConfig& config);
// "dcqcn" or "dcqcn:g=0.01". Errors: an unknown name, with the nearest; a bad parameter.
absl::StatusOr<TransportConfig> ParseTransport(absl::string_view text);

// The state of a new connection.
TransportState BeginTransport(const TransportConfig& config, const PathFacts& path, Control* control);

// f(transport) for the one that is there. A chain of comparisons that a compiler
// turns into a jump: no call through a table.
template <size_t I = 1, typename F>
inline decltype(auto) WithTransport(TransportState* state, F&& f) {
  if constexpr (I + 1 < std::variant_size_v<TransportState>) {
    if (state->index() != I) return WithTransport<I + 1>(state, std::forward<F>(f));
  }
  return f(*std::get_if<I>(state));
}

}  // namespace chakra::packet
