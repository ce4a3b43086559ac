#include "trace/import/hlo/module.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra::hlo {
namespace {

constexpr int64_t kMost = int64_t{1} << 62;

int64_t SaturatedSum(int64_t a, int64_t b) { return a > kMost - b ? kMost : a + b; }

int64_t SaturatedProduct(int64_t a, int64_t b) {
  if (a <= 0 || b <= 0) return 0;
  return a > kMost / b ? kMost : a * b;
}

}  // namespace

std::string Short(absl::string_view name) {
  constexpr size_t kShown = 100;
  return absl::StrCat(name.substr(0, kShown), name.size() > kShown ? "..." : "");
}

int BitsOfType(absl::string_view type) {
  if (type == "pred") return 8;
  if (absl::StartsWith(type, "f8")) return 8;
  if (absl::StartsWith(type, "f4")) return 4;
  if (absl::ConsumePrefix(&type, "bf") || absl::ConsumePrefix(&type, "f") ||
      absl::ConsumePrefix(&type, "s") || absl::ConsumePrefix(&type, "u") || absl::ConsumePrefix(&type, "c")) {
    int bits = 0;
    if (absl::SimpleAtoi(type, &bits) && bits > 0 && bits <= 128) return bits;
  }
  return 0;
}

int64_t ElementsOf(const Shape& shape) {
  if (shape.tuple()) {
    int64_t sum = 0;
    for (const Shape& part : shape.parts) sum = SaturatedSum(sum, ElementsOf(part));
    return sum;
  }
  int64_t n = 1;
  for (const int64_t d : shape.dims) n = SaturatedProduct(n, d);
  return n;
}

int64_t BytesOf(const Shape& shape) {
  if (!shape.tuple()) {
    const int64_t bits = SaturatedProduct(ElementsOf(shape), BitsOfType(shape.type));
    return bits == kMost ? kMost : (bits + 7) / 8;
  }
  int64_t sum = 0;
  for (const Shape& part : shape.parts) sum = SaturatedSum(sum, BytesOf(part));
  return sum;
}

std::vector<std::vector<int64_t>> ListGroups(const ReplicaGroups& g) {
  if (!g.iota()) return g.listed;
  int64_t devices = 1;
  for (const int64_t d : g.reshape) devices = SaturatedProduct(devices, d);
  if (devices > kMostDevices || g.size <= 0 || SaturatedProduct(g.groups, g.size) != devices) return {};
  const size_t rank = g.reshape.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (!g.transpose.empty()) {
    if (g.transpose.size() != rank) return {};
    std::vector<bool> seen(rank);
    for (size_t i = 0; i < rank; ++i) {
      if (g.transpose[i] < 0 || g.transpose[i] >= static_cast<int64_t>(rank)) return {};
      order[i] = static_cast<size_t>(g.transpose[i]);
      if (seen[order[i]]) return {};
      seen[order[i]] = true;
    }
  }
  std::vector<int64_t> stride(rank, 1);
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * g.reshape[i];
  std::vector<std::vector<int64_t>> out(static_cast<size_t>(g.groups));
  std::vector<int64_t> at(rank);  // position in the transposed array
  for (int64_t n = 0; n < devices; ++n) {
    int64_t id = 0;
    for (size_t i = 0; i < rank; ++i) id += at[i] * stride[order[i]];
    out[static_cast<size_t>(n / g.size)].push_back(id);
    for (size_t i = rank; i-- > 0;) {
      if (++at[i] < g.reshape[order[i]]) break;
      at[i] = 0;
    }
  }
  return out;
}

