// Traces in memory, with what was said when they were read.
#pragma once

#include <pybind11/pybind11.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "replay/python/paths.h"
#include "replay/python/table.h"
#include "replay/run/arguments.h"
#include "replay/run/traces.h"

namespace chakra::python {

// Immutable but for what it remembers of calls. Any number of runs may share it at once.
class Traces {
 public:
  // What is told of traces, given in `folder`. Errors: those of CheckRun(), ResolveRun() and LoadTraces();
  // options of the machine.
  static std::shared_ptr<Traces> Load(proto::Run told, const Folder& folder);

  const LoadedTraces& loaded() const { return *loaded_; }
  // Whether what a run replays depends on its machine: a step whose ranks share experts.
  bool goes_by_domain() const { return goes_by_domain_; }
  // What a machine replays whose innermost dimension joins so many devices (DomainOf()): loaded(), or of a
  // step of experts that leaves parallel.domain open what it is on that machine. The last ones are
  // remembered. Errors: those of LoadTraces().
  absl::StatusOr<std::shared_ptr<const LoadedTraces>> LoadedFor(int domain) const;
  // With the peers of twins.
  std::shared_ptr<const TraceSet> whole() const;
  // That read them, and where they were given.
  const proto::Run& told() const { return told_; }
  const Folder& folder() const { return folder_; }
  // What reads them again, wherever the process is now.
  TraceOptions OptionsHere() const;
  // One row for each node of all ranks.
  std::shared_ptr<Table> Nodes() const;

  // A run of these traces that is told `more`. The last ones are remembered. Errors: what `replay` would say;
  // options that would change the traces.
  std::shared_ptr<const ResolvedRun> RunOf(const proto::Run& more);
  // As LoadedFor(), without edits.
  absl::StatusOr<LoadedTraces> LoadUnedited(int domain) const;

 private:
  Folder folder_;
  proto::Run told_;
  ResolvedRun resolved_;
  std::shared_ptr<const LoadedTraces> loaded_;
  bool goes_by_domain_ = false;
  mutable std::mutex domains_mutex_;  // of domains_
  mutable std::list<std::pair<int, std::shared_ptr<const LoadedTraces>>> domains_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const TraceSet> whole_;
  std::list<std::pair<std::string, std::shared_ptr<const ResolvedRun>>> recent_;
};

void BindTraces(pybind11::module_& module);

}  // namespace chakra::python
