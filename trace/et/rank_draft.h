// A rank that a reader made as columns, and its frames: the one place where frames are made of columns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/et/writer.h"
#include "trace/model/side_table.h"
#include "trace/model/trace.h"

namespace chakra {

struct RankDraft {
  GraphDraft graph;                      // its columns but those that FinishGraph() derives
  std::vector<Peer> peers;               // as of RankTrace
  std::vector<std::string> group_names;  // likewise
  std::string metadata;                  // likewise
  SideTable side;                        // where frames are wanted
};

// Writes the frames of `rank`, whose side table has a frame for each row. The caller finishes the writer.
absl::Status WriteFrames(const RankDraft& rank, EtWriter* writer);

// The same frames, as a reader keeps those of a file.
std::shared_ptr<const RawFrames> FramesOf(const RankDraft& rank);

}  // namespace chakra
