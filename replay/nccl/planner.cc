#include "replay/nccl/planner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/collectives/accounting.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/collectives/levels.h"
#include "replay/nccl/by_level.h"
#include "replay/nccl/choose.h"
#include "replay/nccl/constants.h"
#include "replay/nccl/mpi/mpi.h"
#include "replay/nccl/pieces.h"
#include "replay/nccl/planned_call.h"
#include "replay/nccl/rates.h"
#include "replay/nccl/together.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// If the plan is even, the bytes of a call must be a multiple of this.
int Cuts(const Plan& plan) { return plan.parts > 0 ? plan.parts : plan.chunks; }

// Counts the streams of a member that send, in total and to one peer. This is the number of messages that are
// sent at the same time.
void CountSends(const Plan& plan, Candidate* c) {
  c->sends_at_once = c->sends_to_peer = 1;
  for (const Program& program : plan.programs) {
    int streams = 0;
    std::map<int, int> to;
    for (const Stream& s : program.streams) {
      std::set<int> peers;
      for (uint32_t i = s.begin; i < s.end; ++i) {
        if (IsSend(program.steps[i].op)) peers.insert(program.steps[i].peer);
      }
      streams += peers.empty() ? 0 : 1;
      for (const int peer : peers) c->sends_to_peer = std::max(c->sends_to_peer, ++to[peer]);
    }
    c->sends_at_once = std::max(c->sends_at_once, streams);
  }
}

// Plans over trees and switches distinguish only two levels, inside and between nodes, however many levels
// the topology has.
std::vector<int> BlocksFor(const std::string& plan, const Rates& rates, const GroupShape& shape) {
  if (!rates.even()) return {};
  if (plan != "double_binary_tree" && plan != "nvls_tree" && plan != "collnet") return shape.blocks;
  return rates.nodes() > 1 ? std::vector<int>{rates.per_node(), rates.nodes()}
                           : std::vector<int>{rates.per_node()};
}

// Whether members send to several peers at once, without waiting for the first message to leave.
bool BeginsAtOnce(const Plan& plan) {
  const std::vector<Step>& steps = plan.programs[0].steps;
  return steps.size() > 1 && steps[0].op == StepOp::kSend && steps[1].op == StepOp::kSend;
}

bool IsNamed(const CustomProgram& program, const std::string& rule) {
  return rule == program.name ||
         rule == absl::StrCat(program.name, "/", std::string(Name(ProtocolOf(program))));
}

// Whether a rule may name `algorithm` for these candidates.
bool CanTake(const std::vector<Candidate>& candidates, absl::string_view algorithm) {
  return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
    return c.algorithm == algorithm && (c.unfit.empty() || c.on_request);
  });
}

Candidate AsCandidate(const CustomProgram& program) {
  Candidate c;
  c.algorithm = program.name;
  c.plan = program.name;
  c.protocol = ProtocolOf(program);
  c.channels = program.channels;
  CountSends(program.plan, &c);
  return c;
}

}  // namespace

std::string Serves(const CustomProgram& program) {
  const int cuts = Cuts(program.plan);
  const bool open = program.max_bytes == std::numeric_limits<uint64_t>::max();
  return absl::StrCat(
      program.source, ": algorithm \"", program.name, "\" is for ", std::string(Name(program.type)), " on ",
      program.plan.members, " ranks", IsRooted(program.type) ? absl::StrCat(", root ", program.root) : "",
      ", ", program.min_bytes, open ? "" : absl::StrCat(" to ", program.max_bytes), " bytes",
      open ? " and more" : "", program.plan.even && cuts > 1 ? absl::StrCat(" in multiples of ", cuts) : "");
}

CollectivePlanner::CollectivePlanner(const MachineView& machine, const CollectiveCosts& costs,
                                     PriceAlone price, bool alone, PlanCache* plans)
    : machine_(machine),
      costs_(costs),
      price_(price),
      alone_(alone),
      by_size_(costs.library != nullptr || !costs.programs.empty()),
      plans_(plans == nullptr ? own_plans_ : *plans) {
  for (const auto& [key, algorithm] : costs.algorithm) {
    by_size_ = by_size_ || absl::StrContains(key, '@') || ParseLevelAlgorithms(algorithm).has_value() ||
               algorithm == "torus";
  }
}

const GroupShape& CollectivePlanner::Shape(const std::vector<int>& members) {
  const auto found = shapes_.find(&members);
  if (found != shapes_.end()) return found->second;
  return shapes_.emplace(&members, ShapeOf(machine_, costs_.library.get(), members)).first->second;
}

