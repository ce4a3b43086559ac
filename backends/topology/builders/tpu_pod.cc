#include <algorithm>

#include "absl/strings/str_join.h"
#include "backends/topology/builders/common.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// Rates of a link, per direction; pods and dimensions: Google Cloud TPU pages. The rate of v4 is derived from
// its bisection (24 TB/s over 512 links). Wraps (jax-ml/scaling-book, tpus.md): multiples of a cube of 4
// devices a side where optical switches join the cubes; on the others, the whole axis of 16.
struct TpuGeneration {
  const char* name;
  std::vector<int> pod;
  int most;      // devices of a pod
  int wraps_at;  // a dimension wraps around if its size is a multiple of this
  const char* link;
};

const std::vector<TpuGeneration>& Generations() {
  static const auto* const kAll = new std::vector<TpuGeneration>{
      {"v4", {16, 16, 16}, 4096, 4, "46.9GB/s"}, {"v5e", {16, 16}, 256, 16, "50GB/s"},
      {"v5p", {16, 20, 28}, 8960, 4, "100GB/s"}, {"v6e", {16, 16}, 256, 16, "100GB/s"},
      {"v7x", {16, 24, 24}, 9216, 4, "100GB/s"},
  };
  return *kAll;
}

// Whether a slice of this shape exists: a part of a cube, or whole cubes.
bool Fits(const TpuGeneration& g, const std::vector<int>& shape) {
  const auto all = [&](auto holds) { return std::all_of(shape.begin(), shape.end(), holds); };
  if (g.wraps_at > 4) return all([&](int size) { return size <= g.wraps_at; });
  return all([](int size) { return size <= 4; }) || all([](int size) { return size % 4 == 0; });
}

// The slice of `chips` devices whose longest side is shortest; empty: none.
std::vector<int> SliceOf(const TpuGeneration& g, int chips) {
  std::vector<int> best;
  const int depth = g.pod.size() == 3 ? chips : 1;
  for (int a = 1; a <= depth; ++a) {
    const int rest = chips / a;
    for (int b = a; chips % a == 0 && b <= rest / b; ++b) {
      std::vector<int> shape = {b, rest / b};
      if (g.pod.size() == 3) shape.insert(shape.begin(), a);
      if (rest % b == 0 && Fits(g, shape) && (best.empty() || shape.back() < best.back())) best = shape;
    }
  }
  return best;
}

absl::StatusOr<std::vector<int>> DefaultShape(const Parameters& p, const TpuGeneration& g, int devices) {
  if (devices == 0) return g.pod;
  if (devices > g.most) {
    return absl::InvalidArgumentError(absl::StrCat(p.network(), ": ", devices, " devices, but a ", g.name,
                                                   " pod has ", g.most, "; expected at most that"));
  }
  auto shape = SliceOf(g, devices);
  if (!shape.empty()) return shape;
  int near = devices + 1;
  while (near < g.most && SliceOf(g, near).empty()) ++near;
  return absl::InvalidArgumentError(
      absl::StrCat(p.network(), ": no ", g.name, " slice has ", devices, " chips; the next is ", near));
}

absl::StatusOr<std::vector<int>> PodShape(const Parameters& p, const TpuGeneration& g, int devices) {
  if (p.Empty("shape")) return DefaultShape(p, g, devices);
  const int dims = static_cast<int>(g.pod.size());
  ASSIGN_OR_RETURN(auto shape, p.Sizes("shape", 1, dims, dims));
  int64_t product = 1;
  for (const int size : shape) product = std::min<int64_t>(product * size, int64_t{1} << 40);
  if (product > g.most || !Fits(g, shape)) {
    return p.Bad("shape", absl::StrCat("at most ", g.most, " chips, sizes ",
                                       g.wraps_at == 4 ? "all up to 4 or all multiples of 4" : "up to 16",
                                       ", as ", absl::StrJoin(g.pod, "x"), ", a ", g.name, " pod"));
  }
  return shape;
}

absl::StatusOr<Network> BuildTpuPod(const Parameters& p, int devices) {
  std::vector<std::string> names;
  for (const TpuGeneration& g : Generations()) names.emplace_back(g.name);
  ASSIGN_OR_RETURN(const auto name, p.Choice("generation", names));
  const TpuGeneration& g = *std::find_if(Generations().begin(), Generations().end(),
                                         [&](const TpuGeneration& x) { return name == x.name; });
  ASSIGN_OR_RETURN(const auto shape, PodShape(p, g, devices));
  ASSIGN_OR_RETURN(const auto twist, p.Flag("twist"));
  std::vector<int> wraps;
  for (const int size : shape) wraps.push_back(size % g.wraps_at == 0 ? 1 : 0);
  const bool all = std::find(wraps.begin(), wraps.end(), 0) == wraps.end();
  if (twist && (name != "v4" || !all)) {
    return p.Bad(
        "twist",
        "no, or generation v4 and a shape k x k x 2k or k x 2k x 2k with k a multiple of 4, as 4x4x8");
  }
  NetworkSpec torus{"torus",
                    {{"shape", absl::StrJoin(shape, "x")},
                     {"wrap", all ? "all" : absl::StrJoin(wraps, "x")},
                     {"twist", twist ? "yes" : "no"},
                     {"link", p.Empty("link") ? g.link : p.Text("link")},
                     {"latency", p.Text("latency")}}};
  auto network = BuildNetwork(torus, devices);
  if (!network.ok()) {
    return absl::Status(network.status().code(), absl::StrCat(p.network(), ": ", network.status().message()));
  }
  network->note =
      absl::StrCat("TPU ", name, ", ", network->note, ", wraps ", all ? "all" : absl::StrJoin(wraps, "x"));
  return network;
}

}  // namespace

NetworkKind TpuPodNetwork() {
  return {"tpu_pod",
          "A slice of a TPU pod: a torus where the machine has wrap links, a mesh elsewhere",
          "Google Cloud TPU documentation; Jouppi et al., ISCA 2023",
          {{"generation", "v4", "v4, v5p or v7x (three dimensions), v5e or v6e (two)"},
           {"shape", "",
            "chips along each dimension, as 4x4x8; default: the most cubic one, or the whole pod. A "
            "dimension closes to a "
            "ring when it is a multiple of 4 (v5e, v6e: 16)"},
           {"twist", "no", "yes: twisted torus, v4 of k x k x 2k or k x 2k x 2k"},
           {"link", "", "rate of a link, each direction; default: 46.9, 100, 100, 50 and 100GB/s"},
           {"latency", "500ns", "latency of a link"}},
          BuildTpuPod,
          /*whole=*/true};
}

}  // namespace chakra
