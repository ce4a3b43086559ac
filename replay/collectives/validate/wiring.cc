#include "replay/collectives/validate/wiring.h"

#include "absl/strings/str_cat.h"
#include "replay/collectives/proof.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int64_t kMaxSteps = int64_t{1} << 28;

bool IsLocal(StepOp op) { return op == StepOp::kCopy || op == StepOp::kReduce; }

int Turned(const Plan& plan, int value, int node, int modulus) {
  if (!plan.rotational) return value;
  return static_cast<int>((static_cast<int64_t>(value) + node) % modulus);
}

std::string Chunks(int first, int count) {
  if (count == 1) return absl::StrCat("chunk ", first);
  if (count <= 0) return absl::StrCat(count, " chunks");
  return absl::StrCat("chunks ", first, " to ", static_cast<int64_t>(first) + count - 1);
}

class Checker {
 public:
  Checker(const Plan& plan, Wiring* wiring, PlanFault* fault)
      : plan_(plan), wiring_(*wiring), fault_(fault) {}

  absl::Status Run() {
    RETURN_IF_ERROR(Whole());
    Number();
    for (int node = 0; node < plan_.nodes(); ++node) {
      const Program& program = plan_.program(node);
      for (uint32_t s = 0; s < program.streams.size(); ++s) {
        const Stream& stream = program.streams[s];
        for (uint32_t i = stream.begin; i < stream.end; ++i) {
          at_ = {node, static_cast<int>(s), static_cast<int>(i - stream.begin)};
          RETURN_IF_ERROR(One(program, program.steps[i]));
        }
      }
    }
    return Receivers();
  }

 private:
  absl::Status Bad(absl::string_view what) const { return PlanError(plan_, at_, what, fault_); }

  // Checks the numbers of members, programs, streams and chunks.
  absl::Status Whole() {
    at_ = {};
    if (plan_.members < 1 || plan_.chunks < 1)
      return Bad(absl::StrCat(plan_.members, " members and ", plan_.chunks,
                              " chunks; expected at least one of each"));
    if (plan_.parts < 0) return Bad(absl::StrCat("parts ", plan_.parts, "; expected 0 or more"));
    const size_t expected = plan_.rotational ? 1 : static_cast<size_t>(plan_.nodes());
    if (plan_.rotational && !plan_.switches.empty()) return Bad("a rotational plan has no switches");
    if (plan_.programs.size() != expected)
      return Bad(absl::StrCat(plan_.programs.size(), " programs; expected ", expected));
    for (size_t i = 0; i < plan_.switches.size(); ++i) {
      const PlanSwitch& s = plan_.switches[i];
      if (s.a < 0 || s.b < 0 || s.a >= plan_.members || s.b >= plan_.members || s.a == s.b)
        return Bad(absl::StrCat("switch ", i, " lies between members ", s.a, " and ", s.b,
                                "; expected two of 0 to ", plan_.members - 1));
    }
    int64_t steps = 0;
    for (int node = 0; node < plan_.nodes(); ++node) {
      at_ = {node, -1, -1};
      const Program& program = plan_.program(node);
      uint64_t covered = 0;
      for (const Stream& stream : program.streams) {
        if (stream.begin != covered || stream.end < stream.begin || stream.end > program.steps.size())
          return Bad(absl::StrCat("a stream holds steps [", stream.begin, ", ", stream.end,
                                  ") of the program; expected to begin at ", covered, " and to end by ",
                                  program.steps.size()));
        covered = stream.end;
      }
      if (covered != program.steps.size())
        return Bad(absl::StrCat("steps from ", covered, " on belong to no stream"));
      steps += static_cast<int64_t>(program.steps.size());
    }
    at_ = {};
    if (steps > kMaxSteps) return Bad(absl::StrCat(steps, " steps; at most ", kMaxSteps, " can be checked"));
    return absl::OkStatus();
  }

  void Number() {
    wiring_ = {};
    wiring_.stream_base = {0};
    wiring_.connection_base = {0};
    for (int node = 0; node < plan_.nodes(); ++node) {
      const Program& program = plan_.program(node);
      const auto streams = static_cast<uint32_t>(program.streams.size());
      wiring_.node_of.insert(wiring_.node_of.end(), streams, static_cast<uint32_t>(node));
      wiring_.stream_base.push_back(wiring_.stream_base.back() + streams);
      wiring_.connection_base.push_back(wiring_.connection_base.back() + program.connections);
    }
    wiring_.sender.assign(wiring_.connection_base.back(), kNoStream);
    wiring_.receiver.assign(wiring_.connection_base.back(), kNoStream);
  }

