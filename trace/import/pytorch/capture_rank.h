// One rank of a capture.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/conversion.pb.h"
#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/column_draft.h"
#include "trace/import/pytorch/graph_capture.h"
#include "trace/import/pytorch/pair.h"
#include "trace/import/pytorch/timeline.h"

namespace chakra::pytorch {

// One rank of a capture that was read and linked.
struct CaptureRank {
  int rank = 0;                        // global
  std::string host_file, device_file;  // "": not captured
  std::unique_ptr<HostTrace> host;
  std::unique_ptr<DeviceTrace> device;
  // What adds the rows to `device`, so that those of a rank are in memory only while it is linked; null: they
  // are there.
  std::function<void(DeviceTrace*)> fill;
  std::vector<std::unique_ptr<DeviceTrace>> graph_captures;  // of its graphs, in traces of their own
  GraphJoin graphs;
  Pairing pairing;
  Timeline timeline;
  // Where the rank's columns are drafted already, the events and nodes are no more than joining needs, and
  // this is what the report says of all of them.
  ColumnDraft columns;
  proto::RankConversion counts;
};

}  // namespace chakra::pytorch
