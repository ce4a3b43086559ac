// The trace model: the operations of every rank, in columns.
//
// A Graph is immutable. Ranks with equal graphs share one Graph; what may still differ between these ranks
// (peers, tags, groups) is in RankTrace. Graphs that differ only in a few columns, such as those of ranks
// that do the same at different times, share the other columns. Node attributes that a replay does not need
// exist only in the raw frames, which the reader keeps on request (ReadOptions::keep_raw).
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

// Values as in the file format (et_def.proto).
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

absl::string_view Name(NodeType type);        // "COMM_COLL_NODE": spelled as in the schema
absl::string_view Name(CollectiveType type);  // "all_reduce": lower case

// The name that results give to the group of communication that is not a call (kKeptComm).
inline constexpr absl::string_view kUnknownGroup = "(not known)";

inline constexpr uint32_t kNoRow = 0xffffffff;
inline constexpr int32_t kNoLane = INT32_MIN;
inline constexpr int32_t kNoRank = -1;

// Bits of Graph::flags.
inline constexpr uint8_t kIsCpuOp = 1;     // the attribute is_cpu_op is true
inline constexpr uint8_t kHasCpuAttr = 2;  // the attribute is_cpu_op is present
inline constexpr uint8_t kKeptComm = 4;  // a COMP node with comm_kind: communication that is not a call whose
                                         // time a fabric could compute; it takes its recorded time

// The maximum of the attribute time_factor, by which a node's time is multiplied.
inline constexpr double kMostTimeFactor = 1e9;

// The fields of a COMM_* node that are equal for all ranks that share a graph.
struct Comm {
  uint64_t bytes = 0;          // comm_size: bytes of this rank's input buffer
  uint32_t involved_dims = 0;  // involved_dim: bit i: network dimension i takes part; valid if dims_count > 0
  int32_t priority = 0;        // comm_priority
  uint8_t dims_count = 0;      // number of entries of involved_dim; 0: absent
  uint8_t type = 0xff;         // CollectiveType as written, values above 9 too, at most 0xfe; 0xff: absent
  bool has_bytes = false;      // whether comm_size is present
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
  uint32_t comm_kind = 0;  // comm_kind ("all_reduce", "unknown", ...): index into Graph::strings; 0: absent
};

// The value of Graph::dep_release for a dependency that releases the row at the end of the node it depends
// on.
inline constexpr int64_t kReleaseAtEnd = 1000000000000;

// The time from the start of a node of length `duration` until it releases a dependent node, rounded to
// picoseconds.
Time ReleasedAfter(Time duration, int64_t release);

// The columns of a graph: of kind C, or of kind N if their values may be narrow. Row i is the i-th node frame
// of the file.
template <template <typename> class C, template <typename> class N = C>
struct GraphColumns {
  uint32_t size() const { return static_cast<uint32_t>(id.size()); }

  C<uint64_t> id;
  N<uint32_t> name;  // indices into `strings`
  C<NodeType> type;
  C<uint8_t> flags;     // kIsCpuOp, ...
  N<Time> start;        // recorded start; empty: all are 0
  N<Time> duration;     // recorded duration; 0: none
  N<int32_t> lane;  // of a CPU op: its thread (tid); otherwise its stream, or its tid if it has no stream;
                    // kNoLane: neither. Empty: no node has a lane
  N<uint32_t> payload;  // index into comm (COMM_*) or work (COMP, MEM_*), or kNoRow
  N<uint32_t> shapes;   // inputs.shapes, as indices into `strings` (0: none); empty: no node has shapes
  N<uint32_t> types;    // inputs.types, stored like shapes
  N<uint32_t> code;     // kernel_hash, stored like shapes: kernels with different code may have the same name
  N<uint32_t> factor;   // time_factor as text, stored like shapes (0: the factor is 1). Times from a table, a
                        // model or a roofline are multiplied by it; recorded durations include it already

  C<Comm> comm;
  N<Time> transfer;  // for each entry of comm: measured time after the last rank arrived (transfer_ns);
                     // Never(): absent. Empty: all are absent
  C<Work> work;

