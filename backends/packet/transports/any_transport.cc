#include "backends/packet/transports/any_transport.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {
namespace {

template <typename F, typename... T>
void ForEach(TransportList<T...>, F f) {
  (f(static_cast<T*>(nullptr)), ...);
}

}  // namespace

std::vector<TransportKind> TransportKinds() {
  std::vector<TransportKind> kinds;
  ForEach(Transports(), [&](auto* t) { kinds.push_back(std::remove_pointer_t<decltype(t)>::Kind()); });
  return kinds;
}

const TransportKind& KindOf(const TransportConfig& config) {
  static const auto* const kKinds = new std::vector<TransportKind>(TransportKinds());
  return (*kKinds)[config.index()];
}

absl::StatusOr<TransportConfig> ParseTransport(absl::string_view text) {
  ASSIGN_OR_RETURN(auto spec, ParseNetworkSpec(text));
  std::vector<std::string> names;
  for (const TransportKind& k : TransportKinds()) names.emplace_back(k.name);
  absl::StatusOr<TransportConfig> found = absl::InvalidArgumentError(
      absl::StrCat("there is no transport \"", spec.name, "\"", SuggestName(spec.name, names)));
  ForEach(Transports(), [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    if (T::Kind().name != spec.name) return;
    auto parameters = Parameters::Make(spec, T::Kind().parameters, {}, spec.name);
    if (!parameters.ok()) {
      found = parameters.status();
      return;
    }
    auto config = T::Read(*parameters);
    if (config.ok()) {
      found = TransportConfig(*config);
    } else {
      found = config.status();
    }
  });
  return found;
}

TransportStates::TransportStates(const TransportConfig& config) : config_(config) {
  ForEach(Transports(), [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    if (std::holds_alternative<typename T::Config>(config_)) states_.emplace<std::vector<std::optional<T>>>();
  });
}

void TransportStates::Begin(uint32_t i, const PathFacts& path, Control* control) {
  ForEach(Transports(), [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    auto* states = std::get_if<std::vector<std::optional<T>>>(&states_);
    if (states == nullptr) return;
    if (states->size() <= i) states->resize(i + 1);
    (*states)[i].emplace(std::get<typename T::Config>(config_), path, control);
  });
}

uint64_t TransportStates::MemoryBytes() const {
  return std::visit([](const auto& states) { return states.capacity() * sizeof(states[0]); }, states_);
}

}  // namespace chakra::packet
