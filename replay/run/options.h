// What a replay is asked for, as plain data: what the options of `replay` say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "proto/cluster.pb.h"
#include "replay/cluster/options.h"
#include "trace/edit/plan.h"
#include "trace/et/read_options.h"

namespace chakra {

inline constexpr char kDefaultCluster[] = "dgx-h100";
inline constexpr char kDefaultFabric[] = "analytical";
// Who names a network asks what it does, and most of that is what messages on shared links do to each other.
inline constexpr char kDefaultNetworkFabric[] = "fluid";
inline constexpr char kDefaultFabrics[] = "analytical, and fluid with --network";  // for help
inline constexpr char kRecordedComm[] = "recorded";
inline constexpr char kSimulatedComm[] = "simulated";
inline constexpr int kPinnedWarning = 5;  // percent of the makespan that may be pinned without a warning

// Which traces, and what is changed in them before anything is replayed.
struct TraceOptions {
  std::vector<std::string> inputs;  // as of ReadTraceSet()
  ReadOptions read;
  int ranks = 0;                          // > 0: one trace as so many equal ranks; see MakeSymmetric()
  std::vector<std::string> replicas;      // beside `ranks`: "N" or "GROUP=N", at most one; see GrowGroups()
  std::vector<std::string> jobs;          // "TRACE[@START]", beside the first; see ParseJob()
  const edit::EditPlan* edits = nullptr;  // the caller's; null: none
  bool edits_keep_lanes = true;           // as of edit::EditRun
  std::vector<std::string> edit_files;    // that `edits` were read from, for the report
  // LoadedTraces::twins may be filled. RunReplay() takes such traces; who else looks at peers calls
  // ExpandTwins().
  bool keep_twins = false;
};

// A cluster that was read already.
struct DescribedCluster {
  proto::Cluster cluster;
  std::vector<std::string> notes;  // of LoadCluster()
};

// The machine.
struct MachineOptions {
  std::string cluster;  // see LoadCluster(); "": kDefaultCluster, and the report says so
  const DescribedCluster* described = nullptr;  // the caller's: what `cluster` names, so that nothing is read
  std::string fabric;                           // one of `fabrics`; "": see FabricName()
  FabricOptions fabric_options;  // but what the cluster says of routing, changes, packets and choices
  TopologyOptions topology;
  std::vector<std::string> programs;        // algorithms from files, beside the cluster's
  std::string placement;                    // rule or file; "": the cluster's
  std::vector<std::string> stragglers;      // [PART:]RANK=FACTOR; see AddStraggler()
  uint64_t seed = 0;                        // of the cluster's variation; 0: the cluster's
  const FabricKinds* fabrics = &Fabrics();  // the caller's
};

// The machine, and how the traces are replayed on it.
struct RunOptions : MachineOptions {
  std::string compute;             // rungs, comma separated; "": what suits the traces
  std::string kernels;             // a kernel table's file; "": none
  std::string comm;                // kRecordedComm, kSimulatedComm; "": what suits the traces
  std::string lanes = "recorded";  // "recorded", "single", "unlimited"
  bool fast_paths = true;
  bool strict = false;
  // From so many nodes on, one rank of a generated step is simulated for all its twins, with a bound on the
  // error; below, each rank is. A trace replayed as many ranks is an assumption in itself, beside which that
  // bound is nothing: its ranks are folded where simulating each takes more than some seconds. Where
  // communication takes its recorded time, ranks that are equal are always folded: nothing differs by that.
  uint64_t fold_nodes = uint64_t{1} << 24, fold_nodes_of_one = uint64_t{1} << 22;
  double strict_causes = -1;  // refuse a run whose pinned time is more of the makespan, in percent; < 0: none
  bool sensitivity = false;   // what changes give by runs with them; with critical_path
  bool critical_path = false;  // in the report
  bool activity = false;       // what lanes do over time, in the report
  bool energy = false;         // meter the run
  std::string energy_file;     // constants of energy; "": what is built in
  std::string power_cap;       // as of energy::SetCap(); "": none
  std::string prices;          // as of economics::LoadPrices(); "": not asked for
  std::string grid;            // as of economics::LoadGrid(); "": not asked for
  std::string grid_start;      // when the run begins, for grids by the hour; "": with the grid's first hour
  std::string reliability;     // as of goodput::LoadReliability(); "": not asked for
  std::string checkpoint;      // as of goodput::ParseCheckpoint()
  uint64_t steps = 0;          // of the run with failures; 0: those of 30 days
  bool explain = false;        // the trees of energy, cost and carbon
  uint64_t device_memory = 0;  // bytes that a generated step may take of a device; 0: as the device says
  std::string version;         // of the program, for the report
};

}  // namespace chakra
