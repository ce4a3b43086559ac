#include "trace/import/comm/comm_kernels.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "trace/base/demangle.h"
#include "trace/base/glob.h"

namespace chakra::pytorch {
namespace {

struct KernelRow {
  absl::string_view pattern;
  absl::string_view library;  // "": it does not communicate
  CommOp op = CommOp::kUnknown;
  int size_argument = -1;  // the template argument that is the number of members
};

constexpr absl::string_view kLocal = "";  // computation on one device, with a name like that of communication

// The first row that matches counts. A pattern matches the end of a kernel's path, from the begin of a
// component: "deep_ep::*" matches "a::deep_ep::f". '*' matches any text. Case does not matter.
// To add a library, add a row, and its real kernel names to the test.
constexpr KernelRow kKernelRows[] = {
    // NCCL, and RCCL, whose kernels have the same names. A kernel SendRecv or Generic may carry any kind.
    {"*nccl*AllReduce*", "NCCL", CommOp::kAllReduce},
    {"*nccl*ReduceScatter*", "NCCL", CommOp::kReduceScatter},
    {"*nccl*AllGather*", "NCCL", CommOp::kAllGather},
    {"*nccl*Broadcast*", "NCCL", CommOp::kBroadcast},
    {"*nccl*AllToAll*", "NCCL", CommOp::kAllToAll},
    {"*nccl*Kernel_Reduce_*", "NCCL", CommOp::kReduce},
    {"ncclReduce*Kernel*", "NCCL", CommOp::kReduce},
    {"nccl*", "NCCL"},
    {"*ncclKernel*", "NCCL"},
    {"*ncclDevKernel*", "NCCL"},
    {"rccl*", "RCCL"},
    {"c10d::checkForNaN*", kLocal},
    // MSCCL and MSCCL++.
    {"mscclKernel*", "MSCCL"},
    {"mscclpp::*allreduce*", "MSCCL++", CommOp::kAllReduce},
    {"mscclpp::*allgather*", "MSCCL++", CommOp::kAllGather},
    {"mscclpp::*alltoall*", "MSCCL++", CommOp::kAllToAll},
    {"mscclpp::*broadcast*", "MSCCL++", CommOp::kBroadcast},
    {"mscclpp::*", "MSCCL++"},
    // Intel's oneCCL; HCCL of Ascend and of Gaudi.
    {"oneccl_allreduce*", "oneCCL", CommOp::kAllReduce},
    {"oneccl_allgather*", "oneCCL", CommOp::kAllGather},
    {"oneccl_reduce_scatter*", "oneCCL", CommOp::kReduceScatter},
    {"oneccl_alltoall*", "oneCCL", CommOp::kAllToAll},
    {"oneccl_*", "oneCCL"},
    {"hcom_allReduce_*", "HCCL", CommOp::kAllReduce},
    {"hcom_allGather_*", "HCCL", CommOp::kAllGather},
    {"hcom_reduceScatter_*", "HCCL", CommOp::kReduceScatter},
    {"hcom_alltoall*", "HCCL", CommOp::kAllToAll},
    {"hcom_broadcast_*", "HCCL", CommOp::kBroadcast},
    {"hcom_reduce_*", "HCCL", CommOp::kReduce},
    {"hcom_scatter_*", "HCCL", CommOp::kScatter},
    {"hcom_gather_*", "HCCL", CommOp::kGather},
    {"hcom_*", "HCCL"},
    {"*hccl*AllReduce*", "HCCL", CommOp::kAllReduce},
    {"*hccl*all_reduce*", "HCCL", CommOp::kAllReduce},
    {"*hccl*ReduceScatter*", "HCCL", CommOp::kReduceScatter},
    {"*hccl*reduce_scatter*", "HCCL", CommOp::kReduceScatter},
    {"*hccl*AllGather*", "HCCL", CommOp::kAllGather},
    {"*hccl*all_gather*", "HCCL", CommOp::kAllGather},
    {"*hccl*AllToAll*", "HCCL", CommOp::kAllToAll},
    {"*hccl*all_to_all*", "HCCL", CommOp::kAllToAll},
    {"*hccl*Broadcast*", "HCCL", CommOp::kBroadcast},
    {"hccl*", "HCCL"},
    // Mixture-of-experts libraries: dispatch and combine are all-to-alls; notifications exchange counts.
    {"deep_ep::*get_dispatch_layout", kLocal},
    {"deep_ep::*_mask_buffer", kLocal},
    {"deep_ep::*notify*", "DeepEP"},
    {"deep_ep::*dispatch*", "DeepEP", CommOp::kAllToAll},
    {"deep_ep::*combine*", "DeepEP", CommOp::kAllToAll},
    {"deep_ep::*barrier*", "DeepEP", CommOp::kBarrier},
    {"deep_ep::*clean_low_latency_buffer", "DeepEP", CommOp::kBarrier},
    {"hybrid_ep::dispatch_kernel*", "DeepEP", CommOp::kAllToAll},
    {"hybrid_ep::combine_kernel*", "DeepEP", CommOp::kAllToAll},
    {"hybrid_ep::device_sync_kernel", "DeepEP", CommOp::kBarrier},
    {"EpDispatch*Kernel*", "Mori", CommOp::kAllToAll},
    {"EpCombine*Kernel*", "Mori", CommOp::kAllToAll},
    {"pplx::*dispatchKernel", "pplx", CommOp::kAllToAll},
    {"pplx::*combineKernel", "pplx", CommOp::kAllToAll},
    {"moeA2ADispatchKernel", "TensorRT-LLM", CommOp::kAllToAll},
    {"moeA2ACombineKernel", "TensorRT-LLM", CommOp::kAllToAll},
    {"moeAllToAllKernel", "TensorRT-LLM", CommOp::kAllToAll},
    // One-sided libraries, and PyTorch's operators on them.
    {"exchangeSplitAndOffset*", "NVSHMEM"},
    {"allToAllV*", "NVSHMEM", CommOp::kAllToAll},
    {"barrier_on_stream_kernel*", "NVSHMEM", CommOp::kBarrier},
    {"sync_on_stream_kernel*", "NVSHMEM", CommOp::kBarrier},
    {"alltoall_on_stream_kernel*", "NVSHMEM", CommOp::kAllToAll},
    {"nvshmem*", "NVSHMEM"},
    {"rocshmem*", "rocSHMEM"},
    // PyTorch's symmetric memory, and kernels of other libraries with the same structure.
    {"*one_shot_all_reduce_norm_kernel", "TensorRT-LLM", CommOp::kAllReduce},
    {"fbgemm_gpu::*shot_all_reduce*", "FBGEMM", CommOp::kAllReduce},
    {"multimem_one_shot_reduce*kernel*", "symmetric memory", CommOp::kReduce},
    {"multimem*all_reduce_kernel*", "symmetric memory", CommOp::kAllReduce},
    {"multimem*all_gather_kernel*", "symmetric memory", CommOp::kAllGather},
    {"one_shot_all_reduce*", "symmetric memory", CommOp::kAllReduce},
    {"two_shot_all_reduce*", "symmetric memory", CommOp::kAllReduce},
    {"all_reduce_*_shot_kernel", "symmetric memory", CommOp::kAllReduce},
    {"allreduce_*_shot_*", "symmetric memory", CommOp::kAllReduce},
    {"put_signal_kernel", "symmetric memory"},
    {"wait_signal_kernel", "symmetric memory"},
    {"c10d::symmetric_memory::*barrier_kernel", "symmetric memory", CommOp::kBarrier},
    {"c10d::intra_node_comm::*AllReduceKernel", "intra-node all-reduce", CommOp::kAllReduce},
    // All-reduces of inference engines.
    {"vllm::cross_device_reduce_*", "vLLM", CommOp::kAllReduce, 1},
    {"sglang::cross_device_reduce_*", "SGLang", CommOp::kAllReduce, 1},
    {"aiter::cross_device_reduce_*", "aiter", CommOp::kAllReduce, 1},
    {"cross_device_reduce_*", "vLLM", CommOp::kAllReduce, 1},
    {"aiter::*local_device_load*", kLocal},
    {"reduce_scatter_cross_device_store", "aiter", CommOp::kAllReduce, 1},
    {"aiter::allreduce_*", "aiter", CommOp::kAllReduce},
    {"aiter::allgather_*", "aiter", CommOp::kAllGather},
    {"aiter::reduce_scatter_*", "aiter", CommOp::kReduceScatter},
    {"allreduce_prototype_*", "QuickReduce", CommOp::kAllReduce},
    {"flashinfer::*allreduce*_fusion_kernel_*", "FlashInfer", CommOp::kAllReduce},
    {"flashinfer::*shotAllreduce*Kernel", "FlashInfer", CommOp::kAllReduce},
    {"flashinfer::*rmsNormLamport", "FlashInfer"},
    {"allreduce_fusion_kernel_*", "TensorRT-LLM", CommOp::kAllReduce},
    {"*_allreduce_fusion_kernel_*", "TensorRT-LLM", CommOp::kAllReduce},
    {"oneShotAllReduceKernel", "TensorRT-LLM", CommOp::kAllReduce},
    {"twoShotAllReduceKernel", "TensorRT-LLM", CommOp::kAllReduce},
    {"oneshotAllreduce*Kernel", "TensorRT-LLM", CommOp::kAllReduce},
    {"twoshotAllreduce*Kernel", "TensorRT-LLM", CommOp::kAllReduce},
    {"tensorrt_llm::*rmsNormLamport", "TensorRT-LLM"},
    // Userbuffers of Transformer Engine and TensorRT-LLM.
    {"userbuffers_fp16_sum_inplace_gpu_*_ag*", "userbuffers", CommOp::kAllGather},
    {"userbuffers_fp16_sum_inplace_gpu_*_rs*", "userbuffers", CommOp::kReduceScatter},
    {"userbuffers_fp16_sum_inplace_gpu_*", "userbuffers", CommOp::kAllReduce},
    {"kuserbuffers_*", "userbuffers"},
    // Collectives in Triton: those of Iris, and those of others that name kernels after the collective.
    {"persistent_all_reduce*", "Triton", CommOp::kAllReduce},
    {"persistent_all_gather*", "Triton", CommOp::kAllGather},
    {"persistent_reduce_scatter*", "Triton", CommOp::kReduceScatter},
    {"persistent_all_to_all*", "Triton", CommOp::kAllToAll},
    {"all_reduce*kernel*", "Triton", CommOp::kAllReduce},
    {"allreduce*kernel*", "Triton", CommOp::kAllReduce},
    {"all_gather*kernel*", "Triton", CommOp::kAllGather},
    {"allgather*kernel*", "Triton", CommOp::kAllGather},
    {"reduce_scatter*kernel*", "Triton", CommOp::kReduceScatter},
    {"all_to_all*kernel*", "Triton", CommOp::kAllToAll},
    {"*_shot_all_reduce_kernel*", "Triton", CommOp::kAllReduce},
    {"*_shot_allreduce_kernel*", "Triton", CommOp::kAllReduce},
    // Copy engines.
    {"Memcpy PtoP*", "peer copy"},
};

// Libraries whose calls use a process group.
constexpr absl::string_view kOfProcessGroups[] = {"NCCL", "RCCL", "MSCCL", "MSCCL++", "oneCCL", "HCCL"};

// The patterns of kKernelRows, in lower case.
const std::vector<std::string>& LowerPatterns() {
  static const auto* const kPatterns = [] {
    auto* patterns = new std::vector<std::string>;
    for (const KernelRow& row : kKernelRows) patterns->push_back(absl::AsciiStrToLower(row.pattern));
    return patterns;
  }();
  return *kPatterns;
}

// `path`: in lower case.
const KernelRow* FindKernelRow(absl::string_view path) {
  for (size_t row = 0; row < std::size(kKernelRows); ++row) {
    const absl::string_view pattern = LowerPatterns()[row];
    for (size_t at = 0; at != absl::string_view::npos;) {
      const absl::string_view tail = path.substr(at);
      // A pattern without "::" must match the kernel's own name.
      const bool whole = absl::StrContains(pattern, "::") || !absl::StrContains(tail, "::");
      if (whole && MatchesGlob(pattern, tail)) return &kKernelRows[row];
      const size_t next = path.find("::", at);
      at = next == absl::string_view::npos ? next : next + 2;
    }
  }
  return nullptr;
}

// The element type in the name of an NCCL kernel, such as "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
absl::string_view TypeInName(absl::string_view path) {
  static constexpr std::pair<absl::string_view, absl::string_view> kTypes[] = {
      {"_float", "float"},      {"_f32", "float"},        {"_half", "half"},     {"_f16", "half"},
      {"bf16", "bfloat16"},     {"bfloat16", "bfloat16"}, {"_double", "double"}, {"_f64", "double"},
      {"_int64", "long"},       {"_i64", "long"},         {"_int32", "int"},     {"_i32", "int"},
      {"_int8", "signed char"}, {"_i8", "signed char"},   {"_uint8", "byte"},    {"_u8", "byte"}};
  for (const auto& [text, type] : kTypes) {
    if (absl::StrContains(path, text)) return type;
  }
  return "";
}

// Returns the position after the bracket that closes the one at `at`; the end of the text if it is not
// closed.
size_t AfterBracket(absl::string_view text, size_t at) {
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}' || (c == '>' && (i == 0 || text[i - 1] != '-'))) --depth;
    if (depth == 0) return i + 1;
  }
  return text.size();
}

