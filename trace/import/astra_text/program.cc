#include "trace/import/astra_text/program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace chakra::astra_text {
namespace {

constexpr uint64_t kMostNodes = uint64_t{1} << 22;

// The ranks that run a collective of a pass, by the kind of parallelism; nullopt: no rank runs it.
std::optional<Scope> ScopeOf(const Layer& layer, Pass pass, bool first_layer) {
  const bool weights = pass == kWeightGradient;
  const Suffix suffix = layer.pass[pass].suffix;
  switch (layer.kind) {
    case Kind::kMicro:
    case Kind::kData:
      return weights ? std::optional(Scope::kAll) : std::nullopt;
    case Kind::kHybridDlrm:
    case Kind::kHybridDlrmEnhanced:
      return weights || first_layer ? std::optional(Scope::kAll) : std::nullopt;
    case Kind::kModel:
    case Kind::kDistributedInference:
      return weights ? std::nullopt : std::optional(Scope::kAll);
    case Kind::kHybridDataModel:
      return weights ? Scope::kOtherDimensions : Scope::kFirstDimension;
    case Kind::kHybridModelData:
      return weights ? Scope::kFirstDimension : Scope::kOtherDimensions;
    case Kind::kHybridTransformer:
    case Kind::kHybridTransformerFwdInBckwd:
      if (suffix == Suffix::kEp) return Scope::kExpert;
      if (suffix == Suffix::kDpEp) return Scope::kExpertData;
      return weights ? Scope::kData : Scope::kTensor;
    case Kind::kHybridCustomized:
      break;  // layers of such a workload have another kind
  }
  return std::nullopt;
}

// The last checkpoint before a layer. Precondition: there is one.
uint32_t CheckpointBefore(const Workload& workload, uint32_t layer) {
  return *(std::lower_bound(workload.checkpoints.begin(), workload.checkpoints.end(), layer) - 1);
}

// An upper bound of the number of nodes: a computation and a collective for each pass of a layer.
uint64_t MostNodes(const Workload& workload) {
  uint64_t nodes = 2 * kPasses * uint64_t{workload.layers.size()} + 1;
  for (const uint32_t layer : workload.recomputed_before)
    nodes += 2 * uint64_t{layer - CheckpointBefore(workload, layer)};
  return nodes;
}

class Builder {
 public:
  Builder(const Workload& workload, const Layout& layout) : w_(workload), layout_(layout) {}

  Program Run() {
    switch (w_.kind) {
      case Kind::kMicro:
        for (uint32_t i = 0; i < count(); ++i) outstanding_.push_back(Issue(i, kWeightGradient));
        break;
      case Kind::kDistributedInference:
        for (uint32_t i = 0; i < count(); ++i) Forward(i);
        break;
      case Kind::kData:
        Data();
        break;
      case Kind::kHybridDlrm:
      case Kind::kHybridDlrmEnhanced:
        Dlrm();
        break;
      default:
        Hybrid();
    }
    End();
    TellLeftOut();
    return std::move(out_);
  }

 private:
  // A collective that has started, and the time from its end until others may use its result.
  using Begun = std::optional<ProgramNode::Dep>;

  uint32_t count() const { return static_cast<uint32_t>(w_.layers.size()); }
  uint32_t Add(ProgramNode node) {
    node.deps = now_;
    out_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(out_.nodes.size() - 1);
  }

  void Compute(uint32_t layer, Pass pass, absl::string_view what) {
    const int64_t ns = w_.layers[layer].pass[pass].compute_ns;
    if (ns == 0 && now_.size() <= 1) return;
    ProgramNode node;
    node.name = absl::StrCat(w_.layers[layer].name, " ", what);
    node.duration_ns = ns;
    now_ = {{Add(std::move(node)), 0}};
  }

