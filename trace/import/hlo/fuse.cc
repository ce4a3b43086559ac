#include "trace/import/hlo/fuse.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/import/hlo/trips.h"

namespace chakra::hlo {
namespace {

// Maximum number of instructions in one fusion; an instruction that occurs in it several times counts each
// time.
constexpr uint32_t kLargestFusion = 64;
// Modules with at most this many element-wise operations stay as they are.
constexpr size_t kFewest = 16;

constexpr absl::string_view kElementwise[] = {
    "abs",        "add",       "and",
    "atan2",      "cbrt",      "ceil",
    "clamp",      "compare",   "complex",
    "convert",    "cosine",    "count-leading-zeros",
    "divide",     "erf",       "exponential",
    "floor",      "imag",      "exponential-minus-one",
    "is-finite",  "log",       "log-plus-one",
    "logistic",   "maximum",   "minimum",
    "multiply",   "negate",    "not",
    "or",         "popcnt",    "power",
    "real",       "remainder", "reduce-precision",
    "rsqrt",      "select",    "round-nearest-afz",
    "shift-left", "sign",      "round-nearest-even",
    "sine",       "sqrt",      "shift-right-arithmetic",
    "subtract",   "tan",       "shift-right-logical",
    "tanh",       "xor",       "bitcast-convert",
};
constexpr absl::string_view kMoved[] = {"broadcast", "iota", "reshape", "bitcast",   "slice",
                                        "pad",       "copy", "reverse", "transpose", "dynamic-slice"};
constexpr absl::string_view kUsersOnly[] = {"reduce", "dynamic-update-slice"};

template <size_t n>
bool In(const absl::string_view (&list)[n], absl::string_view opcode) {
  return std::find(std::begin(list), std::end(list), opcode) != std::end(list);
}

bool Elementwise(const Instruction& i) { return In(kElementwise, i.opcode) && !i.shape.tuple(); }
bool Producer(const Instruction& i) { return Elementwise(i) || (In(kMoved, i.opcode) && !i.shape.tuple()); }
bool User(const Instruction& i) { return Producer(i) || In(kUsersOnly, i.opcode); }

// Moves instructions of one computation into fusions of their users.
class ComputationFuser {
 public:
  ComputationFuser(Module* m, uint32_t computation) : m_(*m), c_(computation) {}

  void Run();

 private:
  const Instruction& At(uint32_t row) const { return m_.computations[c_].instructions[row]; }
  void Choose();
  bool HasFused(uint32_t row) const {
    const std::vector<uint32_t>& operands = At(row).operands;
    return std::any_of(operands.begin(), operands.end(), [&](uint32_t o) { return fused_[o]; });
  }
  uint32_t Clone(uint32_t row, Computation* inner, std::vector<uint32_t>* leaves,
                 absl::flat_hash_map<uint32_t, uint32_t>* cloned);
  Instruction Fusion(uint32_t row);

