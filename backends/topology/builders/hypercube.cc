#include <utility>

#include "backends/topology/builders/common.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kMostDims = 20;

// Corrects the lowest bit that differs. A vertex's arcs are in the order of bits.
class ECube : public Guide {
 public:
  explicit ECube(uint32_t dims) : dims_(dims) {}
  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const override {
    if (at != to) arcs->push_back(at * dims_ + static_cast<uint32_t>(__builtin_ctz(at ^ to)));
  }

 private:
  uint32_t dims_;
};

// `dims`, or the number of dimensions for `devices`.
absl::StatusOr<int> DimsOf(const Parameters& p, int devices) {
  if (p.Empty("dims") && devices == 0) return p.Bad("dims", "how many dimensions, 0 to 20");
  int dims = 0;
  while (dims < kMostDims && (int64_t{1} << dims) < devices) ++dims;
  if (!p.Empty("dims")) {
    ASSIGN_OR_RETURN(const auto given, p.Count("dims", 0, kMostDims));
    if (devices != 0 && devices != 1 << given) {
      const int64_t near = int64_t{1} << dims;
      return absl::InvalidArgumentError(
          absl::StrCat(p.network(), ": ", given, " dimensions are ", 1 << given, " devices, but ", devices,
                       " are to be connected; expected ",
                       near == devices ? absl::StrCat("dims=", dims) : absl::StrCat(1 << given, " devices")));
    }
    return given;
  }
  if (devices != 1 << dims) {
    const bool lower = dims > 0 && devices < 1 << dims && devices - (1 << (dims - 1)) < (1 << dims) - devices;
    return absl::InvalidArgumentError(
        absl::StrCat(p.network(), ": ", devices, " devices; expected a power of two, at most ",
                     1 << kMostDims, "; the nearest is ", lower ? 1 << (dims - 1) : 1 << dims));
  }
  return dims;
}

absl::StatusOr<Network> BuildHypercube(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto dims, DimsOf(p, devices));
  ASSIGN_OR_RETURN(const auto link, ClassOf(p, "link", "link", "latency"));
  GraphBuilder b;
  const uint32_t n = uint32_t{1} << dims;
  b.AddVertices("device", VertexKind::kDevice, n, 0, std::vector<int>(static_cast<size_t>(dims), 2));
  b.set_devices_forward(true);
  const uint16_t link_class = b.AddClass(link);
  for (int bit = 0; bit < dims; ++bit) {
    for (uint32_t v = 0; v < n; ++v) {
      if ((v >> bit & 1) == 0) b.AddLink(v, v | uint32_t{1} << bit, link_class);
    }
  }
  return Finish(&b, std::make_shared<ECube>(static_cast<uint32_t>(dims)), absl::StrCat(dims, " dimensions"));
}

}  // namespace

NetworkKind HypercubeNetwork() {
  return {"hypercube",
          "2^n devices, linked where their numbers differ in one bit; routed by the lowest bit first",
          "Sullivan and Bashkow, ISCA 1977",
          {{"dims", "", "n, 0 to 20; default: as the devices need, whose number must be a power of two"},
           {"link", "400Gb/s", "rate of a link, each direction", kCardBandwidth},
           {"latency", "500ns", "latency of a link", kCardLatency}},
          BuildHypercube};
}

}  // namespace chakra
