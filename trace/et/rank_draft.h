// A rank that a reader built as columns, and its frames. Only this file makes frames from columns.
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
  GraphDraft graph;         // all columns except those that FinishGraph() computes
  std::vector<Peer> peers;  // peers, group_names and metadata: as in RankTrace
  std::vector<std::string> group_names;
  std::string metadata;
  SideTable side;  // filled if frames are wanted
};

// Writes the frames of `rank`, whose side table must have a frame for each row. The caller finishes the
// writer.
absl::Status WriteFrames(const RankDraft& rank, EtWriter* writer);

// Returns the same frames in the form in which a reader keeps the frames of a file.
std::shared_ptr<const RawFrames> FramesOf(const RankDraft& rank);

}  // namespace chakra
