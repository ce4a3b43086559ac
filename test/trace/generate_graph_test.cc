// Graphs of steps: their operations and bytes against independent counts, schedules against closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/sanitized.h"
#include "test/trace/generate_schedule_testing.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/layout.h"
#include "trace/generate/resolve.h"
#include "trace/generate/schedule.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

constexpr char kOss[] =
    "layers=8,hidden=512,heads=8,kv_heads=4,ffn=256,vocab=4096,experts=8,top_k=2,bias=yes,sinks=yes,window="
    "128,"
    "window_layers=0-6:2";
constexpr char kGemma[] =
    "layers=8,hidden=512,heads=8,kv_heads=4,head_dim=128,ffn=1024,vocab=4096,tied=yes,qk_norm=yes,post_norm="
    "yes,"
    "window=300,window_layers=0-4+6-7";

constexpr char kOlmo[] =
    "layers=8,hidden=512,heads=8,kv_heads=4,ffn=1024,vocab=4096,pre_norm=no,post_norm=yes,qk_norm=yes,qk_"
    "norm_wide=yes";
constexpr char kPhi[] =
    "layers=8,hidden=512,heads=8,ffn=2048,gated=no,vocab=4096,norm=layer,bias=yes,shared_norm=yes,head_bias="
    "yes,"
    "embedding_norm=yes";

bool Starts(const char* text, absl::string_view with) { return absl::StartsWith(text, with); }

// Operations of GEMMs and attention in the forward pass, without the router's, over all ranks.
double ForwardOperations(const StepGraphs& step) {
  double sum = 0;
  for (const StageGraph& stage : step.stages) {
    for (const StepNode& n : stage.nodes) {
      if (n.type != NodeType::kComp || !Starts(n.spot.phase, "forward") || Starts(n.spot.part, "router"))
        continue;
      const Operator& op = stage.operators[n.op];
      const bool counts = absl::StrContains(op.name, "mm") || absl::StrContains(op.name, "attention");
      if (counts) sum += static_cast<double>(op.operations);
    }
  }
  return sum * static_cast<double>(step.plan.split.stage_ranks());
}

// Three times the forward GEMMs is the cost of training a token by the closed form. Only the diagonal of a
// causal mask differs: s (s + 1) / 2 pairs instead of s^2 / 2.
TEST(GenerateGraph, OperationsMatchTheClosedForm) {
  const std::tuple<const char*, const char*, const char*> kCases[] = {
      {kDense, "", "seq=1024"},
      {kDense, "tp=4,pp=2,dp=2", "seq=1024,global_batch=8"},
      {kDense, "pp=2,vpp=2,cp=2", "seq=1024,global_batch=4"},
      {kDense, "cp=4,cp_kind=all_gather", "seq=1024"},
      {kDense, "cp=2,cp_kind=ulysses,tp=2", "seq=1024"},
      {kExperts, "tp=2,dp=4,ep=4", "seq=1024,global_batch=8"},
      {kExperts, "tp=2,dp=2,ep=2,etp=2", "seq=1024,global_batch=4"},
      {kLatent, "tp=2,pp=2", "seq=1024,global_batch=4"},
      {kOld, "tp=2,sp=no,pp=2", "seq=1024,global_batch=4"},
      {kOss, "tp=2,dp=2,ep=2", "seq=1024,global_batch=4"},
      {kGemma, "tp=2,pp=2", "seq=1024,global_batch=4"},
      {kGemma, "cp=2,cp_kind=ulysses", "seq=1024"},
      {kGemma, "", "seq=256"},  // shorter than the window
      {kOlmo, "dp=2,pp=2", "seq=1024,global_batch=4"},
      {kPhi, "tp=2,pp=2", "seq=1024,global_batch=4"},
  };
  for (const auto& [model, parallel, training] : kCases) {
    const StepGraphs step = Step(model, parallel, training);
    const double tokens =
        static_cast<double>(step.plan.training.seq) * static_cast<double>(step.plan.training.global_batch);
    const double known = TrainingFlopsPerToken(step.plan.model, step.plan.training.seq) * tokens;
    const double seq = static_cast<double>(step.plan.training.seq);
    const double width = static_cast<double>(step.plan.model.query_width() + step.plan.model.context_width());
    const double diagonal = 3 * width * tokens * static_cast<double>(step.plan.model.layers);
    EXPECT_GE(3 * ForwardOperations(step) / known, 1 - 1e-12) << model << "|" << parallel;
    EXPECT_LE((3 * ForwardOperations(step) - diagonal) / known, 1 + 1e-12) << model << "|" << parallel << seq;
  }
}

