// PyTorch's fully sharded data parallelism as HuggingFace's files describe it: the table fsdp_config of
// TrainingArguments and axolotl, and of accelerate (accelerate/utils/dataclasses.py,
// FullyShardedDataParallelPlugin).
#include <string>

#include "absl/strings/str_cat.h"
#include "trace/foreign/engine.h"
#include "trace/foreign/keys.h"
#include "trace/foreign/rows.h"

namespace chakra::foreign {
namespace {

constexpr absl::string_view kOneCopy = "all ranks of dp share one copy of the weights";

constexpr Row kFsdpRows[] = {
    {"version|fsdp_version", "1|2", ""},
    {"offload_params|fsdp_offload_params|cpu_offload", "yes", "", "weights and optimizer stay on the device"},
    {"offload_params|fsdp_offload_params|cpu_offload", "no", ""},
    {"activation_checkpointing|fsdp_activation_checkpointing", "yes", "training.recompute=full"},
    {"activation_checkpointing|fsdp_activation_checkpointing", "no", ""},
    {"backward_prefetch|fsdp_backward_prefetch|fsdp_backward_prefetch_policy", "backward_pre", ""},
    {"backward_prefetch|fsdp_backward_prefetch|fsdp_backward_prefetch_policy", "backward_post|no_prefetch",
     "", "weights are gathered before the backward pass of the layer before"},
    {"auto_wrap_policy|fsdp_auto_wrap_policy", "transformer_based_wrap", ""},
    {"auto_wrap_policy|fsdp_auto_wrap_policy", "any", "", "each layer is a unit"},
    {"min_num_params|fsdp_min_num_params", "0", ""},
    {"min_num_params|fsdp_min_num_params", "number", "", "each layer is a unit"},
};

constexpr const char* kHarmlessOfFsdp[] = {"transformer_layer_cls_to_wrap",
                                           "fsdp_transformer_layer_cls_to_wrap",
                                           "state_dict_type",
                                           "fsdp_state_dict_type",
                                           "cpu_ram_efficient_loading",
                                           "fsdp_cpu_ram_efficient_loading",
                                           "sync_module_states",
                                           "fsdp_sync_module_states",
                                           "use_orig_params",
                                           "fsdp_use_orig_params",
                                           "limit_all_gathers",
                                           "fsdp_limit_all_gathers",
                                           "final_state_dict_type",
                                           "fsdp_final_state_dict_type"};

// The strategies by accelerate's names and numbers.
constexpr Row kStrategies[] = {
    {"sharding_strategy|fsdp_sharding_strategy", "full_shard|1", ""},
    {"sharding_strategy|fsdp_sharding_strategy", "shard_grad_op|2", "parallel.reshard_after_forward=no"},
    {"sharding_strategy|fsdp_sharding_strategy", "no_shard|3", "parallel.zero=0 training.framework=ddp"},
    {"sharding_strategy|fsdp_sharding_strategy", "hybrid_shard|4", "", kOneCopy.data()},
    {"sharding_strategy|fsdp_sharding_strategy", "hybrid_shard_zero2|5", "", kOneCopy.data()},
    // A flag, or a strategy.
    {"reshard_after_forward|fsdp_reshard_after_forward", "yes|true|full_shard", ""},
    {"reshard_after_forward|fsdp_reshard_after_forward", "no|false|shard_grad_op",
     "parallel.reshard_after_forward=no"},
    {"reshard_after_forward|fsdp_reshard_after_forward", "no_shard",
     "parallel.zero=0 training.framework=ddp"},
    {"reshard_after_forward|fsdp_reshard_after_forward", "hybrid_shard|hybrid_shard_zero2", "",
     kOneCopy.data()},
};

}  // namespace

void TakeFsdp(ForeignKeys& keys, absl::string_view under, proto::Workload* out) {
  using proto::Training;
  Training& t = *out->mutable_training();
  t.set_framework(Training::FSDP);
  out->mutable_parallel()->set_zero(3);
  ApplyRows(kStrategies, under, keys, out);
  ApplyRows(kFsdpRows, under, keys, out);
  keys.Pass(kHarmlessOfFsdp, under);
  // accelerate's policy of dtypes reduces gradients in the dtype of GEMMs.
  const bool narrow = t.dtype() != Training::FP16 && t.dtype() != Training::FP32;
  if (t.framework() == Training::FSDP && t.has_dtype() && narrow && t.lora() == 0)
    t.set_grad_reduce_dtype(Training::BF16);
}

void TakeDdp(proto::Workload* out) {
  out->mutable_training()->set_framework(proto::Training::DDP);
  out->mutable_parallel()->set_zero(0);
}

void TakeTensor(int64_t tp, proto::Workload* out) {
  out->mutable_parallel()->set_tp(tp);
  if (tp > 1) out->mutable_parallel()->set_sp(false);
}

void TakeRanks(absl::string_view names, const proto::Parallel& given, ForeignKeys& keys,
               proto::Workload* out) {
  proto::Parallel all = out->parallel();
  all.MergeFrom(given);
  const auto world = keys.Number(names);
  if (!world.has_value() || given.has_dp()) return;
  double model = 1;
  for (const int64_t n : {all.tp(), all.cp(), all.pp()}) model *= n > 0 ? static_cast<double>(n) : 1;
  const auto ranks = static_cast<int64_t>(model < 1e9 ? model : 1e9);
  if (*world < 1 || *world % ranks != 0)
    return keys.Refuse(names, absl::StrCat("expected a multiple of tp * cp * pp, ", ranks));
  out->mutable_parallel()->set_dp(*world / ranks);
}

}  // namespace chakra::foreign