const CustomProgram* CollectivePlanner::FindProgram(CollectiveType type, uint64_t bytes, int root, int ranks,
                                                    const std::string& rule) const {
  for (const auto& program : costs_.programs) {
    const Plan& plan = program->plan;
    const bool asked = rule.empty() || rule == "auto" || rule == "*" || IsNamed(*program, rule);
    if (!asked || program->type != type || plan.members != ranks) continue;
    if (IsRooted(type) && program->root != root) continue;
    if (bytes < program->min_bytes || bytes > program->max_bytes) continue;
    if (plan.even && bytes % static_cast<uint64_t>(Cuts(plan)) != 0) continue;
    return program.get();
  }
  return nullptr;
}

absl::Status CollectivePlanner::PlanFromFile(const CustomProgram& program, int root, int ranks,
                                             PlannedCall* out) {
  const bool fits = program.plan.members == ranks && (!IsRooted(program.type) || program.root == root);
  if (!fits) {
    const std::string at_root = IsRooted(program.type) ? absl::StrCat(" and root ", program.root) : "";
    return absl::InvalidArgumentError(absl::StrCat(
        program.source, ": algorithm \"", program.name, "\" for ", std::string(Name(program.type)), " on ",
        ranks, " ranks", IsRooted(program.type) ? absl::StrCat(" with root ", root) : "", "; it is for ",
        program.plan.members, " ranks", at_root));
  }
  out->plan = &program.plan;
  out->algorithm = program.name;
  out->channels = program.channels;
  out->costs.parts = costs_.splits;
  out->costs.at_once = std::min(costs_.splits_at_once, costs_.splits);
  return absl::OkStatus();
}

absl::StatusOr<std::string> CollectivePlanner::AlgorithmOn(const GroupShape& shape, CollectiveType type,
                                                           const std::string& algorithm) const {
  if (!ParseLevelAlgorithms(algorithm)) return algorithm;
  const std::vector<absl::string_view> names = absl::StrSplit(algorithm, '+');
  if (names.size() == shape.blocks.size()) return algorithm;
  const size_t dimensions = machine_.topology().dimensions().size();
  if (names.size() != dimensions) {
    return absl::InvalidArgumentError(
        absl::StrCat("collectives.algorithm \"", algorithm, "\" for ", std::string(Name(type)), " on ",
                     shape.ranks, " ranks names ", names.size(), " levels; expected one for each of the ",
                     dimensions, " dimensions of the topology"));
  }
  std::vector<absl::string_view> own;
  for (const int level : shape.levels) own.push_back(names[static_cast<size_t>(level)]);
  return absl::StrJoin(own, "+");
}

int CollectivePlanner::AxesOf(const GroupShape& shape) const {
  const std::vector<TopologyDimension>& dimensions = machine_.topology().dimensions();
  int axes = 0;
  for (const int level : shape.levels) {
    if (dimensions[static_cast<size_t>(level)].kind != TopologyDimension::Kind::kRing) break;
    ++axes;
  }
  return axes;
}

std::vector<double> CollectivePlanner::Bandwidths(const std::vector<int>& members,
                                                  const GroupShape& shape) const {
  constexpr uint64_t kBytes = uint64_t{1} << 30;
  std::vector<double> out;
  size_t stride = 1;
  for (const int size : shape.blocks) {
    const Time transfer = machine_.Cost(members[0], members[stride], kBytes).transfer;
    out.push_back(1 / std::max(1e-12, transfer.seconds()));
    stride *= static_cast<size_t>(size);
  }
  const double most = out.empty() ? 1 : *std::max_element(out.begin(), out.end());
  for (double& bandwidth : out) bandwidth /= most;
  return out;
}

absl::Status CollectivePlanner::PlanPlain(CollectiveType type, uint64_t bytes, int root,
                                          const std::vector<int>& members, const GroupShape& shape,
                                          const std::string& group, PlannedCall* out) {
  PlanRequest request{.type = type, .members = shape.ranks, .root = root};
  const uint64_t buffer = BufferBytes(type, bytes, shape.ranks);
  const std::string* chosen = RuleIn(costs_.algorithm, type, buffer, shape.ranks, group);
  out->costs.parts = costs_.splits;
  out->costs.at_once = std::min(costs_.splits_at_once, costs_.splits);
  if (chosen == nullptr) {
    const CustomProgram* program = FindProgram(type, buffer, root, shape.ranks, "");
    if (program != nullptr) return PlanFromFile(*program, root, shape.ranks, out);
  } else {
    for (const auto& program : costs_.programs) {
      if (program->name == *chosen && program->type == type)
        return PlanFromFile(*program, root, shape.ranks, out);
    }
    ASSIGN_OR_RETURN(request.algorithm, AlgorithmOn(shape, type, *chosen));
    if (shape.blocks.size() > 1) request.blocks = shape.blocks;
    if (request.algorithm == "themis") request.bandwidth = Bandwidths(members, shape);
    const bool torus = request.algorithm == "torus";
    if (torus) {
      request.blocks = shape.blocks;
      request.axes = AxesOf(shape);
      request.bandwidth = Bandwidths(members, shape);
    }
    if (torus || ParseLevelAlgorithms(request.algorithm)) {  // the parts are in the plan itself
      request.parts = std::exchange(out->costs.parts, 1);
      request.at_once = std::exchange(out->costs.at_once, 1);
      out->together = PricePhases(machine_, costs_, bytes, members, &request);
    }
  }
  ASSIGN_OR_RETURN(const Plan* plan, plans_.Get(std::move(request)));
  out->plan = plan;
  out->algorithm = plan->algorithm;
  return absl::OkStatus();
}

