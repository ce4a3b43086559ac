#include "trace/model/twins.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace chakra {

void ExpandTwins(const Twins& twins, TraceSet* traces) {
  for (size_t r = 0; r < twins.size(); ++r) {
    const auto of = static_cast<size_t>(twins[r]);
    if (of == r) continue;
    RankTrace& twin = traces->ranks[r];
    if (!twin.peers.empty()) continue;  // it has its peers already
    twin.metadata = traces->ranks[of].metadata;
    std::vector<Peer> peers = traces->ranks[of].peers;
    const auto by = static_cast<int32_t>(static_cast<int64_t>(r) - static_cast<int64_t>(of));
    for (Peer& peer : peers) {
      for (int32_t* rank : {&peer.src, &peer.dst, &peer.root}) *rank += *rank == kNoRank ? 0 : by;
    }
    twin.peers = std::move(peers);
  }
}

}  // namespace chakra
