// DeepSpeed's JSON (deepspeed/runtime/config.py, deepspeed/runtime/zero/config.py).
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/engine.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"
#include "trace/foreign/rows.h"
#include "trace/foreign/text.h"

namespace chakra::foreign {
namespace {

using proto::Training;

constexpr Row kDeepSpeedRows[] = {
    {"zero_optimization.stage", "number", "parallel.zero"},
    {"zero_optimization.overlap_comm", "yes", "parallel.overlap_grad=yes"},
    {"zero_optimization.overlap_comm", "no", "parallel.overlap_grad=no"},
    {"zero_optimization.reduce_scatter", "yes", ""},
    {"zero_optimization.reduce_scatter", "no", "", "gradients are reduce-scattered"},
    {"zero_optimization.allgather_partitions", "yes", ""},
    {"zero_optimization.allgather_partitions", "no", "", "weights are all-gathered"},
    {"zero_optimization.reduce_bucket_size", "any", "", "the step has its own buckets"},
    {"zero_optimization.allgather_bucket_size", "any", "", "the step has its own buckets"},
    {"zero_optimization.stage3_prefetch_bucket_size", "any", "", "weights are gathered one layer at a time"},
    {"zero_optimization.stage3_param_persistence_threshold", "any", "", "small weights are shared too"},
    {"zero_optimization.stage3_max_live_parameters", "any", "", "two layers at most are whole"},
    {"zero_optimization.stage3_max_reuse_distance", "any", "", "weights are gathered for each pass"},
    {"zero_optimization.sub_group_size", "any", "", "the optimizer updates all weights at once"},
    {"zero_optimization.zero_hpz_partition_size", "0|1", ""},
    {"zero_optimization.zero_hpz_partition_size", "number", "", "weights are gathered from all ranks of dp"},
    {"zero_optimization.zero_quantized_weights", "yes", "", "weights are gathered in the dtype of GEMMs"},
    {"zero_optimization.zero_quantized_weights", "no", ""},
    {"zero_optimization.zero_quantized_gradients", "yes", "", "gradients are reduced in the dtype of GEMMs"},
    {"zero_optimization.zero_quantized_gradients", "no", ""},
    {"zero_optimization.mics_shard_size", "-1|0", ""},
    {"zero_optimization.mics_shard_size", "number", "", "all ranks of dp share the weights"},
    {"optimizer.type", "Adam|AdamW|FusedAdam|DeepSpeedCPUAdam|CPUAdam", "training.optimizer=adamw"},
    {"optimizer.type", "SGD", "training.optimizer=sgd"},
    {"optimizer.type", "Adagrad", "training.optimizer=adagrad"},
    {"optimizer.type", "Muon", "training.optimizer=muon"},
    {"optimizer.type", "any", "training.optimizer=adamw", "adamw is used"},
    {"activation_checkpointing.partition_activations", "yes", "",
     "each rank of tp keeps whole inputs of layers"},
    {"activation_checkpointing.partition_activations", "no", ""},
    {"activation_checkpointing.cpu_checkpointing", "yes", "", "inputs of layers stay on the device"},
    {"activation_checkpointing.cpu_checkpointing", "no", ""},
    {"activation_checkpointing.number_checkpoints", "any", "", "the trainer says what is recomputed"},
    {"sequence_parallel_size", "1", ""},
    {"sequence_parallel_size", "number", "parallel.cp parallel.cp_kind=ulysses"},
};

// Keys that do not change a step.
constexpr const char* kHarmlessOfDeepSpeed[] = {"gradient_clipping",
                                                "steps_per_print",
                                                "wall_clock_breakdown",
                                                "dump_state",
                                                "scheduler.*",
                                                "optimizer.params.*",
                                                "optimizer.legacy_fusion",
                                                "fp16.loss_scale*",
                                                "fp16.initial_scale_power",
                                                "fp16.hysteresis",
                                                "fp16.min_loss_scale",
                                                "fp16.consecutive_hysteresis",
                                                "bf16.loss_scale*",
                                                "prescale_gradients",
                                                "gradient_predivide_factor",
                                                "zero_allow_untested_optimizer",
                                                "zero_force_ds_cpu_optimizer",
                                                "zero_optimization.contiguous_gradients",
                                                "zero_optimization.round_robin_gradients",
                                                "zero_optimization.load_from_fp32_weights",
                                                "zero_optimization.elastic_checkpoint",
                                                "zero_optimization.ignore_unused_parameters",
                                                "zero_optimization.use_all_reduce_for_fetch_params",
                                                "zero_optimization.stage3_gather_16bit_weights_on_model_save",
                                                "zero_optimization.stage3_gather_fp16_weights_on_model_save",
                                                "zero_optimization.offload_optimizer.pin_memory",
                                                "zero_optimization.offload_optimizer.buffer_count",
                                                "zero_optimization.offload_optimizer.fast_init",
                                                "zero_optimization.offload_param.pin_memory",
                                                "zero_optimization.offload_param.buffer_*",
                                                "zero_optimization.offload_param.max_in_cpu",
                                                "activation_checkpointing.contiguous_memory_optimization",
                                                "activation_checkpointing.synchronize_checkpoint_boundary",
                                                "activation_checkpointing.profile",
                                                "comms_config.*",
                                                "comms_logger.*",
                                                "monitor_config.*",
                                                "tensorboard.*",
                                                "wandb.*",
                                                "csv_monitor.*",
                                                "comet.*",
                                                "flops_profiler.*",
                                                "memory_breakdown",
                                                "checkpoint.*",
                                                "data_types.params_dtype",
                                                "aio.*",
                                                "seed",
                                                "dataloader_drop_last"};

class DeepSpeed {
 public:
  DeepSpeed(ForeignKeys& keys, absl::string_view under, const Trainer& trainer, proto::Workload* out)
      : k_(keys),
        under_(under),
        trainer_(trainer),
        out_(*out),
        p_(*out->mutable_parallel()),
        t_(*out->mutable_training()) {}

