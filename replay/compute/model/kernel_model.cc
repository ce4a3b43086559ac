#include "replay/compute/model/kernel_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/compute/model/machine.h"
#include "trace/base/spelling.h"

namespace chakra {
namespace {

struct DtypeName {
  KernelDtype dtype;
  const char* name;
};

// The first name of a dtype is its own.
constexpr DtypeName kDtypeNames[] = {
    {KernelDtype::kFp64, "fp64"},
    {KernelDtype::kFp32, "fp32"},
    {KernelDtype::kTf32, "tf32"},
    {KernelDtype::kBf16, "bf16"},
    {KernelDtype::kFp8, "fp8"},
    {KernelDtype::kFp8Block, "fp8_block"},
    {KernelDtype::kFp4, "fp4"},
    {KernelDtype::kInt8, "int8"},
    {KernelDtype::kInt4Weights, "int4_wo"},
    {KernelDtype::kBf16, "bfloat16"},
    {KernelDtype::kBf16, "fp16"},
    {KernelDtype::kBf16, "float16"},
    {KernelDtype::kBf16, "half"},
    {KernelDtype::kFp32, "float32"},
    {KernelDtype::kFp32, "float"},
    {KernelDtype::kFp64, "float64"},
    {KernelDtype::kFp64, "double"},
    {KernelDtype::kFp8, "float8_e4m3fn"},
    {KernelDtype::kFp8, "float8_e5m2"},
    {KernelDtype::kFp8, "e4m3"},
    {KernelDtype::kFp8, "e5m2"},
    {KernelDtype::kFp4, "nvfp4"},
    {KernelDtype::kFp4, "mxfp4"},
    {KernelDtype::kInt8, "int8_wo"},
};

}  // namespace

absl::string_view Name(KernelDtype dtype) {
  for (const DtypeName& d : kDtypeNames) {
    if (d.dtype == dtype) return d.name;
  }
  return "";
}

absl::StatusOr<KernelDtype> ParseKernelDtype(absl::string_view text) {
  const std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  std::vector<std::string> names;
  for (const DtypeName& d : kDtypeNames) {
    if (lower == d.name) return d.dtype;
    names.emplace_back(d.name);
  }
  const std::string nearest = NearestName(lower, names);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown dtype \"", text, "\"",
                   nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?"),
                   " Known: ", absl::StrJoin(names, ", ")));
}

absl::string_view Name(StreamKind kind) {
  static constexpr const char* kNames[kStreamKinds] = {"elementwise", "reduction", "norm",      "copy",
                                                       "transpose",   "gather",    "optimizer", "scan"};
  return kNames[static_cast<size_t>(kind)];
}

double BytesOf(KernelDtype dtype) {
  static constexpr double kBytes[kKernelDtypes] = {8, 4, 4, 2, 1, 1, 0.5625, 1, 0.5};
  return kBytes[static_cast<size_t>(dtype)];
}

absl::StatusOr<KernelModel> KernelModel::Create(const proto::Device& device) {
  auto machine = std::make_unique<Machine>();
  machine->device = device;
  machine->memory_bytes_per_us = device.memory_gbytes_per_s() * 1e3;
  for (int i = 0; i < kKernelDtypes; ++i) {
    const auto it = device.peak_tflops().find(std::string(Name(static_cast<KernelDtype>(i))));
    if (it != device.peak_tflops().end()) machine->peak_per_us[i] = it->second * 1e6;
  }
  return KernelModel(std::move(machine));
}

KernelModel::KernelModel(std::unique_ptr<const Machine> machine) : machine_(std::move(machine)) {}
KernelModel::~KernelModel() = default;
KernelModel::KernelModel(KernelModel&&) noexcept = default;
KernelModel& KernelModel::operator=(KernelModel&&) noexcept = default;
const proto::Device& KernelModel::device() const { return machine_->device; }

namespace {
ModelledTime Answer(double us) { return {us, us / 1.5, us * 1.5, "data sheet"}; }
}  // namespace

absl::StatusOr<ModelledTime> KernelModel::Gemm(const GemmCall& c) const {
  const double peak = machine_->peak_per_us[static_cast<size_t>(c.dtype)];
  if (peak <= 0) return absl::InvalidArgumentError(absl::StrCat(device().name(), " has no ", Name(c.dtype)));
  return Answer(3 + std::max(2 * c.batch * c.m * c.n * c.k / (0.75 * peak),
                             c.batch * (c.m * c.k + c.n * c.k + c.m * c.n) * BytesOf(c.dtype) /
                                 (0.85 * machine_->memory_bytes_per_us)));
}

absl::StatusOr<ModelledTime> KernelModel::Attention(const AttentionCall& c) const {
  GemmCall g = {c.dtype, c.batch * c.heads, c.seq, c.seq + c.prefix, c.head_dim * (c.causal ? 1 : 2)};
  return Gemm(g);
}

absl::StatusOr<ModelledTime> KernelModel::Moe(const MoeCall& c) const {
  return Gemm({c.dtype, 1, c.tokens * c.topk / c.ep, 3 * c.inter / c.tp, c.hidden});
}

absl::StatusOr<ModelledTime> KernelModel::Stream(const StreamCall& c) const {
  return Answer(2 + c.bytes / (0.85 * machine_->memory_bytes_per_us));
}

}  // namespace chakra
