#include "trace/generate/resolve.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/generate/block.h"
#include "trace/generate/check.h"
#include "trace/generate/hosts.h"
#include "trace/generate/matrix_plan.h"
#include "trace/generate/not_yet.h"
#include "trace/generate/offload.h"
#include "trace/generate/pieces.h"
#include "trace/generate/precision.h"
#include "trace/generate/windows.h"
#include "trace/io/proto_io.h"
#include "trace/io/settings.h"

namespace chakra::generate {
namespace {

absl::Status Missing(absl::string_view field, absl::string_view why = "") {
  return absl::InvalidArgumentError(absl::StrCat(field, " is missing", why));
}

absl::Status TakeLatent(const proto::Model& m, ModelSize* out) {
  out->kv_rank = m.kv_rank();
  out->q_rank = m.q_rank();
  if (out->kv_rank == 0) {
    if (out->q_rank > 0)
      return absl::InvalidArgumentError("model.q_rank is for latent attention; expected model.kv_rank too");
    return absl::OkStatus();
  }
  constexpr absl::string_view kWhy = "; latent attention (model.kv_rank) needs it";
  if (!m.has_nope_dim()) return Missing("model.nope_dim", kWhy);
  if (!m.has_rope_dim()) return Missing("model.rope_dim", kWhy);
  if (!m.has_v_dim()) return Missing("model.v_dim", kWhy);
  out->nope_dim = m.nope_dim();
  out->rope_dim = m.rope_dim();
  out->v_dim = m.v_dim();
  return absl::OkStatus();
}

// The letters of a pattern of layers. `mlps`: whether it may have MLPs and experts.
absl::Status CheckLetters(absl::string_view field, absl::string_view letters, bool mlps) {
  std::vector<std::string> known;
  for (const SublayerKind& kind : SublayerKinds()) {
    if (mlps || !kind.mlp) known.push_back(absl::StrCat(std::string(1, kind.letter), " ", kind.what));
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    const char letter = letters[i];
    const bool found =
        std::any_of(known.begin(), known.end(), [&](const std::string& k) { return k[0] == letter; });
    if (found) continue;
    return absl::InvalidArgumentError(absl::StrCat(field, " has \"", letters.substr(i, 1), "\" at position ",
                                                   i, "; expected ", absl::StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

// Reads model.pattern or model.mixers.
absl::Status TakePattern(const proto::Model& m, ModelSize* out) {
  const auto layers = static_cast<size_t>(out->layers);
  if (!m.pattern().empty()) {
    if (m.pattern().size() > out->windowed.size()) {
      return absl::InvalidArgumentError(absl::StrCat("model.pattern has ", m.pattern().size(),
                                                     " letters; expected at most ", out->windowed.size()));
    }
    RETURN_IF_ERROR(CheckLetters("model.pattern", m.pattern(), true));
    if (!m.mixers().empty())
      return absl::InvalidArgumentError("model.mixers is given; expected it or model.pattern, not both");
    if (m.pattern().size() != layers) {
      return absl::InvalidArgumentError(absl::StrCat("model.pattern has ", m.pattern().size(),
                                                     " letters; expected as many as model.layers, ", layers,
                                                     ", or no model.layers"));
    }
    for (const char letter : m.pattern()) {
      const bool mlp = letter == '-' || letter == 'E';
      out->mixers += mlp ? kNoSublayer : letter;
      out->mlps += mlp ? letter : kNoSublayer;
    }
    if (m.experts() == 0 && absl::StrContains(m.pattern(), 'E'))
      return Missing("model.experts", "; model.pattern has layers of experts (E)");
    return absl::OkStatus();
  }
  if (m.mixers().empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckLetters("model.mixers", m.mixers(), false));
  if (layers % m.mixers().size() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.mixers has ", m.mixers().size(), " letters; expected a divisor of model.layers, ",
                     layers, NearestDivisor(static_cast<int64_t>(m.mixers().size()), out->layers)));
  }
  while (out->mixers.size() < layers) out->mixers += m.mixers();
  return absl::OkStatus();
}

absl::Status TakeGroups(const proto::Model& m, ModelSize* out) {
  out->expert_groups = m.has_expert_groups() ? m.expert_groups() : 1;
  out->top_groups = m.has_top_groups() ? m.top_groups() : out->expert_groups;
  if (out->experts % out->expert_groups != 0) {
    return absl::InvalidArgumentError(absl::StrCat("model.expert_groups is ", out->expert_groups,
                                                   "; expected a divisor of model.experts, ", out->experts,
                                                   NearestDivisor(out->expert_groups, out->experts)));
  }
  const int64_t each = out->experts / out->expert_groups, least = (out->top_k + each - 1) / each;
  if (out->top_groups > out->expert_groups || out->top_groups < least) {
    return absl::InvalidArgumentError(absl::StrCat("model.top_groups is ", out->top_groups, "; expected ",
                                                   least, " to ", out->expert_groups,
                                                   ", so that they have model.top_k experts"));
  }
  return absl::OkStatus();
}

absl::Status TakeExperts(const proto::Model& m, ModelSize* out) {
  out->experts = m.experts();
  if (out->experts == 0) {
    if (m.top_k() > 0)
      return absl::InvalidArgumentError("model.top_k is for experts; expected model.experts too");
    if (m.clamp())
      return absl::InvalidArgumentError("model.clamp is for experts; expected model.experts too");
    return absl::OkStatus();
  }
  if (!m.has_top_k()) return Missing("model.top_k", "; a model with experts needs it");
  if (m.top_k() > out->experts) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.top_k is ", m.top_k(), "; expected at most model.experts, ", out->experts));
  }
  out->top_k = m.top_k();
  out->expert_ffn = m.has_expert_ffn() ? m.expert_ffn() : m.ffn();
  if (out->expert_ffn == 0) return Missing("model.expert_ffn");
  out->shared_ffn = m.shared_ffn();
  out->shared_gate = m.shared_gate();
  out->dense_layers = m.dense_layers();
  out->moe_every = m.has_moe_every() ? m.moe_every() : 1;
  return TakeGroups(m, out);
}

absl::Status TakeImage(const proto::Model& m, ModelSize* out) {
  out->image = m.image();
  if (out->image == 0) return m.has_vocab() ? absl::OkStatus() : Missing("model.vocab");
  if (!m.has_patch()) return Missing("model.patch", "; a model of images needs it");
  if (out->image % m.patch() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("model.image is ", out->image,
                                                   "; expected a multiple of model.patch, ", m.patch(),
                                                   NearestMultiple(out->image, m.patch())));
  }
  out->patch = m.patch();
  out->channels = m.has_channels() ? m.channels() : 3;
  out->classes = m.has_classes() ? m.classes() : 1000;
  return absl::OkStatus();
}

void TakeFlags(const proto::Model& m, ModelSize* out) {
  out->gated = !m.has_gated() || m.gated();
  out->tied = m.tied();
  out->layer_norm = m.norm() == proto::Model::LAYER;
  out->bias = m.bias();
  out->qkv_bias = m.has_qkv_bias() ? m.qkv_bias() : m.bias();
  out->qk_norm = m.qk_norm();
  out->positions = m.positions();
  out->rope = m.has_rope() ? m.rope() : out->positions == 0 && m.image() == 0;
  out->causal = !m.has_causal() || m.causal();
  out->token_types = m.token_types();
  out->pooler = m.pooler();
  out->mtp = m.mtp();
  out->post_norm = m.post_norm();
  out->pre_norm = !m.has_pre_norm() || m.pre_norm();
  out->shared_norm = m.shared_norm();
  out->norm_bias = !m.has_norm_bias() || m.norm_bias();
  out->qk_norm_wide = m.qk_norm_wide();
  out->embedding_norm = m.embedding_norm();
  out->head_bias = m.head_bias();
  out->sinks = m.sinks();
  out->score_cap = m.score_cap() > 0;
  out->logit_cap = m.logit_cap() > 0;
  out->clamp = m.has_clamp() ? m.clamp() : m.sinks() && out->gated;
}

absl::Status TakeMixers(const proto::Model& m, ModelSize* out) {
  out->conv_kernel = m.has_conv_kernel() ? m.conv_kernel() : out->HasSublayer('C') ? 3 : 4;
  out->attention_gate = m.attention_gate();
  out->router_bias = m.router_bias();
  out->expert_latent = m.expert_latent();
  if (out->expert_latent > 0 && out->experts == 0)
    return absl::InvalidArgumentError(
        "model.expert_latent is for experts; expected model.experts too, or expert_latent=0");
  if (out->attention_gate && out->latent())
    return absl::InvalidArgumentError(
        "model.attention_gate is yes; expected no with latent attention (model.kv_rank)");
  if (out->HasSublayer('M')) {
    constexpr absl::string_view kWhy = "; Mamba-2 (M) needs it";
    if (!m.has_mamba_heads()) return Missing("model.mamba_heads", kWhy);
    if (!m.has_mamba_head_dim()) return Missing("model.mamba_head_dim", kWhy);
    out->mamba = {m.mamba_heads(), m.mamba_head_dim(), m.has_mamba_state() ? m.mamba_state() : 128,
                  m.has_mamba_groups() ? m.mamba_groups() : 8, m.has_mamba_chunk() ? m.mamba_chunk() : 128};
    if (out->mamba.heads % out->mamba.groups != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "model.mamba_groups is ", out->mamba.groups, "; expected a divisor of model.mamba_heads, ",
          out->mamba.heads, NearestDivisor(out->mamba.groups, out->mamba.heads)));
    }
  }
  if (!out->HasSublayer('G') && !out->HasSublayer('K')) return absl::OkStatus();
  if (!m.has_linear_key_heads())
    return Missing("model.linear_key_heads", "; linear attention (G, K) needs it");
  DeltaShape& d = out->delta;
  d.key_heads = m.linear_key_heads();
  d.value_heads = m.has_linear_value_heads() ? m.linear_value_heads() : d.key_heads;
  d.key_dim = m.has_linear_key_dim() ? m.linear_key_dim() : 128;
  d.value_dim = m.has_linear_value_dim() ? m.linear_value_dim() : d.key_dim;
  d.full_gate = m.linear_full_gate();
  if (d.value_heads % d.key_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("model.linear_value_heads is ", d.value_heads,
                                                   "; expected a multiple of model.linear_key_heads, ",
                                                   d.key_heads, NearestMultiple(d.value_heads, d.key_heads)));
  }
  if (out->HasSublayer('K') && (d.value_heads != d.key_heads || d.value_dim != d.key_dim))
    return absl::InvalidArgumentError(
        "model.linear_value_heads and model.linear_value_dim differ from those of keys; expected equal ones "
        "with Kimi delta attention (K)");
  return absl::OkStatus();
}

