#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/constants.h"
#include "replay/nccl/mpi/mpi.h"
#include "replay/nccl/rates.h"
#include "replay/nccl/shipped.h"

namespace chakra {
namespace {

using T = CollectiveType;
using nccl::Algorithm;

constexpr double kNoBandwidth = 0;
constexpr char kUneven[] = "nodes have different numbers of members";

// Whether each member can read the memory of each other member at the full rate of its own link.
bool IsOnOneNvlinkSwitch(const LibraryModel& library, const GroupShape& shape) {
  if (shape.uneven_nodes > 0 || shape.levels.size() != 1) return false;
  const LibraryLevel& level = library.levels[static_cast<size_t>(shape.levels[0])];
  return level.link == LibraryLink::kNvlink && level.kind == TopologyDimension::Kind::kSwitch &&
         level.wired == 0;
}

// The number of steps of a ring.
int RingSteps(T type, int n) {
  if (type == T::kAllReduce) return 2 * (n - 1);
  return type == T::kBroadcast || type == T::kReduce ? n : n - 1;
}

class Tuner {
 public:
  Tuner(const LibraryModel& library, T type, uint64_t bytes, const GroupShape& shape)
      : library_(library),
        shape_(shape),
        type_(type),
        bytes_(bytes),
        rates_(library, shape),
        n_(shape.ranks) {}

  std::vector<Candidate> Run() {
    for (const Protocol p : {Protocol::kLL, Protocol::kLL128, Protocol::kSimple}) {
      if (type_ == T::kAllReduce || type_ == T::kAllGather || IsReduceScatter(type_) ||
          type_ == T::kBroadcast || type_ == T::kReduce) {
        Ring(p);
      }
      if (type_ == T::kAllReduce) Tree(p);
    }
    if (type_ == T::kAllReduce || type_ == T::kAllGather || IsReduceScatter(type_)) Nvls();
    if (type_ == T::kAllReduce) NvlsTree();
    if (type_ == T::kAllReduce) CollNet();
    if (type_ == T::kAllGather || IsReduceScatter(type_)) Pat();
    if (out_.empty()) PointToPoint();
    Others();
    if (type_ == T::kAllReduce) Shipped();
    if (type_ == T::kAllToAll) Experts();
    for (Candidate& c : out_) {
      const int first = nccl::FirstVersionOf(c.algorithm);
      if (library_.version >= first || c.shipped) continue;
      c.unfit = absl::StrCat("NCCL has it from ", nccl::VersionText(first), " on, and this is ",
                             nccl::VersionText(library_.version));
      c.on_request = false;
    }
    return std::move(out_);
  }

 private:
  Candidate& Add(const char* algorithm, const char* plan, Protocol p, double latency_us, double gbytes_per_s,
                 int channels) {
    Candidate c;
    c.algorithm = algorithm;
    c.plan = plan;
    c.protocol = p;
    c.latency_us = latency_us;
    c.gbytes_per_s = gbytes_per_s;
    c.time_us = latency_us + (gbytes_per_s > 0 ? static_cast<double>(bytes_) / (gbytes_per_s * 1e3) : 0);
    c.channels = channels;
    if (p == Protocol::kLL128 && rates_.intra_link() != LibraryLink::kNvlink && rates_.per_node() > 1) {
      c.unfit = "LL128 needs NVLink inside the node";
    } else if (p == Protocol::kLL128 && rates_.nodes() > 1 && rates_.network() != nullptr &&
               rates_.network()->far_cards && library_.version < nccl::kFirstWithLL128ToFarCards) {
      c.unfit = absl::StrCat("LL128 between nodes needs NICs next to the devices (far_cards) before NCCL ",
                             nccl::VersionText(nccl::kFirstWithLL128ToFarCards));
    }
    out_.push_back(std::move(c));
    return out_.back();
  }

  // Small sizes use fewer channels: each thread of a channel must have at least a minimum number of bytes.
  int Channels(Algorithm a, Protocol p) const {
    const double least = static_cast<double>(nccl::ThreadThreshold(a, p, n_)) * nccl::Threads(p);
    const double earned = std::floor(static_cast<double>(bytes_) / least);
    return static_cast<int>(std::clamp(earned, 1.0, static_cast<double>(rates_.channels())));
  }

  void Ring(Protocol p) {
    const int steps = RingSteps(type_, n_);
    const int inter = (rates_.nodes() - 1) * (type_ == T::kAllReduce ? 2 : 1);
    const double latency = rates_.Base(Algorithm::kRing, p) +
                           (steps - inter) * rates_.Step(Algorithm::kRing, p, false) +
                           inter * rates_.Step(Algorithm::kRing, p, true);
    const double bus = rates_.Bus(Algorithm::kRing, p, rates_.bus());
    const bool chain = type_ == T::kBroadcast || type_ == T::kReduce;
    Add("ring", chain ? "chain" : "ring", p, latency, bus * n_ / steps, Channels(Algorithm::kRing, p));
  }

