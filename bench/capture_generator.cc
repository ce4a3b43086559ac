#include "bench/capture_generator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace chakra {
namespace {

constexpr int kPid = 2910249, kMain = 2910249, kAutograd = 2919752;
constexpr int kCompute = 7, kCopies = 20, kNccl = 40;
constexpr int64_t kStart = 4458676416000000;  // ns after baseTimeNanoseconds

constexpr absl::string_view kOps[] = {"aten::linear",   "aten::layer_norm", "aten::gelu",    "aten::add_",
                                      "aten::_softmax", "aten::bmm",        "aten::dropout", "aten::mul"};
constexpr absl::string_view kBackward[] = {
    "AddmmBackward0", "NativeLayerNormBackward0", "GeluBackward0", "AddBackward0", "SoftmaxBackward0",
    "BmmBackward0",   "NativeDropoutBackward0",   "MulBackward0"};
constexpr absl::string_view kKernels[] = {
    "ampere_sgemm_128x64_tn",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float "
    "const*, "
    "float const*, float const*, float*, float*, float*)",
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() "
    "const::{lambda(float)#1}, "
    "at::detail::Array<char*, 2> >(int, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() "
    "const::{lambda(float)#1}, "
    "at::detail::Array<char*, 2>)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> "
    ">(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, false>(float*, float "
    "const*, int, "
    "int, int, bool const*, int, bool)",
    "ampere_sgemm_64x64_nn",
    "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, "
    "bool>(at::cuda::detail::TensorInfo<float const, unsigned int>, at::cuda::detail::TensorInfo<float, "
    "unsigned int>, "
    "at::cuda::detail::TensorInfo<bool, unsigned int>, unsigned int, float, at::PhiloxCudaState)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
    "at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int, "
    "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, "
    "at::detail::Array<char*, 3>)",
};

std::string Micros(int64_t ns) { return absl::StrFormat("%d.%03d", ns / 1000, ns % 1000); }

class Generator {
 public:
  explicit Generator(const CaptureOptions& options) : options_(options) {}

  std::string Run() {
    const std::string head = Head(), tail = Tail();
    const uint64_t fixed = head.size() + tail.size();
    while (host_.size() + device_.size() + fixed < options_.bytes) Step();
    // Kineto writes the operators first, and then the events of the device's tracer.
    std::string text;
    text.reserve(fixed + host_.size() + device_.size());
    text.append(head).append(host_);
    std::string().swap(host_);
    return text.append(device_).append(tail);
  }

 private:
  std::string Head() const {
    std::string ranks;
    for (int r = 0; r < options_.world; ++r) absl::StrAppend(&ranks, r == 0 ? "" : ", ", r);
    return absl::StrFormat(
        "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA "
        "A100-SXM4-40GB\", \"totalGlobalMem\": 42297524224,\n      \"computeMajor\": 8, \"computeMinor\": "
        "0,\n      "
        "\"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n      \"numSms\": 108\n    "
        "}\n  ],\n  "
        "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d, \"pg_count\": 1, "
        "\"pg_config\": "
        "[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", \"pg_size\": "
        "%d, \"ranks\": "
        "[%s]}], \"nccl_version\": \"2.20.5\"},\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": "
        "1711964646000000000,\n  \"record_shapes\": 1,\n  \"traceEvents\": [",
        options_.rank, options_.world, options_.world, ranks);
  }

  std::string Tail() const {
    std::string out;
    for (const auto& [tid, name] :
         {std::pair<int, absl::string_view>(kMain, "thread 2910249 (python)"),
          std::pair<int, absl::string_view>(kAutograd, "thread 2919752 (pt_autograd_0)")}) {
      absl::StrAppendFormat(
          &out,
          "  {\n    \"name\": \"thread_name\", \"ph\": \"M\", \"ts\": %s, \"pid\": %d, \"tid\": %d,\n    "
          "\"args\": {\n      \"name\": \"%s\"\n    }\n  },\n",
          Micros(kStart), kPid, tid, name);
    }
    return absl::StrCat(
        out,
        "  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", "
        "\"tid\": \"\", \"ts\": ",
        Micros(now_), "\n  }\n  ],\n  \"traceName\": \"capture.json\"\n}\n");
  }

  // A number in [0, n), from a linear congruential generator (Knuth's MMIX).
  int64_t Draw(int64_t n) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<int64_t>(state_ >> 33) % n;
  }

  static void Begin(std::string* out, absl::string_view cat, absl::string_view name, int64_t pid, int64_t tid,
                    int64_t ts, int64_t dur) {
    absl::StrAppend(out, "\n  {\n    \"ph\": \"X\", \"cat\": \"", cat, "\", \"name\": \"", name,
                    "\", \"pid\": ", pid, ", \"tid\": ", tid, ",\n    \"ts\": ", Micros(ts),
                    ", \"dur\": ", Micros(dur), ",\n    \"args\": {\n      ");
  }