absl::Status CheckNorms(const proto::Model& m, const ModelSize& size) {
  if (!size.pre_norm && !size.post_norm)
    return absl::InvalidArgumentError(
        "model.pre_norm is no; expected model.post_norm=yes, because blocks without norms are not generated");
  if (size.shared_norm && !size.pre_norm)
    return absl::InvalidArgumentError(
        "model.shared_norm is yes; expected model.pre_norm=yes, because the shared norm is before both "
        "halves");
  if (size.shared_norm && size.post_norm)
    return absl::InvalidArgumentError(
        "model.shared_norm is yes; expected model.post_norm=no, because both halves are added at once");
  if (m.has_norm_bias() && !size.layer_norm)
    return absl::InvalidArgumentError("model.norm_bias is for norm=layer; expected model.norm=layer");
  if (size.qk_norm_wide && (!size.qk_norm || size.latent()))
    return absl::InvalidArgumentError(
        "model.qk_norm_wide is for norms of queries and keys; expected model.qk_norm=yes without "
        "model.kv_rank");
  if (size.image > 0 && size.logit_cap)
    return absl::InvalidArgumentError("model.logit_cap is for text; expected 0 with model.image");
  if (size.image > 0 && (size.embedding_norm || size.head_bias))
    return absl::InvalidArgumentError(
        "model.embedding_norm and model.head_bias are for text; expected neither with model.image");
  return absl::OkStatus();
}

