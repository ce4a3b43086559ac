#include "trace/import/xplane/programs.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/import/hlo/proto_reader.h"

namespace chakra::xplane {
namespace {

using hlo::CollectiveKind;
using pytorch::CommCall;
using pytorch::CommOp;

CommOp OpOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return CommOp::kAllReduce;
    case CollectiveKind::kAllGather:
      return CommOp::kAllGather;
    case CollectiveKind::kReduceScatter:
      return CommOp::kReduceScatter;
    case CollectiveKind::kAllToAll:
      return CommOp::kAllToAll;
    case CollectiveKind::kBroadcast:
      return CommOp::kBroadcast;
    case CollectiveKind::kReduce:
      return CommOp::kReduce;
    default:
      return CommOp::kUnknown;
  }
}

// "jit_step(12)" is program 12, "jit_step".
absl::string_view WithoutId(absl::string_view name, int64_t* id) {
  const size_t open = name.rfind('(');
  if (open == name.npos || name.back() != ')') return name;
  uint64_t n = 0;
  if (absl::SimpleAtoi(name.substr(open + 1, name.size() - open - 2), &n)) *id = static_cast<int64_t>(n);
  return name.substr(0, open);
}

std::string TypeOfFirst(const hlo::Shape& shape) {
  const hlo::Shape* s = &shape;
  while (s->tuple() && !s->parts.empty()) s = &s->parts[0];
  return hlo::TypeText(s->type);
}

}  // namespace

// Follows instructions that only pass on results, such as tuples, to the instructions that compute them.
void Program::Producers(const hlo::Computation& c, uint32_t row, int depth,
                        std::vector<std::string>* out) const {
  constexpr int kMostHops = 32;
  constexpr size_t kMostProducers = 64;
  if (depth > kMostHops || out->size() >= kMostProducers) return;
  const hlo::Instruction& i = c.instructions[row];
  if (i.opcode == "get-tuple-element" && !i.operands.empty()) {
    const hlo::Instruction& of = c.instructions[i.operands[0]];
    const auto part = static_cast<size_t>(i.tuple_index);
    if (of.opcode == "tuple" && part < of.operands.size())
      return Producers(c, of.operands[part], depth + 1, out);
    return Producers(c, i.operands[0], depth + 1, out);
  }
  const bool done = i.opcode.size() > 5 && i.opcode.compare(i.opcode.size() - 5, 5, "-done") == 0;
  if (i.opcode == "parameter" || i.opcode == "constant") return;
  if (done || !hlo::Runs(i)) {
    for (const uint32_t o : i.operands) Producers(c, o, depth + 1, out);
    if (!done) return;
  }
  if (std::find(out->begin(), out->end(), i.name) == out->end()) out->push_back(i.name);
}

const KnownOp* Program::Find(absl::string_view instruction) {
  const auto [it, fresh] = known_.try_emplace(std::string(instruction));
  if (!fresh) return it->second.get();
  const uint32_t c = module_.ComputationOf(instruction);
  if (c == kNoRow) return nullptr;
  const hlo::Computation& computation = module_.computations[c];
  const uint32_t row = computation.rows.at(instruction);
  auto known = std::make_unique<KnownOp>();
  known->instruction = &computation.instructions[row];
  known->collective = hlo::CollectiveOf(module_, computation, row);
  for (const uint32_t o : known->instruction->operands) Producers(computation, o, 0, &known->producers);
  if (known->collective.kind == CollectiveKind::kNone) {
    if (hlo::Runs(*known->instruction)) known->facts = hlo::FactsOf(module_, c, row);
  } else {
    bool told = false;
    known->mesh = hlo::MeshOf(module_, &told);
    const bool paired = known->collective.kind == CollectiveKind::kPermute ||
                        known->collective.kind == CollectiveKind::kSend ||
                        known->collective.kind == CollectiveKind::kRecv;
    const auto wrong = paired ? hlo::PairsOf(known->collective, known->mesh, &known->pairs)
                              : hlo::GroupsOf(known->collective, known->mesh, &known->groups);
    if (wrong.has_value()) known->collective.kind = CollectiveKind::kNone;
    for (auto& group : known->groups) {
      for (int64_t& device : group) device = known->mesh.IdOf(device);
    }
    for (auto& [source, target] : known->pairs) {
      source = known->mesh.IdOf(source);
      target = known->mesh.IdOf(target);
    }
  }
  it->second = std::move(known);
  return it->second.get();
}

