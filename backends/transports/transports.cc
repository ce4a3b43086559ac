#include "backends/transports/transports.h"

#include "absl/strings/str_cat.h"
#include "trace/base/embedded.h"

namespace chakra {

namespace transports {
absl::Span<const EmbeddedFile> Embedded();
}  // namespace transports

std::vector<std::string> TransportNames() { return EmbeddedNames(transports::Embedded()); }

absl::string_view TransportText(absl::string_view name) {
  return FindEmbedded(transports::Embedded(), absl::StrCat(name, ".txtpb"));
}

}  // namespace chakra
