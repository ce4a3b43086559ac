#include "trace/generate/check.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/generate/counts.h"
#include "trace/generate/matrix_plan.h"
#include "trace/generate/not_yet.h"
#include "trace/generate/offload.h"
#include "trace/generate/precision.h"

namespace chakra::generate {
namespace {

// Readers do not accept a step with more ranks or micro-batches.
constexpr int64_t kMostRanks = int64_t{1} << 22;
constexpr int64_t kMostMicroBatches = 1 << 16;

absl::Status Multiple(absl::string_view field, int64_t v, absl::string_view of, int64_t unit) {
  if (v % unit == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", v, "; expected a multiple of ", of, ", ", unit, NearestMultiple(v, unit)));
}

// Ranks of tp and cp have equal numbers of the heads of mixers without a softmax. With cp, a group of Mamba-2
// may be on several ranks.
absl::Status CheckMixers(const StepPlan& p) {
  const ModelSize& m = p.model;
  const int64_t tp = p.split.tp, both = tp * p.split.cp;
  const auto heads = [&](absl::string_view field, int64_t n, int64_t ranks) {
    if (n % ranks == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(ranks == tp ? "parallel.tp is " : "parallel.tp * parallel.cp is ", ranks,
                     "; expected a divisor of model.", field, ", ", n, NearestDivisor(ranks, n)));
  };
  if (m.HasSublayer('M')) {
    RETURN_IF_ERROR(heads("mamba_heads", m.mamba.heads, both));
    RETURN_IF_ERROR(heads("mamba_groups", m.mamba.groups, tp));
  }
  if (m.HasSublayer('G') || m.HasSublayer('K')) {
    RETURN_IF_ERROR(heads("linear_key_heads", m.delta.key_heads, both));
  }
  if (m.HasSublayer('L')) {
    RETURN_IF_ERROR(heads("heads", m.heads, both));
  }
  if (m.HasSublayer('C')) {
    RETURN_IF_ERROR(heads("hidden", m.hidden, tp));
    if (p.split.cp > 1) return NotYet("model.mixers with C and parallel.cp", "cp=1");
  }
  if (p.training.frozen() && !m.mixers.empty())
    return NotYet("training.lora with model.mixers or model.pattern", "lora=0");
  return absl::OkStatus();
}

absl::Status CheckTensor(const StepPlan& p) {
  const ModelSize& m = p.model;
  const int64_t tp = p.split.tp;
  if (m.heads % tp != 0) {
    return absl::InvalidArgumentError(absl::StrCat("parallel.tp is ", tp,
                                                   "; expected a divisor of model.heads, ", m.heads,
                                                   NearestDivisor(tp, m.heads)));
  }
  // If there are fewer key heads than ranks, each key head is on several ranks (Megatron-LM's rule).
  if (!m.latent() && m.kv_heads % tp != 0 && tp % m.kv_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("parallel.tp is ", tp,
                                                   "; expected a divisor or a multiple of model.kv_heads, ",
                                                   m.kv_heads, NearestDivisor(tp, m.kv_heads)));
  }
  RETURN_IF_ERROR(CheckMixers(p));
  if (m.ffn > 0) {
    RETURN_IF_ERROR(Multiple("model.ffn", m.ffn, "parallel.tp", tp));
  }
  RETURN_IF_ERROR(Multiple("model.shared_ffn", m.shared_ffn, "parallel.tp", tp));
  if (m.qk_norm_wide && tp > 1)
    return NotYet("model.qk_norm_wide with parallel.tp, whose ranks have some heads each,", "tp=1");
  if (p.split.sp && tp == 1)
    return absl::InvalidArgumentError("parallel.sp is yes; expected parallel.tp of more than 1");
  return absl::OkStatus();
}

// DualPipe (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.2.1, and the preconditions of its
// published schedule).
absl::Status CheckTwoWays(const StepPlan& p) {
  const Split& s = p.split;
  const bool mirrored = s.mirrored();
  const absl::string_view name = mirrored ? "dualpipe" : "dualpipev";
  const int64_t vpp = mirrored ? 1 : 2;
  if (s.pp == 1 || (mirrored && s.pp % 2 != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.pp is ", s.pp, "; with schedule=", name, " expected ",
                     mirrored ? "an even number" : "more than 1",
                     mirrored && s.pp > 1 ? NearestMultiple(s.pp, 2) : "; the nearest is 2"));
  }
  if (s.vpp != vpp)
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.vpp is ", s.vpp, "; with schedule=", name, " expected ", vpp));
  const int64_t m = p.micro_batches(), least = 2 * s.pp, unit = mirrored ? 2 : 1;
  if (m >= least && m % unit == 0) return absl::OkStatus();
  const int64_t nearest = std::max(least, (m + unit - 1) / unit * unit);
  return absl::InvalidArgumentError(
      absl::StrCat("training.global_batch makes ", m, " micro-batches; with schedule=", name, " expected ",
                   mirrored ? "an even number, " : "", "at least 2 * parallel.pp, ", least,
                   "; the nearest is ", nearest, ", global_batch=", nearest * s.dp * p.training.micro_batch));
}

absl::Status CheckPipeline(const StepPlan& p) {
  const Split& s = p.split;
  if (s.schedule == Schedule::kDualPipe || s.schedule == Schedule::kDualPipeV) return CheckTwoWays(p);
  if (s.schedule == Schedule::kInterleaved && s.vpp == 1)
    return absl::InvalidArgumentError(
        "parallel.schedule is \"interleaved\"; expected parallel.vpp of more than 1");
  if (s.vpp > 1 && s.pp == 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.vpp is ", s.vpp, "; expected 1, because parallel.pp is 1"));
  }
  if (s.vpp > 1 && s.schedule != Schedule::kInterleaved) {
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.vpp is ", s.vpp, "; expected 1, or parallel.schedule interleaved"));
  }
  if (s.vpp > 1 && p.micro_batches() % s.pp != 0) {
    return absl::InvalidArgumentError(absl::StrCat("training.global_batch makes ", p.micro_batches(),
                                                   " micro-batches; expected a multiple of parallel.pp, ",
                                                   s.pp, ", because parallel.schedule is interleaved",
                                                   NearestMultiple(p.micro_batches(), s.pp)));
  }
  return absl::OkStatus();
}

// There may be at most one piece for each layer, one for the embedding and one for the head.
absl::Status CheckPieces(const StepPlan& p) {
  const Split& s = p.split;
  const int64_t most = p.model.layers + p.model.mtp + 2;
  if (s.pp <= most && s.vpp <= most && s.model_pieces() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("parallel.pp is ", s.pp, " and parallel.vpp ", s.vpp,
                                                 "; expected no more pieces than model.layers, ",
                                                 p.model.layers, NearestDivisor(s.pp, p.model.layers)));
}

absl::Status CheckBatch(const StepPlan& p) {
  const int64_t unit = p.split.dp * p.training.micro_batch;
  RETURN_IF_ERROR(
      Multiple("training.global_batch", p.training.global_batch, "parallel.dp * training.micro_batch", unit));
  if (p.micro_batches() > kMostMicroBatches) {
    return absl::InvalidArgumentError(absl::StrCat("training.global_batch makes ", p.micro_batches(),
                                                   " micro-batches; expected at most ", kMostMicroBatches));
  }
  const int64_t shares = p.split.cp * (p.split.cp > 1 && p.model.causal ? 2 : 1);
  RETURN_IF_ERROR(Multiple("training.seq", p.training.seq,
                           shares > p.split.cp ? "2 * parallel.cp" : "parallel.cp", shares));
  if (p.split.sp && p.tokens() % p.split.tp != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("training.seq is ", p.training.seq,
                     "; expected a multiple of parallel.tp * parallel.cp, ", p.split.tp * p.split.cp,
                     NearestMultiple(p.training.seq, p.split.tp * p.split.cp), ", or parallel.sp=no"));
  }
  return absl::OkStatus();
}