absl::Status TakeSchedule(const proto::Parallel& p, Split* out) {
  const std::string& name = p.schedule();
  const std::vector<std::string> known = {"gpipe", "1f1b", "interleaved", "zb-h1", "dualpipe", "dualpipev"};
  if (name.empty()) {
    out->schedule = out->vpp > 1 ? Schedule::kInterleaved : Schedule::k1F1B;
    return absl::OkStatus();
  }
  for (size_t i = 0; i < known.size(); ++i) {
    if (name != known[i]) continue;
    out->schedule = static_cast<Schedule>(i);
    // one piece on the way to the last stage, one on the way back
    if (out->schedule == Schedule::kDualPipeV && !p.has_vpp() && out->pp > 1) out->vpp = 2;
    return absl::OkStatus();
  }
  for (const char* later : {"zb-h2", "zbv", "zb-v"}) {
    if (name == later) {
      return absl::UnimplementedError(absl::StrCat(
          "parallel.schedule is \"", name,
          "\", whose order depends on the times of passes and is not generated yet; known: gpipe, 1f1b, "
          "interleaved, zb-h1, dualpipe, dualpipev"));
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("parallel.schedule is \"", name, "\"", SuggestName(name, known)));
}

absl::Status TakeSplit(const proto::Parallel& p, const proto::Training& t, const ModelSize& model, int domain,
                       Split* out) {
  const auto or_one = [](bool has, int64_t v) { return has ? v : 1; };
  out->tp = or_one(p.has_tp(), p.tp());
  out->pp = or_one(p.has_pp(), p.pp());
  out->vpp = or_one(p.has_vpp(), p.vpp());
  out->dp = or_one(p.has_dp(), p.dp());
  out->cp = or_one(p.has_cp(), p.cp());
  out->ep = or_one(p.has_ep(), p.ep());
  out->etp = or_one(p.has_etp(), p.etp());
  out->sp = p.has_sp() ? p.sp() : out->tp > 1;
  // Megatron-LM's optimizer can be on the host only with its distributed optimizer.
  const int zero = t.framework() == proto::Training::FSDP        ? 3
                   : absl::StrContains(t.offload(), "optimizer") ? 1
                                                                 : 0;
  out->zero = p.has_zero() ? p.zero() : zero;
  out->copies = or_one(p.has_copies(), p.copies());
  if (p.has_reshard_after_forward()) {
    if (t.framework() != proto::Training::FSDP)
      return absl::InvalidArgumentError(
          "parallel.reshard_after_forward is for FSDP; expected training.framework=fsdp");
    out->reshard_after_forward = p.reshard_after_forward();
  }
  out->cp_kind = p.cp_kind();
  out->overlap_grad = p.has_overlap_grad() ? p.overlap_grad() : t.attention() != proto::Training::MATH;
  out->overlap_param = p.overlap_param();
  out->overlap_tensor = p.overlap_tensor();
  out->overlap_expert = p.overlap_expert();
  out->domain = p.has_domain() ? p.domain() : domain > 0 ? domain : kUsualDomain;
  if (!p.order().empty() && p.order() != "tp-cp-ep-dp-pp") {
    if (p.order() != "tp-cp-ep-pp-dp") {
      return absl::InvalidArgumentError(
          absl::StrCat("parallel.order is \"", p.order(), "\"; expected tp-cp-ep-dp-pp or tp-cp-ep-pp-dp"));
    }
    out->pp_before_dp = true;
  }
  out->deep = p.dispatcher() != proto::Parallel::ALLTOALL;
  out->hybrid = p.dispatcher() == proto::Parallel::HYBRID;
  if (!p.has_dispatcher()) out->ChooseDispatcher(model);
  RETURN_IF_ERROR(TakeLayout(p, out));
  RETURN_IF_ERROR(TakeSchedule(p, out));
  if (p.has_hidden_share() && !out->overlap_expert)
    return absl::InvalidArgumentError(
        "parallel.hidden_share is the share of the exchanges of experts that overlaps with kernels; expected "
        "parallel.overlap_expert=yes too");
  out->hidden_share = p.hidden_share();
  return absl::OkStatus();
}

absl::Status BadModule(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("training.recompute_modules has \"", name, "\"", what));
}

