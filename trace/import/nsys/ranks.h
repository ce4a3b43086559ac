// From the processes of exports to the ranks of a run, and to the groups that they communicate in.
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
  // What fills the rest of the trace, whose rows are packed; null: it is whole.
  std::function<void(pytorch::DeviceTrace*)> fill;
  std::vector<Membership> members;
  std::vector<uint64_t> comm_of;  // as Process::comm_of
  size_t file = 0;
  int64_t pid = 0, device = 0;  // the lowest ordinal of its devices
  int mpi_rank = -1;
};

// How the ranks of a run are known.
enum class RankSource : uint8_t { kMpi, kNccl, kOrder };

// The drafts of all files, in the order of files, devices, processes. A process whose kernels of NCCL are on
// several GPUs becomes several: threads go where they launch; a thread that launches on several GPUs goes to
// each, and its calls of NCCL tell no sizes then. Takes what the files have read, but no rows of processes
// that stay whole.
std::vector<DeviceRank> DraftRanks(std::vector<std::unique_ptr<ExportFile>>* files);

// Sets the ranks: those of MPI; else those of the largest communicator that all are in; else 0, 1, ... in
// order. Sorts by rank.
RankSource NumberRanks(std::vector<DeviceRank>* drafts);

// Lists the members of each communicator (DeviceTrace::groups), as far as they are known, and what depends on
// how many there are.
void ListGroups(std::vector<DeviceRank>* drafts);

}  // namespace chakra::nsys
