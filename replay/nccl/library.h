// A collective library with NCCL's structure: its costs other than those of the wire, and its choice of
// algorithm and protocol. Times are in microseconds, bandwidths in GB/s (1e9 bytes); a plan's costs are Time.
//
// Source of the structure: NCCL's tuner (src/graph/tuning.cc and src/tuning, releases 2.10 to 2.30).
// Constants: constants.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/machine.h"
#include "backends/topology/topology.h"
#include "proto/cluster.pb.h"
#include "replay/nccl/transport.h"
#include "replay/nccl/version.h"
#include "trace/model/trace.h"

namespace chakra {

namespace mpi {
struct MpiModel;  // replay/nccl/mpi/mpi.h
}  // namespace mpi

enum class Protocol : uint8_t { kLL, kLL128, kSimple };
inline constexpr int kProtocols = 3;
absl::string_view Name(Protocol p);  // "ll", "ll128", "simple"
std::optional<Protocol> ParseProtocol(absl::string_view name);

enum class LibraryLink : uint8_t { kNvlink, kPci, kNet };
enum class Generation : uint8_t { kVolta, kAmpere, kHopper, kBlackwell };

struct LibraryLevel {
  LibraryLink link = LibraryLink::kNvlink;
  TopologyDimension::Kind kind = TopologyDimension::Kind::kSwitch;
  double link_gbytes_per_s = 0;  // of one link, in each direction
  double efficiency = 1;
  double carried = 1;  // see proto::LibraryLevel
  int shared_by = 1;
  double ports = 1;                 // number of a device's links, each of link_gbytes_per_s: more than one on
                                    // a torus, for example
  double in_switch_efficiency = 0;  // 0: the switch only forwards
  int in_switch_channels = 0;
  bool in_switch_alone = false;  // see proto::LibraryLevel
  int in_switch_ranks = 2;       // minimum number of members of a group that runs inside the switch
  double nic_latency_us = 0;
  Transport transport;
  bool far_cards = false;  // see proto::LibraryLevel
  int wired = 0;           // number of devices of the wiring; 0: no wiring
  std::vector<int> links;  // [a * wired + b]: parallel links between devices a and b of a block
  double wire_gbytes_per_s = 0;
  double wire_us = 0;  // latency of the links of a path, if the dimension gives it
};

// See proto::LibraryTerm.
struct LibraryTerm {
  std::optional<double> base_us, step_us, network_step_us, bus_share, network_share;
  double channel_gbytes_per_s = 0;  // 0: only the bus counts
  double step_share = 0;
  double own_gbytes_per_s = 0;  // 0: free
  double fill_bytes = 0;
  double fill_share = 0;
  double own_bytes = 0;  // 0: all
  bool step_overlaps = false;
  bool by_chunk = false;
};

struct LibraryModel {
  std::shared_ptr<const mpi::MpiModel> mpi;  // null: NCCL; else a library on hosts, for which only `levels`
                                             // and `choice` of the fields below have a meaning
  Generation generation = Generation::kHopper;
  int version = nccl::kNewestVersion;
  int channels = 1;
  int search_channels = 1;
  std::vector<LibraryLevel> levels;  // one for each dimension of the topology
  double enqueue_us = 0;
  double launch_us = 0;
  double kernel_gap_us = 0;
  double copy_gbytes_per_s = 0;  // 0: free
  uint64_t chunk_bytes = 2 << 20;
  int devices_per_host = 1;
  std::map<std::pair<std::string, Protocol>, LibraryTerm> terms;  // by algorithm and protocol
  std::map<std::string, std::string> choice;
  double slowdown = 0;
};

// The names that a rule of LibraryModel::choice may use, with the protocols of each.
using RuleNames = std::map<std::string, std::set<Protocol>>;

// Checks every field against the topology's dimensions, and each rule against the names for its collective:
// those of the library and those of `programs`, which come from files. Errors name the field and what was
// expected.
absl::StatusOr<LibraryModel> BuildLibrary(const proto::CollectiveLibrary& library,
                                          const std::vector<TopologyDimension>& dimensions,
                                          const std::map<CollectiveType, RuleNames>& programs = {});

// The names that rules for calls of `type` may use.
RuleNames NamesFor(const LibraryModel& library, CollectiveType type,
                   const std::map<CollectiveType, RuleNames>& programs);

// How the members of a group are placed in the machine.
struct GroupShape {
  int ranks = 1;
  // Nested blocks, the innermost first, and the level that each of them crosses. A group that is not a
  // product of blocks has a single block at the highest level.
  std::vector<int> blocks;
  std::vector<int> levels;
  int rings = 0;  // number of rings that fit on the wiring of level 0, if it has a wiring
  // For a group that is not a product of blocks: the number of its nodes, and the minimum number of members
  // on a node. 0: the group is a product.
  int uneven_nodes = 0;
  int uneven_per_node = 0;
  auto operator<=>(const GroupShape&) const = default;
};

// Determines the shape from the machine. `members` are the group's ranks; `library` may be null.
GroupShape ShapeOf(const MachineView& machine, const LibraryModel* library, const std::vector<int>& members);

// The costs of one call other than those of the bytes of its plan.
struct CallCosts {
  struct Level {
    Time latency;            // added to each message
    uint64_t wire = kWhole;  // 2^32 times the share of a message on one of its links or NICs
    // The maximum rate that the library reaches on one of these links or NICs, in bytes on the wire. The
    // flags of its protocol, its channels and the share that a stream has of them lower this limit; they
    // never add bytes. 0: none.
    Bandwidth limit;
    // The number of NICs of a node, each of which carries `wire` at the same time. If flows do not delay each
    // other, only one NIC is simulated.
    int cards = 1;
  };
  static constexpr uint64_t kWhole = uint64_t{1} << 32;
  Time begin;                 // before a member's first step
  int parts = 1;              // the data is cut into this many parts, which run one after another
  int at_once = 1;            // number of parts that run in parallel, at most `parts`
  Time part_end;              // after a member's last step of each part
  std::vector<Level> levels;  // by level of the path; empty: no latency, and `wire` is kWhole