std::vector<std::string> SplitArguments(absl::string_view list) {
  std::vector<std::string> out;
  size_t from = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && (list[i] == '<' || list[i] == '(' || list[i] == '{')) {
      i = AfterBracket(list, i) - 1;
    } else if (i == list.size() || list[i] == ',') {
      out.emplace_back(absl::StripAsciiWhitespace(list.substr(from, i - from)));
      from = i + 1;
    }
  }
  return out;
}

// Reads "8" or "(int)8".
int64_t KernelMembers(absl::string_view argument) {
  if (const size_t cast = argument.rfind(')'); cast != argument.npos) argument.remove_prefix(cast + 1);
  int64_t n = 0;
  return absl::SimpleAtoi(argument, &n) && n > 0 ? n : kNone;
}

}  // namespace

KernelName SplitKernelName(absl::string_view name) {
  std::string plain = DemangleRoughly(name);
  if (plain.empty()) plain = std::string(name);
  const absl::string_view text = plain;
  KernelName out;
  if (absl::StartsWith(text, "Memcpy ")) {
    out.path = plain;
    return out;
  }
  constexpr absl::string_view kUnnamed[] = {"(anonymous namespace)", "<unnamed>"};
  for (size_t i = 0; i < text.size();) {
    const absl::string_view rest = text.substr(i);
    const auto* unnamed = std::find_if(std::begin(kUnnamed), std::end(kUnnamed),
                                       [&](absl::string_view u) { return absl::StartsWith(rest, u); });
    if (unnamed != std::end(kUnnamed)) {
      out.path += "(anonymous)";
      i += unnamed->size();
    } else if (text[i] == '<') {
      const size_t end = AfterBracket(text, i);
      out.arguments = SplitArguments(text.substr(i + 1, end > i + 1 ? end - i - 2 : 0));
      i = end;
    } else if (text[i] == '(') {
      break;
    } else if (text[i] == ' ') {  // the text before was the return type
      out.path.clear();
      out.arguments.clear();
      ++i;
    } else {
      if (text[i] == ':') out.arguments.clear();
      out.path += text[i++];
    }
  }
  if (absl::EndsWith(out.path, ".kd")) out.path.resize(out.path.size() - 3);
  return out;
}

KernelSays ReadCommKernel(absl::string_view name, CommKernel* out) {
  const KernelName kernel = SplitKernelName(name);
  const std::string path = absl::AsciiStrToLower(kernel.path);
  const KernelRow* row = FindKernelRow(path);
  if (row == nullptr) return KernelSays::kNothing;
  if (row->library.empty()) return KernelSays::kComputes;
  *out = CommKernel();
  out->library = row->library;
  out->op = row->op;
  out->process_group = std::find(std::begin(kOfProcessGroups), std::end(kOfProcessGroups), row->library) !=
                       std::end(kOfProcessGroups);
  if (row->library == "NCCL") out->dtype = TypeInName(path);
  if (row->size_argument >= 0 && static_cast<size_t>(row->size_argument) < kernel.arguments.size())
    out->group_size = KernelMembers(kernel.arguments[static_cast<size_t>(row->size_argument)]);
  return KernelSays::kCommunicates;
}

}  // namespace chakra::pytorch