// The pairs of a window, counted one by one from the mask.
TEST(GenerateGraph, WindowsCountThePairsOfTheMask) {
  for (const auto& [seq, window] :
       {std::pair<int64_t, int64_t>{1024, 128}, {1024, 1}, {777, 300}, {512, 512}, {256, 300}}) {
    int64_t pairs = 0;
    for (int64_t q = 0; q < seq; ++q) {
      for (int64_t k = 0; k <= q; ++k) pairs += q - k < window ? 1 : 0;
    }
    const StepGraphs step =
        Step("layers=2,hidden=512,heads=8,kv_heads=4,ffn=1024,vocab=4096,window_layers=1,window=" +
                 std::to_string(window),
             "", "seq=" + std::to_string(seq));
    int found = 0;
    for (const StepNode& n : step.stages[0].nodes) {
      if (n.type != NodeType::kComp || !Starts(n.spot.part, "attention.core")) continue;
      const int64_t seen = n.spot.layer == 1 ? pairs : seq * (seq + 1) / 2;
      const bool forward = Starts(n.spot.phase, "forward");
      EXPECT_EQ(step.stages[0].operators[n.op].operations, seen * 8 * 64 * (forward ? 4 : 10))
          << seq << " " << window;
      ++found;
    }
    EXPECT_EQ(found, 4);
  }
}

int64_t Gathered(const StepGraphs& step, const StageGraph& stage) {
  int64_t sum = 0;
  for (const StepNode& n : stage.nodes) {
    if (n.type != NodeType::kCollective || n.stream != Stream::kGather) continue;
    const int64_t ranks = n.group == GroupKind::kExpertData ? step.plan.split.expert_dp()
                                                            : step.plan.split.dp * step.plan.split.cp;
    sum += n.bytes * ranks;
  }
  return sum / step.plan.element_bytes();
}

// Each weight's gradient is reduced once, and each weight gathered as often as it is used or updated.
TEST(GenerateGraph, ReducesAndGathersEachWeight) {
  for (const char* model : {kDense, kExperts, kLatent, kOld, kOss, kGemma, kOlmo, kPhi}) {
    const bool experts = model == kExperts || model == kOss;
    for (const char* parallel : {"dp=4", "dp=4,tp=2,pp=2", "dp=2,cp=2,pp=2,vpp=2"}) {
      for (const int zero : {0, 1, 2, 3}) {
        const std::string split = absl::StrCat(parallel, ",zero=", zero,
                                               experts && !absl::StrContains(parallel, "tp=") ? ",ep=2" : "",
                                               absl::StrContains(parallel, "cp=") ? ",cp_kind=ulysses" : "");
        if (model == kOlmo && absl::StrContains(parallel, "tp=")) continue;  // its norms are of all heads
        const StepGraphs step = Step(model, split, "seq=512,global_batch=16");
        for (const StageGraph& stage : step.stages) {
          EXPECT_EQ(Reduced(step, stage), stage.weights + stage.expert_weights) << model << "|" << split;
          const int64_t uses = zero == 0 ? 0 : zero < 3 ? 1 : 2 * step.plan.micro_batches();
          const int64_t all = uses * (stage.weights + stage.expert_weights);
          // Shares are rounded up to whole elements; the embedding and the head are gathered once.
          if (zero < 3) {
            EXPECT_NEAR(static_cast<double>(Gathered(step, stage)), static_cast<double>(all), 200) << split;
          } else {
            EXPECT_LE(Gathered(step, stage), all + 1000) << split;
            EXPECT_GT(Gathered(step, stage), all / 2) << split;
          }
        }
      }
    }
  }
}

