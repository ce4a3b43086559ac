// The trace model: what every rank does, in columns.
//
// A Graph is immutable once built. Ranks with equal graphs share one Graph; what differs between these ranks
// (peers, tags, groups) is in RankTrace. Graphs that differ in a few columns, as those of ranks that do the
// same at other times, share the others. The raw frames hold node attributes that the replay does not need;
// the reader keeps frames on request (ReadOptions::keep_raw).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/units.h"
#include "trace/model/column.h"
#include "trace/model/delay_cause.h"
#include "trace/model/narrow_column.h"
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

// What results name as the group of communication that is no call (kKeptComm).
inline constexpr absl::string_view kUnknownGroup = "(not known)";

inline constexpr uint32_t kNoRow = 0xffffffff;
inline constexpr int32_t kNoLane = INT32_MIN;
inline constexpr int32_t kNoRank = -1;

// Bits of Graph::flags.
inline constexpr uint8_t kIsCpuOp = 1;     // the attribute is_cpu_op is true
inline constexpr uint8_t kHasCpuAttr = 2;  // the attribute is_cpu_op is present
inline constexpr uint8_t kKeptComm = 4;  // a COMP node with comm_kind: communication that is no call which a
                                         // machine could price; it takes its recorded time

// The most that a node's time may be taken times (the attribute time_factor).
inline constexpr double kMostTimeFactor = 1e9;

// The fields of a COMM_* node that are the same on all ranks that share a graph.
struct Comm {
  uint64_t bytes = 0;          // comm_size: bytes of this rank's input buffer
  uint32_t involved_dims = 0;  // bit i: network dimension i takes part; valid when dims_count > 0
  int32_t priority = 0;        // comm_priority
  uint8_t dims_count = 0;      // entries of involved_dim; 0: absent
  uint8_t type = 0xff;         // CollectiveType as written; 0xff: absent. Values above 9 are kept, at most
                               // 0xfe.
  bool has_bytes = false;      // comm_size present
  bool eager = false;          // eager: the send ended before its receive began
};

// The fields of a COMM_* node that may differ between ranks that share a graph.
struct Peer {
  int32_t src = kNoRank;   // comm_src
  int32_t dst = kNoRank;   // comm_dst
  int32_t tag = 0;         // comm_tag
  int32_t root = kNoRank;  // "root" (global rank); kNoRank: the group's first member
  uint32_t group = 0;      // index into RankTrace::group_names
};

// The work of a COMP or MEM_* node.
struct Work {
  int64_t num_ops = 0;        // num_ops
  uint64_t tensor_bytes = 0;  // tensor_size
  bool has_num_ops = false;
  bool has_tensor_bytes = false;
  uint32_t comm_kind =
      0;  // comm_kind, as an index into Graph::strings: "all_reduce", ..., "unknown"; 0: absent
};

// An entry of Graph::dep_release: the dependency releases the row at its end.
inline constexpr int64_t kReleaseAtEnd = 1000000000000;

// How long after its begin a node that lasts `duration` releases another one, to the nearest picosecond.
Time ReleasedAfter(Time duration, int64_t release);

// What a graph has, in columns of the kind C, and of the kind N where values may be narrow. Row i is the i-th
// node frame of the file.
template <template <typename> class C, template <typename> class N = C>
struct GraphColumns {
  uint32_t size() const { return static_cast<uint32_t>(id.size()); }

  C<uint64_t> id;
  N<uint32_t> name;  // indices into `strings`
  C<NodeType> type;
  C<uint8_t> flags;     // kIsCpuOp, ...
  N<Time> start;        // recorded; empty if all are 0
  N<Time> duration;     // recorded; 0: none
  N<int32_t> lane;      // CPU op: its thread (tid); else its stream (attribute stream, or else
                        // tid); kNoLane: neither. Empty if no node has a lane
  N<uint32_t> payload;  // index into comm (COMM_*) or work (COMP, MEM_*), or kNoRow
  N<uint32_t> shapes;   // inputs.shapes, as indices into `strings` (0: none); empty if no node has
                        // shapes
  N<uint32_t> types;    // inputs.types, likewise
  N<uint32_t> code;     // kernel_hash, likewise: compilers give kernels of different code one name
  N<uint32_t> factor;   // time_factor, likewise, as text (0: 1): what a table, a model or a roofline says is
                       // taken times it; recorded durations hold it already

  C<Comm> comm;
  N<Time> transfer;  // for each entry of comm: measured time from the last arrival on (transfer_ns); Never():
                     // absent. Empty: all are absent
  C<Work> work;

