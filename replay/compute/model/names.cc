// Names of dtypes and kinds.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "replay/compute/model/kernel_model.h"
#include "trace/base/did_you_mean.h"

namespace chakra {
namespace {

struct DtypeName {
  KernelDtype dtype;
  const char* name;
};

// The first name of a dtype is the one that Name() returns.
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
  return absl::InvalidArgumentError(
      absl::StrCat("unknown dtype \"", text, "\"", NearestOfKnown(lower, names)));
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

}  // namespace chakra
