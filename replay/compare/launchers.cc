#include "replay/compare/launchers.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "proto/et_def.pb.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

// Whether `name` is a call of a device's API: "cudaLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel",
// "urEnqueueKernelLaunch".
bool IsApiCall(absl::string_view name) {
  for (const absl::string_view start : {"cuda", "hsa_", "aclrt"}) {
    if (absl::StartsWith(name, start)) return true;
  }
  for (const absl::string_view start : {"cu", "hip", "ur", "pi", "ze"}) {
    const bool longer = absl::StartsWith(name, start) && name.size() > start.size();
    if (longer && absl::ascii_isupper(static_cast<unsigned char>(name[start.size()]))) return true;
  }
  return false;
}

// The call that launched an operation of a device; kNoRow: the call was not recorded.
uint32_t LaunchOf(const Graph& graph, uint32_t row) {
  uint32_t launch = kNoRow;
  for (uint32_t i = graph.dep_begin[row]; i < graph.dep_begin[row + 1]; ++i) {
    if (!graph.is_cpu(graph.dep[i])) continue;
    if (i < graph.dep_cause.size() && graph.dep_cause[i] == DelayCause::kLaunchLatency) return graph.dep[i];
    if (IsApiCall(graph.name_of(graph.dep[i]))) launch = graph.dep[i];
  }
  return launch;
}

// The attribute "op" of a node whose frame was kept; "" if there is none.
std::string WrittenOperator(const RankTrace& rank, uint32_t row) {
  ChakraProtoMsg::Node node;
  if (rank.raw == nullptr) return "";
  const absl::string_view frame = rank.raw->frame(row + 1);
  if (!node.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) return "";
  for (const ChakraProtoMsg::AttributeProto& attribute : node.attr()) {
    if (attribute.name() == "op") return attribute.string_val();
  }
  return "";
}

// By row of the host: the operator that its thread is in. A row is a part of an operator, or a call in it.
std::vector<uint32_t> OperatorsOfHost(const Graph& graph) {
  std::vector<uint32_t> out(graph.size());
  absl::flat_hash_map<int32_t, uint32_t> in;  // by thread
  for (const uint32_t row : graph.order) {
    if (!graph.is_cpu(row) || graph.lane.empty() || graph.lane[row] == kNoLane) continue;
    uint32_t& name = in[graph.lane[row]];
    const absl::string_view text = graph.name_of(row);
    if (absl::StartsWith(text, "[") || absl::StartsWith(text, "ProfilerStep#")) {
      name = 0;  // between operators
    } else if (!IsApiCall(text)) {
      name = graph.name[row];
    }
    out[row] = name;
  }
  return out;
}

}  // namespace

bool HasHostAndDevice(const TraceSet& traces) {
  bool host = false, device = false;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    for (uint32_t row = 0; row < graph->size() && !(host && device); ++row) {
      const bool works = graph->type[row] != NodeType::kMetadata;
      host = host || (works && graph->is_cpu(row));
      device = device || (works && !graph->is_cpu(row));
    }
  }
  return host && device;
}

DeviceOperators OperatorsOfDevice(const RankTrace& rank) {
  const Graph& graph = *rank.graph;
  const std::vector<uint32_t> host = OperatorsOfHost(graph);
  DeviceOperators out;
  absl::flat_hash_map<std::string, uint32_t> index;
  const auto number = [&](absl::string_view name) {
    const auto [it, fresh] = index.try_emplace(std::string(name), static_cast<uint32_t>(out.names.size()));
    if (fresh) out.names.emplace_back(name);
    return it->second;
  };
  number("");
  out.of_row.resize(graph.size());
  for (uint32_t row = 0; row < graph.size(); ++row) {
    if (graph.is_cpu(row)) continue;
    const uint32_t launch = LaunchOf(graph, row);
    const bool by_graph = launch != kNoRow && absl::StrContains(graph.name_of(launch), "GraphLaunch");
    const std::string written = WrittenOperator(rank, row);
    if (!written.empty()) {
      out.of_row[row] = number(written);
    } else if (by_graph) {
      out.of_row[row] = number(graph.name_of(launch));
    } else if (launch != kNoRow) {
      out.of_row[row] = number(graph.strings.Get(host[launch]));
    }
  }
  return out;
}

}  // namespace chakra
