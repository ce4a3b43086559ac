#include "trace/import/hlo/step.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/import/hlo/messages.h"
#include "trace/import/hlo/trips.h"

namespace chakra::hlo {
namespace {

// The nodes that made a value; for a tuple, also those of each part.
struct Value {
  std::vector<uint32_t> nodes;
  std::vector<std::shared_ptr<const Value>> parts;
};
using ValuePtr = std::shared_ptr<const Value>;

// Maximum number of instructions that are visited, whether they run or not.
constexpr uint64_t kMostVisited = uint64_t{1} << 26;
// Maximum number of devices, summed over all collectives: half a gigabyte.
constexpr uint64_t kMostPlaces = uint64_t{1} << 25;

void Gather(const Value& value, std::set<uint32_t>* out) {
  out->insert(value.nodes.begin(), value.nodes.end());
  for (const ValuePtr& part : value.parts) Gather(*part, out);
}

class StepBuilder {
 public:
  StepBuilder(const Module& module, absl::string_view file) : m_(module), file_(file) {}

  absl::StatusOr<Step> Build();

 private:
  absl::Status Run(uint32_t computation, const std::vector<ValuePtr>& arguments, ValuePtr* result);
  absl::Status RunInstruction(uint32_t computation, uint32_t row, const std::vector<ValuePtr>& arguments,
                              std::vector<ValuePtr>* values);
  absl::Status RunWhile(const Computation& in, const Instruction& i, ValuePtr state, ValuePtr* result);
  absl::Status RunConditional(const Instruction& i, const std::vector<ValuePtr>& operands, ValuePtr* result);
  absl::Status RunBeside(const Instruction& i, const std::vector<ValuePtr>& operands, ValuePtr* result);
  absl::Status RunFusion(uint32_t computation, uint32_t row, const std::vector<ValuePtr>& operands,
                         ValuePtr* result);
  absl::Status AddComputation(uint32_t computation, uint32_t row, const std::vector<ValuePtr>& operands,
                              ValuePtr* result);
  absl::Status AddCollective(uint32_t computation, uint32_t row, const Collective& collective,
                             const std::vector<ValuePtr>& operands, ValuePtr* result);
  absl::StatusOr<uint32_t> ResolveCollective(uint32_t computation, uint32_t row,
                                             const Collective& collective);
  absl::StatusOr<uint32_t> AddNode(StepNode node, const std::vector<ValuePtr>& operands);
  uint32_t FactsRow(uint32_t computation, uint32_t row);
  double WorkOf(uint32_t computation);
  void NoteOnce(const std::string& text) {
    if (noted_.insert(text).second) step_.warnings.push_back(text);
  }
  void NoteUnfused();
  void NoteHost(const Instruction& i);
  absl::Status Error(const Instruction& i, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": HLO module \"", Short(m_.name),
                                                   "\", instruction \"", Short(i.name), "\": ", what));
  }

  const Module& m_;
  absl::string_view file_;
  Step step_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> facts_of_, collective_of_;  // by computation and row
  std::map<uint32_t, double> work_of_;                                          // by computation
  std::vector<uint32_t> joined_;  // ends that the next node of the main stream waits for
  uint32_t last_compute_ = kNoRow;
  bool beside_ = false;                 // whether the current computation is that of an async-start
  uint32_t last_beside_ = kNoRow;       // the last kernel of such a computation
  std::vector<bool> with_collectives_;  // by computation
  uint64_t placed_ = 0;                 // devices of all collectives
  uint64_t visited_ = 0;                // instructions, including those that do not run
  std::set<uint32_t> empty_;            // computations that run nothing
  std::set<std::string> noted_;
  std::map<std::string, uint64_t> unknown_;  // custom calls by target
};

