// The constants of the laws as fitted, and what the laws leave unexplained where kernels were measured.
// Written by bench/kernel_laws into replay/compute/fitted, which the build embeds.
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

// By the time that the model answers: below 6, 20 and 100 us, and from there on.
inline constexpr int kBands = 4;
inline int BandOf(double us) { return us < 6 ? 0 : us < 20 ? 1 : us < 100 ? 2 : 3; }
// 90 of 100 rows that the fit had not seen are within exp(+-spread) of the answer.
struct Spreads {
  std::array<double, kBands> corrected;  // with residuals
  std::array<double, kBands> bare;       // with the law alone, on the device that it was fitted on
  std::array<double, kBands> across;     // with the law of other devices
};

struct GemmFit {
  std::string device, kernel;  // that were measured
  KernelDtype dtype;
  GemmConstants constants;
  Spreads spreads;
  ResidualTable residuals;  // rows by m (kGemmRows) and n (kGemmSides), columns by k (kGemmSides)
};

// Each holds up to that m; the last one everything above too.
inline constexpr double kGemmRows[] = {2,    4,    8,    16,   32,   48,   64,    96,   128,
                                       160,  192,  224,  256,  512,  768,  1024,  1280, 1536,
                                       2048, 2560, 3072, 3584, 4096, 8192, 16384, 32768};
// Values of n and of k, between which logarithms are interpolated.
inline constexpr double kGemmSides[] = {32,   64,    128,   256,   512,   768,  1024, 1536,
                                        2048, 2560,  3072,  3584,  4096,  5120, 6144, 7168,
                                        8192, 10240, 12288, 16384, 51200, 65536};

struct AttentionGroup {
  double head_dim, window;
  bool shared;  // keys and values serve several heads
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

// Whether the kernel is the one that programs run where nobody chose another.
inline bool IsMain(const GemmFit&) { return true; }
inline bool IsMain(const AttentionFit& fit) { return fit.kernel != "triton" && fit.kernel != "flashinfer"; }
inline bool IsMain(const MoeFit&) { return true; }

// In the order of device, kernel, dtype and kv_dtype, by their names and the order of KernelDtype. Of one
// architecture the first fit that has the dtype counts.
absl::Span<const GemmFit> GemmFits();
absl::Span<const AttentionFit> AttentionFits();
absl::Span<const MoeFit> MoeFits();

// The constants of `fit` as they carry over to devices of other architectures: a start, and a loss of
// memory's bandwidth, beyond those of the same device's other main fits are of that one library, and stay
// behind.
GemmConstants Carried(absl::Span<const GemmFit> fits, const GemmFit& fit, GemmConstants constants);
AttentionConstants Carried(absl::Span<const AttentionFit> fits, const AttentionFit& fit,
                           AttentionConstants constants);

// The fit of a device that counts for a call: a main one of its dtype and head size, else any of its dtype.
// nullptr: none.
const AttentionFit* AttentionFitOf(absl::string_view device, const AttentionCall& call);

// Of experts: their kernels use matrix instructions of a single warp, which reach other shares of the peak.
MoeConstants Carried(const MoeFit& fit, MoeConstants constants, double warp_share);

// What of the residuals of measured devices holds for a device of another architecture that runs the same
// libraries. Each measured device left out in turn: 0.7 of the others' leaves least, for products and
// attention alike (test/validation/kernel_laws.md).
inline constexpr double kCarriedResidual = 0.7;

// What the residuals of a fit say of a call; 0 where they do not tell.
double ResidualOf(const GemmFit& fit, const GemmCall& call);
double ResidualOf(const AttentionFit& fit, const AttentionCall& call);
double ResidualOf(const MoeFit& fit, const MoeCall& call);

// Where `value` lies among ascending `nodes`, in logarithms: between node `at` and the next one, `share` of
// the way.
struct Place {
  size_t at = 0;
  double share = 0;
};
Place PlaceOf(absl::Span<const double> nodes, double value);

}  // namespace chakra::laws
