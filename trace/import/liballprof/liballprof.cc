#include "trace/import/liballprof/liballprof.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/et_def.pb.h"
#include "trace/base/status_macros.h"
#include "trace/et/writer.h"

namespace chakra::liballprof {
namespace {

namespace et = ChakraProtoMsg;

// The positions of a call's arguments in the fields between begin and end; -1: the call has no such argument.
struct MpiCall {
  absl::string_view name;
  enum Kind : uint8_t {
    kLocal,
    kSend,
    kRecv,
    kIsend,
    kIrecv,
    kSendrecv,
    kWait,
    kWaitall,
    kCollective
  } kind = kLocal;
  int count = -1, type = -1, peer = -1, tag = -1, comm = -1, request = -1;
  CollectiveType collective = CollectiveType::kAllReduce;
  bool per_rank = false;  // the count is for each rank, not for all together
};
using K = MpiCall;
constexpr MpiCall kCalls[] = {
    {"MPI_Send", K::kSend, 1, 2, 3, 4, 5},
    {"MPI_Rsend", K::kSend, 1, 2, 3, 4, 5},
    {"MPI_Ssend", K::kSend, 1, 2, 3, 4, 5},
    {"MPI_Bsend", K::kSend, 1, 2, 3, 4, 5},
    {"MPI_Isend", K::kIsend, 1, 2, 3, 4, 5, 6},
    {"MPI_Recv", K::kRecv, 1, 2, 3, 4, 5},
    {"MPI_Irecv", K::kIrecv, 1, 2, 3, 4, 5, 6},
    {"MPI_Sendrecv", K::kSendrecv, 1, 2, 3, 4, 10},
    {"MPI_Wait", K::kWait, -1, -1, -1, -1, -1, 0},
    {"MPI_Waitall", K::kWaitall, 0, -1, -1, -1, -1, 1},
    {"MPI_Barrier", K::kCollective, -1, -1, -1, -1, 0, -1, CollectiveType::kBarrier},
    {"MPI_Bcast", K::kCollective, 1, 2, 3, -1, 4, -1, CollectiveType::kBroadcast},
    {"MPI_Reduce", K::kCollective, 2, 3, 5, -1, 6, -1, CollectiveType::kReduce},
    {"MPI_Allreduce", K::kCollective, 2, 3, -1, -1, 5, -1, CollectiveType::kAllReduce},
    {"MPI_Allgather", K::kCollective, 1, 2, -1, -1, 6, -1, CollectiveType::kAllGather},
    {"MPI_Gather", K::kCollective, 1, 2, 6, -1, 7, -1, CollectiveType::kGather},
    {"MPI_Scatter", K::kCollective, 1, 2, 6, -1, 7, -1, CollectiveType::kScatter, true},
    {"MPI_Alltoall", K::kCollective, 1, 2, -1, -1, 6, -1, CollectiveType::kAllToAll, true},
    {"MPI_Init", K::kLocal},
    {"MPI_Init_thread", K::kLocal},
    {"MPI_Initialized", K::kLocal},
    {"MPI_Finalize", K::kLocal},
    {"MPI_Comm_rank", K::kLocal},
    {"MPI_Comm_size", K::kLocal},
    {"MPI_Get_count", K::kLocal},
    {"MPI_Iprobe", K::kLocal},
    {"MPI_Test", K::kLocal},
    {"MPI_Testall", K::kLocal},
    {"MPI_Wtime", K::kLocal},
};
constexpr int64_t kRequestBytes = 8;    // of an MPI_Request in an array, as Schedgen assumes
constexpr double kMostMicros = 3.2e15;  // 100 years

class RankReader {
 public:
  RankReader(absl::string_view text, absl::string_view file, int ranks)
      : text_(text), file_(file), ranks_(ranks) {}
  absl::StatusOr<std::string> Run();