  absl::Status One(const Program& program, const Step& step) {
    if (step.op > StepOp::kAwait) return Bad("no such operation");
    if (step.op == StepOp::kAwait) return Await(program, step);
    const int least = IsLocal(step.op) ? 1 : 0;
    if (step.count < least)
      return Bad(absl::StrCat("a count of ", step.count, "; expected ", least, " or more"));
    RETURN_IF_ERROR(Pattern(step));
    RETURN_IF_ERROR(Range(step.chunk, step.count == 0 ? 0 : LastOf(step) + 1));
    if (IsLocal(step.op)) return Local(step);
    const int peers = plan_.rotational ? plan_.members : plan_.nodes();
    const bool inside = step.peer >= 0 && step.peer < peers;
    if (!inside || Turned(plan_, step.peer, at_.node, plan_.members) == at_.node)
      return Bad(absl::StrCat("peer ", step.peer, "; expected ", plan_.rotational ? 1 : 0, " to ", peers - 1,
                              plan_.rotational ? "" : " and not itself"));
    return Connection(step);
  }

  absl::Status Range(int first, int count) const {
    const bool inside = first >= 0 && first < plan_.chunks;
    const int64_t begin = inside ? ChunkOf(plan_, at_.node, first) : first;
    if (!inside || begin + count > plan_.chunks)
      return Bad(absl::StrCat("chunks ", begin, " to ", begin + count - 1, "; expected within 0 to ",
                              plan_.chunks - 1));
    return absl::OkStatus();
  }

  absl::Status Local(const Step& step) const {
    RETURN_IF_ERROR(Range(step.peer, step.count));
    const int from = ChunkOf(plan_, at_.node, step.peer);
    const int to = ChunkOf(plan_, at_.node, step.chunk);
    if (from < to + step.count && to < from + step.count)
      return Bad("what is read and what is written overlap");
    return absl::OkStatus();
  }

  absl::Status Await(const Program& program, const Step& step) const {
    const auto streams = static_cast<int>(program.streams.size());
    if (step.peer < 0 || step.peer >= streams || step.peer == at_.stream)
      return Bad(absl::StrCat("stream ", step.peer, "; expected another of 0 to ", streams - 1));
    const Stream& other = program.streams[static_cast<size_t>(step.peer)];
    const auto steps = static_cast<int>(other.end - other.begin);
    if (step.chunk < 1 || step.chunk > steps + 1)
      return Bad(absl::StrCat("awaits ", step.chunk, " steps of stream ", step.peer, "; expected 1 to ",
                              steps, ", which it has, or ", steps + 1, " for its end"));
    return absl::OkStatus();
  }

  // The distance of the last chunk of a message from the first: patterns only go upwards.
  int LastOf(const Step& step) const { return PatternOffset(plan_, step.pattern, step.count - 1); }

  absl::Status Pattern(const Step& step) const {
    if (step.pattern == 0) return absl::OkStatus();
    if (plan_.rotational || IsLocal(step.op) || step.pattern > plan_.patterns.size())
      return Bad(
          absl::StrCat("pattern ", int{step.pattern}, " of ", plan_.patterns.size(),
                       "; expected one of them, in a send or a receive of a plan that is not rotational"));
    const ChunkPattern& p = plan_.patterns[step.pattern - size_t{1}];
    if (p.run >= 1 && p.unit >= 1 && p.step > (p.run - 1) * int64_t{p.unit}) return absl::OkStatus();
    return Bad(absl::StrCat("runs of ", p.run, " chunks, ", p.unit, " apart, every ", p.step,
                            "; expected runs that do not meet"));
  }

  absl::Status Connection(const Step& step) {
    const int peer = Turned(plan_, step.peer, at_.node, plan_.members);
    const int at = IsSend(step.op) ? peer : at_.node;
    const uint32_t base = wiring_.connection_base[at];
    const uint32_t connections = wiring_.connection_base[at + 1] - base;
    if (step.connection >= connections)
      return Bad(absl::StrCat("connection ", step.connection, " of ", NodeName(plan_, at), ", which has ",
                              connections));
    uint32_t& owner = (IsSend(step.op) ? wiring_.sender : wiring_.receiver)[base + step.connection];
    const uint32_t me = wiring_.stream_base[at_.node] + static_cast<uint32_t>(at_.stream);
    if (owner == kNoStream) owner = me;
    if (owner == me) return absl::OkStatus();
    const int other = static_cast<int>(wiring_.node_of[owner]);
    return Bad(absl::StrCat("connection ", step.connection, " of ", NodeName(plan_, at),
                            IsSend(step.op) ? " has another sender, " : " is already received from by ",
                            NodeName(plan_, other), ", stream ", owner - wiring_.stream_base[other]));
  }

