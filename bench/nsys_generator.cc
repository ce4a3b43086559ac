#include "bench/nsys_generator.h"

#include <sqlite3.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace chakra {
namespace {

// A value of a row: a number, a text, bytes, or nothing.
struct Value {
  enum { kNull, kNumber, kText, kBytes } kind = kNull;
  int64_t number = 0;
  std::string text;
  Value() = default;
  Value(int64_t n) : kind(kNumber), number(n) {}             // NOLINT
  Value(int n) : kind(kNumber), number(n) {}                 // NOLINT
  Value(const char* t) : kind(kText), text(t) {}             // NOLINT
  Value(std::string t) : kind(kText), text(std::move(t)) {}  // NOLINT
  static Value Bytes(std::string b) {
    Value v(std::move(b));
    v.kind = kBytes;
    return v;
  }
};

// Creates a database and writes rows into it.
class Writer {
 public:
  explicit Writer(const std::string& path) {
    good_ = sqlite3_open(path.c_str(), &db_) == SQLITE_OK;
    Run("PRAGMA journal_mode=OFF");
    Run("PRAGMA synchronous=OFF");
    Run("BEGIN");
  }
  ~Writer() {
    for (auto& [table, insert] : inserts_) sqlite3_finalize(insert);
    sqlite3_close(db_);
  }
  void Table(const std::string& name, const std::string& columns) {
    Run(absl::StrCat("CREATE TABLE ", name, " (", columns, ")"));
    const auto count = std::count(columns.begin(), columns.end(), ',') + 1;
    std::string marks = "?";
    for (int i = 1; i < count; ++i) marks += ",?";
    sqlite3_stmt* insert = nullptr;
    const std::string sql = absl::StrCat("INSERT INTO ", name, " VALUES (", marks, ")");
    good_ = good_ && sqlite3_prepare_v2(db_, sql.c_str(), -1, &insert, nullptr) == SQLITE_OK;
    inserts_[name] = insert;
  }
  void Row(const std::string& table, std::initializer_list<Value> values) {
    sqlite3_stmt* insert = inserts_[table];
    good_ = good_ && insert != nullptr;
    if (!good_) return;
    int i = 0;
    for (const Value& v : values) {
      ++i;
      const int size = static_cast<int>(v.text.size());
      if (v.kind == Value::kNull) sqlite3_bind_null(insert, i);
      if (v.kind == Value::kNumber) sqlite3_bind_int64(insert, i, v.number);
      if (v.kind == Value::kText) sqlite3_bind_text(insert, i, v.text.data(), size, SQLITE_TRANSIENT);
      if (v.kind == Value::kBytes) sqlite3_bind_blob(insert, i, v.text.data(), size, SQLITE_TRANSIENT);
    }
    good_ = sqlite3_step(insert) == SQLITE_DONE;
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
  }
  absl::Status Finish() {
    Run("COMMIT");
    return good_ ? absl::OkStatus()
                 : absl::InternalError(absl::StrCat("cannot write: ", sqlite3_errmsg(db_)));
  }

 private:
  void Run(const std::string& sql) {
    good_ = good_ && sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  sqlite3* db_ = nullptr;
  bool good_ = true;
  std::map<std::string, sqlite3_stmt*> inserts_;
};

constexpr char kKernel[] = "CUPTI_ACTIVITY_KIND_KERNEL", kCopy[] = "CUPTI_ACTIVITY_KIND_MEMCPY",
               kApi[] = "CUPTI_ACTIVITY_KIND_RUNTIME", kSync[] = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
               kRecord[] = "CUPTI_ACTIVITY_KIND_CUDA_EVENT", kNvtx[] = "NVTX_EVENTS",
               kGraph[] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kNode[] = "CUDA_GRAPH_NODE_EVENTS";
constexpr int64_t kCompute = 7, kComm = 20;  // streams
constexpr uint64_t kWorld = 0x5ca1ab1e0fdecade;

std::string Numbers(std::initializer_list<std::pair<uint64_t, int>> numbers) {
  std::string out;
  for (const auto& [v, bytes] : numbers) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i) & 0xff);
  }
  return out;
}

