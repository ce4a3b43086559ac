#include "trace/import/kineto/kineto_labels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"

namespace chakra::pytorch::kineto {
namespace {

// A device as one process shows it.
using Place = std::pair<uint32_t, int>;  // process, device

// The processes whose calls launched the operations of a place.
struct Tally {
  // Operations by process, if calls of this process alone have their correlation.
  std::map<uint32_t, uint64_t> alone;
  uint64_t shared = 0;  // operations whose correlation calls of several processes have
};

constexpr uint32_t kSeveral = kNoRow - 1;

class RankFinder {
 public:
  RankFinder(const DeviceTrace& trace, const LaneProcesses& lanes) : trace_(trace), lanes_(lanes) {
    for (const LaneProcesses::Process& p : lanes.processes) label_.push_back(p.label);
  }

  absl::StatusOr<LaneLabels> Find() {
    LaneLabels out;
    FindHosts();
    const bool named = Named();
    if (!named && hosts_.size() < 2) return out;
    Count(named);
    if (named) {
      LabelHosts();
      RETURN_IF_ERROR(LabelPlaces());
    } else if (absl::StatusOr<bool> apart = OneDeviceEach(); !apart.ok() || !*apart) {
      return apart.ok() ? absl::StatusOr<LaneLabels>(out) : apart.status();
    }
    out.by_device = !named;
    for (const uint32_t process : lanes_.threads) out.threads.push_back(label_[process]);
    for (size_t i = 0; i < lanes_.streams.size(); ++i) {
      const auto owned = of_place_.find(PlaceOf(i));
      out.streams.push_back(owned == of_place_.end() ? label_[lanes_.streams[i]] : owned->second);
    }
    return out;
  }

 private:
  Place PlaceOf(size_t lane) const { return {lanes_.streams[lane], trace_.streams[lane].device}; }
  static bool Launches(const Event& e) {
    return (e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver) && e.correlation > 0;
  }
  std::string Written(const std::set<uint32_t>& processes) const {
    return absl::StrJoin(processes, ", ", [&](std::string* out, uint32_t p) {
      absl::StrAppend(out, lanes_.processes[p].written);
    });
  }

  // Finds the processes with events of the host.
  void FindHosts() {
    std::vector<bool> works(trace_.threads.size());
    for (const Event& e : trace_.events) {
      if (OnHost(e.kind)) works[e.lane] = true;
    }
    for (size_t i = 0; i < works.size(); ++i) {
      if (works[i]) hosts_.insert(lanes_.threads[i]);
    }
  }

  bool Named() const {
    std::set<std::string> told;
    const auto in_text = [](const LaneProcesses::Process& p) { return !p.number.empty(); };
    for (const uint32_t p : lanes_.streams) told.insert(label_[p]);
    for (const uint32_t p : hosts_) told.insert(label_[p]);
    told.erase("");
    return told.size() > 1 || std::any_of(lanes_.processes.begin(), lanes_.processes.end(), in_text);
  }

  // Counts which processes launch on which devices. Without labels, only events of Kineto's own categories
  // count: other profilers write several processes, one a layer of software, for one rank.
  void Count(bool named) {
    const size_t threads = named ? trace_.threads.size() : lanes_.own_threads;
    const size_t streams = named ? trace_.streams.size() : lanes_.own_streams;
    absl::flat_hash_map<int64_t, uint32_t> launched_by;  // process by correlation
    for (const Event& e : trace_.events) {
      if (!Launches(e) || e.lane >= threads) continue;
      const uint32_t process = lanes_.threads[e.lane];
      launch_.insert(process);
      const auto [first, fresh] = launched_by.try_emplace(e.correlation, process);
      if (fresh || first->second == process) continue;
      reused_by_.insert(process);
      if (first->second != kSeveral) reused_by_.insert(first->second);
      first->second = kSeveral;
    }
    for (const Event& e : trace_.events) {
      if (!OnDevice(e.kind) || e.lane >= streams) continue;
      Tally& tally = tallies_[PlaceOf(e.lane)];
      const auto by = launched_by.find(e.correlation);
      if (by == launched_by.end()) continue;
      if (by->second == kSeveral) {
        ++tally.shared;
        reused_on_[e.correlation].insert(trace_.streams[e.lane].device);
      } else {
        ++tally.alone[by->second];
      }
    }
  }

