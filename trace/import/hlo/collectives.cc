#include "trace/import/hlo/collectives.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/import/hlo/facts.h"

namespace chakra::hlo {
namespace {

struct KindName {
  absl::string_view opcode;
  CollectiveKind kind;
};
constexpr KindName kKindNames[] = {
    {"all-reduce", CollectiveKind::kAllReduce},
    {"all-gather", CollectiveKind::kAllGather},
    {"reduce-scatter", CollectiveKind::kReduceScatter},
    {"all-to-all", CollectiveKind::kAllToAll},
    {"ragged-all-to-all", CollectiveKind::kAllToAll},
    {"collective-broadcast", CollectiveKind::kBroadcast},
    {"collective-reduce", CollectiveKind::kReduce},
    {"collective-permute", CollectiveKind::kPermute},
    {"send", CollectiveKind::kSend},
    {"recv", CollectiveKind::kRecv},
};

CollectiveKind KindOfName(absl::string_view opcode) {
  for (const KindName& k : kKindNames) {
    if (k.opcode == opcode) return k.kind;
  }
  return CollectiveKind::kNone;
}

// Sets the kind and the phase by the opcode.
void SetKind(absl::string_view opcode, Collective* out) {
  out->kind = KindOfName(opcode);
  if (out->kind == CollectiveKind::kNone && absl::ConsumeSuffix(&opcode, "-start")) {
    out->kind = KindOfName(opcode);
    out->phase = CollectivePhase::kStart;
  } else if (out->kind == CollectiveKind::kNone && absl::ConsumeSuffix(&opcode, "-done")) {
    out->kind = KindOfName(opcode);
    out->phase = CollectivePhase::kDone;
  } else if (out->kind == CollectiveKind::kSend || out->kind == CollectiveKind::kRecv) {
    out->phase = CollectivePhase::kStart;
  }
}

// The largest id of a replica, partition or device that the instruction names; -1: it names none.
int64_t LargestId(const Instruction& i) {
  int64_t most = -1;
  for (const auto& [source, target] : i.pairs) most = std::max({most, source, target});
  for (const std::vector<int64_t>& group : i.replica_groups.listed) {
    for (const int64_t id : group) most = std::max(most, id);
  }
  if (i.replica_groups.iota() && i.replica_groups.size > 0 &&
      i.replica_groups.groups <= kMostDevices / i.replica_groups.size)
    most = std::max(most, i.replica_groups.groups * i.replica_groups.size - 1);
  return most;
}

const Shape& FirstArray(const Shape& shape) {
  const Shape* at = &shape;
  while (at->tuple() && !at->parts.empty()) at = &at->parts[0];
  return *at;
}

// Bytes that a device sends. For operations that also have offsets or a target buffer as operands, and for
// those with a root, counts only the data.
int64_t OperandsBytes(const Computation& c, const Instruction& i, CollectiveKind kind) {
  constexpr int64_t kMostBytes = int64_t{1} << 60;
  const auto operand = [&](size_t n) -> const Shape& { return c.instructions[i.operands[n]].shape; };
  if (absl::StartsWith(i.opcode, "ragged-all-to-all") && !i.operands.empty()) return BytesOf(operand(0));
  if ((kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce) && !i.shape.tuple())
    return BytesOf(i.shape);
  // A permute in place has four operands: the data, the target buffer, and the offsets in both.
  if (kind == CollectiveKind::kPermute && i.operands.size() == 4 && i.slice_elements > 0) {
    const int64_t bits = BitsOfType(FirstArray(operand(0)).type);
    return i.slice_elements > kMostBytes / std::max<int64_t>(1, bits) ? kMostBytes
                                                                      : i.slice_elements * bits / 8;
  }
  if (kind == CollectiveKind::kPermute && i.operands.size() == 4 && operand(3).tuple())
    return BytesOf(operand(0));
  int64_t sum = 0;
  for (const uint32_t row : i.operands)
    sum = std::min(kMostBytes, sum + std::min(BytesOf(c.instructions[row].shape), kMostBytes));
  return sum;
}

// Bytes of the result. The tuple that the start of an asynchronous operation returns has the operands before
// the result; that of an all-reduce has only results.
int64_t ResultBytes(const Instruction& i, CollectivePhase phase, CollectiveKind kind) {
  if (phase != CollectivePhase::kStart || !i.shape.tuple() || kind == CollectiveKind::kAllReduce)
    return BytesOf(i.shape);
  return i.shape.parts.size() < 2 ? BytesOf(i.shape) : BytesOf(i.shape.parts[1]);
}

// Maps the ids in groups and pairs to devices. A group of replicas means one group of devices for each
// partition, and a group of partitions one for each replica.
class Placer {
 public:
  Placer(const Collective& c, const Mesh& mesh, int64_t largest) : mesh_(mesh) {
    const bool grouped = c.kind == CollectiveKind::kAllReduce || c.kind == CollectiveKind::kAllGather ||
                         c.kind == CollectiveKind::kReduceScatter;
    if (c.what->global_ids) {
      mode_ = Mode::kBoth;
    } else if (c.what->channel <= 0) {
      mode_ = Mode::kReplica;
    } else {
      mode_ = grouped ? Mode::kReplicaAllPartitions : Mode::kPartition;
    }
    // Files may lack the fields that decide the mode: ids beyond the number of replicas are partitions.
    if (mode_ == Mode::kReplica && largest >= mesh.replicas && largest < mesh.partitions)
      mode_ = Mode::kPartition;
    if (mode_ == Mode::kReplicaAllPartitions && (mesh.replicas == 1 || largest >= mesh.replicas))
      mode_ = largest < mesh.partitions ? Mode::kPartition : Mode::kBoth;
    if (mode_ != Mode::kBoth && largest >= Ids()) mode_ = Mode::kBoth;
  }

