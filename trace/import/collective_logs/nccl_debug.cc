#include "trace/import/collective_logs/nccl_debug.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"

namespace chakra::collective_logs {
namespace {

constexpr absl::string_view kInfo = " NCCL INFO ";
constexpr int kBytesOf[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};  // by ncclDataType_t

using Tokens = std::vector<absl::string_view>;

// Returns the token after `key`; "": there is none.
absl::string_view After(const Tokens& tokens, absl::string_view key) {
  const auto at = std::find(tokens.begin(), tokens.end(), key);
  return at == tokens.end() || at + 1 == tokens.end() ? absl::string_view() : at[1];
}

class DebugReader {
 public:
  DebugReader(absl::string_view file, std::vector<RankLog>* out)
      : file_(file), out_(out), first_(out->size()) {}

  absl::Status Run(absl::string_view content) {
    while (!content.empty()) {
      const size_t end = std::min(content.find('\n'), content.size());
      ++line_;
      RETURN_IF_ERROR(Line(content.substr(0, end)));
      content.remove_prefix(std::min(end + 1, content.size()));
    }
    uint64_t calls = 0;
    for (size_t i = first_; i < out_->size(); ++i) calls += (*out_)[i].calls.size();
    if (calls == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          file_,
          ": NCCL's debug log without a call; expected lines such as \"AllReduce: opCount ...\": set "
          "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL, or record the calls with their times: chakra-replay "
          "record-help nccl"));
    }
    out_->erase(std::remove_if(out_->begin() + static_cast<ptrdiff_t>(first_), out_->end(),
                               [](const RankLog& log) { return log.calls.empty(); }),
                out_->end());
    Chosen();
    return absl::OkStatus();
  }

 private:
  struct Comm {
    size_t log = 0;
    uint32_t row = 0;
    uint64_t collectives = 0, messages = 0;
  };

  absl::Status Bad(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line_, ": ", what));
  }
  absl::Status Line(absl::string_view line);
  absl::Status Init(const std::string& process, const Tokens& t);
  absl::Status Call(const std::string& process, absl::string_view name, const Tokens& t);
  void Chosen();

  absl::string_view file_;
  std::vector<RankLog>* out_;
  size_t first_;
  int line_ = 0;
  std::map<std::pair<std::string, std::string>, Comm> comms_;  // by process and pointer
  std::map<std::string, size_t> logs_;                         // by process and device
  std::map<std::string, int> made_;         // number of communicators of a process, if lines have no ids
  std::map<std::string, uint64_t> chosen_;  // "AllReduce of 1048576 bytes: ring/simple"
};

