// Files of ranks that differ only in the ranks that they exchange messages with, and in the names of their
// groups.
//
// A training step of 256 ranks often has only a few distinct graphs. If a file equals an earlier file except
// for the values of these attributes, it has the same graph with other peers. Such a file is compared, not
// decoded.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// A value in a file that may differ between ranks that share a graph.
struct VaryingValue {
  enum Kind : uint8_t { kGroup, kSource, kDestination, kTag };
  uint64_t begin = 0, end = 0;  // byte range in the content: a text, or a varint
  uint32_t peer = kNoRow;       // row in RankTrace::peers; kNoRow: the node does not communicate
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
  // Returns the earlier file that `content` equals except for its varying values; null if there is none.
  // Values of different length count as a difference. The result is valid until the next Keep().
  const DecodedRank* Find(absl::string_view content);
  // Whether a file of this size, which Find() did not find, should be kept: only if another file of this size
  // was not found before. So files that are all different are not copied.
  bool Wants(size_t size);
  // Keeps a file. Drops the least recently found files if all files need more than kMostBytes.
  void Keep(DecodedRank rank);

  static constexpr size_t kMostBytes = size_t{64} << 20;

 private:
  std::list<DecodedRank> ranks_;  // most recently found first
  std::vector<size_t> sizes_;     // sizes of the last few files that were not found
  size_t bytes_ = 0;
};

}  // namespace chakra
