#include "trace/import/collective_logs/profiler_plugin.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "simdjson.h"
#include "trace/base/status_macros.h"
#include "trace/import/capture/capture.h"
#include "trace/import/host/json_scan.h"

namespace chakra::collective_logs {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

class PluginReader {
 public:
  PluginReader(absl::string_view content, absl::string_view file) : content_(content) {
    log_.file = std::string(file);
  }
  absl::StatusOr<RankLog> Run();

 private:
  absl::Status Bad(absl::string_view field, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(log_.file, ": byte ", at_, field.empty() ? "" : ", field ", field, ": ", what));
  }
  absl::Status Event(absl::string_view text);
  absl::Status Number(const object& o, const char* name, int64_t least, int64_t most, int64_t* out) const;
  absl::Status Time(const object& event, int64_t* ns) const;
  absl::Status Begin(const object& event, bool p2p);
  absl::Status End(const object& event);
  absl::Status Channel(const object& event, bool begin);
  absl::Status Root(const object& event);

  absl::string_view content_;
  size_t at_ = 0;
  simdjson::dom::parser parser_;
  RankLog log_;
  std::map<std::string, uint32_t> comm_of_;
  std::vector<uint64_t> messages_;  // by row of log_.comms
  bool open_ = false;               // whether a call, `call_`, has begun and not ended
  LogCall call_;
  int64_t root_ = -1;  // of the COLL_API around the call
  int64_t id_ = 0, first_ = 0, last_ = 0;
  uint64_t by_host_ = 0;
};

absl::Status PluginReader::Number(const object& o, const char* name, int64_t least, int64_t most,
                                  int64_t* out) const {
  element e;
  if (o[name].get(e) != simdjson::SUCCESS) return Bad(name, "missing; expected an integer");
  if (e.get(*out) != simdjson::SUCCESS || *out < least || *out > most)
    return Bad(name, absl::StrCat("expected an integer of ", least, " to ", most));
  return absl::OkStatus();
}

absl::Status PluginReader::Time(const object& event, int64_t* ns) const {
  double micros = 0;
  if (event["ts"].get(micros) != simdjson::SUCCESS) return Bad("ts", "missing; expected microseconds");
  constexpr double kMost = static_cast<double>(kMostStartNs / 1000);
  if (!(micros >= 0 && micros <= kMost)) return Bad("ts", absl::StrCat(micros, " us, expected 0 to ", kMost));
  *ns = std::llround(micros * 1000);
  return absl::OkStatus();
}

absl::Status PluginReader::Begin(const object& event, bool p2p) {
  if (open_) return Bad("cat", "a call begins inside a call; expected the end of the first before");
  std::string_view name, type;
  object args;
  uint64_t hash = 0;
  int64_t rank = 0, count = 0, sequence = 0, peer = -1;
  if (event["name"].get(name) != simdjson::SUCCESS) return Bad("name", "missing; expected the call");
  if (event["args"].get(args) != simdjson::SUCCESS)
    return Bad("args", "missing; expected the arguments of the call");
  if (args["CommHash"].get(hash) != simdjson::SUCCESS)
    return Bad("CommHash", "missing; expected the hash of the group");
  RETURN_IF_ERROR(Number(args, "Rank", 0, (1 << 22) - 1, &rank));
  RETURN_IF_ERROR(Number(args, "Count", 0, int64_t{1} << 52, &count));
  if (args["Datatype"].get(type) != simdjson::SUCCESS)
    return Bad("Datatype", "missing; expected \"ncclFloat32\"");
  absl::string_view item(type.data(), type.size());
  absl::ConsumePrefix(&item, "nccl");
  const int bytes = absl::StartsWith(item, "Float8") ? 1 : pytorch::ItemSize(item);
  if (bytes == 0) return Bad("Datatype", absl::StrCat("\"", item, "\" is not a type of NCCL"));
  NcclCall known;
  if (!FindNcclCall({name.data(), name.size()}, &known))
    return Bad("name",
               absl::StrCat("\"", absl::string_view(name.data(), name.size()), "\"; expected ", kNcclCalls));
  if (p2p) {
    RETURN_IF_ERROR(Number(args, "Peer", 0, (1 << 22) - 1, &peer));
    if (peer == rank) known.op = kLogUnknown;
  } else {
    RETURN_IF_ERROR(Number(args, "SeqNum", 0, INT64_MAX, &sequence));
  }
  const std::string id = absl::StrCat("0x", absl::Hex(hash));
  const auto [it, fresh] = comm_of_.try_emplace(id, static_cast<uint32_t>(log_.comms.size()));
  if (fresh) {
    LogComm& c = log_.comms.emplace_back();
    c.id = id;
    c.member = static_cast<int>(rank);
    messages_.push_back(0);
  } else if (log_.comms[it->second].member != rank) {
    return Bad("Rank", absl::StrCat(rank, ", but an earlier call of group ", id, " says ",
                                    log_.comms[it->second].member, "; expected one rank for each file"));
  }
  call_ = LogCall();
  call_.comm = it->second;
  call_.op = known.op;
  call_.bytes = static_cast<uint64_t>(count) * static_cast<uint64_t>(bytes);
  call_.sequence = p2p ? messages_[it->second]++ : static_cast<uint64_t>(sequence);
  call_.peer = static_cast<int32_t>(p2p ? peer : root_);
  call_.line = static_cast<uint32_t>(log_.calls.size() + 1);
  call_.parts = known.per_member;
  first_ = INT64_MAX;
  last_ = -1;
  open_ = true;
  RETURN_IF_ERROR(Number(event, "id", 0, INT32_MAX, &id_));
  return Time(event, &call_.start_ns);
}

