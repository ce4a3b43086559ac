#include "replay/cli/record_texts.h"

namespace chakra::cli {
namespace {

constexpr absl::string_view kTorch =
    R"(Record: PyTorch's profiler, and its execution trace beside it, on every rank.

  from torch.profiler import profile, schedule, ProfilerActivity, ExecutionTraceObserver
  observer = ExecutionTraceObserver().register_callback(f"capture/host.{rank}.json")
  with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
               schedule=schedule(wait=10, warmup=2, active=3), execution_trace_observer=observer,
               on_trace_ready=lambda p: p.export_chrome_trace(f"capture/kineto.{rank}.json.gz")) as p:
      for batch in data:
          train_step(batch)
          p.step()

examples/capture/capture.py does this, for PyTorch 1.13 (CPU) and 2.x. Then: chakra-replay replay capture

What each piece is for, and what its absence costs:
  every rank             a rank alone is replayed with the collectives' recorded times; others' work is not known
  p.step() in the loop   steps (--steps); without, there is only the whole window
  record_shapes=True     shapes of operators: kernel tables and models tell sizes apart
  the execution trace    groups, roots, splits and sizes of collectives; without, they are taken from kernels'
                         arguments (NCCL kernels carry them from 2.1 on), inferred, or asked for with --groups
  warm-up steps          the first collectives, the allocator and compilation would be part of the step
  a job that has settled  wait=50 costs nothing
Off, for they cost time and nothing here reads them: with_stack, profile_memory, with_flops.

By version:
  1.13        ExecutionGraphObserver; no record_param_comms for gloo
  2.0, 2.1    ExecutionTraceObserver is registered, started and stopped by hand (capture.py does)
  2.1 on      rows of cuda_sync say what the host and streams waited for; NCCL kernels carry their metadata
  newer       ENABLE_PYTORCH_EXECUTION_TRACE=1 in the environment records the execution trace beside Kineto's file
              without code, in a file whose name ends in .et.json
CUDA graphs (vLLM, SGLang, torch.compile's reduce-overhead): kernels of a graph have no operators. Record the capture
of the graphs in a trace of its own, too: it has the operators and their shapes. Collectives in graphs have no sizes
and groups, unless they were marked when the graph was captured (torch 2.12 on, CUDA 13.1):
  with torch.cuda.graph(g, enable_annotations=True): ... mark_kernels({"Collective name": "all_reduce", ...})
Later versions put the marks into the trace:
  prof.export_chrome_trace(path, cuda_graph_annotations=get_kernel_annotations())
With earlier ones write get_kernel_annotations() as JSON to kernel_annotations_rank0_x.json, and give that file, too.
)";

constexpr absl::string_view kNsys =
    R"(Record: one report a host, with all its processes and GPUs in it; export it with the payloads.

  nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none \
      --cuda-graph-trace=node --pytorch=autograd-shapes-nvtx \
      --capture-range=cudaProfilerApi --capture-range-end=stop \
      -o report_%h  torchrun --nproc-per-node=8 train.py
  nsys export -t sqlite --include-blobs=true -o report_HOST.sqlite report_HOST.nsys-rep
  chakra-replay replay report_*.sqlite

and in the program, around a few steps that are not the first:

  torch.cuda.cudart().cudaProfilerStart()
  for i in range(3):
      with torch.cuda.nvtx.range(f"iteration {i}"):
          train_step()
  torch.cuda.cudart().cudaProfilerStop()

What each piece is for, and what its absence costs:
  --include-blobs=true         (export) sizes, peers and groups of NCCL's calls. Without, a cluster keeps their recorded
                               times. No new recording is needed: export the report again
  nvtx in --trace              NCCL's calls and PyTorch's operators. Without, only kernels and their times are known.
                               NCCL_NVTX_DISABLE must not be 1, and nccl not be in --trace: the ranges of newer
                               versions' own tracing of NCCL take the place of NCCL's, and are not read
  --cuda-graph-trace=node      kernels inside CUDA graphs. Without, a launch of a graph is one opaque operation, which no
                               edit of kernels and no other device's model reaches. It makes graphs slower to launch
  --pytorch=autograd-shapes-nvtx  operators with shapes, for kernel tables, models and edits by operator. Versions without
                               --pytorch: torch.autograd.profiler.emit_nvtx(record_shapes=True) around the steps. It
                               makes a host-bound job slower: record once without it if the host is what matters
  --cuda-event-trace=true      (where `nsys profile --help` lists it) which record a stream's wait is for. Without, waits
                               are taken for the last record before them, and counted as such. It costs time on the
                               device, and may make streams wait for each other that would not. Newer versions may do
                               it unasked: --cuda-event-trace=false where streams overlap much
  ranges around steps          steps (--steps, --step-range "iteration*"). Without, --step-range pattern looks for the
                               kernels that repeat
  all hosts                    give all exports to one command: ranks are those of MPI (--trace=mpi), else of NCCL's
                               communicators if their making was recorded, else the order of files and devices
  --sample=none --cpuctxsw=none  what they record is not read, and costs time and gigabytes

Sizes of the export grow with the window: three steps are enough. Of a large one, --steps 1 keeps only that step in memory.
)";

constexpr absl::string_view kJax =
    R"(Record: an XPlane profile of a few steps on every host, and the compiled modules.

  XLA_FLAGS="--xla_dump_to=hlo --xla_dump_hlo_as_text --xla_dump_hlo_as_proto" python train.py

  for i in range(5):
      train_step()                      # compiles, warms up
  jax.profiler.start_trace("profile")
  for i in range(3):
      with jax.profiler.StepTraceAnnotation("train", step_num=i):
          jax.block_until_ready(train_step())
  jax.profiler.stop_trace()

