// A plan: a collective as data. Each member has streams of sends, receives and reductions on ranges of
// chunks. The form is that of MSCCL, so plans from files need no special treatment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

enum class StepOp : uint8_t {
  kSend,        // starts a message and continues
  kSendWait,    // starts a message and waits until its last byte has left
  kRecv,        // waits for a message
  kRecvReduce,  // waits for a message and adds it to the chunks
  // Like kRecvReduce, but continues when half is added, the half that is sent on next. The other half is
  // added in parallel with the next steps.
  kRecvReduceHalf,
  kRecvReduceBeside,  // like kRecvReduce, but continues at once; all is added in parallel with the next steps
  kCopy,              // local: copies chunks [peer, peer + count) to [chunk, chunk + count)
  kReduce,            // local: adds chunks [peer, peer + count) to [chunk, chunk + count)
  // Waits until stream `peer` of the same node has done its first `chunk` steps. If `chunk` is one more than
  // the number of steps: until the stream has ended.
  kAwait,
};

inline bool IsSend(StepOp op) { return op == StepOp::kSend || op == StepOp::kSendWait; }
inline bool IsReceive(StepOp op) { return op >= StepOp::kRecv && op <= StepOp::kRecvReduceBeside; }
inline bool IsReduction(StepOp op) { return op >= StepOp::kRecvReduce && op <= StepOp::kRecvReduceBeside; }

// Chunk c of a plan of n chunks over B bytes holds bytes [c*B/n, (c+1)*B/n).
struct Step {
  Step() = default;
  Step(StepOp what, uint16_t on, int32_t with, int32_t first, int32_t chunks, uint8_t runs = 0)
      : op(what), pattern(runs), connection(on), peer(with), chunk(first), count(chunks) {}
  StepOp op = StepOp::kSend;
  uint8_t pattern = 0;      // 0: chunks are consecutive; else 1 + an index into Plan::patterns
  uint16_t connection = 0;  // dense index among the receiver's incoming connections
  int32_t peer = 0;         // a node, or as StepOp says; in a rotational plan: offset from the member, in [0,
                            // members)
  int32_t chunk = 0;        // first chunk; in a rotational plan: offset, see ChunkOf()
  int32_t count = 0;        // chunks
};

// The arrangement of a message's chunks: runs of `run` chunks that are `unit` apart; runs begin `step` apart.
struct ChunkPattern {
  int32_t run = 1;
  int32_t unit = 1;
  int32_t step = 1;
  bool operator==(const ChunkPattern&) const = default;
};

// The steps of a stream run in order. The streams of a node run in parallel.
struct Stream {
  uint32_t begin = 0;  // in Program::steps
  uint32_t end = 0;
};

struct Program {
  std::vector<Stream> streams;
  std::vector<Step> steps;
  uint32_t connections = 0;  // incoming
};

// A loop: a stream whose steps repeat on other chunks each time. Step i is step i % period of the loop, with
// a chunk that is i / period times `move` higher.
struct LoopStep {
  Step step;
  int32_t move = 0;
};

struct StreamLoop {
  uint32_t begin = 0;   // in Plan::loop_steps
  uint32_t period = 0;  // 0: the stream has no loop
};

// Chunks [first, first + count) of every member.
struct Region {
  int first = 0;
  int count = 0;
};

// A switch that takes part in a plan: the switch on the path between members a and b.
struct PlanSwitch {
  int a = 0;
  int b = 0;
};

