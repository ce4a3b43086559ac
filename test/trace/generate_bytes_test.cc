// Bytes of every collective and message of random steps against a second count that uses only the closed
// forms of the papers: Korthikanti et al., 2022 (tensor and sequence parallelism), Rajbhandari et al., 2020
// (sharing over dp), Lepikhin et al., 2020 (experts), Liu et al., 2023 (rings), Jacobs et al., 2023
// (Ulysses). Also: no kernel before its input, no receive without a send, no group whose members call in
// different order.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test/trace/generate_schedule_testing.h"
#include "trace/generate/pieces.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using Call = std::pair<CollectiveType, GroupKind>;

struct Traffic {
  std::map<Call, double> bytes;  // of all calls of a rank: its input
  double sent = 0, ring = 0;     // to other stages; to the next rank of cp
};

// Counts the bytes that a rank of one stage sends, from the sizes of the model and the split.
class SecondCount {
 public:
  explicit SecondCount(const StepPlan& plan)
      : m_(plan.model),
        s_(plan.split),
        t_(plan.training),
        e_(plan.element_bytes()),
        g_(plan.training.narrow_gradients ? 2 : plan.gradient_bytes()),
        kept_(plan.gradient_bytes()) {
    tokens_ = D(t_.seq) * D(t_.micro_batch) / D(s_.cp);
    own_ = s_.sp ? tokens_ / D(s_.tp) : tokens_;
    batches_ = D(t_.global_batch) / D(t_.micro_batch) / D(s_.dp);
    outputs_ = s_.tp == 1 ? D(m_.vocab) : std::ceil(D(m_.vocab) / (128 * D(s_.tp))) * 128;  // of a rank
  }