  void Tree(Protocol p) {
    const double latency = rates_.Base(Algorithm::kTree, p) +
                           2 * ((rates_.per_node() - 1) * rates_.Step(Algorithm::kTree, p, false) +
                                std::log2(rates_.nodes()) * rates_.Step(Algorithm::kTree, p, true));
    const double bus =
        rates_.Bus(Algorithm::kTree, p, rates_.tuner_tree_bus()) * nccl::TreeCorrection(p, bytes_);
    Add("tree", "double_binary_tree", p, latency, bus / 2, Channels(Algorithm::kTree, p));
  }

  void Nvls() {
    const double rate = rates_.InSwitch(false);
    const double share = type_ == T::kAllReduce ? 1 + 1.0 / n_ : 1;
    Candidate& c = Add("nvls", "nvls", Protocol::kSimple, rates_.Base(Algorithm::kNvls, Protocol::kSimple),
                       rate / share, rates_.in_switch_channels());
    if (rate == kNoBandwidth)
      c.unfit = "the switch cannot reduce or multicast (in_switch_efficiency)";
    else if (rates_.nodes() > 1)
      c.unfit = "several nodes: see nvls_tree";
    else if (!rates_.OneSwitch(false))
      c.unfit = "the group is not connected to one switch";
    else if (n_ < rates_.in_switch_ranks())
      Stand(kFewInSwitch, &c);
  }

  void NvlsTree() {
    const double rate = rates_.InSwitch(false);
    const double inter = rates_.inter() * (rates_.nodes() == 2 ? 2 : 1);
    const double bus = std::min(
        {2 * rate, inter, rates_.channels() * nccl::MaxNvlsTree(library_.generation, rates_.nodes())});
    const double latency =
        rates_.Base(Algorithm::kNvlsTree, Protocol::kSimple) +
        2 * std::log2(rates_.nodes()) * rates_.Step(Algorithm::kNvlsTree, Protocol::kSimple, true);
    Candidate& c = Add("nvls_tree", "nvls_tree", Protocol::kSimple, latency, bus * n_ / (2.0 * (n_ - 1)),
                       rates_.in_switch_channels());
    if (rates_.per_node() < 2)
      c.unfit = "one member on each node";
    else if (rate == kNoBandwidth)
      c.unfit = "the switch of the node cannot reduce or multicast";
    else if (rates_.nodes() < 2)
      c.unfit = "one node: see nvls";
    else if (rates_.in_switch_alone())
      c.unfit = "the switch serves only groups inside one NVLink domain (in_switch_alone)";
    else if (!rates_.OneSwitch(false))
      c.unfit = rates_.even() ? "the members of a node are not connected to one switch" : kUneven;
  }

  void CollNet() {
    const double rate = rates_.InSwitch(true) * rates_.per_node();
    const double latency = 2 * rates_.Step(Algorithm::kCollNet, Protocol::kSimple, false) +
                           rates_.Step(Algorithm::kCollNet, Protocol::kSimple, true);
    Candidate& c = Add("collnet", "collnet", Protocol::kSimple, latency, std::min(rate, rates_.intra()) / 2,
                       rates_.channels());
    if (rates_.nodes() < 2)
      c.unfit = "one node";
    else if (rate == kNoBandwidth)
      c.unfit = "the network's switches cannot reduce (in_switch_efficiency)";
    else if (!rates_.OneSwitch(true))
      c.unfit = rates_.even() ? "the nodes are not connected to one switch" : kUneven;
    else if (rates_.per_node() < 2)
      c.unfit = "one member on each node";
  }

  void Pat() {
    const double latency = rates_.Base(Algorithm::kPat, Protocol::kSimple) +
                           std::log2(n_) * rates_.Step(Algorithm::kPat, Protocol::kSimple, true) / 3.5 +
                           2.8 * n_;
    Candidate& c =
        Add("pat", "pat", Protocol::kSimple, latency, 0.75 * rates_.bus() * n_ / (n_ - 1), rates_.channels());
    if (rates_.nodes() < 2 || rates_.nodes() < n_) c.unfit = "needs one member on each of several nodes";
  }

