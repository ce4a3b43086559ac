// Reads what NCCL attaches to its NVTX ranges: communicator, bytes, peer.
//
// An export with --include-blobs=true keeps the bytes of the payloads that a range carries
// (NVTX_EVENTS.binaryData): a header of four 64-bit numbers (domain, schema, bytes of the payload, and the
// payload's place or end), then the payload, a C struct of NCCL (src/include/nvtx_payload_schemas.h).
// NVTX_PAYLOAD_SCHEMA_ENTRIES has the offsets of its members. Without these entries, the layout of NCCL 2.19
// to 2.29 is used.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// The members of a payload; -1: absent.
struct NcclPayload {
  uint64_t comm = 0;  // the communicator's hash, equal on all its ranks; 0: absent
  int64_t bytes = -1, peer = -1, root = -1;
  int64_t ranks = -1, rank = -1, device = -1;  // of the communicator `member_of`
  uint64_t member_of = 0;
};

class NcclSchemas {
 public:
  // Uses the layout of NCCL 2.19 to 2.29 if the file has no tables of schemas.
  static absl::StatusOr<NcclSchemas> Read(const SqliteReader& db);
  // Decodes the payload of an NCCL range. `call`: the text of the range, such as "ncclAllReduce". Returns
  // false if the layout of `data` is not known, or `data` is too short.
  bool Decode(absl::string_view data, absl::string_view call, NcclPayload* out) const;

 private:
  struct Member {
    std::string name;
    size_t offset = 0;
    int size = 0;
  };
  std::map<uint64_t, std::vector<Member>> members_;  // by schema
};

}  // namespace chakra::nsys
