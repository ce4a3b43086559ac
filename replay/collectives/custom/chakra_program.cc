#include "replay/collectives/custom/chakra_program.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "replay/collectives/custom/msccl_parse.h"
#include "replay/collectives/proof.h"
#include "replay/collectives/registry.h"
#include "replay/collectives/validate.h"
#include "trace/base/status_macros.h"
#include "trace/import/locate.h"
#include "trace/import/reader.h"

namespace chakra {
namespace {

constexpr uint64_t kMaxParts = uint64_t{1} << 28;

class Converter {
 public:
  Converter(const TraceSet& traces, const std::string& prefix, CollectiveType type)
      : traces_(traces), prefix_(prefix), type_(type), n_(static_cast<int>(traces.ranks.size())) {}

  absl::StatusOr<CustomProgram> Run(uint64_t recorded_bytes);

 private:
  using Channel = std::tuple<int, int, int>;  // sender, receiver, tag
  struct Node {
    int rank = 0;
    uint32_t row = 0;
  };
  struct Spot {
    int stream = -1;
    int end = 0;  // number of steps of the stream up to and including this one
    int connection = 0;
    bool adds = false;  // whether this is a receive whose message is reduced
  };

  absl::Status Bad(int rank, uint32_t row, absl::string_view what) const {
    const RankTrace& trace = traces_.ranks[static_cast<size_t>(rank)];
    return absl::InvalidArgumentError(absl::StrCat(DescribeNode(trace, row), ": ", what));
  }
  absl::Status Bad(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(prefix_, ": ", what));
  }
  const Graph& graph(int rank) const { return *traces_.ranks[static_cast<size_t>(rank)].graph; }
  const Peer& peer(int rank, uint32_t row) const {
    return traces_.ranks[static_cast<size_t>(rank)].peers[graph(rank).payload[row]];
  }
  uint64_t bytes(int rank, uint32_t row) const { return graph(rank).comm[graph(rank).payload[row]].bytes; }

  absl::Status Collect(int rank);
  absl::Status Match();
  void AssignStreams(int rank);
  void Connect();
  absl::Status Scale(uint64_t recorded_bytes);
  uint64_t FromXml() const;
  uint64_t Least() const;
  absl::Status Enough() const;
  void Steps(int rank);
  absl::Status Prove() const;