  // Adds grouped sends and receives, with which the library runs the collectives that it does not have.
  void PointToPoint() {
    // Sends to all peers at the same time, if the registry has such a plan.
    const std::string plan = type_ == T::kAllToAll ? "direct" : AlgorithmsFor(type_)[0];
    const double link = rates_.nodes() > 1 ? rates_.OwnRate(true) : rates_.intra();
    for (const Protocol p : {Protocol::kLL, Protocol::kSimple}) {
      const double latency =
          rates_.Base(Algorithm::kRing, p) + rates_.Step(Algorithm::kRing, p, rates_.nodes() > 1);
      Candidate& c = Add(plan.c_str(), plan.c_str(), p, latency,
                         rates_.Bus(Algorithm::kRing, p, link) * n_ / std::max(1, n_ - 1),
                         Channels(Algorithm::kRing, p));
      const bool small = library_.version >= nccl::kFirstWithLLToPeer &&
                         bytes_ / static_cast<uint64_t>(n_) <= nccl::kMostLLToPeer;
      if (c.unfit.empty() && small != (p == Protocol::kLL)) Stand(small ? kSmallToPeer : kLargeToPeer, &c);
    }
  }

  // Adds the registry's algorithms that the library does not have.
  void Others() {
    for (const std::string& plan : AlgorithmsFor(type_)) {
      const bool known =
          std::any_of(out_.begin(), out_.end(), [&](const Candidate& c) { return c.plan == plan; });
      if (known || IsOfHosts(type_, plan)) continue;
      for (const Protocol p : {Protocol::kLL, Protocol::kLL128, Protocol::kSimple}) {
        Candidate& c = Add(plan.c_str(), plan.c_str(), p, 0, kNoBandwidth, Channels(Algorithm::kRing, p));
        c.time_us = 0;
        if (c.unfit.empty()) Stand(kNotTuned, &c);
      }
    }
  }

  // Makes the library not choose the candidate; a rule may still name it.
  static void Stand(const char* why, Candidate* c) {
    c->unfit = why;
    c->on_request = true;
  }

  // Adds the kernels of other software. Where the law of one-shot holds, its kernel replaces the registry's
  // plan of the same name, which has the library's constants.
  void Shipped() {
    const bool reached = IsOnOneNvlinkSwitch(library_, shape_);
    const bool multicast = reached && rates_.OneSwitch(false);
    for (const auto& [algorithm, plan] :
         {std::pair{shipped::kOneShot, "one_shot"}, std::pair{shipped::kTwoShot, "direct"},
          std::pair{shipped::kMultimem, "nvls"}}) {
      const absl::string_view name = algorithm;
      const bool one_shot = name == shipped::kOneShot;
      if (one_shot && !reached) continue;
      if (one_shot) {
        out_.erase(std::remove_if(out_.begin(), out_.end(),
                                  [](const Candidate& c) { return c.algorithm == shipped::kOneShot; }),
                   out_.end());
      }
      Candidate& c = Add(algorithm, plan, Protocol::kSimple, 0, kNoBandwidth, 1);
      c.shipped = true;
      if (!reached) {
        c.unfit = "it needs all members on one NVLink switch";
      } else if (name == shipped::kMultimem && !multicast) {
        c.unfit = "the switch cannot reduce or multicast (in_switch_efficiency)";
      } else {
        Stand(kNotTuned, &c);
        for (const std::string& software : shipped::Software()) {
          if (shipped::Pick(software, library_.generation, n_, bytes_, multicast) == name)
            c.picked_by.push_back(software);
        }
      }
    }
  }

  // Adds the dispatch and combine of experts, which write to peers over NVLink and RDMA.
  void Experts() {
    for (const char* algorithm : {shipped::kDeepEp, shipped::kDeepEpLowLatency}) {
      Candidate& c = Add(algorithm, "direct", Protocol::kSimple, 0, kNoBandwidth, 1);
      c.shipped = true;
      if (rates_.per_node() > 1 && rates_.intra_link() != LibraryLink::kNvlink) {
        c.unfit = "it needs NVLink inside the node";
      } else {
        Stand(kNotTuned, &c);
      }
    }
  }

  const LibraryModel& library_;
  const GroupShape& shape_;
  T type_;
  uint64_t bytes_;
  Rates rates_;
  int n_;
  std::vector<Candidate> out_;
};

}  // namespace

std::string Candidate::Label() const {
  return of_hosts ? algorithm : absl::StrCat(algorithm, "/", std::string(Name(protocol)));
}

std::vector<Candidate> Candidates(const LibraryModel& library, CollectiveType type, uint64_t bytes,
                                  const GroupShape& shape) {
  if (library.mpi != nullptr) return mpi::CandidatesOf(library, type, bytes, shape);
  return Tuner(library, type, bytes, shape).Run();
}

}  // namespace chakra