 private:
  absl::Status Fail(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": line ", line_, ": ", what));
  }
  absl::Status Line(absl::string_view line);
  absl::Status Call(const MpiCall& call, const std::vector<absl::string_view>& fields);
  absl::Status Integer(const std::vector<absl::string_view>& fields, int at, int part, int64_t least,
                       int64_t most, absl::string_view what, int64_t* out) const;
  absl::Status Time(absl::string_view field, int64_t* ns) const;
  absl::Status Message(const MpiCall& call, const std::vector<absl::string_view>& fields, int count, int type,
                       int peer, bool send, bool now, uint64_t* node);
  absl::Status Collective(const MpiCall& call, const std::vector<absl::string_view>& fields);
  absl::Status CheckComm(const MpiCall& call, const std::vector<absl::string_view>& fields) const;
  absl::Status Between();
  et::Node* Open(const std::string& name, et::NodeType type);
  absl::Status Close();
  et::AttributeProto* Add(const char* name) { return AddAttribute(name, &node_); }
  void Wait(int64_t request) {
    const auto it = requests_.find(request);
    if (it == requests_.end()) return;  // MPI_REQUEST_NULL
    after_.push_back(it->second);
    requests_.erase(it);
  }

  absl::string_view text_, file_;
  const int ranks_;
  uint32_t line_ = 0;
  std::string frames_;
  EtWriter writer_{&frames_, Compression::kNone};
  et::Node node_;
  uint64_t next_ = 0;
  std::vector<uint64_t> after_;           // nodes that the program's next node waits for
  std::map<int64_t, uint64_t> requests_;  // by request: its node
  int64_t first_ns_ = -1, now_ns_ = 0;  // first_ns_: the file's time at time 0; now_ns_: end of the last call
  int64_t begin_ns_ = 0, end_ns_ = 0;   // of the current call
};

absl::Status RankReader::Integer(const std::vector<absl::string_view>& fields, int at, int part,
                                 int64_t least, int64_t most, absl::string_view what, int64_t* out) const {
  const auto i = static_cast<size_t>(at);
  const std::vector<absl::string_view> parts =
      i < fields.size() ? absl::StrSplit(fields[i], ',') : std::vector<absl::string_view>();
  const auto p = static_cast<size_t>(part);
  if (p >= parts.size() || !absl::SimpleAtoi(parts[p], out) || *out < least || *out > most) {
    return Fail(absl::StrCat(what, " is \"", p < parts.size() ? parts[p] : "", "\", expected an integer of ",
                             least, " to ", most));
  }
  return absl::OkStatus();
}

absl::Status RankReader::Time(absl::string_view field, int64_t* ns) const {
  double micros = 0;
  if (!absl::SimpleAtod(field, &micros) || !(micros >= 0 && micros <= kMostMicros))
    return Fail(absl::StrCat("time \"", field, "\", expected microseconds"));
  *ns = std::llround(micros * 1000);
  return absl::OkStatus();
}

// Begins a node. It waits for the nodes in `after_`: each step of the program waits for the step before.
et::Node* RankReader::Open(const std::string& name, et::NodeType type) {
  node_.Clear();
  node_.set_id(next_++);
  node_.set_name(name);
  node_.set_type(type);
  for (const uint64_t d : after_) node_.add_data_deps(d);
  return &node_;
}

absl::Status RankReader::Close() { return writer_.AddNode(node_); }

// Adds the computation since the last call.
absl::Status RankReader::Between() {
  if (begin_ns_ <= now_ns_) return absl::OkStatus();
  Open("[between calls]", et::COMP_NODE);
  Add("is_cpu_op")->set_bool_val(true);
  Add("tid")->set_int64_val(0);
  Add("start_ns")->set_int64_val(now_ns_);
  Add("duration_ns")->set_int64_val(begin_ns_ - now_ns_);
  after_ = {node_.id()};
  return Close();
}

absl::Status RankReader::CheckComm(const MpiCall& call, const std::vector<absl::string_view>& fields) const {
  int64_t ranks = 0;
  RETURN_IF_ERROR(Integer(fields, call.comm, 2, 1, 1 << 22, "the size of the group", &ranks));
  if (ranks == ranks_) return absl::OkStatus();
  return Fail(absl::StrCat(
      call.name, " on a group of ", ranks, " ranks, but there are ", ranks_,
      ": liballprof does not record which; expected calls of all ranks, and the files of all ranks"));
}

