#include "trace/import/kineto/kineto_others.h"

#include <algorithm>
#include <limits>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/import/comm/comm_kernels.h"
#include "trace/import/kineto/kineto_text.h"

namespace chakra::pytorch::kineto {
namespace {

constexpr size_t kMostListed = 8;  // maximum number of categories and processes listed

int64_t IntegerOf(const EventTokens& e, Arg arg) {
  int64_t v = kNone;
  return e.has(arg) && ToInteger(e.arg(arg), &v) ? v : kNone;
}

// Whether the label or name of a process is that of a device: "NPU", "GPU 3". `number` is set if it has a
// number.
bool NamesDevice(absl::string_view text, int64_t* number) {
  static constexpr absl::string_view kKinds[] = {"npu", "hpu", "gpu", "xpu", "mlu", "gcu", "tpu", "musa"};
  const std::string lower = absl::AsciiStrToLower(text);
  for (const absl::string_view kind : kKinds) {
    if (!absl::StartsWith(lower, kind)) continue;
    const absl::string_view rest = absl::StripAsciiWhitespace(absl::string_view(lower).substr(kind.size()));
    if (rest.empty() || absl::SimpleAtoi(rest, number)) return true;
  }
  return false;
}

// Whether a task of this type only waits for other tasks or records an event: it moves and computes nothing.
bool OnlyWaits(absl::string_view type) {
  const std::string lower = absl::AsciiStrToLower(type);
  for (const absl::string_view word :
       {"wait", "event_record", "notify_record", "event record", "notify record"}) {
    if (absl::StrContains(lower, word)) return true;
  }
  return false;
}

std::string Found(const std::map<std::string, std::string>& texts, absl::string_view key) {
  const auto it = texts.find(std::string(key));
  return it == texts.end() ? "" : it->second;
}

}  // namespace

EventKind KindOnDevice(absl::string_view category, absl::string_view name) {
  const std::string words = absl::StrCat(absl::AsciiStrToLower(category), " ", absl::AsciiStrToLower(name));
  const absl::string_view named = absl::string_view(words).substr(category.size() + 1);
  const absl::string_view kind = absl::string_view(words).substr(0, category.size());
  for (const absl::string_view word : {"memcpy", "sdma", "dma"}) {
    if (absl::StrContains(kind, word) || absl::StartsWith(named, word)) return EventKind::kMemcpy;
  }
  const bool sets = absl::StrContains(kind, "memset") || absl::StartsWith(named, "memset");
  return sets ? EventKind::kMemset : EventKind::kKernel;
}

uint32_t OtherEvents::LaneOf(absl::string_view pid, absl::string_view tid) {
  Lane lane;
  lane.pid = texts_.Intern(Plain(pid));
  lane.tid = texts_.Intern(Plain(tid));
  const auto [it, fresh] = lane_of_.try_emplace({lane.pid, lane.tid}, static_cast<uint32_t>(lanes_.size()));
  if (fresh) lanes_.push_back(lane);
  return it->second;
}

void OtherEvents::Add(const EventTokens& e, const Event& row) {
  Other other;
  other.row = row;
  other.category = texts_.Intern(Plain(e.cat));
  other.lane = LaneOf(e.pid, e.tid);
  other.connection = IntegerOf(e, Arg::kConnection);
  other.physical = IntegerOf(e, Arg::kPhysicalStream);
  other.count = IntegerOf(e, Arg::kCount);
  other.type = texts_.Intern(Plain(e.arg(e.has(Arg::kTaskType) ? Arg::kTaskType : Arg::kHardwareEvent)));
  other.data_type = texts_.Intern(Plain(e.arg(Arg::kDataType)));
  others_.push_back(other);
}

void OtherEvents::AddArrow(const EventTokens& e, int64_t id, int64_t ts) {
  if (e.phase == 's') {
    begins_.try_emplace(id, Arrow{ts, LaneOf(e.pid, e.tid)});
  } else {
    ends_.try_emplace({LaneOf(e.pid, e.tid), ts}, id);
  }
}

void OtherEvents::AddMetadata(const EventTokens& e, absl::string_view text) {
  const std::string pid(Plain(e.pid));
  if (e.name == "\"process_name\"") process_names_[pid] = std::string(text);
  if (e.name == "\"process_labels\"") labels_[pid] = std::string(text);
  if (e.name == "\"thread_name\"") thread_names_[absl::StrCat(pid, " ", Plain(e.tid))] = std::string(text);
}

OtherEvents::Role OtherEvents::RoleOf(const Other& other,
                                      const std::function<bool(absl::string_view)>& runs_host) const {
  const absl::string_view pid = texts_.Get(lanes_[other.lane].pid);
  const std::string name = Found(process_names_, pid);
  if (name == "Overlap Analysis") return Role::kDerived;
  if (name == "Communication" || name == "HCCL") return Role::kCommunication;
  if (name == "CANN") return Role::kCalls;
  if (name == "Ascend Hardware" || other.physical != kNone) return Role::kHardware;
  if (texts_.Get(other.category) == "hpu_op") return runs_host(pid) ? Role::kCalls : Role::kHardware;
  int64_t number = 0;
  const bool device = NamesDevice(Found(labels_, pid), &number) || NamesDevice(name, &number);
  return device && !runs_host(pid) ? Role::kHardware : Role::kUnknown;
}

// The device of a process: the number in its label or name, else 0.
int OtherEvents::DeviceOf(absl::string_view pid) {
  const auto [it, fresh] = devices_.try_emplace(std::string(pid), 0);
  int64_t number = 0;
  if (fresh &&
      (NamesDevice(Found(labels_, pid), &number) || NamesDevice(Found(process_names_, pid), &number)) &&
      number >= 0 && number < 1 << 16)
    it->second = static_cast<int>(number);
  return it->second;
}

uint32_t OtherEvents::StreamOf(const Other& other) {
  Lane& lane = lanes_[other.lane];
  if (lane.stream != kNoRow) return lane.stream;
  int64_t stream = kNone;
  if (!absl::SimpleAtoi(texts_.Get(lane.tid), &stream)) stream = other.physical;
  lane.stream = static_cast<uint32_t>(out_->streams.size());
  out_->streams.push_back({DeviceOf(texts_.Get(lane.pid)), stream});
  return lane.stream;
}

void OtherEvents::ForStreams(const std::function<void(uint32_t, absl::string_view)>& each) const {
  for (const Lane& lane : lanes_) {
    if (lane.stream != kNoRow) each(lane.stream, texts_.Get(lane.pid));
  }
}

// Whether the task is a part of a collective that another event shows.
bool OtherEvents::IsPart(const Other& other, Role role) {
  return collectives_ && IsCollective(other) == (role == Role::kHardware);
}

bool OtherEvents::IsCollective(const Other& other) {
  const auto [known, fresh] = communicates_.try_emplace(other.row.name, false);
  CommKernel kernel;
  if (fresh)
    known->second = ReadCommKernel(out_->strings.Get(other.row.name), &kernel) == KernelSays::kCommunicates;
  return known->second;
}

// Reads "hcom_allGather__503_0_1" of `count` elements on the thread "Group 0 Communication".
CommCall OtherEvents::CallOf(const Other& other) const {
  CommCall call;
  CommKernel kernel;
  call.name = std::string(out_->strings.Get(other.row.name));
  ReadCommKernel(call.name, &kernel);
  call.op = kernel.op;
  call.library = "HCCL";
  call.dtype = std::string(texts_.Get(other.data_type));
  if (call.op == CommOp::kReduceScatter) {
    call.out_elems = other.count;
  } else if (call.op != CommOp::kAllToAll) {
    call.in_elems = other.count;
  }
  const Lane& lane = lanes_[other.lane];
  call.group = Found(thread_names_,
                     absl::StrCat(std::string(texts_.Get(lane.pid)), " ", std::string(texts_.Get(lane.tid))));
  return call;
}

// Gives an operation the correlation of the call that launched it: the call with the same connection, or the
// call at the begin of the operation's arrow.
void OtherEvents::Link(const Other& other, const ThreadFinder& thread, Event* row) {
  if (row->correlation != kNone) return;
  if (const auto call = call_of_.find(other.connection);
      other.connection != kNone && call != call_of_.end()) {
    row->correlation = call->second;
    return;
  }
  const auto end = ends_.find({other.lane, row->ts});
  const auto begin = end == ends_.end() ? begins_.end() : begins_.find(end->second);
  if (begin == begins_.end()) return;
  const auto [launch, fresh] = launch_of_.try_emplace(end->second, next_);
  row->correlation = launch->second;
  if (!fresh) return;
  Event call;
  call.kind = EventKind::kRuntime;
  call.ts = begin->second.ts;
  const Lane& from = lanes_[begin->second.lane];
  call.lane = thread(texts_.Get(from.pid), texts_.Get(from.tid));
  call.name = out_->strings.Intern("launch");
  call.correlation = next_++;
  out_->events.push_back(call);
}

void OtherEvents::AddOperation(const Other& other, Role role, const ThreadFinder& thread) {
  Event row = other.row;
  DeviceExtra extra;
  const absl::string_view type = texts_.Get(other.type);
  const std::string hardware = absl::AsciiStrToLower(type);
  row.kind = role == Role::kCommunication
                 ? EventKind::kKernel
                 : KindOnDevice(absl::StrCat(std::string(texts_.Get(other.category)), " ", hardware),
                                out_->strings.Get(row.name));
  row.lane = StreamOf(other);
  const bool network = absl::StrContains(hardware, "nic") || absl::StartsWith(hardware, "stm_");
  if (network || role == Role::kCommunication) {
    extra.comm = static_cast<uint32_t>(out_->comms.size());
    out_->comms.push_back(CallOf(other));
  }
  Link(other, thread, &row);
  row.extra = static_cast<uint32_t>(out_->device.size());
  out_->device.push_back(extra);
  out_->events.push_back(row);
}

void OtherEvents::AddCall(const Other& other, const ThreadFinder& thread) {
  const Lane& lane = lanes_[other.lane];
  Event row = other.row;
  row.kind = EventKind::kRuntime;
  row.lane = thread(texts_.Get(lane.pid), texts_.Get(lane.tid));
  row.extra = kNoRow;
  if (other.connection != kNone && row.correlation == kNone) {
    row.correlation = call_of_.try_emplace(other.connection, next_).first->second;
    next_ += row.correlation == next_ ? 1 : 0;
  }
  out_->events.push_back(row);
}

void OtherEvents::Finish(const std::function<bool(absl::string_view)>& runs_host,
                         const ThreadFinder& thread) {
  std::vector<Role> roles;
  for (const Other& other : others_) {
    roles.push_back(RoleOf(other, runs_host));
    collectives_ = collectives_ || (roles.back() == Role::kCommunication && IsCollective(other));
  }
  for (size_t i = 0; i < others_.size(); ++i) {  // calls first: operations refer to them
    if (roles[i] == Role::kCalls) AddCall(others_[i], thread);
  }
  std::set<std::string> taken, unknown;
  uint64_t operations = 0, waits = 0, parts = 0, left_out = 0;
  for (size_t i = 0; i < others_.size(); ++i) {
    const Other& other = others_[i];
    const absl::string_view pid = texts_.Get(lanes_[other.lane].pid);
    const std::string category = other.category == 0 ? "none" : std::string(texts_.Get(other.category));
    const std::string process = Found(process_names_, pid);
    const std::string place = process.empty() ? category : absl::StrCat(category, " (\"", process, "\")");
    if (roles[i] == Role::kUnknown) {
      ++left_out;
      if (unknown.size() < kMostListed) unknown.insert(place);
    } else if (roles[i] == Role::kHardware || roles[i] == Role::kCommunication) {
      if (OnlyWaits(texts_.Get(other.type))) {
        ++waits;
      } else if (IsPart(other, roles[i])) {
        ++parts;
      } else {
        AddOperation(other, roles[i], thread);
        ++operations;
        if (taken.size() < kMostListed) taken.insert(place);
      }
    }
    out_->skipped += roles[i] == Role::kDerived ? 1 : 0;
  }
  out_->skipped += waits + parts + left_out;
  out_->unknown_events += left_out;
  const auto count = [&](absl::string_view kind, uint64_t n, const std::string& detail) {
    if (n == 0) return;
    notes_->Count(kind, 0, "", n);
    notes_->Explain(kind, detail);
  };
  count("kineto_unknown_category", left_out,
        absl::StrCat("left out, categories: ", absl::StrJoin(unknown, ", ")));
  count("device_by_process", operations,
        absl::StrCat("operations whose process is a device's, of categories: ", absl::StrJoin(taken, ", ")));
  count("device_waits_left_out", waits, "tasks of a device that only wait for others, or record an event");
  count("collective_parts_left_out", parts, "parts of collectives that the file has too");
}

}  // namespace chakra::pytorch::kineto