The files: profile/plugins/profile/TIME/HOST.xplane.pb, and hlo/module_*.after_optimizations.{txt,hlo.pb}.

What each piece is for, and what its absence costs:
  .xplane.pb             timelines of devices and hosts; the modules that ran are inside
  after_optimizations    the partitioned step itself: shapes, replica groups, what depends on what. before_optimizations
                         and StableHLO are from before the partitioner, and have no collectives
  StepTraceAnnotation    steps; without, there is only the whole window
  every host             each writes its own file; a host alone shows its devices only
On GPUs command buffers (CUDA graphs) hide kernels from the timeline: XLA_FLAGS=--xla_gpu_enable_command_buffer= records
without them. trace.json.gz beside the .xplane.pb is cut at about a million events: take the .xplane.pb.
)";

constexpr absl::string_view kRocprof = R"(Record: kernels, copies, HIP and RCCL calls of every process.

  rocprofv3 --kernel-trace --memory-copy-trace --hip-runtime-trace --rccl-trace --marker-trace \
      --output-format json -d profile -- python train.py

(one command for each rank: mpirun -n 8 rocprofv3 ... -- python train.py). --runtime-trace stands for the switches above
in versions that have it. ROCm 7 writes rocpd (SQLite) by default; 6 writes CSV, so name the format.

What each piece is for, and what its absence costs:
  --kernel-trace, --memory-copy-trace  what ran on the GPUs
  --rccl-trace             which collective, how large, on which communicator. Without, all of RCCL's kernels have one
                           name (ncclDevKernel_Generic), and neither kind nor size of a collective can be known
  --hip-runtime-trace      launches and synchronisations: without, kernels have their stream's order alone
  --marker-trace           ROCTX ranges: steps, and operators (torch.autograd.profiler.emit_nvtx works with ROCTX)
  every process            a file for each
PyTorch's own profiler on ROCm records operators, shapes and collectives besides: see `record-help torch`.
)";

constexpr absl::string_view kNccl =
    R"(Record: NCCL's collectives alone, at any scale, at little cost. There are three ways.

1. NCCL's Inspector (NCCL 2.28 on; a plugin in NCCL's sources, plugins/profiler/inspector, earlier
   ext-profiler/inspector): a line for each call.
     NCCL_PROFILER_PLUGIN=/path/libnccl-profiler-inspector.so  NCCL_INSPECTOR_ENABLE=1
     NCCL_INSPECTOR_DUMP_DIR=logs
     NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500000   newer versions write at the end alone without it
     NCCL_INSPECTOR_DUMP_COLL_RING_SIZE=8192 NCCL_INSPECTOR_DUMP_P2P_RING_SIZE=8192
                                             calls of a communicator that are kept between dumps, 1,024 otherwise:
                                             a program that makes more in an interval loses the oldest
     NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES=0    calls below 8,192 bytes are left out otherwise
     NCCL_INSPECTOR_DUMP_VERBOSE=1           begin and end of each call: without, only how long it took
   Newer versions leave out calls that the GPU did not time; NCCL_INSPECTOR_REQUIRE_KERNEL_TIMING=0 keeps them, with
   the host's time, which `calibrate` does not use.

2. NCCL's example profiler plugin (2.23 on): algorithm, protocol and channels of each call, at a higher cost.
     NCCL_PROFILER_PLUGIN=/path/libnccl-profiler-example.so  NCCL_PROFILE_DUMP_FILE=logs/nccl
     NCCL_PROFILE_EVENT_MASK=4095            all events, with the times of kernels
     NCCL_PROFILE_COLL_POOL_SIZE=4096 NCCL_PROFILE_COLL_API_POOL_SIZE=4096 NCCL_PROFILE_GROUP_API_POOL_SIZE=4096
                                             and the same with P2P: calls beyond 256 in flight are not seen otherwise

3. PyTorch's Flight Recorder (2.4 on): the last calls of each rank, with sizes and groups.
     TORCH_NCCL_TRACE_BUFFER_SIZE=20000      2,000 or none otherwise; newer versions also take TORCH_FR_BUFFER_SIZE
     TORCH_NCCL_ENABLE_TIMING=1              how long each call took: without, only when it was enqueued
     TORCH_NCCL_DUMP_ON_TIMEOUT=1  TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/nccl_trace_rank_
                                             (or TORCH_FR_DUMP_TEMP_FILE): the rank is put behind the name
   A job that does not hang writes its dump itself, on each rank, at the end of the steps that are wanted:
     open(f"logs/nccl_trace_rank_{rank}", "wb").write(torch._C._distributed_c10d._dump_nccl_trace())

What none of them has: computation. It is the time between calls, on the machine that was recorded. The times of calls
hold the waiting for late ranks: logs of all ranks tell it apart, the log of one does not.
)";

constexpr RecordText kTexts[] = {
    {"torch", "PyTorch's profiler and execution trace", kTorch},
    {"nsys", "Nsight Systems, on NVIDIA GPUs", kNsys},
    {"jax", "JAX's XPlane profiles and XLA's modules", kJax},
    {"rocprof", "rocprofv3, on AMD GPUs", kRocprof},
    {"nccl", "NCCL's calls alone, of large jobs", kNccl},
};

}  // namespace

absl::Span<const RecordText> RecordTexts() { return kTexts; }

}  // namespace chakra::cli
