#include "replay/cluster/astra_sim.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/cluster/astra_sim_network.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"
#include "trace/io/json_value.h"

namespace chakra {
namespace {

using Kind = JsonValue::Kind;

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Stem(const std::string& path) {
  const std::string base = BaseName(path);
  const size_t dot = base.rfind('.');
  return dot == std::string::npos || dot == 0 ? base : base.substr(0, dot);
}

// ---- system, memory and groups JSON ----

// A JSON object whose keys are taken one by one. Keys that were not taken are noted.
class Options {
 public:
  Options(const std::string& file, std::string content, std::vector<std::string>* notes)
      : file_(file), content_(std::move(content)), reader_(content_, file_), notes_(notes) {}

  absl::Status Parse() {
    ASSIGN_OR_RETURN(JsonValue v, ParseJson(content_, file_));
    if (!v.is(Kind::kObject))
      return reader_.Error(v.begin, absl::StrCat("expected an object, found ", Name(v.kind)));
    root_ = std::move(v);
    return absl::OkStatus();
  }

  const JsonValue& root() const { return root_; }
  const JsonReader& reader() const { return reader_; }
  const std::string& file() const { return file_; }
  void Note(absl::string_view key, absl::string_view text) {
    notes_->push_back(absl::StrCat(file_, ": ", key, ": ", text));
  }

  const JsonValue* Take(absl::string_view key) {
    taken_.insert(std::string(key));
    return root_.Find(key);
  }

  absl::Status Wrong(absl::string_view key, const JsonValue& v, absl::string_view expected) const {
    return reader_.Error(v.begin,
                         absl::StrCat("key '", key, "': expected ", expected, ", found ", reader_.Raw(v)));
  }

  // Reads a finite number >= 0. `out` keeps its value if the key is absent.
  absl::Status TakeNumber(absl::string_view key, absl::string_view unit, double* out,
                          bool* present = nullptr) {
    const JsonValue* v = Take(key);
    if (present != nullptr) *present = v != nullptr;
    if (v == nullptr) return absl::OkStatus();
    double d;
    if (!v->is(Kind::kNumber) || !v->ToDouble(&d) || d < 0)
      return Wrong(key, *v, absl::StrCat(unit, ", 0 or more"));
    *out = d;
    return absl::OkStatus();
  }

  // Notes each key that was not taken.
  void NoteRest(const std::vector<std::pair<std::string, std::string>>& without_counterpart) {
    std::vector<std::string> known(taken_.begin(), taken_.end());
    std::set<std::string> named;
    for (const auto& [key, why] : without_counterpart) known.push_back(key);
    for (const JsonMember& m : root_.members) {
      if (taken_.count(m.key) != 0) continue;
      const auto it = std::find_if(without_counterpart.begin(), without_counterpart.end(),
                                   [&](const auto& p) { return p.first == m.key; });
      const std::string value(reader_.Raw(m.value));
      if (it != without_counterpart.end()) {
        Note(m.key, absl::StrCat(value, " is not carried over: ", it->second));
        continue;
      }
      const std::string nearest = NearestName(m.key, known);
      Note(m.key, absl::StrCat("unknown option, not carried over",
                               nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
    }
  }

 private:
  const std::string& file_;
  std::string content_;
  JsonReader reader_;
  JsonValue root_;
  std::set<std::string> taken_;
  std::vector<std::string>* notes_;
};

// The name of a collective in ASTRA-sim's options and in this project.
struct Implemented {
  const char* option;
  const char* name;
};
constexpr Implemented kImplemented[] = {{"all-reduce", "all_reduce"},
                                        {"all-gather", "all_gather"},
                                        {"reduce-scatter", "reduce_scatter"},
                                        {"all-to-all", "all_to_all"}};

// Reads the four `*-implementation` lists.
class Implementations {
 public:
  Implementations(Options* options, const proto::Topology& topology, proto::Collectives* out)
      : o_(*options), topology_(topology), out_(*out) {
    for (const proto::Dimension& d : topology.dimension()) devices_ *= d.size();
  }

  absl::Status Take(const Implemented& collective) {
    key_ = absl::StrCat(collective.option, "-implementation");
    name_ = collective.name;
    RETURN_IF_ERROR(TakeCustom());
    const JsonValue* v = o_.Take(key_);
    if (v == nullptr) return absl::OkStatus();
    std::vector<std::string> algorithms;
    bool flat = false;
    RETURN_IF_ERROR(Read(*v, &algorithms, &flat));
    if (custom_) return absl::OkStatus();
    if (!Carry(&algorithms, flat)) return absl::OkStatus();
    const std::string all = absl::StrJoin(algorithms, "+");
    if (all == "ring") {
      (*out_.mutable_algorithm())[name_] = all;
      return absl::OkStatus();
    }
    // In ASTRA-sim, a group that is not the whole world is one ring, whatever the list says.
    (*out_.mutable_algorithm())[absl::StrCat(name_, ":", devices_)] = all;
    (*out_.mutable_algorithm())[name_] = "ring";
    return absl::OkStatus();
  }

 private:
  // A custom collective is a set of Chakra traces; this project calls it a program.
  absl::Status TakeCustom() {
    custom_ = false;
    const std::string key = key_ + "-custom";
    const JsonValue* v = o_.Take(key);
    if (v == nullptr) return absl::OkStatus();
    if (!v->is(Kind::kArray) || v->items.size() != 1 || !v->items[0].is(Kind::kString))
      return o_.Wrong(key, *v, "a list of one prefix of Chakra traces");
    const std::string prefix = v->items[0].text;
    const size_t slash = o_.file().rfind('/');
    const std::string beside =
        slash == std::string::npos ? prefix : absl::StrCat(o_.file().substr(0, slash + 1), prefix);
    for (const std::string& path : {prefix, beside}) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(path + ".0.et", error)) continue;
      out_.add_program(absl::StrCat(name_, "=", path));
      custom_ = true;
      return absl::OkStatus();
    }
    o_.Note(key, absl::StrCat("there is no ", prefix, ".0.et; the traces are used with --program ", name_,
                              "=PREFIX"));
    return absl::OkStatus();
  }