  void Take() {
    // The dtypes and states of Megatron-LM's distributed optimizer, with the kernels of eager PyTorch.
    t_.set_framework(Training::MEGATRON);
    p_.set_zero(0);
    ApplyRows(kDeepSpeedRows, under_, k_, &out_);
    if (p_.zero() < 0 || p_.zero() > 3) return;
    if (!p_.has_overlap_grad()) p_.set_overlap_grad(p_.zero() == 3);
    const int64_t tp = k_.NumberOr(In("tensor_parallel.autotp_size"), 0);
    if (tp > 1) TakeTensor(tp, &out_);
    Types();
    Batch();
    Matrices();
    Offload();
    if (!t_.has_compiled()) t_.set_compiled(false);
    t_.set_fused_projections(false);
    if (!t_.has_fused_loss()) t_.set_fused_loss(false);
    k_.Pass(kHarmlessOfDeepSpeed, under_);
  }

 private:
  std::string In(absl::string_view keys) const { return Under(under_, keys); }

  // The value of a key; that of the trainer if the file has "auto", or nothing.
  std::optional<int64_t> Count(absl::string_view name, bool has, int64_t of_trainer,
                               absl::string_view option) {
    const std::string key = In(name);
    const bool automatic = k_.Has(key) && k_.Text(key) == "auto";
    if (automatic && !has) RefuseAuto(key, absl::StrCat("a number, --training ", option, "=N"));
    if (automatic || !k_.Has(key)) return has ? std::optional<int64_t>(of_trainer) : std::nullopt;
    const auto number = k_.Number(key);
    if (number.has_value() && *number < 1) k_.Refuse(key, "expected at least 1");
    if (number.has_value() && has && !trainer_.name.empty() && *number != of_trainer) {
      k_.Refuse(key, absl::StrCat("the trainer's file ", trainer_.name, " says ", of_trainer,
                                  "; expected the same in both, or \"auto\" here"));
    }
    return number;
  }

  void RefuseAuto(absl::string_view key, absl::string_view what) {
    k_.Refuse(key, absl::StrCat("a trainer fills it in; expected ", what,
                                ", or a trainer's file that names this one (key \"deepspeed\")"));
  }

