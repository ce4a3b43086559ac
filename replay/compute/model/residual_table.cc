#include "replay/compute/model/residual_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace chakra::laws {

int ResidualStepsOf(double residual) {
  constexpr long kMost = kMostResidualSteps;
  return static_cast<int>(std::clamp(std::lround(residual / kResidualStep), -kMost, kMost));
}

ResidualTable::ResidualTable(absl::string_view text, size_t columns) {
  const size_t label = text.find(':'), length = text.find('\n') + 1;
  if (label == absl::string_view::npos || length != label + 1 + columns * kCell + 1) return;
  if (text.size() % length != 0) return;
  text_ = text;
  label_ = label;
  length_ = length;
  cells_ = text.data() + label + 1;
  rows_ = text.size() / length;
}

ResidualTable::ResidualTable(absl::Span<const std::string> labels, absl::Span<const int> steps,
                             size_t columns) {
  size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, label.size());
  std::string text;
  for (size_t row = 0; row < labels.size(); ++row) {
    absl::StrAppendFormat(&text, "%-*s:", width, labels[row]);
    for (int n : steps.subspan(row * columns, columns)) absl::StrAppendFormat(&text, "%*d", kCell, n);
    text += '\n';
  }
  auto own = std::make_shared<const std::string>(std::move(text));
  *this = ResidualTable(*own, columns);
  own_ = std::move(own);
}

absl::string_view ResidualTable::Label(size_t row) const {
  return absl::StripTrailingAsciiWhitespace(text_.substr(row * length_, label_));
}

}  // namespace chakra::laws