// Errors: a module that no layer has, or that another module already recomputes.
absl::Status CheckModules(const ModelSize& model, const ModuleSet& m) {
  const auto bad = [](Module module, absl::string_view what) {
    return BadModule(kModuleNames[module], what);
  };
  if (m[kLatentUp] && !model.latent()) return bad(kLatentUp, "; expected latent attention (model.kv_rank)");
  for (const Module of_experts : {kMoe, kExpertActivation, kSharedExperts}) {
    if (m[of_experts] && model.experts == 0)
      return bad(of_experts, "; expected a model of experts (model.experts)");
    if (m[of_experts] && m[kMoe] && of_experts != kMoe)
      return bad(of_experts, ", which moe recomputes too; expected one of them");
  }
  if (m[kSharedExperts] && model.shared_ffn == 0)
    return bad(kSharedExperts, "; expected shared experts (model.shared_ffn)");
  if (m[kLayerNorms] && !model.pre_norm) return bad(kLayerNorms, "; expected model.pre_norm=yes");
  if (m[kDenseMlp] && !model.HasSublayer('-')) return bad(kDenseMlp, "; expected layers without experts");
  for (const Module part : {kDenseMlp, kMoe, kExpertActivation, kSharedExperts}) {
    if (m[part] && m[kMlpUp]) return bad(part, ", which mlp_up recomputes too; expected one of them");
  }
  if (m[kLatentUp] && m[kProjections])
    return bad(kLatentUp, ", which qkv_proj recomputes too; expected one of them");
  for (const Module attention : {kProjections, kAttentionOut}) {
    if (m[attention] && !model.HasSublayer('*')) return bad(attention, "; expected layers with attention");
  }
  return absl::OkStatus();
}

