#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/network.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/choose.h"
#include "replay/nccl/library.h"
#include "replay/nccl/mpi/mpi.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using proto::CollectiveLibrary;

constexpr char kPrefix[] = "cluster: collectives.library.";
constexpr double kMaxMicros = 1e6;
constexpr double kMaxGigabytes = 1e9;
constexpr double kMaxShare = 1000;
constexpr double kMostFill = 1e15;
constexpr int kMaxWired = 64;
constexpr int64_t kMinChunk = 1024;
constexpr int64_t kMaxChunk = 1000000000000000;

absl::Status Bad(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(kPrefix, field, " is ", got, "; expected ", expected));
}

// Returns an error unless `v` is in (0, most], or in [0, most] if `zero` is allowed.
absl::Status Check(absl::string_view field, double v, double most, bool zero) {
  if (std::isfinite(v) && v <= most && (zero ? v >= 0 : v > 0)) return absl::OkStatus();
  return Bad(field, absl::StrCat(v), absl::StrCat("a number ", zero ? ">= 0" : "> 0", " and <= ", most));
}

absl::Status CheckWiring(const proto::LibraryLevel& p, int level, const std::string& field,
                         const TopologyDimension& dim, LibraryLevel* out) {
  if (p.wiring_size() == 0) return absl::OkStatus();
  if (level > 0) {
    return Bad(field + "wiring", absl::StrCat("there ", p.wiring_size(), " times"),
               "none: only level[0] may have wiring");
  }
  RETURN_IF_ERROR(Check(field + "wire_gbytes_per_s", p.wire_gbytes_per_s(), kMaxGigabytes, false));
  out->wire_gbytes_per_s = p.wire_gbytes_per_s();
  int64_t devices = dim.size;
  for (const proto::Wire& w : p.wiring()) {
    devices = std::max({devices, int64_t{w.a()} + 1, int64_t{w.b()} + 1});
  }
  if (devices > kMaxWired) {
    return Bad(field + "wiring", absl::StrCat("over ", devices, " devices"),
               absl::StrCat("at most ", kMaxWired));
  }
  out->wired = static_cast<int>(devices);
  out->links.assign(static_cast<size_t>(devices) * devices, 0);
  for (int i = 0; i < p.wiring_size(); ++i) {
    const proto::Wire& w = p.wiring(i);
    if (w.a() < 0 || w.b() < 0 || w.a() == w.b() || w.links() < 1 || w.links() > 1000) {
      return Bad(absl::StrCat(field, "wiring[", i, "]"),
                 absl::StrCat(w.links(), " links from ", w.a(), " to ", w.b()),
                 "1 to 1000 links between two different devices of the block");
    }
    out->links[static_cast<size_t>(w.a() * devices + w.b())] += w.links();
    out->links[static_cast<size_t>(w.b() * devices + w.a())] += w.links();
  }
  return absl::OkStatus();
}

// The rate at which the slowest device of a network can send over all its links, as a multiple of the
// dimension's bandwidth.
double PortsOf(const TopologyDimension& dim) {
  if (dim.network == nullptr) return 1;
  const NetworkGraph& graph = dim.network->graph;
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t device = 0; device < graph.devices(); ++device) {
    double all = 0;
    for (uint32_t arc = graph.begin(device); arc < graph.end(device); ++arc) {
      all += static_cast<double>(graph.link_class(arc).bandwidth.bytes_per_second());
    }
    least = std::min(least, all);
  }
  return std::max(1.0, least / static_cast<double>(dim.bandwidth.bytes_per_second()));
}

bool IsOfHosts(const CollectiveLibrary& p) { return !p.name().empty() && p.name() != "nccl"; }

// Checks that the transport of a network has numbers for the library.
absl::Status CheckUser(const LibraryLevel& level, bool hosts, const std::string& field) {
  if (level.link != LibraryLink::kNet || (hosts ? level.transport.has_host : level.transport.has_device))
    return absl::OkStatus();
  const std::string& name = level.transport.name;
  return Bad(
      field + "transport", name.empty() ? "not named" : absl::StrCat("\"", name, "\""),
      hosts
          ? "one that has `host`, for MPI: a known transport or fields, as `chakra-replay topology transport "
            "infiniband-ndr` prints them"
          : "one that has more than `host`, which is only for MPI");
}