absl::Status DebugReader::Line(absl::string_view line) {
  const size_t info = line.find(kInfo);
  if (info == line.npos) return absl::OkStatus();
  // "HOST:PID:TID [DEVICE]", after other tags.
  const Tokens before = absl::StrSplit(line.substr(0, info), ' ', absl::SkipEmpty());
  if (before.size() < 2) return absl::OkStatus();
  const std::vector<absl::string_view> parts = absl::StrSplit(before[before.size() - 2], ':');
  if (parts.size() < 3) return absl::OkStatus();
  const std::string process =
      absl::StrCat(parts[parts.size() - 3], ":", parts[parts.size() - 2], " ", before.back());
  const Tokens t =
      absl::StrSplit(line.substr(info + kInfo.size()), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  if (t.empty()) return absl::OkStatus();
  if (absl::StrContains(line, "Init START") || absl::StrContains(line, "Init COMPLETE"))
    return Init(process, t);
  absl::string_view name = t[0];
  if (!absl::ConsumeSuffix(&name, ":")) return absl::OkStatus();
  if (t.size() > 2 && t[1] == "opCount") return Call(process, name, t);
  // "AllReduce: 1048576 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}"; older versions have
  // numbers.
  const absl::string_view algorithm = After(t, "Algo"), protocol = After(t, "proto");
  if (t.size() > 3 && t[2] == "Bytes" && !algorithm.empty())
    ++chosen_[absl::StrCat(name, " of ", t[1], " bytes: ", absl::AsciiStrToLower(algorithm), "/",
                           absl::AsciiStrToLower(protocol))];
  return absl::OkStatus();
}

absl::Status DebugReader::Init(const std::string& process, const Tokens& t) {
  int rank = -1, size = 0;
  const std::string pointer(After(t, "comm"));
  if (pointer.empty() || !absl::SimpleAtoi(After(t, "rank"), &rank) ||
      !absl::SimpleAtoi(After(t, "nranks"), &size))
    return absl::OkStatus();
  if (rank < 0 || size < 1 || rank >= size || size > (1 << 22)) return Bad("a rank that is not in its group");
  const auto key = std::make_pair(process, pointer);
  std::string id(After(t, "commId"));
  if (const auto known = comms_.find(key); known != comms_.end()) {  // the COMPLETE after a START
    const LogComm& c = (*out_)[known->second.log].comms[known->second.row];
    if (c.member == rank && c.size == size && (id.empty() || c.id == id)) return absl::OkStatus();
  }
  if (id.empty()) id = absl::StrCat("communicator ", made_[process]++, " of ", size);
  const auto [log, fresh] = logs_.try_emplace(process, out_->size());
  if (fresh) {
    RankLog& l = out_->emplace_back();
    l.file = std::string(file_);
    l.host = process.substr(0, process.find(':'));
    (void)absl::SimpleAtoi(process.substr(l.host.size() + 1, process.find(' ') - l.host.size() - 1),
                           &l.process);
  }
  std::vector<LogComm>& comms = (*out_)[log->second].comms;
  comms_[key] = {log->second, static_cast<uint32_t>(comms.size())};
  LogComm& c = comms.emplace_back();
  c.id = id;
  c.member = rank;
  c.size = size;
  return absl::OkStatus();
}

absl::Status DebugReader::Call(const std::string& process, absl::string_view name, const Tokens& t) {
  NcclCall known;
  if (!FindNcclCall(name, &known)) return absl::OkStatus();
  uint64_t count = 0;
  size_t type = 0;
  if (!absl::SimpleAtoi(After(t, "count"), &count) || !absl::SimpleAtoi(After(t, "datatype"), &type))
    return Bad("a call without count or datatype");
  if (type >= std::size(kBytesOf) || count > kMostCallBytes / 8)
    return Bad("a datatype or a count that NCCL does not have");
  const auto comm = comms_.find({process, std::string(After(t, "comm"))});
  if (comm == comms_.end()) {
    return Bad(
        absl::StrCat("a call on group ", After(t, "comm"), " of ", process,
                     ": no line gives its rank; expected \"comm ... rank R nranks N ... Init COMPLETE\" "
                     "before: NCCL_DEBUG_SUBSYS=INIT,COLL"));
  }
  RankLog& log = (*out_)[comm->second.log];
  LogCall call;
  call.comm = comm->second.row;
  call.op = known.op;
  call.bytes = count * static_cast<uint64_t>(kBytesOf[type]);
  call.parts = known.per_member;
  call.line = static_cast<uint32_t>(line_);
  call.sequence = IsCollective(known.op) ? comm->second.collectives++ : comm->second.messages++;
  int peer = -1;
  if (absl::SimpleAtoi(After(t, "root"), &peer)) call.peer = peer;
  log.calls.push_back(call);
  return absl::OkStatus();
}

void DebugReader::Chosen() {
  if (chosen_.empty() || first_ == out_->size()) return;
  constexpr size_t kShown = 6;
  std::vector<std::string> texts;
  for (const auto& [text, calls] : chosen_) {
    if (texts.size() < kShown) texts.push_back(text);
  }
  if (chosen_.size() > kShown) texts.push_back("...");
  (*out_)[first_].Note("nccl_choices", chosen_.size(), 0,
                       absl::StrCat("NCCL chose ", absl::StrJoin(texts, ", ")));
}

}  // namespace

bool LooksLikeNcclDebug(absl::string_view head) {
  if (!absl::StrContains(head, kInfo) || absl::StrContains(head, "# nThread") ||
      absl::StrContains(head, "busbw") || absl::StrContains(head, "# Using devices"))
    return false;
  return absl::StrContains(head, "Init START") || absl::StrContains(head, "Init COMPLETE");
}

absl::Status ReadNcclDebug(absl::string_view content, absl::string_view file, std::vector<RankLog>* out) {
  return DebugReader(file, out).Run(content);
}

}  // namespace chakra::collective_logs
