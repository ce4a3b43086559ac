#include "trace/import/collective_logs/flight_recorder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"
#include "trace/import/capture/capture.h"
#include "trace/import/collective_logs/pickle.h"
#include "trace/import/comm/comm_operators.h"

namespace chakra::collective_logs {
namespace {

using Value = PlainData::Value;

constexpr int kMostMembers = 1 << 22;

class DumpReader {
 public:
  DumpReader(PlainData data, absl::string_view file) : data_(std::move(data)) {
    log_.file = std::string(file);
  }
  absl::StatusOr<RankLog> Run();

 private:
  // An error in the current entry: entry_ counts from 1; 0: outside the entries.
  absl::Status Bad(absl::string_view field, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(
        log_.file, entry_ == 0 ? "" : absl::StrCat(": entry ", entry_), ", field ", field, ": ", what));
  }
  absl::Status Version();
  absl::Status FindGroups();
  absl::Status Entry(const Value& e);
  absl::Status Group(const Value& e, LogCall* call);
  absl::Status Operation(const Value& e, LogCall* call);
  absl::Status Bytes(const Value& e, LogCall* call);
  absl::Status Times(const Value& e, LogCall* call);
  absl::Status Integer(const Value& e, const char* field, int64_t most, int64_t* out, bool* there) const;
  absl::Status SumBytes(const Value& e, const char* sizes, const char* types, uint64_t* out) const;
  bool NamesNoTensor(const Value& e) const;
  bool EndCoalesced(const LogCall& whole);
  void ShareTime(size_t first);
  void PlaceInTime();

  struct Seen {
    int64_t created = 0, completed = 0;  // 0: not recorded
    bool coalesced = false;              // closes the calls before it that have its sequence number
    bool ended = false;
    bool part = false;  // one of several calls that run as one
  };
  PlainData data_;
  RankLog log_;
  uint32_t entry_ = 0;
  absl::flat_hash_map<std::string, uint32_t> comm_of_;  // by name of the group
  std::vector<Seen> seen_;                              // by call
  Seen now_;
  uint64_t unfinished_ = 0, first_unfinished_ = 0, unknown_ = 0, sizeless_ = 0;
};

bool AsInteger(const Value& v, int64_t* out) {
  if (v.kind() == PlainData::kInteger) {
    *out = v.integer();
    return true;
  }
  if (v.kind() != PlainData::kReal || !(std::abs(v.real()) < 9e18) || v.real() != std::trunc(v.real()))
    return false;
  *out = static_cast<int64_t>(v.real());
  return true;
}

// Parses "[0, 1]".
bool ParseRanks(absl::string_view text, std::vector<int>* ranks) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) return false;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    int rank = 0;
    if (!absl::SimpleAtoi(part, &rank) || rank < 0 || rank >= kMostMembers) return false;
    ranks->push_back(rank);
  }
  std::vector<int> sorted = *ranks;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

// Reads an integer of 0 to `most`. `there`: false if the field is missing or None. JSON dumps may have 0 for
// a missing time.
absl::Status DumpReader::Integer(const Value& e, const char* field, int64_t most, int64_t* out,
                                 bool* there) const {
  const Value* v = data_.Find(e, field);
  *there = v != nullptr && v->kind() != PlainData::kNull;
  if (!*there) return absl::OkStatus();
  if (!AsInteger(*v, out)) return Bad(field, "expected an integer");
  if (*out < 0 || *out > most) return Bad(field, absl::StrCat(*out, ", expected 0 to ", most));
  return absl::OkStatus();
}

absl::Status DumpReader::Version() {
  const Value* v = data_.Find(data_.root(), "version");
  if (v == nullptr || v->kind() != PlainData::kText)
    return Bad("version",
               "missing; expected a dump of the Flight Recorder, which has a version like \"2.10\"");
  if (absl::StartsWith(v->text(), "2.")) return absl::OkStatus();
  return Bad("version", absl::StrCat("\"", v->text(), "\", expected 2.x, which PyTorch 2.2 and later write"));
}

