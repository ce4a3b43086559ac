// Writes the files of replay/compute/fitted (replay/compute/model/fit_file.h).
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/kernel_laws/fit.h"
#include "replay/compute/model/fit_file.h"

namespace chakra::kernel_laws {
namespace {

// Four digits, no exponent.
std::string Number(double x) {
  const double kept = std::stod(absl::StrFormat("%.4g", x));
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), kept, std::chars_format::fixed).ptr);
}

std::string Bands(const std::array<double, laws::kBands>& spreads) {
  return absl::StrCat(
      "[", absl::StrJoin(spreads, ", ", [](std::string* out, double x) { absl::StrAppend(out, Number(x)); }),
      "]");
}

template <typename Fit>
std::string HeadText(const Fit& f) {
  std::string out = absl::StrFormat(
      "# Made by bench/kernel_laws from published measurements; README.md has the form of the file.\n"
      "device: \"%s\"\nkernel: \"%s\"\ndtype: \"%s\"\n",
      f.device, f.kernel, Name(f.dtype));
  if constexpr (std::is_same_v<Fit, laws::AttentionFit>)
    absl::StrAppend(&out, "kv_dtype: \"", Name(f.kv_dtype), "\"\n");
  const absl::Span<const laws::ConstantName> names = laws::NamesOf(f.constants);
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&out, names[i].name, ": ", Number(f.constants[i]), "  # ", names[i].meaning, "\n");
  }
  absl::StrAppend(
      &out,
      "# 90 of 100 rows that the fit had not seen are within exp(+-spread): of answers below 6, 20 "
      "and 100 us, and longer\n",
      "corrected: ", Bands(f.spreads.corrected), "  # with residuals\n", "bare: ", Bands(f.spreads.bare),
      "  # with the law alone\n", "across: ", Bands(f.spreads.across), "  # with the law of other devices\n");
  return out;
}

std::string TableText(const laws::ResidualTable& table, const char* axis, absl::Span<const double> columns) {
  const auto whole = [](std::string* out, double x) { absl::StrAppendFormat(out, "%.0f", x); };
  return absl::StrFormat("---\n# ln(measured / law) in steps of %g; columns: %s %s\n%s", laws::kResidualStep,
                         axis, absl::StrJoin(columns, " ", whole), table.text());
}

std::string Plain(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (absl::ascii_isalnum(c)) {
      out.push_back(absl::ascii_tolower(c));
    } else if (!out.empty() && out.back() != '_') {
      out.push_back('_');
    }
  }
  return out;
}

// "A100-SXM4-80GB" -> "a100".
std::string Short(const std::string& device) { return Plain(device.substr(0, 4)); }

FitText Text(const laws::GemmFit& f) {
  return {absl::StrCat("gemm_", Short(f.device), "_", Name(f.dtype), ".txt"),
          HeadText(f) + TableText(f.residuals, "k", laws::kGemmSides)};
}

FitText Text(const laws::AttentionFit& f) {
  return {absl::StrCat("attention_", Short(f.device), "_", Plain(f.kernel), "_", Name(f.dtype), "_",
                       Name(f.kv_dtype), ".txt"),
          HeadText(f) + TableText(f.residuals, "heads of all sequences", laws::kAttentionHeads)};
}

FitText Text(const laws::MoeFit& f) {
  return {absl::StrCat("moe_", Short(f.device), "_", Name(f.dtype), ".txt"),
          HeadText(f) + TableText(f.residuals, "tokens", laws::kMoeTokens)};
}

}  // namespace

std::vector<FitText> WriteFits(const Fits& fits) {
  std::vector<FitText> out;
  for (const laws::GemmFit& f : fits.gemm) out.push_back(Text(f));
  for (const laws::AttentionFit& f : fits.attention) out.push_back(Text(f));
  for (const laws::MoeFit& f : fits.moe) out.push_back(Text(f));
  return out;
}

}  // namespace chakra::kernel_laws
