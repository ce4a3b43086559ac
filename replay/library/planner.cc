#include "replay/library/planner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/collective_runner.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/library/choose.h"
#include "replay/library/constants.h"
#include "replay/library/price.h"

namespace chakra {
namespace {

// Pieces that a pipelined plan cuts `bytes` into, of about `piece` bytes: a power of two, so that few
// plans serve all sizes.
int Pieces(uint64_t bytes, double piece, int most) {
  int pieces = 2;
  while (pieces<most&& static_cast<double>(bytes)> pieces * piece) pieces *= 2;
  return pieces;
}

// What a channel moves at once through a tree or a switch; NCCL: 64 KiB and 128 KiB.
constexpr double kTreePiece = 65536;
constexpr double kSwitchPiece = 131072;

// Through a chain: an eighth of the protocol's buffer.
double ChainPiece(const LibraryModel& library, Protocol p) {
  return static_cast<double>(p == Protocol::kLL      ? nccl::kChunkLL
                             : p == Protocol::kLL128 ? nccl::kChunkLL128
                                                     : library.chunk_bytes / 4);
}

// Messages that one member sends at once, by the most of its streams that send.
int SendsAtOnce(const Plan& plan) {
  int most = 1;
  for (const Program& program : plan.programs) {
    int streams = 0;
    for (const Stream& s : program.streams) {
      streams += std::any_of(program.steps.begin() + s.begin, program.steps.begin() + s.end,
                             [](const Step& step) { return IsSend(step.op); });
    }
    most = std::max(most, streams);
  }
  return most;
}

Candidate AsCandidate(const CustomProgram& program) {
  Candidate c;
  c.algorithm = program.name;
  c.plan = program.name;
  c.protocol = ParseProtocol(program.protocol).value_or(Protocol::kSimple);
  c.channels = program.channels;
  c.sends_at_once = SendsAtOnce(program.plan);
  return c;
}

}  // namespace

const GroupShape& CollectivePlanner::Shape(const std::vector<int>& members) {
  const auto found = shapes_.find(&members);
  if (found != shapes_.end()) return found->second;
  return shapes_.emplace(&members, ShapeOf(fabric_, costs_.library.get(), members)).first->second;
}

const CustomProgram* CollectivePlanner::FindProgram(CollectiveType type, uint64_t bytes, int root, int ranks,
                                                    const std::string& rule) const {
  for (const auto& program : costs_.programs) {
    const Plan& plan = program->plan;
    const bool asked = rule.empty() || rule == "auto" || rule == program->name;
    if (!asked || program->type != type || plan.members != ranks) continue;
    if (IsRooted(type) && program->root != root) continue;
    if (bytes < program->min_bytes || bytes > program->max_bytes) continue;
    const int cuts = plan.parts > 0 ? plan.parts : plan.chunks;
    if (plan.even && bytes % static_cast<uint64_t>(cuts) != 0) continue;
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
  out->costs.parts = costs_.splits;
  return absl::OkStatus();
}

absl::Status CollectivePlanner::PlanPlain(CollectiveType type, uint64_t bytes, int root,
                                          const GroupShape& shape, PlannedCall* out) {
  PlanRequest request{.type = type, .members = shape.ranks, .root = root};
  const auto chosen = costs_.algorithm.find(std::string(Name(type)));
  if (chosen == costs_.algorithm.end()) {
    const uint64_t buffer = BufferBytes(type, bytes, shape.ranks);
    const CustomProgram* program = FindProgram(type, buffer, root, shape.ranks, "");
    if (program != nullptr) return PlanFromFile(*program, root, shape.ranks, out);
  } else {
    for (const auto& program : costs_.programs) {
      if (program->name == chosen->second && program->type == type)
        return PlanFromFile(*program, root, shape.ranks, out);
    }
    request.algorithm = chosen->second;
    if (shape.blocks.size() > 1) request.blocks = shape.blocks;
  }
  absl::StatusOr<const Plan*> plan = plans_.Get(std::move(request));
  if (!plan.ok()) return plan.status();
  out->plan = *plan;
  out->algorithm = (*plan)->algorithm;
  out->costs.parts = costs_.splits;
  return absl::OkStatus();
}

absl::Status CollectivePlanner::PlanWithLibrary(CollectiveType type, uint64_t bytes, int root,
                                                const std::vector<int>& members, const GroupShape& shape,
                                                const std::string& group, PlannedCall* out) {
  const LibraryModel& library = *costs_.library;
  const uint64_t buffer = BufferBytes(type, bytes, shape.ranks);
  const std::vector<Candidate> candidates = Candidates(library, type, buffer, shape);
  const PriceFunction price = [&](const Candidate& c) {
    return PriceUncontended(fabric_, ForceChoice(costs_, type, c), type, bytes, root, members);
  };
  const std::string rule = RuleFor(library, type, buffer, shape.ranks, group);
  if (const CustomProgram* program = FindProgram(type, buffer, root, shape.ranks, rule)) {
    if (absl::Status s = PlanFromFile(*program, root, shape.ranks, out); !s.ok()) return s;
    const Candidate custom = AsCandidate(*program);
    out->costs = CostsOf(library, type, buffer, shape, custom);
    if (fabric_.contention_free()) ShareLinks(library, type, shape, custom, &out->costs);
    out->algorithm = custom.Label();
    out->why = absl::StrCat(program->source, " serves this size");
    return absl::OkStatus();
  }
  absl::StatusOr<Choice> choice = Choose(candidates, rule, price);
  if (!choice.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(Name(type)), " of ", buffer, " bytes on ",
                                                   shape.ranks,
                                                   " ranks: ", std::string(choice.status().message())));
  }
  const Candidate& c = choice->candidate;
  PlanRequest request{.type = type, .algorithm = c.plan, .members = shape.ranks, .root = root};
  if (c.plan != "ring") {
    request.blocks = shape.blocks;
    const bool chain = c.plan == "chain";  // all pieces pass all members: few where those are many
    const double piece =
        chain ? ChainPiece(library, c.protocol) : (c.algorithm == "tree" ? kTreePiece : kSwitchPiece);
    request.pieces = Pieces(buffer, piece * c.channels, chain && shape.ranks <= 1024 ? 1024 : 64);
  }
  absl::StatusOr<const Plan*> plan = plans_.Get(std::move(request));
  if (!plan.ok()) return plan.status();
  out->plan = *plan;
  out->costs = CostsOf(library, type, buffer, shape, c);
  if (fabric_.contention_free()) ShareLinks(library, type, shape, c, &out->costs);
  out->algorithm = c.Label();
  out->why = choice->why;
  return absl::OkStatus();
}

absl::StatusOr<const PlannedCall*> CollectivePlanner::Get(CollectiveType type, uint64_t bytes, int root,
                                                          const std::vector<int>& members,
                                                          const std::string& group) {
  if (!IsRooted(type)) root = 0;
  // Without a library the plan does not depend on the size.
  const uint64_t size = costs_.library == nullptr && costs_.programs.empty() ? 0 : bytes;
  std::unique_ptr<PlannedCall>& slot = calls_[{type, size, root, &members}];
  if (slot == nullptr) {
    auto call = std::make_unique<PlannedCall>();
    const GroupShape& shape = Shape(members);
    const absl::Status status = costs_.library == nullptr
                                    ? PlanPlain(type, bytes, root, shape, call.get())
                                    : PlanWithLibrary(type, bytes, root, members, shape, group, call.get());
    if (!status.ok()) return status;
    slot = std::move(call);
  }
  return slot.get();
}

}  // namespace chakra
