#include "trace/import/hlo/trips.h"

#include <algorithm>
#include <deque>

#include "absl/strings/string_view.h"

namespace chakra::hlo {
namespace {

constexpr int64_t kMostTrips = int64_t{1} << 24;
constexpr int kMostHops = 64;

// An instruction of a computation. `fusion`: the fusion that the computation is in; null: none.
struct Place {
  const Computation* c = nullptr;
  uint32_t row = kNoRow;
  const Place* fusion = nullptr;
  const Instruction& operator*() const { return c->instructions[row]; }
  const Instruction* operator->() const { return &c->instructions[row]; }
};

// Follows values through instructions that only pass them on: copies, views, fusions of one result, tuples of
// which a part is used.
class Tracer {
 public:
  explicit Tracer(const Module& m) : m_(m) {}

  Place Behind(Place at) {
    for (int hops = 0; hops < kMostHops; ++hops) {
      const Instruction& i = *at;
      const bool view = i.opcode == "copy" || i.opcode == "bitcast" || i.opcode == "convert" ||
                        i.opcode == "reshape" || i.opcode == "opt-barrier";
      if (view && !i.operands.empty()) {
        at.row = i.operands[0];
      } else if (i.opcode == "fusion" && i.calls.size() == 1 && m_.computations[i.calls[0]].root != kNoRow) {
        const Computation& inner = m_.computations[i.calls[0]];
        fusions_.push_back(at);
        at = Place{&inner, inner.root, &fusions_.back()};
      } else if (i.opcode == "parameter" && at.fusion != nullptr &&
                 static_cast<size_t>(i.parameter) < (*at.fusion)->operands.size()) {
        const Place& fusion = *at.fusion;
        at = Place{fusion.c, fusion->operands[static_cast<size_t>(i.parameter)], fusion.fusion};
      } else if (!PartOfTuple(&at)) {
        break;
      }
    }
    return at;
  }

  Place Operand(const Place& of, size_t n) { return Behind(Place{of.c, of->operands[n], of.fusion}); }

 private:
  // Moves from a part of a tuple that this computation makes to the value of the part.
  bool PartOfTuple(Place* at) {
    const Instruction& i = **at;
    if (i.opcode != "get-tuple-element" || i.operands.empty()) return false;
    const Instruction* from = &at->c->instructions[i.operands[0]];
    for (int hops = 0; hops < kMostHops && from->opcode == "opt-barrier" && !from->operands.empty(); ++hops)
      from = &at->c->instructions[from->operands[0]];
    if (from->opcode != "tuple" || static_cast<size_t>(i.tuple_index) >= from->operands.size()) return false;
    at->row = from->operands[static_cast<size_t>(i.tuple_index)];
    return true;
  }

  const Module& m_;
  std::deque<Place> fusions_;  // places point into it
};

bool IsConstant(const Place& at) {
  return at->opcode == "constant" && at->constant != INT64_MIN && at->constant <= kMostTrips &&
         at->constant >= -kMostTrips;
}

// Returns the part of the loop's state that a value is; 0 if the state is one number. -1: it is no such part.
int64_t PartOfState(const Place& at) {
  if (at.fusion != nullptr) return -1;
  if (at->opcode == "parameter") return at->shape.tuple() ? -1 : 0;
  if (at->opcode != "get-tuple-element" || at->operands.empty()) return -1;
  return at.c->instructions[at->operands[0]].opcode == "parameter" ? at->tuple_index : -1;
}

// Finds a part of the loop's state: of the body's result, or of the state with which the loop starts.
bool PartOf(Tracer* t, Place state, int64_t part, Place* out) {
  state = t->Behind(state);
  if (!state->shape.tuple()) {
    *out = state;
    return part == 0;
  }
  if (state->opcode != "tuple" || part < 0 || static_cast<size_t>(part) >= state->operands.size())
    return false;
  *out = t->Operand(state, static_cast<size_t>(part));
  return true;
}

class Loop {
 public:
  Loop(const Module& m, const Instruction& loop, const Computation& in)
      : t_(m),
        body_{&m.computations[loop.calls[0]], m.computations[loop.calls[0]].root, nullptr},
        start_{&in, loop.operands[0], nullptr} {}

  // Returns what the body adds to a part of the state in each iteration; 0: nothing, or it changes the part
  // in another way.
  int64_t AddedTo(int64_t part) {
    Place next;
    if (!PartOf(&t_, body_, part, &next) || next->operands.size() != 2) return 0;
    const Place a = t_.Operand(next, 0), b = t_.Operand(next, 1);
    if (next->opcode == "add" && PartOfState(a) == part && IsConstant(b)) return b->constant;
    if (next->opcode == "add" && PartOfState(b) == part && IsConstant(a)) return a->constant;
    if (next->opcode == "subtract" && PartOfState(a) == part && IsConstant(b)) return -b->constant;
    return 0;
  }

  bool Start(int64_t part, int64_t* out) {
    Place first;
    if (!PartOf(&t_, start_, part, &first) || !IsConstant(first)) return false;
    *out = first->constant;
    return true;
  }

  // Reads a constant, or a part of the state that starts as a constant and that the body does not change.
  bool Bound(const Place& at, int64_t* out) {
    if (IsConstant(at)) {
      *out = at->constant;
      return true;
    }
    const int64_t part = PartOfState(at);
    Place next;
    return part >= 0 && PartOf(&t_, body_, part, &next) && PartOfState(next) == part && Start(part, out);
  }

  Tracer* tracer() { return &t_; }

 private:
  Tracer t_;
  Place body_, start_;
};

// Returns how often a number that starts at `first` and grows by `step` satisfies the comparison with `end`.
int64_t Trips(absl::string_view direction, int64_t first, int64_t end, int64_t step) {
  if (direction == "LE") ++end;
  if (direction == "GE") --end;
  const bool exact = direction == "NE", below = direction == "LT" || direction == "LE";
  if (!exact && !below && direction != "GT" && direction != "GE") return -1;
  const bool up = exact ? step > 0 : below;
  if (step == 0 || (step > 0) != up) return -1;
  if (exact && ((end - first) % step != 0 || (end - first) / step < 0)) return -1;
  const int64_t distance = up ? end - first : first - end, each = up ? step : -step;
  return distance <= 0 ? 0 : (distance + each - 1) / each;
}

}  // namespace

int64_t TripCount(const Module& m, const Computation& in, const Instruction& loop) {
  if (loop.calls.size() < 2 || loop.operands.empty()) return -1;
  const Computation& condition = m.computations[loop.calls[1]];
  if (condition.root == kNoRow || m.computations[loop.calls[0]].root == kNoRow) return -1;
  Loop l(m, loop, in);
  const Place test = l.tracer()->Behind(Place{&condition, condition.root, nullptr});
  if (test->opcode != "compare" || test->operands.size() != 2) return -1;
  Place counter = l.tracer()->Operand(test, 0), bound = l.tracer()->Operand(test, 1);
  std::string direction = test->direction;
  // 5 > i is i < 5.
  if (PartOfState(counter) < 0 || l.AddedTo(PartOfState(counter)) == 0) {
    std::swap(counter, bound);
    if (!direction.empty() && direction != "NE" && direction != "EQ")
      direction[0] = direction[0] == 'L' ? 'G' : 'L';
  }
  const int64_t part = PartOfState(counter);
  int64_t first = 0, end = 0;
  if (part < 0 || !l.Start(part, &first) || !l.Bound(bound, &end)) return -1;
  return Trips(direction, first, end, l.AddedTo(part));
}

}  // namespace chakra::hlo
