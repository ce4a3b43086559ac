#include "trace/import/join/infer_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "trace/base/median.h"
#include "trace/import/join/group_splits.h"
#include "trace/import/join/split_choice.h"
#include "trace/import/join/split_fit.h"

namespace chakra::pytorch {
namespace {

// Maximum error between clocks and between profilers of one machine.
constexpr int64_t kDeviceToleranceNs = 20000, kHostToleranceNs = 50000;
// Fewer calls than this do not show how much calls vary.
constexpr size_t kFewestCalls = 4;
// In this many calls, ends in larger groups would be seen to coincide if there were larger groups.
constexpr size_t kManyCalls = 8;
// Minimum bits for each call by which the ends of members are closer than their begins.
constexpr double kSureByCall = 1.5, kLikelyByCall = 1;

// Streams of different ranks with the same calls.
struct Class {
  std::vector<uint32_t> streams;  // ascending by rank; the first stream is the leader
  std::vector<int> shift;         // by stream: call i of the leader is call i + shift of the stream
  bool sure = true;               // whether the shifts are sure
  // The ranks with one program, out of a class that no split of all ranks fits.
  bool stage = false;
};

struct Verdict {
  GroupOrigin origin = GroupOrigin::kGuessed;
  const GroupSplit* split = nullptr;
  std::string evidence;
  bool parted = false;     // the split fits some of its groups only
  double likely_bits = 0;  // see InferredGroup
};

std::string Micros(int64_t ns) {
  return ns < 10000 ? absl::StrCat(ns / 1000, ".", ns % 1000 / 100, " us") : absl::StrCat(ns / 1000, " us");
}

// Whether two streams show a part of the same calls. If steps have numbers, these must agree in every call.
bool Alike(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b, CallShift* shift) {
  return FindShift(a, b, shift) && (shift->sure || a.front().step == StreamCall::kNoStep);
}

class Inferrer {
 public:
  Inferrer(const std::vector<CallStream>& streams, int captured, int world)
      : streams_(streams), captured_(captured), world_(world), out_(streams.size()) {}

  std::vector<InferredGroup> Run() {
    for (uint32_t i = 0; i < streams_.size(); ++i) of_rank_[streams_[i].rank].push_back(i);
    MakeClasses();
    for (uint32_t k = 0; k < classes_.size(); ++k) {
      for (const uint32_t i : classes_[k].streams) out_[i].kind = k;
      Decide(classes_[k]);
    }
    return std::move(out_);
  }

 private:
  void MakeClasses();
  std::vector<uint32_t> InOrder() const;
  bool Place(uint32_t i, const std::vector<uint32_t>& alike);
  bool MayHaveMore(const Class& c) const;
  bool AnotherOrderFits(const Class& c, const Held& best) const;
  bool DecideByStage(const Class& c);
  uint64_t Program(int rank) const;
  SharedCalls Shared(const Class& c) const;
  void Decide(const Class& c);
  Verdict Judge(const Class& c, const std::vector<GroupSplit>& splits) const;
  std::vector<Held> HoldAll(const Class& c, const std::vector<GroupSplit>& splits, const SharedCalls& shared,
                            int64_t tolerance) const;
  bool Possible(const Class& c, const GroupSplit& split) const;
  void Answer(const Class& c, const Verdict& verdict);
  bool OfAll(const Class& c, const Verdict& verdict) const;
  void AnswerAlone(uint32_t stream);

