// The files of ../fitted: a head of names and numbers, a line "---", a comment, and the table of residuals.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "replay/compute/model/fits.h"

namespace chakra::laws {

// Reads a fit. Its table refers to `text`, which must outlive the fit. Errors name file and line. The size of
// the table is checked, its numbers are not.
absl::StatusOr<GemmFit> ReadGemmFit(absl::string_view name, absl::string_view text);
absl::StatusOr<AttentionFit> ReadAttentionFit(absl::string_view name, absl::string_view text);
absl::StatusOr<MoeFit> ReadMoeFit(absl::string_view name, absl::string_view text);

// The name of a constant in a file, and the comment after the constant.
struct ConstantName {
  const char *name, *meaning;
};
// Returns the names in the order of the constants.
absl::Span<const ConstantName> NamesOf(const GemmConstants& constants);
absl::Span<const ConstantName> NamesOf(const AttentionConstants& constants);
absl::Span<const ConstantName> NamesOf(const MoeConstants& constants);

// Labels of rows.
std::string GemmLabel(double m, double n);
std::string AttentionLabel(const AttentionGroup& group, double seq);
// hidden, inter, topk, experts, tp, ep, and 1 if the experts have unequal shares.
using MoeGroup = std::array<double, 7>;
MoeGroup MoeGroupOf(const MoeCall& call);
std::string MoeLabel(const MoeGroup& group);
MoeGroup MoeGroupOfLabel(absl::string_view label);  // zeros if `label` is not a label of experts

}  // namespace chakra::laws