// Reads Megatron-LM's names, joined by +.
absl::Status TakeModules(const proto::Training& t, const ModelSize& model, TrainingPlan* out) {
  if (t.recompute_modules().empty()) {
    out->modules.set(kCoreAttention);
    return absl::OkStatus();
  }
  if (t.recompute() != proto::Training::SELECTIVE)
    return absl::InvalidArgumentError(
        "training.recompute_modules is for single modules; expected training.recompute=selective");
  const std::vector<std::string> known(kModuleNames, kModuleNames + kModules);
  for (const absl::string_view name : absl::StrSplit(t.recompute_modules(), '+')) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) return BadModule(name, SuggestName(std::string(name), known));
    if (out->modules[static_cast<size_t>(found - known.begin())]) return BadModule(name, " twice");
    out->modules.set(static_cast<size_t>(found - known.begin()));
  }
  return CheckModules(model, out->modules);
}

absl::Status CheckRecompute(const proto::Training& t) {
  if (t.recompute() != proto::Training::FULL) {
    const bool method = t.has_recompute_method();
    if (!method && !t.has_recompute_layers()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("training.recompute_", method ? "method" : "layers",
                                                   " is for whole layers; expected training.recompute=full"));
  }
  const bool block = t.recompute_method() == proto::Training::BLOCK;
  const std::string method =
      absl::AsciiStrToLower(proto::Training::RecomputeMethod_Name(t.recompute_method()));
  if (t.recompute_method() != proto::Training::UNIFORM && !t.has_recompute_layers()) {
    return Missing("training.recompute_layers",
                   absl::StrCat("; with recompute_method=", method, " expected ",
                                block ? "the number of layers of each piece of the pipeline"
                                      : "N, to recompute every N-th layer"));
  }
  if (!block && t.has_recompute_layers() && t.recompute_layers() == 0)
    return absl::InvalidArgumentError(absl::StrCat("training.recompute_layers is 0; with recompute_method=",
                                                   method, " expected at least 1; the nearest is 1"));
  return absl::OkStatus();
}

// What PyTorch's checkpointing by operator cannot be combined with.
absl::Status CheckOperators(const proto::Training& t) {
  const bool operators = t.recompute() == proto::Training::OPERATORS;
  if (t.has_recompute_gemms() && !operators)
    return absl::InvalidArgumentError(
        "training.recompute_gemms is for single operators; expected training.recompute=operators");
  if (!operators) return absl::OkStatus();
  if (t.framework() == proto::Training::MEGATRON)
    return absl::InvalidArgumentError(
        "training.recompute is operators, which PyTorch has; expected training.framework=fsdp or ddp");
  if (t.lora() > 0) return NotYet("training.recompute=operators with lora", "recompute=full");
  return absl::OkStatus();
}

absl::Status TakeGradients(const proto::Training& t, TrainingPlan* out) {
  if (!t.has_grad_reduce_dtype()) return absl::OkStatus();
  using proto::Training;
  const auto type = t.grad_reduce_dtype();
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("training.grad_reduce_dtype is ",
                                                   absl::AsciiStrToLower(Training::Dtype_Name(type)),
                                                   "; expected ", what));
  };
  const bool half = t.dtype() == Training::FP16;
  if (type == Training::FP8 || type == Training::NVFP4) return bad("fp32 or bf16; the nearest is bf16");
  if (half && t.framework() == Training::MEGATRON)
    return type == Training::FP16 ? absl::OkStatus()
                                  : bad("fp16 with training.dtype=fp16; the nearest is fp16");
  if (type == Training::FP16) return bad("fp32 or bf16; the nearest is bf16");
  if (type == Training::FP32) return absl::OkStatus();
  if (t.framework() == Training::DDP) return bad("fp32 with framework=ddp; the nearest is fp32");
  if (half || (t.framework() == Training::MEGATRON && t.dtype() == Training::FP32))
    return bad("fp32, unless training.dtype is bf16, fp8 or nvfp4; the nearest is fp32");
  if (t.lora() > 0) return bad("fp32 with training.lora; the nearest is fp32");
  out->narrow_gradients = true;
  return absl::OkStatus();
}

