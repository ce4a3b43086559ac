// Where a node lies in its file, for messages made long after decoding.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "trace/model/trace.h"

namespace chakra {

// Names nodes one after the other; reads a file again only when the node is in
// another file than those of the last two.
class NodeLocator {
 public:
  // Byte offset, in the decompressed stream, of the frame of node `id`. -1 when
  // it cannot be found, and for all members of archives, which would have to be
  // unpacked from their beginning.
  int64_t Locate(const std::string& file, uint64_t id);
  // "rank 3, node 17 ("matmul") of dir/w.3.et, byte 1234". Of an archive's
  // member: "... of a.tar!w.3.et (in an archive)".
  std::string Describe(const RankTrace& trace, uint32_t row);

 private:
  struct Index {
    std::string file;
    absl::flat_hash_map<uint64_t, int64_t> begin;  // of the frame, by id
  };
  static Index Read(const std::string& file);
  Index last_[2];  // the most recent first
};

// Byte offset, in the decompressed stream, of the frame of node `id` in `file`;
// for messages made long after decoding. -1 when it cannot be found.
int64_t LocateNode(const std::string& file, uint64_t id);

// "rank 3, node 17 ("matmul") of dir/w.3.et, byte 1234": the subject of an
// error about one node.
std::string DescribeNode(const RankTrace& trace, uint32_t row);

}  // namespace chakra