  // Data and control dependencies together, as rows in CSR form; each list is ascending and has no
  // duplicates. The reader drops dependencies of a node on itself and on missing nodes, and counts them in
  // RankTrace::repairs.
  N<uint32_t> dep_begin;  // size() + 1
  N<uint32_t> dep;
  N<Time> dep_delay;  // for each entry of dep: delay after the end of the dependency (dep_delay_ns); empty:
                      // all are 0
  C<DelayCause> dep_cause;  // for each entry of dep_delay: its cause (dep_kinds)
  // The part of an entry of dep_delay that is unexplained (dep_unexplained_ns), if not 0: index of the entry,
  // and the part; ascending by index.
  C<std::pair<uint32_t, Time>> dep_unexplained;
  // For each entry of dep: at which part of its duration the dependency releases the row (dep_release), from
  // 0 to kReleaseAtEnd; empty: all at the end. The delay counts from this moment. Only computation releases
  // others before its end.
  C<int64_t> dep_release;
  // The inverse of dep: the rows that depend on row i.
  N<uint32_t> child_begin;  // size() + 1
  N<uint32_t> child;
  N<Time> child_delay;       // for each entry of child; empty: all are 0
  C<int64_t> child_release;  // for each entry of child; empty: all at the end

  // All rows in recorded order: the topological order that always continues with the row that has the
  // smallest (start, id) of all rows whose dependencies are done.
  C<uint32_t> order;

  StringTable strings;  // string 0 is ""

  absl::string_view name_of(uint32_t row) const { return strings.Get(name[row]); }
  bool is_cpu(uint32_t row) const { return (flags[row] & kIsCpuOp) != 0; }
  bool is_kept_comm(uint32_t row) const { return (flags[row] & kKeptComm) != 0; }
  // The transfer time of entry i of `comm`.
  Time transfer_of(uint32_t i) const { return transfer.empty() ? Time::Never() : transfer[i]; }
  // Precondition: is_kept_comm(row).
  absl::string_view kept_kind(uint32_t row) const { return strings.Get(work[payload[row]].comm_kind); }
};

// One distinct dependency graph.
struct Graph : GraphColumns<Column, NarrowColumn> {};

// A graph under construction.
template <typename T>
using OwnColumn = std::vector<T>;
struct GraphDraft : GraphColumns<OwnColumn> {};

// The frames of a file as they were read, for lossless output. Frame 0 is the metadata (empty if absent);
// frame i + 1 is row i of the graph.
struct RawFrames {
  std::string bytes;            // message bodies, without their lengths
  std::vector<uint64_t> begin;  // offsets into `bytes`, one more than there are frames
  bool has_metadata = true;     // false: the file had no metadata frame
  absl::string_view frame(size_t i) const {
    return absl::string_view(bytes).substr(begin[i], begin[i + 1] - begin[i]);
  }
};

// A fault in the input that the reader repaired, or a note about the input.
struct Repair {
  std::string kind;  // stable name, such as "dangling_ctrl_dep"
  std::string file;
  int rank = 0;
  uint64_t count = 0;
  uint64_t first_node = 0;  // node id
  std::string detail;       // for people
};

struct RankTrace {
  int rank = 0;
  int recorded_rank = kNoRank;  // the rank in the file's name, if it differs from `rank` (for a single
                                // trace); otherwise kNoRank
  std::string file;             // path as given; "archive.tar.zst!member" inside an archive
  std::string metadata;         // serialized GlobalMetadata; may be empty
  std::shared_ptr<const Graph> graph;
  Column<Peer> peers;                    // peers[i] belongs to graph->comm[i]
  std::vector<std::string> group_names;  // 0 is "" (all ranks)
  std::vector<Repair> repairs;
  std::shared_ptr<const RawFrames> raw;  // null unless the frames are kept
};

// Process groups by name. The name "" always means all ranks and is not listed.
using Groups = std::map<std::string, std::vector<int>>;

struct InputFile {
  std::string path;
  std::string sha256;  // of the file on disk, hexadecimal
  uint64_t bytes = 0;
  std::string role;  // "trace", "groups", ...
};
// Whether a file with this role holds the trace of a rank or a part of it: "trace", "host trace", "device
// trace".
inline bool IsTraceRole(absl::string_view role) {
  return role == "trace" || role == "host trace" || role == "device trace";
}

// All ranks of one run; ranks[i].rank == i.
struct TraceSet {
  std::vector<RankTrace> ranks;
  Groups groups;
  std::string group_source;  // where the groups came from; "": no groups
  std::vector<InputFile> inputs;
  std::vector<std::string> warnings;     // about the whole set; notes about a rank are in its repairs
  bool of_one_trace = false;             // all ranks do what a single traced rank did
  std::vector<std::string> assumptions;  // assumptions made to create ranks that have no trace; for people
  uint64_t nodes() const;
  size_t distinct_graphs() const;
};

}  // namespace chakra