  // The key with at least 90 % of `counts`, if `counts` are at least 10 % of `counts` and `others` together;
  // else null. Not 100 %: an operation whose call is missing from the file may match a call of another rank.
  template <typename Key>
  static const Key* Most(const std::map<Key, uint64_t>& counts, uint64_t others) {
    uint64_t all = 0;
    const Key* most = nullptr;
    uint64_t best = 0;
    for (const auto& [key, n] : counts) {
      all += n;
      if (n > best) best = n, most = &key;
    }
    return most != nullptr && best * 10 >= all * 9 && all * 10 >= all + others ? most : nullptr;
  }

  // Labels processes of the host that have no label and launch on labelled devices.
  void LabelHosts() {
    std::map<uint32_t, std::map<std::string, uint64_t>> on;  // operations on each label, by process
    for (const auto& [place, tally] : tallies_) {
      const std::string& label = label_[place.first];
      for (const auto& [process, n] : tally.alone) {
        if (label_[process].empty() && !label.empty()) on[process][label] += n;
      }
    }
    for (const auto& [process, labels] : on) {
      if (const std::string* most = Most(labels, 0)) label_[process] = *most;
    }
  }

  absl::Status LabelPlaces() {
    for (const auto& [place, tally] : tallies_) {
      if (!label_[place.first].empty()) continue;
      std::map<std::string, uint64_t> by;
      for (const auto& [process, n] : tally.alone) {
        if (!label_[process].empty()) by[label_[process]] += n;
      }
      if (const std::string* most = Most(by, tally.shared)) {
        of_place_[place] = *most;
      } else if (!by.empty() || tally.shared > 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("the labels of its processes name ranks, but no label names the rank of device ",
                         place.second, " (\"", Written({place.first}),
                         "\"), and calls of several ranks have the correlations of its operations"));
      }
    }
    return absl::OkStatus();
  }

  // Whether each process that launches has exactly one device, and no two processes have the same device.
  absl::StatusOr<bool> OneDeviceEach() {
    std::map<uint32_t, std::set<Place>> of;  // places by the process that launches there
    bool reused = false;
    for (const auto& [place, tally] : tallies_) {
      const uint32_t* owner = launch_.contains(place.first) ? &place.first : Most(tally.alone, tally.shared);
      reused = reused || (owner == nullptr && tally.shared > 0);
      if (owner != nullptr) of[*owner].insert(place);
    }
    if (reused) return Reused();
    if (of.size() < 2) return false;
    std::set<int> devices;
    bool one_each = true;
    for (const auto& [process, places] : of) {
      one_each = one_each && places.size() == 1 && devices.insert(places.begin()->second).second;
    }
    if (!one_each) {
      std::set<uint32_t> processes;
      for (const auto& [process, places] : of) processes.insert(process);
      return absl::InvalidArgumentError(
          absl::StrCat("processes ", Written(processes),
                       " launch on several devices, and the device numbers do not show which rank is which"));
    }
    for (const auto& [process, places] : of) {
      label_[process] = absl::StrCat("device ", places.begin()->second);
      of_place_[*places.begin()] = label_[process];
    }
    return true;
  }

  // False, or an error if processes launch on several devices under the same correlations.
  absl::StatusOr<bool> Reused() const {
    std::set<int> all;
    bool several = false;
    for (const auto& [correlation, devices] : reused_on_) {
      several = several || devices.size() > 1;
      all.insert(devices.begin(), devices.end());
    }
    if (!several) return false;
    return absl::InvalidArgumentError(absl::StrCat("processes ", Written(reused_by_), " launch on devices ",
                                                   absl::StrJoin(all, ", "), " under the same correlations"));
  }

  const DeviceTrace& trace_;
  const LaneProcesses& lanes_;
  std::vector<std::string> label_;  // by process
  std::set<uint32_t> hosts_, launch_;
  std::map<Place, Tally> tallies_;
  std::set<uint32_t> reused_by_;                // processes that share correlations with others
  std::map<int64_t, std::set<int>> reused_on_;  // devices by shared correlation
  std::map<Place, std::string> of_place_;       // labels of places whose process has no label
};

}  // namespace

absl::StatusOr<LaneLabels> FindRanks(const DeviceTrace& trace, const LaneProcesses& lanes) {
  return RankFinder(trace, lanes).Find();
}

}  // namespace chakra::pytorch::kineto
