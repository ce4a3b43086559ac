#include "replay/economics/act.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/status_macros.h"

namespace chakra::economics {
namespace {

// Tables of act/core/logic: energy and gases by area.
constexpr LogicNode kNodes[] = {{28, 0.90, 0.175, 0.100},  {20, 1.20, 0.190, 0.110}, {14, 1.20, 0.200, 0.125},
                                {10, 1.475, 0.240, 0.150}, {8, 1.52, 0.240, 0.150},  {7, 2.15, 0.350, 0.200},
                                {5, 2.75, 0.430, 0.225},   {3, 3.25, 0.470, 0.275}};

absl::Status Field(const proto::EmbodiedPart& part, const char* field, double value, const char* expected) {
  return absl::InvalidArgumentError(
      absl::StrFormat("part \"%s\": %s is %g; expected %s", part.name(), field, value, expected));
}

}  // namespace

absl::StatusOr<LogicNode> FindLogicNode(double nm) {
  std::string known;
  const LogicNode* nearest = &kNodes[0];
  for (const LogicNode& node : kNodes) {
    if (node.nm == nm) return node;
    if (std::abs(node.nm - nm) < std::abs(nearest->nm - nm)) nearest = &node;
    absl::StrAppend(&known, known.empty() ? "" : ", ", node.nm);
  }
  return absl::NotFoundError(absl::StrFormat("%g; ACT has %s; the nearest is %g", nm, known, nearest->nm));
}

absl::StatusOr<proto::Fab> CheckFab(const proto::Fab& fab) {
  proto::Fab out = fab;
  if (out.grams_per_kwh() == 0) out.set_grams_per_kwh(583);
  if (out.yield() == 0) out.set_yield(0.875);
  if (out.abatement() == 0) out.set_abatement(0.97);
  const auto bad = [](const char* field, double value, const char* expected) {
    return absl::InvalidArgumentError(absl::StrFormat("fab.%s is %g; expected %s", field, value, expected));
  };
  if (!(out.grams_per_kwh() >= 0)) return bad("grams_per_kwh", out.grams_per_kwh(), "at least 0");
  if (!(out.yield() > 0 && out.yield() <= 1)) return bad("yield", out.yield(), "more than 0 and at most 1");
  if (!(out.abatement() >= 0.95 && out.abatement() <= 0.99))
    return bad("abatement", out.abatement(), "0.95 to 0.99");
  return out;
}

absl::StatusOr<double> EmbodiedKg(const proto::EmbodiedPart& part, const proto::Fab& given) {
  ASSIGN_OR_RETURN(const auto fab, CheckFab(given));
  if (part.count() < 0) return Field(part, "count", part.count(), "at least 0");
  if (!(part.area_cm2() >= 0)) return Field(part, "area_cm2", part.area_cm2(), "at least 0");
  if (!(part.gbytes() >= 0)) return Field(part, "gbytes", part.gbytes(), "at least 0");
  if (!(part.kg_per_gbyte() >= 0)) return Field(part, "kg_per_gbyte", part.kg_per_gbyte(), "at least 0");
  if (!(part.packages() >= 0)) return Field(part, "packages", part.packages(), "at least 0");
  if (part.area_cm2() == 0 && part.gbytes() == 0)
    return Field(part, "area_cm2", 0, "an area, or gbytes of memory");
  double kg = kPackageKg * (part.packages() == 0 ? 1 : part.packages());
  kg += part.gbytes() * part.kg_per_gbyte() / fab.yield();
  if (part.area_cm2() > 0) {
    const auto node = FindLogicNode(part.node_nm());
    if (!node.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("part \"", part.name(), "\": node_nm is ", node.status().message()));
    }
    // ACT's default of 97 % is the mean of its two tables; other values are interpolated.
    const double at_99 = (fab.abatement() - 0.95) / 0.04;
    const double gas = node->gas_95_kg_per_cm2 + at_99 * (node->gas_99_kg_per_cm2 - node->gas_95_kg_per_cm2);
    kg += part.area_cm2() * (fab.grams_per_kwh() / 1e3 * node->kwh_per_cm2 + gas + kMaterialsKgPerCm2) /
          fab.yield();
  }
  const int count = part.count() == 0 ? 1 : part.count();
  return count * kg;
}

}  // namespace chakra::economics