uint32_t StepBuilder::FactsRow(uint32_t computation, uint32_t row) {
  const auto [it, fresh] =
      facts_of_.try_emplace({computation, row}, static_cast<uint32_t>(step_.facts.size()));
  if (fresh) step_.facts.push_back(FactsOf(m_, computation, row));
  const Facts& facts = step_.facts[it->second];
  if (facts.unknown) ++unknown_[m_.computations[computation].instructions[row].target];
  return it->second;
}

// Bytes and operations of one run of a computation, to compare branches.
double StepBuilder::WorkOf(uint32_t computation) {
  if (const auto it = work_of_.find(computation); it != work_of_.end()) return it->second;
  double sum = 0;
  const Computation& c = m_.computations[computation];
  for (uint32_t row = 0; row < c.instructions.size(); ++row) {
    const Instruction& i = c.instructions[row];
    const Collective collective = CollectiveOf(m_, c, row);
    if (collective.kind != CollectiveKind::kNone) {
      sum += 16 * static_cast<double>(collective.in_bytes);
    } else if (i.opcode == "while" || i.opcode == "conditional" || i.opcode == "call") {
      for (const uint32_t called : i.calls)
        sum += static_cast<double>(std::max<int64_t>(1, i.trip_count)) * WorkOf(called);
    } else if (Runs(i)) {
      const Facts facts = FactsOf(m_, computation, row);
      sum += static_cast<double>(facts.bytes) + static_cast<double>(facts.operations) / 256;
    }
  }
  return work_of_[computation] = sum;
}

absl::StatusOr<uint32_t> StepBuilder::AddNode(StepNode node, const std::vector<ValuePtr>& operands) {
  if (step_.nodes.size() >= kMostNodes)
    return absl::ResourceExhaustedError(absl::StrCat(file_, ": HLO module \"", Short(m_.name),
                                                     "\" runs more than ", kMostNodes,
                                                     " operations; expected a step of fewer"));
  std::set<uint32_t> deps;
  for (const ValuePtr& operand : operands) Gather(*operand, &deps);
  const auto index = static_cast<uint32_t>(step_.nodes.size());
  if (beside_ && node.stream == StepStream::kCompute) {
    const bool collective = node.collective != kNoRow;
    node.stream = collective ? StepStream::kCollective : StepStream::kBeside;
    deps.insert(joined_.begin(), joined_.end());
    joined_.clear();
    for (const uint32_t before : {last_compute_, last_beside_}) {
      if (before != kNoRow) deps.insert(before);
    }
    if (!collective) last_beside_ = index;
  } else if (node.stream == StepStream::kCompute) {
    deps.insert(joined_.begin(), joined_.end());
    joined_.clear();
    last_compute_ = index;
  } else if (last_compute_ != kNoRow) {
    deps.insert(last_compute_);
  }
  node.dep_begin = static_cast<uint32_t>(step_.deps.size());
  step_.deps.insert(step_.deps.end(), deps.begin(), deps.end());
  node.dep_end = static_cast<uint32_t>(step_.deps.size());
  step_.nodes.push_back(node);
  return index;
}

absl::StatusOr<uint32_t> StepBuilder::ResolveCollective(uint32_t computation, uint32_t row,
                                                        const Collective& collective) {
  const auto [it, fresh] =
      collective_of_.try_emplace({computation, row}, static_cast<uint32_t>(step_.collectives.size()));
  if (!fresh) return it->second;
  StepCollective out;
  out.what = collective;
  const Instruction& i = m_.computations[computation].instructions[row];
  const auto devices = static_cast<size_t>(step_.mesh.devices());
  placed_ += devices;
  if (placed_ > kMostPlaces)
    return absl::ResourceExhaustedError(
        absl::StrCat(file_, ": HLO module \"", Short(m_.name), "\": collectives of ", devices,
                     " devices each, and too many of them; expected a smaller job"));
  const bool paired = collective.kind == CollectiveKind::kPermute ||
                      collective.kind == CollectiveKind::kSend || collective.kind == CollectiveKind::kRecv;
  const auto wrong =
      paired ? PairsOf(collective, step_.mesh, &out.pairs) : GroupsOf(collective, step_.mesh, &out.groups);
  if (wrong.has_value()) return Error(i, *wrong);
  if (paired) {
    out.source_of.assign(devices, -1);
    out.target_of.assign(devices, -1);
    for (const auto& [source, target] : out.pairs) {
      out.target_of[static_cast<size_t>(source)] = target;
      out.source_of[static_cast<size_t>(target)] = source;
    }
  } else {
    out.group_of.assign(devices, kNoRow);
    for (uint32_t g = 0; g < out.groups.size(); ++g) {
      for (const int64_t device : out.groups[g]) out.group_of[static_cast<size_t>(device)] = g;
    }
  }
  step_.collectives.push_back(std::move(out));
  return it->second;
}

