#include "trace/import/pytorch/place_files.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_of.h"
#include "trace/import/capture/rank_names.h"
#include "trace/import/kineto/graph_capture.h"

namespace chakra::pytorch {
namespace {

constexpr absl::string_view kByHand =
    "--rank-of 'PATTERN' finds ranks in names by a regular expression, --rank-of 'PATTERN=N' gives one";

// The ranks that are in all groups whose ranks a trace lists; empty: any rank, or none.
std::vector<int> Members(const std::vector<CommCall>& comms) {
  std::set<std::vector<int>> groups;  // far fewer than calls
  for (const CommCall& call : comms) {
    if (!call.ranks.empty() && !call.ranks_cut) groups.insert(call.ranks);
  }
  std::vector<int> both;
  bool any = false;
  for (const std::vector<int>& group : groups) {
    std::vector<int> listed = group, common;
    std::sort(listed.begin(), listed.end());
    if (any) {
      std::set_intersection(both.begin(), both.end(), listed.begin(), listed.end(),
                            std::back_inserter(common));
      both = std::move(common);
    } else {
      both = std::move(listed);
    }
    any = true;
  }
  return both;
}

// The folders in a path, the outermost first.
std::vector<absl::string_view> FoldersOf(absl::string_view path) {
  std::vector<absl::string_view> folders = absl::StrSplit(path, '/');
  folders.pop_back();
  return folders;
}

class Placer {
 public:
  Placer(std::vector<CaptureFile> files, std::vector<LoadedFile>* loaded, PlacedFiles* out)
      : files_(std::move(files)), loaded_(*loaded), out_(out) {}

  absl::Status Run(const std::vector<std::string>& rank_of) {
    for (const bool host : {false, true}) ReadFolders(host);
    SpreadFiles();
    rank_.assign(files_.size(), -1);
    RETURN_IF_ERROR(ByHand(rank_of));
    for (size_t i = 0; i < files_.size(); ++i) {
      if (rank_[i] < 0) rank_[i] = Told(i);
    }
    ForgetLocalRanks();
    LeaveOutFrontEnds();
    ByMembers();
    ByPlaces();
    ByNumbers();
    RETURN_IF_ERROR(OfOnePair());
    PlaceGraphCaptures();
    for (size_t i = 0; i < files_.size(); ++i) {
      if (left_out_[i]) continue;
      RETURN_IF_ERROR(rank_[i] < 0 ? NoRank(i) : PlaceOne(i));
    }
    return absl::OkStatus();
  }

 private:
  void ReadFolders(bool host);
  void SpreadFiles();
  absl::Status ByHand(const std::vector<std::string>& rank_of);
  int Told(size_t i) const;
  void ForgetLocalRanks();
  void LeaveOut(size_t i, absl::string_view why);
  void LeaveOutFrontEnds();
  void ByMembers();
  void ByPlaces();
  void ByNumbers();
  absl::Status OfOnePair();
  void PlaceGraphCaptures();
  absl::Status NoRank(size_t i) const;
  absl::Status PlaceOne(size_t i);

  const std::vector<CommCall>& Comms(size_t i) const {
    return loaded_[i].host != nullptr ? loaded_[i].host->comms : loaded_[i].device->comms;
  }
  bool HasDevice(size_t i) const {
    if (files_[i].host) return false;
    const std::vector<Event>& events = loaded_[i].device->events;
    return std::any_of(events.begin(), events.end(), [](const Event& e) { return OnDevice(e.kind); });
  }
  // The number of ranks of the job, as far as files show it; 0: unknown.
  int WorldSize() const;
  size_t Count(bool host) const {
    size_t n = 0;
    for (size_t i = 0; i < files_.size(); ++i) n += files_[i].host == host && !left_out_[i] ? 1 : 0;
    return n;
  }

