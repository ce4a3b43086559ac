// The transports by name. To add one: its file in this folder, and its class in the list.
#pragma once

#include <cstdint>
#include <optional>
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
  using States = std::variant<std::vector<std::optional<T>>...>;
};

using Transports = TransportList<FixedWindow, Dcqcn, Dctcp, Hpcc, Nscc, Swift, Timely>;
using TransportConfig = Transports::Configs;

std::vector<TransportKind> TransportKinds();
const TransportKind& KindOf(const TransportConfig& config);
// Reads "dcqcn" or "dcqcn:g=0.01". Errors: an unknown name, with the nearest; a bad parameter.
absl::StatusOr<TransportConfig> ParseTransport(absl::string_view text);

// The states of all connections, by number. All are of one transport, and each needs only the memory of that
// transport's state.
class TransportStates {
 public:
  // For the transport of `config`.
  explicit TransportStates(const TransportConfig& config);

  // State `i` begins again from its initial values.
  void Begin(uint32_t i, const PathFacts& path, Control* control);
  // f(transport) for state `i`, which must have begun. Compilers turn this chain of comparisons into a jump,
  // without a call through a table.
  template <size_t I = 0, typename F>
  decltype(auto) With(uint32_t i, F&& f) {
    if constexpr (I + 1 < std::variant_size_v<Transports::States>) {
      if (states_.index() != I) return With<I + 1>(i, std::forward<F>(f));
    }
    return f(*(*std::get_if<I>(&states_))[i]);
  }
  uint64_t MemoryBytes() const;

 private:
  TransportConfig config_;
  Transports::States states_;
};

}  // namespace chakra::packet
