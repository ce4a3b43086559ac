// accelerate's configuration (accelerate/commands/config): what `accelerate launch --config_file` reads.
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/engine.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"
#include "trace/foreign/rows.h"
#include "trace/foreign/text.h"
#include "trace/io/file.h"

namespace chakra::foreign {
namespace {

using proto::Training;

constexpr size_t kMostBytes = size_t{16} << 20;

constexpr Row kAccelerateRows[] = {
    {"mixed_precision", "bf16", "training.dtype=bf16"},
    {"mixed_precision", "fp16", "training.dtype=fp16"},
    {"mixed_precision", "fp8", "training.dtype=fp8"},
    {"mixed_precision", "no", "training.dtype=fp32"},
    {"dynamo_config.dynamo_backend", "no", ""},
    {"dynamo_config.dynamo_backend", "inductor", "training.compiled=yes"},
    {"dynamo_config.dynamo_backend", "any", "training.compiled=yes", "inductor is used"},
};

// The tables of accelerate for DeepSpeed, which stand for DeepSpeed's own.
constexpr Row kZeroRows[] = {
    {"zero_stage", "number", "parallel.zero"},
    {"gradient_accumulation_steps", "number", "training.accumulation"},
    {"offload_param_device", "none", ""},
    {"offload_param_device", "cpu|nvme", "", "weights stay on the device"},
};

constexpr Row kAccelerateMegatronRows[] = {
    {"megatron_lm_tp_degree", "number", "parallel.tp"},
    {"megatron_lm_pp_degree", "number", "parallel.pp"},
    {"megatron_lm_num_micro_batches", "number", "training.accumulation"},
    {"megatron_lm_recompute_activations", "yes", "training.recompute=selective"},
    {"megatron_lm_recompute_activations", "no", ""},
    {"megatron_lm_use_distributed_optimizer", "yes", "parallel.zero=1"},
    {"megatron_lm_use_distributed_optimizer", "no", "parallel.zero=0"},
    {"megatron_lm_sequence_parallelism", "yes", "parallel.sp=yes"},
    {"megatron_lm_sequence_parallelism", "no", "parallel.sp=no"},
};

constexpr const char* kHarmlessOfAccelerate[] = {"compute_environment",
                                                 "debug",
                                                 "distributed_type",
                                                 "downcast_bf16",
                                                 "enable_cpu_affinity",
                                                 "machine_rank",
                                                 "main_process_*",
                                                 "main_training_function",
                                                 "num_machines",
                                                 "rdzv_*",
                                                 "same_network",
                                                 "tpu_*",
                                                 "gpu_ids",
                                                 "use_cpu",
                                                 "command_file",
                                                 "commands",
                                                 "deepspeed_config.zero3_*",
                                                 "deepspeed_config.gradient_clipping",
                                                 "deepspeed_config.deepspeed_multinode_launcher",
                                                 "deepspeed_config.deepspeed_hostfile",
                                                 "deepspeed_config.deepspeed_exclusion_filter",
                                                 "deepspeed_config.deepspeed_inclusion_filter",
                                                 "deepspeed_config.deepspeed_moe_layer_cls_names",
                                                 "megatron_lm_config.megatron_lm_gradient_clipping",
                                                 "dynamo_config.dynamo_mode",
                                                 "dynamo_config.dynamo_use_*",
                                                 "ipex_config.*",
                                                 "mpirun_config.*",
                                                 "parallelism_config.parallelism_config_cp_comm_strategy"};

std::string PlaceOf(const std::string& name) {
  return absl::StrCat(std::filesystem::path(name).filename().string(), ": ");
}

absl::Status ReadDeepSpeedText(const std::string& content, const std::string& name, const Trainer& trainer,
                               proto::Workload* out) {
  ForeignKeys keys(name, PlaceOf(name));
  RETURN_IF_ERROR(ReadTree(content, "", nullptr, &keys));
  TakeDeepSpeed(keys, "", trainer, out);
  keys.NameTheRest({}, out);
  return keys.status();
}

absl::Status ReadNamedDeepSpeed(const Source& source, absl::string_view key, const std::string& path,
                                const Trainer& trainer, proto::Workload* out) {
  std::string content, name;
  RETURN_IF_ERROR(ReadNamed(source, key, path, &content, &name));
  return ReadDeepSpeedText(content, name, trainer, out);
}

// The mesh must have all processes.
void CheckMesh(ForeignKeys& keys, const proto::Parallel& p) {
  const auto world = keys.Number("num_processes");
  const int64_t ranks = p.dp() * std::max<int64_t>(1, p.tp()) * std::max<int64_t>(1, p.cp());
  if (world.has_value() && *world != ranks)
    keys.Refuse("num_processes",
                absl::StrCat("expected the product of the sizes of parallelism_config, ", ranks));
}

void TakeZero(const Trainer& trainer, ForeignKeys& keys, proto::Workload* out) {
  const std::string table = "deepspeed_config";
  Trainer alone = trainer;
  alone.gives_batch = true;  // this table has none
  TakeDeepSpeed(keys, table, alone, out);
  out->mutable_parallel()->set_zero(2);  // accelerate's default
  ApplyRows(kZeroRows, table, keys, out);
  proto::Parallel& p = *out->mutable_parallel();
  p.set_overlap_grad(p.zero() == 3);
  const std::string kDevice = "deepspeed_config.offload_optimizer_device";
  const std::string device = keys.Text(kDevice).value_or("none");
  if (device == "cpu" && (p.zero() == 1 || p.zero() == 2)) {
    out->mutable_training()->set_offload("optimizer");
  } else if (device != "none") {
    keys.LeaveOut(kDevice, absl::StrCat("with zero=", p.zero(), " the optimizer stays on the device"));
  }
}

void TakeMegatronTable(ForeignKeys& keys, proto::Workload* out) {
  out->mutable_training()->set_framework(Training::MEGATRON);
  ApplyRows(kAccelerateMegatronRows, "megatron_lm_config", keys, out);
}

bool LooksLikeAccelerate(const Head& head) {
  return head.keys.Has("distributed_type") || head.keys.Has("compute_environment");
}

// Without a trainer.
absl::Status ReadAccelerate(const Source& source, proto::Workload* out) {
  ForeignKeys keys(source.name);
  RETURN_IF_ERROR(TakeAccelerate(
      source, {"", source.beside.given.training(), source.beside.given.parallel().dp()}, keys, out));
  keys.NameTheRest({}, out);
  return keys.status();
}

}  // namespace

void TakeMesh(ForeignKeys& keys, proto::Workload* out) {
  const auto size = [&](absl::string_view name) {
    return keys.NumberOr(absl::StrCat("parallelism_config.parallelism_config_", name,
                                      "_size|parallelism_config.", name, "_size"),
                         1);
  };
  const int64_t copies = size("dp_replicate"), shards = size("dp_shard"), tp = size("tp"), cp = size("cp"),
                sp = size("sp");
  constexpr int64_t kMost = 1 << 15;
  for (const int64_t n : {copies, shards, tp, cp, sp}) {
    if (n < 1 || n > kMost) return keys.Refuse("parallelism_config", "expected sizes from 1 to 32768");
  }
  proto::Parallel& p = *out->mutable_parallel();
  if (tp > 1) TakeTensor(tp, out);
  if (cp > 1) p.set_cp(cp);
  if (cp > 1) p.set_cp_kind(proto::Parallel::ALL_GATHER);
  if (sp > 1) p.set_cp(sp);
  if (sp > 1) p.set_cp_kind(proto::Parallel::ULYSSES);
  if (copies * shards > 1) p.set_dp(copies * shards);
  if (copies > 1 && shards > 1) p.set_copies(copies);
}

absl::Status TakeAccelerate(const Source& source, const Trainer& trainer, ForeignKeys& keys,
                            proto::Workload* out) {
  RETURN_IF_ERROR(ReadTree(source.content, "", nullptr, &keys));
  Training& t = *out->mutable_training();
  const bool has_dtype = t.has_dtype() && t.dtype() != Training::FP32;  // that of the trainer
  const Training::Dtype dtype = t.dtype();
  ApplyRows(kAccelerateRows, "", keys, out);
  if (has_dtype) t.set_dtype(dtype);
  TakeMesh(keys, out);
  Trainer known = trainer;
  if (t.has_dtype()) known.values.set_dtype(t.dtype());
  const std::string kind = keys.Text("distributed_type").value_or("NO");
  if (kind == "MEGATRON_LM") TakeMegatronTable(keys, out);
  const bool meshed = out->parallel().has_dp();
  if (meshed) CheckMesh(keys, out->parallel());
  if (!meshed) TakeRanks("num_processes", source.beside.given.parallel(), keys, out);
  if (known.ranks_of_dp == 0) known.ranks_of_dp = out->parallel().dp();
  if (kind == "DEEPSPEED") {
    const std::string kFile = "deepspeed_config.deepspeed_config_file";
    if (const auto path = keys.Text(kFile)) {
      RETURN_IF_ERROR(ReadNamedDeepSpeed(source, kFile, *path, known, out));
    } else {
      TakeZero(known, keys, out);
    }
  } else if (kind == "FSDP") {
    TakeFsdp(keys, "fsdp_config", out);
  } else if (kind == "MULTI_GPU" || kind == "MULTI_NPU" || kind == "NO") {
    TakeDdp(out);
  } else if (kind != "MEGATRON_LM") {
    keys.LeaveOut("distributed_type", "ranks of dp share the batch, as on GPUs");
    TakeDdp(out);
  }
  // Tables of other kinds are not read by accelerate.
  if (kind != "FSDP") keys.Pass(std::initializer_list<const char*>{"fsdp_config.*"});
  if (kind != "DEEPSPEED") keys.Pass(std::initializer_list<const char*>{"deepspeed_config.*"});
  if (kind != "MEGATRON_LM") keys.Pass(std::initializer_list<const char*>{"megatron_lm_config.*"});
  keys.Number("num_processes");
  keys.Pass(kHarmlessOfAccelerate);
  return keys.status();
}

absl::Status ReadNamed(const Source& source, absl::string_view key, const std::string& path,
                       std::string* content, std::string* name) {
  namespace fs = std::filesystem;
  std::error_code error;
  // Trainers run in the folder of the project, often above that of the file.
  fs::path folder = fs::path(source.name).parent_path();
  fs::path found = folder / path;
  for (int up = 0; up < 4 && !fs::is_regular_file(found, error); ++up) {
    folder /= "..";
    found = folder / path;
  }
  if (!fs::is_regular_file(found, error)) {
    return absl::NotFoundError(
        absl::StrCat(source.name, ": ", key, " is \"", path,
                     "\"; expected a file relative to this one, or to a folder above it"));
  }
  *name = found.lexically_normal().string();
  ASSIGN_OR_RETURN(*content, ReadFile(*name, kMostBytes));
  return absl::OkStatus();
}

absl::Status ReadLauncher(const Source& source, absl::string_view key, const std::string& path,
                          const Trainer& trainer, proto::Workload* out) {
  std::string content, name;
  RETURN_IF_ERROR(ReadNamed(source, key, path, &content, &name));
  if (!LooksLikeAccelerate({content, TopKeysOf(content)}))
    return ReadDeepSpeedText(content, name, trainer, out);
  ForeignKeys keys(name, PlaceOf(name));
  RETURN_IF_ERROR(TakeAccelerate({content, name, source.beside}, trainer, keys, out));
  keys.NameTheRest({}, out);
  return keys.status();
}

const Format kAccelerate = {"accelerate's YAML", Role::kLauncher, LooksLikeAccelerate, ReadAccelerate};

}  // namespace chakra::foreign
