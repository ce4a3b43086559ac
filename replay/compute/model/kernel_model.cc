#include "replay/compute/model/kernel_model.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/compute/model/machine.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using laws::BandOf;

// Spread for devices of a measured architecture, in addition to that of the fit.
constexpr double kSiblingSpread = 0.12;
// Spread for batched GEMMs, and for attention that is backward or not causal.
constexpr double kBatchSpread = 0.15;
constexpr double kStreamSpread = 0.35;  // spread for streaming kernels
// The share of its peak that a narrow dtype reaches, relative to bf16's: DeepGEMM's against cuBLAS's on H100
// (replay/compute/fitted).
constexpr double kNarrowShare = 0.8;
// A GEMM that adds to sums in fp32 hides part of the memory time of the sums. This is the share that stays
// visible: SimuMax's GEMMs of gradients that add in fp32 against those that do not, A100 and B200
// (data/kernels/kernel_efficiency_simumax.csv).
constexpr double kAccumulateShare = 0.35;
// Grouped GEMMs run one kernel each, at most this many at a time (TransformerEngine,
// pytorch/csrc/extensions/gemm.cpp, num_streams).
constexpr double kProductStreams = 4;
// Attention backward relative to forward, in long loops: the rate, the share of the longest block that the
// others wait for (backward blocks go along their queries and have more equal lengths), the start. From
// SimuMax's attention of 4 to 128 heads on A100 and B200, 4,096 to 131,072 tokens (the same table): mean
// error 4.3 % if keys and values have the same width.
constexpr double kBackwardRate = 0.70, kBackwardTail = 0.35, kBackwardStart = 0.5;
// The first version of FlashAttention against the second, which is about twice as fast (Dao,
// "FlashAttention-2", 2023, abstract). kFlash1Backward: its backward rate relative to forward.
constexpr double kFlash1Share = 0.5, kFlash1Backward = 0.78;
// Used if the fit is that of the third version, for Hopper, which is 1.5 to 2 times as fast as the second
// (Shah et al., "FlashAttention-3", 2024, abstract). cuDNN's is 1.7 to 2.3 times as fast in shapes of
// training on H100 (huggingface/transformers, pull request 48163).
constexpr double kFlash2Share = 1 / 1.75;
constexpr double kFarSpread = 0.5;                   // spread if no fit covers the dtype
constexpr double kMostWork = 4611686018427387904.0;  // 2^62

size_t IndexOf(KernelDtype dtype) { return static_cast<size_t>(dtype); }

// A number of a call, for messages.
struct Dimension {
  const char* name;
  double value;
  double least = 1;
};

absl::Status Check(absl::string_view call, std::initializer_list<Dimension> dimensions) {
  for (const Dimension& d : dimensions) {
    if (std::isfinite(d.value) && d.value >= d.least && d.value <= 1e15) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(call, ": ", d.name, " is ", d.value, "; expected a number from ", d.least, " to 1e15"));
  }
  return absl::OkStatus();
}

absl::Status CheckWork(absl::string_view call, double operations) {
  if (operations <= kMostWork) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(call, ": it has ", operations, " operations; expected at most 2^62"));
}

// A scale of a calibration; 0 means unset, which is 1.
double ScaleOf(double scale) { return scale > 0 ? scale : 1; }

template <typename C>
C Scaled(const proto::KernelScale& scale, C constants, size_t start, size_t peak, size_t memory) {
  constants[start] *= ScaleOf(scale.start());
  constants[peak] *= ScaleOf(scale.peak_share());
  constants[memory] *= ScaleOf(scale.memory_share());
  return constants;
}

template <typename Fit>
const Fit* FitOf(absl::Span<const Fit> fits, absl::string_view device, KernelDtype dtype) {
  for (const Fit& fit : fits) {
    if (fit.device == device && fit.dtype == dtype) return &fit;
  }
  return nullptr;
}

// Sets the share of the peak that GEMMs of milliseconds reach, in tiles of 128 x 256.
void SetLimit(double share, laws::GemmConstants* c) {
  (*c)[laws::kPeakShare] = share * (1 + (*c)[laws::kHalfTile] * (1.0 / 128 + 1.0 / 256));
  (*c)[laws::kHotShare] = 0;
}

