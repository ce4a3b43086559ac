#include "backends/fluid/options.h"

#include "absl/strings/str_cat.h"
#include "backends/registry.h"
#include "backends/topology/topology.h"

namespace chakra {

absl::Status CheckFlowOptions(absl::string_view fabric, const FlowOptions& options) {
  const auto bad = [&](absl::string_view what) { return RefusedByFabric(fabric, what); };
  if (!(options.efficiency > 0 && options.efficiency <= 1)) {
    return bad(absl::StrCat("efficiency ", options.efficiency, "; expected > 0 and <= 1"));
  }
  if (options.startup < Time::Zero() || options.startup > Topology::kMaxLatency) {
    return bad(absl::StrCat("start-up ", options.startup.picos(), " ps; expected 0 to 1 s"));
  }
  if (!(options.tolerance >= 0 && options.tolerance <= 0.1)) {
    return bad(absl::StrCat("tolerance ", options.tolerance, "; expected 0 to 0.1"));
  }
  for (const ServiceClass& c : options.classes) {
    if (!(c.weight > 0 && c.weight < 1e12)) {
      return bad(absl::StrCat("a class of weight ", c.weight, "; expected > 0 and < 1e12"));
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra
