// Groups files that may be traces into runs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "proto/diagnosis.pb.h"
#include "trace/et/importer.h"

namespace chakra::doctor {

// A file that may be a trace or a part of one.
struct Candidate {
  std::string path;
  const Importer* importer = nullptr;  // null: a tar archive, whose members have the format
  uint64_t bytes = 0;
};

struct FoundRuns {
  std::vector<proto::FoundRun> runs;
  std::vector<proto::FoundFile> others;  // candidates that are not traces
  std::set<std::string> used;            // paths of all files that belong to a run
};

struct RunLimits {
  uint64_t most_bytes = 0;  // larger runs are listed, but not read
  int threads = 1;
};

// Reads the candidates at or below `place`, a folder or a file, as one run. If that fails, tries each folder
// and each file in `place`. `candidates` are sorted by path.
void FindRuns(const std::string& place, const std::vector<Candidate>& candidates, const RunLimits& limits,
              FoundRuns* found);

}  // namespace chakra::doctor
