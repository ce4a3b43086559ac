// Emissions of the manufacturing of chips, by ACT's equations (Gupta et al., ISCA 2022; facebookresearch/ACT,
// abc9fbb): kg of CO2e.
#pragma once

#include "absl/status/statusor.h"
#include "proto/economics.pb.h"

namespace chakra::economics {

inline constexpr double kPackageKg = 0.150;
inline constexpr double kMaterialsKgPerCm2 = 0.500;

// ACT's data of a process node for logic.
struct LogicNode {
  double nm;
  double kwh_per_cm2;        // electricity of the fab
  double gas_95_kg_per_cm2;  // process gases, with 95 % of them abated
  double gas_99_kg_per_cm2;
};

// Errors: an unknown node; the error lists the known ones.
absl::StatusOr<LogicNode> FindLogicNode(double nm);

// Fills in the defaults of a fab. Errors: a yield or an abatement out of range; the error names the field.
absl::StatusOr<proto::Fab> CheckFab(const proto::Fab& fab);

// The kg of one part, times its count, with its packages:
//   count x ((area x (fab intensity x kwh + gas + materials) + gbytes x kg_per_gbyte) / yield
//            + packages x 0.150)
// Gas is interpolated between the tables for 95 and 99 % by abatement; at 97 % it is their mean. Errors: a
// negative number, a node that ACT does not have, a part without area and without memory.
absl::StatusOr<double> EmbodiedKg(const proto::EmbodiedPart& part, const proto::Fab& fab);

}  // namespace chakra::economics
