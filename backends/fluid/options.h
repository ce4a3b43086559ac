// What `fluid` may be asked for, and `mixed` for its fluid flows.
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
  int priority = 0;   // higher ones take what they can first
};

struct FlowOptions {
  static constexpr OptionSet kSet = {"start-up, efficiency and classes of flows", "are"};
  bool asked() const {
    return startup != Time::Zero() || efficiency != 1 || tolerance != 0 || !classes.empty();
  }

  Time startup;                       // before a flow takes its links
  double efficiency = 1;              // share of each bandwidth that flows get, in (0, 1]
  // Where each end changes the rates of hundreds: what ended flows leave is given to others late, by at most
  // this share, in [0, 0.1], of the time since a flow last came. 0: at once.
  double tolerance = 0;
  std::vector<ServiceClass> classes;  // by Flow::service_class; a class that is not there has the defaults

  ServiceClass ClassOf(int service_class) const {
    const auto c = static_cast<size_t>(service_class);
    return service_class >= 0 && c < classes.size() ? classes[c] : ServiceClass();
  }
};

// Errors: what is out of range, in the name of `fabric`.
absl::Status CheckFlowOptions(absl::string_view fabric, const FlowOptions& options);

}  // namespace chakra
