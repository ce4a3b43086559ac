#include "trace/import/collective_logs/inspector.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "simdjson.h"
#include "trace/base/status_macros.h"
#include "trace/import/collective_logs/line_template.h"
#include "trace/import/collective_logs/object_lines.h"

namespace chakra::collective_logs {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

absl::string_view Text(std::string_view s) { return {s.data(), s.size()}; }

// Roles of the numbers in a line.
enum Role { kSequence, kBytes, kMicros, kMade, kBegan, kStopped };

// Returns the role of a number by its path, such as "coll_perf.coll_sn".
int RoleOf(absl::string_view path) {
  if (path == "metadata.dump_timestamp_us") return LineTemplate::kIgnored;
  const absl::string_view prefix = absl::StartsWith(path, "p2p") ? "p2p" : "coll";
  if (!absl::ConsumePrefix(&path, prefix) || !absl::ConsumePrefix(&path, "_perf."))
    return LineTemplate::kFixed;
  if (absl::StartsWith(path, "event_trace_sn.")) return LineTemplate::kIgnored;
  if (absl::ConsumePrefix(&path, "event_trace_ts.kernel_events[].")) {
    if (path == "kernel_start_ts") return kBegan;
    if (path == "kernel_stop_ts") return kStopped;
    return path == "channel_id" || path == "kernel_record_ts" ? LineTemplate::kIgnored : LineTemplate::kFixed;
  }
  const bool trace = absl::ConsumePrefix(&path, "event_trace_ts.");
  if (!absl::ConsumePrefix(&path, prefix)) return LineTemplate::kFixed;
  if (trace)
    return path == "_start_ts" ? kMade : path == "_stop_ts" ? LineTemplate::kIgnored : LineTemplate::kFixed;
  if (path == "_sn") return kSequence;
  if (path == "_msg_size_bytes") return kBytes;
  if (path == "_exec_time_us") return kMicros;
  return path == "_algobw_gbs" || path == "_busbw_gbs" ? LineTemplate::kIgnored : LineTemplate::kFixed;
}

constexpr int64_t kMostMicros = kMostStartNs / 1000;

// A line that was read, and the template of similar lines.
struct KnownLine {
  LineTemplate like;
  LogCall call;        // of the line; similar lines differ only in numbers and times
  uint64_t times = 1;  // by which the byte count in the line is multiplied
  size_t next = 0;     // the known line that followed this one last time
};
constexpr size_t kMostKnown = 64;

class InspectorReader {
 public:
  InspectorReader(absl::string_view content, absl::string_view file) : content_(content) {
    log_.file = std::string(file);
  }
  absl::Status Run(std::vector<RankLog>* out);

 private:
  absl::Status Bad(absl::string_view field, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(log_.file, ": line ", line_, field.empty() ? "" : ", field ", field, ": ", what));
  }
  absl::Status Line(absl::string_view line);
  absl::Status Fields(const object& line);
  absl::Status Integer(const object& o, const char* name, int64_t least, int64_t most, int64_t* out) const;
  absl::Status String(const object& o, const char* name, absl::string_view* out) const;
  absl::Status Header(const object& header, uint32_t* comm);
  absl::Status Process(const object& metadata);
  absl::Status Call(const object& perf, bool p2p, uint32_t comm);
  absl::Status Kind(const object& perf, const std::string& prefix, int64_t members, LogCall* call);
  absl::Status Trace(const object& perf, LogCall* call);
  absl::Status Split(std::vector<RankLog>* out);
  void Learn(absl::string_view line, size_t calls_before);
  bool ReadKnown(absl::string_view text, size_t* length);
  bool CallOf(const KnownLine& known, LogCall* call);
  void Place(int64_t first, int64_t last, LogCall* call);
  void Add(const LogCall& call);

  absl::string_view content_;
  simdjson::dom::parser parser_;
  RankLog log_;
  uint32_t line_ = 0;
  std::string last_id_;  // of the line before, and its communicator
  int64_t last_member_ = -1;
  uint32_t last_comm_ = 0;
  std::map<std::pair<std::string, int64_t>, uint32_t> comm_of_;
  std::vector<KnownLine> known_;
  size_t last_known_ = 0;
  std::vector<int64_t> values_;
  uint64_t dropped_ = 0, untimed_ = 0, by_host_ = 0;
};

