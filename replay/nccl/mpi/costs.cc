#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/mpi/mpi.h"
#include "replay/nccl/rates.h"

namespace chakra::mpi {
namespace {

using T = CollectiveType;

// Whether only one member of a node at a time sends to other nodes; otherwise all of them send in parallel.
bool SendsOneByOne(absl::string_view plan) {
  for (const char* name : {"ring", "neighbor", "chain", "reduce_broadcast", "binomial", "binomial_even",
                           "knomial", "binary", "linear"}) {
    if (plan == name) return true;
  }
  return false;
}

// Whether a member always exchanges messages with members whose numbers are close to its own, or with all
// members in turn.
bool MeetsNeighbours(absl::string_view plan) {
  for (const char* name : {"ring", "neighbor", "chain", "pairwise", "direct"}) {
    if (plan == name) return true;
  }
  return false;
}

// A group on the machine, as a call of one algorithm sees it.
class Group {
 public:
  Group(const LibraryModel& library, const GroupShape& shape, T type, absl::string_view plan, double bytes)
      : library_(library), mpi_(*library.mpi), type_(type), plan_(plan), bytes_(bytes), ranks_(shape.ranks) {
    const Rates rates(library, shape);
    const bool uneven = shape.uneven_nodes > 0;
    const int nodes = uneven ? shape.uneven_nodes : rates.nodes();
    per_node_ = std::max(1, (ranks_ + nodes - 1) / nodes);
    network_ = rates.network();
    rounds_ = RoundsOf(plan_, type_, bytes_, ranks_, per_node_);
  }

  // LatencyUs(): the latency of a message other than that of its links. Rate(): the rate of one message.
  double LatencyUs(const LibraryLevel& level) const {
    const bool far = level.link == LibraryLink::kNet;
    const HostMessages& m = MessagesOn(level, mpi_);
    const double queue_us = far ? m.post_us * (std::max(1.0, Senders() / Cards(level)) - 1) : 0;
    const double spread_us = far && !MeetsNeighbours(plan_) ? m.spread_us : 0;
    return std::max(0.0, m.latency_us + spread_us + queue_us - level.wire_us);
  }
  double Rate(const LibraryLevel& level) const {
    const bool far = level.link == LibraryLink::kNet;
    double rate = RateOn(level, mpi_), all;
    if (far) {
      all = level.link_gbytes_per_s * level.transport.host.rate_share * Cards(level) / Senders();
    } else {
      const bool tree = SendsOneByOne(plan_) && plan_ != "ring" && plan_ != "neighbor";
      all = mpi_.node_gbytes_per_s > 0 ? mpi_.node_gbytes_per_s / (tree ? 1 : per_node_) : rate;
    }
    rate = std::min(rate, all);
    if (plan_ == "direct") rate /= std::max(1, far ? ranks_ - per_node_ : per_node_ - 1);
    return std::clamp(rate, 1e-9, 1e9);
  }

  // The time that a rank's own processor spends during the call.
  double OwnUs() const {
    double us = mpi_.call_us + CopyUs() + PostsUs() + ConvergeUs();
    for (const Round& r : rounds_) {
      const HostMessages& m = Messages(r.far);
      us += r.times * (m.OwnUs(r.bytes) + r.behind * m.post_us + ReduceUs(r.reduced));
    }
    if (plan_ == "pat") us += FoldUs();
    return us;
  }

  // The time between the messages of a pairwise exchange: the library waits for each message before it begins
  // the next, but the plan does not.
  double PacedUs() const {
    const LibraryLevel* level = LevelOf(ranks_ > per_node_);
    if (plan_ != "pairwise" || level == nullptr) return 0;
    return (ranks_ - 2) * (LatencyUs(*level) + level->wire_us);
  }

  // The time of the isolated call if all members begin together.
  double TimeUs() const {
    double us = OwnUs();
    for (const Round& r : rounds_) {
      const LibraryLevel* level = LevelOf(r.far);
      if (level == nullptr) continue;
      us += r.times * (LatencyUs(*level) + level->wire_us + Micros((1 + r.behind) * r.bytes, Rate(*level)));
    }
    return us;
  }

 private:
  const HostMessages& Messages(bool far) const {
    return far && network_ != nullptr ? network_->transport.host : mpi_.memory;
  }
  const LibraryLevel* LevelOf(bool far) const {
    return far && network_ != nullptr ? network_ : library_.levels.empty() ? nullptr : &library_.levels[0];
  }
  double Cards(const LibraryLevel& level) const {
    return static_cast<double>(per_node_) / std::min(level.shared_by, per_node_);
  }
  // The number of members of a node that send to other nodes at the same time.
  double Senders() const { return SendsOneByOne(plan_) ? 1 : per_node_; }