// The share of the peak that large GEMMs reach in a step, from those measured on the device; 0: not known.
// Narrow types without a measurement have kNarrowShare of bf16's share.
double AchievedShare(const laws::Architecture& architecture, const proto::Device& device, KernelDtype dtype) {
  const bool narrow = BytesOf(dtype) <= 1 && dtype != KernelDtype::kInt4Weights;
  double share = laws::UnitOf(device, dtype).achieved;
  if (share == 0 && narrow) share = laws::UnitOf(device, KernelDtype::kBf16).achieved * kNarrowShare;
  return share * architecture.all_shapes * ScaleOf(device.kernel_scale().peak_share());
}

// Constants of GEMMs for a dtype: those of the fit of the architecture's measured device; if that device has
// no fit for the dtype, or without `own`, those of bf16. For devices of other architectures, a longer start
// of one library is left out (Carried()).
laws::GemmConstants ProductConstants(const proto::Device& device, KernelDtype dtype, bool own) {
  const laws::Architecture& architecture = laws::ArchitectureOf(device);
  const laws::GemmFit* fit = own ? FitOf(laws::GemmFits(), architecture.measured, dtype) : nullptr;
  const bool stands_in = fit == nullptr;
  if (stands_in) fit = FitOf(laws::GemmFits(), architecture.measured, KernelDtype::kBf16);
  laws::GemmConstants c = fit->constants;
  if (stands_in && BytesOf(dtype) <= 1 && dtype != KernelDtype::kInt4Weights)
    c[laws::kPeakShare] *= kNarrowShare;
  c[laws::kPeakShare] *= architecture.peak_scale;
  // Losses of time and of power on the measured device shrink with the rate of the units.
  const double rate = laws::UnitRate(architecture, device);
  if (rate < 1) {
    c[laws::kPeakShare] = 1 / (1 + rate * (1 / c[laws::kPeakShare] - 1));
    c[laws::kHotShare] *= rate;
  }
  if (dtype == KernelDtype::kFp32 && architecture.vector_share > 0) {
    SetLimit(architecture.vector_share, &c);
  }
  if (!architecture.same) c = laws::Carried(laws::GemmFits(), *fit, c);
  return Scaled(device.kernel_scale(), c, laws::kStartCycles, laws::kPeakShare, laws::kMemoryShare);
}

// The fit of experts for a dtype that has no fit on the measured device. The order: fp8_block or bf16 (the
// nearer in size) on that device, the dtype itself on H100, fp8_block or bf16 on H100, bf16 on the measured
// device.
const laws::MoeFit* StandIn(absl::string_view measured, KernelDtype dtype) {
  constexpr absl::string_view kH100 = "H100 80GB HBM3";
  const KernelDtype near = BytesOf(dtype) <= 1 ? KernelDtype::kFp8Block : KernelDtype::kBf16;
  const bool alike = BytesOf(dtype) <= 2;
  const std::pair<absl::string_view, KernelDtype> order[] = {{alike ? measured : "", near},
                                                             {kH100, dtype},
                                                             {alike ? kH100 : "", near},
                                                             {measured, KernelDtype::kBf16}};
  for (const auto& [device, as] : order) {
    const laws::MoeFit* fit = FitOf(laws::MoeFits(), device, as);
    if (fit != nullptr) return fit;
  }
  return &laws::MoeFits().front();
}

}  // namespace

absl::string_view KnownAttentionKernel(absl::string_view name) {
  for (const absl::string_view known : {kFlash1, kFlash2}) {
    if (name == known) return known;
  }
  for (const laws::AttentionFit& fit : laws::AttentionFits()) {
    if (fit.kernel == name) return fit.kernel;
  }
  return "";
}

// The answer to a call whose law, residual and spreads are known. `spreads` nullptr: no kernel of its kind
// was measured.
struct KernelModel::Answer {
  const Machine& machine;
  double law_us;
  double residual;
  const laws::Spreads* spreads;
  double beside = 0;  // additional spread

