// A collective library with NCCL's structure: what it costs beside the wire,
// and which algorithm and protocol it takes. Times in microseconds, bandwidths
// in GB/s (1e9 bytes) until they reach a plan, where they become Time.
//
// Source of the structure: NCCL's tuner (src/graph/tuning.cc and src/tuning,
// releases 2.10 to 2.30). Constants: constants.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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
#include "trace/model/trace.h"

namespace chakra {

enum class Protocol : uint8_t { kLL, kLL128, kSimple };
inline constexpr int kProtocols = 3;
absl::string_view Name(Protocol p);  // "ll", "ll128", "simple"
std::optional<Protocol> ParseProtocol(absl::string_view name);

enum class LibraryLink : uint8_t { kNvlink, kPci, kNet };
enum class Generation : uint8_t { kVolta, kAmpere, kHopper, kBlackwell };

struct LibraryLevel {
  LibraryLink link = LibraryLink::kNvlink;
  TopologyDimension::Kind kind = TopologyDimension::Kind::kSwitch;
  double link_gbytes_per_s = 0;  // of one link, each direction
  double efficiency = 1;
  double in_switch_efficiency = 0;  // 0: the switch only forwards
  int in_switch_channels = 0;
  double nic_latency_us = 0;
  int wired = 0;           // devices of the wiring; 0: none
  std::vector<int> links;  // [a * wired + b]: parallel links between two devices of a block
  double wire_gbytes_per_s = 0;
};

struct LibraryTerm {
  std::optional<double> base_us, step_us, network_step_us, bus_share, network_share;
};

struct LibraryModel {
  Generation generation = Generation::kHopper;
  int channels = 1;
  std::vector<LibraryLevel> levels;  // one a dimension of the topology
  double enqueue_us = 0;
  double launch_us = 0;
  double copy_gbytes_per_s = 0;  // 0: free
  uint64_t chunk_bytes = 2 << 20;
  int devices_per_host = 0;                                       // 0: those of a node
  std::map<std::pair<std::string, Protocol>, LibraryTerm> terms;  // by algorithm and protocol
  std::map<std::string, std::string> choice;
  double slowdown = 0;
};

// Names that a rule of LibraryModel::choice may hold, with the protocols of each.
using RuleNames = std::map<std::string, std::set<Protocol>>;

// Checks every field against the topology's dimensions, and rules against what each kind has: what the
// library can take and `programs`, those of files. Errors name the field and what was expected.
absl::StatusOr<LibraryModel> BuildLibrary(const proto::CollectiveLibrary& library,
                                          const std::vector<TopologyDimension>& dimensions,
                                          const std::map<CollectiveType, RuleNames>& programs = {});

// The names that the rules for calls of `type` may hold.
RuleNames NamesFor(const LibraryModel& library, CollectiveType type,
                   const std::map<CollectiveType, RuleNames>& programs);

// How the members of a group lie in the machine.
struct GroupShape {
  int ranks = 1;
  // Nested blocks, the nearest first, and the level that each crosses. A group
  // that is no product of blocks is one block at its highest level.
  std::vector<int> blocks;
  std::vector<int> levels;
  int rings = 0;  // that fit on the wiring of level 0, where it has one
  // Of a group that is no product of blocks: over how many nodes it lies, and the
  // fewest members that one has. 0: it is one.
  int uneven_nodes = 0;
  int uneven_per_node = 0;
  auto operator<=>(const GroupShape&) const = default;
};

// Reads the shape off the machine. `members` are its ranks; `library` may be null.
GroupShape ShapeOf(const MachineView& machine, const LibraryModel* library, const std::vector<int>& members);

// What one call costs beside the bytes of its plan.
struct CallCosts {
  struct Level {
    Time latency;            // added to each message
    uint64_t wire = kWhole;  // bytes on the fabric for each byte of the message, times 2^32
    // Network cards of a node that carry `wire` each, at the same time. Where flows do not
    // delay each other, one tells for all.
    int cards = 1;
  };
  static constexpr uint64_t kWhole = uint64_t{1} << 32;
  Time begin;                 // before a member's first step
  int parts = 1;              // the data is cut in this many, which run one after another
  Time part_end;              // after a member's last step of each part
  std::vector<Level> levels;  // by level of the path; empty: neither latency nor inflation

  uint64_t OnWire(uint64_t bytes, int level) const {
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>(bytes) * levels[static_cast<size_t>(level)].wire + (kWhole - 1)) >>
        32);
  }
};

// A way to do a call.
struct Candidate {
  std::string algorithm;  // the library's name: "ring", "tree", "nvls", ...
  Protocol protocol = Protocol::kSimple;
  std::string plan;         // the registry's name
  int channels = 1;         // that a call of this size uses
  int sends_at_once = 0;    // streams of a member that send; of programs from files only
  double latency_us = 0;    // predicted: latency + bytes / bandwidth
  double gbytes_per_s = 0;  // algorithm bandwidth
  double time_us = 0;
  std::string unfit;          // why it is not considered; empty if it is
  std::string Label() const;  // "ring/simple"
};

// All ways to do `type` on `bytes` (the larger of a rank's buffers) in a group
// of this shape, with the time that the library's tuner would predict.
std::vector<Candidate> Candidates(const LibraryModel& library, CollectiveType type, uint64_t bytes,
                                  const GroupShape& shape);

// What `candidate` costs when its plan runs, launch left out.
CallCosts CostsOf(const LibraryModel& library, CollectiveType type, uint64_t bytes, const GroupShape& shape,
                  const Candidate& candidate);

// Makes messages that a plan sends at once over one link share its bandwidth, where the fabric does not
// do so itself.
void ShareLinks(const LibraryModel& library, CollectiveType type, const GroupShape& shape,
                const Candidate& candidate, bool contention_free, CallCosts* costs);

// The rule of LibraryModel::choice for a call: "auto", "cheapest" or a label.
// The most specific wins: group, then ranks, then the largest size that fits.
std::string RuleFor(const LibraryModel& library, CollectiveType type, uint64_t bytes, int ranks,
                    absl::string_view group);

// A key of LibraryModel::choice, taken apart.
struct ChoiceKey {
  std::string collective;
  int ranks = 0;      // 0: any
  uint64_t from = 0;  // bytes
  std::string group;  // empty: any
};
std::optional<ChoiceKey> ParseChoiceKey(absl::string_view key);

}  // namespace chakra