absl::Status CheckContext(const StepPlan& p) {
  if (p.model.sparse()) {
    if (p.split.cp > 1) return NotYet("model.index_topk with parallel.cp", "cp=1");
    if (p.training.attention != proto::Training::FLASH)
      return NotYet("model.index_topk with another training.attention", "attention=flash");
    if (p.training.frozen()) return NotYet("training.lora with model.index_topk", "lora=0");
  }
  if (p.split.cp == 1) return absl::OkStatus();
  if (p.split.cp_kind == proto::Parallel::ULYSSES) {
    const int64_t heads =
        std::max<int64_t>(1, (p.model.latent() ? p.model.heads : p.model.kv_heads) / p.split.tp);
    if (heads % p.split.cp != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("parallel.cp is ", p.split.cp,
                       "; with cp_kind=ulysses expected a divisor of the key heads of a rank, ", heads,
                       NearestDivisor(p.split.cp, heads)));
    }
  }
  if (p.training.attention == proto::Training::MATH) {
    return NotYet("training.attention=math with parallel.cp", "attention=flash");
  }
  if (p.model.windowed.any() && p.split.cp_kind != proto::Parallel::ULYSSES)
    return NotYet("model.window with parallel.cp",
                  "cp_kind=ulysses, where a rank has whole sequences of some heads");
  return absl::OkStatus();
}

