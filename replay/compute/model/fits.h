// The fitted constants of the laws, and the residuals: measured time over the law's. Written by
// bench/kernel_laws into replay/compute/fitted, which the build embeds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "replay/compute/model/kernel_model.h"
#include "replay/compute/model/laws.h"
#include "replay/compute/model/residual_table.h"

namespace chakra::laws {

// Spreads depend on the modelled time. The bands are: below 6, 20 and 100 us, and 100 us and more.
inline constexpr int kBands = 4;
inline int BandOf(double us) { return us < 6 ? 0 : us < 20 ? 1 : us < 100 ? 2 : 3; }
// 90 of 100 rows that the fit did not see are within exp(+-spread) of the modelled time.
struct Spreads {
  std::array<double, kBands> corrected;  // with residuals
  std::array<double, kBands> bare;       // with the law alone, on the device that it was fitted to
  std::array<double, kBands> across;     // with the law of other devices
};

struct GemmFit {
  std::string device, kernel;  // as measured
  KernelDtype dtype;
  GemmConstants constants;
  Spreads spreads;
  ResidualTable residuals;  // rows by m (kGemmRows) and n (kGemmSides), columns by k (kGemmSides)
};

// Each row of the table covers m up to this value; the last row also everything above.
inline constexpr double kGemmRows[] = {2,    4,    8,    16,   32,   48,   64,    96,   128,
                                       160,  192,  224,  256,  512,  768,  1024,  1280, 1536,
                                       2048, 2560, 3072, 3584, 4096, 8192, 16384, 32768};
// Values of n and of k. Residuals are interpolated between the logarithms of these.
inline constexpr double kGemmSides[] = {32,   64,    128,   256,   512,   768,  1024, 1536,
                                        2048, 2560,  3072,  3584,  4096,  5120, 6144, 7168,
                                        8192, 10240, 12288, 16384, 51200, 65536};

struct AttentionGroup {
  double head_dim, window;
  bool shared;  // several heads share keys and values
};
struct AttentionFit {
  std::string device, kernel;
  KernelDtype dtype, kv_dtype;
  AttentionConstants constants;
  Spreads spreads;
  std::vector<AttentionGroup> groups;
  // Rows by group and sequence (kAttentionLengths), columns by heads of all sequences (kAttentionHeads).
  ResidualTable residuals;
};
inline constexpr double kAttentionLengths[] = {1,    16,   32,   64,   128,  256,   512,   1024, 1536,
                                               2048, 3072, 4096, 6144, 8192, 10240, 12288, 16384};
inline constexpr double kAttentionHeads[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

struct MoeFit {
  std::string device, kernel;
  KernelDtype dtype;
  MoeConstants constants;
  Spreads spreads;
  ResidualTable residuals;  // rows by MoeGroup, ascending, columns by tokens (kMoeTokens)
};
inline constexpr double kMoeTokens[] = {1,    2,    4,    8,    16,   32,   48,   64,    80,
                                        96,   128,  160,  192,  256,  320,  384,  512,   768,
                                        1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384};

// Whether the kernel is the one that programs run by default.
inline bool IsMain(const GemmFit&) { return true; }
inline bool IsMain(const AttentionFit& fit) { return fit.kernel != "triton" && fit.kernel != "flashinfer"; }
inline bool IsMain(const MoeFit&) { return true; }

// Fits in the order of device, kernel, dtype and kv_dtype, by their names and the order of KernelDtype. For a
// device, the first fit that has the dtype is used.
absl::Span<const GemmFit> GemmFits();
absl::Span<const AttentionFit> AttentionFits();
absl::Span<const MoeFit> MoeFits();

// The constants of `fit` for devices of other architectures. If the fit has a longer start (attention: or a
// lower share of memory's bandwidth) than other main fits of the same device, that is a property of one
// library: it is replaced by the best value of these fits.
GemmConstants Carried(absl::Span<const GemmFit> fits, const GemmFit& fit, GemmConstants constants);
AttentionConstants Carried(absl::Span<const AttentionFit> fits, const AttentionFit& fit,
                           AttentionConstants constants);

// The fit of a device that is used for a call: preferably of the named kernel, then of the head size, then a
// main fit, always of the call's dtype. nullptr: none.
const AttentionFit* AttentionFitOf(absl::string_view device, const AttentionCall& call);

// For experts: their kernels use matrix instructions of a single warp, whose share of the peak differs.
MoeConstants Carried(const MoeFit& fit, MoeConstants constants, double warp_share);

// The share of the residuals of a measured device that applies to a device of another architecture with the
// same libraries. When each measured device is left out in turn, 0.7 of the others' residuals gives the
// smallest error, for GEMMs and attention alike (test/validation/kernel_laws.md).
inline constexpr double kCarriedResidual = 0.7;

// The residual of a call in a fit's table; 0 if the table does not cover the call.
double ResidualOf(const GemmFit& fit, const GemmCall& call);
double ResidualOf(const AttentionFit& fit, const AttentionCall& call);
double ResidualOf(const MoeFit& fit, const MoeCall& call);

// The place of `value` among ascending `nodes`, in logarithms: between node `at` and the next node, `share`
// of the distance.
struct Place {
  size_t at = 0;
  double share = 0;
};
Place PlaceOf(absl::Span<const double> nodes, double value);

}  // namespace chakra::laws
