#include "backends/transports/transports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trace/base/embedded.h"

namespace chakra {

namespace transports {
absl::Span<const EmbeddedFile> Embedded();
}  // namespace transports

std::vector<std::string> TransportNames() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : transports::Embedded())
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  std::sort(names.begin(), names.end());
  return names;
}

absl::string_view TransportText(absl::string_view name) {
  return FindEmbedded(transports::Embedded(), absl::StrCat(name, ".txtpb"));
}

}  // namespace chakra