  double ReduceUs(double bytes) const {
    return Micros(bytes,
                  bytes_ <= mpi_.cache_bytes ? mpi_.reduce_gbytes_per_s : mpi_.large_reduce_gbytes_per_s);
  }
  double Fresh() const {
    return bytes_ > mpi_.cache_bytes ? mpi_.fresh_gbytes_per_s : mpi_.copy_gbytes_per_s;
  }
  // The time to copy from the caller's buffer to another one, before or after the rounds.
  double CopyUs() const {
    const double share = bytes_ / ranks_;
    if (type_ == T::kAllGather) return Micros(share, mpi_.copy_gbytes_per_s);
    if (IsReduceScatter(type_)) return Micros(bytes_, Fresh());
    if (type_ == T::kAllReduce && plan_ != "ring") return Micros(bytes_, mpi_.copy_gbytes_per_s);
    if (type_ != T::kAllToAll) return 0;
    if (plan_ != "bruck") return Micros(share, mpi_.copy_gbytes_per_s);
    double moved = 2 * bytes_;  // rotated before and after; packed and unpacked for each message
    for (const Round& r : rounds_) moved += 2 * r.bytes * r.times;
    return Micros(moved, mpi_.copy_gbytes_per_s);
  }
  // The time to begin a message to each of many peers.
  double PostsUs() const {
    if (plan_ != "direct" && plan_ != "linear") return 0;
    return (per_node_ - 1) * mpi_.memory.post_us + (ranks_ - per_node_) * Messages(true).post_us;
  }
  // The time in which the messages of all others arrive at the root, one after the other.
  double ConvergeUs() const {
    if (plan_ != "linear" || type_ == T::kBroadcast) return 0;
    double us = 0;
    for (const LibraryLevel* level : {LevelOf(false), network_}) {
      const bool far = level != nullptr && level == network_;
      const int peers = far ? ranks_ - per_node_ : per_node_ - 1;
      if (level != nullptr && peers > 0) us += peers * Micros(bytes_, Rate(*level));
    }
    return us;
  }
  // The time of the fold, which the plan "pat" leaves out: members beyond the largest power of two first give
  // all their data to others.
  double FoldUs() const {
    const bool far = per_node_ == 1;
    const LibraryLevel* level = LevelOf(far);
    if (level == nullptr) return 0;
    return LatencyUs(*level) + level->wire_us + Messages(far).OwnUs(bytes_) + Micros(bytes_, Rate(*level)) +
           ReduceUs(bytes_);
  }