absl::Status StepBuilder::AddCollective(uint32_t computation, uint32_t row, const Collective& collective,
                                        const std::vector<ValuePtr>& operands, ValuePtr* result) {
  const Instruction& i = m_.computations[computation].instructions[row];
  if (collective.phase == CollectivePhase::kDone) {
    std::set<uint32_t> ended;
    for (const ValuePtr& operand : operands) Gather(*operand, &ended);
    joined_.insert(joined_.end(), ended.begin(), ended.end());
    *result = operands.empty() ? std::make_shared<Value>() : operands[0];
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const auto resolved, ResolveCollective(computation, row, collective));
  const bool message = collective.kind == CollectiveKind::kSend || collective.kind == CollectiveKind::kRecv;
  if (message && collective.what->pairs.empty())
    NoteOnce(absl::StrCat(collective.what->host_transfer
                              ? "sends and receives exchange data with the host; they are left out"
                              : "sends and receives without _xla_send_recv_source_target_pairs do not give "
                                "their two devices; they are left out",
                          " (the first is \"", Short(i.name), "\")"));
  StepNode node;
  node.computation = computation;
  node.instruction = row;
  node.collective = resolved;
  if (collective.phase == CollectivePhase::kStart && !i.synchronous) {
    node.stream = collective.kind == CollectiveKind::kSend   ? StepStream::kSend
                  : collective.kind == CollectiveKind::kRecv ? StepStream::kReceive
                                                             : StepStream::kCollective;
  }
  ASSIGN_OR_RETURN(const auto added, AddNode(node, operands));
  auto value = std::make_shared<Value>();
  value->nodes = {added};
  *result = std::move(value);
  return absl::OkStatus();
}

// Runs the computation of an async-start in parallel to the main stream: its kernels one after another, its
// collectives as other collectives that were started. The async-done of the start waits for all of it.
absl::Status StepBuilder::RunBeside(const Instruction& i, const std::vector<ValuePtr>& operands,
                                    ValuePtr* result) {
  if (i.async_thread == "host")
    NoteOnce(
        "computations of the thread \"host\" run on the host's processors; their times are computed as for "
        "the device");
  std::vector<uint32_t> joined = std::move(joined_);
  joined_.clear();
  const bool outer = std::exchange(beside_, true);
  const uint32_t last = std::exchange(last_beside_, kNoRow);
  const auto first = static_cast<uint32_t>(step_.nodes.size());
  ValuePtr inner;
  RETURN_IF_ERROR(Run(i.calls[0], operands, &inner));
  auto value = std::make_shared<Value>(*inner);
  if (last_beside_ != kNoRow) value->nodes.push_back(last_beside_);
  value->nodes.insert(value->nodes.end(), joined_.begin(), joined_.end());
  for (uint32_t node = first; node < step_.nodes.size(); ++node) {
    if (step_.nodes[node].collective != kNoRow) value->nodes.push_back(node);
  }
  *result = std::move(value);
  joined_ = std::move(joined);
  beside_ = outer;
  last_beside_ = outer && last_beside_ == kNoRow ? last : outer ? last_beside_ : kNoRow;
  return absl::OkStatus();
}