// A payload of NCCL after nsys's header.
std::string Payload(int schema, const std::string& body) {
  return Numbers({{1, 8},
                  {(1 << 24) + static_cast<uint64_t>(schema), 8},
                  {body.size(), 8},
                  {32 + body.size(), 8}}) +
         body;
}

class Generator {
 public:
  Generator(const NsysOptions& options, const std::string& path)
      : o_(options), w_(path), ranks_(options.gpus) {}
  absl::Status Run();

 private:
  struct Rank {
    int64_t now = 0, backward = 0;  // of the main thread, and of the thread of the backward pass
    int64_t compute = 0, comm = 0;  // when the streams are idle
    int64_t correlation = 1, event = 0, op = 0;
  };
  int64_t Pid(int g) const { return 1000 + g; }
  int64_t Process(int g) const { return (int64_t{1} << 48) + (Pid(g) << 24); }
  int64_t Thread(int g, bool backward = false) const { return Process(g) + Pid(g) + (backward ? 50000 : 0); }
  int64_t String(const std::string& text);
  int64_t Scaled(int64_t ns) const { return ns * o_.kernel_percent / 100; }
  void Tables();
  void Session();
  int64_t Api(int g, int64_t* now, int64_t dur, const char* name, bool backward = false);
  int64_t Kernel(int g, int64_t* now, int64_t stream, int64_t after, int64_t dur, const std::string& name,
                 bool backward = false);
  void KernelRow(int g, int64_t start, int64_t end, int64_t stream, int64_t correlation,
                 const std::string& name, Value node);
  void Range(int g, int64_t begin, int64_t end, const std::string& text, Value payload = {},
             bool backward = false);
  void Operator(int g, int64_t begin, int64_t end, const std::string& name, int64_t seq,
                const std::string& sizes, bool backward = false);
  void Init();
  void CaptureGraph();
  void LaunchGraph();
  void Forward(int layer, int step);
  void Backward(int layer, int step);
  void AllReduce(int layer);
  void Exchange();
  void EndOfStep();
  // Adds a record on one stream and another stream's wait for it.
  void Chain(int g, int64_t* now, int64_t from, int64_t to, bool backward);

  const NsysOptions& o_;
  Writer w_;
  std::vector<Rank> ranks_;
  std::map<std::string, int64_t> strings_;
};

int64_t Generator::String(const std::string& text) {
  const auto [it, fresh] = strings_.try_emplace(text, static_cast<int64_t>(strings_.size()) + 1);
  if (fresh) w_.Row("StringIds", {it->second, text});
  return it->second;
}

void Generator::Tables() {
  w_.Table("StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL");
  w_.Table("META_DATA_EXPORT", "name TEXT, value TEXT");
  w_.Table("META_DATA_CAPTURE", "name TEXT, value TEXT");
  w_.Table("ANALYSIS_DETAILS", "globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER");
  w_.Table("TARGET_INFO_SESSION_START_TIME",
           "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER");
  w_.Table("TARGET_INFO_SYSTEM_ENV",
           "globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT");
  w_.Table("TARGET_INFO_GPU", "vmId INTEGER, id INTEGER, name TEXT, busLocation TEXT, smCount INTEGER");
  w_.Table("TARGET_INFO_CUDA_DEVICE", "gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT");
  w_.Table("ThreadNames", "nameId INTEGER, priority INTEGER, globalTid INTEGER");
  w_.Table(kKernel,
           "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, "
           "streamId INTEGER, "
           "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName "
           "INTEGER, "
           "launchType INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, "
           "blockX INTEGER, "
           "blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, "
           "graphNodeId INTEGER");
  w_.Table(kCopy,
           "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId "
           "INTEGER, "
           "globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, copyCount "
           "INTEGER");
  w_.Table(kApi,
           "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId "
           "INTEGER, "
           "returnValue INTEGER, callchainId INTEGER");
  w_.Table(kSync,
           "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId "
           "INTEGER, "
           "globalPid INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER");
  w_.Table(kRecord,
           "timestamp INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
           "globalPid "
           "INTEGER, eventId INTEGER, eventSyncId INTEGER");
  w_.Table(kNvtx,
           "start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, color INTEGER, "
           "text TEXT, "
           "globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, "
           "int64Value "
           "INTEGER, doubleValue REAL, jsonText TEXT, binaryData BLOB");
  if (o_.graph_traced_whole)
    w_.Table(kGraph,
             "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
             "correlationId INTEGER, "
             "globalPid INTEGER, graphId INTEGER, graphExecId INTEGER");
  if (o_.graph_of_forward)
    w_.Table(kNode,
             "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER, graphNodeId "
             "INTEGER, "
             "originalGraphNodeId INTEGER");
}