  ModelledTime Time() const {
    using Rest = Machine::Rest;
    const int band = BandOf(law_us);
    double spread = spreads == nullptr ? kFarSpread : spreads->across[band];
    double us = law_us;
    if (spreads != nullptr && machine.rest == Rest::kDataSheet && machine.architecture->libraries) {
      us *= std::exp(laws::kCarriedResidual * residual);
    }
    if (spreads != nullptr && machine.rest != Rest::kDataSheet) {
      us *= std::exp(residual);
      spread = residual == 0 ? spreads->bare[band] : spreads->corrected[band];
      if (machine.rest == Rest::kSibling) spread = std::hypot(spread, kSiblingSpread);
    }
    spread = std::hypot(spread, beside);
    const char* from = machine.rest == Rest::kMeasured && spreads != nullptr  ? "measured device"
                       : machine.rest == Rest::kSibling && spreads != nullptr ? "measured architecture"
                                                                              : "data sheet";
    return {us, us * std::exp(-spread), us * std::exp(spread), from};
  }
};

absl::StatusOr<KernelModel> KernelModel::Create(const proto::Device& device, KernelLoad load) {
  if (!device.architecture().empty() && laws::FindArchitecture(device.architecture()) == nullptr) {
    const std::vector<absl::string_view> known = laws::ArchitectureNames();
    const std::vector<std::string> names(known.begin(), known.end());
    return absl::InvalidArgumentError(absl::StrCat("device \"", device.name(), "\": architecture \"",
                                                   device.architecture(), "\" is not known",
                                                   NearestOfKnown(device.architecture(), names)));
  }
  auto machine = std::make_unique<Machine>();
  machine->device = device;
  machine->load = load;
  machine->architecture = &laws::ArchitectureOf(device);
  const laws::Architecture& architecture = *machine->architecture;
  bool any = false;
  for (size_t i = 0; i < kKernelDtypes; ++i) {
    const KernelDtype dtype = static_cast<KernelDtype>(i);
    machine->unit[i] = laws::UnitOf(device, dtype);
    any = any || machine->unit[i].peak_per_us > 0;
    machine->gemm[i] = FitOf(laws::GemmFits(), architecture.measured, dtype);
    machine->gemm_constants[i] = ProductConstants(device, dtype, true);
    machine->cublas_constants[i] = ProductConstants(device, dtype, false);
    if (load.steady && architecture.steady.narrow_share > 0 && BytesOf(dtype) <= 1 &&
        dtype != KernelDtype::kInt4Weights)
      machine->cublas_constants[i][laws::kPeakShare] *= architecture.steady.narrow_share / kNarrowShare;
    const bool own_share = dtype == KernelDtype::kFp32 && architecture.vector_share > 0;
    const double achieved = load.steady ? AchievedShare(architecture, device, dtype) : 0;
    if (achieved > 0) {
      SetLimit(achieved, &machine->gemm_constants[i]);
      SetLimit(achieved, &machine->cublas_constants[i]);
    } else if (load.steady && architecture.steady.hot > 0 && !own_share) {
      for (laws::GemmConstants* c : {&machine->gemm_constants[i], &machine->cublas_constants[i]}) {
        (*c)[laws::kHotShare] = laws::SteadyHot(architecture, device, BytesOf(dtype), load.devices);
        (*c)[laws::kHotUs] = 0;
      }
    }
  }
  if (!any || device.memory_gbytes_per_s() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "device \"", device.name(), "\" has no peak_tflops or no memory_gbytes_per_s; expected both"));
  }
  if (architecture.same) {
    const bool measured = device.name() == architecture.name_of_measured;
    machine->rest = measured ? Machine::Rest::kMeasured : Machine::Rest::kSibling;
  }
  return KernelModel(std::move(machine));
}

KernelModel::KernelModel(std::unique_ptr<const Machine> machine) : machine_(std::move(machine)) {}
KernelModel::~KernelModel() = default;
KernelModel::KernelModel(KernelModel&&) noexcept = default;
KernelModel& KernelModel::operator=(KernelModel&&) noexcept = default;
const proto::Device& KernelModel::device() const { return machine_->device; }

absl::Status KernelModel::CheckDtype(KernelDtype dtype) const {
  if (machine_->unit[IndexOf(dtype)].peak_per_us > 0) return absl::OkStatus();
  std::vector<absl::string_view> has;
  for (int i = 0; i < kKernelDtypes; ++i) {
    if (machine_->unit[i].peak_per_us > 0) has.push_back(Name(static_cast<KernelDtype>(i)));
  }
  return absl::InvalidArgumentError(absl::StrCat(device().name(), " has no peak for dtype ", Name(dtype),
                                                 "; expected one of ", absl::StrJoin(has, ", ")));
}