  Traffic OfStage(const StepPlan& plan, int64_t stage) {
    out_ = Traffic();
    double dense = 0, expert = 0, replicated = 0;
    const int64_t pieces = s_.mirrored() ? 2 : s_.vpp;
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t number = PieceOf(s_, stage, i);
      const Piece& piece = plan.pieces[static_cast<size_t>(number)];
      const double times = s_.mirrored() ? batches_ / 2 : batches_;
      for (int64_t layer = piece.first; layer < piece.first + piece.layers; ++layer) {
        const bool experts = m_.experts > 0 && layer >= m_.dense_layers;
        Layer(experts, times);
        const auto [whole, split, of_experts] = Weights(experts);
        dense += whole + split;
        replicated += whole;
        expert += of_experts;
        Shared(whole + split, of_experts, times);
      }
      if (piece.embedding) {
        Add(s_.sp ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce, Tokens(tokens_), times);
        if (s_.sp) Add(CollectiveType::kAllGather, Tokens(own_), times);
        const double rows = outputs_ * D(m_.hidden) + D(m_.positions) * D(m_.hidden);
        dense += rows;
        Shared(rows, 0, times, 1);
      } else {
        out_.sent += OtherStage(number - 1, number, stage) * times * Tokens(own_);
      }
      if (piece.head) {
        if (s_.sp) Add(CollectiveType::kAllGather, Tokens(own_), 2 * times);
        Add(CollectiveType::kAllReduce, 4 * tokens_, 3 * times);
        Add(s_.sp ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce, Tokens(tokens_), times);
        const bool one = m_.tied && (s_.pp == 1 || s_.mirrored() || s_.schedule == Schedule::kDualPipeV);
        const double rows = (one ? 0 : outputs_ * D(m_.hidden)) + Norm(D(m_.hidden));
        dense += rows;
        Shared(rows, 0, times, 1);
      } else {
        out_.sent += OtherStage(number + 1, number, stage) * times * Tokens(own_);
      }
    }
    Step(stage, dense, expert, replicated);
    return out_;
  }

 private:
  static double D(int64_t n) { return static_cast<double>(n); }
  double Tokens(double n, double width = -1) const { return n * (width < 0 ? D(m_.hidden) : width) * e_; }
  bool Four() const { return t_.dtype == proto::Training::NVFP4; }
  bool Blocks() const { return t_.narrow() && (t_.block_scales || Four()); }
  // Inputs of GEMMs are gathered in the type that the GEMMs take, with a byte for each block of 32 or 16.
  double Inputs(double n, double width = -1) const {
    const double bits = !t_.narrow() || CastsAfter() ? 16
                        : Four()                     ? 4 + 8.0 / 16
                        : Blocks()                   ? 8 + 8.0 / 32
                                                     : 8;
    return Tokens(n, width) * bits / 16;
  }
  // Bytes of the greatest values that ranks of tp reduce before a cast: of rows, and in blocks of 16 of
  // columns.
  double Maxima() const { return Four() ? 8 : 4; }
  bool Looks() const { return t_.narrow() && (t_.looks_before_cast || Four()) && !CastsAfter(); }
  // torchao casts to nvfp4 what ranks of tp gathered in bf16.
  bool CastsAfter() const { return Four() && t_.framework == proto::Training::FSDP; }
  double Norm(double width) const { return m_.layer_norm ? 2 * width : width; }
  double Bias(double width) const { return m_.bias ? width : 0; }
  bool Latent() const { return m_.kv_rank > 0; }
  double Down() const { return D(m_.q_rank + m_.kv_rank + m_.rope_dim); }

  void Add(CollectiveType type, double bytes, double times, GroupKind group = GroupKind::kTensor) {
    const std::map<GroupKind, int64_t> sizes = {{GroupKind::kTensor, s_.tp},
                                                {GroupKind::kContext, s_.cp},
                                                {GroupKind::kExpert, s_.ep},
                                                {GroupKind::kExpertNode, Node()},
                                                {GroupKind::kExpertRail, s_.ep / Node()},
                                                {GroupKind::kExpertTensor, s_.etp}};
    if (const auto it = sizes.find(group); it != sizes.end() && it->second == 1) return;
    out_.bytes[{type, group}] += bytes * times;
  }

  // 1 if a piece of the model that follows another is on another stage, else 0.
  double OtherStage(int64_t next, int64_t number, int64_t stage) const {
    return SpotOf(s_, next, GoesBack(s_, stage, number)).stage == stage ? 0 : 1;
  }

  // A column-parallel GEMM, then a row-parallel one; `in`: features of the first one's gathered input.
  void ColumnsAndRows(double forward, double backward, double in, bool gathers_again = true) {
    if (!s_.sp) {
      Add(CollectiveType::kAllReduce, Tokens(tokens_), forward);       // after the rows
      Add(CollectiveType::kAllReduce, Tokens(tokens_, in), backward);  // gradients after the columns
      return;
    }
    Add(CollectiveType::kAllGather, Inputs(own_, in), forward);
    Add(CollectiveType::kReduceScatter, Tokens(tokens_), forward);
    // Gradients before the row-parallel GEMM: with block scales, those of both directions.
    Add(CollectiveType::kAllGather, Inputs(own_), backward * (Blocks() && !CastsAfter() ? 2 : 1));
    if (gathers_again) Add(CollectiveType::kAllGather, Inputs(own_, in), backward);
    // The greatest values of the column-parallel GEMM's input, and of gradients before the row-parallel one.
    if (Looks()) Add(CollectiveType::kAllReduce, Maxima(), forward + backward);
    Add(CollectiveType::kReduceScatter, Tokens(tokens_, in), backward);
  }

  void Layer(bool experts, double times) {
    const bool full = t_.recompute == proto::Training::FULL;
    const double forward = times * (full ? 2 : 1), core = Passes({"core_attn"}, times);
    if (Latent()) {
      ColumnsAndRows(forward, times, Down(), false);
      UpAgain(Passes({"mla_up_proj"}, times) - forward);
      GatherDown(t_.recompute == proto::Training::OPERATORS ? times : 0);
      if (m_.q_rank == 0) {  // queries come from the tokens themselves
        if (s_.sp) Add(CollectiveType::kAllGather, Inputs(own_), forward + times);
        Add(s_.sp ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce, Tokens(tokens_), times);
      }
    } else {
      ColumnsAndRows(forward, times, D(m_.hidden));
    }
    Core(core, times);
    if (!experts) return ColumnsAndRows(Passes({"mlp"}, times), times, D(m_.hidden));
    if (m_.shared_ffn > 0) ColumnsAndRows(Passes({"moe", "shared_experts"}, times), times, D(m_.hidden));
    Exchanges(Passes({"moe"}, times), times);
  }

  // Forward passes of a part of a layer: one more if the whole layer or one of `modules` is recomputed.
  double Passes(const std::vector<std::string>& modules, double times) const {
    if (t_.recompute == proto::Training::FULL) return 2 * times;
    if (t_.recompute == proto::Training::NONE || t_.recompute == proto::Training::OPERATORS) return times;
    for (const absl::string_view name : absl::StrSplit(NamesOf(t_.modules), '+')) {
      if (std::count(modules.begin(), modules.end(), name) > 0) return 2 * times;
    }
    return times;
  }

  // The input of latent attention's up projections is gathered once more, in fp8 with its greatest value.
  void UpAgain(double times) {
    if (s_.sp && times != 0 && m_.q_rank == 0) Add(CollectiveType::kAllGather, Inputs(own_), times);
    GatherDown(times);
  }
  void GatherDown(double times) {
    if (!s_.sp || times == 0) return;
    Add(CollectiveType::kAllGather, Inputs(own_, Down()), times);
    if (Looks()) Add(CollectiveType::kAllReduce, Maxima(), times);
  }

  void Exchanges(double forward, double times) {
    const double rows = Tokens(RowsTo(s_.ep));
    Add(CollectiveType::kAllGather, 8 * D(m_.experts), forward, GroupKind::kExpert);  // counts of tokens
    const bool by_node = s_.deep && Node() < s_.ep;
    const GroupKind all = by_node ? GroupKind::kExpertNode : GroupKind::kExpert;
    Add(CollectiveType::kAllToAll, rows, 2 * (forward + times), all);
    if (by_node) {
      Add(CollectiveType::kAllToAll, Tokens(RowsTo(s_.ep / Node())), 2 * (forward + times),
          GroupKind::kExpertRail);
    }
    Add(CollectiveType::kAllGather, rows, forward + times, GroupKind::kExpertTensor);
    Add(CollectiveType::kReduceScatter, rows * D(s_.etp), forward + times, GroupKind::kExpertTensor);
  }

  // Ranks of one NVLink domain that share experts. Experts of one domain are those of neighbours.
  int64_t Node() const { return std::min(s_.ep, std::max<int64_t>(1, s_.domain / s_.etp)); }

  // Rows that a rank sends to experts: one for each expert of a token, or one for each of `places` that has
  // an expert of the token. Counts the sets of top_k experts, in each choice of top_groups groups, that have
  // an expert of the first place.
  double RowsTo(int64_t places) const {
    const int64_t own = static_cast<int64_t>(own_), experts = m_.experts, here = experts / places;
    if (!s_.deep || s_.ep == 1) return D(own * m_.top_k);
    const int64_t group = experts / m_.expert_groups;
    int64_t sets = 0, with = 0;
    for (uint64_t groups = 0; groups < uint64_t{1} << m_.expert_groups; ++groups) {
      if (std::popcount(groups) != m_.top_groups) continue;
      for (uint64_t set = 0; set < uint64_t{1} << experts; ++set) {
        if (std::popcount(set) != m_.top_k) continue;
        uint64_t pool = 0;
        for (int64_t e = 0; e < experts; ++e) pool |= (groups >> (e / group) & 1) << e;
        if ((set & ~pool) != 0) continue;
        ++sets;
        if ((set & ((uint64_t{1} << here) - 1)) != 0) ++with;
      }
    }
    return D(std::min(own * m_.top_k, (own * places * with + sets - 1) / sets));
  }

  void Core(double forward, double backward) {
    if (s_.cp == 1) return;
    const double heads = D(m_.heads) / D(s_.tp);
    const double groups = std::max(1.0, D(m_.kv_heads) / D(s_.tp));
    const double query = Latent() ? heads * D(m_.nope_dim + m_.rope_dim) : heads * D(m_.head_dim);
    const double keys =
        Latent() ? heads * D(m_.nope_dim + m_.rope_dim + m_.v_dim) : 2 * groups * D(m_.head_dim);
    const double context = Latent() ? heads * D(m_.v_dim) : heads * D(m_.head_dim);
    if (s_.cp_kind == proto::Parallel::RING) {
      out_.ring += D(s_.cp - 1) * Tokens(tokens_, keys) * (forward + 2 * backward);
    } else if (s_.cp_kind == proto::Parallel::ULYSSES) {
      Add(CollectiveType::kAllToAll, Tokens(tokens_, query + keys + context), forward + backward,
          GroupKind::kContext);
    } else {
      Add(CollectiveType::kAllGather, Tokens(tokens_, keys), forward, GroupKind::kContext);
      Add(CollectiveType::kReduceScatter, Tokens(tokens_, keys) * D(s_.cp), backward, GroupKind::kContext);
    }
  }

  // Elements of a layer: those that each rank of tp has whole, those that ranks share, and those of experts.
  std::tuple<double, double, double> Weights(bool experts) const {
    const double h = D(m_.hidden), tp = D(s_.tp), mats = m_.gated ? 3 : 2;
    double whole = 2 * Norm(h), split = 0, of_experts = 0;
    if (Latent()) {
      const double query = D(m_.heads) * D(m_.nope_dim + m_.rope_dim);
      whole += h * Down() + (m_.q_rank > 0 ? D(m_.q_rank) : 0) + D(m_.kv_rank);
      split += (m_.q_rank > 0 ? D(m_.q_rank) : h) * query / tp;
      split +=
          D(m_.kv_rank) * D(m_.heads) * D(m_.nope_dim + m_.v_dim) / tp + D(m_.heads) * D(m_.v_dim) * h / tp;
    } else {
      const double d = D(m_.head_dim), query = D(m_.heads) * d / tp,
                   keys = std::max(1.0, D(m_.kv_heads) / tp) * d;
      split += (h + (m_.bias ? 1 : 0)) * (query + 2 * keys) + query * h + Bias(h);
    }
    const auto mlp = [&](double ffn) { return mats * h * ffn + Bias((mats - 1) * ffn); };
    if (!experts) return {whole, split + mlp(D(m_.ffn) / tp) + Bias(h), 0};
    whole += h * D(m_.experts);
    of_experts = D(m_.experts / s_.ep) * mlp(D(m_.expert_ffn) / D(s_.etp));
    if (m_.shared_ffn > 0) split += mlp(D(m_.shared_ffn) / tp);
    return {whole, split, of_experts};
  }

  double Holders(bool expert) const {
    const double ranks = D(s_.tp * s_.cp * s_.dp);
    return (expert ? ranks / D(s_.ep * s_.etp) : D(s_.dp * s_.cp)) * (s_.mirrored() ? 2 : 1) / D(s_.copies);
  }

  // With zero 3, a unit is gathered before each use and reduced after each backward pass. The embedding and
  // the head are gathered once (`uses`). FSDP in a pipeline gathers and reduces once a step, and without
  // resharding gathers only for the forward pass. Copies reduce their shares.
  void Shared(double dense, double expert, double times, double uses = 2) {
    if (s_.zero != 3) return;
    const bool once = t_.framework == proto::Training::FSDP && s_.pp > 1 && batches_ > 1;
    const bool keeps = s_.reshard_after_forward.has_value() ? !*s_.reshard_after_forward : once;
    const double gathers = !keeps ? times * uses : once ? 1 : times, reductions = once ? 1 : times;
    for (const bool e : {false, true}) {
      const double n = e ? expert : dense, ranks = Holders(e);
      if (n == 0) continue;
      if (ranks > 1) {
        const GroupKind kind = e ? GroupKind::kExpertData : GroupKind::kData;
        Add(CollectiveType::kAllGather, std::ceil(n / ranks) * e_, gathers, kind);
        Add(CollectiveType::kReduceScatter, n * g_, reductions, kind);
      }
      if (s_.copies > 1)
        Add(CollectiveType::kAllReduce, std::ceil(n / ranks) * g_, reductions,
            e ? GroupKind::kExpertCopies : GroupKind::kCopies);
    }
  }

  void Step(int64_t stage, double dense, double expert, double replicated) {
    for (const bool e : {false, true}) {
      const double n = e ? expert : dense, ranks = Holders(e);
      if (n == 0 || ranks == 1 || s_.zero == 3) continue;
      const GroupKind kind = e ? GroupKind::kExpertData : GroupKind::kData;
      const double passes = s_.zero == 2 ? (s_.mirrored() ? batches_ / 2 : batches_) : 1;
      Add(s_.zero == 0 ? CollectiveType::kAllReduce : CollectiveType::kReduceScatter, n * g_, passes, kind);
      if (s_.zero > 0) Add(CollectiveType::kAllGather, n / ranks * e_, 1, kind);
    }
    if (s_.sp && replicated > 0) Add(CollectiveType::kAllReduce, replicated * kept_, 1);
    const bool apart = s_.pp > 1 && !s_.mirrored() && s_.schedule != Schedule::kDualPipeV;
    if (m_.tied && apart && (stage == 0 || stage == s_.pp - 1))
      Add(CollectiveType::kAllReduce, outputs_ * D(m_.hidden) * kept_, 1, GroupKind::kEnds);
    const bool all = s_.zero > 0 || m_.experts > 0;
    const int64_t ranks = s_.tp * s_.pp * (all ? s_.cp * s_.dp : 1);
    if (ranks > 1)
      Add(CollectiveType::kAllReduce, 4, t_.dtype == proto::Training::FP16 ? 2 : 1,
          all ? GroupKind::kWorld : GroupKind::kModel);
  }

  const ModelSize m_;
  const Split s_;
  const TrainingPlan t_;
  const double e_, g_, kept_;  // bytes of an element: of activations, of reduced and of kept gradients
  double tokens_ = 0, own_ = 0, batches_ = 0, outputs_ = 0;
  Traffic out_;
};

