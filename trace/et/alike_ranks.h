// Ranks whose files differ in little: in whom they exchange messages with, and in the names of their groups.
//
// A training step of 256 ranks is often a handful of graphs. A file that has the bytes of an earlier one, but
// for the values of such attributes, is that graph with other peers: it is compared, not decoded.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// A value in a file that ranks of one graph may have otherwise.
struct VaryingValue {
  enum Kind : uint8_t { kGroup, kSource, kDestination, kTag };
  uint64_t begin = 0, end = 0;  // bytes of the content: a text, or a varint
  uint32_t peer = kNoRow;       // its row of RankTrace::peers; kNoRow: the node is no communication
  Kind kind = kGroup;
};

// A file that was decoded without repairs.
struct DecodedRank {
  std::string content;
  std::vector<VaryingValue> varying;  // in the order of the file
  std::vector<Peer> peers;
  std::shared_ptr<const Graph> graph;
  std::string metadata;
};

class AlikeRanks {
 public:
  // The earlier file that `content` equals but for its varying values; null: none is known. Values of another
  // length are not found equal. Valid until the next Keep().
  const DecodedRank* Find(absl::string_view content);
  // Whether a file of this size, which Find() did not find, should be kept: from the second of a size on, so
  // that files which are alike in nothing are not copied.
  bool Wants(size_t size);
  // The least recently found are dropped where all would take more than kMostBytes.
  void Keep(DecodedRank rank);

  static constexpr size_t kMostBytes = size_t{64} << 20;

 private:
  std::list<DecodedRank> ranks_;  // the most recently found first
  std::vector<size_t> sizes_;     // of files that were not found, the last few
  size_t bytes_ = 0;
};

}  // namespace chakra