absl::Status InspectorReader::Integer(const object& o, const char* name, int64_t least, int64_t most,
                                      int64_t* out) const {
  element e;
  if (o[name].get(e) != simdjson::SUCCESS) return Bad(name, "missing; expected an integer");
  if (e.get(*out) != simdjson::SUCCESS)
    return Bad(name, absl::StrCat("expected an integer of ", least, " to ", most));
  if (*out < least || *out > most) return Bad(name, absl::StrCat(*out, ", expected ", least, " to ", most));
  return absl::OkStatus();
}

absl::Status InspectorReader::String(const object& o, const char* name, absl::string_view* out) const {
  std::string_view text;
  if (o[name].get(text) != simdjson::SUCCESS) return Bad(name, "missing; expected text");
  *out = Text(text);
  return absl::OkStatus();
}

// Finds the communicator of the line. Most lines have that of the line before.
absl::Status InspectorReader::Header(const object& header, uint32_t* comm) {
  absl::string_view id, name;
  int64_t member = 0, size = 0;
  RETURN_IF_ERROR(String(header, "id", &id));
  RETURN_IF_ERROR(Integer(header, "n_ranks", 1, 1 << 22, &size));
  RETURN_IF_ERROR(Integer(header, "rank", 0, size - 1, &member));
  if (line_ > 1 && id == last_id_ && member == last_member_ && log_.comms[last_comm_].size == size) {
    *comm = last_comm_;
    return absl::OkStatus();
  }
  const auto [it, fresh] =
      comm_of_.try_emplace({std::string(id), member}, static_cast<uint32_t>(log_.comms.size()));
  if (fresh) {
    LogComm& c = log_.comms.emplace_back();
    c.id = std::string(id);
    if (String(header, "comm_name", &name).ok() && name != "unknown") c.name = std::string(name);
    c.member = static_cast<int>(member);
    c.size = static_cast<int>(size);
  } else if (log_.comms[it->second].size != size) {
    return Bad("n_ranks", absl::StrCat(size, ", but an earlier line says that group ", id, " has ",
                                       log_.comms[it->second].size));
  }
  *comm = last_comm_ = it->second;
  last_id_ = std::string(id);
  last_member_ = member;
  return absl::OkStatus();
}

absl::Status InspectorReader::Process(const object& metadata) {
  absl::string_view version, host;
  RETURN_IF_ERROR(String(metadata, "inspector_output_format_version", &version));
  if (!absl::StartsWith(version, "v4.")) {
    return Bad("inspector_output_format_version",
               absl::StrCat("\"", version, "\", expected v4.x, which NCCL 2.28 and later write"));
  }
  int64_t process = 0;
  RETURN_IF_ERROR(String(metadata, "hostname", &host));
  RETURN_IF_ERROR(Integer(metadata, "pid", 0, INT64_MAX, &process));
  if (log_.process < 0) {
    log_.host = std::string(host);
    log_.process = process;
  } else if (process != log_.process || host != log_.host) {
    return Bad("pid", absl::StrCat("process ", process, " of ", host, ", but the file begins with ",
                                   log_.process, " of ", log_.host, "; expected one process for each file"));
  }
  return absl::OkStatus();
}

absl::Status InspectorReader::Kind(const object& perf, const std::string& prefix, int64_t members,
                                   LogCall* call) {
  absl::string_view name;
  RETURN_IF_ERROR(String(perf, prefix.c_str(), &name));
  int64_t bytes = 0;
  const std::string size = prefix + "_msg_size_bytes";
  RETURN_IF_ERROR(Integer(perf, size.c_str(), 0, int64_t{1} << 56, &bytes));
  NcclCall known;
  if (!FindNcclCall(name, &known)) {
    return Bad(prefix, absl::StrCat("\"", name, "\" is not a call of the Inspector; expected ", kNcclCalls));
  }
  if (known.per_member && bytes > (int64_t{1} << 56) / members)
    return Bad(size, absl::StrCat(bytes, " for each of ", members, " members, expected 2^56 in all at most"));
  call->op = known.op;
  call->bytes = static_cast<uint64_t>(known.per_member ? bytes * members : bytes);
  return absl::OkStatus();
}