absl::Status PluginReader::Channel(const object& event, bool begin) {
  int64_t at = 0;
  std::string_view name;
  if (event["name"].get(name) != simdjson::SUCCESS || name != "KernelCh") return absl::OkStatus();
  RETURN_IF_ERROR(Time(event, &at));
  if (begin) first_ = std::min(first_, at);
  if (!begin) last_ = std::max(last_, at);
  return absl::OkStatus();
}

absl::Status PluginReader::End(const object& event) {
  int64_t id = 0, end = 0;
  if (!open_) return Bad("ph", "a call ends that did not begin");
  RETURN_IF_ERROR(Number(event, "id", 0, INT32_MAX, &id));
  if (id != id_)
    return Bad("id", absl::StrCat(id, " ends inside call ", id_, "; expected its own end before"));
  RETURN_IF_ERROR(Time(event, &end));
  const bool device = last_ >= first_;
  if (device) {
    call_.start_ns = first_;
    end = last_;
  }
  if (end < call_.start_ns) return Bad("ts", "the call ends before it begins");
  if (end - call_.start_ns > kMostDurationNs) return Bad("ts", "a call of more than 10 days");
  call_.duration_ns = end - call_.start_ns;
  call_.timing = device ? Timing::kDevice : Timing::kHost;
  by_host_ += device ? 0 : 1;
  call_.timed = true;
  log_.calls.push_back(call_);
  open_ = false;
  return absl::OkStatus();
}

absl::Status PluginReader::Root(const object& event) {
  object args;
  int64_t root = -1;
  if (event["args"].get(args) == simdjson::SUCCESS && args["root"].get(root) == simdjson::SUCCESS) {
    root_ = root >= 0 && root < (1 << 22) ? root : -1;
  }
  return absl::OkStatus();
}

absl::Status PluginReader::Event(absl::string_view text) {
  element root;
  object event;
  const std::string padded(text);  // simdjson reads past the end of what it parses
  if (const auto e = parser_.parse(padded).get(root)) return Bad("", simdjson::error_message(e));
  if (root.get(event) != simdjson::SUCCESS) return Bad("", "expected an object");
  std::string_view cat, phase;
  if (event["cat"].get(cat) != simdjson::SUCCESS) return absl::OkStatus();  // {} closes the list
  if (event["ph"].get(phase) != simdjson::SUCCESS) return Bad("ph", "missing; expected \"b\" or \"e\"");
  const bool begin = phase == "b";
  if (log_.process < 0) {
    RETURN_IF_ERROR(Number(event, "pid", 0, INT64_MAX, &log_.process));
  }
  if (cat == "COLL" || cat == "P2P") return begin ? Begin(event, cat == "P2P") : End(event);
  if (cat == "GPU" && open_) return Channel(event, begin);
  if (cat == "COLL_API" && begin) return Root(event);
  return absl::OkStatus();
}

absl::StatusOr<RankLog> PluginReader::Run() {
  size_t next = pytorch::SkipSpace(content_, 0);
  if (next == content_.size() || content_[next] != '[')
    return Bad("", "expected a list of events, as NCCL_PROFILE_DUMP_FILE writes it");
  ++next;
  bool cut = false;
  for (;;) {
    next = pytorch::SkipSpace(content_, next);
    if (next < content_.size() && content_[next] == ',') {
      ++next;
      continue;
    }
    at_ = next;
    if (next == content_.size() || content_[next] == ']') break;
    const size_t end = pytorch::SkipValue(content_, next);
    cut = end == absl::string_view::npos;
    if (cut) break;
    RETURN_IF_ERROR(Event(content_.substr(next, end - next)));
    next = end;
  }
  if (log_.process < 0) return Bad("", "no event; expected calls of NCCL");
  cut = cut || open_;
  log_.Note("truncated_log", cut ? 1 : 0, log_.calls.size(),
            "the file ends inside a call; it was read up to the call before");
  log_.Note("calls_timed_by_host", by_host_, 0,
            "calls without KernelCh events: their times are those of the host; NCCL_PROFILE_EVENT_MASK=2047 "
            "records them");
  return std::move(log_);
}

}  // namespace

bool LooksLikeProfilerPlugin(absl::string_view head) {
  const size_t at = pytorch::SkipSpace(head, 0);
  if (at == head.size() || head[at] != '[') return false;
  return absl::StrContains(head, "\"cat\"") &&
         (absl::StrContains(head, "\"GROUP_API\"") || absl::StrContains(head, "\"COLL_API\"") ||
          absl::StrContains(head, "\"P2P_API\"") || absl::StrContains(head, "\"COLL\"") ||
          absl::StrContains(head, "\"P2P\"") || absl::StrContains(head, "\"GROUP\""));
}

absl::StatusOr<RankLog> ReadProfilerPlugin(absl::string_view content, absl::string_view file) {
  return PluginReader(content, file).Run();
}

}  // namespace chakra::collective_logs
