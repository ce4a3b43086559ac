// XLA's collectives as groups of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// The devices of a module: `replicas` copies of `partitions` parts. A device is numbered by its logical
// place, replica * partitions + partition, or by the module's assignment where it has one.
struct Mesh {
  int64_t replicas = 1, partitions = 1;
  std::vector<int64_t>
      device;  // by logical place, as positions among the sorted devices; empty: the place itself
  std::vector<int64_t> ids;  // of the sorted devices, as the module numbers them; empty: 0, 1, ...
  int64_t IdOf(int64_t position) const { return ids.empty() ? position : ids[static_cast<size_t>(position)]; }
  int64_t devices() const { return replicas * partitions; }
  int64_t DeviceOf(int64_t place) const {
    return device.empty() ? place : device[static_cast<size_t>(place)];
  }
};

// As the module says; where it does not, as many partitions as the largest set of groups or pairs needs.
// `told`: whether the module said it.
Mesh MeshOf(const Module& module, bool* told);

enum class CollectiveKind : uint8_t {
  kNone,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kPermute,
  kSend,
  kRecv,
};

// Whether an instruction begins a collective, ends one that runs beside others, or is a whole one.
enum class CollectivePhase : uint8_t { kWhole, kStart, kDone };

struct Collective {
  CollectiveKind kind = CollectiveKind::kNone;
  CollectivePhase phase = CollectivePhase::kWhole;
  const Instruction* what =
      nullptr;                      // what has groups and pairs: of async-start, the root of its computation
  const Computation* in = nullptr;  // the computation of `what`
  int64_t in_bytes = 0, out_bytes = 0;  // of one device, all operands and all results
};

// kind kNone: the instruction is no collective. A group of one device is one still. What async-start begins
// is one where its computation runs nothing else.
Collective CollectiveOf(const Module& module, const Computation& computation, uint32_t row);

// What the name of an instruction tells, which XLA makes of its opcode: "all-reduce-start.3". Of a program
// that is not at hand: nothing but the kind and the phase is known.
Collective CollectiveByName(absl::string_view instruction);

// Whether an operation of this name is a collective, a send or a receive.
bool IsCollective(absl::string_view opcode);

// By computation: whether it, or a fusion in it, has a collective.
std::vector<bool> WithCollectives(const Module& module);

// Groups of devices, each in the order of its members. Modes as in XLA's CollectiveOpGroupMode
// (xla_data.proto): ids are replicas, partitions, or both in one number. Error text: groups that name a
// device that the mesh lacks, or one twice.
std::optional<std::string> GroupsOf(const Collective& collective, const Mesh& mesh,
                                    std::vector<std::vector<int64_t>>* groups);

// Source and target devices of a permute, a send or a receive. Error text likewise.
std::optional<std::string> PairsOf(const Collective& collective, const Mesh& mesh,
                                   std::vector<std::pair<int64_t, int64_t>>* pairs);

}  // namespace chakra::hlo
