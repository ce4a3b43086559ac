#include "replay/collectives/validate/execution.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr size_t kMaxLosses = 256;
constexpr size_t kMaxReads = size_t{1} << 27;

// The number of steps of `stream` that an await of `chunk` steps requires. An await of the stream's end
// requires all its steps.
uint32_t AwaitedSteps(const Program& program, int stream, int chunk) {
  const Stream& other = program.streams[static_cast<size_t>(stream)];
  return std::min(static_cast<uint32_t>(chunk), other.end - other.begin);
}

}  // namespace

absl::Status Execution::Bad(uint32_t stream, absl::string_view what, const Message* from) const {
  std::string text(what);
  if (from != nullptr) absl::StrAppend(&text, ", sent by ", Text(from->stream, from->step));
  return PlanError(plan_, Place(stream, streams_[stream].next), text, fault_);
}

absl::Status Execution::Begin() {
  barrier_ = plan_.type == CollectiveType::kBarrier;
  streams_.resize(wiring_.node_of.size());
  inbox_.resize(wiring_.sender.size());
  size_t reads = 0;
  for (int node = 0; node < plan_.nodes(); ++node) {
    const Program& program = plan_.program(node);
    const uint32_t base = wiring_.stream_base[node];
    const size_t count = program.streams.size();
    clocks_ = clocks_ || count > 1;
    reads_begin_.push_back(reads);
    reads += static_cast<size_t>(plan_.chunks) * count;
    for (size_t s = 0; s < count; ++s) {
      const Stream& stream = program.streams[s];
      streams_[base + s].steps = stream.end - stream.begin;
      for (uint32_t i = stream.begin; i < stream.end; ++i) {
        const Step& step = program.steps[i];
        if (step.op != StepOp::kAwait) continue;
        streams_[base + static_cast<uint32_t>(step.peer)].awaited.push_back(
            {AwaitedSteps(program, step.peer, step.chunk), {}});
      }
    }
  }
  for (uint32_t s = 0; s < streams_.size(); ++s) Wake(s);
  if (!options_.data) {
    clocks_ = false;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(contents_.Begin(plan_, options_.root, fault_));
  writer_.resize(contents_.cells());
  if (!clocks_) return absl::OkStatus();
  if (reads > kMaxReads) {
    return PlanError(
        plan_, {},
        absl::StrCat(reads, " pairs of a chunk and a stream; at most ", kMaxReads, " can be followed"),
        fault_);
  }
  reads_.resize(reads);
  for (StreamState& stream : streams_) stream.clock.assign(streams_.size(), 0);
  return absl::OkStatus();
}

absl::Status Execution::Run() {
  RETURN_IF_ERROR(Begin());
  while (!ready_.empty()) {
    const uint32_t stream = ready_.front();
    ready_.pop_front();
    streams_[stream].queued = false;
    RETURN_IF_ERROR(RunStream(stream));
  }
  RETURN_IF_ERROR(Waiting());
  RETURN_IF_ERROR(LeftOver());
  return options_.data ? Result() : absl::OkStatus();
}

void Execution::Wake(uint32_t stream) {
  if (streams_[stream].queued) return;
  streams_[stream].queued = true;
  ready_.push_back(stream);
}

absl::Status Execution::RunStream(uint32_t stream) {
  StreamState& state = streams_[stream];
  state.awaits = false;
  while (state.next < state.steps) {
    bool done = true;
    RETURN_IF_ERROR(One(stream, &done));
    if (!done) break;
    AfterStep(stream);
  }
  return absl::OkStatus();
}

void Execution::AfterStep(uint32_t stream) {
  StreamState& state = streams_[stream];
  ++state.next;
  if (clocks_) state.clock[stream] = state.next;
  if (state.awaited.empty()) return;
  for (auto& [step, clock] : state.awaited) {
    if (step == state.next) clock = state.clock;
  }
  const int node = Node(stream);
  for (uint32_t s = wiring_.stream_base[node]; s < wiring_.stream_base[node + 1]; ++s) {
    if (streams_[s].awaits) Wake(s);
  }
}

absl::Status Execution::One(uint32_t stream, bool* done) {
  const int node = Node(stream);
  const Program& program = plan_.program(node);
  const uint32_t begin = program.streams[stream - wiring_.stream_base[node]].begin;
  const PlainStep step = Plain(plan_, wiring_, node, program.steps[begin + streams_[stream].next]);
  if (IsSend(step.op)) return Send(stream, step, done);
  if (IsReceive(step.op)) return Receive(stream, step, done);
  if (step.op == StepOp::kAwait) {
    *done = Await(stream, step);
    return absl::OkStatus();
  }
  return options_.data ? Local(stream, step) : absl::OkStatus();
}

bool Execution::Await(uint32_t stream, const PlainStep& step) {
  const uint32_t other = wiring_.stream_base[Node(stream)] + static_cast<uint32_t>(step.peer);
  const uint32_t steps = AwaitedSteps(plan_.program(Node(stream)), step.peer, step.chunk);
  if (streams_[other].next < steps) {
    streams_[stream].awaits = true;
    return false;
  }
  if (!clocks_) return true;
  for (const auto& [at, clock] : streams_[other].awaited) {
    if (at != steps) continue;
    Clock& mine = streams_[stream].clock;
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = std::max(mine[i], clock[i]);
    break;
  }
  return true;
}

absl::Status Execution::Send(uint32_t stream, const PlainStep& step, bool* done) {
  std::deque<Message>& inbox = inbox_[step.connection];
  if (options_.in_flight > 0 && inbox.size() >= static_cast<size_t>(options_.in_flight)) {
    *done = false;
    return absl::OkStatus();
  }
  Message message;
  message.chunk = step.chunk;
  message.count = step.count;
  message.pattern = step.pattern;
  message.stream = stream;
  message.step = streams_[stream].next;
  if (options_.data) {
    const int node = Node(stream);
    const int first = barrier_ ? 0 : step.chunk;
    const int count = barrier_ ? 1 : step.count;
    for (int i = 0; i < count; ++i) {
      const int c = first + PatternOffset(plan_, step.pattern, i);
      RETURN_IF_ERROR(MayRead(stream, c, "sends"));
      message.block.push_back(contents_.block(node, c));
      const uint64_t* bits = contents_.bits(node, c);
      message.bits.insert(message.bits.end(), bits, bits + contents_.words());
    }
    if (clocks_) {
      message.clock = streams_[stream].clock;
      message.clock[stream] = streams_[stream].next + 1;
    }
  }
  inbox.push_back(std::move(message));
  if (wiring_.receiver[step.connection] != kNoStream) Wake(wiring_.receiver[step.connection]);
  return absl::OkStatus();
}

absl::Status Execution::Receive(uint32_t stream, const PlainStep& step, bool* done) {
  std::deque<Message>& inbox = inbox_[step.connection];
  if (inbox.empty()) {
    *done = false;
    return absl::OkStatus();
  }
  const Message message = std::move(inbox.front());
  inbox.pop_front();
  if (options_.in_flight > 0) Wake(message.stream);
  if (message.count != step.count && !barrier_)
    return Bad(stream, absl::StrCat("receives ", message.count, " chunks, expected ", step.count), &message);
  if (!options_.data) return absl::OkStatus();
  if (clocks_) {
    Clock& mine = streams_[stream].clock;
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = std::max(mine[i], message.clock[i]);
  }
  const auto words = static_cast<size_t>(contents_.words());
  if (barrier_) {
    uint64_t* into = contents_.bits(Node(stream), 0);
    for (size_t w = 0; w < words; ++w) into[w] |= message.bits[w];
    writer_[contents_.Cell(Node(stream), 0)] = {stream, streams_[stream].next};
    return absl::OkStatus();
  }
  for (int c = 0; c < step.count; ++c) {
    const auto i = static_cast<size_t>(c);
    const int sent = message.chunk + PatternOffset(plan_, message.pattern, c);
    const int to = step.chunk + PatternOffset(plan_, step.pattern, c);
    if (!SameSize(plan_, sent, to))
      return Bad(stream,
                 absl::StrCat("receives chunk ", sent, ", expected chunk ", to, " or one of its size"),
                 &message);
    RETURN_IF_ERROR(
        Put(stream, to, IsReduction(step.op), message.block[i], &message.bits[i * words], &message));
  }
  return absl::OkStatus();
}

absl::Status Execution::Local(uint32_t stream, const PlainStep& step) {
  const int node = Node(stream);
  for (int c = 0; c < step.count; ++c) {
    const int from = step.source + c;
    const int to = step.chunk + c;
    if (!SameSize(plan_, from, to))
      return Bad(stream, absl::StrCat("chunk ", from, " and chunk ", to, " may differ in size"));
    RETURN_IF_ERROR(MayRead(stream, from, "reads"));
    const uint64_t* bits = contents_.bits(node, from);
    const MemberBits copy(bits, bits + contents_.words());
    RETURN_IF_ERROR(
        Put(stream, to, step.op == StepOp::kReduce, contents_.block(node, from), copy.data(), nullptr));
  }
  return absl::OkStatus();
}

absl::Status Execution::MayRead(uint32_t stream, int chunk, absl::string_view what) {
  const int node = Node(stream);
  if (contents_.block(node, chunk) == Contents::kNothing)
    return Bad(stream, absl::StrCat(what, " chunk ", chunk, ", which holds nothing yet"));
  if (!clocks_ || barrier_) return absl::OkStatus();
  const Access& write = writer_[contents_.Cell(node, chunk)];
  if (write.stream != kNoStream && write.stream != stream &&
      streams_[stream].clock[write.stream] <= write.step) {
    return Bad(stream, absl::StrCat("may come before or after ", Text(write.stream, write.step),
                                    ", which writes chunk ", chunk));
  }
  const uint32_t base = wiring_.stream_base[node];
  const uint32_t streams = wiring_.stream_base[node + 1] - base;
  reads_[reads_begin_[node] + static_cast<size_t>(chunk) * streams + (stream - base)] =
      streams_[stream].next + 1;
  return absl::OkStatus();
}

absl::Status Execution::MayWrite(uint32_t stream, int chunk) {
  const int node = Node(stream);
  Access& write = writer_[contents_.Cell(node, chunk)];
  if (clocks_ && !contents_.Collects(node, chunk)) {
    const Clock& clock = streams_[stream].clock;
    const uint32_t base = wiring_.stream_base[node];
    const uint32_t streams = wiring_.stream_base[node + 1] - base;
    const uint32_t* reads = &reads_[reads_begin_[node] + static_cast<size_t>(chunk) * streams];
    if (write.stream != kNoStream && write.stream != stream && clock[write.stream] <= write.step)
      return Bad(stream, absl::StrCat("may come before or after ", Text(write.stream, write.step),
                                      ", which writes chunk ", chunk, " too"));
    for (uint32_t s = 0; s < streams; ++s) {
      if (base + s == stream || reads[s] <= clock[base + s]) continue;
      return Bad(stream, absl::StrCat("writes chunk ", chunk, " before or after ",
                                      Text(base + s, reads[s] - 1), " reads it"));
    }
  }
  write = {stream, streams_[stream].next};
  return absl::OkStatus();
}

absl::Status Execution::Put(uint32_t stream, int chunk, bool add, int32_t block, const uint64_t* bits,
                            const Message* from) {
  const int node = Node(stream);
  RETURN_IF_ERROR(MayWrite(stream, chunk));
  uint64_t* into = contents_.bits(node, chunk);
  int32_t& its = contents_.block(node, chunk);
  const auto words = static_cast<size_t>(contents_.words());
  const bool collects = contents_.Collects(node, chunk);
  if (its == Contents::kNothing && add && node < plan_.members)
    return Bad(stream, absl::StrCat("adds to chunk ", chunk, ", which holds nothing yet"), from);
  if (its == Contents::kNothing || (!add && !collects)) {
    bool lost = false;
    for (size_t w = 0; w < words; ++w) lost = lost || (into[w] & ~(its == block ? bits[w] : 0)) != 0;
    if (lost && losses_.size() < kMaxLosses)
      losses_.push_back({stream, streams_[stream].next, its, MemberBits(into, into + words)});
    its = block;
    std::copy(bits, bits + words, into);
    return absl::OkStatus();
  }
  if (its != block) {
    return Bad(stream,
               absl::StrCat(collects ? "receives" : "adds", " block ", block,
                            " of the collective's data, expected block ", its),
               from);
  }
  for (size_t w = 0; w < words; ++w) {
    if (const uint64_t twice = into[w] & bits[w]; twice != 0) {
      const int member = static_cast<int>(w) * 64 + __builtin_ctzll(twice);
      return Bad(stream, absl::StrCat("adds member ", member, "'s data twice"), from);
    }
    into[w] |= bits[w];
  }
  return absl::OkStatus();
}

// The stream for which `stream` waits; kNoStream: no stream can end the wait.
uint32_t Execution::Blocker(uint32_t stream) const {
  const int node = Node(stream);
  const Program& program = plan_.program(node);
  const uint32_t begin = program.streams[stream - wiring_.stream_base[node]].begin;
  const PlainStep step = Plain(plan_, wiring_, node, program.steps[begin + streams_[stream].next]);
  if (step.op == StepOp::kAwait) return wiring_.stream_base[node] + static_cast<uint32_t>(step.peer);
  return IsSend(step.op) ? wiring_.receiver[step.connection] : wiring_.sender[step.connection];
}

absl::Status Execution::Waiting() const {
  uint32_t at = 0;
  while (at < streams_.size() && streams_[at].next == streams_[at].steps) ++at;
  if (at == streams_.size()) return absl::OkStatus();
  // Follows each waiting stream to the one for which it waits, until a stream is visited twice or has ended.
  std::vector<bool> seen(streams_.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    const uint32_t next = Blocker(at);
    if (next == kNoStream || streams_[next].next == streams_[next].steps) {
      return Bad(at, next == kNoStream
                         ? "waits for room that no step makes"
                         : absl::StrCat("waits for a message that never comes: ", NodeName(plan_, Node(next)),
                                        ", stream ", Place(next, 0).stream, " has ended"));
    }
    at = next;
  }
  std::string circle;
  int shown = 0;
  uint32_t next = at;
  do {
    next = Blocker(next);
    if (++shown <= 4) absl::StrAppend(&circle, shown == 1 ? " " : "; ", Text(next, streams_[next].next));
  } while (next != at);
  if (shown > 4) absl::StrAppend(&circle, "; and so on, ", shown, " in all");
  return Bad(at, absl::StrCat("waits forever; these steps wait for each other:", circle));
}

absl::Status Execution::LeftOver() const {
  for (size_t c = 0; c < inbox_.size(); ++c) {
    if (inbox_[c].empty()) continue;
    const Message& first = inbox_[c].front();
    return PlanError(plan_, Place(first.stream, first.step),
                     absl::StrCat("sends a message that no step receives (", inbox_[c].size(),
                                  " are left on this connection)"),
                     fault_);
  }
  return absl::OkStatus();
}

// A written chunk of `m` that has data which belongs in another chunk, or -1.
int Execution::Misplaced(int m, int32_t block, int missing, int but) {
  for (int c = 0; c < plan_.chunks; ++c) {
    if (c == but || contents_.block(m, c) != block) continue;
    if (writer_[contents_.Cell(m, c)].stream == kNoStream) continue;
    if (missing < 0 || HasMember(contents_.bits(m, c), missing)) return c;
  }
  return -1;
}

absl::Status Execution::Result() {
  for (int m = 0; m < plan_.members; ++m) {
    int32_t block = 0;
    int missing = -1;
    std::string what;
    const int chunk = contents_.FirstWrong(m, &block, &missing, &what);
    if (chunk < 0) continue;
    const std::string subject = absl::StrCat("chunk ", chunk, " of member ", m);
    const Loss* lost = nullptr;
    for (const Loss& loss : losses_) {
      if (missing < 0 || loss.block != block || !HasMember(loss.bits.data(), missing)) continue;
      if (lost == nullptr || (Node(lost->stream) != m && Node(loss.stream) == m)) lost = &loss;
    }
    if (lost != nullptr) {
      return PlanError(plan_, Place(lost->stream, lost->step),
                       absl::StrCat("overwrites what member ", missing, " had of block ", block, "; ",
                                    subject, " ends wrong: it ", what),
                       fault_);
    }
    const int misplaced = Misplaced(m, block, missing, chunk);
    const Access last = writer_[contents_.Cell(m, misplaced >= 0 ? misplaced : chunk)];
    if (last.stream == kNoStream) {
      return PlanError(plan_, {m, -1, -1},
                       absl::StrCat(subject, " ends wrong: it ", what, ", and no step writes it"), fault_);
    }
    const std::string ends =
        misplaced >= 0
            ? absl::StrCat("leaves in chunk ", misplaced, " what belongs in ", subject, ", which ", what)
            : absl::StrCat("is the last to write ", subject, ", which ends wrong: it ", what);
    return PlanError(plan_, Place(last.stream, last.step), ends, fault_);
  }
  return absl::OkStatus();
}

}  // namespace chakra