// Any two of micro_batch, accumulation and global_batch give the third.
absl::Status TakeSequences(const proto::Training& t, const Split& split, TrainingPlan* out) {
  const int64_t times = t.has_accumulation() ? t.accumulation() : split.pp;
  const bool from_others = t.has_accumulation() && t.has_global_batch() && !t.has_micro_batch();
  out->micro_batch = t.has_micro_batch() ? t.micro_batch()
                     : from_others       ? std::max<int64_t>(1, t.global_batch() / (split.dp * times))
                                         : 1;
  const int64_t product = out->micro_batch * times * split.dp;
  out->global_batch = t.has_global_batch() ? t.global_batch() : product;
  if (!t.has_accumulation() || out->global_batch == product) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("training.global_batch is ", out->global_batch,
                   "; expected training.micro_batch * accumulation * parallel.dp, ", out->micro_batch, " * ",
                   times, " * ", split.dp, " = ", product));
}

// PyTorch's scaled_dot_product_attention runs FlashAttention-2 unless a mask or unequal widths of keys and
// values need another kernel (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp).
proto::Training::Attention AttentionOf(const proto::Training& t, const ModelSize& model) {
  if (t.has_attention() || t.framework() == proto::Training::MEGATRON) return t.attention();
  const bool other = model.latent() || model.score_cap || model.windowed.any() || model.chunked.any();
  return other ? proto::Training::FLASH : proto::Training::FLASH2;
}

absl::Status TakeTraining(const proto::Training& t, const ModelSize& model, const Split& split,
                          TrainingPlan* out) {
  const int64_t patches = model.image > 0 ? model.image / model.patch : 0;
  if (model.image > 0 && t.has_seq() && t.seq() != patches * patches + 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "training.seq is ", t.seq(), "; expected the patches of an image plus one, ", patches * patches + 1));
  }
  if (model.image == 0 && !t.has_seq())
    return Missing("training.seq", "; expected the tokens of a sequence, as --training seq=4096");
  out->seq = model.image > 0 ? patches * patches + 1 : t.seq();
  RETURN_IF_ERROR(TakeSequences(t, split, out));
  RETURN_IF_ERROR(TakePrecision(t, model, out));
  out->recompute = t.recompute();
  out->recompute_method = t.recompute_method();
  out->recomputes_gemms = t.recompute_gemms();
  out->recompute_layers = t.has_recompute_layers() ? t.recompute_layers() : 1;
  RETURN_IF_ERROR(TakeGradients(t, out));
  RETURN_IF_ERROR(CheckRecompute(t));
  RETURN_IF_ERROR(CheckOperators(t));
  RETURN_IF_ERROR(TakeModules(t, model, out));
  out->optimizer = t.optimizer();
  out->attention = AttentionOf(t, model);
  out->framework = t.framework();
  RETURN_IF_ERROR(TakeMatrixPlan(t, split, out));
  const bool text = model.image == 0 && model.bias && model.positions > 0;
  out->dropout = t.has_dropout() ? t.dropout() : text;
  out->compiled = t.has_compiled() ? t.compiled() : t.framework() == proto::Training::MEGATRON;
  out->fused_norm = !t.has_fused_norm() || t.fused_norm();
  out->fused_projections =
      t.has_fused_projections() ? t.fused_projections() : t.framework() == proto::Training::MEGATRON;
  out->graphed_experts = t.cuda_graphs() && t.graphed_experts();
  out->fused_loss = t.has_fused_loss()
                        ? t.fused_loss()
                        : t.framework() == proto::Training::MEGATRON && out->compiled && !out->unfused();
  out->lora = t.lora();
  out->lora_mlp = t.lora_on() == proto::Training::ALL;
  out->lora_dropout = t.lora_dropout() > 0;
  for (const auto& [field, given] :
       {std::pair{"lora_on", t.has_lora_on()}, {"lora_dropout", t.has_lora_dropout()}}) {
    if (given && out->lora == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("training.", field, " is for adapters; expected training.lora too, as lora=16"));
  }
  ASSIGN_OR_RETURN(const proto::HostTimes host, HostOf(t));
  out->host = HostCostsOf(t, host);
  if (out->host.any()) out->host_range = absl::StrCat(host.name(), ": ", host.range());
  out->graphs = t.cuda_graphs();
  return TakeOffload(t, model, &out->offload);
}

