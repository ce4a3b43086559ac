#include "replay/collectives/custom/msccl_xml.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/collectives/custom/msccl_parse.h"
#include "replay/collectives/proof.h"
#include "replay/collectives/registry.h"
#include "replay/collectives/validate.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// The number of messages that a connection of NCCL holds (NCCL_STEPS).
constexpr int kSlots = 8;

// The MSCCL step that a step of the plan was made from.
struct Origin {
  int step;
  int line;
};

using Channel = std::tuple<int, int, int>;  // receiver, sender, channel

// One end of a channel: its thread block, and its messages in order.
struct End {
  int block = -1;
  std::vector<std::pair<int, const msccl::Step*>> steps;  // number in the block
};

class Lowering {
 public:
  Lowering(const msccl::Algo& algo, const std::string& path) : algo_(algo), path_(path) {}

  // Computes sizes, and matches sends with receives.
  absl::Status Prepare() {
    RETURN_IF_ERROR(Sizes());
    return Match();
  }

  // Makes the plan, for calls in place or with separate buffers.
  Plan Lower(bool in_place);

  // Proves the plan. For a rooted collective, finds the root for which the proof holds. Fills `root` and
  // `warnings`.
  absl::Status Prove(const Plan& plan, int* root, std::vector<std::string>* warnings) const;

  void Odd(std::vector<std::string>* warnings) const;

 private:
  int gpus() const { return static_cast<int>(algo_.gpus.size()); }
  absl::Status Sizes();
  absl::Status Match();
  absl::Status Collect(int gpu);
  void LowerBlock(int gpu, int block, Program* program);
  void LowerStep(int gpu, int block, int index, const msccl::Step& step, Program* program) const;
  // The operations of a step, without its await.
  std::vector<StepOp> Ops(int gpu, const msccl::Step& step) const;
  int Published(int gpu, const msccl::Step& step) const;
  void Count(int gpu);
  // The number of steps of the awaited stream that must be done before `step` may run.
  int Awaited(const msccl::Step& step, int published) const {
    return before_[static_cast<size_t>(step.depid)][static_cast<size_t>(published) + 1];
  }
  void Numbers(bool in_place, Plan* plan);
  int Chunk(int gpu, const msccl::Place& place) const {
    return base_[place.buffer] + (place.buffer == own_buffer_ ? gpu * per_member_ : 0) + place.offset;
  }
  absl::Status Bad(int gpu, int block, int step, absl::string_view what) const {
    const msccl::Block& b = algo_.gpus[static_cast<size_t>(gpu)].blocks[static_cast<size_t>(block)];
    return msccl::Error(path_, b.steps[static_cast<size_t>(step)].line, gpu, block, step, what);
  }

  const msccl::Algo& algo_;
  const std::string& path_;
  int in_ = 0, out_ = 0;  // chunks of a member's input and output
  int scratch_ = 0;
  int temporaries_ = 0;  // scratch chunks for rrs, which does not keep its sum
  std::map<Channel, End> senders_, receivers_;
  std::map<Channel, uint16_t> connection_;
  std::vector<uint32_t> connections_;  // by receiver
  // State of the plan that is being made.
  int base_[3] = {0, 0, 0};
  int own_buffer_ = -1;  // in place: the buffer that is a member's own part of the other buffer; -1: none
  int per_member_ = 0;
  int temporary_ = 0;                     // of the current thread block
  std::vector<std::vector<int>> before_;  // of the current GPU: [block][step]: number of steps of the plan
                                          // before this step
  std::vector<std::vector<int>> awaits_;  // [block][step]: the step of depid that is awaited; -1: none
  std::vector<std::vector<std::vector<Origin>>> origins_;  // [gpu][block][step of the stream]
};

absl::Status Lowering::Sizes() {
  using T = CollectiveType;
  const int n = gpus();
  in_ = out_ = algo_.nchunks;
  const bool grows = algo_.type == T::kAllGather || algo_.type == T::kGather;
  const bool shrinks = algo_.type == T::kReduceScatter || algo_.type == T::kScatter;
  if ((grows || shrinks || algo_.type == T::kAllToAll) && algo_.nchunks % n != 0)
    return msccl::Error(
        path_, algo_.line, -1, -1, -1,
        absl::StrCat("nchunksperloop ", algo_.nchunks, "; expected a multiple of ngpus, ", n));
  if (grows) in_ = algo_.nchunks / n;
  if (shrinks) out_ = algo_.nchunks / n;
  for (int g = 0; g < n; ++g) {
    const msccl::Gpu& gpu = algo_.gpus[static_cast<size_t>(g)];
    const auto [input, output, scratch] = gpu.chunks;
    const auto wrong = [&](const char* name, int chunks, int expected) {
      return msccl::Error(path_, gpu.line, g, -1, -1,
                          absl::StrCat(name, " ", chunks, "; expected ", expected,
                                       " or 0, by nchunksperloop ", algo_.nchunks));
    };
    if (input != 0 && input != in_) return wrong("i_chunks", input, in_);
    if (output != 0 && output != out_) return wrong("o_chunks", output, out_);
    scratch_ = std::max(scratch_, scratch);
    int most = 0;
    for (const msccl::Block& block : gpu.blocks) {
      int largest = 0;
      for (const msccl::Step& step : block.steps) {
        if (step.op == msccl::Op::kRecvReduceSend) largest = std::max(largest, step.count);
      }
      most += largest;
    }
    temporaries_ = std::max(temporaries_, most);
  }
  return absl::OkStatus();
}