Traffic OfGraph(const StageGraph& stage) {
  Traffic out;
  for (const StepNode& n : stage.nodes) {
    if (n.type == NodeType::kCollective) out.bytes[{n.collective, n.group}] += static_cast<double>(n.bytes);
    if (n.type == NodeType::kSend)
      (n.peer == PeerKind::kStage ? out.sent : out.ring) += static_cast<double>(n.bytes);
  }
  return out;
}

// Calls on a group that has ranks of several stages are made in one order; each message has two ends.
void CheckWiring(const StepGraphs& step, const std::string& what) {
  std::map<GroupKind, std::vector<std::pair<CollectiveType, int64_t>>> calls;
  std::map<std::tuple<int64_t, int64_t, int32_t>, std::pair<int64_t, int64_t>> messages;
  for (int64_t s = 0; s < step.plan.split.pp; ++s) {
    const StageGraph& stage = step.stages[static_cast<size_t>(s)];
    std::map<GroupKind, std::vector<std::pair<CollectiveType, int64_t>>> own;
    for (size_t i = 0; i < stage.nodes.size(); ++i) {
      const StepNode& n = stage.nodes[i];
      for (uint32_t d = n.dep_begin; d < n.dep_end; ++d) ASSERT_LT(stage.deps[d], i) << what;
      if (n.type == NodeType::kCollective && n.group >= GroupKind::kEnds)
        own[n.group].emplace_back(n.collective, n.bytes);
      if (n.peer != PeerKind::kStage) continue;
      if (n.type == NodeType::kSend) messages[{s, n.stage, n.tag}].first += n.bytes;
      if (n.type == NodeType::kRecv) messages[{n.stage, s, n.tag}].second += n.bytes;
    }
    for (const auto& [group, list] : own)
      EXPECT_EQ(calls.try_emplace(group, list).first->second, list) << what;
  }
  for (const auto& [message, bytes] : messages) EXPECT_EQ(bytes.first, bytes.second) << what;
}

