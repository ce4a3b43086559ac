#include "replay/run/collective_table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "replay/collectives/accounting.h"
#include "replay/collectives/custom/custom_program.h"
#include "replay/collectives/registry.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/price.h"
#include "replay/engine/simulated/collective_runner.h"
#include "replay/nccl/choose.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/planner.h"
#include "replay/nccl/rates.h"
#include "replay/run/machine.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr char kNoProtocols[] = "a protocol needs a cluster with collectives.library, as the presets have";

bool Grows(CollectiveType type) { return BufferBytes(type, 1, 2) == 2; }

// The rule for the options' algorithm and protocol; at least one of them is set.
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

// Checks the programs of the command line, which are the last in `costs`.
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

// Makes the options' algorithm and protocol the choice of `costs`.
absl::Status SetChoice(const TableOptions& options, CollectiveCosts* costs) {
  if (options.algorithm.empty() && options.protocol.empty()) return absl::OkStatus();
  if (costs->library == nullptr && !options.protocol.empty()) return absl::InvalidArgumentError(kNoProtocols);
  if (options.peers) return absl::OkStatus();
  const std::string kind(Name(options.type));
  if (costs->library == nullptr) {
    costs->algorithm[kind] = options.algorithm;
    return absl::OkStatus();
  }
  auto library = std::make_shared<LibraryModel>(*costs->library);
  ASSIGN_OR_RETURN(std::string rule, RuleOf(options, *costs));
  library->choice = {{kind, std::move(rule)}};
  costs->library = std::move(library);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAlgorithm(const CollectiveCosts& costs, const TableOptions& options) {
  if (options.peers && costs.library != nullptr) return absl::OkStatus();
  if (costs.library != nullptr) return RuleOf(options, costs).status();
  if (!options.protocol.empty()) return absl::InvalidArgumentError(kNoProtocols);
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
  ASSIGN_OR_RETURN(ClusterModel model, BuildCluster(cluster, options.ranks));
  CollectiveCosts& costs = model.collectives;
  RETURN_IF_ERROR(CheckPrograms(costs, options));
  if (options.peers) {
    ASSIGN_OR_RETURN(table.messages_, MessagesOf(*options.peers, options.ranks, options.root));
  }
  RETURN_IF_ERROR(SetChoice(options, &costs));
  table.cluster_ = std::make_unique<ClusterModel>(std::move(model));
  ASSIGN_OR_RETURN(table.machine_, BuildMachine(*table.cluster_, options, options.ranks, options.flow_log));
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

// Prices the call by itself: sets the row's times without the gap and the host.
absl::Status CollectiveTable::Run(uint64_t comm_size, TableRow* row) {
  ASSIGN_OR_RETURN(const PricedCall priced,
                   PriceCall(*machine_, cluster_->collectives, options_.type, comm_size, options_.root,
                             members_, &now_, options_.flow_log,
                             /*in_place=*/cluster_->device_of.empty() && !options_.each_flow, plans_.get()));
  // With a library, the label ends in a slash and the protocol.
  const bool library = cluster_->collectives.library != nullptr;
  const size_t slash = library ? priced.algorithm.rfind('/') : std::string::npos;
  row->algorithm = priced.algorithm.substr(0, slash);
  row->protocol = slash == std::string::npos ? "-" : priced.algorithm.substr(slash + 1);
  row->why = priced.why;
  row->channels = priced.channels;
  row->time_us = static_cast<double>(priced.time.picos()) * 1e-6;
  row->root_us = static_cast<double>(priced.root_time.picos()) * 1e-6;
  for (const auto& program : cluster_->collectives.programs) {
    if (Fits(*program, options_) && row->algorithm != program->name) row->passed_over = Serves(*program);
  }
  return absl::OkStatus();
}

// Prices sends and receives by themselves, as Run() does for a collective.
absl::Status CollectiveTable::RunMessages(TableRow* row) {
  const SendRecvCall call{.messages = messages_,
                          .bytes = row->bytes,
                          .ranks = options_.ranks,
                          .protocol = ParseProtocol(options_.protocol)};
  const LibraryModel* library = cluster_->collectives.library.get();
  if (call.protocol && library != nullptr && library->mpi != nullptr)
    return absl::InvalidArgumentError("--protocol is of NCCL; libraries on hosts have none");
  ASSIGN_OR_RETURN(const PricedMessages priced,
                   PriceMessages(*machine_, cluster_->collectives, call, &now_, options_.flow_log));
  row->algorithm = options_.peers->Text();
  if (priced.protocol) row->protocol = std::string(Name(*priced.protocol));
  row->why = priced.why;
  row->channels = priced.channels;
  row->time_us = row->root_us = static_cast<double>(priced.time.picos()) * 1e-6;
  return absl::OkStatus();
}

absl::StatusOr<TableRow> CollectiveTable::Price(uint64_t bytes) {
  const auto n = static_cast<uint64_t>(options_.ranks);
  const bool messages = options_.peers.has_value();
  const uint64_t comm_size = messages ? bytes : CommSize(options_.type, bytes, options_.ranks);
  TableRow row;
  row.bytes = !messages && Grows(options_.type) ? comm_size * n : bytes;
  const LibraryModel* library = cluster_->collectives.library.get();
  if (!messages && CollectiveRunner::IsEmpty({.type = options_.type, .bytes = bytes})) return row;
  if (n > 1) {
    RETURN_IF_ERROR(messages ? RunMessages(&row) : Run(comm_size, &row));
  }
  row.device_us = row.time_us;
  if (library != nullptr) {
    row.device_us = library->kernel_gap_us + row.time_us;
    row.host_us = library->enqueue_us * devices_per_thread_;
    row.time_us = std::max(row.device_us, row.host_us);
    if (n > 1 && !messages) row.candidates = Candidates(*library, options_.type, row.bytes, shape_);
  }
  if (row.time_us > 0 && (messages || options_.type != CollectiveType::kBarrier))
    row.algbw = static_cast<double>(row.bytes) / row.time_us * 1e-3;
  row.busbw = row.algbw * (messages ? MostOfOneRank(messages_, options_.ranks)
                                    : BusFactor(std::string(Name(options_.type)), options_.ranks));
  return row;
}

}  // namespace chakra