  Module& m_;
  const uint32_t c_;
  std::vector<bool> fused_;
  std::vector<uint32_t> new_row_;
};

void ComputationFuser::Choose() {
  const size_t rows = m_.computations[c_].instructions.size();
  std::vector<bool> only_users(rows, true), used(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    for (const uint32_t o : At(row).operands) {
      used[o] = true;
      if (!User(At(row))) only_users[o] = false;
    }
  }
  fused_.assign(rows, false);
  std::vector<uint32_t> size(rows, 1);
  for (uint32_t row = 0; row < rows; ++row) {
    for (const uint32_t o : At(row).operands) {
      if (fused_[o]) size[row] = std::min(kLargestFusion + 1, size[row] + size[o]);
    }
    fused_[row] = Producer(At(row)) && used[row] && only_users[row] && row != m_.computations[c_].root &&
                  size[row] <= kLargestFusion;
  }
}

// Adds the instruction, and those that are fused into it, to the end of `inner`; other operands become
// parameters.
uint32_t ComputationFuser::Clone(uint32_t row, Computation* inner, std::vector<uint32_t>* leaves,
                                 absl::flat_hash_map<uint32_t, uint32_t>* cloned) {
  if (const auto it = cloned->find(row); it != cloned->end()) return it->second;
  Instruction copy = At(row);
  copy.control.clear();
  std::vector<uint32_t> operands;
  for (const uint32_t o : copy.operands) {
    const auto known = cloned->find(o);
    if (known != cloned->end()) {
      operands.push_back(known->second);
    } else if (fused_[o] || At(o).opcode == "constant") {
      operands.push_back(Clone(o, inner, leaves, cloned));
    } else {
      Instruction parameter;
      parameter.opcode = "parameter";
      parameter.parameter = static_cast<int64_t>(leaves->size());
      parameter.name = absl::StrCat("p", leaves->size(), " of ", At(row).name);
      parameter.shape = At(o).shape;
      leaves->push_back(o);
      operands.push_back(static_cast<uint32_t>(inner->instructions.size()));
      cloned->emplace(o, operands.back());
      inner->instructions.push_back(std::move(parameter));
    }
  }
  copy.operands = std::move(operands);
  const auto at = static_cast<uint32_t>(inner->instructions.size());
  cloned->emplace(row, at);
  inner->instructions.push_back(std::move(copy));
  return at;
}

Instruction ComputationFuser::Fusion(uint32_t row) {
  Instruction fusion = At(row);
  Computation inner;
  std::vector<uint32_t> leaves;
  absl::flat_hash_map<uint32_t, uint32_t> cloned;
  inner.name = absl::StrCat("fused ", fusion.name, " in ", m_.computations[c_].name);
  inner.root = Clone(row, &inner, &leaves, &cloned);
  for (uint32_t i = 0; i < inner.instructions.size(); ++i)
    inner.rows.try_emplace(inner.instructions[i].name, i);
  fusion.opcode = "fusion";
  fusion.operands = std::move(leaves);
  fusion.calls = {static_cast<uint32_t>(m_.computations.size())};
  m_.computations.push_back(std::move(inner));
  return fusion;
}

void ComputationFuser::Run() {
  Choose();
  if (std::find(fused_.begin(), fused_.end(), true) == fused_.end()) return;
  const size_t rows = m_.computations[c_].instructions.size();
  std::vector<Instruction> out;
  new_row_.assign(rows, kNoRow);
  for (uint32_t row = 0; row < rows; ++row) {
    if (fused_[row]) continue;
    Instruction i = User(At(row)) && HasFused(row) ? Fusion(row) : At(row);
    for (uint32_t& o : i.operands) o = new_row_[o];
    std::vector<uint32_t> control;
    for (const uint32_t before : i.control) {
      if (before < row && new_row_[before] != kNoRow) control.push_back(new_row_[before]);
    }
    i.control = std::move(control);
    new_row_[row] = static_cast<uint32_t>(out.size());
    out.push_back(std::move(i));
  }
  Computation& c = m_.computations[c_];
  if (c.root != kNoRow) c.root = new_row_[c.root];
  c.instructions = std::move(out);
  c.rows.clear();
  for (uint32_t i = 0; i < c.instructions.size(); ++i) c.rows.try_emplace(c.instructions[i].name, i);
}

}  // namespace

void FuseElementwise(Module* m) {
  size_t elementwise = 0;
  for (const Computation& c : m->computations) {
    for (const Instruction& i : c.instructions) {
      if (i.opcode == "fusion") return;
      elementwise += Elementwise(i) && ElementsOf(i.shape) > 1 ? 1 : 0;
    }
  }
  if (elementwise <= kFewest) return;
  for (Computation& c : m->computations) {
    for (Instruction& i : c.instructions) {
      if (i.opcode == "while" && i.trip_count < 0) i.trip_count = TripCount(*m, c, i);
    }
  }
  const auto computations = static_cast<uint32_t>(m->computations.size());
  for (uint32_t c = 0; c < computations; ++c) ComputationFuser(m, c).Run();
  m->fused_here = true;
}

}  // namespace chakra::hlo