absl::Status DumpReader::FindGroups() {
  const Value* groups = data_.Find(data_.root(), "pg_config");
  if (groups == nullptr) return absl::OkStatus();
  if (groups->kind() != PlainData::kDict) return Bad("pg_config", "expected groups by their names");
  for (size_t i = 0; i + 1 < data_.items(*groups).size(); i += 2) {
    const Value &key = data_.at(data_.items(*groups)[i]), &group = data_.at(data_.items(*groups)[i + 1]);
    if (key.kind() != PlainData::kText) return Bad("pg_config", "a name that is not text");
    LogComm comm;
    comm.id = std::string(key.text());
    const Value *desc = data_.Find(group, "desc"), *ranks = data_.Find(group, "ranks");
    if (desc != nullptr && desc->kind() == PlainData::kText) comm.name = std::string(desc->text());
    if (comm.name == "undefined") comm.name.clear();
    if (ranks == nullptr || ranks->kind() != PlainData::kText || !ParseRanks(ranks->text(), &comm.ranks)) {
      return Bad(absl::StrCat("pg_config[\"", key.text(), "\"].ranks"),
                 "expected a list of different ranks as text, \"[0, 1]\"");
    }
    comm.size = static_cast<int>(comm.ranks.size());
    const auto own = std::find(comm.ranks.begin(), comm.ranks.end(), log_.rank);
    if (own == comm.ranks.end()) continue;  // a group of other ranks, on which this rank makes no calls
    comm.member = static_cast<int>(own - comm.ranks.begin());
    if (!comm_of_.emplace(comm.id, static_cast<uint32_t>(log_.comms.size())).second)
      return Bad("pg_config", absl::StrCat("the group \"", comm.id, "\" twice"));
    log_.comms.push_back(std::move(comm));
  }
  return absl::OkStatus();
}

// process_group is (name, description), or the name only.
absl::Status DumpReader::Group(const Value& e, LogCall* call) {
  const Value* pair = data_.Find(e, "process_group");
  absl::string_view name;
  if (pair != nullptr && pair->kind() == PlainData::kList && !data_.items(*pair).empty() &&
      data_.at(data_.items(*pair)[0]).kind() == PlainData::kText) {
    name = data_.at(data_.items(*pair)[0]).text();
  } else if (pair != nullptr && pair->kind() == PlainData::kText) {
    name = pair->text();
  } else {
    return Bad("process_group", "expected the name of a group and its description");
  }
  const auto it = comm_of_.find(name);
  if (it != comm_of_.end()) {
    call->comm = it->second;
    return absl::OkStatus();
  }
  return Bad("process_group", absl::StrCat("\"", name, "\" is not a group of rank ", log_.rank,
                                           " in pg_config; expected a group of pg_config. Does the file's "
                                           "name end in the rank that wrote it?"));
}

absl::Status DumpReader::Operation(const Value& e, LogCall* call) {
  const Value* name = data_.Find(e, "profiling_name");
  if (name == nullptr || name->kind() != PlainData::kText)
    return Bad("profiling_name", "missing; expected the call, \"nccl:all_reduce\"");
  pytorch::CommOperator op;
  CollectiveType type{};
  if (!pytorch::ReadCommOperator(name->text(), &op)) {
    ++unknown_;
    return absl::OkStatus();
  }
  now_.coalesced = op.closes;
  if (op.op == pytorch::CommOp::kCoalesced) return absl::OkStatus();
  if (op.op == pytorch::CommOp::kSend || op.op == pytorch::CommOp::kRecv) {
    call->op = op.op == pytorch::CommOp::kSend ? kLogSend : kLogRecv;
    const LogComm& comm = log_.comms[call->comm];
    if (op.peer < 0 || op.peer >= comm.size || op.peer == comm.member) {
      return Bad("profiling_name",
                 absl::StrCat("\"", name->text(), "\"; expected another member of the group, 0 to ",
                              comm.size - 1, " but ", comm.member, ", as in \"nccl:send 0->1\""));
    }
    call->peer = static_cast<int32_t>(op.peer);
  } else if (pytorch::ToCollective(op.op, &type)) {
    call->op = static_cast<uint8_t>(type);
  } else {
    ++unknown_;
  }
  return absl::OkStatus();
}