class RandomStep {
 public:
  explicit RandomStep(uint32_t seed, bool fsdp) : random_(seed), fsdp_(fsdp) {}

  WorkloadOptions Next() {
    WorkloadOptions out;
    const int layers = Pick({4, 5, 7, 8, 12}), heads = Pick({4, 8}), ffn = Pick({256, 512});
    const bool experts = Pick({0, 1}) == 1;
    out.model = absl::StrCat("layers=", layers, ",hidden=", Pick({256, 512}), ",heads=", heads, ",ffn=", ffn,
                             ",vocab=", Pick({1000, 4096}), ",gated=", Pick({0, 1}), ",tied=", Pick({0, 1}));
    const int kind = Pick({0, 1, 2, 3});
    if (kind == 0)
      absl::StrAppend(&out.model, ",kv_rank=64,nope_dim=32,rope_dim=16,v_dim=32,q_rank=", Pick({0, 96}));
    if (kind == 1) absl::StrAppend(&out.model, ",kv_heads=", Pick({2, 4}));
    if (kind == 2 && !experts) absl::StrAppend(&out.model, ",norm=layer,bias=yes,positions=128");
    if (experts) {
      absl::StrAppend(&out.model, ",experts=8,top_k=", Pick({1, 2}),
                      ",expert_ffn=128,dense_layers=", Pick({0, 1}), ",shared_ffn=", Pick({0, 256}),
                      std::vector<const char*>{"", ",expert_groups=4,top_groups=2",
                                               ",expert_groups=2,top_groups=1"}[random_() % 3]);
    }
    const std::string schedule =
        std::vector<std::string>{"", "gpipe", "zb-h1", "dualpipe", "dualpipev", ""}[random_() % 6];
    const int pp = Pick({1, 2, 4});
    out.parallel = absl::StrCat(
        "tp=", Pick({1, 2, 4}), ",pp=", pp, ",dp=", Pick({1, 2, 4}), ",cp=", Pick({1, 1, 2}),
        ",ep=", experts ? Pick({1, 2, 4}) : 1, ",etp=", experts ? Pick({1, 1, 2}) : 1,
        Pick({0, 1}) == 1 ? ",dispatcher=alltoall" : "", ",domain=", Pick({1, 2, 8}),
        ",overlap_expert=", experts ? Pick({0, 0, 1}) : 0, ",zero=", fsdp_ ? 3 : Pick({0, 1, 2, 3}),
        ",overlap_grad=", Pick({0, 1}), ",layout=balanced",
        ",cp_kind=", std::vector<const char*>{"ring", "ulysses", "all_gather"}[random_() % 3]);
    if (!schedule.empty()) absl::StrAppend(&out.parallel, ",schedule=", schedule);
    if (schedule.empty() && pp > 1 && Pick({0, 1}) == 1) absl::StrAppend(&out.parallel, ",vpp=2");
    if (!experts && Pick({0, 1}) == 1) absl::StrAppend(&out.parallel, ",sp=no");
    out.training = absl::StrCat(
        "seq=128,global_batch=", 16 * Pick({1, 2}), ",micro_batch=", Pick({1, 2}), ",dtype=",
        std::vector<const char*>{"bf16", "fp16", "fp32", "fp8", "fp8,fp8=mxfp8", "nvfp4"}[random_() % 6],
        ",recompute=", kRecomputes[random_() % std::size(kRecomputes)]);
    const bool can = !absl::StrContains(out.training, "fp16") && !absl::StrContains(out.training, "fp32");
    if (Pick({0, 1, 2}) == 0 && can) absl::StrAppend(&out.training, ",grad_reduce_dtype=bf16");
    if (!fsdp_) return out;
    if (Pick({0, 1}) == 1)
      out.training.replace(out.training.find(",recompute="), std::string::npos, ",recompute=operators");
    absl::StrAppend(&out.training, ",framework=fsdp");
    absl::StrAppend(&out.parallel, ",copies=", Pick({1, 2, 4}));
    if (const int reshard = Pick({0, 1, 2}); reshard < 2)
      absl::StrAppend(&out.parallel, ",reshard_after_forward=", reshard);
    return out;
  }

