#include "replay/run/collective_arguments.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/sizes.h"
#include "replay/run/arguments.h"
#include "replay/run/machine.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/free_memory.h"
#include "trace/base/status_macros.h"
#include "trace/base/threads.h"

namespace chakra {
namespace {

// The number of ranks in one whole block of the fixed dimensions: a node of the presets.
int DevicesOf(const proto::Cluster& cluster) {
  int devices = 1;
  for (const proto::Dimension& d : cluster.topology().dimension()) devices *= std::max(1, d.size());
  return devices;
}

}  // namespace

CollectiveArguments::CollectiveArguments(const proto::CollectiveRun& told)
    : kind_(told.collective()),
      peers_(told.priced().peers()),
      bytes_(told.priced().has_bytes() ? told.priced().bytes() : "1KiB..8GiB"),
      factor_(told.priced().has_factor() ? told.priced().factor() : 2) {
  const proto::CollectiveRun::Machine& machine = told.machine();
  options_.cluster = machine.cluster();
  options_.ranks = machine.ranks();
  options_.fabric = machine.fabric();
  options_.topology = TopologyOf(machine.topology());
  TakeFlows(machine.flows(), &options_.fabric_options);
  options_.devices_per_thread = machine.devices_per_thread();
  options_.fabric_options.threads = machine.has_threads() ? machine.threads() : DefaultThreads();
  const proto::CollectiveRun::Priced& priced = told.priced();
  options_.algorithm = priced.algorithm();
  options_.protocol = priced.protocol();
  options_.root = priced.root();
  options_.programs.assign(priced.program().begin(), priced.program().end());
  if (machine.has_max_memory_bytes()) limited_ = LimitMemory(machine.max_memory_bytes());
}

absl::Status CollectiveArguments::ReadKind() {
  std::vector<std::string> kinds = CollectiveNames();
  kinds.push_back(kSendRecv);
  if (kind_.empty())
    return absl::InvalidArgumentError(absl::StrCat("expected a collective: ", absl::StrJoin(kinds, ", ")));
  if (kind_ == kSendRecv) return ReadPeers();
  const std::optional<CollectiveType> kind = CollectiveNamed(kind_);
  if (!kind)
    return absl::InvalidArgumentError(
        absl::StrCat("no collective \"", kind_, "\"", SuggestName(kind_, kinds)));
  if (!peers_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--peers is for ", kSendRecv, ": in ", kind_, " all ranks take part"));
  }
  options_.type = *kind;
  return absl::OkStatus();
}

// Reads and checks the options of sendrecv.
absl::Status CollectiveArguments::ReadPeers() {
  const std::string collectives_alone =
      absl::StrCat(" is for collectives: ", kSendRecv, " takes --peers and --protocol");
  if (!options_.algorithm.empty()) return absl::InvalidArgumentError("--algorithm" + collectives_alone);
  if (!options_.programs.empty()) return absl::InvalidArgumentError("--program" + collectives_alone);
  if (options_.protocol == Name(Protocol::kLL128)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--protocol ll128 is for collectives; of ", kSendRecv, " expected ll or simple"));
  }
  ASSIGN_OR_RETURN(options_.peers, ParsePeers(peers_.empty() ? "next" : peers_));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> CollectiveArguments::Sizes() {
  if (!limited_.ok())
    return absl::Status(limited_.code(), absl::StrCat("--max-memory: ", limited_.message()));
  RETURN_IF_ERROR(ReadKind());
  RETURN_IF_ERROR(CheckFabricName(FabricName(options_)));
  return ParseSizes(bytes_, factor_);
}

absl::StatusOr<CollectiveTable> CollectiveArguments::Table(std::vector<std::string>* notes,
                                                           absl::Status* misuse) {
  ASSIGN_OR_RETURN(proto::Cluster cluster, DescribeMachine(options_, notes));
  if (options_.ranks == 0) options_.ranks = DevicesOf(cluster);
  if (options_.root < 0 || options_.root >= options_.ranks) {
    return absl::InvalidArgumentError(
        absl::StrCat("--root is ", options_.root, "; expected 0 to ", options_.ranks - 1));
  }
  if (options_.peers) {
    *misuse = MessagesOf(*options_.peers, options_.ranks, options_.root).status();
    if (!misuse->ok()) return *misuse;
  }
  if (*misuse = CheckChoice(cluster); !misuse->ok()) return *misuse;
  absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(cluster, options_);
  if (table.ok()) {
    const std::vector<std::string>& more = table->cluster().notes;
    notes->insert(notes->end(), more.begin(), more.end());
  }
  return table;
}

// Checks --algorithm and --protocol against the cluster's library and programs.
absl::Status CollectiveArguments::CheckChoice(const proto::Cluster& cluster) const {
  if (options_.algorithm.empty() && options_.protocol.empty()) return absl::OkStatus();
  const absl::StatusOr<ClusterModel> model = BuildCluster(cluster, options_.ranks);
  return model.ok() ? CheckAlgorithm(model->collectives, options_)
                    : absl::OkStatus();  // CollectiveTable::Make() reports the error
}

}  // namespace chakra
