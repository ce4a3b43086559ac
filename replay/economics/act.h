// What making chips emits, by ACT's equations (Gupta et al., ISCA 2022; facebookresearch/ACT, abc9fbb): kg of CO2e.
#pragma once

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"

namespace chakra::economics {

inline constexpr double kPackageKg = 0.150;
inline constexpr double kMaterialsKgPerCm2 = 0.500;

// What ACT knows of a node of logic.
struct LogicNode {
  double nm;
  double kwh_per_cm2;       // of the fab's electricity
  double gas_95_kg_per_cm2;  // of process gases with 95 % of them abated
  double gas_99_kg_per_cm2;
};

// Errors: no such node, with those that there are.
absl::StatusOr<LogicNode> FindLogicNode(double nm);

// Of a fab, with its defaults filled in. Errors: a yield or an abatement out of range, by field.
absl::StatusOr<proto::Fab> CheckFab(const proto::Fab& fab);

// One part, its count and packages included:
// count x (area x (fab's intensity x kwh + gas + materials) / yield + gbytes x kg_per_gbyte / yield + packages x 0.150).
// Gas is between the tables of 95 and 99 % by abatement, and their mean at 97 %. Errors: a negative number, a node that ACT
// does not have, a part without area and without memory.
absl::StatusOr<double> EmbodiedKg(const proto::EmbodiedPart& part, const proto::Fab& fab);

}  // namespace chakra::economics
