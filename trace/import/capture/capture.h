// A capture of one rank as it was written: the execution trace of the host (HostTrace), and the timeline of
// the device (DeviceTrace), which Kineto or another profiler recorded. Readers fill these structs and
// interpret only names, units and integer times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "trace/model/string_table.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

inline constexpr int64_t kNone = -1;  // an absent identifier

// The kind of a communication call, by its normalised name (lower case, letters only, without suffixes such
// as "oop", "base" or "coalesced").
enum class CommOp : uint8_t {
  kAllReduce,
  kReduce,
  kAllGather,
  kGather,
  kScatter,
  kBroadcast,
  kAllToAll,
  kReduceScatter,
  kBarrier,
  kSend,
  kRecv,
  kWait,
  kInit,
  kCoalesced,
  kUnknown,
};

// Parses names such as "allreduce", "_allgather_base", "all_to_allv", "nccl:_all_gather_base" or
// "c10d::allreduce_". kUnknown for any other name.
CommOp ParseCommOp(absl::string_view name);
absl::string_view Name(CommOp op);
// Whether a call moves data by itself.
bool MovesData(CommOp op);
// False: the call is not a collective.
bool ToCollective(CommOp op, CollectiveType* out);

// Bytes of one element of the type "Float", "float", "c10::BFloat16", "Long", "long int", "Half", "Byte",
// "Float8_e4m3fn" ...; 0: unknown.
int ItemSize(absl::string_view dtype);

// One record_param_comms event, or the collective that the arguments of a kernel describe. Fields that the
// source lacks keep their defaults.
struct CommCall {
  CommOp op = CommOp::kUnknown;
  std::string name;  // as written
  // pg_name (text), or the process-group pointer as decimal text in old files; "": not written
  std::string group;
  std::string group_desc;
  std::vector<int> ranks;  // global ranks, if the source lists all of them
  bool ranks_cut = false;  // the list was shortened ("...")
  int64_t group_size = kNone;
  int64_t start = kNone, stride = kNone;  // first global rank of the group, and the distance of its ranks
  int64_t seq = kNone;
  bool p2p = false;  // seq marks the call as point-to-point
  // As written: the root of broadcast, reduce, gather and scatter; the peer of send and recv.
  int64_t root = kNone;
  bool root_is_global = false;  // false: root is a rank inside the group
  int64_t rank = kNone;         // the caller's rank inside its group, if the source gives it
  int64_t in_elems = kNone, out_elems = kNone;
  int64_t in_bytes = kNone, out_bytes = kNone;  // elements x item size, summed over tensors
  std::string dtype;
  std::vector<int64_t> in_split, out_split;  // elements for each peer; empty: even split
  // The library that carries the call: "NCCL", "DeepEP", ...; "": unknown.
  std::string library;
  bool own_group = false;  // the library has its own groups: a missing group does not mean the world group
  // The kernel communicates but carries no call: another kernel carries its call, or its collective is
  // unknown. It is replayed with its recorded time.
  bool kept = false;
  bool operator==(const CommCall&) const = default;
};
// Copies fields of `from` that `to` lacks.
void MergeCall(const CommCall& from, CommCall* to);

// ---------------------------------------------------------------- host side

struct HostNode {
  uint64_t id = 0;
  uint64_t parent = 0;  // ctrl_deps, or `parent` in schema 1.0.1
  uint64_t fw_parent = 0;
  uint64_t rf_id = 0;  // 0: none
  int64_t seq_id = -1;
  uint32_t scope = 0;  // RecordScope
  uint32_t tid = 0;    // PyTorch's logical thread number; 1: the main thread
  uint32_t fw_tid = 0;
  uint32_t name = 0;  // from here on: indices into HostTrace::strings, JSON text as written
  uint32_t op_schema = 0;
  uint32_t in_values = 0, in_shapes = 0, in_types = 0;
  uint32_t out_shapes = 0, out_types = 0;
  uint32_t comm = kNoRow;  // row of HostTrace::comms
};

// What chakra_trace_link copied from a device trace into a host trace: the time of an operator, or a device
// operation, which is then a node of its own below the operator that launched it.
struct LinkedNode {
  int64_t ts_ns = kNone, dur_ns = kNone;  // on the clock of the device trace
  int64_t stream = kNone;
  bool device = false;
  uint8_t kind = 0;  // EventKind of a device operation
};