absl::StatusOr<LibraryLevel> CheckLevel(const CollectiveLibrary& library, int i,
                                        const TopologyDimension& dim) {
  const proto::LibraryLevel& p = library.level(i);
  const bool hosts = IsOfHosts(library);
  const std::string field = absl::StrCat("level[", i, "].");
  LibraryLevel out;
  switch (p.link()) {
    case proto::LibraryLevel::NVLINK:
      out.link = LibraryLink::kNvlink;
      break;
    case proto::LibraryLevel::PCI:
      out.link = LibraryLink::kPci;
      break;
    case proto::LibraryLevel::NET:
      out.link = LibraryLink::kNet;
      break;
    default:
      return Bad(field + "link", p.link() == 0 ? std::string("not set") : absl::StrCat(p.link()),
                 "NVLINK, PCI or NET");
  }
  // A network, like a switch, has a port for each device; it does not reduce.
  const bool network = dim.kind == TopologyDimension::Kind::kNetwork;
  out.kind = network ? TopologyDimension::Kind::kSwitch : dim.kind;
  out.link_gbytes_per_s = static_cast<double>(dim.bandwidth.bytes_per_second()) * 1e-9;
  if (network) out.ports = PortsOf(dim);
  // A higher value is probably Gb/s written as GB/s: no NIC is faster than this limit.
  if (!network && out.link == LibraryLink::kNet && dim.bandwidth > Parameters::kMaxPortRate) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster: topology.dimension[", i, "].bandwidth_gbytes_per_s is ", out.link_gbytes_per_s,
                     "; expected at most 200 (1.6 Tb/s) where collectives.library.level[", i,
                     "].link is NET; ", out.link_gbytes_per_s, " Gb/s is ", out.link_gbytes_per_s / 8));
  }
  const bool is_switch = dim.kind == TopologyDimension::Kind::kSwitch || network;
  out.wire_us = static_cast<double>(dim.latency.picos()) * 1e-6 * (is_switch ? 2 : 1);
  RETURN_IF_ERROR(Check(field + "efficiency", p.efficiency(), 1, hosts));
  out.efficiency = p.efficiency();
  RETURN_IF_ERROR(Check(field + "in_switch_efficiency", p.in_switch_efficiency(), 1, true));
  out.in_switch_efficiency = network ? 0 : p.in_switch_efficiency();
  RETURN_IF_ERROR(Check(field + "in_switch_channels", p.in_switch_channels(), 1024, true));
  out.in_switch_channels = p.in_switch_channels() > 0 ? p.in_switch_channels() : library.channels();
  RETURN_IF_ERROR(Check(field + "nic_latency_us", p.nic_latency_us(), kMaxMicros, true));
  out.nic_latency_us = p.nic_latency_us();
  ASSIGN_OR_RETURN(out.transport, BuildTransport(p.transport(), field + "transport."));
  RETURN_IF_ERROR(CheckUser(out, hosts, field));
  if (network) out.transport.quiet_nodes = 0;  // the simulation shares its links between flows
  out.far_cards = p.far_cards();
  out.in_switch_alone = p.in_switch_alone();
  RETURN_IF_ERROR(Check(field + "carried", p.carried(), 1, true));
  out.carried = p.carried() > 0 ? p.carried() : out.transport.rate_share;
  if (p.shared_by() < 0) return Bad(field + "shared_by", absl::StrCat(p.shared_by()), ">= 0");
  out.shared_by = std::max(1, p.shared_by());
  if (p.in_switch_ranks() < 0)
    return Bad(field + "in_switch_ranks", absl::StrCat(p.in_switch_ranks()), ">= 0");
  out.in_switch_ranks = std::max(2, p.in_switch_ranks());
  RETURN_IF_ERROR(CheckWiring(p, i, field, dim, &out));
  return out;
}

