#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/topology/builders/grid.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::StatusOr<std::vector<Join>> JoinsOf(const Parameters& p, size_t dims) {
  if (p.Text("wrap") == "all") return std::vector<Join>(dims, Join::kRing);
  std::vector<Join> joins;
  bool right = true;
  for (const absl::string_view flag : absl::StrSplit(p.Text("wrap"), 'x')) {
    right = right && (flag == "0" || flag == "1");
    joins.push_back(flag == "1" ? Join::kRing : Join::kLine);
  }
  if (!right || joins.size() != dims) {
    return p.Bad("wrap", absl::StrCat("all, or 0 or 1 for each of ", dims, " dimensions, as ",
                                      absl::StrJoin(std::vector<int>(dims, 1), "x")));
  }
  return joins;
}

absl::Status CheckTwist(const Parameters& p, const Grid& grid) {
  if (p.Text("wrap") != "all") return p.Bad("wrap", "all with twist=yes");
  if (p.Given("order") && !grid.any_order) return p.Bad("order", "any with twist=yes, or nothing");
  const int k = *std::min_element(grid.shape.begin(), grid.shape.end());
  const auto twice = std::count(grid.shape.begin(), grid.shape.end(), 2 * k);
  const auto once = std::count(grid.shape.begin(), grid.shape.end(), k);
  const size_t dims = grid.shape.size();
  if (k >= 2 && once > 0 && twice > 0 && static_cast<size_t>(once + twice) == dims && dims <= 3) {
    return absl::OkStatus();
  }
  const int near = std::max(k, 2);
  return absl::InvalidArgumentError(
      absl::StrCat(p.network(), ": twist with shape ", absl::StrJoin(grid.shape, "x"),
                   "; expected sizes k and 2k, k >= 2, in 2 or 3 dimensions, as ", near, "x", 2 * near, ", ",
                   near, "x", near, "x", 2 * near, " or ", near, "x", 2 * near, "x", 2 * near));
}

absl::StatusOr<Network> BuildTorus(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(auto grid, GridOf(p, devices));
  ASSIGN_OR_RETURN(grid.join, JoinsOf(p, grid.shape.size()));
  ASSIGN_OR_RETURN(const auto twist, p.Flag("twist"));
  grid.twisted = twist;
  if (twist) {
    RETURN_IF_ERROR(CheckTwist(p, grid));
  }
  auto network = BuildGrid(p, grid, /*any_rate=*/false);
  if (network.ok() && twist) network->note += ", twisted";
  return network;
}

}  // namespace

NetworkKind TorusNetwork() {
  return {
      "torus", "A grid whose dimensions close to rings (one link where the size is 2); twisted too",
      "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, ch. 5; twisted: "
      "Camara et al., IEEE TPDS 2010",
      GridParameters("3", {{"wrap", "all", "dimensions that close to rings, as 1x1x0; the others are lines"},
                           {"twist", "no",
                            "yes: k x 2k, k x k x 2k or k x 2k x 2k, in which the wrap of a dimension of "
                            "k also moves by k along each of 2k; routed by all shortest paths"}}),
      BuildTorus};
}

}  // namespace chakra
