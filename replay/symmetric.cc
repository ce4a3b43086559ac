#include "replay/symmetric.h"

#include "absl/strings/str_cat.h"
#include "trace/reader.h"

namespace chakra {
namespace {

// `peer` of traced rank `traced`, seen from `rank`.
int32_t Shift(int32_t peer, int traced, int rank, int ranks) {
  if (peer == kNoRank) return kNoRank;
  const int64_t shifted = (int64_t{peer} - traced + rank) % ranks;
  return static_cast<int32_t>(shifted < 0 ? shifted + ranks : shifted);
}

bool Outside(int32_t peer, int ranks) { return peer != kNoRank && (peer < 0 || peer >= ranks); }

absl::Status CheckPeers(const RankTrace& trace, int ranks) {
  const Graph& graph = *trace.graph;
  for (uint32_t row = 0; row < graph.size(); ++row) {
    const NodeType type = graph.type[row];
    if ((type != NodeType::kSend && type != NodeType::kRecv) || graph.payload[row] == kNoRow) continue;
    const Peer& peer = trace.peers[graph.payload[row]];
    const bool source = Outside(peer.src, ranks);
    if (!source && !Outside(peer.dst, ranks)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        DescribeNode(trace, row), ": ", source ? "comm_src" : "comm_dst", " is rank ",
        source ? peer.src : peer.dst, "; expected one in [0, ", ranks, ") with --ranks ", ranks));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeSymmetric(int ranks, TraceSet* traces) {
  if (traces->ranks.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--ranks replays one trace as many ranks, but there are ",
                                                   traces->ranks.size(), " traces; expected one"));
  }
  const RankTrace traced = traces->ranks[0];
  if (absl::Status s = CheckPeers(traced, ranks); !s.ok()) return s;
  traces->ranks.assign(static_cast<size_t>(ranks), traced);
  for (int r = 0; r < ranks; ++r) {
    RankTrace& rank = traces->ranks[r];
    rank.rank = r;
    if (r > 0) rank.repairs.clear();
    for (Peer& peer : rank.peers) {
      peer.src = Shift(peer.src, traced.rank, r, ranks);
      peer.dst = Shift(peer.dst, traced.rank, r, ranks);
    }
  }
  return absl::OkStatus();
}

}  // namespace chakra