// The names of all algorithms, of the library and of the registry, that a term may have.
std::vector<std::string> ListTermNames() {
  std::vector<std::string> names = {"ring",     "tree",     "nvls",   "nvls_tree",          "collnet", "pat",
                                    "two_shot", "multimem", "deepep", "deepep_low_latency", "program"};
  for (int i = 0; i < kCollectiveTypes; ++i) {
    for (std::string& n : AlgorithmsFor(static_cast<CollectiveType>(i))) names.push_back(std::move(n));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const std::vector<std::string>& TermNames() {
  static const auto* const kNames = new std::vector<std::string>(ListTermNames());
  return *kNames;
}

// Reads the fields of a term about transfers on one node.
absl::Status AddKernel(const proto::LibraryTerm& p, const std::string& field, LibraryTerm* term) {
  for (const absl::Status& s :
       {Check(field + "channel_gbytes_per_s", p.channel_gbytes_per_s(), kMaxGigabytes, true),
        Check(field + "step_share", p.step_share(), 1, true),
        Check(field + "own_gbytes_per_s", p.own_gbytes_per_s(), kMaxGigabytes, true),
        Check(field + "own_bytes", p.own_bytes(), kMostFill, true),
        Check(field + "fill_bytes", p.fill_bytes(), kMostFill, true),
        Check(field + "fill_share", p.fill_share(), kMaxShare, true)}) {
    if (!s.ok()) return s;
  }
  term->channel_gbytes_per_s = p.channel_gbytes_per_s();
  term->step_share = p.step_share();
  term->own_gbytes_per_s = p.own_gbytes_per_s();
  term->fill_bytes = p.fill_bytes();
  term->fill_share = p.fill_share();
  term->own_bytes = p.own_bytes();
  term->step_overlaps = p.step_overlaps();
  term->by_chunk = p.by_chunk();
  return absl::OkStatus();
}

absl::Status AddTerm(const proto::LibraryTerm& p, int i, LibraryModel* out) {
  const std::string field = absl::StrCat("term[", i, "].");
  const std::vector<std::string>& known = TermNames();
  if (std::find(known.begin(), known.end(), p.algorithm()) == known.end()) {
    return Bad(field + "algorithm",
               absl::StrCat("\"", p.algorithm(), "\"", SuggestName(p.algorithm(), known)),
               absl::StrCat("one of: ", absl::StrJoin(known, ", ")));
  }
  const std::optional<Protocol> protocol = ParseProtocol(p.protocol());
  if (!protocol)
    return Bad(field + "protocol", absl::StrCat("\"", p.protocol(), "\""), "ll, ll128 or simple");
  LibraryTerm term;
  const auto take = [&](bool has, double v, const char* name, bool zero, double most,
                        std::optional<double>* to) -> absl::Status {
    if (!has) return absl::OkStatus();
    *to = v;
    return Check(field + name, v, most, zero);
  };
  for (const absl::Status& s :
       {take(p.has_base_us(), p.base_us(), "base_us", true, kMaxMicros, &term.base_us),
        take(p.has_step_us(), p.step_us(), "step_us", true, kMaxMicros, &term.step_us),
        take(p.has_network_step_us(), p.network_step_us(), "network_step_us", true, kMaxMicros,
             &term.network_step_us),
        take(p.has_bus_share(), p.bus_share(), "bus_share", false, kMaxShare, &term.bus_share),
        take(p.has_network_share(), p.network_share(), "network_share", false, kMaxShare,
             &term.network_share)}) {
    if (!s.ok()) return s;
  }
  RETURN_IF_ERROR(AddKernel(p, field, &term));
  if (!out->terms.emplace(std::make_pair(p.algorithm(), *protocol), term).second) {
    return Bad(field + "algorithm", absl::StrCat(p.algorithm(), "/", p.protocol(), " a second time"),
               "one term for each algorithm and protocol");
  }
  return absl::OkStatus();
}

absl::Status CheckChoice(const LibraryModel& library, const std::map<CollectiveType, RuleNames>& programs,
                         const std::string& key, const std::string& rule) {
  const std::string field = absl::StrCat("choice[\"", key, "\"]");
  const std::optional<ChoiceKey> parsed = ParseChoiceKey(key);
  if (!parsed) {
    return absl::InvalidArgumentError(absl::StrCat(
        kPrefix, field,
        ": expected a key COLLECTIVE[:RANKS][@BYTES] or COLLECTIVE/GROUP, e.g. all_reduce:8@1048576"));
  }
  const std::optional<CollectiveType> type = CollectiveNamed(parsed->collective);
  if (!type) {
    return absl::InvalidArgumentError(absl::StrCat(kPrefix, field, " names the unknown collective \"",
                                                   parsed->collective, "\"",
                                                   SuggestName(parsed->collective, CollectiveNames())));
  }
  const absl::StatusOr<Rule> parsed_rule = ParseRule(rule, NamesFor(library, *type, programs));
  if (!parsed_rule.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kPrefix, field, " is \"", rule, "\": ", std::string(parsed_rule.status().message())));
  }
  return absl::OkStatus();
}