absl::Status DumpReader::SumBytes(const Value& e, const char* sizes, const char* types, uint64_t* out) const {
  const Value *shapes = data_.Find(e, sizes), *dtypes = data_.Find(e, types);
  *out = 0;
  if (shapes == nullptr) return absl::OkStatus();
  const bool lists =
      shapes->kind() == PlainData::kList && dtypes != nullptr && dtypes->kind() == PlainData::kList;
  if (!lists || data_.items(*dtypes).size() != data_.items(*shapes).size())
    return Bad(sizes, absl::StrCat("expected a list of shapes, as many as ", types, " has entries"));
  for (size_t i = 0; i < data_.items(*shapes).size(); ++i) {
    const Value &shape = data_.at(data_.items(*shapes)[i]), &dtype = data_.at(data_.items(*dtypes)[i]);
    if (shape.kind() != PlainData::kList || dtype.kind() != PlainData::kText)
      return Bad(sizes, "expected lists of integers, and types as text");
    const int item = pytorch::ItemSize(dtype.text());
    if (item == 0) return Bad(types, absl::StrCat("\"", dtype.text(), "\" is not a type of PyTorch"));
    unsigned __int128 bytes = static_cast<unsigned>(item);
    for (const uint32_t d : data_.items(shape)) {
      int64_t n = 0;
      if (!AsInteger(data_.at(d), &n) || n < 0) return Bad(sizes, "expected sizes of 0 or more");
      bytes *= static_cast<uint64_t>(n);
      if (bytes >> 56 != 0) return Bad(sizes, "a tensor of 2^56 bytes or more");
    }
    *out += static_cast<uint64_t>(bytes);
    if (*out >> 56 != 0) return Bad(sizes, "tensors of 2^56 bytes or more");
  }
  return absl::OkStatus();
}

// comm_size is a rank's input. In a scatter only the root has an input, of which each member gets an equal
// part.
absl::Status DumpReader::Bytes(const Value& e, LogCall* call) {
  uint64_t in = 0, out = 0;
  RETURN_IF_ERROR(SumBytes(e, "input_sizes", "input_dtypes", &in));
  RETURN_IF_ERROR(SumBytes(e, "output_sizes", "output_dtypes", &out));
  const auto members = static_cast<uint64_t>(log_.comms[call->comm].size);
  call->bytes = in;
  if (call->op == static_cast<uint8_t>(CollectiveType::kScatter)) call->bytes = out * members;
  if (call->op == kLogRecv && out > 0) call->bytes = out;
  const bool barrier = call->op == static_cast<uint8_t>(CollectiveType::kBarrier);
  if (call->bytes == 0 && !barrier && call->op != kLogUnknown) ++sizeless_;
  return absl::OkStatus();
}

absl::Status DumpReader::Times(const Value& e, LogCall* call) {
  bool there = false;
  int64_t started = 0;
  RETURN_IF_ERROR(Integer(e, "time_created_ns", kMostStartNs, &now_.created, &there));
  if (!there || now_.created == 0) return Bad("time_created_ns", "missing; expected the time of the call");
  RETURN_IF_ERROR(Integer(e, "time_discovered_started_ns", kMostStartNs, &started, &there));
  RETURN_IF_ERROR(Integer(e, "time_discovered_completed_ns", kMostStartNs, &now_.completed, &there));
  if (now_.completed != 0 && now_.completed < now_.created) {
    return Bad("time_discovered_completed_ns",
               absl::StrCat(now_.completed, ", before the call was made, at ", now_.created));
  }
  now_.ended = now_.completed != 0;
  const Value* duration = data_.Find(e, "duration_ms");
  if (duration == nullptr || duration->kind() == PlainData::kNull) return absl::OkStatus();
  const double ms =
      duration->kind() == PlainData::kReal ? duration->real() : static_cast<double>(duration->integer());
  const bool number = duration->kind() == PlainData::kReal || duration->kind() == PlainData::kInteger;
  if (!number || !(ms >= 0 && ms <= kMostDurationNs / 1e6))
    return Bad("duration_ms", "expected milliseconds, from 0 to 10 days");
  call->duration_ns = std::llround(ms * 1e6);
  call->timing = Timing::kDevice;
  return absl::OkStatus();
}

