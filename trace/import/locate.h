// Finds the position of a node in its file, for messages that are made long after decoding.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "trace/model/trace.h"

namespace chakra {

// Describes nodes, one after the other. Keeps the indices of the last two files; a node of any other file
// makes the locator read that file again.
class NodeLocator {
 public:
  // Byte offset of the frame of node `id` in the decompressed stream. -1 if the node is not found, and for
  // members of archives, which would have to be unpacked from their beginning.
  int64_t Locate(const std::string& file, uint64_t id);
  // "rank 3, node 17 ("matmul") of dir/w.3.et, byte 1234"; for a member of an archive: "... of a.tar!w.3.et
  // (in an archive)".
  std::string Describe(const RankTrace& trace, uint32_t row);

 private:
  struct Index {
    std::string file;
    absl::flat_hash_map<uint64_t, int64_t> begin;  // byte offset of each node's frame, by id
  };
  static Index Read(const std::string& file);
  Index last_[2];  // the most recent first
};

// NodeLocator::Locate() for a single node.
int64_t LocateNode(const std::string& file, uint64_t id);

// NodeLocator::Describe() for a single node.
std::string DescribeNode(const RankTrace& trace, uint32_t row);

}  // namespace chakra
