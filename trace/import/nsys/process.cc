#include "trace/import/nsys/process.h"

#include <algorithm>
#include <iterator>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/demangle.h"

namespace chakra::nsys {
namespace {

using pytorch::kNone;

absl::string_view WithoutVersion(absl::string_view name) {
  const size_t at = name.rfind("_v");
  if (at == name.npos || at + 2 == name.size()) return name;
  for (const char c : name.substr(at + 2)) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return name;
  }
  return name.substr(0, at);
}

}  // namespace

Process::Process(int64_t process, const Session& session, const Strings& strings)
    : id(process), session_(session), strings_(strings) {
  trace.file = session.file;
  trace.schema = "nsys";
}

uint32_t Process::Thread(int64_t global_tid) {
  if (global_tid == last_tid_ && !trace.threads.empty()) return last_thread_;
  const auto [it, fresh] = threads_.try_emplace(global_tid, static_cast<uint32_t>(trace.threads.size()));
  if (fresh) trace.threads.push_back({PidOf(id), absl::StrCat(TidOf(global_tid)), ""});
  last_tid_ = global_tid;
  return last_thread_ = it->second;
}

bool Process::FindThread(int64_t global_tid, uint32_t* thread) const {
  const auto it = threads_.find(global_tid);
  if (it == threads_.end()) return false;
  *thread = it->second;
  return true;
}

uint32_t Process::Stream(int64_t device, int64_t context, int64_t stream) {
  if (last_place_ == std::make_pair(context, stream)) return last_stream_;
  const auto [it, fresh] =
      streams_.try_emplace({context, stream}, static_cast<uint32_t>(trace.streams.size()));
  if (fresh) {
    const int ordinal = device >= 0 && device < 1 << 16 ? static_cast<int>(device) : 0;
    trace.streams.push_back({ordinal, stream});
    device_of_.try_emplace(context, ordinal);
  }
  last_place_ = {context, stream};
  return last_stream_ = it->second;
}

uint32_t Process::StreamOf(int64_t context, int64_t stream, int64_t device_if_new) {
  if (last_place_ == std::make_pair(context, stream)) return last_stream_;
  const auto known = device_of_.find(context);
  return Stream(known == device_of_.end() ? device_if_new : known->second, context, stream);
}

std::pair<uint32_t*, bool> Process::NamesByNumber::At(int64_t number) {
  constexpr int64_t kDense = 1 << 20;
  if (number < 0 || number >= kDense) {
    const auto [it, fresh] = others_.try_emplace(number, 0);
    return {&it->second, fresh};
  }
  const auto at = static_cast<size_t>(number);
  if (at >= dense_.size()) dense_.resize(std::max(at + 1, 2 * dense_.size()), kNoRow);
  uint32_t* name = &dense_[at];
  const bool fresh = *name == kNoRow;
  if (fresh) *name = 0;
  return {name, fresh};
}

uint32_t Process::Name(int64_t string, absl::string_view kind) {
  const auto [name, fresh] = names_.At(string);
  absl::string_view text;
  if (fresh && strings_.Find(string, &text) && !text.empty()) {
    *name = trace.strings.Intern(text);
  } else if (fresh) {
    *name = trace.strings.Intern(absl::StrCat("[", kind, " ", string, "]"));
    notes.Count("nsys_name_missing", 0,
                absl::StrCat("names that are not in StringIds; the first is ", kind, " ", string));
  }
  return *name;
}

uint32_t Process::CallName(int64_t string) {
  const auto [name, fresh] = calls_.At(string);
  absl::string_view text;
  if (fresh)
    *name = strings_.Find(string, &text) && !text.empty() ? trace.strings.Intern(WithoutVersion(text))
                                                          : Name(string, "API call");
  return *name;
}

uint32_t Process::KernelName(int64_t mangled, int64_t demangled, int64_t brief) {
  const int which = mangled != kNone ? 0 : demangled != kNone ? 1 : 2;
  const auto [name_of_kernel, fresh] = kernels_[which].At(which == 0   ? mangled
                                                          : which == 1 ? demangled
                                                                       : brief);
  if (!fresh) return *name_of_kernel;
  absl::string_view text;
  std::string plain;
  if (mangled != kNone && strings_.Find(mangled, &text)) plain = Demangle(text);
  for (const int64_t name : {demangled, mangled, brief}) {
    if (plain.empty() && name != kNone && strings_.Find(name, &text)) plain = std::string(text);
  }
  *name_of_kernel =
      plain.empty() ? Name(demangled != kNone ? demangled : brief, "kernel") : trace.strings.Intern(plain);
  return *name_of_kernel;
}

