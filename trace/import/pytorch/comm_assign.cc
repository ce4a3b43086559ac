#include "trace/import/pytorch/comm_assign.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/import/pytorch/comm_names.h"

namespace chakra::pytorch {
namespace {

// Whether a call moves data by itself.
bool Moves(CommOp op) {
  return op != CommOp::kWait && op != CommOp::kInit && op != CommOp::kUnknown && op != CommOp::kCoalesced;
}

// Fills members that `to` lacks.
void Merge(const CommCall& from, CommCall* to) {
  // A SendRecv kernel may carry any operation: the call says which.
  if (to->op == CommOp::kUnknown || (Moves(from.op) && !Moves(to->op))) to->op = from.op;
  if (to->name.empty()) to->name = from.name;
  if (to->group.empty()) to->group = from.group;
  if (to->group_desc.empty()) to->group_desc = from.group_desc;
  if (to->ranks.empty() || (to->ranks_cut && !from.ranks_cut && !from.ranks.empty())) {
    to->ranks = from.ranks;
    to->ranks_cut = from.ranks_cut;
  }
  if (to->group_size < 0) to->group_size = from.group_size;
  if (to->start < 0) to->start = from.start;
  if (to->stride < 0) to->stride = from.stride;
  if (to->seq < 0) to->seq = from.seq;
  to->p2p = to->p2p || from.p2p;
  if (to->root < 0) {
    to->root = from.root;
    to->root_is_global = from.root_is_global;
  }
  if (to->in_elems < 0) to->in_elems = from.in_elems;
  if (to->out_elems < 0) to->out_elems = from.out_elems;
  if (to->in_bytes < 0) to->in_bytes = from.in_bytes;
  if (to->out_bytes < 0) to->out_bytes = from.out_bytes;
  if (to->dtype.empty()) to->dtype = from.dtype;
  if (to->in_split.empty()) to->in_split = from.in_split;
  if (to->out_split.empty()) to->out_split = from.out_split;
  if (to->library.empty()) to->library = from.library;
}

// Operators of communication inside `row`'s callers: its innermost call.
class Assigner {
 public:
  Assigner(const DeviceTrace& device, const HostTrace* host, const Pairing* pairing,
           const HostThreads& threads, const DeviceOrder& order, const std::vector<uint32_t>& first_node,
           Timeline* timeline, std::vector<NewEdge>* edges)
      : d_(device),
        trace_(host),
        pairing_(pairing),
        threads_(threads),
        order_(order),
        first_node_(first_node),
        t_(timeline),
        edges_(edges),
        names_(device) {}

  void Run();

 private:
  // The call that host event `row` itself is, as the traces describe it. False: `row` is not a call.
  bool CallOf(uint32_t row, CommCall* call) const;
  void FindOuter();
  void CollectCalls();
  // Whether a device operation communicates: by its arguments, its name, or the operator that launched it.
  bool Communicates(const DeviceOp& op, const CommKernel** kernel);
  void AssignKernel(const DeviceOp& op, const CommKernel* kernel);
  uint32_t MergeCallers(const DeviceOp& op, CommCall* call);
  void Keep(const DeviceOp& op, CommCall call);
  bool CallOfAnnotation(uint32_t row, CommCall* call);
  std::vector<uint32_t> Pending(const DeviceOp& op);
  // The call that a row is; null: none.
  const CommCall* Known(uint32_t row) const {
    const auto it = place_.find(row);
    return it == place_.end() ? nullptr : &facts_[it->second];
  }
  void SplitKernel(const DeviceOp& op, const std::vector<CommCall>& calls);
  bool CarriesSeveral(const DeviceOp& op);
  void Count(const CommCall& call);
  uint32_t Add(CommCall call) {
    if (call.in_bytes < 0 && call.in_elems >= 0) call.in_bytes = call.in_elems * ItemSize(call.dtype);
    if (call.out_bytes < 0 && call.out_elems >= 0) call.out_bytes = call.out_elems * ItemSize(call.dtype);
    t_->comms.push_back(std::move(call));
    return static_cast<uint32_t>(t_->comms.size() - 1);
  }
  void AssignHostCalls();
  void Note(absl::string_view kind, uint64_t count, absl::string_view detail) {
    if (count > 0)
      t_->repairs.push_back({std::string(kind), d_.file, d_.rank, count, 0, std::string(detail)});
  }

