// Parses faults in the form of the command line.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/cluster/faults.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/settings.h"

namespace chakra {
namespace {

using proto::LinkFault;

// Checks that the fields which a kind requires are set, and those which it excludes are not.
absl::Status CheckKind(const std::string& kind, const LinkFault& f) {
  const char* wrong = nullptr;
  if (kind == "slow" && !f.has_bandwidth()) {
    wrong = "no bandwidth; expected the share that is left, as bandwidth=0.5";
  } else if (kind == "lossy" && !f.has_loss()) {
    wrong = "no loss; expected the share of packets that are lost, as loss=0.01";
  } else if (kind == "down" && (f.has_bandwidth() || f.has_loss())) {
    wrong = "bandwidth and loss are for slow and lossy";
  }
  return wrong == nullptr ? absl::OkStatus() : absl::InvalidArgumentError(wrong);
}

absl::Status ParseFault(const std::string& text, LinkFault* f) {
  ASSIGN_OR_RETURN(const auto spec, ParseShortForm(text));
  const std::vector<std::string> kinds = {"down", "slow", "lossy"};
  if (std::find(kinds.begin(), kinds.end(), spec.name) == kinds.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no kind \"", spec.name, "\"", SuggestName(spec.name, kinds)));
  }
  RETURN_IF_ERROR(ReadSettings(spec, f));
  return CheckKind(spec.name, *f);
}

}  // namespace

absl::Status AddFault(const std::string& text, proto::Topology* topology) {
  LinkFault fault;
  // By default the fault is in the last dimension, which connects the nodes.
  fault.set_dimension(topology->dimension_size() - 1);
  fault.set_label(absl::StrCat("--fault \"", text, "\""));
  if (absl::Status s = ParseFault(text, &fault); !s.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(fault.label(), ": ", s.message()));
  }
  *topology->add_fault() = fault;
  return absl::OkStatus();
}

}  // namespace chakra
