#include "replay/run/collective_table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "replay/collectives/accounting.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/collectives/registry.h"
#include "replay/engine/collective_runner.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/price.h"
#include "replay/nccl/choose.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/planner.h"
#include "replay/nccl/rates.h"
#include "replay/run/machine.h"
#include "trace/base/spelling.h"

namespace chakra {
namespace {

bool Grows(CollectiveType type) { return BufferBytes(type, 1, 2) == 2; }

// The rule that the options ask for; one of them is set.
absl::StatusOr<std::string> RuleOf(const TableOptions& options, const CollectiveCosts& costs) {
  const std::string algorithm = options.algorithm.empty() ? "*" : options.algorithm;
  const RuleNames names = NamesFor(*costs.library, options.type, ProgramNames(costs.programs));
  absl::StatusOr<Rule> rule = ParseRule(algorithm, names);
  if (!rule.ok()) return rule.status();
  if (options.protocol.empty()) return algorithm;
  if (rule->protocol) {
    if (options.protocol == std::string(Name(*rule->protocol))) return algorithm;
    return absl::InvalidArgumentError(absl::StrCat("algorithm \"", algorithm, "\" and protocol \"",
                                                   options.protocol,
                                                   "\" contradict each other; expected one "
                                                   "protocol"));
  }
  const std::string both = absl::StrCat(algorithm, "/", options.protocol);
  rule = ParseRule(both, names);
  if (!rule.ok()) return rule.status();
  return both;
}

bool Fits(const CustomProgram& program, const TableOptions& options) {
  return program.type == options.type && program.plan.members == options.ranks &&
         (!IsRooted(options.type) || program.root == options.root);
}

// The programs of the command line, which are the last.
absl::Status CheckPrograms(const CollectiveCosts& costs, const TableOptions& options) {
  const size_t own = std::min(options.programs.size(), costs.programs.size());
  for (size_t i = costs.programs.size() - own; i < costs.programs.size(); ++i) {
    if (Fits(*costs.programs[i], options)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        Serves(*costs.programs[i]), "; expected ", std::string(Name(options.type)), " on ", options.ranks,
        " ranks", IsRooted(options.type) ? absl::StrCat(" with root ", options.root) : "",
        ", as the call is"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAlgorithm(const CollectiveCosts& costs, const TableOptions& options) {
  if (costs.library != nullptr) return RuleOf(options, costs).status();
  if (!options.protocol.empty()) {
    return absl::InvalidArgumentError(
        "a protocol needs a cluster with collectives.library, as the presets have");
  }
  std::vector<std::string> names = AlgorithmsFor(options.type);
  const auto programs = ProgramNames(costs.programs);
  if (const auto own = programs.find(options.type); own != programs.end()) {
    for (const auto& [name, unused] : own->second) names.push_back(name);
  }
  if (std::find(names.begin(), names.end(), options.algorithm) != names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no algorithm \"", options.algorithm, "\"", SuggestName(options.algorithm, names)));
}

absl::StatusOr<CollectiveTable> CollectiveTable::Make(const proto::Cluster& cluster,
                                                      const TableOptions& options) {
  CollectiveTable table;
  table.options_ = options;
  absl::StatusOr<ClusterModel> model = BuildCluster(cluster, options.ranks);
  if (!model.ok()) return model.status();
  CollectiveCosts& costs = model->collectives;
  if (absl::Status s = CheckPrograms(costs, options); !s.ok()) return s;
  const std::string kind(Name(options.type));
  if (!options.algorithm.empty() || !options.protocol.empty()) {
    if (costs.library == nullptr) {
      if (!options.protocol.empty()) {
        return absl::InvalidArgumentError(
            "a protocol needs a cluster with collectives.library, as the presets have");
      }
      costs.algorithm[kind] = options.algorithm;
    } else {
      auto library = std::make_shared<LibraryModel>(*costs.library);
      absl::StatusOr<std::string> rule = RuleOf(options, costs);
      if (!rule.ok()) return rule.status();
      library->choice = {{kind, *std::move(rule)}};
      costs.library = std::move(library);
    }
  }
  table.cluster_ = std::make_unique<ClusterModel>(*std::move(model));
  absl::StatusOr<std::unique_ptr<Machine>> machine =
      BuildMachine(*table.cluster_, options, options.ranks, options.flow_log);
  if (!machine.ok()) return machine.status();
  table.machine_ = *std::move(machine);
  for (std::string& line : WhatFabricMisses(*table.cluster_, *table.machine_, FabricName(options)))
    table.cluster_->notes.push_back(std::move(line));
  table.members_.resize(static_cast<size_t>(options.ranks));
  std::iota(table.members_.begin(), table.members_.end(), 0);
  const LibraryModel* library = table.cluster_->collectives.library.get();
  table.shape_ = ShapeOf(*table.machine_, library, table.members_);
  if (library != nullptr) {
    table.devices_per_thread_ = std::min(library->devices_per_host, Rates(*library, table.shape_).per_node());
    if (options.devices_per_thread > 0) table.devices_per_thread_ = options.devices_per_thread;
  }
  return table;
}

absl::StatusOr<TableRow> CollectiveTable::Price(uint64_t bytes) {
  const auto n = static_cast<uint64_t>(options_.ranks);
  const bool grows = Grows(options_.type);
  const uint64_t comm_size = CommSize(options_.type, bytes, options_.ranks);
  TableRow row;
  row.bytes = grows ? comm_size * n : bytes;
  const LibraryModel* library = cluster_->collectives.library.get();
  if (CollectiveRunner::IsEmpty({.type = options_.type, .bytes = bytes})) return row;
  if (n > 1) {
    absl::StatusOr<PricedCall> priced =
        PriceCall(*machine_, cluster_->collectives, options_.type, comm_size, options_.root, members_, &now_,
                  options_.flow_log,
                  /*in_place=*/cluster_->device_of.empty() && !options_.each_flow, plans_.get());
    if (!priced.ok()) return priced.status();
    // Of a label, the protocol is what follows the last slash.
    const size_t slash = library == nullptr ? std::string::npos : priced->algorithm.rfind('/');
    row.algorithm = priced->algorithm.substr(0, slash);
    row.protocol = slash == std::string::npos ? "-" : priced->algorithm.substr(slash + 1);
    row.why = priced->why;
    row.channels = priced->channels;
    row.time_us = static_cast<double>(priced->time.picos()) * 1e-6;
    row.root_us = static_cast<double>(priced->root_time.picos()) * 1e-6;
    for (const auto& program : cluster_->collectives.programs) {
      if (Fits(*program, options_) && row.algorithm != program->name) row.passed_over = Serves(*program);
    }
  }
  row.device_us = row.time_us;
  if (library != nullptr) {
    row.device_us = library->kernel_gap_us + row.time_us;
    row.host_us = library->enqueue_us * devices_per_thread_;
    row.time_us = std::max(row.device_us, row.host_us);
    if (n > 1) row.candidates = Candidates(*library, options_.type, row.bytes, shape_);
  }
  if (row.time_us > 0 && options_.type != CollectiveType::kBarrier)
    row.algbw = static_cast<double>(row.bytes) / row.time_us * 1e-3;
  row.busbw = row.algbw * BusFactor(std::string(Name(options_.type)), options_.ranks);
  return row;
}

}  // namespace chakra
