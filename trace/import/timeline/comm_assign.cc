#include "trace/import/timeline/comm_assign.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/import/comm/comm_names.h"
#include "trace/import/comm/comm_parts.h"

namespace chakra::pytorch {
namespace {

constexpr uint64_t kUnusual = ~uint64_t{0};  // not a key

// Assigns the communication calls of a rank to device operations and host nodes.
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
        names_(device) {
    for (uint32_t s = 0; s < device.strings.size(); ++s) {
      if (device.strings.Get(s) == "record_param_comms") param_comms_ = s;
    }
  }

  void Run();

 private:
  // The number in facts_ of the call that host event `row` is; kNoRow: the event is not a call.
  uint32_t FactsOf(uint32_t row);
  void FindOuter();
  void CollectCalls();
  // Whether a device operation communicates: by its arguments, its name, or the operator that launched it.
  bool Communicates(const DeviceOp& op, const CommKernel** kernel);
  void AssignKernel(const DeviceOp& op, const CommKernel* kernel);
  uint32_t MergeCallers(const DeviceOp& op, CommCall* call);
  void Keep(const DeviceOp& op, CommCall call);
  bool CallOfAnnotation(uint32_t row, CommCall* call);
  bool AssignUsual(const DeviceOp& op, uint64_t* usual);
  std::vector<uint32_t> Pending(const DeviceOp& op);
  bool IsCall(uint32_t row) const { return place_[row] != kNoRow; }
  // The call that event `row` is; null: it is not a call.
  const CommCall* Known(uint32_t row) const { return IsCall(row) ? &facts_[place_[row]] : nullptr; }
  // Whether the arguments of an event, or the host's trace, describe a call completely.
  bool IsTold(uint32_t row) const {
    const Event& e = d_.events[row];
    if (e.kind != EventKind::kCpuOp && e.kind != EventKind::kAnnotation) return false;
    if (e.extra != kNoRow && d_.ops[e.extra].comm != kNoRow) return true;
    return pairing_ != nullptr && trace_ != nullptr && pairing_->node_of_event[row] != kNoRow &&
           trace_->nodes[pairing_->node_of_event[row]].comm != kNoRow;
  }
  void DropTwice(const HostThread& thread);
  std::vector<CommCall> CallsOf(const std::vector<uint32_t>& rows) const {
    std::vector<CommCall> calls;
    for (const uint32_t row : rows) calls.push_back(*Known(row));
    return calls;
  }
  void SplitKernel(const DeviceOp& op, std::vector<CommCall> calls, const CommOperator* around);
  bool CarriesSeveral(const DeviceOp& op);
  bool CarriesInner(const DeviceOp& op, uint32_t around, CommCall* call);
  void Count(const CommCall& call);
  uint32_t Add(CommCall call) {
    if (call.in_bytes < 0 && call.in_elems >= 0) call.in_bytes = call.in_elems * ItemSize(call.dtype);
    if (call.out_bytes < 0 && call.out_elems >= 0) call.out_bytes = call.out_elems * ItemSize(call.dtype);
    call.seq = kNone;
    return t_->comms.Add(std::move(call));
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
  std::vector<uint32_t> calls_;  // rows of host events that are calls, by (thread, time)
  CommCalls facts_;              // by number in calls_
  // By row of DeviceTrace::comms: the number in facts_ of a call with these arguments; kNoRow: none yet.
  std::vector<uint32_t> told_;
  std::vector<uint32_t> place_;   // by event row: the number in calls_ and facts_; kNoRow: not a call
  std::vector<bool> outer_;       // by event row: whether a completely described call is inside the event
  std::vector<bool> has_kernel_;  // by event row: whether the event is a call that launched a kernel
  std::vector<bool> carried_;     // by event row: whether the event is a call that a node carries
  // By the name of a kernel and the row in facts_ of the call around it: the number in Timeline::comms of a
  // call that such a kernel carries.
  absl::flat_hash_map<uint64_t, uint32_t> usual_;
  // The calls of a thread that move data, in the thread's order. The calls before `first` are carried.
  struct OpenCalls {
    std::vector<uint32_t> rows;
    size_t first = 0;
    bool by_time = true;  // sorted by begin
  };
  std::vector<OpenCalls> open_;  // by thread
  // By device node; filled when first needed.
  absl::flat_hash_map<uint32_t, std::vector<TimelineEdge>> causes_;
  CommNames names_;
  uint32_t param_comms_ = kNoRow;  // index of the name "record_param_comms"
  uint64_t extra_kernels_ = 0, nameless_ = 0;
};

uint32_t Assigner::FactsOf(uint32_t row) {
  const Event& e = d_.events[row];
  if (e.kind != EventKind::kCpuOp && e.kind != EventKind::kAnnotation) return kNoRow;
  const uint32_t told = e.extra == kNoRow ? kNoRow : d_.ops[e.extra].comm;
  uint32_t by_host = kNoRow;
  if (pairing_ != nullptr && trace_ != nullptr && pairing_->node_of_event[row] != kNoRow)
    by_host = trace_->nodes[pairing_->node_of_event[row]].comm;
  if (told != kNoRow && by_host == kNoRow && told_[told] != kNoRow) return facts_.AddLike(told_[told]);
  CommCall call;
  if (told == kNoRow && by_host == kNoRow) {
    if (!CallOfAnnotation(row, &call)) return kNoRow;
  } else {
    if (told != kNoRow) MergeCall(d_.comms[told], &call);
    if (by_host != kNoRow) MergeCall(trace_->comms[by_host], &call);
  }
  if (!MovesData(call.op) && call.op != CommOp::kCoalesced) return kNoRow;
  const uint32_t number = facts_.Add(std::move(call));
  if (told != kNoRow && by_host == kNoRow) told_[told] = number;
  return number;
}

// Marks the events around completely described calls: "nccl:all_reduce" around "ncclAllReduce" or
// record_param_comms. These events are not calls of their own.
void Assigner::FindOuter() {
  for (uint32_t row = 0; row < d_.events.size(); ++row) {
    if (!IsTold(row)) continue;
    for (uint32_t up = threads_.parent[row]; up != kNoRow && !outer_[up]; up = threads_.parent[up])
      outer_[up] = true;
  }
}

// Drops the calls of annotations that repeat another call of their thread: an annotation that launches
// nothing, if the thread also has completely described calls of the same kind.
void Assigner::DropTwice(const HostThread& thread) {
  absl::flat_hash_set<CommOp> told;
  for (const uint32_t row : thread.events) {
    if (IsCall(row) && IsTold(row)) told.insert(Known(row)->op);
  }
  if (told.empty()) return;
  for (size_t i = 0; i < thread.events.size(); ++i) {
    const uint32_t row = thread.events[i];
    if (!IsCall(row) || IsTold(row) || !told.contains(Known(row)->op)) continue;
    bool launches = false;
    for (size_t k = i + 1; k < thread.events.size() && !launches; ++k) {
      if (threads_.Begin(thread.events[k]) >= threads_.End(row)) break;
      launches = d_.events[thread.events[k]].kind >= EventKind::kRuntime;
    }
    if (!launches) place_[row] = kNoRow;
  }
  std::erase_if(open_[d_.events[thread.events[0]].lane].rows, [&](uint32_t row) { return !IsCall(row); });
}

void Assigner::CollectCalls() {
  const size_t rows_in_all = d_.events.size();
  place_.assign(rows_in_all, kNoRow);
  told_.assign(d_.comms.size(), kNoRow);
  for (std::vector<bool>* flags : {&outer_, &has_kernel_, &carried_}) flags->resize(rows_in_all);
  FindOuter();
  open_.resize(threads_.threads.size());
  for (const HostThread& thread : threads_.threads) {
    for (const std::vector<uint32_t>* rows : {&thread.events, &thread.async}) {
      for (const uint32_t row : *rows) {
        const uint32_t number = FactsOf(row);
        if (number == kNoRow) continue;
        if (MovesData(facts_[number].op)) {
          OpenCalls& open = open_[d_.events[row].lane];
          open.by_time =
              open.by_time && (open.rows.empty() || threads_.Begin(open.rows.back()) <= threads_.Begin(row));
          open.rows.push_back(row);
        }
        place_[row] = number;
        calls_.push_back(row);
      }
    }
    DropTwice(thread);
  }
}

// Reads the call that an annotation of a process group ("nccl:all_reduce") describes. False: `row` is another
// event, or a call around or inside the annotation describes the communication better.
bool Assigner::CallOfAnnotation(uint32_t row, CommCall* call) {
  const Event& e = d_.events[row];
  const CommOperator* op = names_.Operator(e);
  if (op == nullptr || !op->annotation || IsHostCollective(d_, e) || outer_[row]) return false;
  for (uint32_t up = threads_.parent[row]; up != kNoRow; up = threads_.parent[up]) {
    if (IsCall(up)) return false;
  }
  *call = names_.CallOf(e, *op);
  // The calls before the annotation have the sizes.
  if (op->closes && call->in_bytes < 0) call->op = CommOp::kCoalesced;
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
    if (d_.events[row].name == param_comms_) continue;
    const CommOperator* launcher = names_.Operator(d_.events[row]);
    return launcher != nullptr && launcher->whole && MovesData(launcher->op);
  }
  return false;
}

// Adds to `call` what the callers of a kernel say, the innermost first: operators and annotations, up to a
// call of calls_. Returns the row of that call, or else of the innermost operator; kNoRow: no caller
// communicates.
uint32_t Assigner::MergeCallers(const DeviceOp& op, CommCall* call) {
  uint32_t innermost = kNoRow;
  CommCall said;  // by operators and annotations
  for (uint32_t row = op.launch; row != kNoRow; row = threads_.parent[row]) {
    if (const CommCall* own = Known(row); own != nullptr) {
      MergeCall(*own, call);
      if (MovesData(own->op)) MergeCall(said, call);
      call->own_group = false;  // it is a call of a process group
      return row;
    }
    const CommOperator* around = names_.Operator(d_.events[row]);
    if (around == nullptr || (!MovesData(around->op) && around->op != CommOp::kCoalesced)) continue;
    const CommCall outer = names_.CallOf(d_.events[row], *around);
    if (innermost == kNoRow) innermost = row;
    // `said` is one of several parts of `outer`
    if (said.op != CommOp::kUnknown && said.op != outer.op) continue;
    MergeCall(outer, &said);
    call->own_group = call->own_group && outer.own_group;
  }
  MergeCall(said, call);
  return innermost;
}

// The kernel communicates but does not carry a call: it is replayed with its recorded time.
void Assigner::Keep(const DeviceOp& op, CommCall call) {
  call.kept = true;
  t_->nodes[first_node_[op.event]].comm = Add(std::move(call));
}

// Splits a kernel if its source lists several calls for it. False: the source lists one call or none.
bool Assigner::CarriesSeveral(const DeviceOp& op) {
  const Event& e = d_.events[op.event];
  if (e.extra == kNoRow || d_.device[e.extra].comm == kNoRow || d_.device[e.extra].comms < 2) return false;
  const DeviceExtra& told = d_.device[e.extra];
  const auto first = d_.comms.begin() + told.comm;
  const std::vector<CommCall> calls(first, first + told.comms);
  for (const CommCall& call : calls) Count(call);
  SplitKernel(op, calls, nullptr);
  return true;
}

// Adds a call that only the device trace shows to the tally.
void Assigner::Count(const CommCall& call) {
  ++t_->tally.calls;
  t_->tally.bytes += static_cast<uint64_t>(std::max<int64_t>(0, call.in_bytes));
}

// Assigns a kernel that is the first of the call around it, if no event in between communicates and a kernel
// of the same name has carried an equal call before. False: the kernel is not assigned. `usual` is then the
// key in usual_ if only the earlier kernel is missing, else kUnusual.
bool Assigner::AssignUsual(const DeviceOp& op, uint64_t* usual) {
  const Event& e = d_.events[op.event];
  *usual = kUnusual;
  if (e.extra != kNoRow && d_.device[e.extra].comm != kNoRow) return false;
  uint32_t own = op.launch;
  for (; own != kNoRow && !IsCall(own); own = threads_.parent[own]) {
    const CommOperator* between = names_.Operator(d_.events[own]);
    if (between != nullptr && (MovesData(between->op) || between->op == CommOp::kCoalesced)) return false;
  }
  if (own == kNoRow || has_kernel_[own]) return false;
  *usual = uint64_t{e.name} << 32 | facts_.RowOf(place_[own]);
  const auto known = usual_.find(*usual);
  if (known == usual_.end()) return false;
  has_kernel_[own] = carried_[own] = true;
  t_->nodes[first_node_[op.event]].comm = t_->comms.AddLike(known->second);
  return true;
}

// Uses the library's calls inside operator `around`, for a kernel that was launched after them, when their
// group ended. A single call adds to `call` what it lacks. Sends and receives of a collective give its sizes
// and group. Several other calls split the kernel; only then is the result true.
bool Assigner::CarriesInner(const DeviceOp& op, uint32_t around, CommCall* call) {
  std::vector<uint32_t> inner = Pending(op);
  std::erase_if(inner, [&](uint32_t row) {
    while (row != kNoRow && row != around) row = threads_.parent[row];
    return row == kNoRow;
  });
  if (inner.empty()) return false;
  for (const uint32_t row : inner) carried_[row] = true;
  const auto messages = [&](CommOp kind) {
    return std::count_if(inner.begin(), inner.end(), [&](uint32_t row) { return Known(row)->op == kind; });
  };
  const bool p2p = call->op == CommOp::kSend || call->op == CommOp::kRecv;
  const bool exchange =
      MovesData(call->op) && !p2p &&
      messages(CommOp::kSend) + messages(CommOp::kRecv) == static_cast<int64_t>(inner.size());
  if (!exchange && inner.size() > 1) {
    SplitKernel(op, CallsOf(inner), names_.Operator(d_.events[around]));
    return true;
  }
  const CommCall outer = *call;
  const bool own_group = call->own_group && Known(inner[0])->group.empty();
  if (!exchange) {
    *call = *Known(inner[0]);
    MergeCall(outer, call);
  } else {
    if (call->group.empty()) call->group = Known(inner[0])->group;
    if (call->group_size < 0) call->group_size = Known(inner[0])->group_size;
    int64_t sent = 0, received = 0;
    bool told = true;
    for (const uint32_t row : inner) {
      const CommCall& message = *Known(row);
      told = told && message.in_bytes >= 0;
      (message.op == CommOp::kSend ? sent : received) += message.in_bytes;
    }
    if (told && call->in_bytes < 0 && call->in_elems < 0 && call->out_bytes < 0 && call->out_elems < 0) {
      call->in_bytes = sent;
      call->out_bytes = received;
    }
  }
  call->own_group = own_group;
  return false;
}

// Assigns to a kernel its own call, or earlier calls that have no kernel yet.
void Assigner::AssignKernel(const DeviceOp& op, const CommKernel* kernel) {
  uint64_t usual = kUnusual;
  if (kernel != nullptr && AssignUsual(op, &usual)) return;
  if (CarriesSeveral(op)) return;
  const Event& e = d_.events[op.event];
  const CommCall named = kernel == nullptr ? CommCall() : names_.CallOf(e, *kernel);
  CommCall call;
  call.library = named.library;
  call.own_group = kernel == nullptr || named.own_group;
  if (e.extra != kNoRow && d_.device[e.extra].comm != kNoRow) {
    MergeCall(d_.comms[d_.device[e.extra].comm], &call);
    call.own_group = false;
  }
  CommCall around = call;
  uint32_t own = MergeCallers(op, &around);
  const uint32_t innermost = own != kNoRow && !IsCall(own) ? own : kNoRow;  // an operator that is not a call
  // An operator may consist of calls of another kind: a gather of uneven parts is a sequence of broadcasts.
  const bool part = own != kNoRow && !IsCall(own) && MovesData(named.op) && around.op != named.op;
  if (part) {
    own = kNoRow;
  } else {
    call = std::move(around);
  }
  if (innermost != kNoRow && CarriesInner(op, innermost, &call)) return;
  if (own != kNoRow) {
    if (has_kernel_[own]) {  // the first kernel carries the call; this kernel only takes time
      ++extra_kernels_;
      return Keep(op, std::move(call));
    }
    has_kernel_[own] = true;
    carried_[own] = true;
  }
  if (!MovesData(call.op)) {
    usual = kUnusual;
    const std::vector<uint32_t> pending = Pending(op);
    for (const uint32_t row : pending) carried_[row] = true;
    if (pending.size() > 1)
      return SplitKernel(op, CallsOf(pending), own == kNoRow ? nullptr : names_.Operator(d_.events[own]));
    if (pending.size() == 1) MergeCall(*Known(pending[0]), &call);
    if (!pending.empty()) call.own_group = false;
  }
  MergeCall(named, &call);
  if (!MovesData(call.op)) {
    ++nameless_;
    return Keep(op, std::move(call));
  }
  if (own != kNoRow && !IsCall(own)) Count(call);  // only an operator shows this call
  const uint32_t number = Add(std::move(call));
  t_->nodes[first_node_[op.event]].comm = number;
  if (usual != kUnusual) usual_.emplace(usual, number);
}

// Calls of the launching thread that no kernel has carried yet.
std::vector<uint32_t> Assigner::Pending(const DeviceOp& op) {
  std::vector<uint32_t> pending;
  if (op.launch == kNoRow) return pending;
  OpenCalls& open = open_[d_.events[op.launch].lane];
  while (open.first < open.rows.size() && carried_[open.rows[open.first]]) ++open.first;
  for (size_t i = open.first; i < open.rows.size(); ++i) {
    if (threads_.Begin(open.rows[i]) > threads_.Begin(op.launch)) {
      if (open.by_time) break;
      continue;
    }
    if (!carried_[open.rows[i]]) pending.push_back(open.rows[i]);
  }
  return pending;
}

// Makes a node for each call, all at the kernel's time; the kernel's node follows them. Calls that are parts
// of one call are merged; if one call is left, the kernel's node carries it. `around`: the operator that
// launched the kernel; null: unknown.
void Assigner::SplitKernel(const DeviceOp& op, std::vector<CommCall> calls, const CommOperator* around) {
  const uint32_t kernel = first_node_[op.event];
  calls = MergeParts(std::move(calls), around == nullptr ? CommOp::kUnknown : around->op);
  if (calls.size() == 1) {
    t_->nodes[kernel].comm = Add(std::move(calls[0]));
    return;
  }
  // Group the device's edges by node once: a capture may have many of these kernels.
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
    edges_->push_back({kernel, {node, EdgeKind::kCollective}});
  }
  TimelineNode& n = t_->nodes[kernel];
  n.start += n.dur;
  n.dur = 0;
}