absl::StatusOr<ModelledTime> KernelModel::Gemm(const GemmCall& c) const {
  absl::Status s = Check("gemm", {{"batch", c.batch}, {"m", c.m}, {"n", c.n}, {"k", c.k}});
  s.Update(CheckWork("gemm", 2 * c.batch * c.m * c.n * c.k));
  s.Update(CheckDtype(c.dtype));
  if (!s.ok()) return s;
  const size_t d = IndexOf(c.dtype);
  // The tables have cuBLAS only for bf16. Training multiplies narrow types by cuBLASLt (TransformerEngine,
  // torch._scaled_mm); serving has its own kernels.
  const bool cublas = c.cublas || machine_->load.steady;
  const bool other = cublas && c.dtype != KernelDtype::kBf16;
  const laws::GemmConstants& constants = other ? machine_->cublas_constants[d] : machine_->gemm_constants[d];
  const double at_once = c.each ? std::min(kProductStreams, c.batch) : c.batch;
  double us = laws::Gemm(constants, machine_->unit[d], BytesOf(c.dtype), at_once, c.m, c.n, c.k);
  if (c.each) {  // streams fill each other's last waves; each kernel has its own start
    const double start = constants[laws::kStartCycles] / machine_->unit[d].cycles_per_us;
    us = (us - start) * c.batch / at_once + start * c.batch;
  }
  if (c.accumulates) {  // reads and writes 4 bytes of each element
    const double memory = machine_->unit[d].bytes_per_us * constants[laws::kMemoryShare];
    const double sums = 8 * c.batch * c.m * c.n;
    us = std::max(us + kAccumulateShare * sums / memory,
                  (sums + c.batch * (c.m + c.n) * c.k * BytesOf(c.dtype)) / memory);
  }
  const laws::GemmFit* fit = other ? nullptr : machine_->gemm[d];
  return Answer{*machine_, us, fit == nullptr ? 0 : ResidualOf(*fit, c),
                fit == nullptr ? nullptr : &fit->spreads, c.batch > 1 ? kBatchSpread : 0}
      .Time();
}

absl::StatusOr<ModelledTime> KernelModel::Attention(const AttentionCall& asked) const {
  // GEMMs of two widths count as GEMMs of the mean width: forward one of each, backward three and two.
  AttentionCall c = asked;
  const bool unequal = c.v_dim > 0 && c.v_dim != c.head_dim;
  if (unequal) c.head_dim = c.backward ? (3 * c.head_dim + 2 * c.v_dim) / 5 : (c.head_dim + c.v_dim) / 2;
  absl::Status s = Check("attention", {{"batch", c.batch},
                                       {"seq", c.seq},
                                       {"prefix", c.prefix, 0},
                                       {"heads", c.heads},
                                       {"kv_heads", c.kv_heads},
                                       {"head_dim", c.head_dim},
                                       {"window", c.window, 0}});
  s.Update(CheckWork("attention", 10 * c.batch * c.heads * c.seq * (c.seq + c.prefix) * c.head_dim));
  s.Update(CheckDtype(c.dtype));
  if (s.ok() && c.kv_heads > c.heads) {
    s = absl::InvalidArgumentError(
        absl::StrCat("attention: kv_heads is ", c.kv_heads, "; expected at most heads, ", c.heads));
  }
  if (!s.ok()) return s;
  const laws::AttentionFit* fit = laws::AttentionFitOf(machine_->architecture->measured, c);
  const bool own = fit != nullptr && fit->dtype == c.dtype;
  if (fit == nullptr) {
    AttentionCall other = c;
    other.dtype = other.kv_dtype = KernelDtype::kBf16;
    fit = laws::AttentionFitOf(machine_->architecture->measured, other);
  }
  laws::AttentionConstants constants = fit->constants;
  if (!machine_->architecture->same) constants = laws::Carried(laws::AttentionFits(), *fit, constants);
  constants[laws::kAttentionStartCycles] *= machine_->architecture->attention_start;
  constants[laws::kAttentionPeakShare] *= machine_->architecture->attention_scale;
  constants[laws::kAttentionMemoryShare] *= machine_->architecture->attention_scale;
  if (device().exponential_rate() > 0) constants[laws::kPairCycles] /= device().exponential_rate();
  if (c.backward && machine_->load.steady && c.kernel == kFlash1) {
    constants[laws::kAttentionPeakShare] *= kFlash1Backward;
  } else if (c.backward && machine_->load.steady) {
    constants[laws::kAttentionPeakShare] *=
        kBackwardRate * (unequal ? machine_->architecture->unequal_backward : 1);
    constants[laws::kTailShare] *= kBackwardTail;
    constants[laws::kAttentionStartCycles] *= kBackwardStart;
  }
  if (c.kernel == kFlash1) constants[laws::kAttentionPeakShare] *= kFlash1Share;
  if ((c.kernel == kFlash1 || c.kernel == kFlash2) && fit->kernel == "fa3")
    constants[laws::kAttentionPeakShare] *= kFlash2Share;
  constants = Scaled(device().kernel_scale(), constants, laws::kAttentionStartCycles,
                     laws::kAttentionPeakShare, laws::kAttentionMemoryShare);
  const double us =
      laws::Attention(constants, machine_->unit[IndexOf(c.dtype)], BytesOf(c.dtype), BytesOf(c.kv_dtype), c);
  return Answer{*machine_, us, own ? ResidualOf(*fit, c) : 0, own ? &fit->spreads : nullptr,
                c.backward || !c.causal ? kBatchSpread : 0}
      .Time();
}

