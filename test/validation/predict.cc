#include "test/validation/predict.h"

#include "absl/strings/str_cat.h"
#include "replay/cluster/load.h"

namespace chakra::validation {

absl::StatusOr<Prediction> Machines::Price(const std::string& preset, int ranks, const std::string& rule,
                                           uint64_t bytes, int devices_per_thread) {
  const auto key = std::tuple(preset, ranks, rule, devices_per_thread);
  auto at = tables_.find(key);
  if (at == tables_.end()) {
    absl::StatusOr<proto::Cluster> cluster = LoadCluster(preset);
    if (!cluster.ok()) return cluster.status();
    TableOptions options;
    options.ranks = ranks;
    options.algorithm = rule;
    options.devices_per_thread = devices_per_thread;
    absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(*cluster, options);
    if (!table.ok()) return table.status();
    at = tables_.emplace(key, *std::move(table)).first;
  }
  absl::StatusOr<TableRow> row = at->second.Price(bytes);
  if (!row.ok()) return row.status();
  return Prediction{row->algorithm, row->protocol, row->time_us};
}

absl::StatusOr<PredictedColumn> PresetColumn(const std::vector<MeasuredRow>& rows, Machines& machines) {
  PredictedColumn column{"preset", {}};
  column.rows.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const MeasuredRow& r = rows[i];
    if (!r.left_out.empty()) continue;
    absl::StatusOr<Prediction> p = machines.Price(r.preset, r.ranks, r.rule, r.bytes, r.devices_per_thread);
    if (!p.ok()) {
      return absl::Status(p.status().code(), absl::StrCat(r.preset, ", ", r.ranks, " ranks, ",
                                                          SizeText(r.bytes), ": ", p.status().message()));
    }
    column.rows[i] = *std::move(p);
  }
  return column;
}

}  // namespace chakra::validation