// Runs a fusion that has collectives: the collectives, and a kernel if the fusion computes too.
absl::Status StepBuilder::RunFusion(uint32_t computation, uint32_t row, const std::vector<ValuePtr>& operands,
                                    ValuePtr* result) {
  const Instruction& i = m_.computations[computation].instructions[row];
  std::vector<ValuePtr> inputs = operands;
  for (const uint32_t called : i.calls) {
    const Computation& inner = m_.computations[called];
    for (uint32_t part = 0; part < inner.instructions.size(); ++part) {
      ValuePtr value;
      const Collective collective = CollectiveOf(m_, inner, part);
      if (collective.kind == CollectiveKind::kNone) {
        const Instruction& nested = inner.instructions[part];
        if (nested.opcode != "fusion" || nested.calls.empty() || !with_collectives_[nested.calls[0]])
          continue;
        RETURN_IF_ERROR(RunFusion(called, part, inputs, &value));
      } else {
        RETURN_IF_ERROR(AddCollective(called, part, collective, inputs, &value));
      }
      inputs.push_back(std::move(value));
    }
  }
  auto all = std::make_shared<Value>();
  all->parts = inputs;
  *result = std::move(all);
  const bool computes = std::any_of(i.calls.begin(), i.calls.end(), [&](uint32_t called) {
    const std::vector<Instruction>& inner = m_.computations[called].instructions;
    return std::any_of(inner.begin(), inner.end(), Computes);
  });
  if (!computes) return absl::OkStatus();
  return AddComputation(computation, row, inputs, result);
}

absl::Status StepBuilder::RunWhile(const Computation& in, const Instruction& i, ValuePtr state,
                                   ValuePtr* result) {
  if (i.calls.empty()) return Error(i, "a while without a body");
  int64_t trips = i.trip_count;
  if (trips < 0) trips = TripCount(m_, in, i);
  if (trips < 0) {
    NoteOnce(absl::StrCat("the trip count of loop \"", Short(i.name), "\" is unknown; the loop runs once (",
                          "known_trip_count in its backend_config gives the count)"));
    trips = 1;
  }
  for (int64_t trip = 0; trip < trips; ++trip) {
    const size_t before = step_.nodes.size();
    ValuePtr next;
    RETURN_IF_ERROR(Run(i.calls[0], {state}, &next));
    state = std::move(next);
    const size_t added = step_.nodes.size() - before;
    if (added == 0) break;  // a body that runs nothing
    if (trip == 0 && static_cast<uint64_t>(trips - 1) >
                         (kMostNodes - std::min<uint64_t>(kMostNodes, step_.nodes.size())) / added) {
      return Error(
          i, absl::StrCat("the loop iterates ", trips, " times, with ", added,
                          " operations each time; expected a step of at most ", kMostNodes, " operations"));
    }
  }
  *result = std::move(state);
  return absl::OkStatus();
}

absl::Status StepBuilder::RunConditional(const Instruction& i, const std::vector<ValuePtr>& operands,
                                         ValuePtr* result) {
  if (i.calls.empty()) return Error(i, "a conditional without branches");
  size_t best = 0;
  for (size_t b = 1; b < i.calls.size(); ++b) {
    if (WorkOf(i.calls[b]) > WorkOf(i.calls[best])) best = b;
  }
  NoteOnce("each conditional runs its branch with the most work");
  return Run(i.calls[best], {best + 1 < operands.size() ? operands[best + 1] : std::make_shared<Value>()},
             result);
}