void Generator::Session() {
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"},
           {"EXPORT_PRODUCT_VERSION", "2026.2.1.210"},
           {"EXPORT_SCHEMA_VERSION", "3.25.0"},
           {"EXPORT_PARAM_INCLUDE_BLOBS", o_.blobs ? "true" : "false"},
           {"EXPORT_PARAM_TIME_NORMALIZE", "false"},
           {"EXPORT_PARAM_TIME_SHIFT", "0"}}) {
    w_.Row("META_DATA_EXPORT", {name, value});
  }
  w_.Row("META_DATA_CAPTURE", {"CUDA_GRAPH_TRACE_OPTIONS:MODE", o_.graph_traced_whole ? "Graph" : "Node"});
  // Each host's clock has a different start.
  const int64_t begin = 1'000'000'000 + o_.host * int64_t{777'000'000'000};
  w_.Row("ANALYSIS_DETAILS", {int64_t{1} << 48, 600'000'000'000, begin, begin + 600'000'000'000});
  w_.Row("TARGET_INFO_SESSION_START_TIME", {1'790'000'000'000'000'000 + o_.clock_error_ns,
                                            "2026-09-21T14:13:20", "2026-09-21T14:13:20", begin});
  w_.Row("TARGET_INFO_SYSTEM_ENV",
         {int64_t{1} << 48, "Local (CLI)", "Hostname", 90, absl::StrCat("node", o_.host)});
  for (int g = 0; g < o_.gpus; ++g) {
    w_.Row("TARGET_INFO_GPU", {int64_t{1} << 48, g, "NVIDIA H100 80GB HBM3", "", 132});
    w_.Row("TARGET_INFO_CUDA_DEVICE", {g, g, Pid(g), absl::StrCat("gpu", g)});
    w_.Row("ThreadNames", {String("python3"), 20, Thread(g)});
    w_.Row("ThreadNames", {String("pt_autograd_0"), 20, Thread(g, true)});
    ranks_[static_cast<size_t>(g)].now = begin + 5'000'000 + 3000 * g;
  }
}

int64_t Generator::Api(int g, int64_t* now, int64_t dur, const char* name, bool backward) {
  const int64_t correlation = ranks_[static_cast<size_t>(g)].correlation++;
  w_.Row(kApi, {*now, *now + dur, 0, Thread(g, backward), correlation, String(name), 0, {}});
  *now += dur;
  return correlation;
}

void Generator::KernelRow(int g, int64_t start, int64_t end, int64_t stream, int64_t correlation,
                          const std::string& name, Value node) {
  const int64_t demangled = String(name), brief = String(name.substr(0, name.find('(')));
  w_.Row(kKernel,
         {start, end, g,   1, {}, stream, correlation, Process(g), demangled, brief, demangled,
          1,     64,  132, 1, 1,  256,    1,           1,          0,         49152, std::move(node)});
}