  // The number of ids, and the number of groups of devices that each group means.
  int64_t Ids() const {
    return mode_ == Mode::kBoth        ? mesh_.devices()
           : mode_ == Mode::kPartition ? mesh_.partitions
                                       : mesh_.replicas;
  }
  int64_t Copies() const {
    return mode_ == Mode::kPartition ? mesh_.replicas : mode_ == Mode::kReplica ? mesh_.partitions : 1;
  }
  void Add(int64_t id, int64_t copy, std::vector<int64_t>* out) const {
    const int64_t parts = mesh_.partitions;
    if (mode_ == Mode::kBoth) out->push_back(mesh_.DeviceOf(id));
    if (mode_ == Mode::kPartition) out->push_back(mesh_.DeviceOf(copy * parts + id));
    if (mode_ == Mode::kReplica) out->push_back(mesh_.DeviceOf(id * parts + copy));
    for (int64_t p = 0; p < parts && mode_ == Mode::kReplicaAllPartitions; ++p)
      out->push_back(mesh_.DeviceOf(id * parts + p));
  }

 private:
  enum class Mode : uint8_t { kReplica, kPartition, kReplicaAllPartitions, kBoth } mode_;
  const Mesh& mesh_;
};

// Returns the collective of a fusion that has one collective and otherwise only moves data; nullopt: another
// fusion.
std::optional<Collective> CollectiveOfFusion(const Module& module, const Instruction& fusion) {
  if (fusion.calls.size() != 1) return std::nullopt;
  const Computation& inner = module.computations[fusion.calls[0]];
  uint32_t found = kNoRow;
  for (uint32_t row = 0; row < inner.instructions.size(); ++row) {
    const bool collective = IsCollective(inner.instructions[row].opcode);
    if (collective ? found != kNoRow : Computes(inner.instructions[row])) return std::nullopt;
    if (collective) found = row;
  }
  if (found == kNoRow) return std::nullopt;
  Collective out = CollectiveOf(module, inner, found);
  if (out.phase != CollectivePhase::kWhole) return std::nullopt;
  // An all-reduce of which each device keeps its slice: TPUs run it as a reduce-scatter.
  if (out.kind == CollectiveKind::kAllReduce && absl::StartsWith(inner.name, "all-reduce-scatter")) {
    out.kind = CollectiveKind::kReduceScatter;
    out.out_bytes = BytesOf(fusion.shape);
  }
  return out;
}

}  // namespace

Mesh MeshOf(const Module& m, bool* told) {
  Mesh mesh;
  const bool fits = m.replicas > 0 || m.partitions > 0;
  *told = fits && std::max<int64_t>(1, m.replicas) <= kMostDevices / std::max<int64_t>(1, m.partitions);
  if (*told) {
    mesh.replicas = std::max<int64_t>(1, m.replicas);
    mesh.partitions = std::max<int64_t>(1, m.partitions);
  }
  int64_t largest = -1;
  for (const Computation& c : m.computations) {
    for (const Instruction& i : c.instructions) largest = std::max(largest, LargestId(i));
  }
  if (!*told && largest >= 0 && largest < kMostDevices) mesh.partitions = largest + 1;
  if (m.assignment.empty()) return mesh;
  std::vector<int64_t> device, sorted;
  for (int64_t r = 0; r < mesh.replicas; ++r) {
    for (int64_t p = 0; p < mesh.partitions; ++p) {
      const auto part = static_cast<size_t>(p), replica = static_cast<size_t>(r);
      if (part >= m.assignment.size() || replica >= m.assignment[part].size()) return mesh;
      device.push_back(m.assignment[part][replica]);
    }
  }
  sorted = device;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return mesh;
  for (int64_t& d : device) d = std::lower_bound(sorted.begin(), sorted.end(), d) - sorted.begin();
  mesh.device = std::move(device);
  mesh.ids = std::move(sorted);
  return mesh;
}

Collective CollectiveOf(const Module& module, const Computation& computation, uint32_t row) {
  const Instruction& i = computation.instructions[row];
  Collective out;
  absl::string_view opcode = i.opcode;
  out.what = &i;
  out.in = &computation;
  if (opcode == "async-start" || opcode == "async-done" || opcode == "async-update") {
    if (opcode == "async-done" || opcode == "async-update") {
      // The operands lead to the start that this end or update belongs to.
      uint32_t at = row;
      for (int hops = 0; hops < 8 && computation.instructions[at].opcode != "async-start"; ++hops) {
        if (computation.instructions[at].operands.empty()) return out;
        at = computation.instructions[at].operands[0];
      }
      if (computation.instructions[at].opcode != "async-start") return out;
      out = CollectiveOf(module, computation, at);
      out.phase = CollectivePhase::kDone;
      if (opcode == "async-update") out.kind = CollectiveKind::kNone;
      return out;
    }
    if (i.calls.empty()) return out;
    const Computation& inner = module.computations[i.calls[0]];
    if (inner.root == kNoRow) return out;
    Collective wrapped;
    const Instruction& root = inner.instructions[inner.root];
    wrapped.kind = KindOfName(root.opcode);
    for (uint32_t other = 0; other < inner.instructions.size(); ++other) {
      if (other != inner.root && Runs(inner.instructions[other])) return out;
    }
    wrapped.phase = CollectivePhase::kStart;
    wrapped.what = &root;
    wrapped.in = &inner;
    wrapped.in_bytes = OperandsBytes(inner, root, wrapped.kind);
    wrapped.out_bytes = BytesOf(root.shape);
    return wrapped;
  }
  if (opcode == "fusion") return CollectiveOfFusion(module, i).value_or(out);
  SetKind(opcode, &out);
  if (out.kind == CollectiveKind::kNone) return out;
  out.in_bytes = OperandsBytes(computation, i, out.kind);
  out.out_bytes = ResultBytes(i, out.phase, out.kind);
  if (out.kind == CollectiveKind::kSend || out.kind == CollectiveKind::kRecv) {
    // The shape is (data, context, token). Its data are also the operand of a send.
    const Shape& shape = i.shape;
    out.in_bytes = out.out_bytes =
        shape.tuple() && !shape.parts.empty() ? BytesOf(shape.parts[0]) : BytesOf(shape);
  }
  return out;
}

Collective CollectiveByName(absl::string_view instruction) {
  Collective out;
  const absl::string_view name = instruction.substr(0, instruction.find('.'));
  SetKind(name, &out);
  if (name == "all-reduce-scatter") out.kind = CollectiveKind::kReduceScatter;
  return out;
}

bool IsCollective(absl::string_view opcode) { return KindOfName(opcode) != CollectiveKind::kNone; }

std::vector<bool> WithCollectives(const Module& module) {
  std::vector<bool> with(module.computations.size());
  // Repeated until nothing changes, because computations may be listed before or after those that they call.
  // CheckCalls() limits the depth of calls.
  for (bool found = true; found;) {
    found = false;
    for (size_t c = 0; c < with.size(); ++c) {
      const Computation& computation = module.computations[c];
      for (uint32_t row = 0; row < computation.instructions.size() && !with[c]; ++row) {
        const Instruction& i = computation.instructions[row];
        const bool fused = i.opcode == "fusion" && std::any_of(i.calls.begin(), i.calls.end(),
                                                               [&](uint32_t called) { return with[called]; });
        if (!fused && CollectiveOf(module, computation, row).kind == CollectiveKind::kNone) continue;
        with[c] = found = true;
      }
    }
  }
  return with;
}

std::optional<std::string> GroupsOf(const Collective& c, const Mesh& mesh,
                                    std::vector<std::vector<int64_t>>* groups) {
  std::vector<std::vector<int64_t>> ids = ListGroups(c.what->replica_groups);
  if (c.what->replica_groups.iota() && ids.empty())
    return absl::StrCat("replica_groups of ", c.what->replica_groups.groups, " x ",
                        c.what->replica_groups.size, " devices do not match the array that they come from");
  ids.erase(std::remove_if(ids.begin(), ids.end(), [](const auto& g) { return g.empty(); }), ids.end());
  int64_t largest = -1;
  for (const auto& group : ids) {
    for (const int64_t id : group) largest = std::max(largest, id);
  }
  const Placer place(c, mesh, largest);
  if (ids.empty()) {
    std::vector<int64_t>& all = ids.emplace_back();
    for (int64_t id = 0; id < place.Ids(); ++id) all.push_back(id);
  }
  std::vector<bool> seen(static_cast<size_t>(place.Ids()));
  for (const auto& group : ids) {
    for (const int64_t id : group) {
      if (id < 0 || id >= place.Ids())
        return absl::StrCat("replica_groups name device ", id, " of ", place.Ids());
      if (seen[static_cast<size_t>(id)]) return absl::StrCat("replica_groups name device ", id, " twice");
      seen[static_cast<size_t>(id)] = true;
    }
  }
  for (int64_t copy = 0; copy < place.Copies(); ++copy) {
    for (const auto& group : ids) {
      std::vector<int64_t>& members = groups->emplace_back();
      for (const int64_t id : group) place.Add(id, copy, &members);
    }
  }
  return std::nullopt;
}

std::optional<std::string> PairsOf(const Collective& c, const Mesh& mesh,
                                   std::vector<std::pair<int64_t, int64_t>>* pairs) {
  int64_t largest = -1;
  for (const auto& [source, target] : c.what->pairs) largest = std::max({largest, source, target});
  const Placer place(c, mesh, largest);
  std::vector<bool> sends(static_cast<size_t>(place.Ids())), receives(static_cast<size_t>(place.Ids()));
  for (const auto& [source, target] : c.what->pairs) {
    if (std::min(source, target) < 0 || std::max(source, target) >= place.Ids())
      return absl::StrCat("source_target_pairs name {", source, ",", target, "}, and there are ", place.Ids(),
                          " devices");
    if (sends[static_cast<size_t>(source)] || receives[static_cast<size_t>(target)])
      return absl::StrCat("source_target_pairs name a source or target of {", source, ",", target, "} twice");
    sends[static_cast<size_t>(source)] = receives[static_cast<size_t>(target)] = true;
    for (int64_t copy = 0; copy < place.Copies(); ++copy) {
      std::vector<int64_t> from, to;
      place.Add(source, copy, &from);
      place.Add(target, copy, &to);
      for (size_t k = 0; k < from.size(); ++k) pairs->emplace_back(from[k], to[k]);
    }
  }
  return std::nullopt;
}

}  // namespace chakra::hlo
