// Tables of the keys of Megatron-LM and Megatron-Bridge.
#pragma once

#include "trace/foreign/rows.h"

namespace chakra::foreign {

// Keys that do not change what a step computes or sends, or that change only the names of its kernels. A name
// that ends in '*' is a beginning.
// clang-format off
inline constexpr const char* kHarmlessArguments[] = {
    "lr*", "min_lr*", "weight_decay*", "adam_*", "train_iters*", "train_samples*", "eval_*", "log_*",
    "save*", "load*", "ckpt*", "checkpoint*", "data_path*", "data_cache*", "split*", "tokenizer*",
    "vocab_file*", "merge_file*", "seed*", "init_method*", "num_workers*", "tensorboard*", "wandb*",
    "distributed_backend*", "distributed_timeout*", "no_load*", "no_save*", "exit_*", "timing*",
    "dataloader*", "clip_grad*", "attention_dropout*", "hidden_dropout*", "rotary_*", "norm_epsilon*",
    "layernorm_epsilon*", "master_*", "node_rank*", "rdzv*", "manual_gc*", "mock_data*", "no_masked*",
    "bias_*", "apply_layernorm*", "transformer_impl*", "use_mcore*", "use_flash_attn*",
    "attention_backend*", "attention_softmax*", "make_vocab*", "max_position*", "use_rotary*",
    "no_position*", "no_rope*", "moe_router_*", "moe_aux*", "moe_z*", "moe_grouped*", "moe_permute*",
    "beta2*", "sgd_*", "start_weight*", "end_weight*", "override_*", "use_checkpoint*", "ddp_average*",
    "cross_entropy*", "nproc_per*", "nnodes*", "export*", "initial_loss*", "loss_scale*", "hysteresis*",
    "test_mode*", "reset_*", "eod_*", "num_dataset*", "no_create*", "no_mmap*", "profile*",
    "enable_experimental*", "calculate_per*", "check_for_nan*", "gradient_accumulation_fusion*",
    "masked_softmax*", "persist_layer*", "deallocate*", "perform_init*", "use_cpu*", "cp_comm_type*",
    "first_pipeline*", "autocast*", "enable_autocast*", "pipeline_dtype*", "params_dtype*", "path*",
    "random_seed*", "reset*", "create_attention*", "optimizer*", "scheduler*", "kv_channels*",
    "generation_config*", "share_embeddings*", "activation_func*", "layernorm_zero*", "rope_*",
    "scatter_embedding*", "fp8_margin", "fp8_interval", "fp8_amax_*", "fp8_wgrad", "fp8_quantizer_*",
    "logger.*", "rng.*", "rerun_state_machine*", "straggler*", "nvrx_straggler*", "ft.*",
    "inprocess_restart*", "dist.*", "profiling*", "tensor_inspect*", "_target_", "peft.alpha",
    "peft._target_", "peft.dropout_position", "peft.lora_*", "cuda_graph_warmup*",
    "cuda_graph_use*", "use_te_rng_tracker"};
// clang-format on

// Settings of Megatron-Core of 2025 and 2026.
inline constexpr Row kNewerRows[] = {
    {"cuda_graph_impl", "none", ""},
    {"cuda_graph_impl", "local|transformer_engine|full_iteration", "training.cuda_graphs=yes"},
    {"enable_cuda_graph|external_cuda_graph", "yes", "training.cuda_graphs=yes"},
    {"enable_cuda_graph|external_cuda_graph", "no", ""},
    {"cross_entropy_loss_fusion", "yes", "training.fused_loss=yes"},
    {"cross_entropy_loss_fusion", "no", "training.fused_loss=no"},
    {"fp8_param_gather|fp8_param", "yes", "", "weights are gathered in bf16"},
    {"fp8_param_gather|fp8_param", "no", ""},
    {"fp4_param_gather|fp4_param", "yes", "", "weights are gathered in bf16"},
    {"fp4_param_gather|fp4_param", "no", ""},
    {"moe_router_padding_for_fp8|moe_router_padding_for_quantization", "yes", "",
     "a copy pads the rows of experts"},
    {"moe_router_padding_for_fp8|moe_router_padding_for_quantization", "no", ""},
    {"attention_backend", "unfused|local|AttnBackend.unfused|AttnBackend.local", "", "flash is used"},
    {"attention_backend", "any", ""},
};

// Of Muon. The type of coefficients decides their values, not their number.
inline constexpr Row kMuonRows[] = {
    {"muon_num_ns_steps", "number", "training.muon_steps"},
    {"muon_tp_mode", "blockwise", "training.matrix_tp=blockwise"},
    {"muon_tp_mode", "duplicated", "training.matrix_tp=duplicated"},
    {"muon_tp_mode", "distributed", "training.matrix_tp=distributed"},
    {"muon_split_qkv", "yes", "training.muon_split_qkv=yes"},
    {"muon_split_qkv", "no", "training.muon_split_qkv=no"},
    {"no_muon_split_qkv", "yes", "training.muon_split_qkv=no"},
    {"no_muon_split_qkv", "no", ""},
    {"muon_nesterov|muon_use_nesterov", "yes", "training.muon_nesterov=yes"},
    {"muon_nesterov|muon_use_nesterov", "no", ""},
    {"muon_fp32_matmul_prec", "medium|low", ""},
    {"muon_fp32_matmul_prec", "any", "", "GEMMs of Newton-Schulz steps have bf16"},
    {"muon_use_syrk", "yes", "", "GEMMs compute both halves of symmetric products"},
    {"muon_use_syrk", "no", ""},
    {"muon_split_fc1", "yes", "", "gate and up are one matrix"},
    {"muon_split_fc1", "no", ""},
    {"muon_momentum|muon_momentum_beta", "any", ""},
    {"muon_scale_mode", "any", ""},
    {"muon_coefficient_type", "any", ""},
    {"muon_extra_scale_factor", "any", ""},
    {"muon_scalar_optimizer", "adam|adamw", ""},
    {"muon_scalar_optimizer", "any", "", "other weights have adamw"},
    {"adaptive_muon_moment2_method|muon_moment2_method", "normuon", "training.muon_moment=rows"},
    {"adaptive_muon_moment2_method|muon_moment2_method", "adamuon", "training.muon_moment=elements"},
    {"adaptive_muon_moment2_method|muon_moment2_method", "any", "", "a moment of each element is kept"},
    {"use_layer_wise_param_layout", "yes", "", "gradients are all-reduced"},
    {"use_layer_wise_param_layout", "no", ""},
};

}  // namespace chakra::foreign
