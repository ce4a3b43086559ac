// Draws random networks and calls, and prints those that break a relation between prices.
//   network_relations [SETTINGS [SEED]]    of each relation and fabric; default: 2000 1
// The exit status is 1 if a relation breaks.
#include "test/relations/network_relations.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using namespace chakra::relations;
  const int count = argc > 1 ? std::atoi(argv[1]) : 2000;
  const auto seed = static_cast<uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1);
  constexpr uint64_t kMiB = 1 << 20;
  constexpr double kHeader = 64.0 / 4096;
  size_t all = 0;
  const auto tell = [&](const char* relation, const std::vector<Broken>& broken) {
    std::printf("%-40s %6d settings %4zu broken\n", relation, count, broken.size());
    for (const Broken& b : broken) std::printf("  %s\n", b.text.c_str());
    all += broken.size();
  };
  tell("better never slower, analytical", CheckBetter("analytical", seed, count, 64, 1024 * kMiB));
  tell("better never slower, analytical-fifo",
       CheckBetter("analytical-fifo", seed + 1, count, 64, 256 * kMiB));
  tell("better never slower, fluid", CheckBetter("fluid", seed + 2, count, 64, 256 * kMiB));
  tell("better never slower, packet", CheckBetter("packet", seed + 3, count, 16, kMiB));
  tell("better never slower, mixed", CheckBetter("mixed", seed + 4, count, 16, kMiB));
  tell("analytical <= fluid", CheckOrder("analytical", "fluid", 0, seed + 5, count, 64, 256 * kMiB));
  tell("analytical <= analytical-fifo",
       CheckOrder("analytical", "analytical-fifo", 0, seed + 6, count, 64, 256 * kMiB));
  tell("fluid <= packet, less headers", CheckOrder("fluid", "packet", kHeader, seed + 7, count, 16, kMiB));
  tell("bytes on links, fluid", CheckBytes("fluid", seed + 8, count, 64, 256 * kMiB));
  return all > 0 ? 1 : 0;
}