absl::StatusOr<ModelledTime> KernelModel::Moe(const MoeCall& c) const {
  absl::Status s = Check("moe", {{"tokens", c.tokens},
                                 {"hidden", c.hidden},
                                 {"inter", c.inter},
                                 {"topk", c.topk},
                                 {"experts", c.experts},
                                 {"tp", c.tp},
                                 {"ep", c.ep},
                                 {"power_law", c.power_law, 0}});
  s.Update(CheckWork("moe", 6 * c.tokens * c.topk * c.hidden * c.inter));
  s.Update(CheckDtype(c.dtype));
  if (s.ok() && c.topk > c.experts) {
    s = absl::InvalidArgumentError(
        absl::StrCat("moe: topk is ", c.topk, "; expected at most experts, ", c.experts));
  }
  if (s.ok() && c.ep > c.experts) {
    s = absl::InvalidArgumentError(
        absl::StrCat("moe: ep is ", c.ep, "; expected at most experts, ", c.experts));
  }
  if (!s.ok()) return s;
  const laws::MoeFit* own = FitOf(laws::MoeFits(), machine_->architecture->measured, c.dtype);
  const laws::MoeFit* fit = own != nullptr ? own : StandIn(machine_->architecture->measured, c.dtype);
  laws::MoeConstants constants = fit->constants;
  constants[laws::kMoePeakShare] *= machine_->architecture->peak_scale;
  constants = laws::Carried(*fit, constants, machine_->architecture->warp_share);
  constants = Scaled(device().kernel_scale(), constants, laws::kMoeStartCycles, laws::kMoePeakShare,
                     laws::kMoeMemoryShare);
  const double us = laws::Moe(constants, machine_->unit[IndexOf(c.dtype)], BytesOf(c.dtype), c);
  return Answer{*machine_, us, own == nullptr ? 0 : ResidualOf(*own, c),
                own == nullptr ? nullptr : &own->spreads}
      .Time();
}

absl::StatusOr<ModelledTime> KernelModel::Stream(const StreamCall& c) const {
  RETURN_IF_ERROR(Check("stream", {{"bytes", c.bytes, 0}, {"operations", c.operations, 0}}));
  laws::StreamConstants constants = machine_->architecture->stream;
  constants[laws::kStreamStartUs] *= ScaleOf(device().kernel_scale().start());
  constants[laws::kStreamMemoryShare] *= ScaleOf(device().kernel_scale().memory_share());
  if (c.for_layout && machine_->architecture->any_layout) return ModelledTime{0, 0, 0, "data sheet"};
  const double us = laws::Stream(constants, machine_->unit[IndexOf(KernelDtype::kFp32)], c);
  return ModelledTime{us, us * std::exp(-kStreamSpread), us * std::exp(kStreamSpread), "data sheet"};
}

}  // namespace chakra