// The nodes of a plan are its members, numbered [0, members) by their position in the group, followed by its
// switches, [members, members + switches.size()). Each has a program. A switch begins without data and need
// not end with any.
struct Plan {
  CollectiveType type = CollectiveType::kAllReduce;
  std::string algorithm;
  int members = 0;
  int chunks = 1;
  // True: every member runs programs[0], with peers and chunks relative to itself. False: node m runs
  // programs[m].
  bool rotational = false;
  // True: no member can end before every member has begun.
  bool synchronizing = false;
  // True: each chunk has B bytes (all-gather: B for each member). False: B is cut into chunks.
  bool chunk_is_whole = false;
  // The number of chunks that B is cut into; 0: `chunks`. Chunk c is as large as chunk c % parts, so that
  // input, output and scratch can follow one another.
  int parts = 0;
  // True: the plan serves only sizes that are multiples of `parts`. All chunks are then equally large, and
  // data may move between any two chunks.
  bool even = false;
  // The regions of a member's input and output, for plans that do not work in place. Both empty: the plan
  // works in place, on blocks in the collective's order from chunk 0 on; later chunks are scratch.
  //   all_reduce, reduce, broadcast: k chunks each; all_gather, gather: input k,
  //   output n k by member; reduce_scatter, scatter: input n k, output k;
  //   all_to_all: n k each, input by destination, output by source.
  Region input;
  Region output;
  std::vector<Program> programs;
  std::vector<PlanSwitch> switches;
  std::vector<ChunkPattern> patterns;  // of sends and receives; empty in rotational plans

  // Derived by NumberThrough(): the first stream and the first incoming connection of each node, numbered
  // over all nodes. nodes() + 1 entries.
  std::vector<uint32_t> stream_base;
  std::vector<uint32_t> connection_base;
  bool has_local_steps = false;  // derived: some step is a kCopy, kReduce or kAwait
  // Derived: the loops of all streams, numbered over all nodes, if loops are a small part of the steps. They
  // repeat what `programs` says in a compact form, for code that runs many streams alternately.
  std::vector<StreamLoop> loops;  // empty: none
  std::vector<LoopStep> loop_steps;

  int nodes() const { return members + static_cast<int>(switches.size()); }
  const Program& program(int member) const { return programs[rotational ? 0 : member]; }
};

inline uint64_t ChunkBytes(const Plan& plan, uint64_t bytes, int first, int count) {
  if (plan.chunk_is_whole) return bytes * static_cast<uint64_t>(count);
  if (plan.parts > 0) first %= plan.parts;
  const auto n = static_cast<unsigned __int128>(plan.parts > 0 ? plan.parts : plan.chunks);
  const auto at = [&](int c) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * static_cast<unsigned>(c) / n);
  };
  return at(first + count) - at(first);
}

// The distance from the first chunk of a step to its chunk i.
inline int PatternOffset(const Plan& plan, uint8_t pattern, int i) {
  if (pattern == 0) return i;
  const ChunkPattern& p = plan.patterns[pattern - size_t{1}];
  return i / p.run * p.step + i % p.run * p.unit;
}

// The absolute chunk that `chunk` denotes in a step of `node`. In a rotational plan with k chunks for each
// member: (chunk + k * node) modulo the number of chunks.
inline int ChunkOf(const Plan& plan, int node, int chunk) {
  if (!plan.rotational) return chunk;
  const int64_t each = plan.chunks / plan.members;
  return static_cast<int>((int64_t{chunk} + each * node) % plan.chunks);
}

// The bytes of a step of `node` in a call on `bytes`.
inline uint64_t StepBytesOf(const Plan& plan, uint64_t bytes, int node, const Step& step) {
  const int first = ChunkOf(plan, node, step.chunk);
  if (step.pattern == 0 || plan.chunk_is_whole) return ChunkBytes(plan, bytes, first, step.count);
  uint64_t sum = 0;
  for (int i = 0; i < step.count; ++i)
    sum += ChunkBytes(plan, bytes, first + PatternOffset(plan, step.pattern, i), 1);
  return sum;
}

// Whether a send begins together with the previous step of its stream, `before` (null: none). A library that
// starts several messages at once pays for its step once.
inline bool SharesStep(const Step* before) { return before != nullptr && before->op == StepOp::kSend; }

}  // namespace chakra