// The weights of all ranks, each counted once, are the model.
TEST(GenerateGraph, HoldsEachParameter) {
  for (const char* model : {kDense, kExperts, kLatent, kOld, kOss, kGemma, kOlmo, kPhi}) {
    for (const char* parallel : {"", "pp=4", "pp=2,vpp=2"}) {
      const StepGraphs step = Step(model, parallel, "seq=512");
      int64_t sum = 0;
      for (const StageGraph& stage : step.stages) sum += stage.weights + stage.expert_weights;
      const int64_t twice =
          step.plan.model.tied && step.plan.split.pp > 1 ? step.plan.model.vocab * step.plan.model.hidden : 0;
      EXPECT_EQ(sum, CountParameters(step.plan.model).total + twice) << model << "|" << parallel;
    }
  }
}

// Bytes of the collectives of tensor parallelism, by Korthikanti et al., 2022: with sequence parallelism each
// layer gathers 2 times forward and 4 times backward, and reduce-scatters 2 times in each direction; without,
// it all-reduces 2 times in each direction. Embedding and head add theirs.
TEST(GenerateGraph, TensorParallelBytesMatchTheClosedForm) {
  for (const bool sp : {true, false}) {
    const StepGraphs step = Step(kDense, sp ? "tp=4" : "tp=4,sp=no", "seq=512,micro_batch=2,global_batch=6");
    std::map<CollectiveType, int64_t> bytes;
    for (const StepNode& n : step.stages[0].nodes) {
      if (n.type == NodeType::kCollective && n.group == GroupKind::kTensor && !Starts(n.spot.phase, "step") &&
          !Starts(n.spot.part, "loss"))
        bytes[n.collective] += n.bytes;
    }
    const int64_t a = 2 * 512 * 512 * 2, layers = 8 * 3;
    if (sp) {
      // Head: gathered forward and backward; embedding: its gradient gathered.
      EXPECT_EQ(bytes[CollectiveType::kAllGather], (6 * layers + 3 * 3) * a / 4);
      EXPECT_EQ(bytes[CollectiveType::kReduceScatter], (4 * layers + 2 * 3) * a);
      EXPECT_EQ(bytes.count(CollectiveType::kAllReduce), 0u);
    } else {
      EXPECT_EQ(bytes[CollectiveType::kAllReduce], (4 * layers + 2 * 3) * a);
      EXPECT_EQ(bytes.size(), 1u);
    }
  }
}

double PipelineLength(const std::string& parallel, int64_t micro_batches, int64_t layers) {
  const std::string model = absl::StrCat("layers=", layers, ",hidden=512,heads=8,ffn=1024,vocab=4096");
  return UnitLength(Step(model, parallel, absl::StrCat("seq=64,global_batch=", micro_batches)));
}

// Narayanan et al., 2021, section 2.2: the bubble is (p - 1) of a stage's forward and backward, over v
// pieces.
TEST(GenerateSchedule, LengthMatchesTheClosedForm) {
  EXPECT_EQ(PipelineLength("pp=4", 8, 4), 33);
  EXPECT_EQ(PipelineLength("pp=4,schedule=gpipe", 8, 4), 33);
  EXPECT_EQ(PipelineLength("pp=4,vpp=2", 8, 8), 2 * 28.5);  // half layers
  EXPECT_EQ(PipelineLength("pp=1", 8, 4), 8 * 4 * 3);
  for (const int p : {2, 4, 8}) {
    for (const int v : {1, 2, 4}) {
      const int m = 2 * p;
      const std::string split = absl::StrCat("pp=", p, v > 1 ? absl::StrCat(",vpp=", v) : "");
      // A layer for each piece: a stage has v layers.
      EXPECT_EQ(PipelineLength(split, m, p * v), 3 * (m * v + p - 1)) << split;
    }
  }
}