absl::Status StepBuilder::RunInstruction(uint32_t computation, uint32_t row,
                                         const std::vector<ValuePtr>& arguments,
                                         std::vector<ValuePtr>* values) {
  const Computation& c = m_.computations[computation];
  const Instruction& i = c.instructions[row];
  std::vector<ValuePtr> operands;
  for (const uint32_t o : i.operands) operands.push_back((*values)[o]);
  ValuePtr& result = (*values)[row];
  const bool plain = i.opcode == "fusion" && (i.calls.empty() || !with_collectives_[i.calls[0]]);
  const Collective collective = plain ? Collective() : CollectiveOf(m_, c, row);
  if (collective.kind != CollectiveKind::kNone)
    return AddCollective(computation, row, collective, operands, &result);
  if (i.opcode == "parameter") {
    const auto number = static_cast<size_t>(i.parameter);
    result = number < arguments.size() ? arguments[number] : std::make_shared<Value>();
    return absl::OkStatus();
  }
  if (i.opcode == "tuple") {
    auto value = std::make_shared<Value>();
    value->parts = std::move(operands);
    result = std::move(value);
    return absl::OkStatus();
  }
  if (i.opcode == "get-tuple-element" && !operands.empty()) {
    const auto part = static_cast<size_t>(i.tuple_index);
    result = part < operands[0]->parts.size() ? operands[0]->parts[part] : operands[0];
    return absl::OkStatus();
  }
  if (i.opcode == "while")
    return RunWhile(c, i, operands.empty() ? std::make_shared<Value>() : operands[0], &result);
  if (i.opcode == "conditional") return RunConditional(i, operands, &result);
  if (i.opcode == "call" || i.opcode == "async-start") {
    if (i.calls.empty()) return Error(i, "a call without a computation");
    return i.opcode == "call" ? Run(i.calls[0], operands, &result) : RunBeside(i, operands, &result);
  }
  if (i.opcode == "fusion" && !plain) return RunFusion(computation, row, operands, &result);
  NoteHost(i);
  if (!Runs(i) || i.opcode == "async-done") {
    auto value = std::make_shared<Value>();
    if (operands.size() == 1) {
      result = operands[0];
      if (i.opcode == "copy-done" || i.opcode == "async-done") {
        std::set<uint32_t> ended;
        Gather(*operands[0], &ended);
        joined_.insert(joined_.end(), ended.begin(), ended.end());
      }
      return absl::OkStatus();
    }
    value->parts = std::move(operands);
    result = std::move(value);
    return absl::OkStatus();
  }
  return AddComputation(computation, row, operands, &result);
}

absl::Status StepBuilder::AddComputation(uint32_t computation, uint32_t row,
                                         const std::vector<ValuePtr>& operands, ValuePtr* result) {
  StepNode node;
  node.computation = computation;
  node.instruction = row;
  node.facts = FactsRow(computation, row);
  if (m_.computations[computation].instructions[row].opcode == "copy-start" ||
      (beside_ && step_.facts[node.facts].host != HostCopy::kNone))
    node.stream = StepStream::kCopy;
  ASSIGN_OR_RETURN(const auto added, AddNode(node, operands));
  auto value = std::make_shared<Value>();
  value->nodes = {added};
  *result = std::move(value);
  return absl::OkStatus();
}

absl::Status StepBuilder::Run(uint32_t computation, const std::vector<ValuePtr>& arguments,
                              ValuePtr* result) {
  if (empty_.contains(computation)) {
    std::set<uint32_t> through;
    for (const ValuePtr& argument : arguments) Gather(*argument, &through);
    auto value = std::make_shared<Value>();
    value->nodes.assign(through.begin(), through.end());
    *result = std::move(value);
    return absl::OkStatus();
  }
  const size_t before = step_.nodes.size();
  const Computation& c = m_.computations[computation];
  visited_ += c.instructions.size() + 1;
  if (visited_ > kMostVisited)
    return absl::ResourceExhaustedError(absl::StrCat(file_, ": HLO module \"", Short(m_.name),
                                                     "\" runs more than ", kMostVisited,
                                                     " instructions; expected a step of fewer"));
  std::vector<ValuePtr> values(c.instructions.size(), std::make_shared<Value>());
  for (uint32_t row = 0; row < c.instructions.size(); ++row) {
    RETURN_IF_ERROR(RunInstruction(computation, row, arguments, &values));
  }
  if (step_.nodes.size() == before) empty_.insert(computation);
  *result = c.root == kNoRow ? std::make_shared<Value>() : values[c.root];
  return absl::OkStatus();
}