absl::Status CollectivePlanner::PlanWithLibrary(CollectiveType type, uint64_t bytes, int root,
                                                const std::vector<int>& members, const GroupShape& shape,
                                                const std::string& group, const char* kernel,
                                                PlannedCall* out) {
  const LibraryModel& library = *costs_.library;
  const uint64_t buffer = BufferBytes(type, bytes, shape.ranks);
  const std::vector<Candidate> candidates = Candidates(library, type, buffer, shape);
  const PriceFunction price = [&](const Candidate& c) {
    return price_(machine_, ForceChoice(costs_, type, c), type, bytes, root, members);
  };
  const std::string rule = RuleFor(library, type, buffer, shape.ranks, group);
  if (const CustomProgram* program = FindProgram(type, buffer, root, shape.ranks, rule)) {
    RETURN_IF_ERROR(PlanFromFile(*program, root, shape.ranks, out));
    const Candidate custom = AsCandidate(*program);
    out->costs = CostsOf(library, type, buffer, shape, custom);
    ShareLinks(library, type, shape, custom, &out->costs);
    out->algorithm = custom.Label();
    out->why = IsNamed(*program, rule) ? absl::StrCat("fixed, from ", program->source)
                                       : absl::StrCat(program->source, " serves this size");
    return absl::OkStatus();
  }
  if (library.mpi != nullptr && candidates.empty()) return mpi::NotPriced(*library.mpi, type);
  const bool told = kernel != nullptr && rule == "auto" && CanTake(candidates, kernel);
  absl::StatusOr<Choice> choice = Choose(candidates, told ? kernel : rule, price);
  if (!choice.ok()) {
    std::string reason(choice.status().message());
    for (const auto& program : costs_.programs) {
      if (program->type == type && IsNamed(*program, rule)) reason = Serves(*program);
    }
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(Name(type)), " of ", buffer, " bytes on ", shape.ranks, " ranks",
                     IsRooted(type) ? absl::StrCat(" with root ", root) : "", ": ", reason));
  }
  const Candidate& c = choice->candidate;
  PlanRequest request{.type = type, .algorithm = c.plan, .members = shape.ranks, .root = root};
  if (c.plan != "ring") {
    request.blocks = BlocksFor(c.plan, Rates(library, shape), shape);
    if (c.plan == "themis") request.bandwidth = Bandwidths(members, shape);
    request.pieces = PiecesOf(library, c, buffer, shape.ranks);
  }
  out->costs = CostsOf(library, type, buffer, shape, c);
  ShareLinks(library, type, shape, c, &out->costs);
  if (!c.of_hosts && (c.plan == "direct" || c.plan == "one_shot")) {
    ASSIGN_OR_RETURN(const Plan* plan, plans_.Get(request));
    if (BeginsAtOnce(*plan)) ShareAmongPeers(library, shape, &out->costs);
  }
  out->algorithm = c.Label();
  out->why = told ? "by the name of the recorded kernel" : choice->why;
  out->channels = c.channels;
  // Under one switch, the members of an all-reduce end together, so that a replay may use this time too.
  if (alone_ || (c.plan == "nvls" && type == CollectiveType::kAllReduce)) {
    out->together = TimeTogether(machine_, costs_, request, out->costs, bytes, members);
  }
  if (alone_ && out->together) return absl::OkStatus();
  ASSIGN_OR_RETURN(out->plan, plans_.Get(std::move(request)));
  return absl::OkStatus();
}

absl::StatusOr<const PlannedCall*> CollectivePlanner::Get(CollectiveType type, uint64_t bytes, int root,
                                                          const std::vector<int>& members,
                                                          const std::string& group, const char* kernel) {
  if (!IsRooted(type)) root = 0;
  const uint64_t size = by_size_ ? bytes : 0;
  std::unique_ptr<PlannedCall>& slot = calls_[{type, size, root, &members, kernel}];
  if (slot == nullptr) {
    auto call = std::make_unique<PlannedCall>();
    const GroupShape& shape = Shape(members);
    RETURN_IF_ERROR(costs_.library == nullptr
                        ? PlanPlain(type, bytes, root, members, shape, group, call.get())
                        : PlanWithLibrary(type, bytes, root, members, shape, group, kernel, call.get()));
    slot = std::move(call);
  }
  return slot.get();
}

}  // namespace chakra
