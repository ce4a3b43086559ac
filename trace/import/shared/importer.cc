#include "trace/import/shared/importer.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/rank_index.pb.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/like_rank.h"
#include "trace/et/rank_index.h"
#include "trace/et/rank_loader.h"
#include "trace/io/byte_source.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"
#include "trace/model/groups.h"

namespace chakra::shared {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kEndings[] = {kRankIndexEnding};

bool IsIndex(absl::string_view path) { return absl::EndsWith(WithoutCompression(path), kRankIndexEnding); }

// The index files in a folder, or those with this prefix.
std::vector<std::string> IndicesAt(const std::string& input) {
  std::error_code error;
  const bool folder = fs::is_directory(input, error);
  const std::string place = folder ? input : fs::path(input).parent_path().string();
  const std::string name = folder ? "" : fs::path(input).filename().string();
  std::vector<std::string> found;
  for (const std::string& file : ListFolder(place.empty() ? "." : place)) {
    absl::string_view prefix = WithoutCompression(file);
    if (!absl::ConsumeSuffix(&prefix, kRankIndexEnding) || absl::StartsWith(file, "._")) continue;
    if (folder || prefix == name) found.push_back((fs::path(place) / file).string());
  }
  return found;
}

absl::StatusOr<std::string> FindIndex(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(inputs.empty() ? "no input" : inputs[0],
                                                   ": an index of ranks that share files is a whole run; "
                                                   "expected its folder alone, or the index alone"));
  }
  if (IsIndex(inputs[0])) return inputs[0];
  const std::vector<std::string> found = IndicesAt(inputs[0]);
  if (found.size() == 1) return found[0];
  return absl::InvalidArgumentError(
      found.empty() ? absl::StrCat(inputs[0], ": no index of ranks, *", kRankIndexEnding)
                    : absl::StrCat(inputs[0], ": indices of several runs, expected one; name one of ",
                                   found[0], ", ", found[1]));
}

// Makes the ranks of a run from the files of its graphs.
class SharedRun {
 public:
  SharedRun(const std::string& path, RankIndex index, const ReadOptions& options)
      : path_(path), index_(std::move(index)), options_(options) {}

  absl::StatusOr<TraceSet> Read() {
    const bool each = WantsFrames(options_);
    RETURN_IF_ERROR(LoadGraphs(each));
    TraceSet set;
    for (Loaded& l : graphs_) set.inputs.push_back(std::move(l.input));
    RETURN_IF_ERROR(each ? MakeEach(&set) : MakeAll(&set));
    return set;
  }

  const RankIndex& index() const { return index_; }

 private:
  absl::Status LoadGraphs(bool with_frames) {
    ReadOptions own = options_;
    own.rewriter = nullptr;
    own.symmetric = nullptr;
    own.keep_raw = with_frames;
    graphs_.resize(index_.graphs());
    RETURN_IF_ERROR(ForEach(graphs_.size(), options_.threads, [&] {
      return [&, worker = std::make_unique<Worker>(&pool_)](size_t g) {
        return LoadGraph(g, own, worker.get());
      };
    }));
    for (size_t g = 0; g < graphs_.size(); ++g) {
      RETURN_IF_ERROR(index_.Covers(g, graphs_[g].trace));
    }
    return absl::OkStatus();
  }

  absl::Status LoadGraph(size_t graph, const ReadOptions& options, Worker* worker) {
    Loaded* out = &graphs_[graph];
    const std::string file = (fs::path(path_).parent_path() / index_.FileOf(graph)).string();
    const auto of_rank = [&](const absl::Status& s) {
      return absl::Status(s.code(), absl::StrCat(file, ": rank ", index_.OwnerOf(graph), ": ", s.message()));
    };
    absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(file);
    if (!disk.ok()) return of_rank(disk.status());
    absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(disk->get(), file);
    if (!content.ok()) return of_rank(content.status());
    if (absl::Status s = ReadAll(content->get(), file, &worker->plain); !s.ok()) return of_rank(s);
    out->input.path = file;
    out->input.role = "trace";
    if (absl::Status s = (*disk)->Finish(&out->input.sha256, &out->input.bytes); !s.ok()) return of_rank(s);
    return DecodeFrames(worker->plain.view(), file, index_.OwnerOf(graph), options, worker, out);
  }

  // Sets everything of a rank except what SetPeers() sets: metadata, repairs and peers.
  void SetOwn(int rank, RankTrace* out) const {
    const RankTrace& of = graphs_[index_.GraphOf(rank)].trace;
    out->rank = rank;
    out->file = of.file;
    out->graph = of.graph;
    for (const std::string& name : of.group_names)
      out->group_names.push_back(name.empty() ? "" : index_.GroupFor(rank, name));
  }