absl::Status CheckExperts(const StepPlan& p) {
  const ModelSize& m = p.model;
  const Split& s = p.split;
  if (m.experts == 0) {
    if (s.ep == 1 && s.etp == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(s.ep > 1 ? "parallel.ep is " : "parallel.etp is ",
                                                   s.ep > 1 ? s.ep : s.etp,
                                                   "; expected 1, because the model has no experts"));
  }
  if (m.experts % s.ep != 0) {
    return absl::InvalidArgumentError(absl::StrCat("parallel.ep is ", s.ep,
                                                   "; expected a divisor of model.experts, ", m.experts,
                                                   NearestDivisor(s.ep, m.experts)));
  }
  if (s.stage_ranks() % (s.ep * s.etp) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.ep * parallel.etp is ", s.ep * s.etp,
                     "; expected a divisor of parallel.tp * parallel.cp * parallel.dp, ", s.stage_ranks(),
                     NearestDivisor(s.ep * s.etp, s.stage_ranks())));
  }
  if (s.overlap_expert && s.schedule != Schedule::k1F1B && s.schedule != Schedule::kInterleaved)
    return NotYet("parallel.overlap_expert with another schedule", "1f1b or interleaved");
  if (s.deep && s.etp > 1) {
    return NotYet(absl::StrCat("parallel.dispatcher=", s.hybrid ? "hybrid" : "deep", " with parallel.etp"),
                  "dispatcher=alltoall");
  }
  RETURN_IF_ERROR(Multiple("model.expert_ffn", m.expert_ffn, "parallel.etp", s.etp));
  if (s.tp > 1 && !s.sp)
    return absl::InvalidArgumentError(
        "parallel.sp is no; expected yes, because experts with parallel.tp need it");
  return absl::OkStatus();
}

absl::Status CheckChunks(const StepPlan& p) {
  const int64_t chunk = p.model.chunk, seq = p.training.seq;
  if (chunk == 0 || !p.model.chunked.any() || seq <= chunk) return absl::OkStatus();
  if (p.split.cp > 1 && p.split.cp_kind != proto::Parallel::ULYSSES)
    return NotYet("model.chunk with parallel.cp",
                  "cp_kind=ulysses, where a rank has whole sequences of some heads");
  return Multiple("training.seq", seq, "model.chunk", chunk);
}

