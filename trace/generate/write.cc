#include "trace/generate/write.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_index.h"
#include "trace/et/rank_loader.h"
#include "trace/et/writer.h"
#include "trace/generate/encode.h"
#include "trace/generate/layout.h"
#include "trace/generate/resolve.h"
#include "trace/generate/share.h"
#include "trace/generate/stage.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"
#include "trace/model/groups.h"

namespace chakra::generate {
namespace {

namespace et = ChakraProtoMsg;

constexpr char kWorkload[] = "workload";  // an attribute of metadata

// The index of a rank's stage in StepGraphs::stages.
size_t StageOf(const Layout& layout, int rank) { return static_cast<size_t>(layout.GraphOf(rank)); }

// The encoders of all stages, of which each serves all ranks of its stage.
std::vector<StageEncoder> EncodersOf(const StepGraphs& step) {
  return {step.stages.begin(), step.stages.end()};
}

absl::Status WriteRank(const StepGraphs& step, const Layout& layout, const StageEncoder& stage, int rank,
                       EtWriter* out) {
  RETURN_IF_ERROR(out->AddMetadata(MetadataWith(kWorkload, step.plan.workload)));
  return stage.Write(layout, rank, out);
}

// Sets the data that a rank has in addition to the graph of its stage, in the order in which a reader of its
// file finds them.
void SetOwn(const StageGraph& stage, const Layout& layout, int rank, RankTrace* trace) {
  trace->rank = rank;
  trace->group_names = {""};
  std::vector<Peer> peers;
  uint32_t index_of[kGroupKinds] = {};
  for (const StepNode& n : stage.nodes) {
    if (n.type == NodeType::kComp || IsCopy(n)) continue;
    if (n.type != NodeType::kCollective) {
      peers.push_back(EndsOf(layout, rank, n));
      continue;
    }
    uint32_t& index = index_of[static_cast<int>(n.group)];
    if (index == 0) {
      index = static_cast<uint32_t>(trace->group_names.size());
      trace->group_names.push_back(layout.NameOf(n.group, rank));
    }
    peers.emplace_back().group = index;
  }
  trace->peers = std::move(peers);
}

// Loads each rank from its frames, which a rewriter changes or the trace keeps.
absl::Status LoadEach(const StepGraphs& step, const std::string& name, const ReadOptions& options,
                      TraceSet* set) {
  const Layout layout(step.plan.split);
  const std::vector<StageEncoder> stages = EncodersOf(step);
  const auto write = [&](size_t i, EtWriter* writer) {
    const int rank = static_cast<int>(i);
    return WriteRank(step, layout, stages[StageOf(layout, rank)], rank, writer);
  };
  ASSIGN_OR_RETURN(set->ranks, LoadWritten(static_cast<size_t>(layout.ranks()), options, name, write));
  return absl::OkStatus();
}

// Loads one rank of each stage from its frames; the other ranks share its graph.
absl::Status LoadStages(const StepGraphs& step, const std::string& name, const ReadOptions& options,
                        TraceSet* set) {
  const Layout layout(step.plan.split);
  GraphPool pool;
  Decoder decoder(&pool);
  std::vector<RankTrace> of_stage(step.stages.size());
  for (size_t s = 0; s < step.stages.size(); ++s) {
    const int rank = layout.FirstOf(static_cast<int64_t>(s));
    std::string frames;
    EtWriter writer(&frames, Compression::kNone);
    RETURN_IF_ERROR(WriteRank(step, layout, StageEncoder(step.stages[s]), rank, &writer));
    RETURN_IF_ERROR(writer.Finish());
    ASSIGN_OR_RETURN(of_stage[s], decoder.Decode(frames, name, rank, options));
  }
  std::vector<std::vector<GroupKind>> kinds;
  for (const StageGraph& stage : step.stages) kinds.push_back(KindsInOrder(stage));
  set->ranks.resize(static_cast<size_t>(layout.ranks()));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const auto s = static_cast<size_t>(layout.GraphOf(rank));
    RankTrace& trace = set->ranks[static_cast<size_t>(rank)];
    trace.file = name;
    trace.graph = of_stage[s].graph;
    const int of = options.symmetric == nullptr ? rank : layout.SymmetricTo(rank);
    if (options.symmetric != nullptr) options.symmetric->push_back(of);
    if (of != rank) {
      trace.rank = rank;
      trace.group_names = {""};
      for (const GroupKind kind : kinds[s]) trace.group_names.push_back(layout.NameOf(kind, rank));
      continue;
    }
    trace.metadata = of_stage[s].metadata;
    SetOwn(step.stages[s], layout, rank, &trace);
  }
  return absl::OkStatus();
}

std::string FileOf(int rank) { return absl::StrCat("workload.", rank, ".et.zst"); }

constexpr char kGroupsName[] = "workload.json";

std::string IndexName() { return absl::StrCat("workload", kRankIndexEnding); }

// Opens the folder to which the files of a step are written before they are all moved to `folder`.
absl::Status OpenFolder(const std::string& folder, WholeFolder* whole) {
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::path(std::string(absl::StripSuffix(folder, "/"))).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (!error && std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
    error = std::make_error_code(std::errc::not_a_directory);
  if (!error) return whole->Open(folder);
  return absl::NotFoundError(absl::StrCat("cannot create the folder ", folder, ": ", error.message()));
}

bool IsTrace(absl::string_view name) {
  return absl::StartsWith(name, "workload.") && absl::StrContains(name, ".et");
}

// Moves the written `files` to `folder`. `part`: existing traces that are not among them stay.
absl::Status PutInPlace(const std::string& folder, bool part, const std::vector<std::string>& files,
                        WholeFolder* whole) {
  std::vector<std::string> stale;
  bool others = part;
  for (const std::string& name : ListFolder(folder)) {
    if (name == IndexName() || (IsTrace(name) && !part)) {
      stale.push_back(absl::StrCat(folder, "/", name));  // an old index would hide the files
    } else if (name != kGroupsName) {
      others = true;
    }
  }
  std::error_code error;
  if (!others || !std::filesystem::exists(folder, error)) return whole->Commit();
  return whole->MoveInto(folder, stale, files);
}

// As `convert` and `edit` do, leaves it to the system when the bytes of a folder's files go to the disk: to
// wait for each file takes longer than to make it.
absl::Status WriteRanks(const StepGraphs& step, const Layout& layout, const std::vector<int>& ranks,
                        const WholeFolder& folder, int threads) {
  const std::vector<StageEncoder> stages = EncodersOf(step);
  return ForEach(ranks.size(), threads, [&] {
    return [&](size_t i) {
      const std::string path = folder.PathOf(FileOf(ranks[i]));
      EtWriter writer(path, CompressionOf(path), {.durable = false});
      RETURN_IF_ERROR(WriteRank(step, layout, stages[StageOf(layout, ranks[i])], ranks[i], &writer));
      return writer.Finish();
    };
  });
}

// Returns an error if `folder` has traces that are not among `files`: other readers would read both as one
// run.
absl::Status CheckOthers(const std::string& folder, const std::vector<std::string>& files) {
  const absl::flat_hash_set<absl::string_view> own(files.begin(), files.end());
  for (const std::string& name : ListFolder(folder)) {
    if (!absl::StartsWith(name, "workload.") || !absl::EndsWith(name, ".et.zst") || own.contains(name))
      continue;
    return absl::AlreadyExistsError(absl::StrCat(
        folder, ": ", name, " exists, and is not a graph of this step; expected a folder without traces"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StepGraphs> BuildStep(const StepPlan& plan, int threads) {
  StepGraphs step;
  step.plan = plan;
  step.stages.resize(static_cast<size_t>(plan.split.graphs()));
  RETURN_IF_ERROR(ForEach(step.stages.size(), threads, [&] {
    return [&](size_t s) {
      ASSIGN_OR_RETURN(step.stages[s], BuildStage(plan, static_cast<int64_t>(s)));
      return absl::OkStatus();
    };
  }));
  return step;
}

Groups GroupsOf(const StepGraphs& step) {
  const Layout layout(step.plan.split);
  std::vector<std::vector<GroupKind>> kinds;
  for (const StageGraph& stage : step.stages) kinds.push_back(KindsInOrder(stage));
  Groups groups;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    for (const GroupKind kind : kinds[static_cast<size_t>(layout.GraphOf(rank))]) {
      if (layout.Member(kind, rank, 0) == rank || kind == GroupKind::kEnds)
        groups.try_emplace(layout.NameOf(kind, rank), layout.Members(kind, rank));
    }
  }
  return groups;
}

absl::Status WriteStep(const StepGraphs& step, const std::string& folder, const std::vector<int>& ranks,
                       int threads, WholeFolder* whole) {
  const Layout layout(step.plan.split);
  std::vector<int> wanted = ranks;
  if (wanted.empty()) {
    for (int r = 0; r < layout.ranks(); ++r) wanted.push_back(r);
  }
  for (const int r : wanted) {
    if (r >= 0 && r < layout.ranks()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("there is no rank ", r, "; expected 0 to ", layout.ranks() - 1));
  }
  WholeFolder own;
  if (whole == nullptr) whole = &own;
  RETURN_IF_ERROR(OpenFolder(folder, whole));
  RETURN_IF_ERROR(WriteRanks(step, layout, wanted, *whole, threads));
  RETURN_IF_ERROR(WriteFile(whole->PathOf(kGroupsName), GroupFileText(GroupsOf(step))));
  std::vector<std::string> files = {kGroupsName};
  for (const int r : wanted) files.push_back(FileOf(r));
  return PutInPlace(folder, !ranks.empty(), files, whole);
}

absl::Status WriteSharedStep(const StepGraphs& step, const std::string& folder, int threads,
                             WholeFolder* whole) {
  const Layout layout(step.plan.split);
  const std::vector<int> owners = OwnersOf(step);
  std::vector<std::string> files;
  for (const int r : owners) files.push_back(FileOf(r));
  RETURN_IF_ERROR(CheckOthers(folder, files));
  WholeFolder own;
  if (whole == nullptr) whole = &own;
  RETURN_IF_ERROR(OpenFolder(folder, whole));
  RETURN_IF_ERROR(WriteRanks(step, layout, owners, *whole, threads));
  RETURN_IF_ERROR(WriteMessageFile(IndexOf(step, files), MessageFormat::kJson, whole->PathOf(IndexName())));
  files.insert(files.begin(), IndexName());
  return PutInPlace(folder, false, files, whole);
}

absl::StatusOr<TraceSet> TracesOf(const StepGraphs& step, const std::string& name,
                                  const ReadOptions& options) {
  TraceSet set;
  RETURN_IF_ERROR(WantsFrames(options) ? LoadEach(step, name, options, &set)
                                       : LoadStages(step, name, options, &set));
  set.groups = GroupsOf(step);
  if (!set.groups.empty()) set.group_source = name;
  return set;
}

absl::StatusOr<std::optional<StepPlan>> PlanOf(const TraceSet& traces) {
  std::optional<StepPlan> none;
  if (traces.ranks.empty() || !absl::StrContains(traces.ranks[0].metadata, kWorkload)) return none;
  et::GlobalMetadata metadata;
  if (!metadata.ParseFromString(traces.ranks[0].metadata)) return none;
  for (const et::AttributeProto& a : metadata.attr()) {
    if (a.name() != kWorkload) continue;
    proto::Workload workload;
    const std::string where = absl::StrCat(traces.ranks[0].file, ": metadata attribute workload");
    RETURN_IF_ERROR(ParseTextMessage(a.string_val(), where, &workload));
    absl::StatusOr<StepPlan> plan = ResolvePlan(workload);
    if (!plan.ok())
      return absl::Status(plan.status().code(), absl::StrCat(where, ": ", plan.status().message()));
    if (plan->split.ranks() != static_cast<int64_t>(traces.ranks.size())) return none;
    return std::optional<StepPlan>(*std::move(plan));
  }
  return none;
}

}  // namespace chakra::generate
