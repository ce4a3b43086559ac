#include "trace/import/kineto/kineto_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"
#include "trace/import/capture/rank_names.h"
#include "trace/import/kineto/kineto_comm.h"
#include "trace/import/kineto/kineto_text.h"

namespace chakra::pytorch::kineto {
namespace {

constexpr size_t kShown = 40;   // bytes of a value shown in a message
constexpr size_t kUnknown = 8;  // maximum number of unknown categories listed

// kNone for -1, also if -1 is written as an unsigned 32-bit number.
int64_t Stream(int64_t v) { return v < 0 || v == std::numeric_limits<uint32_t>::max() ? kNone : v; }

// Reads a size; MTIA writes "14139908 bytes".
int64_t MemSize(absl::string_view token) {
  absl::string_view text = Plain(token);
  absl::ConsumeSuffix(&text, " bytes");
  int64_t v;
  return ToInteger(text, &v) ? v : kNone;
}

SyncExtra::Kind SyncKind(absl::string_view text) {
  if (text == "Event Sync") return SyncExtra::kEvent;
  if (text == "Stream Sync") return SyncExtra::kStream;
  if (text == "Context Sync") return SyncExtra::kContext;
  if (text == "Stream Wait Event") return SyncExtra::kStreamWaitEvent;
  return SyncExtra::kOther;
}

std::string ThreadKey(const EventTokens& e) { return absl::StrCat(Plain(e.pid), " ", Plain(e.tid)); }

}  // namespace

absl::Status RowBuilder::Error(const EventTokens& e, absl::string_view field, absl::string_view token,
                               absl::string_view expected) const {
  return absl::InvalidArgumentError(absl::StrCat(
      file_, ": event ", e.index, e.name.empty() ? "" : absl::StrCat(" (", e.name, ")"), " at byte ", e.byte,
      ": \"", field, "\" ", token.empty() ? "is missing" : absl::StrCat("is ", token.substr(0, kShown)),
      "; expected ", expected));
}

absl::Status RowBuilder::Time(const EventTokens& e, int64_t* ts) const {
  if (Nanos(e, "ts", e.ts, ts) && *ts > -(int64_t{1} << 62) && *ts < int64_t{1} << 62)
    return absl::OkStatus();
  return Error(e, "ts", e.ts,
               "a number of microseconds, as torch.profiler's export_chrome_trace() writes; if another "
               "program changed the file, restore numeric times");
}

bool RowBuilder::Nanos(const EventTokens& e, absl::string_view field, absl::string_view token,
                       int64_t* ns) const {
  if (token.empty() || token.front() != '"') return ToNanos(token, ns);
  if (!ToNanos(Plain(token), ns)) return false;
  notes_->Count("kineto_quoted_time", e.index,
                absl::StrCat("event ", e.index, " ", e.name.substr(0, kShown), ": \"", field,
                             "\" is the text ", token.substr(0, kShown), "; read as a number"));
  return true;
}

absl::Status RowBuilder::Identifier(const EventTokens& e, Arg arg, absl::string_view field,
                                    int64_t* out) const {
  *out = kNone;
  if (!e.has(arg) || ToInteger(e.arg(arg), out)) return absl::OkStatus();
  return Error(e, field, e.arg(arg), "an integer");
}

int64_t RowBuilder::Integer(const EventTokens& e, Arg arg) {
  int64_t v = kNone;
  if (!e.has(arg) || ToInteger(e.arg(arg), &v)) return v;
  notes_->Count("kineto_bad_argument", e.index,
                absl::StrCat("event ", e.index, " ", e.name.substr(0, kShown), ": ",
                             e.arg(arg).substr(0, kShown), " is not an integer; left out"));
  return kNone;
}

int64_t RowBuilder::Duration(const EventTokens& e) {
  int64_t dur = 0;
  if (Nanos(e, "dur", e.dur, &dur) && dur >= 0 && dur < int64_t{1} << 62) return dur;
  const absl::string_view kind = e.dur.empty() ? "kineto_missing_duration"
                                 : dur < 0     ? "kineto_negative_duration"
                                               : "kineto_bad_duration";
  notes_->Count(kind, e.index,
                absl::StrCat("event ", e.index, " ", e.name.substr(0, kShown), ": \"dur\" is ",
                             e.dur.empty() ? "missing" : e.dur.substr(0, kShown), "; 0 is used"));
  return 0;
}

uint32_t RowBuilder::Text(absl::string_view token) {
  return out_->strings.Intern(WithoutLayout(token, &layout_));
}

uint32_t RowBuilder::AddThread(int64_t pid, std::string tid, uint32_t process) {
  ThreadLane lane;
  lane.pid = pid;
  lane.tid = std::move(tid);
  out_->threads.push_back(std::move(lane));
  processes_.threads.push_back(process);
  return static_cast<uint32_t>(out_->threads.size() - 1);
}

uint32_t RowBuilder::ProcessOf(absl::string_view pid) {
  if (!last_pid_.empty() && pid == last_pid_) return last_process_;
  const auto [it, fresh] =
      process_rows_.try_emplace(std::string(Plain(pid)), static_cast<uint32_t>(processes_.processes.size()));
  if (fresh) {
    LaneProcesses::Process& process = processes_.processes.emplace_back();
    process.written = it->first;
    SplitProcess(process.written, &process.label, &process.number);
  }
  last_pid_ = std::string(pid);
  return last_process_ = it->second;
}

uint32_t RowBuilder::ThreadOf(const EventTokens& e) {
  Pair key;
  const bool pid = ToInteger(e.pid, &key.first);
  if (pid && ToInteger(e.tid, &key.second)) {
    const auto found = threads_.find(key);
    if (found != threads_.end()) return found->second;
    return threads_[key] = AddThread(key.first, std::string(Plain(e.tid)), ProcessOf(e.pid));
  }
  const std::string text = ThreadKey(e);
  const auto found = text_threads_.find(text);
  if (found != text_threads_.end()) return found->second;
  const uint32_t process = ProcessOf(e.pid);
  if (int64_t number = 0; absl::SimpleAtoi(processes_.processes[process].number, &number))
    return text_threads_[text] = AddThread(number, std::string(Plain(e.tid)), process);
  // A process without a number: its text becomes part of the thread's name.
  const std::string tid = pid ? std::string(Plain(e.tid)) : absl::StrCat(Plain(e.pid), ":", Plain(e.tid));
  return text_threads_[text] = AddThread(pid ? key.first : kNone, tid, process);
}

absl::Status RowBuilder::StreamOf(const EventTokens& e, uint32_t* lane) {
  int64_t place = kNone, number = kNone, id = kNone;
  const bool device = e.has(Arg::kDevice), stream = e.has(Arg::kStream), numbered = ToInteger(e.pid, &place);
  if (!numbered) place = -2 - static_cast<int64_t>(ProcessOf(e.pid));
  const absl::string_view written =
      numbered ? absl::string_view() : processes_.processes[last_process_].number;
  const absl::string_view device_token = device ? e.arg(Arg::kDevice) : written.empty() ? e.pid : written;
  if (!ToInteger(device_token, &number) || number < std::numeric_limits<int>::min() ||
      number > std::numeric_limits<int>::max()) {
    return Error(e, device ? "device" : "pid", device_token, "the number of a device");
  }
  const absl::string_view stream_token = stream ? e.arg(Arg::kStream) : e.tid;
  if (!ToInteger(stream_token, &id)) {
    return Error(e, stream ? "stream" : "tid", stream_token, "the number of a stream");
  }
  const auto [it, added] = streams_.try_emplace(std::make_tuple(place, number, Stream(id)),
                                                static_cast<uint32_t>(out_->streams.size()));
  if (added) {
    out_->streams.push_back({static_cast<int>(number), Stream(id)});
    processes_.streams.push_back(ProcessOf(e.pid));
  }
  *lane = it->second;
  return absl::OkStatus();
}

uint32_t RowBuilder::Comm(const EventTokens& e) {
  // Annotations of kernels in graphs may lack the collective; the kernel's name has it.
  const bool annotated = e.has(Arg::kInElems) && e.has(Arg::kDtype) && e.has(Arg::kGraphNode);
  if (!e.has(Arg::kCollective) && !annotated) return kNoRow;
  out_->comms.push_back(ReadComm(e, notes_));
  return static_cast<uint32_t>(out_->comms.size() - 1);
}

uint32_t RowBuilder::Words(const EventTokens& e, Arg arg) {
  absl::string_view text;
  return e.has(arg) && ToText(e.arg(arg), &scratch_, &text, &bad_escapes_) ? out_->strings.Intern(text) : 0;
}

int64_t RowBuilder::Amount(const EventTokens& e, Arg arg, double scale) {
  constexpr double kMost = 1e18;
  double v = 0;
  if (!e.has(arg)) return kNone;
  if (absl::SimpleAtod(e.arg(arg), &v) && v >= 0 && v * scale <= kMost) return std::llround(v * scale);
  notes_->Count("kineto_bad_argument", e.index,
                absl::StrCat("event ", e.index, " ", e.name.substr(0, kShown), ": ",
                             e.arg(arg).substr(0, kShown), " is not an amount; left out"));
  return kNone;
}

uint32_t RowBuilder::Compiled(const EventTokens& e) {
  if (!e.has(Arg::kKernelBackend) && !e.has(Arg::kKernelHash) && !e.has(Arg::kKernelFile)) return kNoRow;
  CompiledKernel x;
  x.backend = Words(e, Arg::kKernelBackend);
  x.file = Words(e, Arg::kKernelFile);
  x.hash = Words(e, Arg::kKernelHash);
  x.options = Words(e, Arg::kKernelOptions);
  x.grid = Words(e, Arg::kGrid);
  x.warps = Amount(e, Arg::kWarps, 1);
  x.stages = Amount(e, Arg::kStages, 1);
  x.operations = Amount(e, Arg::kKernelOperations, 1);
  x.traffic = Amount(e, Arg::kKernelGigabytes, 1e9);
  out_->compiled.push_back(x);
  return static_cast<uint32_t>(out_->compiled.size() - 1);
}

uint32_t RowBuilder::Operator(const EventTokens& e) {
  OpExtra x;
  x.seq = Integer(e, Arg::kSequence);
  x.fwd_thread = Integer(e, Arg::kFwdThread);
  x.shapes = Text(e.arg(Arg::kDims));
  x.types = Text(e.arg(Arg::kTypes));
  x.comm = Comm(e);
  x.compiled = Compiled(e);
  if (x.seq == kNone && x.fwd_thread == kNone && x.shapes == 0 && x.types == 0 && x.comm == kNoRow &&
      x.compiled == kNoRow)
    return kNoRow;
  out_->ops.push_back(x);
  return static_cast<uint32_t>(out_->ops.size() - 1);
}

uint32_t RowBuilder::Runtime(const EventTokens& e) {
  RuntimeExtra x;
  x.stream = Stream(Integer(e, e.has(Arg::kStream) ? Arg::kStream : Arg::kStreamId));
  x.bytes = e.has(Arg::kMemSize) ? MemSize(e.arg(Arg::kMemSize))
                                 : Integer(e, e.has(Arg::kBytes) ? Arg::kBytes : Arg::kSize);
  if (x.stream == kNone && x.bytes == kNone) return kNoRow;
  out_->runtime.push_back(x);
  return static_cast<uint32_t>(out_->runtime.size() - 1);
}

void RowBuilder::Extent(const EventTokens& e, Arg arg, uint32_t out[3]) {
  if (!e.has(arg)) return;
  const absl::string_view t = e.arg(arg);
  uint64_t v[3] = {0, 0, 0};
  size_t n = 0, i = 0;
  bool ok = t.size() > 2 && t[0] == '[', digits = false;
  for (i = 1; ok && i < t.size() && n < 3; ++i) {
    const char c = t[i];
    if (c >= '0' && c <= '9') {
      v[n] = v[n] * 10 + static_cast<uint64_t>(c - '0');
      ok = v[n] <= std::numeric_limits<uint32_t>::max();
      digits = true;
    } else if (c == ',' || c == ']') {
      ok = digits;
      digits = false;
      ++n;
    } else {
      ok = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }
  }
  if (ok && n == 3 && i == t.size()) {
    for (int k = 0; k < 3; ++k) out[k] = static_cast<uint32_t>(v[k]);
    return;
  }
  notes_->Count("kineto_bad_argument", e.index,
                absl::StrCat("event ", e.index, " ", e.name.substr(0, kShown), ": ", t.substr(0, kShown),
                             " is not three counts; left out"));
}

uint32_t RowBuilder::Device(const EventTokens& e) {
  DeviceExtra x;
  x.bytes = Integer(e, e.has(Arg::kBytes) ? Arg::kBytes : Arg::kSize);
  x.comm = Comm(e);
  Extent(e, Arg::kGrid, x.grid);
  Extent(e, Arg::kBlock, x.block);
  const auto row = static_cast<uint32_t>(out_->device.size());
  if (const int64_t node = Integer(e, Arg::kGraphNode); node > 0) out_->graph_nodes.push_back({row, node});
  out_->device.push_back(x);
  return row;
}

uint32_t RowBuilder::Sync(const EventTokens& e) {
  SyncExtra x;
  x.kind = SyncKind(Plain(e.has(Arg::kSyncKind) ? e.arg(Arg::kSyncKind) : e.name));
  x.wait_on_stream = Stream(Integer(e, Arg::kWaitStream));
  x.wait_on_correlation = Stream(Integer(e, Arg::kWaitCorrelation));
  out_->syncs.push_back(x);
  return static_cast<uint32_t>(out_->syncs.size() - 1);
}

absl::Status RowBuilder::AddWork(const EventTokens& e, EventKind kind) {
  Event row;
  EventIds ids;
  row.kind = kind;
  absl::string_view name;
  if (!ToText(e.name, &scratch_, &name, &bad_escapes_)) return Error(e, "name", e.name, "text");
  const uint32_t hash = out_->strings.Prefetch(name);
  absl::Status status = Time(e, &row.ts);
  if (status.ok()) status = Identifier(e, Arg::kCorrelation, "correlation", &row.correlation);
  if (status.ok()) status = Identifier(e, Arg::kExternalId, "External id", &ids.external);
  if (status.ok()) status = Identifier(e, Arg::kRecordFunction, "Record function id", &ids.rf);
  if (!status.ok()) return status;
  if (ids.rf == 0) ids.rf = kNone;
  row.dur = Duration(e);
  row.name = out_->strings.Intern(name, hash);
  if (OnHost(row.kind)) {
    if (e.pid.empty() || e.tid.empty())
      return Error(e, e.pid.empty() ? "pid" : "tid", "", "a number or text");
    row.lane = ThreadOf(e);
    row.extra = row.kind == EventKind::kRuntime || row.kind == EventKind::kDriver ? Runtime(e) : Operator(e);
  } else {
    status = StreamOf(e, &row.lane);
    if (!status.ok()) return status;
    row.extra = row.kind == EventKind::kSync ? Sync(e) : Device(e);
  }
  if (out_->events.size() == kNoRow)
    return absl::ResourceExhaustedError(absl::StrCat(file_, ": more than 2^32 - 1 events"));
  if (ids.external != kNone || ids.rf != kNone) out_->SetIds(out_->events.size(), ids);
  out_->events.push_back(row);
  return absl::OkStatus();
}

// An event with a device and a stream is an operation of that device, whatever its category.
absl::Status RowBuilder::AddOther(const EventTokens& e) {
  int64_t device = kNone, stream = kNone;
  if (e.has(Arg::kDevice) && e.has(Arg::kStream) && ToInteger(e.arg(Arg::kDevice), &device) &&
      ToInteger(e.arg(Arg::kStream), &stream) && device >= 0 && device < 1 << 20) {
    if (placed_.size() < kUnknown)
      placed_.insert(std::string(e.cat.empty() ? "none" : Plain(e.cat).substr(0, kShown)));
    notes_->Count("device_by_stream", e.index, "");
    return AddWork(e, KindOnDevice(Plain(e.cat), Plain(e.name)));
  }
  Event row;
  absl::string_view name;
  const bool named = ToText(e.name, &scratch_, &name, &bad_escapes_);
  if (!named || e.pid.empty() || e.tid.empty() || !Time(e, &row.ts).ok()) {
    ++out_->skipped;
    notes_->Count("kineto_unknown_category", e.index, "left out, events without a name, a place or a time");
    return absl::OkStatus();
  }
  row.name = out_->strings.Intern(name);
  row.correlation = Integer(e, Arg::kCorrelation);
  row.dur = Duration(e);
  others_.Add(e, row);
  return absl::OkStatus();
}

void RowBuilder::AddLaunch(const EventTokens& e) {
  int64_t id = 0, ts = 0;
  if (e.id.empty() || e.pid.empty() || e.tid.empty() || !Nanos(e, "ts", e.ts, &ts)) return;
  if (!ToInteger(e.id, &id)) id = -2 - static_cast<int64_t>(flow_names_.Intern(e.id));
  others_.AddArrow(e, id, ts);
}

absl::Status RowBuilder::AddFlow(const EventTokens& e) {
  FlowEnd end;
  end.begins = e.phase == 's';
  if (!ToInteger(e.id, &end.id)) {
    if (e.id.empty()) return Error(e, "id", e.id, "a number or text");
    end.id = -2 - static_cast<int64_t>(flow_names_.Intern(e.id));
  }
  RETURN_IF_ERROR(Time(e, &end.ts));
  if (e.pid.empty() || e.tid.empty()) return Error(e, e.pid.empty() ? "pid" : "tid", "", "a number or text");
  end.thread = ThreadOf(e);
  flows_.push_back(end);
  return absl::OkStatus();
}

void RowBuilder::AddMetadata(const EventTokens& e) {
  absl::string_view name;
  if (e.pid.empty() ||
      !ToText(e.arg(e.has(Arg::kName) ? Arg::kName : Arg::kLabels), &scratch_, &name, &bad_escapes_))
    return;
  others_.AddMetadata(e, name);
  if (e.name == "\"process_name\"" || e.name == "\"process_labels\"") {
    LaneProcesses::Process& process = processes_.processes[ProcessOf(e.pid)];
    if (process.label.empty()) process.label = LabelOfName(name);
  }
  if (e.name == "\"thread_name\"" && !e.tid.empty())
    thread_names_.emplace_back(ThreadKey(e), std::string(name));
}

void RowBuilder::AddMemory(const EventTokens& e) {
  constexpr int64_t kHost = 0;  // value of c10::DeviceType
  if (e.name != "\"[memory]\"" || Integer(e, Arg::kDeviceType) == kHost) return;
  const int64_t device = Integer(e, Arg::kDeviceId), allocated = Integer(e, Arg::kAllocated);
  if (device < 0 || allocated < 0) return;  // older profilers record no totals
  auto peak = std::find_if(out_->memory.begin(), out_->memory.end(),
                           [&](const MemoryPeak& m) { return m.device == device; });
  if (peak == out_->memory.end()) peak = out_->memory.insert(peak, {device, 0, 0});
  peak->allocated = std::max(peak->allocated, allocated);
  peak->reserved = std::max(peak->reserved, Integer(e, Arg::kReserved));
}

absl::Status RowBuilder::Add(const EventTokens& e) {
  const bool told = e.category.use != Category::kUnknown && e.category.use != Category::kAbsent;
  if (e.phase == 'X' && e.category.use == Category::kEvent) return AddWork(e, e.category.kind);
  if (e.phase == 'X' && !told) return AddOther(e);
  ++out_->skipped;
  if (e.category.use == Category::kFwdBwd && (e.phase == 's' || e.phase == 'f')) return AddFlow(e);
  if (e.phase == 'M') AddMetadata(e);
  if (e.category.use == Category::kInstant) AddMemory(e);
  if (e.category.use == Category::kLaunch && (e.phase == 's' || e.phase == 'f')) AddLaunch(e);
  if (e.phase == 'B' || e.phase == 'E') {
    notes_->Count("kineto_begin_end", e.index, "phases B and E, begin and end of a span, are not read");
  } else if (e.phase == 0) {
    notes_->Count("kineto_no_phase", e.index, "an event without \"ph\" was left out");
  }
  return absl::OkStatus();
}

void RowBuilder::FinishOthers() {
  std::set<std::string> hosts;                       // pids of processes with threads
  std::map<std::string, uint32_t> by_place, by_tid;  // rows of threads, by "pid tid" and by tid
  for (uint32_t i = 0; i < out_->threads.size(); ++i) {
    const ThreadLane& thread = out_->threads[i];
    hosts.insert(absl::StrCat(thread.pid));
    by_place.try_emplace(absl::StrCat(thread.pid, " ", thread.tid), i);
    by_tid.try_emplace(thread.tid, i);
  }
  // Profilers show a library's calls under the number of the thread that made them, but in a process that
  // does not exist. Such a call goes to the thread with the same number in any process.
  const auto thread_of = [&](absl::string_view pid, absl::string_view tid) {
    const auto own = by_place.find(absl::StrCat(std::string(pid), " ", std::string(tid)));
    if (own != by_place.end()) return own->second;
    const auto [it, fresh] = by_tid.try_emplace(std::string(tid), 0);
    int64_t number = kNone;
    if (fresh)
      it->second = AddThread(ToInteger(pid, &number) ? number : kNone, std::string(tid), ProcessOf(pid));
    return it->second;
  };
  processes_.own_threads = out_->threads.size();
  processes_.own_streams = out_->streams.size();
  others_.Finish([&](absl::string_view pid) { return hosts.contains(std::string(pid)); }, thread_of);
  processes_.streams.resize(out_->streams.size());
  others_.ForStreams(
      [&](uint32_t lane, absl::string_view pid) { processes_.streams[lane] = ProcessOf(pid); });
}

void RowBuilder::JoinStreams() {
  std::map<std::pair<int, int64_t>, uint32_t> first;
  std::vector<uint32_t> lane(out_->streams.size());
  size_t kept = 0;
  for (size_t i = 0; i < lane.size(); ++i) {
    const StreamLane stream = out_->streams[i];
    lane[i] = static_cast<uint32_t>(kept);
    if (i < processes_.own_streams)
      lane[i] = first.try_emplace({stream.device, stream.stream}, lane[i]).first->second;
    if (lane[i] == kept) out_->streams[kept++] = stream;
  }
  if (kept == lane.size()) return;
  out_->streams.resize(kept);
  for (Event& e : out_->events) {
    if (!OnHost(e.kind)) e.lane = lane[e.lane];
  }
}

void RowBuilder::Finish() {
  absl::flat_hash_map<std::string, uint32_t> threads;
  for (const auto& [key, lane] : threads_)
    threads.try_emplace(absl::StrCat(key.first, " ", key.second), lane);
  for (const auto& [key, lane] : text_threads_) threads.try_emplace(key, lane);
  FinishOthers();
  for (auto& [key, name] : thread_names_) {
    const auto found = threads.find(key);
    if (found != threads.end()) out_->threads[found->second].name = std::move(name);
  }
  if (!placed_.empty()) {
    notes_->Explain("device_by_stream",
                    absl::StrCat("operations with a device and a stream, of unknown categories: ",
                                 absl::StrJoin(placed_, ", ")));
  }
  if (bad_escapes_ > 0)
    notes_->Count("kineto_bad_escape", 0, "escapes that JSON does not know were kept as text", bad_escapes_);
}

}  // namespace chakra::pytorch::kineto