// Launches a kernel from the thread with clock `now`; returns the kernel's end.
int64_t Generator::Kernel(int g, int64_t* now, int64_t stream, int64_t after, int64_t dur,
                          const std::string& name, bool backward) {
  Rank& r = ranks_[static_cast<size_t>(g)];
  int64_t& idle = stream == kCompute ? r.compute : r.comm;
  const int64_t called = *now;
  const int64_t correlation = Api(g, now, 4000, "cudaLaunchKernel_v7000", backward);
  const int64_t start = std::max({called + 5000, idle + 900, after + 900});
  idle = start + dur;
  KernelRow(g, start, idle, stream, correlation, name, {});
  return idle;
}

void Generator::Range(int g, int64_t begin, int64_t end, const std::string& text, Value payload,
                      bool backward) {
  const bool nccl = text.rfind("nccl", 0) == 0;
  w_.Row(kNvtx, {begin,
                 end,
                 59,
                 {},
                 {},
                 {},
                 nccl ? Value() : Value(text),
                 Thread(g, backward),
                 {},
                 nccl ? Value(String(text)) : Value(),
                 nccl ? 1 : 0,
                 {},
                 {},
                 {},
                 {},
                 o_.blobs ? std::move(payload) : Value()});
}

void Generator::Operator(int g, int64_t begin, int64_t end, const std::string& name, int64_t seq,
                         const std::string& sizes, bool backward) {
  if (!o_.operators) return;
  Range(g, begin, end,
        absl::StrCat(name, seq < 0 ? "" : absl::StrCat(", seq = ", seq),
                     ", op_id = ", ++ranks_[static_cast<size_t>(g)].op, ", sizes = ", sizes),
        {}, backward);
}

void Generator::Init() {
  const uint64_t world = static_cast<uint64_t>(o_.gpus) * static_cast<uint64_t>(o_.hosts);
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    const uint64_t rank = static_cast<uint64_t>(o_.host * o_.gpus + g);
    Range(g, r.now, r.now + 200'000, "ncclCommInitRankConfig",
          Value::Bytes(Payload(
              11, Numbers({{kWorld, 8}, {world, 4}, {rank, 4}, {static_cast<uint64_t>(g), 4}, {0, 4}}))));
    r.now += 1'000'000;
  }
}

void Generator::Chain(int g, int64_t* now, int64_t from, int64_t to, bool backward) {
  Rank& r = ranks_[static_cast<size_t>(g)];
  const int64_t event = ++r.event;
  const int64_t record = Api(g, now, 1500, "cudaEventRecordWithFlags_v11010", backward);
  if (o_.event_records) w_.Row(kRecord, {0, g, 1, from, record, Process(g), event, event + 100});
  const int64_t at = *now;
  const int64_t wait = Api(g, now, 1200, "cudaStreamWaitEvent_v3020", backward);
  w_.Row(kSync, {at, *now, 0, 1, to, wait, Process(g), 2, event, event + 100});
}

// Captures the forward pass once: operators run and make nodes.
void Generator::CaptureGraph() {
  for (int g = 0; g < o_.gpus && o_.graph_of_forward; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    for (int layer = 0; layer < o_.layers; ++layer) {
      const int64_t begin = r.now;
      Api(g, &r.now, 3000, "cudaLaunchKernel_v7000");
      w_.Row(kNode,
             {begin + 1000, begin + 2000, 77, Thread(g), String("cudaGraphKernelNode"), 10 + layer, {}});
      w_.Row(kNode, {r.now, r.now, 96, Thread(g), String("cudaGraphClone"), 1000 + layer, 10 + layer});
      r.now += 500;
      Operator(g, begin - 300, r.now, "aten::linear", -1,
               absl::StrCat("[[64, ", o_.width, "], [", o_.width, ", ", o_.width, "]]"));
      r.now += 2000;
    }
  }
}