  Begun Issue(uint32_t layer, Pass pass) {
    const Layer& l = w_.layers[layer];
    const LayerPass& p = l.pass[pass];
    if (!p.communicates) return std::nullopt;
    const std::optional<Scope> scope = ScopeOf(l, pass, layer == 0);
    if (!scope.has_value()) {
      ++left_out_;
      return std::nullopt;
    }
    const int size = layout_.SizeOf(*scope);
    if (size == 1) return std::nullopt;
    ProgramNode node;
    node.collective = true;
    node.name = absl::StrCat(l.name, " ", Name(p.type));
    node.type = p.type;
    node.scope = *scope;
    // SimAI's size of an all-gather is that of the gathered data; in traces it is that of one rank's data.
    const bool whole = IsTransformer(w_.kind) && p.type == CollectiveType::kAllGather;
    node.bytes = whole ? p.bytes / static_cast<uint64_t>(size) : p.bytes;
    return ProgramNode::Dep{Add(std::move(node)), l.update_ns};
  }
  void Wait(const Begun& begun) {
    if (begun.has_value()) now_.push_back(*begun);
  }
  // Waits for a collective. It waited for everything before, so no other dependency is needed.
  void Block(const Begun& begun) {
    if (begun.has_value()) now_ = {*begun};
  }

  void Forward(uint32_t layer, absl::string_view what = "forward") {
    Compute(layer, kForward, what);
    Block(Issue(layer, kForward));
  }

  void Data() {
    for (uint32_t i = 0; i < count(); ++i) {
      Compute(i, kForward, "forward");
      left_out_ += w_.layers[i].pass[kForward].communicates;
    }
    for (uint32_t i = count(); i-- > 0;) {
      Compute(i, kWeightGradient, "weight gradient");
      outstanding_.push_back(Issue(i, kWeightGradient));
      left_out_ += w_.layers[i].pass[kInputGradient].communicates;
      if (i > 0) Compute(i, kInputGradient, "input gradient");
    }
  }

  void Hybrid() {
    const bool at_once = IsTransformer(w_.kind);
    for (uint32_t i = 0; i < count(); ++i) Forward(i);
    for (uint32_t i = count(); i-- > 0;) {
      if (std::binary_search(w_.recomputed_before.begin(), w_.recomputed_before.end(), i)) {
        for (uint32_t j = CheckpointBefore(w_, i); j < i; ++j) Forward(j, "forward again");
      }
      Compute(i, kInputGradient, "input gradient");
      Begun inputs;
      if (at_once) {
        Block(Issue(i, kInputGradient));
      } else if (i > 0) {
        inputs = Issue(i, kInputGradient);
      }
      Compute(i, kWeightGradient, "weight gradient");
      outstanding_.push_back(Issue(i, kWeightGradient));
      Wait(inputs);
    }
  }

  // Layer 0 is the embedding tables. It exchanges the rows that it looked up while the bottom layers compute.
  void Dlrm() {
    Begun looked_up, gradients;
    for (uint32_t i = 0; i < count(); ++i) {
      Compute(i, kForward, "forward");
      if (i == 0) looked_up = Issue(0, kForward);
      if (i > 0) left_out_ += w_.layers[i].pass[kForward].communicates;
      if (i == w_.last_bottom_layer) Wait(looked_up);
    }
    for (uint32_t i = count(); i-- > 0;) {
      Compute(i, kWeightGradient, "weight gradient");
      outstanding_.push_back(Issue(i, kWeightGradient));
      if (i == 0) break;
      Compute(i, kInputGradient, "input gradient");
      left_out_ += w_.layers[i].pass[kInputGradient].communicates;
      if (i == w_.last_bottom_layer + 1) {
        gradients = Issue(0, kInputGradient);
        outstanding_.push_back(gradients);
      }
    }
  }

  // Ends the step when everything that was started is done.
  void End() {
    std::vector<ProgramNode::Dep> all = now_;
    for (const Begun& begun : outstanding_) {
      if (begun.has_value()) all.push_back(*begun);
    }
    if (std::none_of(all.begin(), all.end(), [](const auto& d) { return d.delay_ns > 0; })) return;
    ProgramNode node;
    node.name = "[end of the step]";
    node.host = true;
    now_ = std::move(all);
    Add(std::move(node));
  }

