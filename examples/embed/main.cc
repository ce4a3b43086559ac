// How long would a training step take on other machines, and what would it wait for? The library in a
// program:
//   embed TRACE CLUSTER...     as `embed examples/transformer_step dgx-a100 dgx-h100 gb200-nvl72`
#include <cstdio>

#include "replay/report/run_replay.h"

namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "embed: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: embed TRACE CLUSTER...\n");
    return 2;
  }
  chakra::TraceOptions which;
  which.inputs = {argv[1]};
  const auto traces = chakra::LoadTraces(which);  // once, for any number of runs
  if (!traces.ok()) return Fail(traces.status());
  for (int i = 2; i < argc; ++i) {
    chakra::RunOptions how;
    how.cluster = argv[i];
    how.critical_path = true;
    const auto report = chakra::RunReplay(*traces, how);
    if (!report.ok()) return Fail(report.status());
    const auto& most = report->critical_path().cause(0);
    std::printf("%-16s %8.2f ms, %4.1f %% of it %s\n", argv[i],
                static_cast<double>(report->makespan_ps()) / 1e9, 100 * most.share(), most.name().c_str());
  }
}
