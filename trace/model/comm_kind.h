// The kind of communication of a node, as text.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "trace/model/trace.h"

namespace chakra {

// "all_reduce", "send", "recv", ...; for communication that is not a call (kKeptComm), the name in its
// recording; "unknown" for a collective without a type; "collective 12" for a type that the schema lacks; ""
// for a node that does not communicate.
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