  // Data and control dependencies together, as rows in CSR form; each list is ascending and has no
  // duplicates. The reader dropped references to the node itself and to missing nodes, and counted them in
  // RankTrace::repairs.
  N<uint32_t> dep_begin;  // size() + 1
  N<uint32_t> dep;
  N<Time> dep_delay;        // for each entry of dep: delay after the end of the dependency
                            // (dep_delay_ns); empty: all 0
  C<DelayCause> dep_cause;  // for each entry of dep_delay: from dep_kinds
  // Of dep_delay the part that nothing explains (dep_unexplained_ns), where that is not 0: index of the entry
  // and part, ascending by index.
  C<std::pair<uint32_t, Time>> dep_unexplained;
  // For each entry of dep: when in its duration the dependency releases the row (dep_release), from 0 to
  // kReleaseAtEnd; empty: all at the end. The delay counts from there. Only computation releases before its
  // end.
  C<int64_t> dep_release;
  // The inverse of dep: the rows that wait for row i.
  N<uint32_t> child_begin;  // size() + 1
  N<uint32_t> child;
  N<Time> child_delay;       // for each entry of child; empty: all 0
  C<int64_t> child_release;  // likewise; empty: all at the end

  // All rows in recorded order: a topological order in which, of all rows that could come next, the one with
  // the smallest (start, id) comes next.
  C<uint32_t> order;

  StringTable strings;  // string 0 is ""

  absl::string_view name_of(uint32_t row) const { return strings.Get(name[row]); }
  bool is_cpu(uint32_t row) const { return (flags[row] & kIsCpuOp) != 0; }
  bool is_kept_comm(uint32_t row) const { return (flags[row] & kKeptComm) != 0; }
  // Of row i of `comm`.
  Time transfer_of(uint32_t i) const { return transfer.empty() ? Time::Never() : transfer[i]; }
  // Precondition: is_kept_comm(row).
  absl::string_view kept_kind(uint32_t row) const { return strings.Get(work[payload[row]].comm_kind); }
};

// One distinct dependency graph.
struct Graph : GraphColumns<Column, NarrowColumn> {};

// A graph that is being made.
template <typename T>
using OwnColumn = std::vector<T>;
struct GraphDraft : GraphColumns<OwnColumn> {};

// The frames of one file as they were read, for lossless output. Frame 0 is the metadata (empty if absent),
// frame i + 1 is row i of the graph.
struct RawFrames {
  std::string bytes;            // message bodies, without lengths
  std::vector<uint64_t> begin;  // frames + 1 offsets into bytes
  bool has_metadata = true;     // false: the file had no metadata frame
  absl::string_view frame(size_t i) const {
    return absl::string_view(bytes).substr(begin[i], begin[i + 1] - begin[i]);
  }
};

// A fault in the input that the reader repaired, or a note about the input.
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
  int recorded_rank = kNoRank;  // the rank in the file's name, if it is not `rank` (a lone trace); else
                                // kNoRank
  std::string file;             // path as given; "archive.tar.zst!member" inside an archive
  std::string metadata;         // serialised GlobalMetadata, may be empty
  std::shared_ptr<const Graph> graph;
  Column<Peer> peers;                    // peers[i] belongs to graph->comm[i]
  std::vector<std::string> group_names;  // 0 is "" (all ranks)
  std::vector<Repair> repairs;
  std::shared_ptr<const RawFrames> raw;  // null unless kept
};

// Process groups by name. "" always means all ranks and is not listed.
using Groups = std::map<std::string, std::vector<int>>;

struct InputFile {
  std::string path;
  std::string sha256;  // of the file on disk, hexadecimal
  uint64_t bytes = 0;
  std::string role;  // "trace", "groups", ...
};
// Whether a file of this role holds a rank's trace or a part of it: "trace", "host trace", "device trace".
inline bool IsTraceRole(absl::string_view role) {
  return role == "trace" || role == "host trace" || role == "device trace";
}

// All ranks of one run; ranks[i].rank == i.
struct TraceSet {
  std::vector<RankTrace> ranks;
  Groups groups;
  std::string group_source;  // where groups came from; "": no groups
  std::vector<InputFile> inputs;
  std::vector<std::string> warnings;  // about the whole set; notes about one rank are in its repairs
  bool of_one_trace = false;          // every rank does what one traced rank did
  std::vector<std::string>
      assumptions;  // what was taken for granted to make ranks that have no trace; for people
  uint64_t nodes() const;
  size_t distinct_graphs() const;
};

}  // namespace chakra