void Generator::LaunchGraph() {
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    const int64_t called = r.now;
    const int64_t correlation = Api(g, &r.now, 9000, "cudaGraphLaunch_v10000");
    const int64_t first = std::max(called + 9000, r.compute + 900);
    int64_t at = first;
    for (int layer = 0; layer < o_.layers; ++layer) {
      const int64_t end = at + Scaled(40'000);
      if (!o_.graph_traced_whole)
        KernelRow(g, at, end, kCompute, correlation, "sm90_xmma_gemm_f32f32_tn_n_tilesize128x128",
                  int64_t{1000} + layer);
      r.compute = end;
      at = end + 700;
    }
    if (o_.graph_traced_whole)
      w_.Row(kGraph, {first, r.compute, g, 1, kCompute, correlation, Process(g), 3, 4});
  }
}

void Generator::Forward(int layer, int step) {
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    const int64_t begin = r.now;
    r.now += 3000;
    Kernel(g, &r.now, kCompute, 0, Scaled(40'000 + 100 * ((layer + step) % 3)),
           "sm90_xmma_gemm_f32f32_tn_n_tilesize128x128");
    r.now += 2000;
    Operator(g, begin, r.now, "aten::linear", int64_t{100} * step + layer,
             absl::StrCat("[[64, ", o_.width, "], [", o_.width, ", ", o_.width, "]]"));
    r.now += 1500;
  }
}

void Generator::Backward(int layer, int step) {
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    const int64_t begin = r.backward;
    r.backward += 3000;
    Kernel(g, &r.backward, kCompute, 0, Scaled(80'000), "sm90_xmma_gemm_f32f32_nt_n_tilesize128x128", true);
    r.backward += 2500;
    Operator(g, begin, r.backward, "autograd::engine::evaluate_function: AddmmBackward0",
             int64_t{100} * step + layer, absl::StrCat("[[64, ", o_.width, "]]"), true);
    r.backward += 1000;
  }
}

void Generator::AllReduce(int layer) {
  std::vector<int64_t> start;
  std::vector<int64_t> correlations;
  const uint64_t bytes = uint64_t{4} * static_cast<uint64_t>(o_.width) * static_cast<uint64_t>(o_.width);
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    Chain(g, &r.backward, kCompute, kComm, true);
    const int64_t begin = r.backward;
    r.backward += 1000;
    const int64_t called = r.backward;
    correlations.push_back(Api(g, &r.backward, 5000, "cudaLaunchKernelExC_v11060", true));
    r.backward += 1000;
    Range(g, begin, r.backward, "ncclAllReduce",
          Value::Bytes(Payload(5, Numbers({{kWorld, 8}, {bytes, 8}, {0, 4}, {0, 4}}))), true);
    start.push_back(std::max({called + 6000, r.comm + 900, r.compute + 900}));
  }
  // All end together, and the other hosts' ranks arrive with the last of this host.
  const int64_t end = *std::max_element(start.begin(), start.end()) + 60'000 + layer * 1000;
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    KernelRow(g, start[static_cast<size_t>(g)], end + g * 300, kComm, correlations[static_cast<size_t>(g)],
              "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", {});
    r.comm = end + g * 300;
  }
}

