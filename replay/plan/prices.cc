#include "replay/plan/prices.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/compute/compute.h"
#include "replay/engine/price.h"
#include "replay/run/machine.h"
#include "trace/base/status_macros.h"
#include "trace/et/read_options.h"
#include "trace/generate/write.h"

namespace chakra::planning {
namespace {

using generate::GroupKind;
using generate::Layout;
using generate::Operator;
using generate::Split;

constexpr int kLargePower = 26;
constexpr int kSampledRanks = 64;  // number of ranks whose groups are compared, if groups may differ

std::string KeyOf(const Operator& op) {
  return absl::StrCat(op.name, "|", op.shapes, "|", op.types, "|", op.operations, "|", op.bytes);
}

// Whether blocks of `block` neighbours divide nodes, or nodes divide the blocks.
bool Aligned(int64_t block, int64_t node) { return node % block == 0 || block % node == 0; }

}  // namespace

absl::StatusOr<std::unique_ptr<Prices>> Prices::Make(const RunOptions& options, int ranks) {
  std::unique_ptr<Prices> out(new Prices(options));
  ASSIGN_OR_RETURN(auto described, DescribeMachine(options, &out->run_.warnings));
  auto cluster = BuildCluster(described, ranks);
  if (!cluster.ok())
    return absl::Status(cluster.status().code(),
                        absl::StrCat(ClusterSpec(options), ": ", cluster.status().message()));
  out->cluster_ = *std::move(cluster);
  ASSIGN_OR_RETURN(out->machine_, BuildMachine(out->cluster_, options, ranks));
  out->messages_ = std::make_unique<MessagePrices>(*out->machine_, out->cluster_.collectives.library.get());
  const std::string compute = options.compute.empty() ? std::string(kDefaultTimeSources) : options.compute;
  ASSIGN_OR_RETURN(out->pricer_, GraphPricer::Make(options, compute, out->cluster_.proto.device(), false,
                                                   KernelLoad::Steady(ranks), &out->run_));
  out->ranks_ = ranks;
  out->domain_ = DomainOf(described);
  for (const proto::Dimension& d : described.topology().dimension()) out->node_ *= std::max(1, d.size());
  out->node_ = std::min(out->node_, ranks);
  return out;
}

uint64_t Prices::device_memory() const {
  if (options_.device_memory > 0) return options_.device_memory;
  return static_cast<uint64_t>(cluster_.proto.device().memory_mib()) << 20;
}

// New operators go through the trace model, like those of a replay.
absl::StatusOr<std::vector<double>> Prices::OfOperators(const std::vector<Operator>& operators) {
  std::vector<std::string> keys;
  std::vector<size_t> fresh;
  keys.reserve(operators.size());
  for (size_t i = 0; i < operators.size(); ++i) {
    keys.push_back(KeyOf(operators[i]));
    if (operators_.try_emplace(keys[i], 0).second) fresh.push_back(i);
  }
  if (!fresh.empty()) {
    generate::StepGraphs step;
    step.stages.resize(1);
    const generate::Spot spot = {0, -1, "forward", "priced"};
    for (const size_t i : fresh) step.stages[0].Compute(operators[i], spot, {});
    ASSIGN_OR_RETURN(const auto traces, generate::TracesOf(step, "operators", ReadOptions()));
    ASSIGN_OR_RETURN(const auto times, pricer_->Price(*traces.ranks[0].graph));
    for (size_t n = 0; n < fresh.size(); ++n)
      operators_[keys[fresh[n]]] = static_cast<double>(times.time[n].picos());
  }
  std::vector<double> out;
  out.reserve(keys.size());
  for (const std::string& key : keys) out.push_back(operators_[key]);
  return out;
}

absl::StatusOr<double> Prices::OfOperator(const Operator& op) {
  const auto found = operators_.find(KeyOf(op));
  if (found != operators_.end()) return found->second;
  auto all = OfOperators({op});
  return all.ok() ? absl::StatusOr<double>((*all)[0]) : all.status();
}

// If blocks of ranks are aligned with nodes, all groups of a kind are placed in the same way, and that of
// rank 0 stands for all.
std::vector<std::vector<int>> Prices::DistinctGroups(GroupKind kind, const Split& split) const {
  const Layout layout(split);
  const bool aligned = Aligned(split.tp, node_) && Aligned(split.tp * split.cp, node_) &&
                       Aligned(split.stage_ranks(), node_) && Aligned(split.ep * split.etp, node_) &&
                       Aligned(split.tp * split.cp * split.pp, node_);
  if (aligned) return {layout.Members(kind, 0)};
  std::vector<std::vector<int>> out;
  std::set<std::vector<int>> seen;  // the levels between consecutive members
  std::set<int> first;
  for (int rank = 0; rank < std::min(kSampledRanks, ranks_); ++rank) {
    std::vector<int> members = layout.Members(kind, rank);
    if (!first.insert(members[0]).second) continue;
    std::vector<int> levels;
    for (size_t i = 0; i + 1 < members.size(); ++i)
      levels.push_back(machine_->Level(members[i], members[i + 1]));
    if (seen.insert(std::move(levels)).second) out.push_back(std::move(members));
  }
  return out;
}

int Prices::GroupsOf(GroupKind kind, const Split& split) {
  if (Layout(split).SizeOf(kind) < 2) return -1;
  const SplitKey key = {static_cast<int64_t>(kind),
                        split.tp,
                        split.cp,
                        split.dp,
                        split.pp,
                        split.ep,
                        split.etp,
                        split.copies,
                        (split.pp_before_dp ? 1 : 0) + (split.mirrored() ? 2 : 0)};
  const auto [at, fresh] = groups_of_split_.try_emplace(key, 0);
  if (!fresh) return at->second;
  const auto [known, added] =
      known_groups_.try_emplace(DistinctGroups(kind, split), static_cast<int>(groups_.size()));
  if (added) groups_.push_back(&known->first);
  return at->second = known->second;
}

absl::StatusOr<double> Prices::OfCollective(CollectiveType type, int64_t bytes, int groups) {
  if (groups < 0) return 0;
  const auto [at, fresh] = collectives_.try_emplace({type, bytes, groups}, 0);
  if (!fresh) return at->second;
  double most = 0;
  for (const std::vector<int>& members : *groups_[static_cast<size_t>(groups)]) {
    ASSIGN_OR_RETURN(const auto time, PriceUncontended(*machine_, cluster_.collectives, type,
                                                       static_cast<uint64_t>(bytes), 0, members));
    most = std::max(most, static_cast<double>(time.picos()));
  }
  return at->second = most;
}

// Interpolates between powers of two, and between powers of eight from 64 MiB on, where a collective is bound
// by bandwidth.
absl::StatusOr<double> Prices::AboutCollective(CollectiveType type, int64_t bytes, int groups) {
  if (groups < 0 || bytes < 64) return OfCollective(type, bytes, groups);
  int power = 63 - __builtin_clzll(static_cast<uint64_t>(bytes)), next = power + 1;
  if (power >= kLargePower) {
    power -= (power - kLargePower) % 3;
    next = power + 3;
  }
  const int64_t low = int64_t{1} << power, high = int64_t{1} << next;
  ASSIGN_OR_RETURN(const auto below, OfCollective(type, low, groups));
  ASSIGN_OR_RETURN(const auto above, OfCollective(type, high, groups));
  return below + (above - below) * static_cast<double>(bytes - low) / static_cast<double>(high - low);
}

double Prices::OfMessage(int src, int dst, int64_t bytes) {
  const auto size = static_cast<uint64_t>(bytes);
  const MessageCosts* known = messages_->Of(src, dst, size);
  const MessageCosts costs = known == nullptr ? MessageCosts() : *known;
  const Time wire = machine_->Cost(src, dst, size, costs.limit).received();
  return static_cast<double>((costs.begin + costs.latency + wire).picos());
}

std::vector<double> Prices::BetweenStages(const Split& split, int64_t bytes) {
  const Layout layout(split);
  std::vector<double> out;
  const int last = layout.RankAt({split.tp - 1, split.cp - 1, split.dp - 1, 0});
  for (int64_t s = 0; s + 1 < split.pp; ++s) {
    double most = 0;
    for (const int rank : {0, last})
      most = std::max(most, OfMessage(layout.OnStage(rank, s), layout.OnStage(rank, s + 1), bytes));
    out.push_back(most);
  }
  return out;
}

}  // namespace chakra::planning