  // Checks that every receive names the sender of its connection.
  absl::Status Receivers() {
    for (int node = 0; node < plan_.nodes(); ++node) {
      const Program& program = plan_.program(node);
      for (uint32_t s = 0; s < program.streams.size(); ++s) {
        const Stream& stream = program.streams[s];
        for (uint32_t i = stream.begin; i < stream.end; ++i) {
          const Step& step = program.steps[i];
          if (!IsReceive(step.op)) continue;
          at_ = {node, static_cast<int>(s), static_cast<int>(i - stream.begin)};
          const uint32_t sender = wiring_.sender[wiring_.connection_base[node] + step.connection];
          const int peer = Turned(plan_, step.peer, node, plan_.members);
          if (sender == kNoStream)
            return Bad(absl::StrCat("waits for a message that never comes: no step sends on connection ",
                                    step.connection));
          if (static_cast<int>(wiring_.node_of[sender]) != peer)
            return Bad(absl::StrCat("connection ", step.connection, " carries what ",
                                    NodeName(plan_, static_cast<int>(wiring_.node_of[sender])), " sends"));
        }
      }
    }
    return absl::OkStatus();
  }

  const Plan& plan_;
  Wiring& wiring_;
  PlanFault* fault_;
  PlanFault at_;
};

}  // namespace

PlainStep Plain(const Plan& plan, const Wiring& wiring, int node, const Step& step) {
  PlainStep plain;
  plain.op = step.op;
  plain.count = step.count;
  plain.pattern = step.pattern;
  if (step.op == StepOp::kAwait) {
    plain.peer = step.peer;
    plain.chunk = step.chunk;
    return plain;
  }
  plain.chunk = ChunkOf(plan, node, step.chunk);
  if (IsLocal(step.op)) {
    plain.source = ChunkOf(plan, node, step.peer);
    return plain;
  }
  plain.peer = Turned(plan, step.peer, node, plan.members);
  plain.connection = wiring.connection_base[IsSend(step.op) ? plain.peer : node] + step.connection;
  return plain;
}

std::string NodeName(const Plan& plan, int node) {
  if (node < plan.members) return absl::StrCat("member ", node);
  return absl::StrCat("switch ", node - plan.members);
}

std::string StepText(const Plan& plan, int node, const Step& step) {
  const auto chunk = [&](int value) {
    return value < 0 || plan.members < 1 || plan.chunks < 1 ? value : ChunkOf(plan, node, value);
  };
  const int to = step.peer < 0 || plan.members < 1 ? step.peer : Turned(plan, step.peer, node, plan.members);
  const std::string chunks = Chunks(chunk(step.chunk), step.count);
  const std::string peer = NodeName(plan, to);
  const std::string source = Chunks(chunk(step.peer), step.count);
  switch (step.op) {
    case StepOp::kSend:
    case StepOp::kSendWait:
      return absl::StrCat("send ", chunks, " to ", peer);
    case StepOp::kRecv:
      return absl::StrCat("recv ", chunks, " from ", peer);
    case StepOp::kRecvReduce:
    case StepOp::kRecvReduceHalf:
    case StepOp::kRecvReduceBeside:
      return absl::StrCat("recv and add ", chunks, " from ", peer);
    case StepOp::kCopy:
      return absl::StrCat("copy ", source, " to ", chunks);
    case StepOp::kReduce:
      return absl::StrCat("add ", source, " to ", chunks);
    case StepOp::kAwait:
      return absl::StrCat("await ", step.chunk, " steps of stream ", step.peer);
  }
  return "unknown";
}

std::string StepPlace(const Plan& plan, int node, int stream, int index) {
  const Program& program = plan.program(node);
  const Step& step = program.steps[program.streams[stream].begin + static_cast<uint32_t>(index)];
  return absl::StrCat(NodeName(plan, node), ", stream ", stream, ", step ", index, " (",
                      StepText(plan, node, step), ")");
}

absl::Status PlanError(const Plan& plan, const PlanFault& at, absl::string_view what, PlanFault* fault) {
  if (fault != nullptr) *fault = at;
  std::string place;
  if (at.node >= 0) {
    place = absl::StrCat(
        at.step >= 0 ? StepPlace(plan, at.node, at.stream, at.step) : NodeName(plan, at.node), ": ");
  }
  return absl::InvalidArgumentError(absl::StrCat("plan ", plan.algorithm, " for ",
                                                 std::string(Name(plan.type)), " on ", plan.members,
                                                 " members: ", place, what));
}

bool SameSize(const Plan& plan, int a, int b) {
  if (a == b || plan.chunk_is_whole || plan.even) return true;
  // If the place of a block differs between members, its chunks must be equally large for any size of a call.
  const bool by_place = plan.type == CollectiveType::kAllToAll || plan.type == CollectiveType::kScatter ||
                        plan.type == CollectiveType::kReduceScatter ||
                        plan.type == CollectiveType::kReduceScatterBlock;
  if (by_place && plan.output.count > 0) return true;
  return plan.parts > 0 && (a - b) % plan.parts == 0;
}

absl::Status CheckPlan(const Plan& plan, Wiring* wiring, PlanFault* fault) {
  return Checker(plan, wiring, fault).Run();
}

}  // namespace chakra
