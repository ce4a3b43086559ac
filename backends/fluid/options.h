// Options of `fluid`, and of `mixed` for its fluid flows.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/fabric_options.h"
#include "trace/base/units.h"

namespace chakra {

// How a class of flows shares links with the others.
struct ServiceClass {
  double weight = 1;  // > 0: share among flows of the same priority
  int priority = 0;   // a higher priority takes its bandwidth first
};

struct FlowOptions {
  static constexpr OptionSet kSet = {"start-up, efficiency and classes of flows", "are"};
  bool asked() const {
    return startup != Time::Zero() || efficiency != 1 || tolerance != 0 || !classes.empty();
  }

  Time startup;           // time before a flow takes its links
  double efficiency = 1;  // share of each bandwidth that flows can use, in (0, 1]
  // For solutions with clocks (fluid.h): the bandwidth of ended flows is given to others late, by at most
  // this share, in [0, 0.1], of the time since a flow was last added. 0: at once.
  double tolerance = 0;
  std::vector<ServiceClass> classes;  // by Flow::service_class; further classes have the defaults

  ServiceClass ClassOf(int service_class) const {
    const auto c = static_cast<size_t>(service_class);
    return service_class >= 0 && c < classes.size() ? classes[c] : ServiceClass();
  }
};

// Errors: a value out of range; the error names `fabric`.
absl::Status CheckFlowOptions(absl::string_view fabric, const FlowOptions& options);

}  // namespace chakra