bool Process::Times(int64_t start, int64_t end, pytorch::Event* out) {
  if (start < session_.first || start > session_.last || end > session_.last) {
    notes.Count(
        "nsys_absurd_time", 0,
        absl::StrCat("rows whose times are far outside of the recording; left out; the first is from ", start,
                     " to ", end, " ns"));
    return false;
  }
  if (end < start) {
    notes.Count("nsys_negative_duration", 0,
                absl::StrCat("rows that end before they start; duration 0 is used; the first is from ", start,
                             " to ", end, " ns"));
    end = start;
  }
  out->ts = start;
  out->dur = end - start;
  return true;
}

namespace {

template <typename T>
void Append(std::vector<T>* to, std::vector<T>* from) {
  if (to->empty()) {
    *to = std::move(*from);
  } else {
    to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
  }
  std::vector<T>().swap(*from);
}

}  // namespace

uint32_t Process::Call(pytorch::CommCall call, uint64_t comm) {
  std::vector<uint32_t>& alike =
      calls_by_hash_[absl::HashOf(call.name, comm, call.in_bytes, call.out_bytes, call.root)];
  for (const uint32_t row : alike) {
    if (comm_of[row] == comm && trace.comms[row] == call) return row;
  }
  alike.push_back(static_cast<uint32_t>(trace.comms.size()));
  trace.comms.push_back(std::move(call));
  comm_of.push_back(comm);
  return alike.back();
}

void Process::Unpack() {
  trace.events.reserve(Sum(&PackedRows::size));
  trace.ops.reserve(Sum(&PackedRows::ops));
  trace.device.reserve(Sum(&PackedRows::devices));
  trace.syncs.reserve(Sum(&PackedRows::syncs));
  for (Part& part : parts_) {
    part.rows.Unpack(part.names, &trace);
    part = {};
  }
  parts_.clear();
}

void Process::Absorb(Process* part) {
  pytorch::DeviceTrace& from = part->trace;
  RowNames names;
  for (uint32_t s = 0; s < from.strings.size(); ++s)
    names.text.push_back(trace.strings.Intern(from.strings.Get(s)));
  names.thread.resize(from.threads.size());
  std::vector<int64_t> tid(names.thread.size());
  for (const auto& [global, row] : part->threads_) tid[row] = global;
  for (size_t t = 0; t < tid.size(); ++t) names.thread[t] = Thread(tid[t]);
  for (size_t c = 0; c < from.comms.size(); ++c)
    names.comm.push_back(Call(std::move(from.comms[c]), part->comm_of[c]));
  for (GraphKernel& kernel : part->graph_kernels) kernel.extra += devices_rows();
  for (Part& rows : part->parts_) {  // `part` has absorbed no other part
    if (!parts_.empty()) parts_.back().whole = true;
    parts_.push_back({std::move(rows.rows), names, true});
  }
  Append(&members, &part->members);
  Append(&graph_kernels, &part->graph_kernels);
  if (trace.streams.empty()) {
    trace.streams = std::move(from.streams);
    streams_ = std::move(part->streams_);
    device_of_ = std::move(part->device_of_);
    last_place_ = {INT64_MIN, INT64_MIN};
  }
  for (const auto& [ordinal, counts] : part->devices) {
    devices[ordinal].first += counts.first;
    devices[ordinal].second += counts.second;
  }
  for (const Repair& r : part->notes.Take("", 0)) notes.Count(r.kind, r.first_node, r.detail, r.count);
  graph_launches += part->graph_launches;
  payloads += part->payloads;
  unknown_payloads += part->unknown_payloads;
  nccl_ranges += part->nccl_ranges;
  operators += part->operators;
  shaped += part->shaped;
  open_ranges += part->open_ranges;
  free_ranges += part->free_ranges;
}

Process& Processes::Of(int64_t id) {
  Process*& recent = Recent(id);
  if (recent != nullptr && recent->id == id) return *recent;
  std::unique_ptr<Process>& process = all_[id];
  if (process == nullptr) process = std::make_unique<Process>(id, session_, strings_);
  return *(recent = process.get());
}

Process* Processes::Find(int64_t id) {
  Process*& recent = Recent(id);
  if (recent != nullptr && recent->id == id) return recent;
  if (finds_all_) return &Of(id);
  const auto it = all_.find(id);
  return it == all_.end() ? nullptr : recent = it->second.get();
}

}  // namespace chakra::nsys