absl::Status CheckCaps(const StepPlan& p) {
  const bool first = p.training.attention == proto::Training::FLASH1;
  if (p.model.score_cap && (first || p.training.attention == proto::Training::FLASH2)) {
    const char* name = first ? "flash1" : "flash2";
    return absl::InvalidArgumentError(absl::StrCat("training.attention is ", name,
                                                   "; expected flash with model.score_cap, which the kernel "
                                                   "of ",
                                                   name, " does not have"));
  }
  return absl::OkStatus();
}

absl::Status CheckFurther(const StepPlan& p) {
  if (p.model.mtp == 0) return absl::OkStatus();
  if (p.model.image > 0)
    return absl::InvalidArgumentError(
        absl::StrCat("model.mtp is ", p.model.mtp, "; expected 0 for a model of images"));
  return Multiple("model.hidden", p.model.hidden, "parallel.tp", p.split.tp);
}

absl::Status CheckRecomputed(const StepPlan& p) {
  if (p.training.recomputed_at_once() == 1) return absl::OkStatus();
  if (p.split.zero == 3)
    return NotYet("training.recompute_layers of more than 1 with parallel.zero=3", "recompute_layers=1");
  if (p.model.mtp > 0)
    return NotYet("training.recompute_layers of more than 1 with model.mtp", "recompute_layers=1");
  return absl::OkStatus();
}

absl::Status CheckCopies(const StepPlan& p) {
  const Split& s = p.split;
  if (s.copies == 1) return absl::OkStatus();
  if (s.zero == 0)
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.copies is ", s.copies, "; expected parallel.zero of at least 1, found 0"));
  if (s.mirrored()) return NotYet("parallel.copies with schedule=dualpipe or dualpipev", "copies=1");
  RETURN_IF_ERROR(Multiple("parallel.dp", s.dp, "parallel.copies", s.copies));
  if (s.sharers(false) == 1)
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.copies is ", s.copies, "; expected less than parallel.dp * cp, ", s.dp * s.cp,
                     ", because each rank has a copy; without sharing use zero=0"));
  if (p.model.experts == 0 || s.expert_dp() % s.copies == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "parallel.copies is ", s.copies, "; expected a divisor of the ", s.expert_dp(),
      " ranks with the same experts (tp * cp * dp / (ep * etp))", NearestDivisor(s.copies, s.expert_dp())));
}

absl::Status CheckZero(const StepPlan& p) {
  RETURN_IF_ERROR(CheckCopies(p));
  const bool fsdp = p.training.framework == proto::Training::FSDP;
  if (fsdp && p.split.zero != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.zero is ", p.split.zero, "; expected 3 with training.framework=fsdp"));
  }
  if (p.training.framework == proto::Training::DDP && p.split.zero != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("parallel.zero is ", p.split.zero, "; expected 0 with training.framework=ddp"));
  }
  if (p.split.overlap_param && p.split.zero != 1 && p.split.zero != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parallel.overlap_param is yes; expected parallel.zero of 1 or 2, found ", p.split.zero));
  }
  return absl::OkStatus();
}

absl::Status CheckAdapters(const StepPlan& p) {
  if (!p.training.frozen()) return absl::OkStatus();
  if (p.model.mtp > 0) return NotYet("training.lora with model.mtp", "lora=0");
  if (p.model.experts > 0 && p.training.lora_mlp)
    return NotYet("training.lora_on=all with experts", "lora_on=attention");
  if (p.training.dtype == proto::Training::FP16) return NotYet("training.lora with dtype=fp16", "dtype=bf16");
  return absl::OkStatus();
}

