#include "trace/import/nsys/graph_nodes.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/nsys/host_rows.h"
#include "trace/import/nsys/operator_text.h"

namespace chakra::nsys {
namespace {

// The origin of a node: the thread and the time at which it was made.
struct Made {
  int64_t tid = 0, at = 0;
  int64_t original = 0;  // the node that it was cloned from, if `clone`
  bool clone = false;
};

// An operator or an NCCL call that may have been open when a node was made.
struct Around {
  int64_t begin = 0, end = 0;
  std::string op, shapes;
  std::string call, payload;  // of NCCL; `op` is "" then
};

class Joiner {
 public:
  Joiner(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas, Processes* processes)
      : db_(db), strings_(strings), schemas_(schemas), processes_(processes) {}
  absl::Status Run();

 private:
  using NodesOf = absl::flat_hash_map<int64_t, Made>;
  absl::Status ReadNodes();
  absl::Status ReadRanges();
  const Made* OriginOf(const NodesOf& nodes, int64_t node) const;
  // Returns the innermost operator (`nccl`: the innermost NCCL call) that was open at made.at; null: none.
  const Around* InnermostAt(const Made& made, bool nccl) const;
  void Join(Process* process);

  const SqliteReader& db_;
  const Strings& strings_;
  const NcclSchemas& schemas_;
  Processes* processes_;
  std::map<int64_t, NodesOf> nodes_;               // by process
  std::map<int64_t, std::vector<Around>> ranges_;  // by thread; sorted by begin
  int64_t first_ = INT64_MAX, last_ = INT64_MIN;   // range of times at which nodes were made
};

absl::Status Joiner::ReadNodes() {
  constexpr absl::string_view kTable = "CUDA_GRAPH_NODE_EVENTS";
  if (!db_.Has(kTable)) return db_.CheckPlain(kTable);
  ASSIGN_OR_RETURN(SqliteScan rows,
                   db_.Read(kTable, {"!start", "!globalTid", "!graphNodeId", "originalGraphNodeId"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    Made made;
    int64_t node = 0;
    made.tid = rows.IntOr(1, 0);
    made.clone = rows.Int(3, &made.original);
    if (!rows.Int(0, &made.at) || !rows.Int(2, &node) || processes_->Find(ProcessOf(made.tid)) == nullptr)
      continue;
    nodes_[ProcessOf(made.tid)].emplace(node, made);
    if (made.clone) continue;
    first_ = std::min(first_, made.at);
    last_ = std::max(last_, made.at);
  }
}

absl::Status Joiner::ReadRanges() {
  if (!db_.Has("NVTX_EVENTS") || first_ > last_) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      SqliteScan rows,
      db_.Read("NVTX_EVENTS", {"!start", "!end", "text", "textId", "!globalTid", "binaryData", "!eventType"},
               {{.column = "eventType", .any_of = {59, 70}},
                {.column = "start", .max = last_},
                {.column = "end", .min = first_}}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    absl::string_view text = rows.Text(2);
    int64_t text_id = 0;
    if (text.empty() && rows.Int(3, &text_id)) strings_.Find(text_id, &text);
    Around around;
    OperatorText op;
    around.begin = rows.IntOr(0, 0);
    around.end = rows.IntOr(1, 0);
    if (ReadOperatorText(text, &op)) {
      around.op = std::string(op.name);
      around.shapes = op.shapes;
    } else if (IsNcclCall(text)) {
      around.call = std::string(text);
      around.payload = std::string(rows.Text(5));
    } else {
      continue;
    }
    ranges_[rows.IntOr(4, 0)].push_back(std::move(around));
  }
  for (auto& [tid, ranges] : ranges_) {
    std::stable_sort(ranges.begin(), ranges.end(), [](const Around& a, const Around& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }
  return absl::OkStatus();
}

const Made* Joiner::OriginOf(const NodesOf& nodes, int64_t node) const {
  constexpr int kDeepest = 16;  // a limit, as nodes of a damaged file may be clones of each other
  for (int i = 0; i < kDeepest; ++i) {
    const auto it = nodes.find(node);
    if (it == nodes.end()) return nullptr;
    if (!it->second.clone || it->second.original == node) return &it->second;
    node = it->second.original;
  }
  return nullptr;
}

const Around* Joiner::InnermostAt(const Made& made, bool nccl) const {
  const auto it = ranges_.find(made.tid);
  if (it == ranges_.end()) return nullptr;
  constexpr int kLookBack = 4096;
  auto range = std::upper_bound(it->second.begin(), it->second.end(), made.at,
                                [](int64_t at, const Around& a) { return at < a.begin; });
  for (int i = 0; range != it->second.begin() && i < kLookBack; ++i) {
    const Around& around = *--range;
    if (around.end >= made.at && around.call.empty() != nccl) return &around;
  }
  return nullptr;
}

void Joiner::Join(Process* process) {
  const auto nodes = nodes_.find(process->id);
  if (nodes == nodes_.end()) return;
  struct Known {
    uint32_t op = kNoRow, comm = kNoRow;
  };
  std::map<int64_t, Known> known;  // by node
  for (GraphKernel& kernel : process->graph_kernels) {
    const auto [it, fresh] = known.try_emplace(kernel.node);
    if (const Made* made = fresh ? OriginOf(nodes->second, kernel.node) : nullptr; made != nullptr) {
      if (const Around* op = InnermostAt(*made, false); op != nullptr) {
        it->second.op = static_cast<uint32_t>(process->trace.graph_ops.size());
        process->trace.graph_ops.push_back(
            {process->trace.strings.Intern(op->op), process->trace.strings.Intern(op->shapes), 0});
      }
      if (const Around* call = InnermostAt(*made, true); call != nullptr)
        it->second.comm = AddNcclCall(call->call, call->payload, schemas_, process);
    }
    kernel.op = it->second.op;
    kernel.comm = it->second.comm;
    process->graph_joined += kernel.op == kNoRow ? 0 : 1;
  }
}

absl::Status Joiner::Run() {
  bool any = false;
  for (const auto& [id, process] : processes_->all()) any = any || !process->graph_kernels.empty();
  if (!any) return absl::OkStatus();
  RETURN_IF_ERROR(ReadNodes());
  RETURN_IF_ERROR(ReadRanges());
  for (const auto& [id, process] : processes_->all()) Join(process.get());
  return absl::OkStatus();
}

}  // namespace

absl::Status JoinGraphNodes(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas,
                            Processes* processes) {
  return Joiner(db, strings, schemas, processes).Run();
}

}  // namespace chakra::nsys