// Neighbours exchange 4 MiB and 1 MiB: a send and a receive in one group, one kernel.
void Generator::Exchange() {
  std::vector<int64_t> start, correlations;
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    const uint64_t rank = static_cast<uint64_t>(o_.host * o_.gpus + g), peer = rank ^ 1;
    const bool even = rank % 2 == 0;
    const uint64_t sent = even ? 4 << 20 : 1 << 20, received = even ? 1 << 20 : 4 << 20;
    Chain(g, &r.now, kCompute, kComm, false);
    Range(g, r.now, r.now + 300, "ncclGroupStart");
    Range(g, r.now + 500, r.now + 900, "ncclSend",
          Value::Bytes(Payload(9, Numbers({{kWorld, 8}, {sent, 8}, {peer, 4}, {0, 4}}))));
    Range(g, r.now + 1000, r.now + 1400, "ncclRecv",
          Value::Bytes(Payload(10, Numbers({{kWorld, 8}, {received, 8}, {peer, 4}, {0, 4}}))));
    const int64_t begin = r.now + 1500;
    r.now = begin + 500;
    const int64_t called = r.now;
    correlations.push_back(Api(g, &r.now, 5000, "cudaLaunchKernelExC_v11060"));
    r.now += 500;
    Range(g, begin, r.now, "ncclGroupEnd");
    r.now += 1000;
    start.push_back(std::max({called + 6000, r.comm + 900, r.compute + 900}));
  }
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    const size_t other = static_cast<size_t>(std::min(g ^ 1, o_.gpus - 1));
    const int64_t end = std::max(start[static_cast<size_t>(g)], start[other]) + 50'000;
    KernelRow(g, start[static_cast<size_t>(g)], end + 200 * g, kComm, correlations[static_cast<size_t>(g)],
              "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", {});
    r.comm = end + 200 * g;
    Chain(g, &r.now, kComm, kCompute, false);
    r.compute = std::max(r.compute, r.comm);
  }
}

// The optimizer waits for the gradients; the loss is read.
void Generator::EndOfStep() {
  for (int g = 0; g < o_.gpus; ++g) {
    Rank& r = ranks_[static_cast<size_t>(g)];
    Chain(g, &r.now, kComm, kCompute, false);
    const int64_t begin = r.now;
    r.now += 2000;
    Kernel(g, &r.now, kCompute, r.comm, Scaled(30'000), "multi_tensor_apply_kernel");
    Operator(g, begin, r.now + 500, "aten::_foreach_add_", -1,
             absl::StrCat("[[", o_.width, ", ", o_.width, "]]"));
    r.now += 3000;
    const int64_t called = r.now;
    const int64_t correlation = Api(g, &r.now, 4000, "cudaMemcpyAsync_v3020");
    const int64_t start = std::max(called + 4000, r.compute + 900);
    r.compute = start + 1500;
    w_.Row(kCopy, {start, r.compute, g, 1, kCompute, correlation, Process(g), 4, 2, 2, 1, 1});
    const int64_t at = r.now;
    const int64_t wait =
        Api(g, &r.now, std::max<int64_t>(3000, r.compute + 2500 - at), "cudaStreamSynchronize_v3020");
    w_.Row(kSync, {at, r.now, 0, 1, kCompute, wait, Process(g), 3, 4294967295, 0});
    r.now += 8000;
  }
}

absl::Status Generator::Run() {
  Tables();
  Session();
  Init();
  CaptureGraph();
  for (int step = 0; step < o_.steps; ++step) {
    std::vector<int64_t> begin;
    for (Rank& r : ranks_) begin.push_back(r.now += 2000);
    for (Rank& r : ranks_) r.now += 1000;
    if (o_.graph_of_forward || o_.graph_traced_whole) {
      LaunchGraph();
    } else {
      for (int layer = 0; layer < o_.layers; ++layer) Forward(layer, step);
    }
    if (o_.pipeline) Exchange();
    for (Rank& r : ranks_) r.backward = r.now + 4000;
    for (int layer = o_.layers - 1; layer >= 0; --layer) {
      Backward(layer, step);
      AllReduce(layer);
    }
    for (Rank& r : ranks_) r.now = r.backward + 5000;
    EndOfStep();
    for (int g = 0; g < o_.gpus; ++g)
      Range(g, begin[static_cast<size_t>(g)], ranks_[static_cast<size_t>(g)].now,
            absl::StrCat("iteration ", step));
  }
  return w_.Finish();
}

}  // namespace

absl::Status GenerateNsys(const NsysOptions& options, const std::string& path) {
  return Generator(options, path).Run();
}

}  // namespace chakra
