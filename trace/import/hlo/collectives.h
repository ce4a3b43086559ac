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

// The devices of a module: `replicas` copies of `partitions` parts. The logical place of a device is replica
// * partitions + partition. Its number is the logical place, or comes from the module's device assignment, if
// it has one.
struct Mesh {
  int64_t replicas = 1, partitions = 1;
  // By logical place: the position among the sorted devices; empty: the place itself.
  std::vector<int64_t> device;
  std::vector<int64_t> ids;  // of the sorted devices, as the module numbers them; empty: 0, 1, ...
  int64_t IdOf(int64_t position) const { return ids.empty() ? position : ids[static_cast<size_t>(position)]; }
  int64_t devices() const { return replicas * partitions; }
  int64_t DeviceOf(int64_t place) const {
    return device.empty() ? place : device[static_cast<size_t>(place)];
  }
};

// Returns the mesh that the module gives. If it gives none: one replica, with as many partitions as the ids
// in groups and pairs need. `told`: whether the module gives it.
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

// Whether an instruction is a whole collective, or starts or ends an asynchronous one.
enum class CollectivePhase : uint8_t { kWhole, kStart, kDone };

struct Collective {
  CollectiveKind kind = CollectiveKind::kNone;
  CollectivePhase phase = CollectivePhase::kWhole;
  // The instruction that has the groups and pairs; for async-start, the root of its computation.
  const Instruction* what = nullptr;
  const Computation* in = nullptr;  // the computation of `what`
  int64_t in_bytes = 0, out_bytes = 0;  // of one device, all operands and all results
};

// Returns the collective of an instruction; kind kNone: it is not a collective. Groups of one device make a
// collective too. An async-start counts if its computation runs nothing but the collective.
Collective CollectiveOf(const Module& module, const Computation& computation, uint32_t row);

// Reads a collective from an instruction's name, which XLA makes from the opcode ("all-reduce-start.3"), for
// programs that are not available. Sets only the kind and the phase.
Collective CollectiveByName(absl::string_view instruction);

// Whether an operation of this name is a collective, a send or a receive.
bool IsCollective(absl::string_view opcode);

// By computation: whether it, or a fusion in it, has a collective.
std::vector<bool> WithCollectives(const Module& module);

// Adds the groups of devices of a collective, each in the order of its members. The ids in the file are
// replicas, partitions, or both in one number, as in XLA's CollectiveOpGroupMode (xla_data.proto). Returns an
// error text if groups name a device that the mesh lacks, or name a device twice.
std::optional<std::string> GroupsOf(const Collective& collective, const Mesh& mesh,
                                    std::vector<std::vector<int64_t>>* groups);

// Adds the source and target devices of a permute, a send or a receive. Returns an error text as GroupsOf()
// does.
std::optional<std::string> PairsOf(const Collective& collective, const Mesh& mesh,
                                   std::vector<std::pair<int64_t, int64_t>>* pairs);

}  // namespace chakra::hlo