// `first`, `last`: when the first channel began and the last one stopped, in microseconds.
void InspectorReader::Place(int64_t first, int64_t last, LogCall* call) {
  call->start_ns = first * 1000;
  log_.device_starts = true;
  call->timed = true;
  // Both times are whole microseconds. If the device measured the duration, that is more exact.
  if (call->timing != Timing::kDevice) call->duration_ns = std::min((last - first) * 1000, kMostDurationNs);
}

void InspectorReader::Add(const LogCall& call) {
  by_host_ += call.timing == Timing::kDevice ? 0 : 1;
  untimed_ += call.timed ? 0 : 1;
  log_.calls.push_back(call);
}

// Sets the start to that of the kernel's first channel, or, without channels, to the host's call.
absl::Status InspectorReader::Trace(const object& perf, LogCall* call) {
  object trace;
  if (perf["event_trace_ts"].get(trace) != simdjson::SUCCESS) return absl::OkStatus();
  int64_t first = INT64_MAX, last = 0;
  simdjson::dom::array channels;
  if (trace["kernel_events"].get(channels) == simdjson::SUCCESS) {
    for (const element& e : channels) {
      object channel;
      int64_t start = 0, stop = 0;
      if (e.get(channel) != simdjson::SUCCESS) return Bad("kernel_events", "expected objects");
      RETURN_IF_ERROR(Integer(channel, "kernel_start_ts", 0, kMostMicros, &start));
      RETURN_IF_ERROR(Integer(channel, "kernel_stop_ts", 0, kMostMicros, &stop));
      if (start == 0 || stop < start) continue;  // the channel was not recorded
      first = std::min(first, start);
      last = std::max(last, stop);
    }
  }
  if (last > 0) {
    Place(first, last, call);
    return absl::OkStatus();
  }
  const char* name = IsCollective(call->op) ? "coll_start_ts" : "p2p_start_ts";
  int64_t made = 0;
  RETURN_IF_ERROR(Integer(trace, name, 0, kMostMicros, &made));
  call->timed = made > 0;
  call->start_ns = made * 1000;
  return absl::OkStatus();
}

absl::Status InspectorReader::Call(const object& perf, bool p2p, uint32_t comm) {
  const std::string prefix = p2p ? "p2p" : "coll";
  const int64_t members = log_.comms[comm].size;
  LogCall call;
  call.line = line_;
  call.comm = comm;
  int64_t sequence = 0, micros = 0, peer = -1;
  RETURN_IF_ERROR(Kind(perf, prefix, members, &call));
  RETURN_IF_ERROR(Integer(perf, (prefix + "_sn").c_str(), 0, INT64_MAX, &sequence));
  RETURN_IF_ERROR(Integer(perf, (prefix + "_exec_time_us").c_str(), 0, kMostDurationNs / 1000, &micros));
  if (p2p) {
    RETURN_IF_ERROR(Integer(perf, "p2p_peer", 0, members - 1, &peer));
    if (peer == log_.comms[comm].member) call.op = kLogUnknown;  // a message to itself is a copy
  }
  call.sequence = static_cast<uint64_t>(sequence);
  call.peer = static_cast<int32_t>(peer);
  call.duration_ns = micros * 1000;
  absl::string_view source;
  const bool device =
      String(perf, (prefix + "_timing_source").c_str(), &source).ok() && source == "kernel_gpu";
  call.timing = device ? Timing::kDevice : Timing::kHost;
  RETURN_IF_ERROR(Trace(perf, &call));
  Add(call);
  return absl::OkStatus();
}

absl::Status InspectorReader::Fields(const object& line) {
  object header, metadata, part;
  if (line["header"].get(header) != simdjson::SUCCESS) return Bad("header", "missing; expected an object");
  if (line["metadata"].get(metadata) != simdjson::SUCCESS)
    return Bad("metadata", "missing; expected an object");
  uint32_t comm = 0;
  RETURN_IF_ERROR(Process(metadata));
  RETURN_IF_ERROR(Header(header, &comm));
  if (line["coll_perf"].get(part) == simdjson::SUCCESS) return Call(part, false, comm);
  if (line["p2p_perf"].get(part) == simdjson::SUCCESS) return Call(part, true, comm);
  if (line["dump_stats"].get(part) == simdjson::SUCCESS) {
    int64_t calls = 0, messages = 0;
    RETURN_IF_ERROR(Integer(part, "coll_dropped_since_last_dump", 0, INT64_MAX / 4, &calls));
    RETURN_IF_ERROR(Integer(part, "p2p_dropped_since_last_dump", 0, INT64_MAX / 4, &messages));
    dropped_ += static_cast<uint64_t>(calls) + static_cast<uint64_t>(messages);
  }
  return absl::OkStatus();  // proxy_perf, and fields of later versions, are no calls
}

