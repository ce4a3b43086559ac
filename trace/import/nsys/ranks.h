// From the processes of exports to the ranks of a run and their groups.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/capture/capture.h"
#include "trace/import/nsys/export_file.h"

namespace chakra::nsys {

// A process, or the part of a process that drives one of its GPUs.
struct DeviceRank {
  std::unique_ptr<pytorch::DeviceTrace> trace;
  // Adds the packed rows to the trace; null: the trace is complete.
  std::function<void(pytorch::DeviceTrace*)> fill;
  std::vector<Membership> members;
  std::vector<uint64_t> comm_of;  // as Process::comm_of
  size_t file = 0;
  int64_t pid = 0, device = 0;  // device: the lowest ordinal of its devices
  int mpi_rank = -1;
};

// Where the rank numbers of a run come from.
enum class RankSource : uint8_t { kMpi, kNccl, kOrder };

// Returns the ranks of all files, without their numbers, sorted by file, device and process. A process that
// ran NCCL kernels on several GPUs becomes one rank for each GPU. Each thread belongs to the GPUs that it
// launches on. An NCCL call of a thread that launches on several GPUs, and that cannot be assigned to one of
// them, becomes a call of unknown kind on each. Takes the processes out of `files`; the rows of processes
// that stay whole remain packed.
std::vector<DeviceRank> DraftRanks(std::vector<std::unique_ptr<ExportFile>>* files);

// Numbers the ranks as MPI does; else by the largest communicator that contains all ranks; else 0, 1, ... in
// order. Sorts by rank.
RankSource NumberRanks(std::vector<DeviceRank>* drafts);

// Lists the members of each communicator (DeviceTrace::groups), as far as they are known, and sets the sizes
// of calls that depend on the number of members.
void ListGroups(std::vector<DeviceRank>* drafts);

}  // namespace chakra::nsys