  // Reads the list of algorithms under this project's names, one for each entry. `flat`: each algorithm runs
  // over the whole group ("oneRing").
  absl::Status Read(const JsonValue& v, std::vector<std::string>* algorithms, bool* flat) {
    static const std::map<std::string, std::string> kNames = {{"ring", "ring"},
                                                              {"oneRing", "ring"},
                                                              {"direct", "direct"},
                                                              {"oneDirect", "direct"},
                                                              {"halvingDoubling", "halving_doubling"},
                                                              {"oneHalvingDoubling", "halving_doubling"},
                                                              {"doubleBinaryTree", "double_binary_tree"}};
    if (!v.is(Kind::kArray) || v.items.empty())
      return o_.Wrong(key_, v, "a list of algorithms, one a dimension");
    if (v.items.size() > static_cast<size_t>(topology_.dimension_size())) {
      return o_.reader().Error(v.begin, absl::StrCat("key '", key_, "': ", v.items.size(), " entries for ",
                                                     topology_.dimension_size(), " network dimensions"));
    }
    for (const JsonValue& item : v.items) {
      // "direct" and "oneDirect" may carry a window: "direct4".
      const absl::string_view name = item.text;
      const size_t end = name.find_last_not_of("0123456789") + 1;
      const auto at = kNames.find(std::string(name.substr(0, end)));
      if (!item.is(Kind::kString) || at == kNames.end()) {
        std::vector<std::string> known;
        for (const auto& [astra, ours] : kNames) known.push_back(astra);
        return o_.reader().Error(item.begin,
                                 absl::StrCat("key '", key_, "': unknown algorithm ", o_.reader().Raw(item),
                                              SuggestName(std::string(name.substr(0, end)), known)));
      }
      *flat = *flat || absl::StartsWith(name, "one");
      algorithms->push_back(at->second);
      if (end == name.size()) continue;
      o_.Note(key_, absl::StrCat("'", item.text, "': the window of ", name.substr(end),
                                 " messages at a time is not carried over: all begin at once"));
    }
    return absl::OkStatus();
  }