absl::Status AddLevels(const CollectiveLibrary& p, const std::vector<TopologyDimension>& dimensions,
                       LibraryModel* out) {
  if (p.level_size() != static_cast<int>(dimensions.size())) {
    return Bad("level", absl::StrCat("there ", p.level_size(), " times"),
               absl::StrCat("one for each dimension of the topology, which has ", dimensions.size()));
  }
  for (int i = 0; i < p.level_size(); ++i) {
    ASSIGN_OR_RETURN(LibraryLevel level, CheckLevel(p, i, dimensions[static_cast<size_t>(i)]));
    out->levels.push_back(std::move(level));
  }
  return absl::OkStatus();
}

absl::Status AddChoices(const CollectiveLibrary& p, const std::map<CollectiveType, RuleNames>& programs,
                        LibraryModel* out) {
  out->choice = {p.choice().begin(), p.choice().end()};
  for (const auto& [key, rule] : out->choice) {
    RETURN_IF_ERROR(CheckChoice(*out, programs, key, rule));
  }
  return absl::OkStatus();
}

// Builds a library on buffers of hosts. It has no kernels, so nothing is launched and no computation is
// slowed down.
absl::StatusOr<LibraryModel> BuildHostLibrary(const CollectiveLibrary& p,
                                              const std::vector<TopologyDimension>& dimensions,
                                              const std::map<CollectiveType, RuleNames>& programs) {
  LibraryModel out;
  ASSIGN_OR_RETURN(out.mpi, mpi::LoadMpi(p.name()));
  RETURN_IF_ERROR(AddLevels(p, dimensions, &out));
  RETURN_IF_ERROR(AddChoices(p, programs, &out));
  return out;
}

}  // namespace

absl::string_view Name(Protocol p) {
  return p == Protocol::kLL ? "ll" : p == Protocol::kLL128 ? "ll128" : "simple";
}

std::optional<Protocol> ParseProtocol(absl::string_view name) {
  for (const Protocol p : {Protocol::kLL, Protocol::kLL128, Protocol::kSimple}) {
    if (name == Name(p)) return p;
  }
  return std::nullopt;
}