  std::vector<CaptureFile> files_;
  std::vector<LoadedFile>& loaded_;
  PlacedFiles* out_;
  std::vector<int> rank_;
  std::vector<bool> left_out_;
  // Label of the processes, if the entry is one rank of a file with several; "": the entry is a whole file.
  std::vector<std::string> part_;
  std::string why_no_places_;
};

// Reads ranks and places from the folders of a file
// ("rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json") if the file's own name has neither, or only a
// number at its end. Folders that all files of a kind share do not distinguish them and are not used. For a
// single file only the two nearest folders are used, and only "rank" or "worker" in their names.
void Placer::ReadFolders(bool host) {
  std::vector<size_t> of_kind;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].host == host) of_kind.push_back(i);
  }
  if (of_kind.empty()) return;
  const std::vector<absl::string_view> first = FoldersOf(files_[of_kind[0]].path);
  size_t shared = of_kind.size() > 1 ? first.size() : first.size() - std::min<size_t>(first.size(), 2);
  for (const size_t i : of_kind) {
    const std::vector<absl::string_view> folders = FoldersOf(files_[i].path);
    const auto differ = std::mismatch(first.begin(), first.end(), folders.begin(), folders.end()).first;
    shared = std::min(shared, static_cast<size_t>(differ - first.begin()));
  }
  for (const size_t i : of_kind) {
    CaptureFile& file = files_[i];
    if (file.sure || !file.places.empty()) continue;
    const std::vector<absl::string_view> folders = FoldersOf(file.path);
    const auto own = folders.begin() + static_cast<ptrdiff_t>(shared);
    NamedRank named = RankFromName(absl::StrJoin(own, folders.end(), "/"));
    if (!named.sure && (named.places.empty() || of_kind.size() == 1)) continue;
    file.rank = named.rank;
    file.sure = named.sure;
    file.places = std::move(named.places);
  }
}

// Makes an entry for each rank of a file that holds several. The labels of the ranks are used in place of the
// file's name.
void Placer::SpreadFiles() {
  part_.resize(files_.size());
  for (size_t i = 0, own = files_.size(); i < own; ++i) {
    std::vector<RankPart> parts = std::move(loaded_[i].parts);
    for (size_t k = 0; k < parts.size(); ++k) {
      const NamedRank named = RankFromName(parts[k].label);
      CaptureFile file = files_[i];
      file.rank = named.rank;
      file.sure = named.sure;
      file.places = named.places;
      const size_t at = k == 0 ? i : files_.size();
      if (k > 0) {
        files_.emplace_back();
        loaded_.emplace_back();
        part_.emplace_back();
      }
      files_[at] = std::move(file);
      loaded_[at].device = std::move(parts[k].device);
      part_[at] = parts[k].label.empty() ? "no label" : parts[k].label;
    }
    if (parts.size() > 1)
      out_->warnings.push_back(absl::StrCat(
          files_[i].path, ": has ", parts.size(), " ranks, distinguished by ",
          parts[0].by_device ? "the devices that their processes launch on (--rank-of gives other numbers): "
                             : "the labels of their processes: ",
          parts[0].label, ", ", parts[1].label, parts.size() > 2 ? ", ..." : ""));
  }
  left_out_.assign(files_.size(), false);
}

absl::Status Placer::ByHand(const std::vector<std::string>& rank_of) {
  if (rank_of.empty()) return absl::OkStatus();
  bool any = false;
  for (size_t i = 0; i < files_.size(); ++i) {
    const std::string text = part_[i].empty() ? files_[i].path : absl::StrCat(files_[i].path, " ", part_[i]);
    ASSIGN_OR_RETURN(int rank, RankByHand(rank_of, text));
    rank_[i] = rank;
    any = any || rank >= 0;
  }
  if (any) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--rank-of ", absl::StrJoin(rank_of, " "),
                                                 ": no file's path matches; the first is ", files_[0].path));
}

// The rank in the content of a file, or after "rank" in its name; -1: none.
int Placer::Told(size_t i) const {
  const LoadedFile& l = loaded_[i];
  // A host trace knows only its place in a group: the name comes first.
  if (l.host != nullptr && files_[i].sure) return files_[i].rank;
  const int own = l.host != nullptr ? l.host->rank : l.device->rank;
  if (own >= 0) return own;
  return files_[i].sure ? files_[i].rank : -1;
}

