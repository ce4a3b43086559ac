#include "trace/import/rocprof/recording.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace chakra::rocprof {

void Recording::Note(absl::string_view kind, absl::string_view detail, uint64_t n) {
  for (Repair& r : repairs) {
    if (r.kind != kind) continue;
    r.count += n;
    return;
  }
  repairs.push_back({std::string(kind), file, 0, n, 0, std::string(detail)});
}

bool IsTime(int64_t ns) { return ns > 0 && ns < int64_t{1} << 61; }

Domain DomainOf(absl::string_view name) {
  while (absl::ConsumePrefix(&name, "_")) {
  }
  if (absl::StartsWith(name, "hip")) return Domain::kHip;
  if (absl::StartsWith(name, "hsa")) return Domain::kHsa;
  if (absl::StartsWith(name, "nccl") || absl::StartsWith(name, "rccl") || absl::StartsWith(name, "mscclLoad"))
    return Domain::kRccl;
  if (absl::StartsWith(name, "roctx")) return Domain::kMarker;
  return Domain::kOther;
}

}  // namespace chakra::rocprof
