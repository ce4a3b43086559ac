// Traces in memory, with what was said when they were read.
#pragma once

#include <pybind11/pybind11.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "replay/cli/point_arguments.h"
#include "replay/python/table.h"
#include "replay/run/traces.h"

namespace chakra::python {

// Immutable but for what it remembers of calls. Any number of runs may share it at once.
class Traces {
 public:
  // `words` as `replay` takes them: TRACE... and options of traces. Errors: theirs; options of the machine.
  static std::shared_ptr<Traces> Load(std::vector<std::string> words);

  const LoadedTraces& loaded() const { return *loaded_; }
  std::shared_ptr<const LoadedTraces> shared() const { return loaded_; }
  // With the peers of twins.
  std::shared_ptr<const TraceSet> whole() const;
  const std::vector<std::string>& words() const { return words_; }
  // One row for each node of all ranks.
  std::shared_ptr<Table> Nodes() const;

  // The arguments of a run of these traces: their words and `more`. The last ones are remembered. Errors:
  // what `replay` would say; words that would change the traces.
  std::shared_ptr<cli::PointArguments> ArgumentsOf(const std::vector<std::string>& more);
  // As of the arguments of the traces, without edits.
  absl::StatusOr<LoadedTraces> LoadUnedited() const;

 private:
  std::vector<std::string> words_;
  std::string key_;
  std::shared_ptr<cli::PointArguments> arguments_;  // hold the edits
  TraceOptions options_;
  std::shared_ptr<const LoadedTraces> loaded_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const TraceSet> whole_;
  std::list<std::pair<std::vector<std::string>, std::shared_ptr<cli::PointArguments>>> recent_;
};

void BindTraces(pybind11::module_& module);

}  // namespace chakra::python