// Gives collectives that the host carries out to the nodes of their own events. Counts calls that neither a
// kernel nor a host event carries.
void Assigner::AssignHostCalls() {
  uint64_t without = 0;
  CommTally& tally = t_->tally;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const uint32_t row = calls_[i];
    if (!IsCall(row) || !MovesData(facts_[i].op)) continue;
    const auto bytes = static_cast<uint64_t>(std::max<int64_t>(0, facts_[i].in_bytes));
    ++tally.calls;
    tally.bytes += bytes;
    if (IsHostCollective(d_, d_.events[row]) || carried_[row]) continue;
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
    if (const CommOperator* op = names_.Operator(e); op != nullptr) MergeCall(names_.CallOf(e, *op), &call);
    if (!MovesData(call.op)) continue;
    if (!IsCall(row)) tally.bytes += static_cast<uint64_t>(std::max<int64_t>(0, call.in_bytes));
    t_->nodes[first_node_[row]].comm = Add(std::move(call));
  }
  Note("calls_without_kernel", without,
       "communication calls without a captured kernel (groups of one rank, or launched at the edge of the "
       "window)");
}

void Assigner::Run() {
  CollectCalls();
  // Kernels that only their operator shows to communicate come last: another kernel of that operator, with a
  // name or arguments of communication, carries the call if there is one.
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
       "further kernels of a call that another kernel stands for; kept as recorded, as communication");
  Note("comm_kernel_unknown", nameless_,
       "communication kernels whose collective is unknown; kept as recorded, as communication");
}

}  // namespace

void AssignComms(const DeviceTrace& device, const HostTrace* host, const Pairing* pairing,
                 const HostThreads& threads, const DeviceOrder& order,
                 const std::vector<uint32_t>& first_node, Timeline* timeline, std::vector<NewEdge>* edges) {
  Assigner(device, host, pairing, threads, order, first_node, timeline, edges).Run();
}

}  // namespace chakra::pytorch
