#include "replay/nccl/pieces.h"

#include <algorithm>

namespace chakra {
namespace {

// The number of pieces, each of about `piece` bytes, into which a pipelined plan cuts `bytes`. It is a power
// of two, so that a few plans are enough for all sizes.
int Pieces(uint64_t bytes, double piece, int most) {
  int pieces = 2;
  while (pieces<most&& static_cast<double>(bytes)> pieces * piece) pieces *= 2;
  return pieces;
}

// The bytes that a channel of a pipelined plan has under way at the same time. LL and LL128 pass data on line
// by line; Simple passes it on in slices: 64 KiB in a tree, 128 KiB in a switch, a quarter of a chunk in a
// chain (NCCL).
double PieceBytes(const LibraryModel& library, const Candidate& c) {
  if (c.shipped) return 8 << 10;  // threads process the data line by line
  if (c.protocol == Protocol::kLL) return 1 << 10;
  if (c.protocol == Protocol::kLL128) return 2 << 10;
  if (c.plan == "chain") return static_cast<double>(library.chunk_bytes) / 4;
  return c.algorithm == "tree" ? 64 << 10 : 128 << 10;
}

}  // namespace

int PiecesOf(const LibraryModel& library, const Candidate& c, uint64_t bytes, int ranks) {
  if (c.of_hosts) return 1;  // MPI's rules do not cut messages
  // Every piece of a chain passes through all members, so larger groups need more pieces.
  const int most = c.plan == "chain" ? std::clamp((1 << 24) / ranks, 64, 1024) : 64;
  return Pieces(bytes, PieceBytes(library, c) * c.channels, most);
}

}  // namespace chakra