absl::Status InspectorReader::Line(absl::string_view line) {
  object fields;
  element root;
  const auto wrong = parser_.parse(line.data(), line.size(), false).get(root);
  if (wrong != simdjson::SUCCESS)
    return Bad("", absl::StrCat("invalid JSON: ", simdjson::error_message(wrong)));
  if (root.get(fields) != simdjson::SUCCESS) return Bad("", "expected an object");
  return Fields(fields);
}

// Divides the log of a process that drives several devices into ranks. Such a process is in each of its
// groups once for each device. Its k-th rank is its k-th lowest member of each group.
absl::Status InspectorReader::Split(std::vector<RankLog>* out) {
  std::map<std::string, std::set<int>> members;
  for (const LogComm& c : log_.comms) members[c.id].insert(c.member);
  size_t ranks = 1;
  for (const auto& [id, of] : members) ranks = std::max(ranks, of.size());
  if (ranks == 1) {
    out->push_back(std::move(log_));
    return absl::OkStatus();
  }
  for (const auto& [id, of] : members) {
    if (of.size() == ranks) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        log_.file, ": one process has ", ranks, " ranks of one group and ", of.size(), " of group ", id,
        ", so that the rank of a call is unknown; expected one device for each process"));
  }
  std::vector<RankLog> logs(ranks);
  std::vector<std::pair<size_t, uint32_t>> to(log_.comms.size());  // rank, and its communicator
  for (size_t i = 0; i < log_.comms.size(); ++i) {
    const std::set<int>& of = members[log_.comms[i].id];
    const auto k = static_cast<size_t>(std::distance(of.begin(), of.find(log_.comms[i].member)));
    to[i] = {k, static_cast<uint32_t>(logs[k].comms.size())};
    logs[k].comms.push_back(log_.comms[i]);
  }
  for (LogCall call : log_.calls) {
    const auto [k, comm] = to[call.comm];
    call.comm = comm;
    logs[k].calls.push_back(call);
  }
  logs[0].repairs = std::move(log_.repairs);
  for (RankLog& l : logs) {
    l.file = log_.file;
    l.host = log_.host;
    l.process = log_.process;
    l.shared_clock = true;
    l.device_starts = log_.device_starts;
    out->push_back(std::move(l));
  }
  return absl::OkStatus();
}

// Makes the call of a line from its numbers, values_. Returns false if a number is out of range or missing.
bool InspectorReader::CallOf(const KnownLine& known, LogCall* call) {
  *call = known.call;
  call->line = line_;
  call->timed = false;
  call->start_ns = 0;
  int64_t first = INT64_MAX, last = 0, made = -1, began = -1;
  int seen[3] = {0, 0, 0};
  for (size_t i = 0; i < values_.size(); ++i) {
    const int64_t v = values_[i];
    switch (known.like.roles()[i]) {
      case kSequence:
        call->sequence = static_cast<uint64_t>(v);
        ++seen[0];
        break;
      case kBytes:
        if (static_cast<uint64_t>(v) > kMostCallBytes / known.times) return false;
        call->bytes = static_cast<uint64_t>(v) * known.times;
        ++seen[1];
        break;
      case kMicros:
        if (v > kMostDurationNs / 1000) return false;
        call->duration_ns = v * 1000;
        ++seen[2];
        break;
      case kMade:
        if (v > kMostMicros || made >= 0) return false;
        made = v;
        break;
      case kBegan:
        if (v > kMostMicros || began >= 0) return false;
        began = v;
        break;
      default:
        if (v > kMostMicros || began < 0) return false;
        if (began > 0 && v >= began) {
          first = std::min(first, began);
          last = std::max(last, v);
        }
        began = -1;
    }
  }
  if (seen[0] != 1 || seen[1] != 1 || seen[2] != 1 || began >= 0) return false;
  if (last > 0) {
    Place(first, last, call);
  } else if (made >= 0) {
    call->timed = made > 0;
    call->start_ns = made * 1000;
  } else if (known.call.timed) {
    return false;
  }
  return true;
}