  const DeviceTrace& d_;
  const HostTrace* trace_;
  const Pairing* pairing_;
  const HostThreads& threads_;
  const DeviceOrder& order_;
  const std::vector<uint32_t>& first_node_;
  Timeline* t_;
  std::vector<NewEdge>* edges_;
  std::vector<uint32_t> calls_;                      // rows of host events that are calls, by (thread, time)
  absl::flat_hash_set<uint32_t> outer_;              // rows of events around calls that have them inside
  std::vector<CommCall> facts_;                      // of calls_
  absl::flat_hash_map<uint32_t, uint32_t> place_;    // in calls_, by row of a call
  absl::flat_hash_map<uint32_t, uint32_t> kernels_;  // by row of a call: number of kernels that it launched
  absl::flat_hash_set<uint32_t> carried_;            // calls that a node carries
  // The calls of a thread that move data, in its order; those before `first` are carried.
  struct OpenCalls {
    std::vector<uint32_t> rows;
    size_t first = 0;
    bool by_time = true;  // ascending by begin
  };
  std::vector<OpenCalls> open_;  // by thread
  absl::flat_hash_map<uint32_t, std::vector<TimelineEdge>>
      causes_;  // by device node; filled when first needed
  CommNames names_;
  uint64_t extra_kernels_ = 0, nameless_ = 0;
};

bool Assigner::CallOf(uint32_t row, CommCall* call) const {
  const Event& e = d_.events[row];
  if (e.kind != EventKind::kCpuOp && e.kind != EventKind::kAnnotation) return false;
  bool found = false;
  if (e.extra != kNoRow && d_.ops[e.extra].comm != kNoRow) {
    Merge(d_.comms[d_.ops[e.extra].comm], call);
    found = true;
  }
  if (pairing_ != nullptr && trace_ != nullptr && pairing_->node_of_event[row] != kNoRow) {
    const HostNode& node = trace_->nodes[pairing_->node_of_event[row]];
    if (node.comm != kNoRow) {
      Merge(trace_->comms[node.comm], call);
      found = true;
    }
  }
  return found;
}

// Annotations around the calls that the library itself shows ("ncclAllReduce" in "nccl:all_reduce") are no
// calls of their own.
void Assigner::FindOuter() {
  for (uint32_t row = 0; row < d_.events.size(); ++row) {
    const Event& e = d_.events[row];
    if (e.kind != EventKind::kAnnotation || e.extra == kNoRow || d_.ops[e.extra].comm == kNoRow) continue;
    for (uint32_t up = threads_.parent[row]; up != kNoRow && outer_.insert(up).second;)
      up = threads_.parent[up];
  }
}

void Assigner::CollectCalls() {
  FindOuter();
  open_.resize(threads_.threads.size());
  for (const HostThread& thread : threads_.threads) {
    for (const std::vector<uint32_t>* rows : {&thread.events, &thread.async}) {
      for (const uint32_t row : *rows) {
        CommCall call;
        if (!CallOf(row, &call) && !CallOfAnnotation(row, &call)) continue;
        if (!Moves(call.op) && call.op != CommOp::kCoalesced) continue;
        if (Moves(call.op)) {
          OpenCalls& open = open_[d_.events[row].lane];
          open.by_time =
              open.by_time && (open.rows.empty() || threads_.begin[open.rows.back()] <= threads_.begin[row]);
          open.rows.push_back(row);
        }
        place_.emplace(row, static_cast<uint32_t>(calls_.size()));
        calls_.push_back(row);
        facts_.push_back(std::move(call));
      }
    }
  }
}

// The call that an annotation of a process group ("nccl:all_reduce") is, where no record_param_comms around
// it tells more.
bool Assigner::CallOfAnnotation(uint32_t row, CommCall* call) {
  const Event& e = d_.events[row];
  const CommOperator* op = names_.Operator(e);
  if (op == nullptr || !op->annotation || IsHostCollective(d_, e) || outer_.contains(row)) return false;
  for (uint32_t up = threads_.parent[row]; up != kNoRow; up = threads_.parent[up]) {
    if (place_.contains(up)) return false;
  }
  *call = names_.CallOf(e, *op);
  return true;
}

bool Assigner::Communicates(const DeviceOp& op, const CommKernel** kernel) {
  const Event& e = d_.events[op.event];
  *kernel = nullptr;
  if (e.extra != kNoRow && d_.device[e.extra].comm != kNoRow) {
    names_.Kernel(e, kernel);
    return true;
  }
  if (e.kind == EventKind::kMemset) return false;
  const KernelSays says = names_.Kernel(e, kernel);
  if (says != KernelSays::kNothing) return says == KernelSays::kCommunicates;
  if (e.kind != EventKind::kKernel) return false;
  for (uint32_t row = op.launch; row != kNoRow; row = threads_.parent[row]) {
    const EventKind kind = d_.events[row].kind;
    if (kind != EventKind::kCpuOp && kind != EventKind::kAnnotation) continue;
    if (d_.name_of(d_.events[row]) == "record_param_comms") continue;
    const CommOperator* launcher = names_.Operator(d_.events[row]);
    return launcher != nullptr && launcher->whole && Moves(launcher->op);
  }
  return false;
}

// Adds to `call` what the callers of a kernel tell, the innermost first: operators and annotations up to a
// call of calls_. Returns the row of that call, else that of the innermost operator; kNoRow: no caller
// communicates.
uint32_t Assigner::MergeCallers(const DeviceOp& op, CommCall* call) {
  uint32_t innermost = kNoRow;
  CommCall said;  // by operators
  for (uint32_t row = op.launch; row != kNoRow; row = threads_.parent[row]) {
    if (const CommCall* own = Known(row); own != nullptr) {
      Merge(*own, call);
      if (Moves(own->op)) Merge(said, call);
      call->own_group = false;  // a call of a process group
      return row;
    }
    const CommOperator* around = names_.Operator(d_.events[row]);
    if (around == nullptr || (!Moves(around->op) && around->op != CommOp::kCoalesced)) continue;
    const CommCall outer = names_.CallOf(d_.events[row], *around);
    if (innermost == kNoRow) innermost = row;
    if (said.op != CommOp::kUnknown && said.op != outer.op) continue;  // one of several parts of `outer`
    Merge(outer, &said);
    call->own_group = call->own_group && outer.own_group;
  }
  Merge(said, call);
  return innermost;
}

// The kernel communicates, but is no call of its own: it takes its recorded time.
void Assigner::Keep(const DeviceOp& op, CommCall call) {
  call.kept = true;
  t_->nodes[first_node_[op.event]].comm = Add(std::move(call));
}

// Splits a kernel of which the source tells several calls. False: it tells one, or none.
bool Assigner::CarriesSeveral(const DeviceOp& op) {
  const Event& e = d_.events[op.event];
  if (e.extra == kNoRow || d_.device[e.extra].comm == kNoRow || d_.device[e.extra].comms < 2) return false;
  const DeviceExtra& told = d_.device[e.extra];
  const auto first = d_.comms.begin() + told.comm;
  const std::vector<CommCall> calls(first, first + told.comms);
  for (const CommCall& call : calls) Count(call);
  SplitKernel(op, calls);
  return true;
}

// Adds a call that the device's side alone tells to the tally.
void Assigner::Count(const CommCall& call) {
  ++t_->tally.calls;
  t_->tally.bytes += static_cast<uint64_t>(std::max<int64_t>(0, call.in_bytes));
}

// Assigns to a kernel its own call, or earlier calls that have no kernel yet.
void Assigner::AssignKernel(const DeviceOp& op, const CommKernel* kernel) {
  if (CarriesSeveral(op)) return;
  const Event& e = d_.events[op.event];
  const CommCall named = kernel == nullptr ? CommCall() : names_.CallOf(e, *kernel);
  CommCall call;
  call.library = named.library;
  call.own_group = kernel == nullptr || named.own_group;
  if (e.extra != kNoRow && d_.device[e.extra].comm != kNoRow) {
    Merge(d_.comms[d_.device[e.extra].comm], &call);
    call.own_group = false;
  }
  CommCall around = call;
  uint32_t own = MergeCallers(op, &around);
  // An operator may be made of several kinds: a gather of uneven parts is a row of broadcasts.
  const bool part = own != kNoRow && !place_.contains(own) && Moves(named.op) && around.op != named.op;
  if (part) {
    own = kNoRow;
  } else {
    call = std::move(around);
  }
  if (own != kNoRow) {
    if (++kernels_[own] > 1) {  // the first kernel carries the call; this kernel only takes time
      ++extra_kernels_;
      return Keep(op, std::move(call));
    }
    carried_.insert(own);
  }
  if (!Moves(call.op)) {
    const std::vector<uint32_t> pending = Pending(op);
    for (const uint32_t row : pending) carried_.insert(row);
    if (pending.size() > 1) {
      std::vector<CommCall> calls;
      for (const uint32_t row : pending) calls.push_back(*Known(row));
      SplitKernel(op, calls);
      return;
    }
    if (pending.size() == 1) Merge(*Known(pending[0]), &call);
    if (!pending.empty()) call.own_group = false;
  }
  Merge(named, &call);
  if (!Moves(call.op)) {
    ++nameless_;
    return Keep(op, std::move(call));
  }
  if (own != kNoRow && !place_.contains(own)) Count(call);  // a call that only an operator tells
  t_->nodes[first_node_[op.event]].comm = Add(std::move(call));
}

// Calls on the launching thread that no kernel has carried yet.
std::vector<uint32_t> Assigner::Pending(const DeviceOp& op) {
  std::vector<uint32_t> pending;
  if (op.launch == kNoRow) return pending;
  OpenCalls& open = open_[d_.events[op.launch].lane];
  while (open.first < open.rows.size() && carried_.contains(open.rows[open.first])) ++open.first;
  for (size_t i = open.first; i < open.rows.size(); ++i) {
    if (threads_.begin[open.rows[i]] > threads_.begin[op.launch]) {
      if (open.by_time) break;
      continue;
    }
    if (!carried_.contains(open.rows[i])) pending.push_back(open.rows[i]);
  }
  return pending;
}

// Makes one node for each call, all at the kernel's time; the kernel's node follows them.
void Assigner::SplitKernel(const DeviceOp& op, const std::vector<CommCall>& calls) {
  const uint32_t kernel = first_node_[op.event];
  // Group the device's edges by node once, since a capture may have many of these kernels.
  if (causes_.empty()) {
    for (const NewEdge& e : *edges_) {
      if (!t_->nodes[e.to].host) causes_[e.to].push_back(e.edge);
    }
  }
  const std::vector<TimelineEdge>& causes = causes_[kernel];
  for (const CommCall& call : calls) {
    const auto node = static_cast<uint32_t>(t_->nodes.size());
    TimelineNode n = t_->nodes[kernel];
    n.lane = -1;
    n.comm = Add(call);
    t_->nodes.push_back(n);
    for (const TimelineEdge& cause : causes) edges_->push_back({node, cause});
    edges_->push_back({kernel, {node, EdgeKind::kCollective, 0}});
  }
  TimelineNode& n = t_->nodes[kernel];
  n.start += n.dur;
  n.dur = 0;
}

// A collective that the host carries out is its own event. Counts calls that neither a kernel nor a host
// event carries.
void Assigner::AssignHostCalls() {
  uint64_t without = 0;
  CommTally& tally = t_->tally;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const uint32_t row = calls_[i];
    if (!Moves(facts_[i].op)) continue;
    const auto bytes = static_cast<uint64_t>(std::max<int64_t>(0, facts_[i].in_bytes));
    ++tally.calls;
    tally.bytes += bytes;
    if (IsHostCollective(d_, d_.events[row]) || carried_.contains(row)) continue;
    ++without;
    ++tally.left_out;
    tally.left_out_bytes += bytes;
  }
  for (uint32_t row = 0; row < d_.events.size(); ++row) {
    const Event& e = d_.events[row];
    if (first_node_[row] == kNoRow || !IsHostCollective(d_, e)) continue;
    CommCall call;
    if (const CommCall* own = Known(row); own != nullptr) {
      call = *own;
    } else {
      ++tally.calls;
    }
    call.name = std::string(d_.name_of(e));
    if (const CommOperator* op = names_.Operator(e); op != nullptr) Merge(names_.CallOf(e, *op), &call);
    if (!Moves(call.op)) continue;
    if (!place_.contains(row)) tally.bytes += static_cast<uint64_t>(std::max<int64_t>(0, call.in_bytes));
    t_->nodes[first_node_[row]].comm = Add(std::move(call));
  }
  Note("calls_without_kernel", without,
       "communication calls that no captured kernel carries (groups of one, or launched at the window's "
       "edge)");
}

void Assigner::Run() {
  CollectCalls();
  // Of the kernels of one operator, one that says itself that it communicates carries the call.
  std::vector<const DeviceOp*> by_operator;
  for (const DeviceOp& op : order_.ops) {
    const Event& e = d_.events[op.event];
    const CommKernel* kernel = nullptr;
    if (!Communicates(op, &kernel)) continue;
    if (kernel == nullptr && (e.extra == kNoRow || d_.device[e.extra].comm == kNoRow)) {
      by_operator.push_back(&op);
    } else {
      AssignKernel(op, kernel);
    }
  }
  for (const DeviceOp* op : by_operator) AssignKernel(*op, nullptr);
  AssignHostCalls();
  Note("comm_extra_kernels", extra_kernels_,
       "further kernels of a call that another kernel carries; kept as recorded, as communication");
  Note("comm_kernel_unknown", nameless_,
       "communication kernels whose collective nothing tells; kept as recorded, as communication");
}

}  // namespace

void AssignComms(const DeviceTrace& device, const HostTrace* host, const Pairing* pairing,
                 const HostThreads& threads, const DeviceOrder& order,
                 const std::vector<uint32_t>& first_node, Timeline* timeline, std::vector<NewEdge>* edges) {
  Assigner(device, host, pairing, threads, order, first_node, timeline, edges).Run();
}

}  // namespace chakra::pytorch
