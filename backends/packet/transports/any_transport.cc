#include "backends/packet/transports/any_transport.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
#include "trace/base/spelling.h"

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
  auto spec = ParseNetworkSpec(text);
  if (!spec.ok()) return spec.status();
  std::vector<std::string> names;
  for (const TransportKind& k : TransportKinds()) names.emplace_back(k.name);
  absl::StatusOr<TransportConfig> found = absl::InvalidArgumentError(
      absl::StrCat("there is no transport \"", spec->name, "\"", SuggestName(spec->name, names)));
  ForEach(Transports(), [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    if (T::Kind().name != spec->name) return;
    auto parameters = Parameters::Make(*spec, T::Kind().parameters);
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

TransportState BeginTransport(const TransportConfig& config, const PathFacts& path, Control* control) {
  TransportState state;
  ForEach(Transports(), [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    if (const auto* c = std::get_if<typename T::Config>(&config)) state.emplace<T>(*c, path, control);
  });
  return state;
}

}  // namespace chakra::packet