struct HostTrace {
  std::string file;
  std::string schema;  // "1.0.1", "1.1.1-chakra.0.0.4", ...
  int rank = kNoRank;  // set if calls of known groups give it
  int64_t pid = kNone;
  // The time at which the machine's steady clock was 0: ms since the epoch, in the machine's local time. The
  // time of the wall clock at the begin of the trace, cut to seconds, minus the time of the steady clock.
  // kNone: not written.
  int64_t boot_ms = kNone;
  std::vector<HostNode> nodes;  // ascending by id
  std::vector<CommCall> comms;
  StringTable strings;
  // By id; empty: chakra_trace_link did not process the trace.
  absl::flat_hash_map<uint64_t, LinkedNode> linked;
  Groups groups;  // from process_group:init nodes, and evenly spaced groups that calls describe
  std::vector<Repair> repairs;
  const HostNode* Find(uint64_t id) const;  // null: none
  absl::string_view name_of(const HostNode& n) const { return strings.Get(n.name); }
};

// -------------------------------------------------------------- device side

enum class EventKind : uint8_t {
  kCpuOp,       // cpu_op, Operator
  kAnnotation,  // user_annotation
  kPython,      // python_function; kept only on request
  kRuntime,     // cuda_runtime and its HIP and MTIA counterparts, Runtime
  kDriver,      // cuda_driver
  kKernel,      // kernel, Kernel, mtia_ccp_events
  kMemcpy,      // gpu_memcpy, Memcpy
  kMemset,      // gpu_memset, Memset
  kSync,        // cuda_sync: an event on the device's side that says what a runtime call waited for
};
inline constexpr int kEventKinds = 9;
inline bool OnDevice(EventKind k) { return k >= EventKind::kKernel && k <= EventKind::kMemset; }
inline bool OnHost(EventKind k) { return k <= EventKind::kDriver; }

// One complete ("X") event. Times are exact nanoseconds.
struct Event {
  int64_t ts = 0;   // since DeviceTrace::base_ns
  int64_t dur = 0;  // never negative
  int64_t correlation = kNone;
  uint32_t name = 0;        // in DeviceTrace::strings
  uint32_t lane = 0;        // host kinds: row of threads; device kinds and kSync: row of streams
  uint32_t extra = kNoRow;  // row of the column for this kind: ops, device, syncs or runtime
  EventKind kind = EventKind::kCpuOp;
};

// Numbers that PyTorch gives to an event.
struct EventIds {
  int64_t external = kNone;  // "External id"; DeviceTrace::external_is_correlation says what it means
  int64_t rf = kNone;        // "Record function id"; 0 means none
};

// Event::extra of kCpuOp and kAnnotation.
struct OpExtra {
  int64_t seq = kNone;         // "Sequence number"
  int64_t fwd_thread = kNone;  // "Fwd thread id"
  uint32_t shapes = 0;         // "Input Dims", JSON text
  uint32_t types = 0;          // "Input type", JSON text
  uint32_t comm = kNoRow;      // row of comms
  uint32_t compiled = kNoRow;  // row of compiled
};
// What Inductor records of a Triton kernel, in the event of the operator that launches it
// (get_profiler_kwargs() of PyTorch's torch/_inductor/runtime/triton_heuristics.py). Texts are indices into
// DeviceTrace::strings; 0: not recorded.
struct CompiledKernel {
  uint32_t backend = 0, file = 0;  // "triton"; the generated source file
  uint32_t hash = 0;               // of the source; equal for equal code, whatever its name
  uint32_t options = 0;            // "XBLOCK=128,RBLOCK=8"
  uint32_t grid = 0;               // "grid(1024,)"; only PyTorch before 2.7 records it
  int64_t warps = kNone, stages = kNone;
  int64_t operations = kNone, traffic = kNone;  // of one launch: operations; bytes
};
// Event::extra of kKernel, kMemcpy, kMemset.
struct DeviceExtra {
  int64_t bytes = kNone;   // bytes of a memcpy or memset
  uint32_t comm = kNoRow;  // row of comms
  uint32_t comms = 1;      // number of calls that the kernel carries: rows of comms from `comm` on
  uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  uint32_t graph_op = kNoRow;  // row of graph_ops, if a graph launched the kernel
  // What a compiler records of the operation, if the source has it. `op`, `shapes` and `types`: the operator
  // and the shapes and types of its operands, as indices into DeviceTrace::strings (0: not recorded).
  // `traffic`: bytes read and written.
  uint32_t op = 0, shapes = 0, types = 0;
  int64_t operations = kNone, traffic = kNone;
};
// The number of a device operation's node in its CUDA graph, if the source records it. Nodes are numbered in
// the order in which they were made.
struct GraphNodeOf {
  uint32_t extra = 0;  // row of DeviceTrace::device
  int64_t node = 0;
};
// The operator that launched a kernel while a graph was captured; the kernel became a node of the graph.
struct GraphOp {
  // Like Event::name, OpExtra::shapes and OpExtra::types of an operator.
  uint32_t name = 0, shapes = 0, types = 0;
};
// Event::extra of kSync.
struct SyncExtra {
  enum Kind : uint8_t { kEvent, kStream, kContext, kStreamWaitEvent, kOther } kind = kOther;
  int64_t wait_on_stream = kNone;       // a stream of the same device
  int64_t wait_on_correlation = kNone;  // wait_on_cuda_event_record_corr_id
};
// Event::extra of kRuntime, if the call names its stream (HIP) or moves bytes.
struct RuntimeExtra {
  int64_t stream = kNone;
  int64_t bytes = kNone;
};

