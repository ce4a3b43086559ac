#include "trace/model/symmetric_ranks.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace chakra {

void ExpandSymmetricRanks(const SymmetricRanks& symmetric, TraceSet* traces) {
  for (size_t r = 0; r < symmetric.size(); ++r) {
    const auto of = static_cast<size_t>(symmetric[r]);
    if (of == r) continue;
    RankTrace& is_symmetric = traces->ranks[r];
    if (!is_symmetric.peers.empty()) continue;  // it has its peers already
    is_symmetric.metadata = traces->ranks[of].metadata;
    std::vector<Peer> peers = traces->ranks[of].peers;
    const auto by = static_cast<int32_t>(static_cast<int64_t>(r) - static_cast<int64_t>(of));
    for (Peer& peer : peers) {
      for (int32_t* rank : {&peer.src, &peer.dst, &peer.root}) *rank += *rank == kNoRank ? 0 : by;
    }
    is_symmetric.peers = std::move(peers);
  }
}

}  // namespace chakra