std::string TextOf(proto::Workload workload) {
  workload.mutable_model()->clear_config();  // a path; its values are in the other fields
  return FormatMessage(workload, MessageFormat::kText).value_or("");
}

}  // namespace

absl::StatusOr<ModelSize> ResolveModel(const proto::Model& m) {
  RETURN_IF_ERROR(CheckSettings(m, "model."));
  if (IsOfTables(m))
    return absl::UnimplementedError(
        "model.tables: `plan` splits only transformers; known: generate, replay and sweep");
  ModelSize out;
  out.name = m.preset().empty() ? "model" : m.preset();
  if (!m.has_layers() && m.pattern().empty()) return Missing("model.layers");
  if (!m.has_hidden()) return Missing("model.hidden");
  if (!m.has_heads()) return Missing("model.heads");
  out.layers = m.has_layers() ? m.layers() : static_cast<int64_t>(m.pattern().size());
  out.hidden = m.hidden();
  out.heads = m.heads();
  out.kv_heads = m.has_kv_heads() ? m.kv_heads() : out.heads;
  out.vocab = m.vocab();
  out.ffn = m.ffn();
  TakeFlags(m, &out);
  RETURN_IF_ERROR(TakeLatent(m, &out));
  RETURN_IF_ERROR(TakePattern(m, &out));
  RETURN_IF_ERROR(TakeExperts(m, &out));
  RETURN_IF_ERROR(TakeImage(m, &out));
  RETURN_IF_ERROR(TakeWindow(m, &out));
  RETURN_IF_ERROR(TakeChunks(m, &out));
  RETURN_IF_ERROR(TakeIndexer(m, &out));
  RETURN_IF_ERROR(TakeMixers(m, &out));
  RETURN_IF_ERROR(CheckNorms(m, out));
  if (!m.has_head_dim() && !out.latent() && out.hidden % out.heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.hidden is ", out.hidden, "; expected a multiple of model.heads, ", out.heads,
                     NearestMultiple(out.hidden, out.heads), ", or model.head_dim"));
  }
  out.head_dim = m.has_head_dim() ? m.head_dim() : out.hidden / out.heads;
  if (out.heads % out.kv_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("model.kv_heads is ", out.kv_heads,
                                                   "; expected a divisor of model.heads, ", out.heads,
                                                   NearestDivisor(out.kv_heads, out.heads)));
  }
  if (out.ffn == 0 && out.HasSublayer('-')) {
    return Missing("model.ffn", "; layers without experts need it");
  }
  return out;
}

absl::StatusOr<StepPlan> ResolvePlan(const proto::Workload& workload, int domain) {
  RETURN_IF_ERROR(CheckSettings(workload.parallel(), "parallel."));
  RETURN_IF_ERROR(CheckSettings(workload.training(), "training."));
  StepPlan plan;
  if (IsOfTables(workload.model())) {
    ASSIGN_OR_RETURN(StepPlan of_tables, ResolveTableStep(workload));
    of_tables.workload = TextOf(workload);
    return of_tables;
  }
  RETURN_IF_ERROR(CheckWithoutTables(workload));
  ASSIGN_OR_RETURN(plan.model, ResolveModel(workload.model()));
  plan.name = workload.name().empty() ? plan.model.name : workload.name();
  RETURN_IF_ERROR(TakeSplit(workload.parallel(), workload.training(), plan.model, domain, &plan.split));
  RETURN_IF_ERROR(TakeTraining(workload.training(), plan.model, plan.split, &plan.training));
  RETURN_IF_ERROR(CheckPlan(plan));
  ASSIGN_OR_RETURN(plan.pieces, LayPieces(workload, plan.model, plan.split));
  proto::Workload whole = workload;
  if (plan.split.ep > 1 && domain > 0) whole.mutable_parallel()->set_domain(plan.split.domain);
  plan.workload = TextOf(std::move(whole));
  return plan;
}

}  // namespace chakra::generate
