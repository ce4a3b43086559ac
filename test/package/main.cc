// A program of somebody else's, against the installed package.
#include <cstdio>

#include "replay/report/report.h"
#include "trace/reader.h"

int main(int argc, char** argv) {
  const auto traces = chakra::ReadTraceSet({argv[argc - 1]}, {});
  if (!traces.ok()) return 1;
  std::printf("%zu ranks, bus factor %g\n", traces->ranks.size(), chakra::BusFactor("all_reduce", 8));
}