  // Whether the list can be run here; if not, notes why, and what is run instead. Extends a list that is too
  // short.
  bool Carry(std::vector<std::string>* algorithms, bool flat) {
    const auto dimensions = static_cast<size_t>(topology_.dimension_size());
    const auto without = [&](absl::string_view why) {
      o_.Note(key_,
              absl::StrCat("not carried over: ", why, "; the default algorithm of ", name_, " is used"));
      return false;
    };
    const bool all_to_all = name_ == "all_to_all", all_reduce = name_ == "all_reduce";
    const std::string last = algorithms->back();
    if (std::count(algorithms->begin(), algorithms->end(), "double_binary_tree") > 0) {
      if (!all_reduce)
        return without("ASTRA-sim runs the all-reduce of a doubleBinaryTree for every collective");
      o_.Note(key_,
              "'doubleBinaryTree' is one tree over the whole group here, whose data is cut into pieces that "
              "follow each other; ASTRA-sim sends the data whole from level to level");
      *algorithms = {"double_binary_tree"};
      return true;
    }
    const bool halves = std::count(algorithms->begin(), algorithms->end(), "halving_doubling") > 0;
    if (halves && all_to_all) return without("ASTRA-sim has no all-to-all by halvingDoubling");
    if (flat) {
      const bool same = std::count(algorithms->begin(), algorithms->end(), last) ==
                        static_cast<std::ptrdiff_t>(algorithms->size());
      if (!same) return without("different algorithms that each run over the whole group");
      if (halves && !std::has_single_bit(static_cast<uint64_t>(devices_)))
        return without(absl::StrCat("halvingDoubling over ", devices_, " devices, not a power of two"));
      *algorithms = {last};
      if (dimensions > 1) {
        o_.Note(key_, absl::StrCat("one ", last,
                                   " over the whole group; in ASTRA-sim a message pays only for the first "
                                   "dimension in which its ends differ, here for all of these dimensions"));
      }
      return true;
    }
    if (algorithms->size() < dimensions) {
      o_.Note(key_,
              absl::StrCat(algorithms->size(), " entries for ", dimensions,
                           " dimensions: ASTRA-sim leaves the collective incomplete after the first; here "
                           "the others run ",
                           last));
      algorithms->resize(dimensions, last);
    }
    for (size_t d = 0; d < dimensions; ++d) {
      const int size = topology_.dimension(static_cast<int>(d)).size();
      if ((*algorithms)[d] == "halving_doubling" && !std::has_single_bit(static_cast<unsigned>(size)))
        return without(absl::StrCat("halvingDoubling over ", size, " devices, not a power of two"));
    }
    return true;
  }