absl::Status RankReader::Message(const MpiCall& call, const std::vector<absl::string_view>& fields, int count,
                                 int type, int peer, bool send, bool now, uint64_t* node) {
  int64_t n = 0, size = 0, other = 0, tag = 0;
  RETURN_IF_ERROR(CheckComm(call, fields));
  RETURN_IF_ERROR(Integer(fields, count, 0, 0, INT32_MAX, "the count", &n));
  RETURN_IF_ERROR(Integer(fields, type, 1, 0, 1 << 24, "the size of the type", &size));
  RETURN_IF_ERROR(Integer(fields, peer, 0, -2, ranks_ - 1, "the other rank", &other));
  RETURN_IF_ERROR(Integer(fields, peer + 1, 0, -2, INT32_MAX, "the tag", &tag));
  if (other < 0 || tag < 0)
    return Fail(absl::StrCat(call.name, ": rank ", other, ", tag ", tag,
                             ": a receive from any rank or tag cannot be matched; expected numbers"));
  Open(std::string(call.name), send ? et::COMM_SEND_NODE : et::COMM_RECV_NODE);
  Add("is_cpu_op")->set_bool_val(true);
  Add("start_ns")->set_int64_val(begin_ns_);
  Add("duration_ns")->set_int64_val(now ? end_ns_ - begin_ns_ : 0);
  Add("comm_size")->set_int64_val(n * size);
  Add(send ? "comm_dst" : "comm_src")->set_int32_val(static_cast<int32_t>(other));
  Add("comm_tag")->set_int32_val(static_cast<int32_t>(tag));
  *node = node_.id();
  return Close();
}

absl::Status RankReader::Collective(const MpiCall& call, const std::vector<absl::string_view>& fields) {
  int64_t n = 0, size = 1, root = -1;
  RETURN_IF_ERROR(CheckComm(call, fields));
  if (call.count >= 0) {
    RETURN_IF_ERROR(Integer(fields, call.count, 0, 0, INT32_MAX, "the count", &n));
    RETURN_IF_ERROR(Integer(fields, call.type, 1, 0, 1 << 24, "the size of the type", &size));
  }
  if (call.peer >= 0) {
    RETURN_IF_ERROR(Integer(fields, call.peer, 0, 0, ranks_ - 1, "the root", &root));
  }
  Open(std::string(call.name), et::COMM_COLL_NODE);
  Add("is_cpu_op")->set_bool_val(true);
  Add("start_ns")->set_int64_val(begin_ns_);
  Add("duration_ns")->set_int64_val(end_ns_ - begin_ns_);
  Add("comm_type")->set_int64_val(static_cast<int64_t>(call.collective));
  Add("comm_size")->set_int64_val(n * size * (call.per_rank ? ranks_ : 1));
  if (root >= 0) Add("root")->set_int32_val(static_cast<int32_t>(root));
  after_ = {node_.id()};
  return Close();
}