// Makes a template of a line that had a call, if the template reads the line as the parser did.
void InspectorReader::Learn(absl::string_view line, size_t calls_before) {
  if (log_.calls.size() != calls_before + 1 || known_.size() >= kMostKnown) return;
  std::optional<LineTemplate> like = LineTemplate::Of(line, RoleOf);
  if (!like.has_value()) return;
  KnownLine known{*std::move(like), log_.calls[calls_before], 1, known_.size()};
  values_.resize(known.like.roles().size());
  size_t length = 0;
  if (!known.like.Fits(line, values_.data(), &length)) return;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (known.like.roles()[i] != kBytes) continue;
    if (values_[i] == 0) return;  // 0 bytes do not show the factor
    known.times = known.call.bytes / static_cast<uint64_t>(values_[i]);
  }
  LogCall again;
  if (!CallOf(known, &again)) return;
  const LogCall& first = known.call;
  if (again.bytes != first.bytes || again.sequence != first.sequence || again.timed != first.timed ||
      again.start_ns != first.start_ns || again.duration_ns != first.duration_ns)
    return;
  if (!known_.empty()) known_[last_known_].next = known_.size();
  last_known_ = known_.size();
  known_.push_back(std::move(known));
}

// Reads the line at the begin of `text` by a template, if one fits. Tries first the template that followed
// the last one before.
bool InspectorReader::ReadKnown(absl::string_view text, size_t* length) {
  for (size_t k = 0; k < known_.size(); ++k) {
    const size_t guess = known_[last_known_].next;
    const size_t at = k == 0 ? guess : k - 1 < guess ? k - 1 : k;
    values_.resize(known_[at].like.roles().size());
    LogCall call;
    if (!known_[at].like.Fits(text, values_.data(), length) || !CallOf(known_[at], &call)) continue;
    Add(call);
    known_[last_known_].next = at;
    last_known_ = at;
    return true;
  }
  return false;
}

absl::Status InspectorReader::Run(std::vector<RankLog>* out) {
  log_.shared_clock = true;
  absl::string_view rest = content_;
  while (!rest.empty()) {
    size_t length = 0;
    ++line_;
    if (ReadKnown(rest, &length)) {
      rest.remove_prefix(std::min(rest.size(), length + 1));
      continue;
    }
    const size_t end = rest.find('\n');
    const absl::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? absl::string_view() : rest.substr(end + 1);
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const size_t calls = log_.calls.size();
    absl::Status s = Line(line);
    if (s.ok()) {
      if (calls == 0) log_.calls.Reserve(content_.size() / line.size() + 1);
      Learn(line, calls);
      continue;
    }
    // A process that was killed leaves a part of its last line.
    if (end != absl::string_view::npos || line.back() == '}' || line_ == 1) return s;
    log_.Note("truncated_line", 1, line_,
              absl::StrCat("line ", line_, ", the last one, is cut short; dropped"));
  }
  if (log_.process < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(log_.file, ": no lines of the Inspector; expected JSON objects"));
  log_.Note(
      "calls_dropped", dropped_, 0,
      "calls that the Inspector dropped, because its ring was full; a shorter "
      "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS or a larger NCCL_INSPECTOR_DUMP_COLL_RING_SIZE keeps "
      "them");
  log_.Note("calls_without_start", untimed_, 0,
            "calls without event_trace_ts: their start is unknown; they follow one another without "
            "computation between. NCCL_INSPECTOR_DUMP_VERBOSE=1 records it");
  log_.Note("calls_timed_by_host", by_host_, 0, "calls whose times are those of the host, not of the device");
  return Split(out);
}

}  // namespace

bool LooksLikeInspector(absl::string_view head) {
  return absl::StartsWith(head, "{") && absl::StrContains(head, "\"inspector_output_format_version\"");
}

absl::Status ReadInspector(absl::string_view content, absl::string_view file, std::vector<RankLog>* out) {
  if (GoOverLines(content)) {
    const std::string lines = InOneLineEach(content, simdjson::SIMDJSON_PADDING);
    return InspectorReader(lines, file).Run(out);
  }
  return InspectorReader(content, file).Run(out);
}

}  // namespace chakra::collective_logs
