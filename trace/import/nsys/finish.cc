#include "trace/import/nsys/finish.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "trace/import/kineto/kineto_finish.h"
#include "trace/import/nsys/device_rows.h"
#include "trace/import/nsys/kernel_pattern.h"

namespace chakra::nsys {
namespace {

using pytorch::Event;
using pytorch::EventKind;

// Joins each backward operator to the last forward operator before it with the same sequence number, if that
// is on another thread.
void Arrows(pytorch::DeviceTrace* trace) {
  absl::flat_hash_map<int64_t, uint32_t> forward;
  for (uint32_t row = 0; row < trace->events.size(); ++row) {
    const Event& e = trace->events[row];
    if (e.kind != EventKind::kCpuOp || e.extra == kNoRow || trace->ops[e.extra].seq < 0) continue;
    const int64_t seq = trace->ops[e.extra].seq;
    if (!absl::StartsWith(trace->name_of(e), "autograd::engine::evaluate_function")) {
      forward[seq] = row;
      continue;
    }
    const auto from = forward.find(seq);
    if (from != forward.end() && trace->events[from->second].lane != e.lane)
      trace->fwdbwd.push_back({from->second, row});
  }
}

}  // namespace

void FinishRows(Process* process) {
  pytorch::DeviceTrace& trace = process->trace;
  process->Unpack();
  for (const StepMark& step : process->step_marks) trace.events[step.row].name = step.name;
  for (const GraphKernel& kernel : process->graph_kernels) {
    trace.device[kernel.extra].graph_op = kernel.op;
    trace.device[kernel.extra].comm = kernel.comm;
  }
  TieToRecords(process);
  pytorch::kineto::SortEvents(&trace);
  GuessRecords(process);
  if (process->steps_by_pattern) MarkPattern(process);
  Arrows(&trace);
  if (process->open_ranges > 0) {
    process->notes.Count("nsys_open_range", 0,
                         "NVTX ranges that did not end before the end of the recording; left out",
                         process->open_ranges);
  }
  if (process->unknown_payloads > 0) {
    process->notes.Count("nsys_payload_unknown", 0,
                         "payloads of NCCL's ranges with an unknown layout; their calls have no size",
                         process->unknown_payloads);
  }
}

}  // namespace chakra::nsys