  static void Flow(std::string* out, char phase, absl::string_view cat, int64_t id, int64_t pid, int64_t tid,
                   int64_t ts) {
    absl::StrAppend(out, "\n  {\n    \"ph\": \"", std::string(1, phase), "\", \"id\": ", id,
                    ", \"pid\": ", pid, ", \"tid\": ", tid, ", \"ts\": ", Micros(ts), ",\n    \"cat\": \"",
                    cat, "\", \"name\": \"", cat, phase == 'f' ? "\", \"bp\": \"e\"\n  }," : "\"\n  },");
  }

  // Returns the operator's External id. `extra`: more arguments, each with a comma after it.
  int64_t Op(absl::string_view cat, absl::string_view name, int tid, int64_t ts, int64_t dur,
             absl::string_view extra) {
    const int64_t id = ++external_;
    Begin(&host_, cat, name, kPid, tid, ts, dur);
    absl::StrAppend(&host_, "\"External id\": ", id, ",\"Record function id\": ", id - 140, ", ", extra,
                    "\"Ev Idx\": ", id - 1, "\n    }\n  },");
    for (int i = 0; options_.python_functions && i < 4; ++i) {
      Begin(&host_, "python_function", "torch/nn/modules/module.py(1553): _call_impl", kPid, tid, ts + i,
            dur - 2 * i);
      absl::StrAppend(&host_, "\"Python parent id\": ", id, ", \"Python id\": ", id + i + 1,
                      ", \"Ev Idx\": ", id, "\n    }\n  },");
    }
    return id;
  }

  static std::string Shapes(int64_t hidden) {
    return absl::StrCat(
        "\"Concrete Inputs\": [\"\", \"\", \"1\"], \"Input type\": [\"float\", \"float\", \"Scalar\"], "
        "\"Input Strides\": [[",
        512 * hidden, ", ", hidden, ", 1], [", hidden, ", 1], []], \"Input Dims\": [[32, 512, ", hidden,
        "], [", hidden, ", ", hidden, "], []], ");
  }

  // Adds a launch at `ts` on `tid` and its event on `stream`. Returns the end of the launch on the host.
  int64_t Launch(int tid, int64_t ts, int64_t op, int stream, absl::string_view cat, absl::string_view name,
                 int64_t dur, absl::string_view metadata) {
    const int64_t correlation = ++correlation_, host = 3000 + Draw(4000);
    const bool kernel = cat == "kernel";
    Begin(&device_, "cuda_runtime", kernel ? "cudaLaunchKernel" : "cudaMemcpyAsync", kPid, tid, ts, host);
    absl::StrAppend(&device_, "\"External id\": ", op, ", \"cbid\": ", kernel ? 211 : 41,
                    ", \"correlation\": ", correlation, "\n    }\n  },");
    Flow(&device_, 's', "ac2g", correlation, kPid, tid, ts);
    int64_t& free = stream == kCompute ? free_[0] : stream == kCopies ? free_[1] : free_[2];
    const int64_t start = std::max(ts + host + 1500 + Draw(800), free + 300 + Draw(900));
    free = start + dur;
    Begin(&device_, cat, name, 0, stream, start, dur);
    if (kernel) {
      absl::StrAppend(
          &device_, "\"External id\": ", op,
          ", \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": ", stream,
          ", \"correlation\": ", correlation,
          ",\n      \"registers per thread\": 32,\n      \"shared memory\": 16384,\n      \"blocks per SM\": "
          "18.962963,\n      \"warps per SM\": 151.703705,\n      \"grid\": [",
          64 + Draw(2000), ", 1, 1],\n      \"block\": [256, 1, 1],\n      \"est. achieved occupancy %\": 56",
          metadata, "\n    }\n  },");
    } else {
      absl::StrAppend(&device_, "\"External id\": ", op,
                      ", \"device\": 0, \"context\": 1,\n      \"stream\": ", stream,
                      ", \"correlation\": ", correlation,
                      ",\n      \"bytes\": 8388608, \"memory bandwidth (GB/s)\": 21.7863\n    }\n  },");
    }
    Flow(&device_, 'f', "ac2g", correlation, 0, stream, start);
    return ts + host;
  }

  int64_t KernelTime() { return options_.compute_ns / 2 + Draw(options_.compute_ns + 1); }

  void Forward(int layer, std::vector<int64_t>* sequences) {
    for (int k = 0; k < 8; ++k) {
      const int64_t begin = now_, dur = 18000 + Draw(9000), sequence = ++sequence_;
      Op("cpu_op", kOps[k], kMain, begin, dur, Shapes(1024 + 64 * (layer % 4)));
      const int64_t inner = Op(
          "cpu_op", k == 0 ? "aten::addmm" : absl::StrCat(kOps[k], "_out"), kMain, begin + 2000, dur - 3000,
          absl::StrCat("\"Sequence number\": ", sequence, ", \"Fwd thread id\": 0, ", Shapes(1024)));
      Flow(&host_, 's', "fwdbwd", sequence, kPid, kMain, begin + 2000);
      Launch(kMain, begin + 4000, inner, kCompute, "kernel", kKernels[k], KernelTime(), "");
      sequences->push_back(sequence);
      now_ = begin + dur + 500 + Draw(1500);
    }
  }

