// Traces in memory, with the warnings of reading them.
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

// Immutable, apart from caches. Any number of runs may share it at the same time.
class Traces {
 public:
  // Loads the traces that `told` describes; relative paths are in `folder`. Errors: those of CheckRun(),
  // ResolveRun() and LoadTraces(); options of the machine.
  static std::shared_ptr<Traces> Load(proto::Run told, const Folder& folder);

  const LoadedTraces& loaded() const { return *loaded_; }
  // Whether the traces depend on the machine of the run: they are a generated step with expert parallelism.
  bool goes_by_domain() const { return goes_by_domain_; }
  // The traces for a machine whose innermost dimension joins `domain` devices (DomainOf()): loaded(), or, if
  // goes_by_domain(), the step as it is on that machine. The last results are cached. Errors: those of
  // LoadTraces().
  absl::StatusOr<std::shared_ptr<const LoadedTraces>> LoadedFor(int domain) const;
  // The traces with all peers; loaded() may lack those of symmetric ranks.
  std::shared_ptr<const TraceSet> whole() const;
  // The arguments that the traces were read with, and the folder in which they were given.
  const proto::Run& told() const { return told_; }
  const Folder& folder() const { return folder_; }
  // The options that read the traces again from the current folder of the process.
  TraceOptions OptionsHere() const;
  // One row for each node of all ranks.
  std::shared_ptr<Table> Nodes() const;

  // The options of a run of these traces with the additional arguments `more`. The last results are cached.
  // Errors: those of CheckRun() and ResolveRun(); options that would change the traces.
  std::shared_ptr<const ResolvedRun> RunOf(const proto::Run& more);
  // Like LoadedFor(), without edits and without the cache.
  absl::StatusOr<LoadedTraces> LoadUnedited(int domain) const;

 private:
  Folder folder_;
  proto::Run told_;
  ResolvedRun resolved_;
  std::shared_ptr<const LoadedTraces> loaded_;
  bool goes_by_domain_ = false;
  mutable std::mutex domains_mutex_;  // guards domains_
  mutable std::list<std::pair<int, std::shared_ptr<const LoadedTraces>>> domains_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const TraceSet> whole_;
  std::list<std::pair<std::string, std::shared_ptr<const ResolvedRun>>> recent_;
};

void BindTraces(pybind11::module_& module);

}  // namespace chakra::python