  // train_batch_size = micro-batch * accumulation * ranks of dp.
  void Batch() {
    const auto micro = Count("train_micro_batch_size_per_gpu", trainer_.values.has_micro_batch(),
                             trainer_.values.micro_batch(), "micro_batch");
    const auto times = Count("gradient_accumulation_steps", trainer_.values.has_accumulation(),
                             trainer_.values.accumulation(), "accumulation");
    const std::string key = In("train_batch_size");
    const bool automatic = k_.Has(key) && k_.Text(key) == "auto";
    if (automatic && !micro.has_value()) RefuseAuto(key, "a number, --training global_batch=N");
    const auto whole = automatic ? std::nullopt : k_.Number(key);
    if (!whole.has_value() && !micro.has_value() && !trainer_.gives_batch && k_.status().ok())
      k_.Refuse(key, "expected it or train_micro_batch_size_per_gpu");
    if (!k_.status().ok()) return;
    if (micro.has_value()) t_.set_micro_batch(*micro);
    if (times.has_value() || !whole.has_value() || !micro.has_value()) t_.set_accumulation(times.value_or(1));
    if (whole.has_value()) Whole(key, *whole, micro, times);
  }

  void Whole(const std::string& key, int64_t whole, std::optional<int64_t> micro,
             std::optional<int64_t> times) {
    constexpr int64_t kMost = 1 << 30;
    if (whole < 1 || whole > kMost || micro.value_or(1) > kMost || times.value_or(1) > kMost)
      return k_.Refuse(key, "expected 1 to 1073741824 sequences, as of its factors");
    t_.set_global_batch(whole);
    if (!micro.has_value() || !times.has_value()) return;
    const int64_t each = *micro * *times, dp = trainer_.ranks_of_dp;
    const auto refuse = [&](absl::string_view ranks, absl::string_view product) {
      k_.Refuse(key, absl::StrCat(
                         "expected train_micro_batch_size_per_gpu * gradient_accumulation_steps * ranks of "
                         "data parallelism, ",
                         *micro, " * ", *times, " * ", ranks, product));
    };
    if (dp == 0 && whole % each != 0) return refuse("a whole number", "");
    if (dp != 0 && whole != each * dp) return refuse(absl::StrCat(dp), absl::StrCat(" = ", each * dp));
    p_.set_dp(whole / each);
  }

  // Whether a dtype is on. Without a key for it, it is off, unless neither of both is on.
  bool On(const std::string& key, bool of_trainer) {
    if (k_.Text(key) != "auto") return k_.FlagOr(key, false);
    if (!trainer_.values.has_dtype()) RefuseAuto(key, "true, false, --training dtype=bf16");
    return of_trainer;
  }

  void Types() {
    const Training::Dtype of_trainer = trainer_.values.dtype();
    const bool wants_bf16 = trainer_.values.has_dtype() && of_trainer == Training::BF16,
               wants_fp16 = of_trainer == Training::FP16;
    const std::string kBf16 = In("bf16.enabled|bfloat16.enabled"), kFp16 = In("fp16.enabled");
    bool bf16 = On(kBf16, wants_bf16), fp16 = On(kFp16, wants_fp16);
    if (!bf16 && !fp16) {
      bf16 = wants_bf16 && !k_.Has(kBf16);
      fp16 = wants_fp16 && !k_.Has(kFp16);
    }
    if (bf16 && fp16) return k_.Refuse(kFp16, "bf16.enabled is true too; expected one of them");
    t_.set_dtype(bf16                          ? Training::BF16
                 : fp16                        ? Training::FP16
                 : of_trainer == Training::FP8 ? Training::FP8
                                               : Training::FP32);
    // Gradients are reduced in the dtype of the model, unless a key says otherwise.
    const std::string kReduced = In("communication_data_type");
    const std::string reduced = k_.Text(kReduced).value_or(bf16 ? "bf16" : "");
    const bool narrow = reduced == "bf16" || reduced == "bfp16";
    if (narrow && bf16 && t_.lora() == 0) {
      t_.set_grad_reduce_dtype(Training::BF16);
    } else if (!reduced.empty() && !narrow && reduced != "fp32" && !(fp16 && reduced == "fp16")) {
      k_.LeaveOut(kReduced, "gradients are reduced in fp32");
    } else if (fp16 && reduced == "fp32") {
      k_.LeaveOut(kReduced, "gradients are reduced in fp16");
    }
    const std::string kKept = In("data_types.grad_accum_dtype|gradient_accumulation_dtype");
    const bool same = k_.Text(kKept) == (t_.has_grad_reduce_dtype() ? "bf16" : fp16 ? "fp16" : "fp32");
    if (!same) k_.LeaveOut(kKept, "gradients are kept in the dtype of their reduction");
  }