absl::Status RankReader::Call(const MpiCall& call, const std::vector<absl::string_view>& fields) {
  uint64_t node = 0, other = 0;
  int64_t request = 0, count = 0;
  switch (call.kind) {
    case K::kLocal:
      return absl::OkStatus();
    case K::kSend:
    case K::kRecv:
      RETURN_IF_ERROR(
          Message(call, fields, call.count, call.type, call.peer, call.kind == K::kSend, true, &node));
      after_ = {node};
      return absl::OkStatus();
    case K::kIsend:
    case K::kIrecv:
      RETURN_IF_ERROR(Integer(fields, call.request, 0, INT64_MIN, INT64_MAX, "the request", &request));
      RETURN_IF_ERROR(
          Message(call, fields, call.count, call.type, call.peer, call.kind == K::kIsend, false, &node));
      requests_[request] = node;
      return absl::OkStatus();
    case K::kSendrecv:
      RETURN_IF_ERROR(Message(call, fields, 1, 2, 3, true, true, &node));
      RETURN_IF_ERROR(Message(call, fields, 6, 7, 8, false, true, &other));
      after_ = {node, other};
      return absl::OkStatus();
    case K::kWait:
      RETURN_IF_ERROR(Integer(fields, call.request, 0, INT64_MIN, INT64_MAX, "the request", &request));
      Wait(request);
      return absl::OkStatus();
    case K::kWaitall:
      RETURN_IF_ERROR(Integer(fields, call.count, 0, 0, 1 << 20, "the count of requests", &count));
      RETURN_IF_ERROR(Integer(fields, call.request, 0, 0, INT64_MAX / 2, "the first request", &request));
      for (int64_t i = 0; i < count; ++i) Wait(request + i * kRequestBytes);
      return absl::OkStatus();
    case K::kCollective:
      return Collective(call, fields);
  }
  return absl::OkStatus();
}

absl::Status RankReader::Line(absl::string_view line) {
  std::vector<absl::string_view> fields = absl::StrSplit(line, ':');
  const absl::string_view name = fields[0];
  const auto call =
      std::find_if(std::begin(kCalls), std::end(kCalls), [&](const MpiCall& c) { return c.name == name; });
  if (call == std::end(kCalls)) {
    return Fail(absl::StrCat(
        "\"", name.substr(0, 32), "\" is not a known call; expected ",
        absl::StrJoin(kCalls, ", ", [](std::string* s, const MpiCall& c) { absl::StrAppend(s, c.name); })));
  }
  if (fields.size() < 3) return Fail("expected a call, its begin, arguments and its end, with : between");
  RETURN_IF_ERROR(Time(fields[1], &begin_ns_));
  RETURN_IF_ERROR(Time(fields.back(), &end_ns_));
  if (end_ns_ < begin_ns_) return Fail("the call ends before it begins");
  if (first_ns_ < 0) {
    // Each file has its own clock. Time 0 is the end of MPI_Init, which all ranks leave together.
    first_ns_ = absl::StartsWith(name, "MPI_Init") ? end_ns_ : begin_ns_;
    now_ns_ = 0;
  }
  begin_ns_ = std::max<int64_t>(0, begin_ns_ - first_ns_);
  end_ns_ = std::max<int64_t>(0, end_ns_ - first_ns_);
  if (call->kind != K::kLocal) {
    RETURN_IF_ERROR(Between());
  } else if (begin_ns_ > now_ns_) {
    return absl::OkStatus();  // its time counts as computation
  }
  const std::vector<absl::string_view> arguments(fields.begin() + 2, fields.end() - 1);
  RETURN_IF_ERROR(Call(*call, arguments));
  if (call->kind != K::kLocal) now_ns_ = std::max(now_ns_, end_ns_);
  return absl::OkStatus();
}

absl::StatusOr<std::string> RankReader::Run() {
  RETURN_IF_ERROR(writer_.AddMetadata(MetadataWith("schema", "liballprof")));
  for (absl::string_view line : absl::StrSplit(text_, '\n')) {
    ++line_;
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty() || line[0] == '#') continue;
    RETURN_IF_ERROR(Line(line));
  }
  if (next_ == 0) return absl::InvalidArgumentError(absl::StrCat(file_, ": no MPI calls that move data"));
  RETURN_IF_ERROR(writer_.Finish());
  return std::move(frames_);
}

}  // namespace

bool LooksLikeLiballprof(absl::string_view head) {
  return absl::StartsWith(head, "# collprof") || absl::StartsWith(head, "# allprof") ||
         absl::StartsWith(head, "MPI_Init") ||
         (absl::StartsWith(head, "#") && absl::StrContains(head, "\nMPI_Init"));
}

absl::StatusOr<std::string> RankFrames(absl::string_view text, absl::string_view file, int ranks) {
  return RankReader(text, file, ranks).Run();
}

}  // namespace chakra::liballprof
