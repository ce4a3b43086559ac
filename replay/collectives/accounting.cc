#include "replay/collectives/accounting.h"

#include <algorithm>

namespace chakra {

uint64_t BufferBytes(CollectiveType type, uint64_t comm_size, int ranks) {
  const bool grows = type == CollectiveType::kAllGather || type == CollectiveType::kGather;
  return grows ? comm_size * static_cast<uint64_t>(ranks) : comm_size;
}

uint64_t CommSize(CollectiveType type, uint64_t bytes, int ranks) {
  return BufferBytes(type, 1, 2) == 2 ? std::max<uint64_t>(1, bytes / static_cast<uint64_t>(ranks)) : bytes;
}

double BusFactor(absl::string_view kind, int ranks) {
  if (ranks < 1) return 1;
  const double n = ranks;
  if (kind == "all_reduce") return 2 * (n - 1) / n;
  for (absl::string_view k :
       {"all_gather", "reduce_scatter", "reduce_scatter_block", "all_to_all", "gather", "scatter"}) {
    if (kind == k) return (n - 1) / n;
  }
  return 1;
}

}  // namespace chakra
