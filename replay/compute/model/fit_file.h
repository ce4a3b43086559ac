// The files of ../fitted: a head of names and numbers, a line "---", a comment, and the table of residuals.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "replay/compute/model/fits.h"

namespace chakra::laws {

// A fit whose table is in `text`, which is to live as long. Errors name file and line. The numbers of the
// table are not looked at, but its size.
absl::StatusOr<GemmFit> ReadGemmFit(absl::string_view name, absl::string_view text);
absl::StatusOr<AttentionFit> ReadAttentionFit(absl::string_view name, absl::string_view text);
absl::StatusOr<MoeFit> ReadMoeFit(absl::string_view name, absl::string_view text);

// What a file calls a constant, and the comment behind it.
struct ConstantName {
  const char *name, *meaning;
};
// In the order of the constants.
absl::Span<const ConstantName> NamesOf(const GemmConstants& constants);
absl::Span<const ConstantName> NamesOf(const AttentionConstants& constants);
absl::Span<const ConstantName> NamesOf(const MoeConstants& constants);

// Labels of rows.
std::string GemmLabel(double m, double n);
std::string AttentionLabel(const AttentionGroup& group, double seq);
// hidden, inter, topk, experts, tp, ep; 1 if experts have unequal shares.
using MoeGroup = std::array<double, 7>;
MoeGroup MoeGroupOf(const MoeCall& call);
std::string MoeLabel(const MoeGroup& group);
MoeGroup MoeGroupOfLabel(absl::string_view label);  // zeros, if it is no such label

}  // namespace chakra::laws