  void TellLeftOut() {
    if (left_out_ == 0) return;
    out_.warnings.push_back(absl::StrCat(
        left_out_, " collectives belong to passes in which ", Name(w_.kind),
        w_.kind == Kind::kHybridCustomized ? "'s layers do not communicate" : " does not communicate",
        ": they are left out, as ASTRA-sim leaves them out"));
  }

  const Workload& w_;
  const Layout& layout_;
  Program out_;
  std::vector<ProgramNode::Dep> now_;  // what the next node of the rank waits for
  std::vector<Begun> outstanding_;
  uint64_t left_out_ = 0;
};

}  // namespace

absl::string_view Name(Scope scope) {
  constexpr absl::string_view kNames[kScopes] = {"", "", "", "tp", "dp", "ep", "dp_ep"};
  return kNames[static_cast<size_t>(scope)];
}

int Layout::SizeOf(Scope scope) const {
  switch (scope) {
    case Scope::kAll:
      return ranks;
    case Scope::kTensor:
      return tensor;
    case Scope::kData:
      return ranks / tensor;
    case Scope::kExpert:
      return expert;
    case Scope::kExpertData:
      return ranks / tensor / expert;
    default:
      return ranks == 1 ? 1 : 0;
  }
}

int Layout::GroupOf(Scope scope, int rank) const {
  const int place = rank % tensor, block = rank / tensor;
  switch (scope) {
    case Scope::kTensor:
      return block;
    case Scope::kData:
      return place;
    case Scope::kExpert:
      return block / expert * tensor + place;
    case Scope::kExpertData:
      return block % expert * tensor + place;
    default:
      return 0;
  }
}

std::vector<int> Layout::MembersOf(Scope scope, int rank) const {
  const int place = rank % tensor, block = rank / tensor;
  int first = 0, stride = 1;
  switch (scope) {
    case Scope::kTensor:
      first = block * tensor;
      break;
    case Scope::kData:
      first = place;
      stride = tensor;
      break;
    case Scope::kExpert:
      first = block / expert * expert * tensor + place;
      stride = tensor;
      break;
    case Scope::kExpertData:
      first = block % expert * tensor + place;
      stride = expert * tensor;
      break;
    default:
      break;
  }
  std::vector<int> members(static_cast<size_t>(SizeOf(scope)));
  for (size_t i = 0; i < members.size(); ++i) members[i] = first + static_cast<int>(i) * stride;
  return members;
}

absl::StatusOr<Layout> LayoutOf(const Workload& workload, int ranks, absl::string_view file) {
  Layout out;
  out.tensor = std::max(1, workload.model_parallel);
  out.expert = std::max(1, workload.expert_parallel);
  if (!IsTransformer(workload.kind)) out.tensor = out.expert = 1;
  const int64_t block = int64_t{out.tensor} * out.expert;
  const int64_t told = ranks > 0 ? ranks : workload.ranks;
  constexpr int64_t kMostRanks = 1 << 24;
  if (std::max(block, told) > kMostRanks)
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": line 1: ", std::max(block, told), " ranks, expected at most ", kMostRanks));
  out.ranks = static_cast<int>(told > 0 ? told : block);
  if (out.ranks % block == 0) return out;
  return absl::InvalidArgumentError(absl::StrCat(
      file, ": ", out.ranks, " ranks (", ranks > 0 ? "--ranks" : "all_gpus", "), expected a multiple of ",
      block, ", which is model_parallel_NPU_group", out.expert > 1 ? " times ep" : ""));
}

absl::StatusOr<Program> ProgramOf(const Workload& workload, const Layout& layout, absl::string_view file) {
  const uint64_t nodes = MostNodes(workload);
  if (nodes <= kMostNodes) return Builder(workload, layout).Run();
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": line 1: ", workload.layers.size(),
                   " layers, with the layers that checkpoint_initiates repeats, are ", nodes,
                   " nodes; expected at most ", kMostNodes));
}

}  // namespace chakra::astra_text