TEST(GenerateSchedule, PassesInFlightMatchTheClosedForm) {
  Split s;
  s.pp = 4;
  for (int64_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(MostInFlight(PassesOf(s, 8, stage)), 4 - stage);
    EXPECT_EQ(MostInFlight(PassesOf(s, 2, stage)), std::min<int64_t>(2, 4 - stage));
  }
  s.schedule = Schedule::kGpipe;
  EXPECT_EQ(MostInFlight(PassesOf(s, 8, 0)), 8);
  s.schedule = Schedule::kInterleaved;
  s.vpp = 2;
  for (int64_t stage = 0; stage < 4; ++stage)
    EXPECT_EQ(MostInFlight(PassesOf(s, 8, stage)), std::min<int64_t>(16, 2 * (4 - stage - 1) + 4 + 1));
}

// Forward two GEMMs; backward two, and two for weights, each with a hook for its gradient.
TEST(GenerateGraph, HostLaunchesAKernelForEachExpert) {
  const auto host_ns = [](int experts, const std::string& training) {
    const StepGraphs step =
        Step(absl::StrCat("layers=3,hidden=256,heads=4,vocab=1000,expert_ffn=128,top_k=2,experts=", experts),
             "", absl::StrCat("seq=64,global_batch=2", training));
    int64_t sum = 0;
    for (const StepNode& n : step.stages[0].nodes) {
      if (n.stream == Stream::kHost) sum += step.stages[0].operators[n.op].duration_ns;
    }
    return sum;
  };
  const int64_t launch = 10'000, further = 3 * 2 * (16 - 8) * (2 + 2 + 4);  // layers, micro-batches, experts
  for (const char* graphs : {"", ",cuda_graphs=yes"}) {
    const std::string training = absl::StrCat(",launch=10us", graphs);
    const int64_t each = *graphs != '\0' ? 33'000 : launch;  // experts are not in graphs
    EXPECT_NEAR(static_cast<double>(host_ns(16, training) - host_ns(8, training)),
                static_cast<double>(further * each), 200'000.0);
  }
  // fp8: casts of the inputs of each GEMM, forward and backward, and searches for their greatest values; and
  // casts of the weights.
  EXPECT_NEAR(
      static_cast<double>(host_ns(16, ",launch=10us,dtype=fp8") - host_ns(8, ",launch=10us,dtype=fp8")),
      static_cast<double>((further + 3 * 2 * 8 * (2 * 4 + 2)) * launch), 200'000.0);
  EXPECT_EQ(host_ns(16, ",cuda_graphs=yes,graphed_experts=yes"),
            host_ns(8, ",cuda_graphs=yes,graphed_experts=yes"));
}

TEST(GenerateSchedule, MergedPassesDifferInMicroBatchOrPiece) {
  for (const int64_t vpp : {1, 2}) {
    Split s;
    s.pp = 4, s.vpp = vpp;
    s.schedule = vpp > 1 ? Schedule::kInterleaved : Schedule::k1F1B;
    std::vector<int64_t> in_flight;
    for (int64_t stage = 0; stage < 4; ++stage) in_flight.push_back(MostInFlight(PassesOf(s, 8, stage)));
    s.overlap_expert = true;
    for (int64_t stage = 0; stage < 4; ++stage) {
      const std::vector<Pass> passes = PassesOf(s, 8, stage);
      EXPECT_EQ(passes.size(), static_cast<size_t>(2 * 8 * vpp));
      EXPECT_EQ(MostInFlight(passes), in_flight[static_cast<size_t>(stage)] + 1);
      int64_t merged = 0;
      for (size_t i = 0; i < passes.size(); ++i) {
        if (!passes[i].merged) continue;
        ++merged;
        ASSERT_LT(i + 1, passes.size());
        EXPECT_TRUE(passes[i].forward);
        EXPECT_FALSE(passes[i + 1].forward);
        EXPECT_TRUE(passes[i].micro_batch != passes[i + 1].micro_batch ||
                    passes[i].piece != passes[i + 1].piece);
      }
      EXPECT_EQ(merged, 8 * vpp - in_flight[static_cast<size_t>(stage)]);
    }
  }
}

TEST(GenerateLayout, NodesAndRailsPartitionTheExpertRanks) {
  Split s;
  s.tp = 2, s.dp = 32, s.ep = 32;
  const Layout layout(s);
  EXPECT_EQ(layout.SizeOf(GroupKind::kExpertNode), 8);
  EXPECT_EQ(layout.SizeOf(GroupKind::kExpertRail), 4);
  EXPECT_THAT(layout.Members(GroupKind::kExpertNode, 43),
              ::testing::ElementsAre(40, 41, 42, 43, 44, 45, 46, 47));
  EXPECT_THAT(layout.Members(GroupKind::kExpertRail, 43), ::testing::ElementsAre(35, 43, 51, 59));
  s.domain = 72;
  EXPECT_EQ(s.expert_node(), 32);  // of a rack: all
  s.ep = 64, s.dp = 64, s.domain = 48;
  EXPECT_EQ(s.expert_node(), 32);  // equal parts
}

TEST(GenerateLayout, GroupsPartitionTheRanks) {
  for (const auto& [pp_before_dp, copies] :
       {std::pair{false, 1}, std::pair{true, 1}, std::pair{false, 3}, std::pair{true, 3}}) {
    Split s;
    s.tp = 2, s.cp = 2, s.dp = 6, s.pp = 3, s.ep = 4, s.etp = 2, s.domain = 4;
    s.pp_before_dp = pp_before_dp;
    s.copies = copies;
    const Layout layout(s);
    for (int kind = 0; kind < kGroupKinds; ++kind) {
      std::map<std::string, std::vector<int>> groups;
      for (int rank = 0; rank < layout.ranks(); ++rank) {
        const Place p = layout.PlaceOf(rank);
        EXPECT_EQ(layout.RankAt(p), rank);
        const auto k = static_cast<GroupKind>(kind);
        if (k == GroupKind::kEnds && p.pp == 1) continue;
        const std::vector<int> members = layout.Members(k, rank);
        EXPECT_EQ(static_cast<int64_t>(members.size()), layout.SizeOf(k));
        EXPECT_THAT(members, ::testing::Contains(rank)) << kind;
        const auto [it, fresh] = groups.emplace(layout.NameOf(k, rank), members);
        EXPECT_EQ(it->second, members) << it->first;
      }
      size_t all = 0;
      for (const auto& [name, members] : groups) all += members.size();
      const bool ends = static_cast<GroupKind>(kind) == GroupKind::kEnds;
      EXPECT_EQ(all, static_cast<size_t>(layout.ranks()) * (ends ? 2 : 3) / 3) << kind;
    }
  }
}

// Neighbours share a copy of the weights; the ranks with the same share of each copy reduce gradients.
TEST(GenerateLayout, CopiesOfWeightsAreOnNeighbours) {
  Split s;
  s.tp = 2, s.dp = 8, s.ep = 2, s.copies = 2;
  const Layout layout(s);
  EXPECT_THAT(layout.Members(GroupKind::kData, 9), ::testing::ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(layout.Members(GroupKind::kCopies, 9), ::testing::ElementsAre(1, 9));
  EXPECT_THAT(layout.Members(GroupKind::kExpertData, 9), ::testing::ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(layout.Members(GroupKind::kExpertCopies, 9), ::testing::ElementsAre(1, 9));
}

// Dropout, and the kernels of frameworks before FlashAttention: GPT-2 has the first, attention=math the
// others.
TEST(GenerateGraph, HasTheKernelsOfItsFramework) {
  const auto names = [](const char* model, const std::string& training) {
    std::map<std::string, int> count;
    const StepGraphs step = Step(model, "", absl::StrCat("seq=64,global_batch=1,", training));
    for (const StepNode& n : step.stages[0].nodes) {
      if (n.type == NodeType::kComp) ++count[step.stages[0].operators[n.op].name];
    }
    return count;
  };
  auto old = names(kOld, "dtype=fp16,attention=math");
  EXPECT_EQ(old["fused_dropout_elementwise_kernel"], 8 + 1);  // of attention's weights, and of the embedding
  EXPECT_EQ(old["bias_dropout_add_elementwise_kernel"], 2 * 8);
  EXPECT_EQ(old["masked_scale_elementwise_kernel"], 3 * 8 + 1);
  EXPECT_EQ(old["accumulate_gradients_elementwise_kernel"], 8 + 2);
  EXPECT_EQ(old["wgrad_gemm_accum_fp32"], 0);
  auto plain = names(kOld, "dtype=fp16,attention=math,dropout=no");
  EXPECT_EQ(plain["fused_dropout_elementwise_kernel"] + plain["bias_dropout_add_elementwise_kernel"], 0);
  auto now = names(kDense, "dtype=bf16");
  EXPECT_EQ(now["wgrad_gemm_accum_fp32"], 4 * 8 + 1);
  EXPECT_EQ(now["accumulate_gradients_elementwise_kernel"], 0);
  // Gradients in bf16: GEMMs accumulate in bf16, and the optimizer casts the gradients.
  auto narrow = names(kDense, "dtype=bf16,grad_reduce_dtype=bf16");
  EXPECT_EQ(narrow["wgrad_gemm_accum_fp16"], 4 * 8 + 1);
  EXPECT_EQ(narrow["wgrad_gemm_accum_fp32"], 0);
  EXPECT_EQ(narrow["multi_tensor_apply_kernel_copy"], now["multi_tensor_apply_kernel_copy"] + 1);
  // Attention takes chunks as separate sequences; layers without positions have no kernel for positions.
  const std::string chunks =
      absl::StrCat(kDense, ",chunk=16,rope_layers=0-4:4+1-5:4+2-6:4,qk_norm=yes,qk_norm_bare=yes");
  auto some = names(chunks.c_str(), "dtype=bf16");
  EXPECT_EQ(some["rotary_kernel"], 6);
  EXPECT_EQ(some["rms_norm_backward_kernel"], 6 + 2 * 8 + 1);
  const StepGraphs step = Step(chunks.c_str(), "", "seq=64,global_batch=1,dtype=bf16");
  std::map<std::string, int> shapes;
  int64_t pairs = 0;
  for (const StepNode& n : step.stages[0].nodes) {
    const Operator& op = step.stages[0].operators[n.op];
    if (n.type != NodeType::kComp || op.name != "aten::_scaled_dot_product_flash_attention") continue;
    ++shapes[op.shapes];
    pairs += op.operations / (4 * 8 * 64);
  }
  EXPECT_EQ(shapes["[[4, 8, 16, 64], [4, 4, 16, 64], [4, 4, 16, 64]]"], 6);
  EXPECT_EQ(shapes["[[1, 8, 64, 64], [1, 4, 64, 64], [1, 4, 64, 64]]"], 2);
  EXPECT_EQ(pairs, 6 * 4 * (16 * 17 / 2) + 2 * (64 * 65 / 2));
  // Caps of scores are part of attention's kernel, or passes over the scores; caps of logits are passes.
  const std::string capped = absl::StrCat(kDense, ",score_cap=50,logit_cap=30");
  auto caps = names(capped.c_str(), "dtype=bf16");
  EXPECT_EQ(caps["softcap_fwd_heads_first_attention_kernel"], 8);
  EXPECT_EQ(caps["softcap_bwd_heads_first_attention_kernel"], 8);
  EXPECT_EQ(caps["aten::_scaled_dot_product_flash_attention"], 0);
  EXPECT_EQ(caps["tanh_elementwise_kernel"] + caps["tanh_backward_elementwise_kernel"], 2);
  auto passes = names(capped.c_str(), "dtype=bf16,attention=math");
  EXPECT_EQ(passes["tanh_elementwise_kernel"], 8 + 1);
  EXPECT_EQ(passes["tanh_backward_elementwise_kernel"], 8 + 1);
  // Norms write fp8 themselves, except with current scaling.
  for (const char* recipe : {"delayed", "mxfp8"}) {
    auto fp8 = names(kDense, absl::StrCat("dtype=fp8,fp8=", recipe));
    const bool blocks = absl::string_view(recipe) == "mxfp8";
    EXPECT_EQ(fp8[blocks ? "mxfp8_quantize_kernel" : "cast_transpose_elementwise_kernel"], 6 * 8);
    EXPECT_EQ(fp8["fp8_transpose_kernel"],
              blocks ? 0 : 2 * 8);  // of the outputs of norms, for gradients of weights
    EXPECT_EQ(fp8["amax_reduce_kernel"], 0);
  }
  auto current = names(kDense, "dtype=fp8");
  EXPECT_EQ(current["cast_transpose_elementwise_kernel"], 8 * 8);
  EXPECT_EQ(current["amax_reduce_kernel"], 8 * 8);
  EXPECT_EQ(current["cross_entropy_kernel"], 1);
  EXPECT_EQ(names(kDense, "fused_loss=no")["cross_entropy_kernel"], 0);
  auto first = names(kDense, "attention=flash1");
  EXPECT_EQ(first["flash1_fwd_heads_first_attention_kernel"], 8);
  EXPECT_EQ(first["dot_do_o_kernel"], 8);
  EXPECT_EQ(first["catarraybatchedcopy_kernel"], 8);
  EXPECT_EQ(current["dot_do_o_kernel"], 0);
  // The fused softmax needs a multiple of four heads on a rank; one head does not fit.
  auto eager = names("layers=8,hidden=512,heads=2,ffn=1024,vocab=4096", "attention=math");
  EXPECT_EQ(eager["masked_fill_elementwise_kernel"], 2 * 8);
  EXPECT_EQ(old["masked_fill_elementwise_kernel"], 0);
}

// Random splits: each is refused, or its ranks run to the end.
TEST(GenerateGraph, RandomSplitsDoNotDeadlock) {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<int> of) { return *(of.begin() + random() % of.size()); };
  const int steps = kSanitized ? 60 : 200;
  int ran = 0;
  for (int i = 0; i < steps; ++i) {
    const char* model = std::vector<const char*>{kDense, kExperts, kLatent, kOld}[random() % 4];
    const int pp = pick({1, 2, 4}), vpp = pp > 1 ? pick({1, 1, 2}) : 1;
    WorkloadOptions options;
    options.model = model;
    options.parallel =
        absl::StrCat("tp=", pick({1, 2, 4}), ",pp=", pp, ",vpp=", vpp, ",dp=", pick({1, 2, 3}),
                     ",cp=", pick({1, 2}), ",ep=", model == kExperts ? pick({1, 2}) : 1,
                     ",zero=", pick({0, 1, 2, 3}), ",overlap_grad=", pick({0, 1}),
                     ",cp_kind=", std::vector<const char*>{"ring", "ulysses", "all_gather"}[random() % 3]);
    options.training =
        absl::StrCat("seq=64,global_batch=", 24 * pick({1, 2}),
                     ",recompute=", std::vector<const char*>{"none", "selective", "full"}[random() % 3]);
    const auto workload = ReadWorkload(options);
    ASSERT_TRUE(workload.ok()) << workload.status();
    const auto plan = ResolvePlan(*workload);
    if (!plan.ok()) continue;
    const auto step = BuildStep(*plan);
    ASSERT_TRUE(step.ok()) << step.status();
    EXPECT_GT(UnitLength(*step), 0) << options.parallel;
    ++ran;
  }
  EXPECT_GT(ran, steps / 2);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