  const LibraryModel& library_;
  const MpiModel& mpi_;
  T type_;
  absl::string_view plan_;
  double bytes_;
  int ranks_;
  int per_node_ = 1;
  const LibraryLevel* network_ = nullptr;
  std::vector<Round> rounds_;
};

// The library's choice for a call, and a text that states the limits for which it holds.
struct Taken {
  std::string algorithm;
  std::string why;
};

std::optional<Taken> TakenFor(const MpiModel& mpi, T type, uint64_t bytes, int ranks) {
  const bool share = std::count(mpi.of_share.begin(), mpi.of_share.end(), type) > 0;
  const uint64_t size = share ? bytes / static_cast<uint64_t>(ranks) : bytes;
  const auto after = mpi.choices.upper_bound({type, ranks});
  if (after == mpi.choices.begin()) return std::nullopt;
  const auto& [key, sized] = *std::prev(after);
  if (key.first != type) return std::nullopt;
  const SizedChoice* taken = &sized[0];
  for (const SizedChoice& s : sized) {
    if (s.bytes <= size) taken = &s;
  }
  return Taken{taken->algorithm,
               absl::StrCat(mpi.name, " uses ", taken->algorithm, " on ", key.second, " or more ranks, for ",
                            taken->bytes, " or more bytes", share ? " of a share" : "")};
}

constexpr uint64_t kElement = 4;  // bytes, assumed: float and int32

// The plan of an algorithm in this call. Algorithms that need another number of ranks or elements fall back
// to another plan, as the libraries do.
std::string PlanOf(const MpiModel& mpi, const MpiAlgorithm& a, T type, uint64_t bytes, int ranks) {
  const bool power = std::has_single_bit(static_cast<unsigned>(ranks));
  const absl::string_view plan = a.plan;
  const uint64_t elements = bytes / kElement;
  if (type == T::kAllReduce && plan == "ring" && elements < static_cast<uint64_t>(ranks))
    return "paired_doubling";
  if (plan == "rabenseifner" && elements < std::bit_floor(static_cast<uint64_t>(ranks))) return mpi.of_few;
  if (type == T::kAllGather && plan == "recursive_doubling" && !power) return "bruck";
  if (plan == "neighbor" && ranks % 2 != 0) return "ring";
  if (plan == "recursive_halving" && !power) return "pat";
  return a.plan;
}

}  // namespace

const HostMessages& MessagesOn(const LibraryLevel& level, const MpiModel& mpi) {
  return level.link == LibraryLink::kNet ? level.transport.host : mpi.memory;
}

double RateOn(const LibraryLevel& level, const MpiModel& mpi) {
  const HostMessages& m = MessagesOn(level, mpi);
  if (level.link != LibraryLink::kNet) return m.rank_gbytes_per_s;
  const double card = level.link_gbytes_per_s * m.rate_share;
  return m.rank_gbytes_per_s > 0 ? std::min(card, m.rank_gbytes_per_s) : card;
}

std::vector<MpiAlgorithm> AlgorithmsOf(T type) {
  switch (type) {
    case T::kAllReduce:
      return {{"recursive_doubling", "paired_doubling"},
              {"ring", "ring"},
              {"rabenseifner", "rabenseifner"},
              {"reduce_broadcast", "reduce_broadcast"}};
    case T::kAllGather:
      return {{"recursive_doubling", "recursive_doubling"},
              {"bruck", "bruck"},
              {"ring", "ring"},
              {"neighbor", "neighbor"}};
    case T::kReduceScatter:
    case T::kReduceScatterBlock:
      return {{"recursive_halving", "recursive_halving"}, {"ring", "ring"}};
    case T::kAllToAll:
      return {{"linear", "direct"}, {"pairwise", "pairwise"}, {"bruck", "bruck"}};
    case T::kBroadcast:
      return {{"binomial", "binomial_even"},
              {"knomial", "knomial"},
              {"binary", "binary"},
              {"linear", "linear"},
              {"chain", "chain"},
              {"scatter_all_gather", "scatter_all_gather"}};
    case T::kReduce:
      return {{"binomial", "binomial"}, {"binary", "binary"}, {"linear", "linear"}, {"chain", "chain"}};
    case T::kBarrier:
      return {{"dissemination", "dissemination"}};
    default:
      return {};
  }
}

std::vector<Candidate> CandidatesOf(const LibraryModel& library, T type, uint64_t bytes,
                                    const GroupShape& shape) {
  const std::optional<Taken> taken = TakenFor(*library.mpi, type, bytes, shape.ranks);
  std::vector<Candidate> out;
  for (const MpiAlgorithm& a : AlgorithmsOf(type)) {
    Candidate& c = out.emplace_back();
    c.algorithm = a.name;
    c.plan = PlanOf(*library.mpi, a, type, bytes, shape.ranks);
    c.of_hosts = true;
    const Group group(library, shape, type, c.plan, static_cast<double>(bytes));
    c.time_us = group.TimeUs();
    c.latency_us = Group(library, shape, type, c.plan, 0).TimeUs();
    c.gbytes_per_s = static_cast<double>(bytes) / std::max(1e-6, c.time_us - c.latency_us) * 1e-3;
    if (taken && taken->algorithm == c.algorithm) {
      c.picked_by = {"auto"};
      c.picked_why = absl::StrCat(taken->why, c.plan == a.plan ? "" : absl::StrCat(", run as ", c.plan));
    } else {
      c.unfit = taken ? absl::StrCat(library.mpi->name, " uses ", taken->algorithm, " here")
                      : absl::StrCat(library.mpi->name, " has no choice for ", std::string(Name(type)));
      c.on_request = true;
    }
  }
  return out;
}

CallCosts CostsOf(const LibraryModel& library, T type, uint64_t bytes, const GroupShape& shape,
                  const Candidate& candidate) {
  const Group group(library, shape, type, candidate.plan, static_cast<double>(bytes));
  CallCosts costs;
  costs.begin = Time::FromNanos((group.OwnUs() + group.PacedUs()) * 1e3);
  for (const LibraryLevel& level : library.levels) {
    CallCosts::Level& out = costs.levels.emplace_back();
    out.latency = Time::FromNanos(group.LatencyUs(level) * 1e3);
    out.limit = Bandwidth::FromGigabytes(group.Rate(level));
  }
  return costs;
}

}  // namespace chakra::mpi
