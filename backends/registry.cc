#include "backends/registry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/analytical/analytical.h"
#include "backends/analytical/fifo.h"

namespace chakra {
namespace {

using Maker = std::unique_ptr<Fabric> (*)(const Topology&, const FabricOptions&);

template <typename T>
std::unique_ptr<Fabric> New(const Topology& topology, const FabricOptions& options) {
  return std::make_unique<T>(topology, options);
}

struct Entry {
  const char* name;
  Maker make;
};

constexpr Entry kFabrics[] = {
    {"analytical", New<AnalyticalFabric>},
    {"analytical-fifo", New<FifoFabric>},
};

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(absl::string_view name, const Topology& topology,
                                                   const FabricOptions& options) {
  for (const Entry& e : kFabrics) {
    if (name == e.name) return e.make(topology, options);
  }
  const Entry* nearest =
      std::min_element(std::begin(kFabrics), std::end(kFabrics), [&](const Entry& a, const Entry& b) {
        return EditDistance(name.substr(0, 64), a.name) < EditDistance(name.substr(0, 64), b.name);
      });
  return absl::InvalidArgumentError(absl::StrCat("unknown fabric \"", name, "\"; did you mean \"",
                                                 nearest->name,
                                                 "\"? Known: ", absl::StrJoin(FabricNames(), ", ")));
}

std::vector<std::string> FabricNames() {
  std::vector<std::string> names;
  for (const Entry& e : kFabrics) names.emplace_back(e.name);
  return names;
}

}  // namespace chakra