absl::Status Lowering::Collect(int g) {
  const msccl::Gpu& gpu = algo_.gpus[static_cast<size_t>(g)];
  for (size_t b = 0; b < gpu.blocks.size(); ++b) {
    const msccl::Block& block = gpu.blocks[b];
    for (size_t i = 0; i < block.steps.size(); ++i) {
      const msccl::Step& step = block.steps[i];
      for (const bool send : {true, false}) {
        if (send ? !msccl::Sends(step.op) : !msccl::Receives(step.op)) continue;
        const Channel channel =
            send ? Channel{block.send, g, block.chan} : Channel{g, block.recv, block.chan};
        End& end = (send ? senders_ : receivers_)[channel];
        if (end.block >= 0 && end.block != static_cast<int>(b))
          return Bad(g, static_cast<int>(b), static_cast<int>(i),
                     absl::StrCat(send ? "sends to gpu " : "receives from gpu ",
                                  send ? block.send : block.recv, " on channel ", block.chan, ", as tb ",
                                  end.block, " does; expected one tb for each"));
        end.block = static_cast<int>(b);
        end.steps.push_back({static_cast<int>(i), &step});
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Lowering::Match() {
  for (int g = 0; g < gpus(); ++g) {
    RETURN_IF_ERROR(Collect(g));
  }
  connections_.assign(static_cast<size_t>(gpus()), 0);
  for (const auto& [channel, send] : senders_) {
    const auto [to, from, chan] = channel;
    const auto receiver = receivers_.find(channel);
    const size_t received = receiver == receivers_.end() ? 0 : receiver->second.steps.size();
    for (size_t i = 0; i < std::max(send.steps.size(), received); ++i) {
      if (i >= received)
        return Bad(
            from, send.block, send.steps[i].first,
            absl::StrCat("message ", i, " to gpu ", to, " on channel ", chan, ", which receives ", received));
      const auto& [at, step] = receiver->second.steps[i];
      if (i >= send.steps.size())
        return Bad(to, receiver->second.block, at,
                   absl::StrCat("waits for message ", i, " of gpu ", from, " on channel ", chan,
                                ", which sends ", send.steps.size()));
      const int count = send.steps[i].second->count;
      if (step->count != count)
        return Bad(to, receiver->second.block, at,
                   absl::StrCat("cnt ", step->count, "; expected ", count, ", as gpu ", from, ", tb ",
                                send.block, ", step ", send.steps[i].first, " sends"));
    }
    uint32_t& connections = connections_[static_cast<size_t>(to)];
    if (connections > 0xffff)
      return Bad(from, send.block, send.steps[0].first,
                 absl::StrCat("more than 65536 channels reach gpu ", to));
    connection_[channel] = static_cast<uint16_t>(connections++);
  }
  for (const auto& [channel, end] : receivers_) {
    const auto [to, from, chan] = channel;
    if (senders_.count(channel) == 0)
      return Bad(to, end.block, end.steps[0].first,
                 absl::StrCat("nothing on gpu ", from, " sends to gpu ", to, " on channel ", chan));
  }
  return absl::OkStatus();
}

void Lowering::Numbers(bool in_place, Plan* plan) {
  using T = CollectiveType;
  plan->type = algo_.type;
  plan->algorithm = algo_.name;
  plan->members = gpus();
  plan->even = true;
  own_buffer_ = -1;
  const bool by_member = in_ != out_;
  plan->parts = in_;
  if (!in_place) {
    plan->input = {0, in_};
    plan->output = {in_, out_};
    base_[msccl::kInput] = 0;
    base_[msccl::kOutput] = in_;
    base_[msccl::kScratch] = in_ + out_;
  } else {
    if (by_member) {
      own_buffer_ = in_ < out_ ? msccl::kInput : msccl::kOutput;
      per_member_ = std::min(in_, out_);
    }
    if (algo_.type == T::kAllToAll) plan->input = plan->output = {0, in_};
    base_[msccl::kInput] = base_[msccl::kOutput] = 0;
    base_[msccl::kScratch] = std::max(in_, out_);
  }
  plan->chunks = base_[msccl::kScratch] + scratch_ + temporaries_;
}

Plan Lowering::Lower(bool in_place) {
  Plan plan;
  Numbers(in_place, &plan);
  plan.programs.resize(static_cast<size_t>(gpus()));
  origins_.assign(static_cast<size_t>(gpus()), {});
  for (int g = 0; g < gpus(); ++g) {
    const size_t blocks = algo_.gpus[static_cast<size_t>(g)].blocks.size();
    Program& program = plan.programs[static_cast<size_t>(g)];
    program.connections = connections_[static_cast<size_t>(g)];
    origins_[static_cast<size_t>(g)].resize(blocks);
    temporary_ = base_[msccl::kScratch] + scratch_;
    Count(g);
    for (size_t b = 0; b < blocks; ++b) LowerBlock(g, static_cast<int>(b), &program);
  }
  NumberThrough(&plan);
  return plan;
}

void Lowering::LowerBlock(int g, int b, Program* program) {
  const msccl::Block& block = algo_.gpus[static_cast<size_t>(g)].blocks[static_cast<size_t>(b)];
  const auto begin = static_cast<uint32_t>(program->steps.size());
  std::vector<Origin>& origins = origins_[static_cast<size_t>(g)][static_cast<size_t>(b)];
  int largest = 0;
  for (size_t i = 0; i < block.steps.size(); ++i) {
    const msccl::Step& step = block.steps[i];
    LowerStep(g, b, static_cast<int>(i), step, program);
    if (step.op == msccl::Op::kRecvReduceSend) largest = std::max(largest, step.count);
    origins.resize(program->steps.size() - begin, {static_cast<int>(i), step.line});
  }
  temporary_ += largest;
  program->streams.push_back({begin, static_cast<uint32_t>(program->steps.size())});
}

std::vector<StepOp> Lowering::Ops(int g, const msccl::Step& step) const {
  using Op = msccl::Op;
  const bool same = Chunk(g, step.src) == Chunk(g, step.dst);
  switch (step.op) {
    case Op::kSend:
      return {StepOp::kSendWait};
    case Op::kRecv:
      return {StepOp::kRecv};
    case Op::kRecvCopySend:
      return {StepOp::kRecv, StepOp::kSendWait};
    case Op::kRecvReduceSend:
      return {StepOp::kRecv, StepOp::kReduce, StepOp::kSendWait};
    case Op::kRecvReduceCopy:
      return same ? std::vector{StepOp::kRecvReduce} : std::vector{StepOp::kRecv, StepOp::kReduce};
    case Op::kRecvReduceCopySend:
      return same ? std::vector{StepOp::kRecvReduce, StepOp::kSendWait}
                  : std::vector{StepOp::kRecv, StepOp::kReduce, StepOp::kSendWait};
    case Op::kCopy:  // in place, a copy from input to output may vanish
      return same ? std::vector<StepOp>{} : std::vector{StepOp::kCopy};
    case Op::kReduce:
      return {StepOp::kReduce};
    case Op::kNop:
      break;
  }
  return {};
}

// The first step, from the one that `step` waits for on, that publishes the block's progress (hasdep).
int Lowering::Published(int g, const msccl::Step& step) const {
  const msccl::Block& other = algo_.gpus[static_cast<size_t>(g)].blocks[static_cast<size_t>(step.depid)];
  int published = step.deps;
  while (!other.steps[static_cast<size_t>(published)].hasdep) ++published;
  return published;
}

// Fills before_. Awaits of steps that become no operation are dropped.
void Lowering::Count(int g) {
  const std::vector<msccl::Block>& blocks = algo_.gpus[static_cast<size_t>(g)].blocks;
  before_.assign(blocks.size(), {});
  awaits_.assign(blocks.size(), {});
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const msccl::Step& step : blocks[b].steps) {
      const bool other = step.depid >= 0 && step.depid != static_cast<int>(b);
      awaits_[b].push_back(other ? Published(g, step) : -1);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 0; b < blocks.size(); ++b) {
      before_[b].assign(1, 0);
      for (size_t i = 0; i < blocks[b].steps.size(); ++i) {
        const int ops = static_cast<int>(Ops(g, blocks[b].steps[i]).size());
        before_[b].push_back(before_[b].back() + ops + (awaits_[b][i] >= 0 ? 1 : 0));
      }
    }
    for (size_t b = 0; b < blocks.size(); ++b) {
      for (size_t i = 0; i < blocks[b].steps.size(); ++i) {
        if (awaits_[b][i] < 0 || Awaited(blocks[b].steps[i], awaits_[b][i]) > 0) continue;
        awaits_[b][i] = -1;
        changed = true;
      }
    }
  }
}

void Lowering::LowerStep(int g, int b, int index, const msccl::Step& step, Program* program) const {
  if (const int published = awaits_[static_cast<size_t>(b)][static_cast<size_t>(index)]; published >= 0)
    program->steps.push_back({StepOp::kAwait, 0, step.depid, Awaited(step, published), 0});
  const msccl::Block& block = algo_.gpus[static_cast<size_t>(g)].blocks[static_cast<size_t>(b)];
  const bool keeps = step.op != msccl::Op::kRecvReduceSend;
  const int src = Chunk(g, step.src);
  const int dst = keeps ? Chunk(g, step.dst) : temporary_;
  for (const StepOp op : Ops(g, step)) {
    uint16_t connection = 0;
    int peer = src;
    int chunk = dst;
    if (IsSend(op)) {
      connection = connection_.at(Channel{block.send, g, block.chan});
      peer = block.send;
      if (step.op == msccl::Op::kSend) chunk = src;
    } else if (IsReceive(op)) {
      connection = connection_.at(Channel{g, block.recv, block.chan});
      peer = block.recv;
    }
    program->steps.push_back({op, connection, peer, chunk, step.count});
  }
}

absl::Status Lowering::Prove(const Plan& plan, int* root, std::vector<std::string>* warnings) const {
  absl::Status first;
  const int roots = IsRooted(plan.type) ? plan.members : 1;
  PlanFault fault;
  for (*root = 0; *root < roots; ++*root) {
    PlanFault at;
    const absl::Status proved = ProvePlan(plan, {.root = *root}, &at);
    if (proved.ok()) {
      const absl::Status bounded =
          ProvePlan(plan, {.root = *root, .in_flight = kSlots, .data = false}, nullptr);
      if (!bounded.ok()) {
        warnings->push_back(absl::StrCat(path_, ": where a connection holds ", kSlots,
                                         " messages only: ", std::string(bounded.message())));
      }
      return absl::OkStatus();
    }
    if (*root > 0) continue;
    first = proved;
    fault = at;
  }
  if (fault.step < 0) return msccl::Error(path_, algo_.line, fault.node, -1, -1, first.message());
  const Origin& origin = origins_[static_cast<size_t>(fault.node)][static_cast<size_t>(fault.stream)]
                                 [static_cast<size_t>(fault.step)];
  return msccl::Error(path_, origin.line, fault.node, fault.stream, origin.step, first.message());
}

void Lowering::Odd(std::vector<std::string>* warnings) const {
  for (int g = 0; g < gpus(); ++g) {
    const msccl::Gpu& gpu = algo_.gpus[static_cast<size_t>(g)];
    for (size_t b = 0; b < gpu.blocks.size(); ++b) {
      for (size_t i = 0; i < gpu.blocks[b].steps.size(); ++i) {
        const msccl::Step& step = gpu.blocks[b].steps[i];
        if (step.op != msccl::Op::kRecvReduceCopy && step.op != msccl::Op::kRecvReduceCopySend) continue;
        if (step.src.buffer == step.dst.buffer && step.src.offset == step.dst.offset) continue;
        warnings->push_back(absl::StrCat(
            path_, ":", step.line, ": gpu ", g, ", tb ", b, ", step ", i, ": ",
            std::string(msccl::kOpNames[static_cast<size_t>(step.op)]),
            " with different source and destination: run as the runtime does, which adds the local source"));
      }
    }
  }
}

}  // namespace

absl::StatusOr<CustomProgram> ReadMscclXml(absl::string_view text, const std::string& path) {
  ASSIGN_OR_RETURN(msccl::Algo algo, msccl::Parse(text, path));
  Lowering lowering(algo, path);
  RETURN_IF_ERROR(lowering.Prepare());
  CustomProgram program;
  program.name = algo.name;
  program.source = path;
  program.type = algo.type;
  program.protocol = algo.proto;
  program.channels = algo.nchannels;
  program.min_bytes = algo.min_bytes;
  program.max_bytes = algo.max_bytes;
  program.in_place = algo.in_place;
  program.out_of_place = algo.out_of_place;
  for (const bool in_place : {true, false}) {
    if (in_place ? !algo.in_place : !algo.out_of_place) continue;
    Plan plan = lowering.Lower(in_place);
    program.warnings.clear();
    RETURN_IF_ERROR(lowering.Prove(plan, &program.root, &program.warnings));
    program.plan = std::move(plan);
  }
  lowering.Odd(&program.warnings);
  return program;
}

}  // namespace chakra