  const std::vector<CallStream>& streams_;
  const int captured_, world_;
  std::vector<Class> classes_;
  std::map<int, std::vector<uint32_t>> of_rank_;  // streams by rank
  std::vector<InferredGroup> out_;
};

// The streams, sorted by rank and first call: ranks with one program make the first calls of their streams in
// the same order.
std::vector<uint32_t> Inferrer::InOrder() const {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    if (!streams_[i].calls.empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::make_pair(streams_[a].rank, streams_[a].calls.front().begin) <
           std::make_pair(streams_[b].rank, streams_[b].calls.front().begin);
  });
  return order;
}

// Puts a stream into the first class that has the same calls and no stream of its rank yet. If no class has
// the same calls, puts it into the first class whose calls overlap with the stream's, in another window.
bool Inferrer::Place(uint32_t i, const std::vector<uint32_t>& alike) {
  const CallStream& stream = streams_[i];
  bool same_calls = false;
  for (const uint32_t k : alike) {
    Class& c = classes_[k];
    if (!SameCalls(streams_[c.streams[0]].calls, stream.calls)) continue;
    same_calls = true;
    if (streams_[c.streams.back()].rank == stream.rank) continue;
    c.streams.push_back(i);
    c.shift.push_back(0);
    return true;
  }
  for (const uint32_t k : alike) {
    Class& c = classes_[k];
    CallShift shift;
    if (same_calls || streams_[c.streams.back()].rank == stream.rank) continue;
    if (!Alike(streams_[c.streams[0]].calls, stream.calls, &shift)) continue;
    c.streams.push_back(i);
    c.shift.push_back(shift.calls);
    c.sure = c.sure && shift.sure;
    return true;
  }
  return false;
}

void Inferrer::MakeClasses() {
  std::map<std::tuple<std::string, int64_t, bool>, std::vector<uint32_t>> by_kind;
  for (const uint32_t i : InOrder()) {
    const CallStream& stream = streams_[i];
    std::vector<uint32_t>& alike = by_kind[{stream.label, stream.size, stream.device}];
    if (Place(i, alike)) continue;
    alike.push_back(static_cast<uint32_t>(classes_.size()));
    classes_.push_back({{i}, {0}, true, false});
  }
}

// Up to kSamples of the calls that all streams of the class have, evenly distributed.
SharedCalls Inferrer::Shared(const Class& c) const {
  SharedCalls shared;
  int from = 0, to = static_cast<int>(streams_[c.streams[0]].calls.size());
  for (size_t k = 0; k < c.streams.size(); ++k) {
    from = std::max(from, -c.shift[k]);
    to = std::min(to, static_cast<int>(streams_[c.streams[k]].calls.size()) - c.shift[k]);
  }
  const int count = std::max(0, to - from), samples = std::min(count, kSamples);
  for (size_t k = 0; k < c.streams.size(); ++k) {
    const CallStream& stream = streams_[c.streams[k]];
    shared.machine.push_back(stream.machine);
    std::vector<StreamCall>& calls = shared.calls.emplace_back();
    for (int i = 0; i < samples; ++i) {
      const int64_t at = from + int64_t{i} * count / samples + c.shift[k];
      calls.push_back(stream.calls[static_cast<size_t>(at)]);
    }
  }
  return shared;
}

// Whether sizes allow the split. If all ranks were captured, the class has all members of each group.
bool Inferrer::Possible(const Class& c, const GroupSplit& split) const {
  const int64_t size = streams_[c.streams[0]].size;
  if (captured_ == world_) return split.size > 0 && (size == 0 ? split.size > 1 : split.size == size);
  if (size == world_) return split.groups == 1;
  return size == 0 || split.size == 0 || split.size <= size;
}

std::vector<Held> Inferrer::HoldAll(const Class& c, const std::vector<GroupSplit>& splits,
                                    const SharedCalls& shared, int64_t tolerance) const {
  std::vector<Held> held;
  for (const GroupSplit& split : splits) {
    if (split.size != 1 && !Possible(c, split)) continue;
    const SplitFit fit = FitSplit(shared, split, tolerance);
    held.push_back({&split, fit.contradicted, fit.by_ns, fit.contradicted ? 0 : MiddleOff(fit)});
  }
  return held;
}

// Whether a rank outside the class has calls that may belong to the class: windows that begin at different
// calls may have divided one class.
bool Inferrer::MayHaveMore(const Class& c) const {
  if (c.stage || static_cast<int>(c.streams.size()) == captured_) return false;
  const CallStream& leader = streams_[c.streams[0]];
  std::set<int> inside;
  for (const uint32_t i : c.streams) inside.insert(streams_[i].rank);
  return std::any_of(streams_.begin(), streams_.end(), [&](const CallStream& other) {
    CallShift shift;
    return !inside.contains(other.rank) && other.label == leader.label && other.size == leader.size &&
           other.device == leader.device && Alike(leader.calls, other.calls, &shift);
  });
}

// If steps have no numbers: whether two groups of the split would also end together with the calls of one
// shifted against the other. Then it is not sure which calls correspond.
bool Inferrer::AnotherOrderFits(const Class& c, const Held& best) const {
  const CallStream& leader = streams_[c.streams[0]];
  if (leader.calls.front().step != StreamCall::kNoStep) return false;
  constexpr int64_t kLittleNs = 1000;
  std::set<uint32_t> seen = {best.split->group[0]};
  for (size_t k = 1; k < c.streams.size(); ++k) {
    CallShift shift;
    if (!seen.insert(best.split->group[k]).second) continue;
    if (!FindShift(leader.calls, streams_[c.streams[k]].calls, &shift)) continue;
    if (shift.calls != c.shift[k] && shift.spread_ns <= 4 * best.middle + kLittleNs) return true;
  }
  return false;
}

Verdict Inferrer::Judge(const Class& c, const std::vector<GroupSplit>& splits) const {
  const SharedCalls shared = Shared(c);
  const CallStream& leader = streams_[c.streams[0]];
  const int64_t tolerance = leader.device ? kDeviceToleranceNs : kHostToleranceNs;
  const std::vector<Held> held = HoldAll(c, splits, shared, tolerance);
  size_t contradicted = 0, possible = 0;
  int64_t by = 0;
  for (const Held& h : held) {
    possible += h.split->size == 1 ? 0 : 1;
    contradicted += h.contradicted ? 1 : 0;
    by = std::max(by, h.by_ns);
  }
  const std::string told =
      leader.size > 0 ? absl::StrCat(leader.size_from, " shows groups of ", leader.size, "; ") : "";
  const std::string early = absl::StrCat(": a member ended up to ", Micros(by), " before another one began");
  const std::string ranks = absl::StrCat(c.streams.size(), " ranks");
  if (possible == 0)
    return {GroupOrigin::kUnknown, nullptr,
            absl::StrCat(told, "no equal split of ", ranks, " is of that size")};
  const Held* best = Best(held);
  if (best == nullptr)
    return {GroupOrigin::kUnknown, nullptr,
            absl::StrCat(told, "each split of ", ranks, " into equal groups is contradicted", early)};
  // Windows that begin at different calls may have divided the class: unless it has all ranks, times must
  // decide.
  const bool all = static_cast<int>(c.streams.size()) == captured_ && captured_ == world_;
  if (possible == 1 && (all || leader.size > 0) && (captured_ == world_ || leader.size == world_)) {
    return {GroupOrigin::kInferred, best->split,
            absl::StrCat(told.empty() ? absl::StrCat("only these ", ranks, " make the calls; ") : told,
                         "only ", best->split->words, " is possible")};
  }
  const size_t calls = shared.columns();
  const Comparison against = Compare(shared, held, *best, tolerance);
  const std::string refuted = contradicted == 0 ? ""
                                                : absl::StrCat("; contradicted are ", contradicted, " of ",
                                                               possible, " splits", early);
  // A group that does not divide the job is more likely only a part of a group.
  const bool whole = possible > 1 || captured_ < world_ || world_ % static_cast<int>(c.streams.size()) == 0;
  const bool sure = whole && c.sure && !MayHaveMore(c) && !AnotherOrderFits(c, *best);
  if (sure && calls >= kFewestCalls && against.Clear()) {
    return {GroupOrigin::kInferred, best->split,
            absl::StrCat(told, best->split->words, ": over ", calls, " calls begins vary between members ",
                         std::llround(std::min(against.waiting, 1e6)),
                         " times as much as ends, which the last begin predicts within ",
                         Micros(best->middle), refuted)};
  }
  if (const GroupSplit* together = sure && possible > 1 ? Together(shared, held) : nullptr;
      together != nullptr) {
    return {GroupOrigin::kInferred, together,
            absl::StrCat(told, together->words, ": over ", calls,
                         " calls all members end together, and no two of them begin together", refuted)};
  }
  const Coincidence coincide = sure ? Coinciding(shared, held) : Coincidence();
  const bool told_by_many = coincide.one_clock || calls >= kManyCalls;
  if (coincide.likely && told_by_many && coincide.bits >= kSureBits && coincide.by_call >= kSureByCall) {
    return {GroupOrigin::kInferred, coincide.split,
            absl::StrCat(told, coincide.split->words,
                         ": members end together but do not begin together; chance does that in ", calls,
                         " calls once in 2^", std::llround(coincide.bits), refuted)};
  }
  const std::string why = sure ? absl::StrCat(calls, " calls do not show which ranks wait for each other")
                               : "the match of calls between ranks is not certain";
  const bool likely = coincide.likely && coincide.bits >= kLikelyBits && coincide.by_call >= kLikelyByCall;
  const GroupSplit* guess = likely ? coincide.split : against.largest;
  return {GroupOrigin::kGuessed, guess, absl::StrCat(told, why, refuted, "; ", guess->words, " was assumed"),
          !against.even, likely ? coincide.bits : 0};
}

// Whether ranks that were not captured are also members.
bool Inferrer::OfAll(const Class& c, const Verdict& verdict) const {
  return captured_ < world_ && verdict.split->groups == 1 &&
         (verdict.origin == GroupOrigin::kGuessed || streams_[c.streams[0]].size == world_);
}

void Inferrer::Answer(const Class& c, const Verdict& verdict) {
  for (size_t k = 0; k < c.streams.size(); ++k) {
    InferredGroup& answer = out_[c.streams[k]];
    answer.origin = verdict.origin;
    answer.evidence = verdict.evidence;
    answer.likely_bits = verdict.likely_bits;
    if (verdict.split == nullptr) continue;
    if (OfAll(c, verdict)) {
      for (int r = 0; r < world_; ++r) answer.ranks.push_back(r);
      continue;
    }
    for (size_t m = 0; m < c.streams.size(); ++m) {
      if (verdict.split->group[m] == verdict.split->group[k])
        answer.ranks.push_back(streams_[c.streams[m]].rank);
    }
  }
}

// Answers for a stream whose calls no other captured rank shows.
void Inferrer::AnswerAlone(uint32_t i) {
  const CallStream& stream = streams_[i];
  InferredGroup& answer = out_[i];
  if (stream.size == 1) {
    answer.origin = GroupOrigin::kInferred;
    answer.ranks = {stream.rank};
    answer.evidence = absl::StrCat(stream.size_from, " shows a group of 1");
    return;
  }
  const bool whole = stream.size == world_ || (world_ == 2 && captured_ < world_);
  if (captured_ == world_ && world_ > 1 && !whole) {
    answer.origin = GroupOrigin::kUnknown;
    answer.evidence = "no other rank shows the same calls";
    return;
  }
  answer.origin = whole ? GroupOrigin::kInferred : GroupOrigin::kGuessed;
  const bool part = !whole && stream.size > 0 && stream.size < world_;
  const int64_t size = part ? stream.size : world_;
  const int64_t from = stream.rank / size * size;
  for (int64_t r = from; r < std::min<int64_t>(from + size, world_); ++r)
    answer.ranks.push_back(static_cast<int>(r));
  answer.evidence =
      whole && stream.size == world_
          ? absl::StrCat(stream.size_from, " shows ", world_, " members: all ranks")
      : whole ? "the job has two ranks: both"
      : part ? absl::StrCat(stream.size_from, " shows ", stream.size, " members, but not which; ranks ", from,
                            " to ", answer.ranks.back(), " were assumed")
      : world_ == 1 ? "the number of ranks of the job is unknown; only this rank was assumed"
                    : absl::StrCat("the members are unknown; all ", world_, " ranks were assumed");
}

// A hash of the calls of a rank on all of its streams; equal for ranks with the same program.
uint64_t Inferrer::Program(int rank) const {
  std::vector<std::tuple<std::string, int64_t, std::vector<uint64_t>>> all;
  for (const uint32_t i : of_rank_.at(rank)) {
    std::vector<uint64_t> keys;
    for (const StreamCall& call : streams_[i].calls) keys.push_back(call.key);
    all.emplace_back(streams_[i].label, streams_[i].size, std::move(keys));
  }
  std::sort(all.begin(), all.end());
  return absl::HashOf(all);
}

// Stages of a pipeline may make the same calls on groups of different kinds. If no split fits all ranks,
// decides for each block of adjacent ranks with the same program alone; all blocks must have the same size.
// False: there are no such blocks.
bool Inferrer::DecideByStage(const Class& c) {
  std::vector<Class> stages;
  uint64_t last = 0;
  int first_shift = 0;
  for (size_t k = 0; k < c.streams.size(); ++k) {
    const uint64_t program = Program(streams_[c.streams[k]].rank);
    if (stages.empty() || program != last) stages.push_back({{}, {}, c.sure, true});
    last = program;
    if (stages.back().streams.empty()) first_shift = c.shift[k];
    stages.back().streams.push_back(c.streams[k]);
    stages.back().shift.push_back(c.shift[k] - first_shift);
  }
  const bool equal = std::all_of(stages.begin(), stages.end(), [&](const Class& s) {
    return s.streams.size() == stages[0].streams.size() && s.streams.size() > 1;
  });
  if (stages.size() < 2 || !equal) return false;
  for (const Class& stage : stages) Decide(stage);
  return true;
}

void Inferrer::Decide(const Class& c) {
  if (c.streams.size() == 1) return AnswerAlone(c.streams[0]);
  std::vector<int> ranks;
  for (const uint32_t i : c.streams) ranks.push_back(streams_[i].rank);
  const std::vector<GroupSplit> splits = RegularSplits(ranks, world_);
  const Verdict verdict = Judge(c, splits);
  if ((verdict.origin == GroupOrigin::kUnknown || verdict.parted) && DecideByStage(c)) return;
  Answer(c, verdict);
}

}  // namespace

absl::string_view Name(GroupOrigin origin) {
  static constexpr absl::string_view kNames[] = {"named", "asked for", "inferred", "guessed", "unknown"};
  return kNames[static_cast<size_t>(origin)];
}

std::vector<InferredGroup> InferGroups(const std::vector<CallStream>& streams, int captured, int world) {
  return Inferrer(streams, captured, world).Run();
}

}  // namespace chakra::pytorch
