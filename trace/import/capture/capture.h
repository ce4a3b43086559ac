// A PyTorch capture of one rank as it was written: the host's execution trace (HostTrace) and Kineto's
// timeline (DeviceTrace). Readers fill these structs and interpret only names, units and integer times.
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

// Reads names such as "allreduce", "_allgather_base", "all_to_allv", "nccl:_all_gather_base" or
// "c10d::allreduce_". kUnknown for any other name.
CommOp ParseCommOp(absl::string_view name);
absl::string_view Name(CommOp op);
// Whether a call moves data by itself.
bool MovesData(CommOp op);
// False: the call is no collective.
bool ToCollective(CommOp op, CollectiveType* out);

// Bytes of one element of "Float", "float", "c10::BFloat16", "Long", "long int", "Half", "Byte",
// "Float8_e4m3fn" ...; 0: unknown.
int ItemSize(absl::string_view dtype);

// One record_param_comms, or the collective that the arguments of a kernel describe. Fields that the source
// lacks keep their defaults.
struct CommCall {
  CommOp op = CommOp::kUnknown;
  std::string name;  // as written
  std::string
      group;  // pg_name (text), or the process-group pointer as decimal text in old files; "": not written
  std::string group_desc;
  std::vector<int> ranks;  // global ranks, if the source lists all of them
  bool ranks_cut = false;  // the list was shortened ("...")
  int64_t group_size = kNone;
  int64_t start = kNone, stride = kNone;  // global rank start/stride of the group
  int64_t seq = kNone;
  bool p2p = false;             // seq marks the call as point to point
  int64_t root = kNone;         // broadcast/reduce/gather/scatter: the root, send/recv: the peer; as written
  bool root_is_global = false;  // false: a rank inside the group
  int64_t rank = kNone;         // the caller's rank inside its group, if the call gives it
  int64_t in_elems = kNone, out_elems = kNone;
  int64_t in_bytes = kNone, out_bytes = kNone;  // elements x item size, summed over tensors
  std::string dtype;
  std::vector<int64_t> in_split, out_split;  // elements for each peer; empty: even
  std::string library;                       // that carries the call: "NCCL", "DeepEP", ...; "": not known
  bool own_group = false;  // the library has groups of its own, so that an absent group is not the world
  bool kept = false;       // a further kernel of a call that another kernel carries
  bool operator==(const CommCall&) const = default;
};
// Fills members that `to` lacks.
void MergeCall(const CommCall& from, CommCall* to);

// ---------------------------------------------------------------- host side

struct HostNode {
  uint64_t id = 0;
  uint64_t parent = 0;  // ctrl_deps, or parent of 1.0.1
  uint64_t fw_parent = 0;
  uint64_t rf_id = 0;  // 0: none
  int64_t seq_id = -1;
  uint32_t scope = 0;  // RecordScope
  uint32_t tid = 0;    // PyTorch's logical thread, 1 = main
  uint32_t fw_tid = 0;
  uint32_t name = 0;  // this and the next members: indices into HostTrace::strings, JSON text as written
  uint32_t op_schema = 0;
  uint32_t in_values = 0, in_shapes = 0, in_types = 0;
  uint32_t out_shapes = 0, out_types = 0;
  uint32_t comm = kNoRow;  // row of HostTrace::comms
};

// What chakra_trace_link took from a device trace into a host trace: when an operator ran, or a device
// operation, which is then a node of its own below the operator that launched it.
struct LinkedNode {
  int64_t ts_ns = kNone, dur_ns = kNone;  // of the clock of the device trace
  int64_t stream = kNone;
  bool device = false;
  uint8_t kind = 0;  // EventKind, of a device operation
};

struct HostTrace {
  std::string file;
  std::string schema;  // "1.0.1", "1.1.1-chakra.0.0.4", ...
  int rank = kNoRank;  // if calls of known groups give it
  int64_t pid = kNone;
  // When the machine began to count its steady clock, ms since the epoch of its local time: the wall clock's
  // time at the begin of the trace, cut to seconds, minus the steady clock's. kNone: not written.
  int64_t boot_ms = kNone;
  std::vector<HostNode> nodes;  // ascending by id
  std::vector<CommCall> comms;
  StringTable strings;
  absl::flat_hash_map<uint64_t, LinkedNode> linked;  // by id; empty: nobody linked the trace
  Groups groups;  // from process_group:init nodes, and evenly spaced groups that calls describe
  std::vector<Repair> repairs;
  const HostNode* Find(uint64_t id) const;  // null: none
  absl::string_view name_of(const HostNode& n) const { return strings.Get(n.name); }
};

// -------------------------------------------------------------- device side

enum class EventKind : uint8_t {
  kCpuOp,       // cpu_op, Operator
  kAnnotation,  // user_annotation
  kPython,      // python_function; kept only when asked for
  kRuntime,     // cuda_runtime, hip and mtia relatives, Runtime
  kDriver,      // cuda_driver
  kKernel,      // kernel, Kernel, mtia_ccp_events
  kMemcpy,      // gpu_memcpy, Memcpy
  kMemset,      // gpu_memset, Memset
  kSync,        // cuda_sync: a row on the device's side that says what a runtime call waited for
};
inline constexpr int kEventKinds = 9;
inline bool OnDevice(EventKind k) { return k >= EventKind::kKernel && k <= EventKind::kMemset; }
inline bool OnHost(EventKind k) { return k <= EventKind::kDriver; }