// Drops ranks of names that begin at 0 in each replica of a server ("dp1_tp0_rank0"): files with different
// places then have the same rank. ByPlaces() finds the ranks of these files.
void Placer::ForgetLocalRanks() {
  std::map<std::pair<bool, int>, std::vector<Place>> first;
  bool local = false;
  const auto by_name = [&](size_t i) {
    const int own = files_[i].host ? -1 : loaded_[i].device->rank;
    return files_[i].sure && own < 0 && !files_[i].places.empty() && rank_[i] == files_[i].rank;
  };
  for (size_t i = 0; i < files_.size(); ++i) {
    if (!by_name(i)) continue;
    const auto [of, fresh] = first.try_emplace({files_[i].host, rank_[i]}, files_[i].places);
    local = local || (!fresh && of->second != files_[i].places);
  }
  for (size_t i = 0; i < files_.size() && local; ++i) {
    if (by_name(i)) rank_[i] = -1;
  }
}

void Placer::LeaveOut(size_t i, absl::string_view why) {
  left_out_[i] = true;
  if (part_[i].empty()) out_->left_out.push_back(files_[i].path);
  out_->warnings.push_back(absl::StrCat(files_[i].path,
                                        part_[i].empty() ? "" : absl::StrCat(": processes with ", part_[i]),
                                        ": left out: ", why));
}

void Placer::LeaveOutFrontEnds() {
  const auto empty = [&](size_t i) {
    return rank_[i] < 0 && !files_[i].host && files_[i].places.empty() && Comms(i).empty() && !HasDevice(i) &&
           !ShowsGraphCaptureOnly(*loaded_[i].device);
  };
  std::vector<size_t> none;
  size_t work = 0;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (empty(i)) {
      none.push_back(i);
    } else {
      work += files_[i].host ? 0 : 1;
    }
  }
  if (work == 0) return;
  for (const size_t i : none)
    LeaveOut(i, "it has no rank, no device operation and no call, like the trace of a front end");
}

// Sets the rank of a file if only one rank is in all groups of its calls.
void Placer::ByMembers() {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (rank_[i] >= 0 || left_out_[i] || files_[i].host) continue;
    const std::vector<int> members = Members(Comms(i));
    if (members.size() == 1) rank_[i] = members[0];
  }
}

void Placer::ByPlaces() {
  std::map<std::vector<Place>, PlacedFile> placed;  // files of several kinds may have the same place
  for (size_t i = 0; i < files_.size(); ++i) {
    if (rank_[i] >= 0 || left_out_[i] || files_[i].places.empty()) continue;
    PlacedFile& file = placed[files_[i].places];
    file.places = files_[i].places;
    const std::vector<int> members = Members(Comms(i));
    if (file.members.empty()) file.members = members;
  }
  if (placed.empty()) return;
  std::vector<PlacedFile> files;
  for (const auto& [places, file] : placed) files.push_back(file);
  std::string order;
  const std::vector<int> ranks = RanksFromPlaces(files, &order, &why_no_places_);
  if (ranks.empty()) return;
  std::map<std::vector<Place>, int> of;
  for (size_t k = 0; k < files.size(); ++k) of[files[k].places] = ranks[k];
  for (size_t i = 0; i < files_.size(); ++i) {
    const auto found = of.find(files_[i].places);
    if (rank_[i] < 0 && !left_out_[i] && found != of.end()) rank_[i] = found->second;
  }
  if (files.size() > 1)
    out_->warnings.push_back(absl::StrCat(
        "ranks are counted from ", absl::AsciiStrToUpper(order), " in the names",
        absl::StrContains(order, ",") ? " (the last changes fastest)" : "", " (--rank-of gives others)"));
}

int Placer::WorldSize() const {
  int64_t world = 0;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (loaded_[i].device != nullptr) world = std::max<int64_t>(world, loaded_[i].device->world_size);
    for (const CommCall& call : Comms(i)) {
      for (const int r : call.ranks) world = std::max<int64_t>(world, r + 1);
      if (call.start >= 0 && call.stride > 0 && call.group_size > 0)
        world = std::max(world, call.start + call.stride * (call.group_size - 1) + 1);
    }
  }
  return static_cast<int>(std::min<int64_t>(world, 1 << 30));
}

// A number at the end of a name counts only if there are several files of its kind.
void Placer::ByNumbers() {
  const int world = WorldSize();
  for (size_t i = 0; i < files_.size(); ++i) {
    if (rank_[i] >= 0 || left_out_[i] || files_[i].sure || !files_[i].places.empty()) continue;
    if (Count(files_[i].host) <= 1 || (world > 0 && files_[i].rank >= world)) continue;
    const bool named = std::any_of(files_.begin(), files_.end(), [&](const CaptureFile& f) {
      return f.host == files_[i].host && (f.sure || !f.places.empty());
    });
    if (!named) rank_[i] = files_[i].rank;
  }
}