// Ends a group of calls that were launched together. They have no events of their own, so they get those of
// the whole and share its time. An all-gather of uneven parts is a series of broadcasts, and a reduce-scatter
// one of reductions. Returns false if no call before belongs to the whole.
bool DumpReader::EndCoalesced(const LogCall& whole) {
  size_t first = log_.calls.size();
  while (first > 0 && log_.calls[first - 1].comm == whole.comm &&
         log_.calls[first - 1].sequence == whole.sequence && !seen_[first - 1].part)
    --first;
  if (first == log_.calls.size()) return false;
  const auto made = [&](CollectiveType of, CollectiveType part) {
    for (size_t i = first; i < log_.calls.size(); ++i) {
      if (log_.calls[i].op != static_cast<uint8_t>(part)) return false;
    }
    return whole.op == static_cast<uint8_t>(of);
  };
  const bool gather = made(CollectiveType::kAllGather, CollectiveType::kBroadcast);
  const bool scatter = made(CollectiveType::kReduceScatter, CollectiveType::kReduce);
  size_t kept = first;
  for (size_t i = first; i < log_.calls.size(); ++i) {
    LogCall part = log_.calls[i];
    if (gather || scatter) {
      part.op = whole.op;
      part.peer = -1;
    }
    if (part.timing == Timing::kNone) {
      part.duration_ns = whole.duration_ns;
      part.timing = whole.timing;
    }
    LogCall before = kept > first ? log_.calls[kept - 1] : LogCall();
    if (kept > first && IsCollective(part.op) && before.op == part.op && before.peer == part.peer) {
      before.bytes += part.bytes;
      log_.calls.Set(kept - 1, before);
      continue;
    }
    Seen seen = seen_[i].ended ? seen_[i] : now_;
    seen.part = true;
    log_.calls.Set(kept, part);
    seen_[kept++] = seen;
  }
  log_.calls.Truncate(kept);
  seen_.resize(kept);
  const auto members = static_cast<uint64_t>(log_.comms[whole.comm].size);
  if (gather && members > 0) {  // comm_size is what one rank sends
    LogCall all = log_.calls[first];
    all.bytes = (all.bytes + members - 1) / members;
    log_.calls.Set(first, all);
  }
  ShareTime(first);
  return true;
}

// Divides the time of collectives from `first` on, which ran as one, by their bytes.
void DumpReader::ShareTime(size_t first) {
  unsigned __int128 bytes = 0, before = 0;
  for (size_t i = first; i < log_.calls.size(); ++i) {
    if (!IsCollective(log_.calls[i].op)) return;
    bytes += std::max<uint64_t>(1, log_.calls[i].bytes);
  }
  if (log_.calls.size() - first < 2) return;
  for (size_t i = first; i < log_.calls.size(); ++i) {
    LogCall part = log_.calls[i];
    const auto time = static_cast<unsigned __int128>(part.duration_ns);
    const unsigned __int128 after = before + std::max<uint64_t>(1, part.bytes);
    part.duration_ns =
        static_cast<int64_t>(time * after / bytes) - static_cast<int64_t>(time * before / bytes);
    before = after;
    log_.calls.Set(i, part);
  }
}

// Whether the entry names no tensor.
bool DumpReader::NamesNoTensor(const Value& e) const {
  for (const char* field : {"input_sizes", "output_sizes"}) {
    const Value* sizes = data_.Find(e, field);
    if (sizes != nullptr && (sizes->kind() != PlainData::kList || !data_.items(*sizes).empty())) return false;
  }
  return true;
}

absl::Status DumpReader::Entry(const Value& e) {
  if (e.kind() != PlainData::kDict) return Bad("entries", "expected a dictionary");
  LogCall call;
  call.line = entry_;
  now_ = Seen();
  RETURN_IF_ERROR(Group(e, &call));
  RETURN_IF_ERROR(Operation(e, &call));
  RETURN_IF_ERROR(Times(e, &call));
  const Value* p2p = data_.Find(e, "is_p2p");
  const bool message = p2p != nullptr && p2p->kind() == PlainData::kBool && p2p->integer() != 0;
  int64_t sequence = 0;
  bool there = false;
  const char* field = message ? "p2p_seq_id" : "collective_seq_id";
  RETURN_IF_ERROR(Integer(e, field, INT64_MAX, &sequence, &there));
  if (!there) return Bad(field, "missing; expected the number of the call in its group");
  call.sequence = static_cast<uint64_t>(sequence);
  if (now_.coalesced && (call.op == kLogUnknown || NamesNoTensor(e)) && EndCoalesced(call))
    return absl::OkStatus();
  if (now_.coalesced && call.op == kLogUnknown) return absl::OkStatus();
  RETURN_IF_ERROR(Bytes(e, &call));
  log_.calls.push_back(call);
  seen_.push_back(now_);
  return absl::OkStatus();
}

