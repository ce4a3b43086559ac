#include "replay/cli/workload_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/workload.pb.h"
#include "trace/base/quantity.h"
#include "trace/io/settings.h"

namespace chakra::cli {
namespace {

std::string KeysOf(const google::protobuf::Descriptor& type) {
  return absl::StrJoin(DescribeSettings(type), ", ",
                       [](std::string* out, const SettingDoc& d) { out->append(d.key); });
}

}  // namespace

void AddWorkloadOptions(CLI::App* app, const std::string& group, generate::WorkloadOptions* options) {
  app->add_option(
         "--model", options->model,
         absl::StrCat(
             "A step of this model: a name of `generate --list`, a config.json of HuggingFace, a framework's "
             "configuration (Megatron-LM, Megatron-Bridge, torchtitan), or "
             "key=value,... (",
             KeysOf(*proto::Model::descriptor()), "); NAME:key=value,... changes a named one"))
      ->type_name("SPEC")
      ->group(group);
  app->add_option("--parallel", options->parallel,
                  absl::StrCat("How its ranks share the work: key=value,... (",
                               KeysOf(*proto::Parallel::descriptor()), ")"))
      ->type_name("SPEC")
      ->group(group);
  app->add_option("--training", options->training,
                  absl::StrCat("How it is trained: key=value,... (", KeysOf(*proto::Training::descriptor()),
                               "); what the keys mean: SETTINGS of `chakra-replay manual`"))
      ->type_name("SPEC")
      ->group(group);
}

void AddDeviceMemory(CLI::App* app, const std::string& group, const std::string& help, uint64_t* bytes) {
  app->add_option_function<std::string>(
         "--device-memory",
         [bytes](const std::string& text) {
           const auto parsed = ParseBytes(text);
           if (!parsed.ok())
             throw CLI::ValidationError("--device-memory", std::string(parsed.status().message()));
           *bytes = *parsed;
         },
         help)
      ->type_name("BYTES")
      ->group(group);
}

bool AnyWorkloadOption(const generate::WorkloadOptions& options) {
  return !options.model.empty() || !options.parallel.empty() || !options.training.empty();
}

}  // namespace chakra::cli