  void SetPeers(int rank, RankTrace* out) const {
    const RankTrace& of = graphs_[index_.GraphOf(rank)].trace;
    out->metadata = of.metadata;
    out->repairs = of.repairs;
    for (Repair& r : out->repairs) r.rank = rank;
    out->peers = of.peers;
    const auto named = [](const Peer& p) {
      return p.src != kNoRank || p.dst != kNoRank || p.root != kNoRank;
    };
    if (rank == of.rank || std::none_of(of.peers.begin(), of.peers.end(), named)) return;
    std::vector<Peer> peers = of.peers;
    for (Peer& p : peers) {
      for (int32_t* other : {&p.src, &p.dst, &p.root}) {
        if (*other != kNoRank) *other = index_.RankFor(rank, *other);
      }
    }
    out->peers = std::move(peers);
  }

  absl::Status MakeAll(TraceSet* set) {
    set->ranks.resize(static_cast<size_t>(index_.ranks()));
    return ForEach(set->ranks.size(), options_.threads, [&] {
      return [&](size_t i) {
        const int rank = static_cast<int>(i);
        SetOwn(rank, &set->ranks[i]);
        if (options_.symmetric == nullptr || index_.SymmetricTo(rank) == rank) SetPeers(rank, &set->ranks[i]);
        return absl::OkStatus();
      };
    });
  }

  // Makes each rank from its own frames, because a rewriter changes them or the trace keeps them.
  absl::Status MakeEach(TraceSet* set) {
    std::vector<LikeRank> like;
    for (const Loaded& graph : graphs_) {
      ASSIGN_OR_RETURN(LikeRank one, LikeRank::Make(graph.trace));
      like.push_back(std::move(one));
    }
    const auto load = [&](size_t i, Worker* worker, Loaded* out) {
      const int rank = static_cast<int>(i);
      const size_t graph = index_.GraphOf(rank);
      std::string frames;
      like[graph].AppendFrames(index_, rank, &frames);
      return DecodeFrames(frames, graphs_[graph].trace.file, rank, options_, worker, out);
    };
    ASSIGN_OR_RETURN(set->ranks, LoadRanks(static_cast<size_t>(index_.ranks()), options_, &pool_, load));
    return absl::OkStatus();
  }

  const std::string& path_;
  const RankIndex index_;
  const ReadOptions& options_;
  GraphPool pool_;
  std::vector<Loaded> graphs_;
};

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  ASSIGN_OR_RETURN(const std::string path, FindIndex(inputs));
  if (!options.capture.steps.empty() || !options.capture.ranks.empty() ||
      !options.capture.step_range.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": only captures allow selecting steps and ranks; this is not a capture"));
  }
  InputFile file;
  ASSIGN_OR_RETURN(const std::string text, ReadGroupText(path, &file));
  proto::RankIndex message;
  RETURN_IF_ERROR(ParseMessage(text, path, &message));
  ASSIGN_OR_RETURN(RankIndex index, RankIndex::Make(message, path));
  SharedRun run(path, std::move(index), options);
  ASSIGN_OR_RETURN(TraceSet set, run.Read());
  file.role = "index";
  set.inputs.push_back(std::move(file));
  if (options.symmetric != nullptr) {
    for (int r = 0; r < run.index().ranks(); ++r) options.symmetric->push_back(run.index().SymmetricTo(r));
  }
  if (!options.groups_file.empty()) {
    RETURN_IF_ERROR(GroupsFromFile(options.groups_file, &set));
  } else if (!run.index().groups().empty()) {
    set.groups = run.index().groups();
    set.group_source = path;
  }
  ResolveGroupZero(set.groups, &set.ranks);
  return set;
}

bool LooksLikeIndex(absl::string_view head) {
  return absl::StrContains(head, "\"graph\"") && absl::StrContains(head, "\"ranks\"") &&
         absl::StrContains(head, "\"file\"");
}

}  // namespace

const Importer kImporter = {
    .name = "shared",
    .title = "folder of ranks that share files",
    .help = "what `chakra-replay generate --share` writes, with PREFIX.ranks.json",
    .endings = kEndings,
    .sniff = LooksLikeIndex,
    .run = Read,
    .recorded = false,
    .leads = [](const std::string& input) { return IsIndex(input) || !IndicesAt(input).empty(); },
};

}  // namespace chakra::shared
