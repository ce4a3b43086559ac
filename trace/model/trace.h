// The trace model: what every rank does, in columns.
//
// A Graph is immutable once built and shared by all ranks whose graphs are
// equal; what differs between such ranks (peers, tags, groups) sits beside it
// in RankTrace. Node attributes that the replay does not need stay in the raw
// frames, which are kept on request (ReadOptions::keep_raw).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/units.h"
#include "trace/model/string_table.h"

namespace chakra {

// Values as on the wire (et_def.proto).
enum class NodeType : uint8_t {
  kInvalid = 0,
  kMetadata = 1,
  kMemLoad = 2,
  kMemStore = 3,
  kComp = 4,
  kSend = 5,
  kRecv = 6,
  kCollective = 7,
};
inline constexpr int kNodeTypes = 8;

enum class CollectiveType : uint8_t {
  kAllReduce = 0,
  kReduce = 1,
  kAllGather = 2,
  kGather = 3,
  kScatter = 4,
  kBroadcast = 5,
  kAllToAll = 6,
  kReduceScatter = 7,
  kReduceScatterBlock = 8,
  kBarrier = 9,
};
inline constexpr int kCollectiveTypes = 10;

absl::string_view Name(NodeType type);        // "COMM_COLL_NODE"; the schema's spelling
absl::string_view Name(CollectiveType type);  // "all_reduce"; lower case

inline constexpr uint32_t kNoRow = 0xffffffff;
inline constexpr int32_t kNoLane = INT32_MIN;
inline constexpr int32_t kNoRank = -1;

// Bits of Graph::flags.
inline constexpr uint8_t kIsCpuOp = 1;     // attribute is_cpu_op is true
inline constexpr uint8_t kHasCpuAttr = 2;  // attribute is_cpu_op is present

// What a COMM_* node says that is the same on every rank of an equal graph.
struct Comm {
  uint64_t bytes = 0;          // comm_size: bytes of this rank's input buffer
  uint32_t involved_dims = 0;  // bit i: network dimension i takes part; valid when dims_count > 0
  uint8_t dims_count = 0;      // entries of involved_dim; 0: attribute absent
  uint8_t type = 0xff;         // CollectiveType as written; 0xff: absent. Values above 9 are kept as they are
                               // (saturated at 0xfe).
  bool has_bytes = false;      // comm_size present
  int32_t priority = 0;        // comm_priority
  bool eager = false;          // eager: a send that was over before its receive began
  Time transfer = Time::Never();  // transfer_ns: measured, from the last arrival on; Never(): absent
};

// What a COMM_* node says that may differ between ranks of an equal graph.
struct Peer {
  int32_t src = kNoRank;   // comm_src
  int32_t dst = kNoRank;   // comm_dst
  int32_t tag = 0;         // comm_tag
  int32_t root = kNoRank;  // "root" (global rank); kNoRank: the group's first member
  uint32_t group = 0;      // index into RankTrace::group_names
};

// What a COMP or MEM_* node says of its work.
struct Work {
  int64_t num_ops = 0;        // num_ops
  uint64_t tensor_bytes = 0;  // tensor_size
  bool has_num_ops = false;
  bool has_tensor_bytes = false;
};

// One distinct dependency graph. Row i is the i-th node frame of the file.
struct Graph {
  uint32_t size() const { return static_cast<uint32_t>(id.size()); }

  std::vector<uint64_t> id;
  std::vector<uint32_t> name;  // in strings
  std::vector<NodeType> type;
  std::vector<uint8_t> flags;     // kIsCpuOp, ...
  std::vector<Time> start;        // recorded; empty when every node's is 0
  std::vector<Time> duration;     // recorded; 0: none
  std::vector<int32_t> lane;      // CPU op: thread (tid); else: stream (stream, or tid where no stream is
                                  // written); kNoLane; empty when no node has one
  std::vector<uint32_t> payload;  // row of comm (COMM_*) or of work (COMP, MEM_*); kNoRow
  std::vector<uint32_t> shapes;   // inputs.shapes in strings; empty column when no node has any (0 is "")
  std::vector<uint32_t> types;    // inputs.types in strings; likewise

  std::vector<Comm> comm;
  std::vector<Work> work;

  // Dependencies, data and control together, as rows: CSR, ascending and
  // without duplicates in each list. Dangling and self references are gone
  // (counted in RankTrace::repairs).
  std::vector<uint32_t> dep_begin;  // size() + 1
  std::vector<uint32_t> dep;
  std::vector<Time> dep_delay;  // beside dep: how long after its end (dep_delay_ns); empty: 0 throughout
  // The inverse: who waits for row i.
  std::vector<uint32_t> child_begin;  // size() + 1
  std::vector<uint32_t> child;
  std::vector<Time> child_delay;  // beside child; empty: 0 throughout

  // All rows in recorded order: a topological order in which, among the rows
  // that could come next, the one with the smallest (start, id) does.
  std::vector<uint32_t> order;

  StringTable strings;  // string 0 is ""

  absl::string_view name_of(uint32_t row) const { return strings.Get(name[row]); }
  bool is_cpu(uint32_t row) const { return (flags[row] & kIsCpuOp) != 0; }
};

// The frames of one file as they were read, for lossless output. Frame 0 is
// the metadata (absent: empty), frame i + 1 is row i of the graph.
struct RawFrames {
  std::string bytes;            // message bodies, without lengths
  std::vector<uint64_t> begin;  // frames + 1 offsets into bytes
  bool has_metadata = true;     // false: the file had no metadata frame
  absl::string_view frame(size_t i) const {
    return absl::string_view(bytes).substr(begin[i], begin[i + 1] - begin[i]);
  }
};

// Something that was wrong in the input and was repaired, or deserves a note.
struct Repair {
  std::string kind;  // stable, e.g. "dangling_ctrl_dep"
  std::string file;
  int rank = 0;
  uint64_t count = 0;
  uint64_t first_node = 0;  // id
  std::string detail;       // for people
};

struct RankTrace {
  int rank = 0;
  int recorded_rank = kNoRank;  // by the file's name, where that is not `rank` (a lone trace); else kNoRank
  std::string file;             // path as given; "archive.tar.zst!member" inside an archive
  std::string metadata;         // serialized GlobalMetadata, may be empty
  std::shared_ptr<const Graph> graph;
  std::vector<Peer> peers;               // beside graph->comm, row for row
  std::vector<std::string> group_names;  // 0 is "" (all ranks)
  std::vector<Repair> repairs;
  std::shared_ptr<const RawFrames> raw;  // null unless kept
};

// Process groups by name. "" always means all ranks and is not listed.
using Groups = std::map<std::string, std::vector<int>>;

struct InputFile {
  std::string path;
  std::string sha256;  // of the file as it lies on disk, hexadecimal
  uint64_t bytes = 0;
  std::string role;  // "trace", "groups", ...
};

// All ranks of one run; ranks[i].rank == i.
struct TraceSet {
  std::vector<RankTrace> ranks;
  Groups groups;
  std::string group_source;  // where groups came from; "" when none
  std::vector<InputFile> inputs;
  std::vector<std::string> warnings;  // of the whole set; what is known of one rank is in its repairs
  uint64_t nodes() const;
  size_t distinct_graphs() const;
};

}  // namespace chakra