 private:
  static constexpr const char* kRecomputes[] = {"none",
                                                "selective",
                                                "full",
                                                "selective,recompute_modules=layernorm+mlp",
                                                "selective,recompute_modules=mla_up_proj+core_attn",
                                                "selective,recompute_modules=moe",
                                                "selective,recompute_modules=moe_act+shared_experts"};

  int Pick(std::initializer_list<int> of) { return *(of.begin() + random_() % of.size()); }
  std::mt19937 random_;
  const bool fsdp_;
};

// Compares 200 random steps. Returns the number of steps with each schedule.
std::map<Schedule, int> CompareSteps(uint32_t seed, bool fsdp) {
  RandomStep random(seed, fsdp);
  std::map<Schedule, int> schedules;
  int compared = 0;
  for (int tried = 0; compared < 200 && tried < 8000; ++tried) {
    const WorkloadOptions options = random.Next();
    const auto workload = ReadWorkload(options);
    EXPECT_TRUE(workload.ok()) << workload.status();
    const auto plan = ResolvePlan(*workload);
    if (!plan.ok()) continue;
    const auto step = BuildStep(*plan);
    EXPECT_TRUE(step.ok()) << step.status();
    ++compared;
    ++schedules[plan->split.schedule];
    const std::string what = absl::StrCat(options.model, " | ", options.parallel, " | ", options.training);
    SecondCount second(*plan);
    for (int64_t s = 0; s < plan->split.pp; ++s) {
      const Traffic known = second.OfStage(*plan, s), graph = OfGraph(step->stages[static_cast<size_t>(s)]);
      EXPECT_EQ(graph.sent, known.sent) << what;
      EXPECT_EQ(graph.ring, known.ring) << what;
      EXPECT_EQ(graph.bytes.size(), known.bytes.size()) << what;
      for (const auto& [call, bytes] : graph.bytes) {
        const auto it = known.bytes.find(call);
        EXPECT_NE(it, known.bytes.end()) << what << " " << Name(call.first);
        if (it == known.bytes.end()) continue;
        // A bucket's shares are rounded up to whole elements: one for each of at most 40 buckets.
        const bool buckets = call.first == CollectiveType::kAllGather && call.second >= GroupKind::kData &&
                             plan->split.zero < 3 && call.second != GroupKind::kExpert &&
                             call.second != GroupKind::kExpertNode && call.second != GroupKind::kExpertTensor;
        EXPECT_NEAR(bytes, it->second, buckets ? 40 * plan->element_bytes() : 0)
            << what << " stage " << s << " " << Name(call.first) << " " << static_cast<int>(call.second);
      }
    }
    CheckWiring(*step, what);
    EXPECT_GT(UnitLength(*step, "attention.out"), 0) << what;
  }
  EXPECT_EQ(compared, 200);
  return schedules;
}

TEST(GenerateBytes, MatchTheSecondCountIn200RandomSteps) {
  std::map<Schedule, int> schedules = CompareSteps(23, false);
  for (const Schedule s : {Schedule::kGpipe, Schedule::k1F1B, Schedule::kInterleaved, Schedule::kZbH1,
                           Schedule::kDualPipe, Schedule::kDualPipeV})
    EXPECT_GT(schedules[s], 5) << static_cast<int>(s);
}

// FSDP with pipelines, copies of the weights, no resharding, and recomputation by operator.
TEST(GenerateBytes, MatchTheSecondCountIn200RandomStepsOfFsdp) {
  std::map<Schedule, int> schedules = CompareSteps(29, true);
  EXPECT_GT(schedules[Schedule::k1F1B], 50);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