absl::StatusOr<LibraryModel> BuildLibrary(const CollectiveLibrary& p,
                                          const std::vector<TopologyDimension>& dimensions,
                                          const std::map<CollectiveType, RuleNames>& programs) {
  LibraryModel out;
  if (IsOfHosts(p)) return BuildHostLibrary(p, dimensions, programs);
  if (p.generation() < CollectiveLibrary::VOLTA || p.generation() > CollectiveLibrary::BLACKWELL) {
    return Bad("generation", p.generation() == 0 ? std::string("not set") : absl::StrCat(p.generation()),
               "VOLTA, AMPERE, HOPPER or BLACKWELL");
  }
  out.generation = static_cast<Generation>(p.generation() - 1);
  const absl::StatusOr<int> version = nccl::ParseVersion(p.version());
  if (!version.ok())
    return absl::InvalidArgumentError(absl::StrCat(kPrefix, "version ", version.status().message()));
  out.version = *version;
  if (p.channels() < 1 || p.channels() > 1024)
    return Bad("channels", absl::StrCat(p.channels()), "1 to 1024");
  out.channels = p.channels();
  if (p.search_channels() < 0 || p.search_channels() > p.channels())
    return Bad("search_channels", absl::StrCat(p.search_channels()), "0 to channels");
  out.search_channels = p.search_channels() > 0 ? p.search_channels() : p.channels();
  RETURN_IF_ERROR(AddLevels(p, dimensions, &out));
  for (const absl::Status& s : {Check("enqueue_us", p.enqueue_us(), kMaxMicros, true),
                                Check("launch_us", p.launch_us(), kMaxMicros, true),
                                Check("kernel_gap_us", p.kernel_gap_us(), kMaxMicros, true),
                                Check("copy_gbytes_per_s", p.copy_gbytes_per_s(), kMaxGigabytes, true),
                                Check("slowdown", p.slowdown(), 1000, true)}) {
    if (!s.ok()) return s;
  }
  out.enqueue_us = p.enqueue_us();
  out.launch_us = p.launch_us();
  out.kernel_gap_us = p.kernel_gap_us();
  out.copy_gbytes_per_s = p.copy_gbytes_per_s();
  if (p.chunk_bytes() != 0 && (p.chunk_bytes() < kMinChunk || p.chunk_bytes() > kMaxChunk)) {
    return Bad("chunk_bytes", absl::StrCat(p.chunk_bytes()),
               absl::StrCat(kMinChunk, " to ", kMaxChunk, ", or 0 for 2 MiB"));
  }
  if (p.chunk_bytes() > 0) out.chunk_bytes = static_cast<uint64_t>(p.chunk_bytes());
  out.slowdown = p.slowdown();
  if (p.devices_per_host() < 0) return Bad("devices_per_host", absl::StrCat(p.devices_per_host()), ">= 0");
  out.devices_per_host = std::max(1, p.devices_per_host());
  for (int i = 0; i < p.term_size(); ++i) {
    RETURN_IF_ERROR(AddTerm(p.term(i), i, &out));
  }
  RETURN_IF_ERROR(AddChoices(p, programs, &out));
  return out;
}

RuleNames NamesFor(const LibraryModel& library, CollectiveType type,
                   const std::map<CollectiveType, RuleNames>& programs) {
  const GroupShape pair{.ranks = 2, .blocks = {2}, .levels = {0}};  // names do not depend on the shape
  RuleNames names = NamesOf(Candidates(library, type, 1, pair));
  if (const auto own = programs.find(type); own != programs.end()) {
    for (const auto& [name, protocols] : own->second) names[name].insert(protocols.begin(), protocols.end());
  }
  return names;
}

std::optional<ChoiceKey> ParseChoiceKey(absl::string_view key) {
  ChoiceKey out;
  if (const size_t slash = key.find('/'); slash != absl::string_view::npos) {
    out.collective = std::string(key.substr(0, slash));
    out.group = std::string(key.substr(slash + 1));
    return out;
  }
  const size_t at = key.find('@');
  if (at != absl::string_view::npos && !absl::SimpleAtoi(key.substr(at + 1), &out.from)) return std::nullopt;
  key = key.substr(0, at);
  const size_t colon = key.find(':');
  if (colon != absl::string_view::npos &&
      (!absl::SimpleAtoi(key.substr(colon + 1), &out.ranks) || out.ranks < 1)) {
    return std::nullopt;
  }
  out.collective = std::string(key.substr(0, colon));
  return out;
}

const std::string* RuleIn(const std::map<std::string, std::string>& rules, CollectiveType type, uint64_t bytes,
                          int ranks, absl::string_view group) {
  const std::string* rule = nullptr;
  ChoiceKey best;
  for (const auto& [text, value] : rules) {
    const ChoiceKey key = *ParseChoiceKey(text);  // the keys were checked when the rules were read
    if (key.collective != std::string(Name(type))) continue;
    if (!key.group.empty() && key.group != std::string(group)) continue;
    if ((key.ranks != 0 && key.ranks != ranks) || key.from > bytes) continue;
    const auto weight = [](const ChoiceKey& k) {
      return std::make_tuple(!k.group.empty(), k.ranks != 0, k.from);
    };
    if (rule == nullptr || weight(key) >= weight(best)) {
      rule = &value;
      best = key;
    }
  }
  return rule;
}

std::string RuleFor(const LibraryModel& library, CollectiveType type, uint64_t bytes, int ranks,
                    absl::string_view group) {
  const std::string* rule = RuleIn(library.choice, type, bytes, ranks, group);
  return rule == nullptr ? "auto" : *rule;
}

}  // namespace chakra
