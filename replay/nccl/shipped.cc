#include "replay/nccl/shipped.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"

namespace chakra::shipped {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// Fitted on H100, bfloat16, from tables of vllm-project/vllm#24111, #24532 and #42324: one-shot ("ca_1stage")
// on 2, 4 and 6 devices, 512 KiB to 4 MiB; two-shot and multimem of symmetric memory on 4, 6 and 8 devices,
// 512 KiB to 64 MiB.
constexpr Law kOneShotHopper = {5.5, 0.77};
constexpr Law kTwoShotHopper = {11, 0.57};
constexpr Law kMultimemHopper = {9.5, 0.53};

// The kernels launch a fixed number of blocks, so twice the link rate does not double their rate. Source for
// multimem: 73 calls of 5.1 and 5.5 MB with 8 blocks of 1,024 threads on 8 B200 (a Kineto capture: medians
// 25.0 and 27.6 us). There is no figure for the others: their shares are reduced like multimem's.
constexpr double kBlackwellOfHopper = 0.71;

// DeepEP (deepseek-ai/DeepEP, docs/legacy.md and README.md). Low latency: 80 % of NVLink is the usable share
// on H800 according to that page; the base and the share of the NIC are fitted on its 12 times of 128 tokens
// on 8 to 256 H800. Normal: 153 and 158 GB/s of NVLink's 200 on 8 H800, an eighth of which is the device's
// own; 43 to 46 GB/s of a NIC's 50 leave the node on 32 and 64. That page has no times for small calls: the
// base is assumed to be that of low latency.
constexpr Law kDeepEpLowLatencyLaw = {38, 0.8, 0.96};
constexpr Law kDeepEpLaw = {38, 0.68, 0.88};

struct Limits {
  int ranks;
  uint64_t hopper, blackwell;  // bytes
};

// The limits of sizes for vLLM's custom kernels, and for symmetric memory: vllm-project/vllm,
// vllm/distributed/device_communicators/all_reduce_utils.py, capabilities 9.0 and 10.0
// (vllm-project/vllm#24111).
constexpr Limits kVllmCustom[] = {
    {2, 64 * kMiB, 2 * kMiB}, {4, 32 * kMiB, 2 * kMiB}, {6, kMiB / 2, kMiB}, {8, kMiB / 4, kMiB}};
constexpr Limits kVllmSymmetric[] = {{2, 64 * kMiB, 8 * kMiB},
                                     {4, 32 * kMiB, 32 * kMiB},
                                     {6, 64 * kMiB, 128 * kMiB},
                                     {8, 64 * kMiB, 128 * kMiB}};
// vLLM before Hopper, and SGLang: custom_all_reduce.py of both, 8192 * 1024 bytes.
constexpr uint64_t kMostCustom = 8 * kMiB;

// The number of elements from which on TensorRT-LLM uses two-shot, and the bytes of its workspace:
// NVIDIA/TensorRT-LLM, cpp/tensorrt_llm/common/customAllReduceUtils.h, HeuristicThresholdLP and
// getMaxRequiredWorkspaceSize.
constexpr Limits kTensorRtTwoShot[] = {
    {2, 4096 * 4096, 4096 * 4096}, {4, 1024 * 1024, 1024 * 2048}, {8, 512 * 512, 1024 * 1024}};
constexpr uint64_t kTensorRtWorkspace = 64 * kMiB;
constexpr uint64_t kHalfBytes = 2;  // bytes, of float16 and bfloat16

// The entry for `ranks`; 0: the table has none.
template <size_t kEntries>
uint64_t TableLimit(const Limits (&table)[kEntries], Generation generation, int ranks) {
  for (const Limits& l : table) {
    if (l.ranks == ranks) return generation == Generation::kBlackwell ? l.blackwell : l.hopper;
  }
  return 0;
}

// The choice between the kernels that vLLM and SGLang share: one stage for two members and for small buffers.
std::string Stages(int ranks, uint64_t bytes) {
  const bool one = ranks == 2 || (ranks <= 4 && bytes < 512 * kKiB) || bytes < 256 * kKiB;
  return one ? kOneShot : kTwoShot;
}

// Custom kernels first, then symmetric memory: vllm/distributed/device_communicators/cuda_communicator.py.
std::string PickVllm(Generation generation, int ranks, uint64_t bytes, bool multicast) {
  if (generation < Generation::kHopper) return bytes < kMostCustom ? Stages(ranks, bytes) : "";
  if (bytes < TableLimit(kVllmCustom, generation, ranks)) return Stages(ranks, bytes);
  if (!multicast || bytes >= TableLimit(kVllmSymmetric, generation, ranks)) return "";
  // multimem for these numbers of members, two-shot for others: symm_mem.py, _WORLD_SIZES_MULTIMEM.
  const bool in_switch = ranks >= (generation == Generation::kHopper ? 4 : 6);
  return in_switch ? kMultimem : kTwoShot;
}

}  // namespace

Law LawOf(absl::string_view algorithm, Generation generation) {
  // The caller sets the number of blocks of these kernels, so their shares hold on other links too.
  if (algorithm == kDeepEp) return kDeepEpLaw;
  if (algorithm == kDeepEpLowLatency) return kDeepEpLowLatencyLaw;
  Law law = algorithm == kOneShot ? kOneShotHopper : algorithm == kTwoShot ? kTwoShotHopper : kMultimemHopper;
  if (generation == Generation::kBlackwell) law.link_share *= kBlackwellOfHopper;
  return law;
}

const char* AlgorithmOfKernel(absl::string_view name) {
  // The first part that the name contains decides. The one-shot kernel of multimem moves other bytes than its
  // two-shot kernel.
  static constexpr std::pair<absl::string_view, const char*> kParts[] = {
      {"multimem_one_shot", nullptr},
      {"multimem_all_reduce_kernel", kMultimem},
      {"two_shot_all_reduce_kernel", kTwoShot},
      {"one_shot_all_reduce_kernel", kOneShot},
      {"cross_device_reduce_1stage", kOneShot},
      {"cross_device_reduce_2stage", kTwoShot},
      {"oneShotAllReduceKernel", kOneShot},
      {"twoShotAllReduceKernel", kTwoShot},
      {"ncclSymkDevKernel_AllReduce_AGx", kOneShot},
      {"ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC", kMultimem},
      {"ncclSymkDevKernel_AllReduce_RSxLD_AGxST", kTwoShot}};
  for (const auto& [part, algorithm] : kParts) {
    if (absl::StrContains(name, part)) return algorithm;
  }
  return nullptr;
}

const std::vector<std::string>& Software() {
  static const std::vector<std::string>* names =
      new std::vector<std::string>{"sglang", "tensorrt_llm", "vllm"};
  return *names;
}

std::string Pick(absl::string_view software, Generation generation, int ranks, uint64_t bytes,
                 bool multicast) {
  if (software == "tensorrt_llm") {
    const uint64_t elements = TableLimit(kTensorRtTwoShot, generation, ranks);
    if (elements == 0 || bytes > kTensorRtWorkspace) return "";
    return bytes / kHalfBytes >= elements ? kTwoShot : kOneShot;
  }
  if (ranks != 2 && ranks != 4 && ranks != 6 && ranks != 8) return "";
  if (software == "vllm") return PickVllm(generation, ranks, bytes, multicast);
  return bytes < kMostCustom ? Stages(ranks, bytes) : "";
}

}  // namespace chakra::shipped