  const TraceSet& traces_;
  const std::string& prefix_;
  CollectiveType type_;
  int n_;
  std::map<Channel, std::vector<Node>> sends_, receives_;
  std::vector<std::vector<Spot>> spots_;                    // [rank][row]
  std::vector<std::vector<std::vector<uint32_t>>> in_;      // [rank][stream]: rows
  std::vector<std::vector<std::vector<uint32_t>>> origin_;  // [rank][stream][step]: row
  std::vector<uint64_t> sent_, received_;                   // by rank: bytes
  uint64_t unit_ = 0;                                       // bytes of a chunk, as recorded
  uint64_t largest_ = 0;                                    // bytes of the largest message
  uint64_t total_ = 0;                                      // bytes of the call, as recorded
  uint64_t unadded_ = 0;                                    // number of COMP nodes that reduce no message
  CustomProgram program_;
};

absl::Status Converter::Collect(int rank) {
  const Graph& g = graph(rank);
  spots_[static_cast<size_t>(rank)].resize(g.size());
  for (const uint32_t row : g.order) {
    const NodeType type = g.type[row];
    if (type == NodeType::kComp) {
      bool adds = false;
      for (uint32_t i = g.dep_begin[row]; i < g.dep_begin[row + 1] && !adds; ++i) {
        Spot& before = spots_[static_cast<size_t>(rank)][g.dep[i]];
        adds = g.type[g.dep[i]] == NodeType::kRecv && !before.adds;
        before.adds = before.adds || adds;
      }
      unadded_ += adds ? 0 : 1;
      continue;
    }
    if (type != NodeType::kSend && type != NodeType::kRecv)
      return Bad(rank, row,
                 absl::StrCat("a ", std::string(Name(type)),
                              "; expected COMM_SEND_NODE, COMM_RECV_NODE or COMP_NODE"));
    const bool send = type == NodeType::kSend;
    const Peer& p = peer(rank, row);
    const int other = send ? p.dst : p.src;
    if (other < 0 || other >= n_ || other == rank)
      return Bad(rank, row,
                 absl::StrCat(send ? "comm_dst " : "comm_src ", other, "; expected one of 0 to ", n_ - 1,
                              " and not itself"));
    if (!g.comm[g.payload[row]].has_bytes) return Bad(rank, row, "no comm_size");
    (send ? sends_ : receives_)[send ? Channel{rank, other, p.tag} : Channel{other, rank, p.tag}].push_back(
        {rank, row});
    uint64_t& moved = (send ? sent_ : received_)[static_cast<size_t>(rank)];
    if (__builtin_add_overflow(moved, bytes(rank, row), &moved))
      return Bad(rank, row, "more than 2^64 bytes up to here");
    unit_ = std::gcd(unit_, bytes(rank, row));
    largest_ = std::max(largest_, bytes(rank, row));
  }
  return absl::OkStatus();
}

absl::Status Converter::Match() {
  for (const auto& [channel, sends] : sends_) {
    const auto [from, to, tag] = channel;
    const auto found = receives_.find(channel);
    const size_t receives = found == receives_.end() ? 0 : found->second.size();
    for (size_t i = 0; i < sends.size(); ++i) {
      if (i >= receives)
        return Bad(
            from, sends[i].row,
            absl::StrCat("message ", i, " to rank ", to, " with tag ", tag, ", which receives ", receives));
      const uint32_t row = found->second[i].row;
      if (bytes(to, row) != bytes(from, sends[i].row))
        return Bad(
            to, row,
            absl::StrCat("comm_size ", bytes(to, row), "; expected ", bytes(from, sends[i].row), ", as ",
                         DescribeNode(traces_.ranks[static_cast<size_t>(from)], sends[i].row), " sends"));
    }
  }
  for (const auto& [channel, receives] : receives_) {
    const auto [from, to, tag] = channel;
    const auto found = sends_.find(channel);
    const size_t sends = found == sends_.end() ? 0 : found->second.size();
    if (receives.size() > sends)
      return Bad(to, receives[sends].row,
                 absl::StrCat("waits for message ", sends, " of rank ", from, " with tag ", tag,
                              ", which sends ", sends));
  }
  return absl::OkStatus();
}

// Streams are chains: a node joins the stream of a dependency that no other node has joined after.
void Converter::AssignStreams(int rank) {
  const Graph& g = graph(rank);
  std::vector<Spot>& spots = spots_[static_cast<size_t>(rank)];
  auto& streams = in_[static_cast<size_t>(rank)];
  for (const uint32_t row : g.order) {
    int stream = -1;
    for (uint32_t i = g.dep_begin[row]; i < g.dep_begin[row + 1]; ++i) {
      const int candidate = spots[g.dep[i]].stream;
      if (streams[static_cast<size_t>(candidate)].back() == g.dep[i]) stream = candidate;
    }
    if (stream < 0) {
      stream = static_cast<int>(streams.size());
      streams.emplace_back();
    }
    streams[static_cast<size_t>(stream)].push_back(row);
    spots[row].stream = stream;
  }
}

// Makes the connections. A connection has one stream at each end.
void Converter::Connect() {
  for (const auto& [channel, sends] : sends_) {
    const auto [from, to, tag] = channel;
    const std::vector<Node>& receives = receives_.at(channel);
    std::map<std::pair<int, int>, int> known;
    for (size_t i = 0; i < sends.size(); ++i) {
      Spot& send = spots_[static_cast<size_t>(from)][sends[i].row];
      Spot& receive = spots_[static_cast<size_t>(to)][receives[i].row];
      uint32_t& connections = program_.plan.programs[static_cast<size_t>(to)].connections;
      const auto [at, fresh] = known.insert({{send.stream, receive.stream}, static_cast<int>(connections)});
      if (fresh) ++connections;
      send.connection = receive.connection = at->second;
    }
  }
}

// The bytes of the recorded call, computed from the MSCCL algorithm in the metadata; 0: not known.
uint64_t Converter::FromXml() const {
  ChakraProtoMsg::GlobalMetadata metadata;
  if (!metadata.ParseFromString(traces_.ranks[0].metadata)) return 0;
  for (const auto& attribute : metadata.attr()) {
    if (attribute.name() != "input_file") continue;
    const absl::StatusOr<msccl::Algo> algo = msccl::Parse(attribute.string_val(), prefix_);
    if (!algo.ok() || algo->gpus.size() != static_cast<size_t>(n_)) return 0;
    uint64_t chunks = 0;
    for (const msccl::Block& block : algo->gpus[0].blocks) {
      for (const msccl::Step& step : block.steps)
        chunks += msccl::Sends(step.op) ? static_cast<uint64_t>(step.count) : 0;
    }
    if (chunks == 0 || sent_[0] % chunks != 0) return 0;
    const uint64_t buffer = sent_[0] / chunks * static_cast<uint64_t>(algo->nchunks);
    const bool grows = algo->type == CollectiveType::kAllGather || algo->type == CollectiveType::kGather;
    return grows ? buffer / static_cast<uint64_t>(n_) : buffer;
  }
  return 0;
}

// The bytes of a call in which the busiest member receives exactly the required minimum (all-reduce: 2 (n -
// 1) / n of the bytes); 0: not known.
uint64_t Converter::Least() const {
  using T = CollectiveType;
  const auto n = static_cast<unsigned __int128>(n_);
  const unsigned __int128 most = *std::max_element(received_.begin(), received_.end());
  unsigned __int128 times = n;
  unsigned __int128 over = n - 1;
  if (type_ == T::kAllReduce) over = 2 * (n - 1);
  if (type_ == T::kAllGather) times = 1;
  const bool known = type_ == T::kAllReduce || type_ == T::kAllGather || type_ == T::kReduceScatter ||
                     type_ == T::kReduceScatterBlock || type_ == T::kAllToAll;
  if (!known || most * times % over != 0) return 0;
  return static_cast<uint64_t>(most * times / over);
}

absl::Status Converter::Scale(uint64_t recorded_bytes) {
  if (unit_ == 0) return Bad("no message carries any bytes");
  total_ = recorded_bytes;
  if (total_ == 0) total_ = FromXml();
  if (total_ == 0 && (total_ = Least()) != 0) {
    program_.warnings.push_back(absl::StrCat(prefix_, ": assumed to be recorded for ", total_,
                                             " bytes, with which no rank ", "receives more than it must"));
  }
  if (total_ == 0) return Bad("does not state its size; give the recorded bytes");
  unit_ = std::gcd(unit_, total_);
  if (std::max(total_, largest_) / unit_ > kMaxParts)
    return Bad(absl::StrCat("messages have only ", unit_, " bytes as common divisor with the ", total_,
                            " bytes recorded; expected at least ", std::max(total_, largest_) / kMaxParts));
  program_.plan.parts = static_cast<int>(total_ / unit_);
  program_.plan.chunks = program_.plan.parts;
  return absl::OkStatus();
}

absl::Status Converter::Enough() const {
  using T = CollectiveType;
  const auto n = static_cast<unsigned __int128>(n_);
  const auto all = static_cast<unsigned __int128>(total_);
  unsigned __int128 in = 0, out = 0;
  switch (type_) {
    case T::kAllReduce:
      in = out = all;
      break;
    case T::kAllGather:
      in = all * (n - 1);
      out = all;
      break;
    case T::kReduceScatter:
    case T::kReduceScatterBlock:
      in = all / n;
      out = all * (n - 1) / n;
      break;
    case T::kAllToAll:
      in = out = all * (n - 1) / n;
      break;
    default:
      return absl::OkStatus();
  }
  for (int r = 0; r < n_; ++r) {
    const uint64_t received = received_[static_cast<size_t>(r)];
    const uint64_t sent = sent_[static_cast<size_t>(r)];
    if (received < in || sent < out)
      return Bad(absl::StrCat("rank ", r, " receives ", received, " and sends ", sent,
                              " bytes; expected at least ", static_cast<uint64_t>(in), " and ",
                              static_cast<uint64_t>(out), " for ", std::string(Name(type_)), " of ", total_));
  }
  return absl::OkStatus();
}

void Converter::Steps(int rank) {
  const Graph& g = graph(rank);
  std::vector<Spot>& spots = spots_[static_cast<size_t>(rank)];
  const auto& streams = in_[static_cast<size_t>(rank)];
  std::vector<std::vector<Step>> steps(streams.size());
  auto& origin = origin_[static_cast<size_t>(rank)];
  origin.resize(streams.size());
  for (const uint32_t row : g.order) {
    Spot& spot = spots[row];
    std::vector<Step>& mine = steps[static_cast<size_t>(spot.stream)];
    std::map<int, int> awaited;  // by stream: number of steps
    for (uint32_t i = g.dep_begin[row]; i < g.dep_begin[row + 1]; ++i) {
      const Spot& before = spots[g.dep[i]];
      if (before.stream == spot.stream || before.end == 0) continue;
      int& most = awaited[before.stream];
      most = std::max(most, before.end);
    }
    for (const auto& [stream, count] : awaited) mine.push_back({StepOp::kAwait, 0, stream, count, 0});
    if (g.type[row] != NodeType::kComp) {
      const bool send = g.type[row] == NodeType::kSend;
      const StepOp op = send ? StepOp::kSendWait : spot.adds ? StepOp::kRecvReduce : StepOp::kRecv;
      const auto chunks = static_cast<int>(bytes(rank, row) / unit_);
      program_.plan.chunks = std::max(program_.plan.chunks, chunks);
      const Peer& p = peer(rank, row);
      mine.push_back({op, static_cast<uint16_t>(spot.connection), send ? p.dst : p.src, 0, chunks});
    }
    spot.end = static_cast<int>(mine.size());
    origin[static_cast<size_t>(spot.stream)].resize(mine.size(), row);
  }
  Program& program = program_.plan.programs[static_cast<size_t>(rank)];
  for (const std::vector<Step>& stream : steps) {
    const auto begin = static_cast<uint32_t>(program.steps.size());
    program.steps.insert(program.steps.end(), stream.begin(), stream.end());
    program.streams.push_back({begin, static_cast<uint32_t>(program.steps.size())});
  }
}

absl::Status Converter::Prove() const {
  PlanFault at;
  const absl::Status proved = ProvePlan(program_.plan, {.data = false}, &at);
  if (proved.ok()) return proved;
  if (at.step < 0) return Bad(std::string(proved.message()));
  const uint32_t row =
      origin_[static_cast<size_t>(at.node)][static_cast<size_t>(at.stream)][static_cast<size_t>(at.step)];
  return Bad(at.node, row, std::string(proved.message()));
}

absl::StatusOr<CustomProgram> Converter::Run(uint64_t recorded_bytes) {
  if (n_ < 2) return Bad(absl::StrCat(n_, " rank; expected at least 2, one file each"));
  const size_t ranks = traces_.ranks.size();
  spots_.resize(ranks);
  in_.resize(ranks);
  origin_.resize(ranks);
  sent_.assign(ranks, 0);
  received_.assign(ranks, 0);
  for (int r = 0; r < n_; ++r) {
    RETURN_IF_ERROR(Collect(r));
  }
  RETURN_IF_ERROR(Match());
  Plan& plan = program_.plan;
  plan.type = type_;
  plan.members = n_;
  plan.even = true;
  plan.programs.resize(ranks);
  RETURN_IF_ERROR(Scale(recorded_bytes));
  RETURN_IF_ERROR(Enough());
  for (int r = 0; r < n_; ++r) AssignStreams(r);
  Connect();
  for (int r = 0; r < n_; ++r) {
    if (plan.programs[static_cast<size_t>(r)].connections > 0x10000)
      return Bad(absl::StrCat("rank ", r, " receives over more than 65536 connections"));
    Steps(r);
  }
  NumberThrough(&plan);
  program_.name = prefix_.substr(prefix_.find_last_of('/') + 1);
  if (program_.name.empty()) program_.name = "traces";
  plan.algorithm = program_.name;
  program_.source = prefix_;
  program_.type = type_;
  RETURN_IF_ERROR(Prove());
  program_.warnings.push_back(absl::StrCat(
      prefix_,
      ": traces do not state which data a message carries: matching, order and bytes are checked, not that ",
      "the result is that of ", std::string(Name(type_))));
  if (unadded_ > 0) {
    program_.warnings.push_back(
        absl::StrCat(prefix_, ": ", unadded_,
                     " COMP nodes depend on no receive of their own; their time is not replayed"));
  }
  return std::move(program_);
}

}  // namespace

absl::StatusOr<CustomProgram> ReadChakraProgram(const std::string& prefix, CollectiveType type,
                                                uint64_t recorded_bytes) {
  ASSIGN_OR_RETURN(const TraceSet traces, ReadTraceSet({prefix}, {}));
  return Converter(traces, prefix, type).Run(recorded_bytes);
}

}  // namespace chakra