// One complete ("X") event. Times are nanoseconds, exact.
struct Event {
  int64_t ts = 0;   // since DeviceTrace::base_ns
  int64_t dur = 0;  // never negative
  int64_t correlation = kNone;
  uint32_t name = 0;        // in DeviceTrace::strings
  uint32_t lane = 0;        // host kinds: row of threads; device kinds and kSync: row of streams
  uint32_t extra = kNoRow;  // row of the column for this kind: ops, device, syncs or runtime
  EventKind kind = EventKind::kCpuOp;
};

// Numbers of PyTorch's that an event may have.
struct EventIds {
  int64_t external = kNone;  // "External id"; DeviceTrace::external_is_correlation tells its meaning
  int64_t rf = kNone;        // "Record function id"; 0 counts as none
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
// What Inductor tells of a Triton kernel beside the operator that launches it (get_profiler_kwargs() of
// PyTorch's torch/_inductor/runtime/triton_heuristics.py); texts are indices into DeviceTrace::strings, 0:
// not told.
struct CompiledKernel {
  uint32_t backend = 0, file = 0;  // "triton"; the generated source
  uint32_t hash = 0;               // of the source: equal for equal code, whatever its name
  uint32_t options = 0;            // "XBLOCK=128,RBLOCK=8"
  uint32_t grid = 0;               // "grid(1024,)", of PyTorch before 2.7
  int64_t warps = kNone, stages = kNone;
  int64_t operations = kNone, traffic = kNone;  // of one launch; bytes
};
// Event::extra of kKernel, kMemcpy, kMemset.
struct DeviceExtra {
  int64_t bytes = kNone;   // bytes of a memcpy or memset
  uint32_t comm = kNoRow;  // row of comms
  uint32_t comms = 1;      // calls that the kernel carries: rows of comms from `comm` on
  uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  uint32_t graph_op = kNoRow;  // row of graph_ops: of a kernel that a graph launched
  // What a compiler says of the operation, where the source has that: its operator and the operands' shapes
  // and types, as indices into DeviceTrace::strings (0: not told); operations, and bytes read and written.
  uint32_t op = 0, shapes = 0, types = 0;
  int64_t operations = kNone, traffic = kNone;
};
// The node of a CUDA graph that a device operation was, where the source numbers them: nodes are numbered in
// the order in which they were made.
struct GraphNodeOf {
  uint32_t extra = 0;  // row of DeviceTrace::device
  int64_t node = 0;
};
// The operator that put a kernel into a graph, when the graph was captured.
struct GraphOp {
  uint32_t name = 0, shapes = 0, types = 0;  // as of an operator's event and its OpExtra
};
// Event::extra of kSync.
struct SyncExtra {
  enum Kind : uint8_t { kEvent, kStream, kContext, kStreamWaitEvent, kOther } kind = kOther;
  int64_t wait_on_stream = kNone;       // on the same device
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

// A "fwdbwd" arrow from a forward operator to its backward operator; event rows.
struct FlowArrow {
  uint32_t from = kNoRow, to = kNoRow;
};

// A device operation that waits for another one because it needs its data, where the source tells; event
// rows.
struct DeviceWait {
  uint32_t op = kNoRow, source = kNoRow;
};

// A step that the source tells by its times; ns since DeviceTrace::base_ns.
struct DeviceStep {
  int64_t number = 0;
  int64_t begin = 0, end = 0;
};

// What PyTorch's allocator held on one device when that was most ("[memory]" events): bytes of tensors, and
// of what it keeps for them.
struct MemoryPeak {
  int64_t device = 0;
  int64_t allocated = 0, reserved = 0;
};

struct DeviceTrace {
  std::string file;
  std::string schema = "kineto";  // what recorded it ("kineto", "nsys", ...); metadata have it
  std::string machine;        // traces of one machine, and so of one clock, have the same text; "": not told
  int rank = kNoRank;         // distributedInfo.rank
  int world_size = 0;         // distributedInfo.world_size; 0: not written
  int64_t base_ns = 0;        // since the epoch; the time at which Event::ts is 0
  std::vector<Event> events;  // by (ts, longer first, order in the file)
  std::vector<EventIds> ids;  // by row of events, until the rank is paired; the last rows may lack theirs
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
  std::vector<GraphNodeOf> graph_nodes;  // by extra
  std::vector<DeviceWait> waits;         // by (op, source)
  std::vector<DeviceStep> steps;         // by begin
  StringTable strings;
  Groups groups;                         // distributedInfo.pg_config
  std::vector<std::string> devices;      // deviceProperties: names
  std::vector<MemoryPeak> memory;        // by device, in the order of the file; without the host's
  bool external_is_correlation = false;  // files of 2023: the External id of every kernel is its correlation
  std::vector<Repair> repairs;           // counts of NaN or negative durations, unknown categories, ...
  uint64_t unknown_events = 0;           // events left out that may be of a device: of no known kind, or time
  uint64_t skipped = 0;                  // events without work (python_function, overhead, flows, ...)
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