  // Muon's matrices are gathered where ranks share states.
  void Matrices() {
    if (t_.optimizer() != Training::MUON) return;
    if (t_.lora() > 0 || t_.dtype() == Training::FP16) {
      t_.set_optimizer(Training::ADAMW);
      k_.LeaveOut(In("optimizer.type"), absl::StrCat("adamw is used with ", t_.lora() > 0 ? "LoRA" : "fp16"));
      return;
    }
    t_.set_muon_nesterov(true);
    if (p_.zero() > 0) t_.set_matrix_sharding(Training::GATHERED);
  }

  void Offload() {
    const std::string kOptimizer = In("zero_optimization.offload_optimizer.device");
    std::string device = k_.Text(kOptimizer).value_or("none");
    if (k_.FlagOr(In("zero_optimization.cpu_offload"), false)) device = "cpu";  // until DeepSpeed 0.4
    const auto share = k_.Share(In("zero_optimization.offload_optimizer.ratio"));
    if (device != "none" && device != "cpu" && device != "nvme")
      return k_.Refuse(kOptimizer, "expected none, cpu or nvme");
    const bool adam =
        !t_.has_optimizer() || t_.optimizer() == Training::ADAM || t_.optimizer() == Training::ADAMW;
    if (device == "cpu" && adam && (p_.zero() == 1 || p_.zero() == 2)) {
      t_.set_offload("optimizer");
      if (share.has_value() && *share > 0 && *share < 1) t_.set_offload_share(*share);
    } else if (device != "none") {
      k_.LeaveOut(kOptimizer, absl::StrCat("with zero=", p_.zero(), " the optimizer stays on the device"));
    }
    k_.Text(In("zero_optimization.offload_optimizer.nvme_path|zero_optimization.offload_param.nvme_path"));
    const std::string kParameters = In("zero_optimization.offload_param.device");
    const std::string parameters = k_.Text(kParameters).value_or("none");
    if (parameters != "none") k_.LeaveOut(kParameters, "weights stay on the device");
  }

  ForeignKeys& k_;
  const std::string under_;
  const Trainer& trainer_;
  proto::Workload& out_;
  proto::Parallel& p_;
  proto::Training& t_;
};

bool LooksLikeDeepSpeed(const Head& head) {
  const TopKeys& k = head.keys;
  if (!k.json || k.Has("model_name_or_path") || k.Has("per_device_train_batch_size")) return false;
  if (k.Has("zero_optimization") || k.Has("train_micro_batch_size_per_gpu")) return true;
  return k.Has("train_batch_size") && (k.Has("gradient_accumulation_steps") || k.Has("fp16") ||
                                       k.Has("bf16") || k.Has("optimizer") || k.Has("steps_per_print"));
}

// Without a trainer, the options of the command line fill in "auto".
absl::Status ReadDeepSpeed(const Source& source, proto::Workload* out) {
  ForeignKeys keys(source.name);
  RETURN_IF_ERROR(ReadTree(source.content, "", nullptr, &keys));
  TakeDeepSpeed(keys, "", {"", source.beside.given.training(), source.beside.given.parallel().dp()}, out);
  keys.NameTheRest({}, out);
  return keys.status();
}

}  // namespace

void TakeDeepSpeed(ForeignKeys& keys, absl::string_view under, const Trainer& trainer, proto::Workload* out) {
  DeepSpeed(keys, under, trainer, out).Take();
}

const Format kDeepSpeed = {"DeepSpeed's JSON", Role::kLauncher, LooksLikeDeepSpeed, ReadDeepSpeed};

}  // namespace chakra::foreign
