// What communication a node is, as text.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "trace/model/trace.h"

namespace chakra {

// "all_reduce", "send", "recv"; of communication that is kept, what its recording calls it; "unknown": a
// collective that does not say; "collective 12": of a type that the schema lacks; "": no communication.
inline std::string CommKind(const Graph& graph, uint32_t row) {
  if (graph.type[row] == NodeType::kSend) return "send";
  if (graph.type[row] == NodeType::kRecv) return "recv";
  if (graph.is_kept_comm(row)) return std::string(graph.kept_kind(row));
  if (graph.type[row] != NodeType::kCollective) return "";
  const uint8_t type = graph.comm[graph.payload[row]].type;
  if (type == 0xff) return "unknown";
  return type < kCollectiveTypes ? std::string(Name(static_cast<CollectiveType>(type)))
                                 : absl::StrCat("collective ", type);
}

}  // namespace chakra