  // The number of rounds of parts, if parts that run in parallel do not delay each other.
  int Rounds() const { return (parts + at_once - 1) / at_once; }

  // The rate of a whole message over all its links or NICs, in bytes a second, as limited by the library.
  double RateOf(size_t level) const {
    return static_cast<double>(levels[level].limit.bytes_per_second()) * static_cast<double>(kWhole) /
           static_cast<double>(levels[level].wire);
  }
  uint64_t OnWire(uint64_t bytes, int level) const {
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>(bytes) * levels[static_cast<size_t>(level)].wire + (kWhole - 1)) >>
        32);
  }
};

// A possible algorithm and protocol for a call.
struct Candidate {
  std::string algorithm;  // the library's name: "ring", "tree", "nvls", ...
  Protocol protocol = Protocol::kSimple;
  std::string plan;         // the registry's name
  int channels = 1;         // channels that a call of this size uses
  int sends_at_once = 0;    // number of streams of a member that send; only for programs from files
  int sends_to_peer = 0;    // number of these streams that send to one peer
  double latency_us = 0;    // prediction: time_us = latency_us + bytes / gbytes_per_s
  double gbytes_per_s = 0;  // algorithm bandwidth
  double time_us = 0;
  std::string unfit;                   // why the candidate is not considered; empty: it is considered
  bool on_request = false;             // a rule may name the candidate although it does not fit
  bool shipped = false;                // a kernel of other software: shipped.h
  bool of_hosts = false;               // an algorithm of MPI, which has no protocols
  std::vector<std::string> picked_by;  // software that would choose it for this call, or "auto"
  std::string picked_why;              // one clause; empty: the name of the software is the reason
  std::string Label() const;           // "ring/simple", for libraries on hosts "ring"
};

// All candidates for a collective of `type` on `bytes` (the larger of a rank's buffers) in a group of this
// shape, with the times that the library's tuner predicts.
std::vector<Candidate> Candidates(const LibraryModel& library, CollectiveType type, uint64_t bytes,
                                  const GroupShape& shape);

// The costs of `candidate` when its plan runs, without the launch.
CallCosts CostsOf(const LibraryModel& library, CollectiveType type, uint64_t bytes, const GroupShape& shape,
                  const Candidate& candidate);

// Divides the rate of a device's links among the messages that a plan sends over them at the same time: each
// stream has its share of the library's channels, even while the other streams have nothing to send. Fabrics
// with and without contention have the same limits, so fabrics without contention are never slower.
void ShareLinks(const LibraryModel& library, CollectiveType type, const GroupShape& shape,
                const Candidate& candidate, CallCosts* costs);

// The rule of LibraryModel::choice for a call: "auto", "cheapest" or a label. The most specific rule wins: by
// group, then by ranks, then by the largest size that fits.
std::string RuleFor(const LibraryModel& library, CollectiveType type, uint64_t bytes, int ranks,
                    absl::string_view group);

// The rule for a call among any such `rules`; null: none is for this call.
const std::string* RuleIn(const std::map<std::string, std::string>& rules, CollectiveType type, uint64_t bytes,
                          int ranks, absl::string_view group);

// A parsed key of LibraryModel::choice.
struct ChoiceKey {
  std::string collective;
  int ranks = 0;      // 0: any
  uint64_t from = 0;  // bytes
  std::string group;  // empty: any
};
std::optional<ChoiceKey> ParseChoiceKey(absl::string_view key);

}  // namespace chakra
