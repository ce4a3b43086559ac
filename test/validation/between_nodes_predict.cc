#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"
#include "replay/collectives/registry.h"
#include "replay/run/collective_table.h"
#include "test/validation/between_nodes.h"
#include "trace/io/set_field.h"

namespace chakra::validation {
namespace {

absl::StatusOr<CollectiveTable> NodesTableFor(const NodesMachine& machine, const NodesCall& call) {
  const int nodes = machine.domains > 0 ? machine.domains : call.nodes;
  absl::StatusOr<proto::Cluster> cluster =
      LoadCluster(absl::StrCat(machine.cluster, absl::StrContains(machine.cluster, ":") ? "," : ":",
                               "nodes=", nodes, ",gpus_per_node=", call.ranks / nodes));
  if (!cluster.ok()) return cluster.status();
  if (absl::Status s = SetFields(machine.set, &*cluster); !s.ok()) return s;
  TableOptions options;
  options.type = *CollectiveNamed(call.collective);
  options.ranks = call.ranks;
  options.fabric = "analytical";
  options.algorithm = call.algorithm;
  options.protocol = call.protocol;
  return CollectiveTable::Make(*cluster, options);
}

// Whether two calls differ only in their bytes.
bool ShareTable(const NodesCall& a, const NodesCall& b) {
  return a.machine == b.machine && a.collective == b.collective && a.algorithm == b.algorithm &&
         a.protocol == b.protocol && a.nodes == b.nodes && a.ranks == b.ranks;
}

absl::Status OfCall(const NodesCall& call, const absl::Status& s) {
  return absl::Status(s.code(),
                      absl::StrCat(call.machine, ", ", call.collective, " of ", SizeText(call.bytes), " on ",
                                   call.nodes, " nodes: ", s.message()));
}

}  // namespace

absl::Status PredictBetweenNodes(const NodesMachines& machines, std::vector<NodesCall>* calls) {
  std::optional<CollectiveTable> table;
  const NodesCall* of = nullptr;
  for (NodesCall& call : *calls) {
    if (of == nullptr || !ShareTable(*of, call)) {
      absl::StatusOr<CollectiveTable> made = NodesTableFor(machines.at(call.machine), call);
      if (!made.ok()) return OfCall(call, made.status());
      table.emplace(*std::move(made));
      of = &call;
    }
    const absl::StatusOr<TableRow> priced = table->Price(call.bytes);
    if (!priced.ok()) return OfCall(call, priced.status());
    call.predicted_us = priced->time_us;
    call.chosen = absl::StrCat(priced->algorithm, "/", priced->protocol);
  }
  return absl::OkStatus();
}

}  // namespace chakra::validation
