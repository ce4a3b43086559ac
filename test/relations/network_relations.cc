#include "test/relations/network_relations.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/run/collective_table.h"
#include "replay/run/machine.h"

namespace chakra::relations {
namespace {

// The rounding of times to picoseconds, over the steps of a plan.
constexpr double kRounding = 1e-6;

template <typename T>
const T& Any(const std::vector<T>& of, std::mt19937_64* random) {
  return of[(*random)() % of.size()];
}

std::string NetworkSpec(const Setting& s) {
  const std::string card = absl::StrFormat("%gGb/s", s.card_gbps),
                    up = absl::StrFormat("%gGb/s", s.uplink_gbps);
  const auto ns = [&](double latency) { return absl::StrFormat("%gns", latency * s.latency); };
  if (s.network == "leaf_spine" || s.network == "fat_tree") {
    return absl::StrCat(s.network, ":link=", card, ",uplink=", up, ",latency=", ns(500),
                        ",uplink_latency=", ns(500));
  }
  if (s.network == "dragonfly") {
    return absl::StrCat("dragonfly:host=", card, ",local=", up, ",global=", up, ",host_latency=", ns(500),
                        ",local_latency=", ns(500), ",global_latency=", ns(1000));
  }
  return absl::StrCat(s.network, ":link=", card, ",latency=", ns(500));
}

absl::StatusOr<proto::Cluster> ClusterOf(const Setting& s, const std::string& fabric) {
  TableOptions options;
  options.cluster =
      s.nodes > 1 || s.preset.substr(0, 3) == "dgx" ? absl::StrCat(s.preset, ":nodes=", s.nodes) : s.preset;
  if (!s.network.empty()) options.topology.network = NetworkSpec(s);
  options.topology.routing = s.routing;
  if (fabric == "mixed") options.topology.mixed = {"ranks=0-1"};
  std::vector<std::string> notes;
  absl::StatusOr<proto::Cluster> cluster = DescribeMachine(options, &notes);
  if (!cluster.ok()) return cluster.status();
  for (proto::Dimension& d : *cluster->mutable_topology()->mutable_dimension()) {
    if (d.kind() == proto::Dimension::NETWORK) continue;
    const bool cards = &d == &cluster->topology().dimension(cluster->topology().dimension_size() - 1) &&
                       cluster->topology().dimension_size() > 1;
    d.set_bandwidth_gbytes_per_s(cards ? s.card_gbps / 8 : d.bandwidth_gbytes_per_s() * s.inside);
    d.set_latency_ns(d.latency_ns() * s.latency);
  }
  return cluster;
}

std::string Compared(const Setting& s, const std::string& what, const Priced& one, const Priced& other) {
  return absl::StrFormat("%s: %s: %.6f us (%s), %.6f us (%s)", s.Text(), what, one.us, one.algorithm,
                         other.us, other.algorithm);
}

// Members of such plans wait for each message before they send the next. If links become faster in one place,
// members get out of step, and their messages come together at a receiver. On a fabric where flows delay each
// other, the plan can then be slower, although no link is.
bool GetsOutOfStep(const Setting& s, const std::string& algorithm, const std::string& fabric) {
  const bool waits = algorithm.substr(0, 8) == "pairwise" ||
                     (algorithm.substr(0, 6) == "direct" && s.type != CollectiveType::kAllToAll);
  return waits && fabric != "analytical";
}

// Pieces of a tree share links with others. If some pieces come earlier, the order changes, and a piece for
// which all wait may come later: a scheduling anomaly (Graham, 1969).
constexpr double kOrder = 0.01;
bool SharesLinks(const Setting& s, const std::string& algorithm, const std::string& fabric) {
  return algorithm.find("tree") != std::string::npos && !s.network.empty() && fabric != "analytical";
}

// Calls `check` with random settings until `count` of them were possible.
template <typename Check>
std::vector<Broken> CheckMany(uint64_t seed, int count, int most_ranks, uint64_t most_bytes, Check check) {
  std::mt19937_64 random(seed);
  std::vector<Broken> broken;
  for (int done = 0, tried = 0; done < count && tried < 20 * count; ++tried) {
    done += check(Draw(&random, most_ranks, most_bytes), &random, &broken) ? 1 : 0;
    if (tried + 1 == 20 * count) broken.push_back({"hardly a setting is possible"});
  }
  return broken;
}

}  // namespace

std::string Setting::Text() const {
  return absl::StrFormat(
      "%s of %d on %d ranks of %d nodes %s %s %s card %g uplink %g inside %g latency %g %s",
      std::string(Name(type)), bytes, ranks, nodes, preset, network, routing, card_gbps, uplink_gbps, inside,
      latency, algorithm);
}

Setting Draw(std::mt19937_64* random, int most_ranks, uint64_t most_bytes) {
  static const std::vector<std::string> presets = {"dgx-h100", "dgx-a100", "dgx-b200", "mi300x"};
  static const std::vector<std::string> networks = {"",           "",         "",      "leaf_spine",
                                                    "leaf_spine", "fat_tree", "torus", "dragonfly"};
  static const std::vector<double> rates = {50, 100, 200, 400, 800, 1600};
  using T = CollectiveType;
  static const std::vector<T> types = {T::kAllReduce, T::kAllReduce, T::kAllGather, T::kReduceScatter,
                                       T::kAllToAll,  T::kBroadcast, T::kReduce,    T::kGather};
  Setting s;
  s.preset = Any(presets, random);
  s.nodes = 1 << (*random)() % 4;
  s.network = s.nodes > 1 ? Any(networks, random) : "";
  if (!s.network.empty() && (*random)() % 3 == 0) s.routing = Any<std::string>({"ecmp", "spray"}, random);
  s.ranks = s.nodes * 8;
  if (s.nodes == 1) s.ranks = 2 + static_cast<int>((*random)() % 7);
  s.card_gbps = Any(rates, random);
  s.uplink_gbps = Any(rates, random);
  s.inside = Any<double>({0.25, 0.5, 1, 2}, random);
  s.latency = Any<double>({0.5, 1, 2, 4}, random);
  s.type = Any(types, random);
  const double logs = std::log2(static_cast<double>(most_bytes));
  s.bytes = static_cast<uint64_t>(std::exp2(3 + (logs - 3) * static_cast<double>((*random)() % 1000) / 1000));
  if ((*random)() % 2 == 0) s.bytes = (s.bytes / 4096 + 1) * 4096;
  static const std::vector<std::string> reducing = {"",
                                                    "",
                                                    "ring",
                                                    "tree",
                                                    "nvls",
                                                    "nvls_tree",
                                                    "ring/ll",
                                                    "ring/ll128",
                                                    "tree/simple",
                                                    "direct",
                                                    "halving_doubling"};
  static const std::vector<std::string> moving = {"", "", "ring", "direct", "ring/simple", "pat"};
  s.algorithm = Any(s.type == T::kAllReduce  ? reducing
                    : s.type == T::kAllToAll ? std::vector<std::string>{"", "direct", "pairwise"}
                                             : moving,
                    random);
  if (s.ranks > most_ranks) {
    s.nodes = std::max(1, most_ranks / 8);
    s.ranks = std::min(most_ranks, s.nodes * 8);
    if (s.nodes == 1) s.network = s.routing = "";
  }
  return s;
}

Setting Better(const Setting& setting, std::mt19937_64* random, std::string* what) {
  Setting s = setting;
  const double times = Any<double>({1.125, 1.5, 2, 4}, random);
  switch ((*random)() % 5) {
    case 0:
      s.uplink_gbps *= times;
      *what = "uplinks";
      break;
    case 1:
      s.inside *= times;
      *what = "bandwidth inside";
      break;
    case 2:
      s.latency /= times;
      *what = "latency";
      break;
    default:
      s.card_gbps = std::min(1600.0, s.card_gbps * times);
      *what = "cards";
      break;
  }
  absl::StrAppend(what, " x ", times);
  return s;
}

absl::StatusOr<Priced> Price(const Setting& s, const std::string& fabric) {
  absl::StatusOr<proto::Cluster> cluster = ClusterOf(s, fabric);
  if (!cluster.ok()) return cluster.status();
  TableOptions options;
  options.fabric = fabric;
  options.fabric_options.threads = 1;
  options.type = s.type;
  options.ranks = s.ranks;
  options.algorithm = s.algorithm;
  options.each_flow = true;
  absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(*cluster, options);
  if (!table.ok()) return table.status();
  absl::StatusOr<TableRow> row = table->Price(s.bytes);
  if (!row.ok()) return row.status();
  Priced out;
  out.us = row->device_us;
  out.algorithm = row->protocol == "-" ? row->algorithm : absl::StrCat(row->algorithm, "/", row->protocol);
  for (const LinkUse& use : table->machine().Links(~size_t{0}).busiest) {
    out.on_links += static_cast<double>(use.bytes);
    out.flows += static_cast<double>(use.flows);
  }
  for (const DimensionTraffic& of : table->machine().Traffic())
    out.of_messages += static_cast<double>(of.bytes);
  return out;
}

std::vector<Broken> CheckBetter(const std::string& fabric, uint64_t seed, int count, int most_ranks,
                                uint64_t most_bytes) {
  return CheckMany(seed, count, most_ranks, most_bytes,
                   [&](Setting s, std::mt19937_64* random, std::vector<Broken>* broken) {
                     std::string what;
                     const uint64_t draw = (*random)();
                     absl::StatusOr<Priced> before = Price(s, fabric);
                     if (!before.ok() || GetsOutOfStep(s, before->algorithm, fabric)) return false;
                     s.algorithm = before->algorithm;
                     std::mt19937_64 own(draw);
                     const Setting better = Better(s, &own, &what);
                     const absl::StatusOr<Priced> after = Price(better, fabric);
                     if (!after.ok()) return false;
                     const double most = SharesLinks(s, before->algorithm, fabric) ? kOrder : kRounding;
                     if (after->us > before->us * (1 + most)) {
                       broken->push_back({Compared(s, absl::StrCat(fabric, ", ", what), *before, *after)});
                     }
                     return true;
                   });
}

std::vector<Broken> CheckOrder(const std::string& fast, const std::string& slow, double headers,
                               uint64_t seed, int count, int most_ranks, uint64_t most_bytes) {
  return CheckMany(seed, count, most_ranks, most_bytes,
                   [&](const Setting& s, std::mt19937_64*, std::vector<Broken>* broken) {
                     const absl::StatusOr<Priced> one = Price(s, fast), other = Price(s, slow);
                     if (!one.ok() || !other.ok()) return false;
                     if (other->us < one->us * (1 - headers) * (1 - kRounding)) {
                       broken->push_back({Compared(s, absl::StrCat(fast, ", ", slow), *one, *other)});
                     }
                     return true;
                   });
}

std::vector<Broken> CheckBytes(const std::string& fabric, uint64_t seed, int count, int most_ranks,
                               uint64_t most_bytes) {
  return CheckMany(
      seed, count, most_ranks, most_bytes,
      [&](const Setting& s, std::mt19937_64*, std::vector<Broken>* broken) {
        if (s.preset == "mi300x") return false;  // on a mesh, one link represents all links of a device
        const absl::StatusOr<Priced> priced = Price(s, fabric);
        if (!priced.ok()) return false;
        const double apart = std::abs(priced->on_links - priced->of_messages);
        // Parts of messages on several NICs are padded to a byte.
        if (apart > 1 + priced->flows + priced->of_messages * (s.routing == "spray" ? 1e-3 : 1e-9)) {
          broken->push_back({absl::StrFormat("%s (%s): links carry %.0f bytes, messages have %.0f", s.Text(),
                                             priced->algorithm, priced->on_links, priced->of_messages)});
        }
        return true;
      });
}

}  // namespace chakra::relations
