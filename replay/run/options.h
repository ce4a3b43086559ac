// The options of a replay as plain data.
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
// The default if a network is named, since its effects are mostly those of messages that share links.
inline constexpr char kDefaultNetworkFabric[] = "fluid";
inline constexpr char kDefaultFabrics[] = "analytical, and fluid with --network";  // for help
inline constexpr char kRecordedComm[] = "recorded";
inline constexpr char kSimulatedComm[] = "simulated";
inline constexpr int kFixedTimeWarning = 5;  // percent of the makespan that may be fixed without a warning

// The traces, and how they are changed before the replay.
struct TraceOptions {
  std::vector<std::string> inputs;  // as for ReadTraceSet()
  ReadOptions read;
  int ranks = 0;  // > 0: one trace is replayed as this many equal ranks; see MakeSymmetric()
  std::vector<std::string> replicas;      // with `ranks`: "N" or "GROUP=N", at most one; see GrowGroups()
  std::vector<std::string> jobs;          // "TRACE[@START]", in addition to the first job; see ParseJob()
  const edit::EditPlan* edits = nullptr;  // not owned; null: none
  bool edits_keep_lanes = true;           // as for edit::EditRun
  std::vector<std::string> edit_files;    // the files that `edits` was read from, for the report
  // LoadedTraces::symmetric, the symmetric ranks, may be filled. RunReplay() accepts such traces; other
  // callers that look at peers must call ExpandSymmetricRanks().
  bool keep_symmetric = false;
};

// A cluster that was read before.
struct DescribedCluster {
  proto::Cluster cluster;
  std::vector<std::string> notes;  // notes of LoadCluster()
};

// The machine.
struct MachineOptions {
  std::string cluster;  // see LoadCluster(); "": kDefaultCluster, and the report says so
  // Not owned: the cluster that `cluster` names, already read; null: read it.
  const DescribedCluster* described = nullptr;
  std::string fabric;            // one of `fabrics`; "": see FabricName()
  FabricOptions fabric_options;  // except routing, changes, packets and choices, which the cluster gives
  TopologyOptions topology;
  std::vector<std::string> programs;        // algorithms from files, in addition to the cluster's
  std::string placement;                    // rule or file; "": the cluster's
  std::vector<std::string> stragglers;      // [PART:]RANK=FACTOR; see AddStraggler()
  uint64_t seed = 0;                        // seed of the cluster's variation; 0: the cluster's own
  const FabricKinds* fabrics = &Fabrics();  // not owned
};

// The machine, and how the traces are replayed on it.
struct RunOptions : MachineOptions {
  std::string compute;             // time sources, separated by commas; "": chosen by the traces
  std::string kernels;             // a kernel table's file; "": none
  std::string comm;                // kRecordedComm or kSimulatedComm; "": chosen by the traces
  std::string lanes = "recorded";  // "recorded", "single", "unlimited"
  bool fast_paths = true;
  bool strict = false;
  // Folding simulates one rank for all that are symmetric to it. A generated step is folded if it has at
  // least `fold_nodes` nodes; the error is bounded. A trace that is replayed as many ranks is folded from
  // `fold_nodes_of_one` nodes on, where simulating each rank takes more than some seconds: that replay is
  // itself an assumption, whose error exceeds this bound. If communication takes its recorded time, symmetric
  // ranks are always folded, since this does not change any result.
  uint64_t fold_nodes = uint64_t{1} << 24, fold_nodes_of_one = uint64_t{1} << 22;
  // Refuse a run with more fixed time than this percentage of the makespan; < 0: never.
  double strict_causes = -1;
  bool sensitivity = false;    // rerun with each change to measure its effect; needs critical_path
  bool critical_path = false;  // report the critical path
  bool activity = false;       // report what lanes do over time
  bool energy = false;         // meter the run
  std::string energy_file;     // file of energy constants; "": the built-in constants
  std::string power_cap;       // as for energy::SetCap(); "": none
  std::string prices;          // as for economics::LoadPrices(); "": no cost
  std::string grid;            // as for economics::LoadGrid(); "": no carbon
  std::string grid_start;      // start of the run, for grids by the hour; "": the first hour of the grid
  std::string reliability;     // as for goodput::LoadReliability(); "": no goodput
  std::string checkpoint;      // as for goodput::ParseCheckpoint()
  uint64_t steps = 0;          // steps of the run with failures; 0: the steps of 30 days
  bool explain = false;        // report how energy, cost and carbon are computed, as trees
  uint64_t device_memory = 0;  // bytes of device memory for a generated step; 0: the device's value
  std::string version;         // of the program, for the report
};

}  // namespace chakra
