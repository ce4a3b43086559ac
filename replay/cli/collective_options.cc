#include "replay/cli/collective_options.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "replay/cli/command.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/sizes.h"
#include "replay/run/machine.h"
#include "trace/base/spelling.h"
#include "trace/base/status_macros.h"

namespace chakra::cli {
namespace {

// Ranks of one whole block of the fixed dimensions: a node of the presets.
int DevicesOf(const proto::Cluster& cluster) {
  int devices = 1;
  for (const proto::Dimension& d : cluster.topology().dimension()) devices *= std::max(1, d.size());
  return devices;
}

}  // namespace

void CollectiveArguments::AddTo(CLI::App* app) {
  app->add_option(
         "COLLECTIVE", kind_,
         "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, ..., or sendrecv: sends and "
         "receives that begin together")
      ->type_name("");
  AddMachine(app);
  const std::string w = "What is priced";
  app->add_option("--bytes", bytes_, "Sizes and ranges, e.g. 8,1KiB..8GiB; default: 1KiB..8GiB")
      ->type_name("LIST")
      ->group(w);
  app->add_option("--factor", factor_, "From size to size of a range; default: 2")->type_name("F")->group(w);
  app->add_option("--algorithm", options_.algorithm,
                  "auto, cheapest, one algorithm, or software whose choice by size counts (vllm, sglang, "
                  "tensorrt_llm); default: the cluster's choice")
      ->type_name("NAME")
      ->group(w);
  app->add_option("--protocol", options_.protocol, "ll, ll128 or simple; default: the choice's")
      ->type_name("NAME")
      ->check(OneOf({"ll", "ll128", "simple"}))
      ->group(w);
  app->add_option(
         "--peers", peers_,
         "Of sendrecv, who sends to whom: next (each rank to the one after it, the last to rank 0), "
         "next:8 (to the one 8 further), pair:3,12 (3 to 12), exchange (each rank of the first half "
         "with its place in the second, both ways), exchange:3,12 (these two), incast (all to --root), "
         "outcast (--root to all); default: next, as sendrecv_perf")
      ->type_name("SPEC")
      ->group(w);
  app->add_option("--root", options_.root,
                  "Of rooted collectives, and of sendrecv with incast and outcast; default: 0")
      ->type_name("RANK")
      ->group(w);
  app->add_option("--program", options_.programs,
                  "Algorithms from files: MSCCL XML, or COLLECTIVE=PREFIX of Chakra traces; may be repeated")
      ->type_name("SPEC")
      ->group(w);
}

void CollectiveArguments::AddMachine(CLI::App* app) {
  const std::string m = "Machine";
  app->add_option("--cluster", options_.cluster,
                  "A preset, PRESET:key=value,... or a cluster file; default: dgx-h100")
      ->type_name("SPEC")
      ->group(m);
  app->add_option("--ranks", options_.ranks, "Ranks; default: one node of the cluster")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 22).description(""))
      ->group(m);
  app->add_option("--fabric", options_.fabric,
                  absl::StrCat("What simulates messages: ", ListedWithHelp(), "; default: ", kDefaultFabrics))
      ->type_name("NAME")
      ->group(m);
  AddTopologyOptions(app, m, &options_.topology);
  AddFlowOptions(app, m, &options_.fabric_options);
  app->add_option("--devices-per-thread", options_.devices_per_thread,
                  "Devices that one host thread launches on, as -g of nccl-tests; default: 1, as training "
                  "and serving have")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 16).description(""))
      ->group(m);
  options_.fabric_options.threads = DefaultThreads();
  app->add_option(
         "--threads", options_.fabric_options.threads,
         "Threads that run --fabric packet; the result does not depend on it; default: the machine's cores")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""))
      ->group(m);
  AddMemoryOption(app, m);
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

// What sendrecv is told.
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

// --algorithm and --protocol, as far as the cluster's library and programs alone say.
absl::Status CollectiveArguments::CheckChoice(const proto::Cluster& cluster) const {
  if (options_.algorithm.empty() && options_.protocol.empty()) return absl::OkStatus();
  const absl::StatusOr<ClusterModel> model = BuildCluster(cluster, options_.ranks);
  return model.ok() ? CheckAlgorithm(model->collectives, options_)
                    : absl::OkStatus();  // CollectiveTable::Make() says what fails
}

}  // namespace chakra::cli