// If there is only one pair of host and device traces, a file without a rank gets the rank of the other file.
absl::Status Placer::OfOnePair() {
  std::vector<size_t> pair;
  for (size_t i = 0; i < files_.size(); ++i) {
    const bool capture = !files_[i].host && rank_[i] < 0 && ShowsGraphCaptureOnly(*loaded_[i].device);
    if (!left_out_[i] && !(capture && Count(false) > 1)) pair.push_back(i);
  }
  const auto hosts = std::count_if(pair.begin(), pair.end(), [&](size_t i) { return files_[i].host; });
  if (pair.empty() || hosts > 1 || static_cast<ptrdiff_t>(pair.size()) - hosts > 1) return absl::OkStatus();
  int known = -1;
  for (const size_t i : pair) known = std::max(known, rank_[i]);
  if (pair.size() == 2 && rank_[pair[0]] >= 0 && rank_[pair[1]] >= 0 && rank_[pair[0]] != rank_[pair[1]]) {
    return absl::InvalidArgumentError(absl::StrCat(files_[pair[0]].path, " is from rank ", rank_[pair[0]],
                                                   ", ", files_[pair[1]].path, " from rank ", rank_[pair[1]],
                                                   "; expected the host and device traces of one rank"));
  }
  if (known < 0) out_->warnings.push_back("the rank is unknown; using rank 0");
  for (const size_t i : pair) rank_[i] = std::max(known, 0);
  return absl::OkStatus();
}

// Traces that only show the capture of graphs and have no rank: they belong to the only rank, or are left
// out.
void Placer::PlaceGraphCaptures() {
  std::vector<int> ranks;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (rank_[i] >= 0 && !left_out_[i]) ranks.push_back(rank_[i]);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (size_t i = 0; i < files_.size(); ++i) {
    if (rank_[i] >= 0 || left_out_[i] || files_[i].host || !ShowsGraphCaptureOnly(*loaded_[i].device))
      continue;
    if (ranks.size() == 1) {
      rank_[i] = ranks[0];
    } else if (!ranks.empty()) {
      LeaveOut(i, "it shows the capture of graphs, and its rank is unknown");
    }
  }
}

absl::Status Placer::NoRank(size_t i) const {
  std::string places;
  for (const auto& [dimension, k] : files_[i].places)
    absl::StrAppend(&places, places.empty() ? "" : " ", absl::AsciiStrToUpper(dimension), "-", k);
  if (!places.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(files_[i].path, ": its name gives ", places,
                                                   ", but not its rank: ", why_no_places_, "; ", kByHand));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      files_[i].path,
      ": its rank is unknown; expected distributedInfo.rank in the file, a name that ends in the rank "
      "(kineto.3.json), or \"rank\" and the number in its name or its folder's (rank3_...); ",
      kByHand));
}

absl::Status Placer::PlaceOne(size_t i) {
  const int rank = rank_[i];
  CaptureRank& r = out_->ranks[rank];
  r.rank = rank;
  const bool host = files_[i].host;
  std::string& name = host ? r.host_file : r.device_file;
  // The trace of a graph's capture and the trace of its execution may have the same rank.
  if (!host && !name.empty()) {
    if (ShowsGraphCaptureOnly(*loaded_[i].device)) {
      r.graph_captures.push_back(std::move(loaded_[i].device));
      return absl::OkStatus();
    }
    if (ShowsGraphCaptureOnly(*r.device)) {
      r.graph_captures.push_back(std::move(r.device));
      name.clear();
    }
  }
  if (!name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "two ", host ? "host" : "device", " traces for rank ", rank, ": ", name, " and ", files_[i].path,
        "; expected one: name the files to use, or one pair with --host and --device; ", kByHand));
  }
  name = files_[i].path;
  if (host) {
    r.host = std::move(loaded_[i].host);
  } else {
    r.device = std::move(loaded_[i].device);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PlaceFiles(std::vector<CaptureFile> files, std::vector<LoadedFile>* loaded,
                        const std::vector<std::string>& rank_of, PlacedFiles* out) {
  return Placer(std::move(files), loaded, out).Run(rank_of);
}

}  // namespace chakra::pytorch