// Sets the times of calls by the rule in the header.
void DumpReader::PlaceInTime() {
  std::vector<int64_t> free(log_.comms.size(), 0);  // by group: when its last call ended
  LogCalls kept;
  for (size_t i = 0; i < log_.calls.size(); ++i) {
    LogCall call = log_.calls[i];
    const Seen& seen = seen_[i];
    if (!seen.ended && call.timing == Timing::kNone) {
      if (unfinished_++ == 0) first_unfinished_ = call.line;
      continue;
    }
    call.timed = true;
    call.start_ns = IsCollective(call.op) ? std::max(seen.created, free[call.comm]) : seen.created;
    if (call.timing == Timing::kNone) {
      call.timing = Timing::kHost;
      call.start_ns = std::min(call.start_ns, seen.completed);
      call.duration_ns = std::min(seen.completed - call.start_ns, kMostDurationNs);
    } else if (seen.ended && call.start_ns + call.duration_ns > seen.completed) {
      call.start_ns = std::max(seen.completed - call.duration_ns, free[call.comm]);
    }
    if (IsCollective(call.op)) free[call.comm] = call.start_ns + call.duration_ns;
    kept.push_back(call);
  }
  log_.calls = std::move(kept);
}

absl::StatusOr<RankLog> DumpReader::Run() {
  if (data_.root().kind() != PlainData::kDict) return Bad("(all)", "expected the dictionary of a dump");
  log_.shared_clock = true;
  absl::string_view name = log_.file;
  name = name.substr(name.rfind('/') + 1);
  for (const absl::string_view ending : {".json", ".pickle", ".pkl"}) absl::ConsumeSuffix(&name, ending);
  size_t digits = name.size();
  while (digits > 0 && absl::ascii_isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
  if (!absl::SimpleAtoi(name.substr(digits), &log_.rank) || log_.rank >= kMostMembers) {
    return absl::InvalidArgumentError(absl::StrCat(
        log_.file,
        ": a dump of the Flight Recorder does not contain its rank; expected a name that ends in it, as "
        "PyTorch names it: nccl_trace_rank_7"));
  }
  RETURN_IF_ERROR(Version());
  RETURN_IF_ERROR(FindGroups());
  const Value* entries = data_.Find(data_.root(), "entries");
  if (entries != nullptr) {
    if (entries->kind() != PlainData::kList) return Bad("entries", "expected a list");
    for (const uint32_t i : data_.items(*entries)) {
      ++entry_;
      RETURN_IF_ERROR(Entry(data_.at(i)));
    }
  }
  PlaceInTime();
  log_.Note("calls_not_finished", unfinished_, first_unfinished_,
            absl::StrCat("calls that had not ended when the dump was written, the first is entry ",
                         first_unfinished_, "; left out"));
  log_.Note("calls_unknown", unknown_, 0,
            "calls that are neither a collective nor a message; kept as recorded");
  log_.Note("calls_without_size", sizeless_, 0, "calls without sizes in the dump");
  return std::move(log_);
}

}  // namespace

bool LooksLikeFlightRecorder(absl::string_view head) {
  if (LooksLikePickle(head)) return true;
  if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(head), "{")) return false;
  if (absl::StrContains(head, "\"traceEvents\"") || absl::StrContains(head, "\"distributedInfo\""))
    return false;
  return absl::StrContains(head, "\"collective_seq_id\"") ||
         (absl::StrContains(head, "\"pg_config\"") && absl::StrContains(head, "\"pg_status\""));
}

bool NamedAsFlightRecorder(absl::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  return !name.empty() && absl::ascii_isdigit(static_cast<unsigned char>(name.back())) &&
         !absl::StrContains(name, ".");
}

absl::StatusOr<RankLog> ReadFlightRecorder(absl::string_view content, absl::string_view file) {
  ASSIGN_OR_RETURN(PlainData data, !content.empty() && content[0] == '\x80' ? ReadPickle(content, file)
                                                                            : ReadPlainJson(content, file));
  return DumpReader(std::move(data), file).Run();
}

}  // namespace chakra::collective_logs