namespace {

// Cuts an axis of a mesh at the parts that `refs` name. Adds the sizes of the resulting dimensions, from the
// first on, and for each its row in `refs` (kNoRow: none). Returns null, or an error text.
const char* CutAxis(int64_t axis, int64_t size, const std::vector<AxisRef>& refs, std::vector<int64_t>* dims,
                    std::vector<uint32_t>* ref_of) {
  std::vector<uint32_t> parts;
  for (uint32_t r = 0; r < refs.size(); ++r) {
    if (refs[r].axis == axis) parts.push_back(r);
  }
  std::sort(parts.begin(), parts.end(), [&](uint32_t a, uint32_t b) {
    return std::make_pair(refs[a].pre_size, a) < std::make_pair(refs[b].pre_size, b);
  });
  int64_t done = 1;  // product of the dimensions so far
  for (const uint32_t r : parts) {
    const AxisRef& ref = refs[r];
    const int64_t own = ref.size == 0 ? size : ref.size, before = ref.size == 0 ? 1 : ref.pre_size;
    if (own < 0 || before <= 0 || before > size || own > size)
      return "a part of an axis that does not divide it";
    if (before < done) return "an axis of a mesh twice";
    if (before % done != 0 || size % (before * own) != 0) return "a part of an axis that does not divide it";
    dims->insert(dims->end(), {before / done, own});
    ref_of->insert(ref_of->end(), {kNoRow, r});
    done = before * own;
  }
  dims->push_back(size / done);
  ref_of->push_back(kNoRow);
  return nullptr;
}

// Writes the mesh as an array whose last dimensions are those along which the collective communicates: the
// iota form. Returns null, or an error text.
const char* ToIota(const std::vector<int64_t>& sizes, const std::vector<AxisRef>& refs, ReplicaGroups* out) {
  for (const AxisRef& ref : refs) {
    if (ref.axis < 0 || ref.axis >= static_cast<int64_t>(sizes.size()))
      return "an axis that the mesh does not have";
  }
  int64_t devices = 1;
  std::vector<uint32_t> ref_of;  // by dimension
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] <= 0 || devices > kMostDevices / sizes[axis])
      return "a mesh of no device or too many devices";
    devices *= sizes[axis];
    if (const char* wrong = CutAxis(static_cast<int64_t>(axis), sizes[axis], refs, &out->reshape, &ref_of))
      return wrong;
  }
  std::vector<int64_t> place(refs.size());
  for (size_t d = 0; d < ref_of.size(); ++d) {
    if (ref_of[d] == kNoRow) {
      out->transpose.push_back(static_cast<int64_t>(d));
    } else {
      place[ref_of[d]] = static_cast<int64_t>(d);
    }
  }
  out->size = 1;
  for (const int64_t d : place) {
    out->transpose.push_back(d);
    out->size *= out->reshape[static_cast<size_t>(d)];
  }
  out->groups = devices / out->size;
  return nullptr;
}

}  // namespace

const char* GroupsAlongMesh(const std::vector<int64_t>& sizes, const std::vector<AxisRef>& refs,
                            const std::vector<int64_t>& devices, ReplicaGroups* out) {
  ReplicaGroups iota;
  if (const char* wrong = ToIota(sizes, refs, &iota); wrong != nullptr) return wrong;
  if (devices.empty()) {
    *out = std::move(iota);
    return nullptr;
  }
  std::vector<std::vector<int64_t>> groups = ListGroups(iota);
  for (std::vector<int64_t>& group : groups) {
    for (int64_t& id : group) {
      if (id >= static_cast<int64_t>(devices.size())) return "a mesh that lists fewer devices than it has";
      id = devices[static_cast<size_t>(id)];
    }
  }
  out->listed = std::move(groups);
  return nullptr;
}

uint32_t Module::ComputationOf(absl::string_view instruction) const {
  for (uint32_t c = 0; c < computations.size(); ++c) {
    if (computations[c].rows.contains(instruction)) return c;
  }
  return kNoRow;
}

const Instruction* Module::Find(absl::string_view instruction) const {
  const uint32_t c = ComputationOf(instruction);
  if (c == kNoRow) return nullptr;
  return &computations[c].instructions[computations[c].rows.at(instruction)];
}

}  // namespace chakra::hlo