void Programs::Add(const Plane& plane, absl::string_view file) {
  std::vector<int64_t> keys;
  for (const auto& [key, metadata] : plane.events) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const int64_t key : keys) {
    const EventMetadata& metadata = plane.events.at(key);
    Stat proto;
    if (!FindStat(metadata.stats, plane, "Hlo Proto", &proto) &&
        !FindStat(metadata.stats, plane, "hlo_proto", &proto))
      continue;
    int64_t id = key;
    const absl::string_view name = WithoutId(metadata.name, &id);
    auto module = hlo::ReadHloProto(proto.text, file);
    if (!module.ok()) {
      if (unread_++ == 0) why_ = absl::StrCat("program ", id, ": ", module.status().message());
      continue;
    }
    int64_t& named = by_name_.try_emplace(std::string(name), id).first->second;
    named = std::max(named, id);
    by_id_[id] = std::make_unique<Program>(*std::move(module));
  }
}

Program* Programs::Find(int64_t id, absl::string_view module) {
  if (const auto it = by_id_.find(id); it != by_id_.end()) return it->second.get();
  int64_t inner = 0;
  const auto named = by_name_.find(WithoutId(module, &inner));
  if (named == by_name_.end()) return nullptr;
  if (const auto it = by_id_.find(inner); it != by_id_.end()) return it->second.get();
  return by_id_.at(named->second).get();
}

// The end of a collective has the same number in its name as the start.
const KnownOp* Programs::ByName(absl::string_view instruction) {
  const auto found = by_instruction_.find(instruction);
  if (found != by_instruction_.end()) return found->second.get();
  std::unique_ptr<KnownOp>& known = by_instruction_[std::string(instruction)];
  const hlo::Collective collective = hlo::CollectiveByName(instruction);
  if (collective.kind == CollectiveKind::kNone) return nullptr;
  known = std::make_unique<KnownOp>();
  known->collective = collective;
  constexpr absl::string_view kDone = "-done";
  if (const size_t at = instruction.find(kDone);
      at != instruction.npos && collective.phase == hlo::CollectivePhase::kDone) {
    const bool begins = collective.kind == CollectiveKind::kSend || collective.kind == CollectiveKind::kRecv;
    known->producers.push_back(absl::StrCat(instruction.substr(0, at), begins ? "" : "-start",
                                            instruction.substr(at + kDone.size())));
  }
  return known.get();
}

std::vector<CommCall> CallsOf(const KnownOp& op, int64_t id) {
  std::vector<CommCall> out;
  CommCall call;
  if (op.instruction == nullptr) {
    call.op = OpOf(op.collective.kind);
    return {call};
  }
  call.name = op.instruction->name;
  call.in_bytes = op.collective.in_bytes;
  call.out_bytes = op.collective.out_bytes;
  call.dtype = TypeOfFirst(op.collective.what->shape);
  call.root_is_global = true;
  for (const std::vector<int64_t>& group : op.groups) {
    if (std::find(group.begin(), group.end(), id) == group.end()) continue;
    call.op = OpOf(op.collective.kind);
    for (const int64_t member : group) call.ranks.push_back(static_cast<int>(member));
    call.group_size = static_cast<int64_t>(group.size());
    if (call.op == CommOp::kBroadcast || call.op == CommOp::kReduce) call.root = group.front();
    out.push_back(call);
    return out;
  }
  for (const auto& [source, target] : op.pairs) {
    if (source == target) continue;
    call.p2p = true;
    call.out_bytes = call.in_bytes;
    if (source == id && op.collective.kind != CollectiveKind::kRecv) {
      call.op = CommOp::kSend;
      call.root = target;
      out.push_back(call);
    }
    if (target == id && op.collective.kind != CollectiveKind::kSend) {
      call.op = CommOp::kRecv;
      call.root = source;
      out.push_back(call);
    }
  }
  return out;
}

}  // namespace chakra::xplane