  Options& o_;
  const proto::Topology& topology_;
  proto::Collectives& out_;
  int64_t devices_ = 1;
  // State of the collective that is being read.
  std::string key_, name_;
  bool custom_ = false;
};

absl::Status ReadSplits(Options* o, proto::Collectives* out) {
  const char* key = "preferred-dataset-splits";
  const JsonValue* v = o->Take(key);
  if (v == nullptr) {
    return o->reader().Error(o->root().begin,
                             absl::StrCat("no key '", key,
                                          "': ASTRA-sim's default of 0 divides by zero; write it, 4 "
                                          "for example; the object is"));
  }
  int64_t splits;
  if (!v->is(Kind::kNumber) || !v->ToInt64(&splits) || splits < 1 || splits > INT32_MAX) {
    return o->Wrong(key, *v, "a whole number, 1 or more (0 divides by zero in ASTRA-sim; 4 for example)");
  }
  out->set_splits(static_cast<int32_t>(splits));
  return absl::OkStatus();
}

absl::Status ReadActive(Options* o, proto::Collectives* out) {
  const char* key = "active-chunks-per-dimension";
  const JsonValue* v = o->Take(key);
  if (v == nullptr) return absl::OkStatus();
  int64_t active;
  if (!v->is(Kind::kNumber) || !v->ToInt64(&active) || active < 1 || active > INT32_MAX)
    return o->Wrong(key, *v, "a whole number, 1 or more");
  if (active > 1) out->set_splits_at_once(static_cast<int32_t>(std::min<int64_t>(active, out->splits())));
  return absl::OkStatus();
}

// Notes options of order. FIFO and LIFO need no note: they give chunks of one collective the same times.
void TakeScheduling(Options* o, int dimensions) {
  const JsonValue* policy = o->Take("scheduling-policy");
  if (policy != nullptr && policy->text != "LIFO" && policy->text != "FIFO") {
    o->Note("scheduling-policy",
            absl::StrCat(o->reader().Raw(*policy),
                         " is not carried over: calls are served in the order of arrival"));
  }
  const JsonValue* optimization = o->Take("collective-optimization");
  if (optimization == nullptr || optimization->text == "localBWAware" || dimensions == 1) return;
  o->Note("collective-optimization",
          absl::StrCat(
              o->reader().Raw(*optimization),
              " is not carried over: an all-reduce scatters over each dimension but the last, and gathers "
              "back, as with localBWAware"));
}

absl::Status ReadSystem(Options* o, proto::Cluster* cluster) {
  proto::Collectives* c = cluster->mutable_collectives();
  RETURN_IF_ERROR(ReadSplits(o, c));
  RETURN_IF_ERROR(ReadActive(o, c));
  double delay = 10, memory = 0, peak = 0, roofline = 0;
  bool has_delay = false, has_peak = false;
  for (const absl::Status& s : {o->TakeNumber("endpoint-delay", "ns", &delay, &has_delay),
                                o->TakeNumber("local-mem-bw", "GB/s", &memory),
                                o->TakeNumber("peak-perf", "TFLOPS", &peak, &has_peak),
                                o->TakeNumber("roofline-enabled", "a number", &roofline)}) {
    if (!s.ok()) return s;
  }
  c->set_step_overhead_ns(delay);
  if (!has_delay) o->Note("endpoint-delay", "absent; ASTRA-sim's default of 10 ns is used");
  c->set_reduce_gbytes_per_s(memory);
  cluster->mutable_device()->set_memory_gbytes_per_s(memory);
  if (has_peak && roofline != 0) {
    (*cluster->mutable_device()->mutable_peak_tflops())["bf16"] = peak;
    cluster->mutable_device()->set_default_dtype("bf16");
  } else if (has_peak) {
    o->Note("peak-perf", "not carried over: roofline-enabled is 0 or absent");
  }
  TakeScheduling(o, cluster->topology().dimension_size());
  std::vector<std::pair<std::string, std::string>> rest = {
      {"model-shared-bus", "there is no model of a shared bus"},
      {"L", "there is no model of a shared bus"},
      {"o", "there is no model of a shared bus"},
      {"g", "there is no model of a shared bus"},
      {"G", "there is no model of a shared bus"},
      {"local-reduction-delay", "it acts only with ASTRA-sim's shared bus"},
      {"replay-only", "choose with --compute and --comm"},
      {"trace-enabled", "write a timeline with --timeline"},
      {"track-local-mem", "memory use is not tracked"},
      {"local-mem-trace-filename", "memory use is not tracked"},
      {"per-node-custom-implementation", "a program is given for all nodes at once, with --program"},
      {"boost-mode", "ASTRA-sim does not read it either"},
      {"intra-dimension-scheduling", "ASTRA-sim does not read it either"},
      {"inter-dimension-scheduling", "ASTRA-sim does not read it either"},
  };
  Implementations implementations(o, cluster->topology(), c);
  for (const Implemented& collective : kImplemented) {
    RETURN_IF_ERROR(implementations.Take(collective));
  }
  o->NoteRest(rest);
  return absl::OkStatus();
}

absl::Status ReadMemory(Options* o, proto::RemoteMemory* out) {
  static const std::vector<std::string> kTypes = {"NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION",
                                                  "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL"};
  const JsonValue* type = o->Take("memory-type");
  if (type == nullptr) {
    return o->reader().Error(o->root().begin, absl::StrCat("no key 'memory-type'; expected one of ",
                                                           absl::StrJoin(kTypes, ", "), ";"));
  }
  const auto at = std::find(kTypes.begin(), kTypes.end(), type->text);
  if (!type->is(Kind::kString) || at == kTypes.end()) {
    return o->reader().Error(type->begin,
                             absl::StrCat("key 'memory-type': unknown value ", o->reader().Raw(*type),
                                          SuggestName(type->text, kTypes)));
  }
  out->set_kind(static_cast<proto::RemoteMemory::Kind>(at - kTypes.begin()));
  if (out->kind() == proto::RemoteMemory::NONE) {
    o->Note("memory-type",
            "NO_MEMORY_EXPANSION: memory nodes use the local bandwidth; ASTRA-sim stops at one");
  }
  double latency = 0, bandwidth = 0, per_node = 0, nodes = 0;
  for (const absl::Status& s : {o->TakeNumber("remote-mem-latency", "ns", &latency),
                                o->TakeNumber("remote-mem-bw", "GB/s", &bandwidth),
                                o->TakeNumber("num-npus-per-node", "a number", &per_node),
                                o->TakeNumber("num-nodes", "a number", &nodes)}) {
    if (!s.ok()) return s;
  }
  if (out->kind() != proto::RemoteMemory::NONE && bandwidth <= 0) {
    return o->reader().Error(o->root().begin, "key 'remote-mem-bw': expected GB/s, above 0; the object is");
  }
  if (out->kind() == proto::RemoteMemory::PER_NODE &&
      (per_node < 1 || per_node != std::trunc(per_node) || per_node > INT32_MAX)) {
    return o->reader().Error(o->root().begin,
                             "key 'num-npus-per-node': expected a whole number, 1 or more; the object is");
  }
  out->set_latency_ns(latency);
  out->set_bandwidth_gbytes_per_s(bandwidth);
  if (out->kind() == proto::RemoteMemory::PER_NODE) out->set_ranks_per_node(static_cast<int32_t>(per_node));
  if (nodes != 0) o->Note("num-nodes", "not carried over: it follows from the ranks and num-npus-per-node");
  o->NoteRest({});
  return absl::OkStatus();
}

absl::Status CheckGroups(Options* o, int64_t devices) {
  for (const JsonMember& m : o->root().members) {
    if (!m.value.is(Kind::kArray) || m.value.items.empty())
      return o->Wrong(m.key, m.value, "a list of ranks");
    std::set<int64_t> seen;
    for (const JsonValue& item : m.value.items) {
      int64_t rank;
      if (!item.is(Kind::kNumber) || !item.ToInt64(&rank) || rank < 0 || rank >= devices) {
        return o->Wrong(
            m.key, item,
            absl::StrCat("a rank from 0 to ", devices - 1, " (the network has ", devices, " devices)"));
      }
      if (!seen.insert(rank).second) return o->Wrong(m.key, item, "each rank once");
    }
  }
  o->Note("groups", absl::StrCat(o->root().members.size(),
                                 " process groups are not part of a cluster; give the "
                                 "file to the replay with --groups"));
  return absl::OkStatus();
}

template <typename F>
absl::Status WithOptions(const std::string& path, std::vector<std::string>* notes, F use) {
  if (path.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::string content, ReadFile(path));
  Options options(path, std::move(content), notes);
  RETURN_IF_ERROR(options.Parse());
  return use(&options);
}

}  // namespace

absl::StatusOr<AstraSimResult> ClusterFromAstraSim(const AstraSimInputs& in) {
  if (in.network_yaml.empty()) {
    return absl::InvalidArgumentError(
        "no network file: expected ASTRA-sim's network YAML (topology, npus_count, "
        "bandwidth, latency)");
  }
  AstraSimResult result;
  proto::Cluster* cluster = &result.cluster;
  ASSIGN_OR_RETURN(const std::string network, ReadFile(in.network_yaml));
  RETURN_IF_ERROR(ReadAstraSimNetwork(network, in.network_yaml, cluster));
  int64_t devices = 1;
  for (const proto::Dimension& d : cluster->topology().dimension()) {
    devices *= d.size();
    if (devices > INT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat(in.network_yaml, ": key 'npus_count': more than ", INT32_MAX, " devices in all"));
    }
  }
  cluster->set_name(Stem(in.network_yaml));
  std::vector<std::string> files = {BaseName(in.network_yaml)};
  for (const std::string& path : {in.system_json, in.memory_json}) {
    if (!path.empty()) files.push_back(BaseName(path));
  }
  cluster->set_source(absl::StrCat("converted from ASTRA-sim: ", absl::StrJoin(files, ", ")));
  absl::Status s =
      WithOptions(in.system_json, &result.notes, [&](Options* o) { return ReadSystem(o, cluster); });
  if (s.ok()) {
    s = WithOptions(in.memory_json, &result.notes,
                    [&](Options* o) { return ReadMemory(o, cluster->mutable_remote_memory()); });
  }
  if (s.ok())
    s = WithOptions(in.groups_json, &result.notes, [&](Options* o) { return CheckGroups(o, devices); });
  if (!s.ok()) return s;
  return result;
}

}  // namespace chakra