// Warns about transfers from and to the host: the module does not say how long they take.
void StepBuilder::NoteHost(const Instruction& i) {
  if (i.opcode == "infeed" || i.opcode == "outfeed")
    NoteOnce("infeeds and outfeeds exchange data with the host; they are left out");
}

// Warns about modules from before the optimizations, which have no fusions: each element-wise operation would
// go through memory. Also warns about other properties of the module that make the step inexact.
void StepBuilder::NoteUnfused() {
  size_t fusions = 0, loops = 0;
  for (const Computation& c : m_.computations) {
    for (const Instruction& i : c.instructions) {
      fusions += i.opcode == "fusion" ? 1 : 0;
    }
  }
  for (const StepNode& n : step_.nodes) {
    if (n.facts != kNoRow && step_.facts[n.facts].op == "xla::loop") ++loops;
  }
  if (m_.fused_here) {
    step_.warnings.push_back(
        "the module has no fusions: it is from before XLA's optimisations. Element-wise operations, "
        "broadcasts and slices were fused into the operations that use them, about as XLA does; the file "
        "...after_optimizations of "
        "--xla_dump_to has XLA's own fusions");
  } else if (fusions == 0 && loops > 16) {
    step_.warnings.push_back(absl::StrCat(
        "the module has no fusions: it is from before XLA's optimisations, and each of its ", loops,
        " element-wise operations reads and writes memory, so that the step is too long; expected the file "
        "...after_optimizations of --xla_dump_to"));
  }
  if (step_.collectives.empty() && m_.partitions > 1 && !m_.scheduled) {
    step_.warnings.push_back(
        absl::StrCat("the module runs on ", m_.partitions,
                     " partitions and has no collectives: it is from before XLA's partitioning. Its shapes "
                     "are those of whole arrays, and each device does all of the work; expected the file "
                     "...after_optimizations of --xla_dump_to"));
  }
  if (!m_.scheduled)
    step_.warnings.push_back(
        "the module is not scheduled: its operations run in the order of the file; expected "
        "is_scheduled=true, as in "
        "...after_optimizations of --xla_dump_to");
  if (!unknown_.empty()) {
    std::vector<std::string> targets;
    for (const auto& [target, calls] : unknown_) targets.push_back(absl::StrCat(target, " (", calls, ")"));
    constexpr size_t kShown = 8;
    const size_t more = targets.size() > kShown ? targets.size() - kShown : 0;
    targets.resize(targets.size() - more);
    step_.warnings.push_back(
        absl::StrCat("custom calls whose operation is unknown; their times are computed from the bytes of "
                     "operands and results: ",
                     absl::StrJoin(targets, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : ""));
  }
}

absl::StatusOr<Step> StepBuilder::Build() {
  bool told = false;
  step_.mesh = MeshOf(m_, &told);
  if (!told) {
    step_.warnings.push_back(absl::StrCat(
        "the module does not give its number of devices; its collectives need ", step_.mesh.devices(),
        step_.mesh.devices() == 1 ? ", because they name no devices (--ranks N gives the number)" : ""));
  }
  with_collectives_ = WithCollectives(m_);
  ValuePtr result;
  RETURN_IF_ERROR(Run(m_.entry, {}, &result));
  TagMessages(&step_.collectives);
  NoteUnfused();
  if (step_.nodes.empty())
    return absl::InvalidArgumentError(absl::StrCat(file_, ": HLO module \"", Short(m_.name),
                                                   "\" runs nothing; expected the module of a step"));
  return std::move(step_);
}

}  // namespace

absl::StatusOr<Step> BuildStep(const Module& module, absl::string_view file) {
  return StepBuilder(module, file).Build();
}

}  // namespace chakra::hlo