struct ThreadLane {
  int64_t pid = 0;
  std::string tid;   // as written: a number, or text
  std::string name;  // from thread_name
};
struct StreamLane {
  int device = 0;
  int64_t stream = 0;  // -1: none
};

// A "fwdbwd" arrow from a forward operator to its backward operator, as rows of events.
struct FlowArrow {
  uint32_t from = kNoRow, to = kNoRow;
};

// A device operation that waits for another one because it needs the other's data, if the source records
// that. Rows of events.
struct DeviceWait {
  uint32_t op = kNoRow, source = kNoRow;
};

// A step whose times the source records; ns since DeviceTrace::base_ns.
struct DeviceStep {
  int64_t number = 0;
  int64_t begin = 0, end = 0;
};

// The peak of the memory that PyTorch's allocator held on one device ("[memory]" events): bytes of tensors,
// and bytes that the allocator reserved for them.
struct MemoryPeak {
  int64_t device = 0;
  int64_t allocated = 0, reserved = 0;
};

struct DeviceTrace {
  std::string file;
  std::string schema = "kineto";  // the recorder ("kineto", "nsys", ...); written to the metadata
  std::string machine;        // the same text for all traces of one machine, and so of one clock; "": unknown
  int rank = kNoRank;         // distributedInfo.rank
  int world_size = 0;         // distributedInfo.world_size; 0: not written
  int64_t base_ns = 0;        // the time at which Event::ts is 0, since the epoch
  std::vector<Event> events;  // sorted by (ts, longer first, order in the file)
  std::vector<EventIds> ids;  // by row of events; kept until the rank is paired; may be shorter than events
  std::vector<OpExtra> ops;
  std::vector<DeviceExtra> device;
  std::vector<SyncExtra> syncs;
  std::vector<RuntimeExtra> runtime;
  std::vector<CommCall> comms;
  std::vector<ThreadLane> threads;
  std::vector<StreamLane> streams;
  std::vector<FlowArrow> fwdbwd;
  std::vector<CompiledKernel> compiled;
  std::vector<GraphOp> graph_ops;
  std::vector<GraphNodeOf> graph_nodes;  // sorted by extra
  std::vector<DeviceWait> waits;         // sorted by (op, source)
  std::vector<DeviceStep> steps;         // sorted by begin
  StringTable strings;
  Groups groups;                         // distributedInfo.pg_config
  std::vector<std::string> devices;      // deviceProperties: names
  std::vector<MemoryPeak> memory;        // one for each device, in the order of the file; without the host
  bool external_is_correlation = false;  // files of 2023: the External id of a kernel is its correlation
  std::vector<Repair> repairs;           // counts of NaN or negative durations, unknown categories, ...
  // Events left out that may be device events: their kind or their time is unknown.
  uint64_t unknown_events = 0;
  uint64_t skipped = 0;  // events that are no work (python_function, overhead, flows, ...)
  absl::string_view name_of(const Event& e) const { return strings.Get(e.name); }
  EventIds ids_of(uint32_t row) const { return row < ids.size() ? ids[row] : EventIds(); }
  // Sets the ids of a row of events.
  void SetIds(size_t row, const EventIds& of) {
    if (row > ids.size()) ids.resize(row);
    if (row == ids.size()) {
      ids.push_back(of);
    } else {
      ids[row] = of;
    }
  }
};

}  // namespace chakra::pytorch
