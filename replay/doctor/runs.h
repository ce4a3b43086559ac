// From files that may be traces to the runs that they make.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "proto/diagnosis.pb.h"
#include "trace/et/importer.h"

namespace chakra::doctor {

// A file that may be, or be a part of, a trace.
struct Candidate {
  std::string path;
  const Importer* importer = nullptr;  // null: a tar archive, whose members tell
  uint64_t bytes = 0;
};

struct FoundRuns {
  std::vector<proto::FoundRun> runs;
  std::vector<proto::FoundFile> others;  // candidates that are no traces
  std::set<std::string> used;            // paths of all files that belong to a run
};

struct RunLimits {
  uint64_t most_bytes = 0;  // runs of more are named, not read
  int threads = 1;
};

// Reads what is at or below `place`, a folder or a file, as one run; where that fails, each of its folders,
// and each of its own files. `candidates`: those at or below `place`, sorted by path.
void FindRuns(const std::string& place, const std::vector<Candidate>& candidates, const RunLimits& limits,
              FoundRuns* found);

}  // namespace chakra::doctor