// Operations of one token that TrainingFlopsPerToken() leaves out: the scores of an indexer, and those inside
// the chunks of Mamba-2 and of the delta rule.
double UncountedPerToken(const ModelSize& m, int64_t seq) {
  const auto product = [](std::initializer_list<int64_t> factors) {
    double out = 1;
    for (const int64_t f : factors) out *= static_cast<double>(f);
    return out;
  };
  const MambaShape& a = m.mamba;
  const DeltaShape& d = m.delta;
  return (m.sparse() ? product({2, m.index_heads, m.index_dim + 1, seq}) : 0) +
         product({2, a.chunk, a.heads * a.head_dim + 2 * a.state * a.groups}) +
         product({512, d.value_heads, d.key_dim + d.value_dim + 64});
}

// All counts of a micro-batch on a rank must fit into 64-bit integers.
absl::Status CheckSize(const StepPlan& p) {
  const int64_t seq = p.training.seq;
  const double tokens = static_cast<double>(seq) * static_cast<double>(p.training.micro_batch);
  const double operations = (TrainingFlopsPerToken(p.model, seq) + UncountedPerToken(p.model, seq)) * tokens /
                            static_cast<double>(p.split.tp * p.split.cp);
  // The bytes of activations of all micro-batches in flight are less than the operations over twice the
  // features.
  const double in_flight = operations / static_cast<double>(p.model.hidden) *
                           static_cast<double>(p.split.vpp * std::max<int64_t>(1, p.micro_batches()));
  if (operations < 1e18 && in_flight < 4e18) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "training.seq is ", p.training.seq, " and training.micro_batch ", p.training.micro_batch,
      ": a micro-batch has ", operations, " operations on a rank, and there are ", p.micro_batches(),
      " of them; expected less than 1e18 operations, and 4e18 in all over model.hidden"));
}

absl::Status CheckRanks(const Split& s) {
  double ranks = 1;
  for (const int64_t n : {s.tp, s.cp, s.dp, s.pp}) ranks *= static_cast<double>(n);
  if (ranks <= static_cast<double>(kMostRanks)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("parallel.tp * cp * dp * pp is ", ranks, "; expected at most ", kMostRanks));
}

}  // namespace

std::string NearestMultiple(int64_t v, int64_t unit) {
  const int64_t below = v / unit * unit;
  const int64_t nearest = below > 0 && v - below <= unit - (v - below) ? below : below + unit;
  return absl::StrCat("; the nearest is ", nearest);
}

int64_t DivisorNear(int64_t v, int64_t of) {
  int64_t nearest = 1;
  for (int64_t d = 1; d <= of / d; ++d) {
    if (of % d != 0) continue;
    for (const int64_t candidate : {d, of / d}) {
      if (std::llabs(candidate - v) < std::llabs(nearest - v)) nearest = candidate;
    }
  }
  return nearest;
}

std::string NearestDivisor(int64_t v, int64_t of) {
  return absl::StrCat("; the nearest is ", DivisorNear(v, of));
}

absl::Status CheckPlan(const StepPlan& plan) {
  RETURN_IF_ERROR(CheckRanks(plan.split));
  RETURN_IF_ERROR(CheckSize(plan));
  RETURN_IF_ERROR(CheckTensor(plan));
  RETURN_IF_ERROR(CheckBatch(plan));
  RETURN_IF_ERROR(CheckPipeline(plan));
  RETURN_IF_ERROR(CheckPieces(plan));
  RETURN_IF_ERROR(CheckContext(plan));
  RETURN_IF_ERROR(CheckExperts(plan));
  RETURN_IF_ERROR(CheckChunks(plan));
  RETURN_IF_ERROR(CheckCaps(plan));
  RETURN_IF_ERROR(CheckFurther(plan));
  RETURN_IF_ERROR(CheckAdapters(plan));
  RETURN_IF_ERROR(CheckMatrixPlan(plan));
  RETURN_IF_ERROR(CheckRecomputed(plan));
  RETURN_IF_ERROR(CheckOffload(plan));
  RETURN_IF_ERROR(CheckPrecision(plan));
  return CheckZero(plan);
}

}  // namespace chakra::generate
