#include "trace/import/nsys/advice.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace chakra::nsys {
namespace {

// Sums over all processes of all files.
struct Sums {
  uint64_t mpi_calls = 0, nccl_kernels = 0, nccl_ranges = 0, payloads = 0, graphs = 0, graph_kernels = 0,
           graph_joined = 0;
  uint64_t operators = 0, shaped = 0;
  bool nvtx = true, api = true, utc = true, blobs = true;
};

Sums SumsOf(const std::vector<std::unique_ptr<ExportFile>>& files) {
  Sums s;
  for (const auto& file : files) {
    s.mpi_calls += file->mpi_calls;
    s.nvtx = s.nvtx && file->nvtx;
    s.api = s.api && file->api;
    s.utc = s.utc && file->session.has_utc;
    s.blobs = s.blobs && file->session.blobs;
    for (const auto& process : file->processes) {
      for (const auto& [device, counts] : process->devices) s.nccl_kernels += counts.second;
      s.nccl_ranges += process->nccl_ranges;
      s.payloads += process->payloads;
      s.graphs += process->graph_launches;
      s.graph_kernels += process->graph_kernels.size();
      s.graph_joined += process->graph_joined;
      s.operators += process->operators;
      s.shaped += process->shaped;
    }
  }
  return s;
}

}  // namespace

std::vector<std::string> Missing(const std::vector<std::unique_ptr<ExportFile>>& files) {
  const Sums s = SumsOf(files);
  std::vector<std::string> out;
  if (!s.api)
    out.push_back(
        "the export has no CUDA calls: launches of kernels are unknown, only their order on each stream is "
        "known; record with "
        "`nsys profile --trace=cuda,nvtx`");
  if (s.nccl_ranges > 0 && s.payloads == 0) {
    out.push_back(absl::StrCat(
        s.nccl_ranges,
        " calls of NCCL have no sizes, peers and groups, so they keep their recorded times on any cluster: ",
        s.blobs ? "this NCCL writes none (2.19 does)"
                : "the recording has them, but the export leaves them out; export the report again with "
                  "`nsys export -t "
                  "sqlite "
                  "--include-blobs=true REPORT.nsys-rep`"));
  } else if (s.nccl_kernels > 0 && s.nccl_ranges == 0) {
    out.push_back(absl::StrCat(
        s.nccl_kernels,
        " kernels of NCCL have no calls, and so no sizes, peers and groups: record NVTX (`nsys profile "
        "--trace=cuda,nvtx`, without NCCL_NVTX_DISABLE=1, and without nccl in --trace, whose ranges replace "
        "those of NCCL), and export with `--include-blobs=true`"));
  }
  if (s.graphs > 0) {
    out.push_back(absl::StrCat(s.graphs,
                               " launches of CUDA graphs were recorded as wholes: edits and models of "
                               "kernels cannot change them; record with `--cuda-graph-trace=node`"));
  }
  if (s.graph_kernels > s.graph_joined) {
    out.push_back(absl::StrCat(s.graph_kernels - s.graph_joined, " of ", s.graph_kernels,
                               " kernels of CUDA graphs have no operator: the capture of their graphs was "
                               "not recorded, or no operators were"));
  }
  if (!s.nvtx || s.operators == 0) {
    out.push_back(
        "kernels have no operators and shapes: `kernels` and edits by operator cannot use them; record "
        "PyTorch "
        "with "
        "`--pytorch=autograd-shapes-nvtx`, or in torch.autograd.profiler.emit_nvtx(record_shapes=True)");
  } else if (s.shaped == 0) {
    out.push_back(
        "operators have no shapes: `kernels` cannot distinguish sizes; record with "
        "`--pytorch=autograd-shapes-nvtx`, or "
        "emit_nvtx(record_shapes=True)");
  }
  if (s.mpi_calls > 0)
    out.push_back(absl::StrCat(
        s.mpi_calls,
        " calls of MPI keep their recorded times on any cluster, because their messages are not matched"));
  if (files.size() > 1 && !s.utc)
    out.push_back(
        "a file has no start time (TARGET_INFO_SESSION_START_TIME): clocks are aligned only by collectives");
  return out;
}

}  // namespace chakra::nsys