  void Backward(int64_t sequence, int k) {
    const int64_t begin = now_, dur = 24000 + Draw(9000);
    const std::string args = absl::StrCat("\"Sequence number\": ", sequence, ", \"Fwd thread id\": 1, ");
    Op("cpu_op", absl::StrCat("autograd::engine::evaluate_function: ", kBackward[k]), kAutograd, begin, dur,
       args);
    const int64_t op =
        Op("cpu_op", kBackward[k], kAutograd, begin + 1500, dur - 2500, absl::StrCat(args, Shapes(1024)));
    Flow(&host_, 'f', "fwdbwd", sequence, kPid, kAutograd, begin + 1500);
    Launch(kAutograd, begin + 4000, op, kCompute, "kernel", kKernels[k], KernelTime(), "");
    Launch(kAutograd, begin + 13000, op, kCompute, "kernel", kKernels[7 - k], KernelTime(), "");
    now_ = begin + dur + 500 + Draw(1500);
  }

  void AllReduce(int64_t elements) {
    std::string ranks = "[";
    for (int r = 0; r < options_.world; ++r) absl::StrAppend(&ranks, r == 0 ? "" : ", ", r);
    const std::string metadata =
        absl::StrCat("\"Collective name\": \"allreduce\", \"In msg nelems\": ", elements,
                     ", \"Out msg nelems\": ", elements, ", \"Group size\": ", options_.world,
                     ", \"dtype\": \"Float\", \"In split size\": \"[]\", \"Out split size\": \"[]\", "
                     "\"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", "
                     "\"Process Group Ranks\": \"",
                     ranks, "]\"");
    const int64_t begin = now_;
    Op("cpu_op", "c10d::allreduce_", kAutograd, begin, 60000, "");
    const int64_t op =
        Op("cpu_op", "record_param_comms", kAutograd, begin + 4000, 50000,
           absl::StrCat("\"Global rank start\": 0, \"Global rank stride\": 1, ", metadata, ", "));
    Op("user_annotation", "nccl:all_reduce", kAutograd, begin + 8000, 30000, "");
    free_[2] = std::max(free_[2], free_[0]);  // the bucket's gradients come first
    Launch(kAutograd, begin + 12000, op, kNccl, "kernel",
           "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", elements / 16,
           absl::StrCat(", ", metadata));
    now_ = begin + 62000;
  }

  void Step() {
    const int64_t begin = now_;
    now_ += 5000;
    const int64_t copy = Op("cpu_op", "aten::copy_", kMain, now_, 20000, Shapes(1024));
    Launch(kMain, now_ + 5000, copy, kCopies, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)",
           400000 + Draw(20000), "");
    now_ += 21000;
    std::vector<int64_t> sequences;
    for (int layer = 0; layer < options_.layers; ++layer) Forward(layer, &sequences);
    for (int layer = options_.layers - 1; layer >= 0; --layer) {
      for (int k = 7; k >= 0; --k)
        Backward(sequences[static_cast<size_t>(layer) * 8 + static_cast<size_t>(k)], k);
      if (layer % 4 == 0) AllReduce(6563840 + 1024 * layer);
    }
    free_[0] = std::max(free_[0], free_[2]);
    for (int i = 0; i < options_.layers; ++i) {
      const int64_t op = Op("cpu_op", "aten::_foreach_add_", kMain, now_, 15000, "");
      Launch(kMain, now_ + 4000, op, kCompute, "kernel", kKernels[3], KernelTime(), "");
      now_ += 17000;
    }
    const int64_t wait = now_, end = std::max(wait + 8000, free_[0] + 4000);
    Begin(&device_, "cuda_runtime", "cudaDeviceSynchronize", kPid, kMain, wait, end - wait);
    absl::StrAppend(&device_, "\"cbid\": 165, \"correlation\": ", ++correlation_, "\n    }\n  },");
    now_ = end + 3000;
    Op("user_annotation", absl::StrCat("ProfilerStep#", ++steps_), kMain, begin, now_ - begin, "");
    now_ += 2000;
  }

  const CaptureOptions options_;
  std::string host_, device_;
  int64_t now_ = kStart, free_[3] = {kStart, kStart, kStart};
  int64_t external_ = 1024, correlation_ = 57532, sequence_ = 0;
  int steps_ = 0;
  uint64_t state_ = 1;
};

}  // namespace

std::string GenerateKineto(const CaptureOptions& options) { return Generator(options).Run(); }

}  // namespace chakra
