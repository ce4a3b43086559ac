// The fits of ../fitted, which the build embeds.
#include "replay/compute/model/fits.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "absl/strings/match.h"
#include "replay/compute/model/fit_file.h"
#include "trace/base/embedded.h"

namespace chakra {

namespace fitted {
absl::Span<const EmbeddedFile> Embedded();
}  // namespace fitted

namespace laws {
namespace {

auto Order(const AttentionFit& fit) { return std::tie(fit.device, fit.kernel, fit.dtype, fit.kv_dtype); }
template <typename Fit>
auto Order(const Fit& fit) {
  return std::tie(fit.device, fit.kernel, fit.dtype);
}

// Reads the files whose names begin with `kind`; the rest of a name has no meaning. A file that does not
// parse is a bug, and ends the program.
template <typename Fit>
std::vector<Fit> ReadAll(absl::string_view kind,
                         absl::StatusOr<Fit> (*read)(absl::string_view, absl::string_view)) {
  std::vector<Fit> fits;
  for (const EmbeddedFile& file : fitted::Embedded()) {
    if (!absl::StartsWith(file.name, kind)) continue;
    absl::StatusOr<Fit> fit = read(file.name, file.text);
    if (!fit.ok()) {
      std::fprintf(stderr, "replay/compute/fitted/%s\n", std::string(fit.status().message()).c_str());
      std::abort();
    }
    fits.push_back(*std::move(fit));
  }
  std::sort(fits.begin(), fits.end(), [](const Fit& a, const Fit& b) { return Order(a) < Order(b); });
  return fits;
}

}  // namespace

absl::Span<const GemmFit> GemmFits() {
  static const auto& fits = *new std::vector<GemmFit>(ReadAll("gemm_", ReadGemmFit));
  return fits;
}

absl::Span<const AttentionFit> AttentionFits() {
  static const auto& fits = *new std::vector<AttentionFit>(ReadAll("attention_", ReadAttentionFit));
  return fits;
}

absl::Span<const MoeFit> MoeFits() {
  static const auto& fits = *new std::vector<MoeFit>(ReadAll("moe_", ReadMoeFit));
  return fits;
}

}  // namespace laws
}  // namespace chakra
