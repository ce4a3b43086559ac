#include "replay/cluster/astra_sim.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/spelling.h"
#include "trace/io/file.h"
#include "trace/io/json_value.h"

namespace chakra {
namespace {

using Kind = JsonValue::Kind;

constexpr double kGiB = 1073741824.0;

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Stem(const std::string& path) {
  const std::string base = BaseName(path);
  const size_t dot = base.rfind('.');
  return dot == std::string::npos || dot == 0 ? base : base.substr(0, dot);
}

// ---- network YAML ----

class NetworkReader {
 public:
  explicit NetworkReader(const std::string& file) : file_(file) {}

  absl::Status Read(const std::string& content, proto::Cluster* cluster) {
    try {
      return ReadRoot(YAML::Load(content), cluster);
    } catch (const YAML::Exception& e) {
      return Error(e.mark, absl::StrCat("YAML: ", e.msg));
    }
  }

 private:
  absl::Status Error(const YAML::Mark& mark, absl::string_view what) const {
    if (mark.is_null()) return absl::InvalidArgumentError(absl::StrCat(what, " at ", file_));
    return absl::InvalidArgumentError(
        absl::StrCat(what, " at ", file_, ":", mark.line + 1, ":", mark.column + 1));
  }

  absl::Status ReadRoot(const YAML::Node& root, proto::Cluster* cluster) {
    static const std::vector<std::string> kKeys = {"topology", "npus_count", "bandwidth", "latency"};
    const std::string expected =
        absl::StrCat("the lists ", absl::StrJoin(kKeys, ", "), " of an ASTRA-sim network");
    if (!root.IsMap()) return Error(root.Mark(), absl::StrCat("expected ", expected));
    std::map<std::string, YAML::Node> lists;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar()) return Error(entry.first.Mark(), absl::StrCat("expected ", expected));
      const std::string key = entry.first.Scalar();
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
        const std::string nearest = NearestName(key, kKeys);
        return Error(entry.first.Mark(),
                     absl::StrCat("unknown key '", key, "'",
                                  nearest.empty() ? "" : absl::StrCat(" (did you mean '", nearest, "'?)"),
                                  "; known: ", absl::StrJoin(kKeys, ", "), ";"));
      }
      if (!lists.emplace(key, entry.second).second) {
        return Error(entry.first.Mark(), absl::StrCat("duplicate key '", key, "'"));
      }
      if (!entry.second.IsSequence() || entry.second.size() == 0) {
        return Error(entry.second.Mark(),
                     absl::StrCat("key '", key, "': expected a list, one entry a dimension,"));
      }
    }
    for (const std::string& key : kKeys) {
      if (lists.count(key) == 0)
        return Error(root.Mark(), absl::StrCat("no key '", key, "'; expected ", expected));
      if (lists[key].size() != lists["topology"].size()) {
        return Error(lists[key].Mark(),
                     absl::StrCat("key '", key, "' has ", lists[key].size(), " entries, 'topology' ",
                                  lists["topology"].size(), "; expected as many"));
      }
    }
    for (size_t i = 0; i < lists["topology"].size(); ++i) {
      if (absl::Status s = ReadDimension(lists, i, cluster->mutable_topology()->add_dimension()); !s.ok())
        return s;
    }
    return absl::OkStatus();
  }

  absl::Status Scalar(const YAML::Node& node, const std::string& key, absl::string_view what,
                      std::string* out) const {
    if (!node.IsScalar()) return Error(node.Mark(), absl::StrCat("key '", key, "': expected ", what));
    *out = node.Scalar();
    return absl::OkStatus();
  }

  absl::Status Number(const YAML::Node& node, const std::string& key, absl::string_view what,
                      double* out) const {
    std::string text;
    if (absl::Status s = Scalar(node, key, what, &text); !s.ok()) return s;
    if (!absl::SimpleAtod(text, out) || !std::isfinite(*out) || *out < 0) {
      return Error(node.Mark(), absl::StrCat("key '", key, "': expected ", what, ", found '", text, "'"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadDimension(const std::map<std::string, YAML::Node>& lists, size_t i,
                             proto::Dimension* d) const {
    static const std::vector<std::string> kKinds = {"Ring", "FullyConnected", "Switch"};
    std::string text;
    const YAML::Node kind = lists.at("topology")[i];
    if (absl::Status s = Scalar(kind, "topology", "a kind", &text); !s.ok()) return s;
    const auto at = std::find(kKinds.begin(), kKinds.end(), text);
    if (at == kKinds.end()) {
      const std::string nearest = NearestName(text, kKinds);
      return Error(kind.Mark(),
                   absl::StrCat("key 'topology': unknown kind '", text, "'",
                                nearest.empty() ? "" : absl::StrCat(" (did you mean '", nearest, "'?)"),
                                "; known: ", absl::StrJoin(kKinds, ", "), ";"));
    }
    d->set_kind(static_cast<proto::Dimension::Kind>(proto::Dimension::RING + (at - kKinds.begin())));

    const YAML::Node count = lists.at("npus_count")[i];
    int32_t size;
    if (absl::Status s = Scalar(count, "npus_count", "a number of devices", &text); !s.ok()) return s;
    if (!absl::SimpleAtoi(text, &size) || size < 2) {
      return Error(count.Mark(),
                   absl::StrCat("key 'npus_count': expected a whole number above 1, found '", text, "'"));
    }
    d->set_size(size);

    const YAML::Node bandwidth = lists.at("bandwidth")[i];
    double gb, ns;
    if (absl::Status s = Number(bandwidth, "bandwidth", "GB/s, above 0", &gb); !s.ok()) return s;
    const double bytes = std::round(gb * kGiB);
    if (bytes < 1 || bytes >= 9.2e18) {
      return Error(bandwidth.Mark(),
                   absl::StrCat("key 'bandwidth': expected GB/s, above 0 and below 8.5e9, found '",
                                bandwidth.Scalar(), "'"));
    }
    d->set_bandwidth_bytes_per_s(static_cast<int64_t>(bytes));
    d->set_bandwidth_gbytes_per_s(bytes / 1e9);
    if (absl::Status s = Number(lists.at("latency")[i], "latency", "ns, 0 or more", &ns); !s.ok()) return s;
    d->set_latency_ns(ns);
    return absl::OkStatus();
  }

  const std::string& file_;
};

// ---- system, memory and groups JSON ----

// A JSON object whose keys are taken one by one; what is left is named.
class Options {
 public:
  Options(const std::string& file, std::string content, std::vector<std::string>* notes)
      : file_(file), content_(std::move(content)), reader_(content_, file_), notes_(notes) {}

  absl::Status Parse() {
    absl::StatusOr<JsonValue> v = ParseJson(content_, file_);
    if (!v.ok()) return v.status();
    if (!v->is(Kind::kObject))
      return reader_.Error(v->begin, absl::StrCat("expected an object, found ", Name(v->kind)));
    root_ = *std::move(v);
    return absl::OkStatus();
  }

  const JsonValue& root() const { return root_; }
  const JsonReader& reader() const { return reader_; }
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

  // A finite number >= 0; untouched when the key is absent.
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

  // Notes each key that nobody took.
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

// One of the four `*-implementation` lists.
absl::Status TakeAlgorithm(Options* o, const std::string& option, const std::string& collective,
                           int dimensions, proto::Collectives* out) {
  static const std::vector<std::string> kNames = {
      "ring", "oneRing", "direct", "oneDirect", "halvingDoubling", "oneHalvingDoubling", "doubleBinaryTree"};
  const std::string key = option + "-implementation";
  const JsonValue* v = o->Take(key);
  if (v == nullptr) return absl::OkStatus();
  if (!v->is(Kind::kArray) || v->items.empty())
    return o->Wrong(key, *v, "a list of algorithms, one a dimension");
  if (static_cast<int>(v->items.size()) > dimensions) {
    return o->reader().Error(v->begin, absl::StrCat("key '", key, "': ", v->items.size(), " entries for ",
                                                    dimensions, " network dimensions"));
  }
  bool ring = true;
  std::vector<std::string> written;
  for (const JsonValue& item : v->items) {
    // "direct" and "oneDirect" may carry a window: "direct4".
    const absl::string_view name = item.text;
    const size_t end = name.find_last_not_of("0123456789");
    const std::string bare(name.substr(0, end == absl::string_view::npos ? 0 : end + 1));
    if (!item.is(Kind::kString) || std::find(kNames.begin(), kNames.end(), bare) == kNames.end()) {
      return o->reader().Error(item.begin, absl::StrCat("key '", key, "': unknown algorithm ",
                                                        o->reader().Raw(item), SuggestName(bare, kNames)));
    }
    ring = ring && (bare == "ring" || bare == "oneRing");
    written.push_back(item.text);
  }
  const std::string text = absl::StrJoin(written, ", ");
  if (ring && collective != "all_to_all") {
    (*out->mutable_algorithm())[collective] = "ring";
    if (dimensions > 1) {
      o->Note(key, absl::StrCat("'", text,
                                "' is carried over as one ring over the whole group; ASTRA-sim runs one "
                                "dimension after another"));
    }
  } else {
    o->Note(key, absl::StrCat("'", text, "' has no counterpart; the default algorithm of ", collective,
                              " is used"));
  }
  return absl::OkStatus();
}

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

absl::Status ReadSystem(Options* o, proto::Cluster* cluster) {
  proto::Collectives* c = cluster->mutable_collectives();
  if (absl::Status s = ReadSplits(o, c); !s.ok()) return s;
  double delay = 10, memory = 0, peak = 0, roofline = 0, active = 1;
  bool has_delay = false, has_peak = false;
  for (const absl::Status& s : {o->TakeNumber("endpoint-delay", "ns", &delay, &has_delay),
                                o->TakeNumber("local-mem-bw", "GB/s", &memory),
                                o->TakeNumber("peak-perf", "TFLOPS", &peak, &has_peak),
                                o->TakeNumber("roofline-enabled", "a number", &roofline),
                                o->TakeNumber("active-chunks-per-dimension", "a number", &active)}) {
    if (!s.ok()) return s;
  }
  c->set_step_overhead_ns(delay);
  if (!has_delay) o->Note("endpoint-delay", "absent; ASTRA-sim's default of 10 ns is taken");
  c->set_reduce_gbytes_per_s(memory);
  cluster->mutable_device()->set_memory_gbytes_per_s(memory);
  if (has_peak && roofline != 0) {
    (*cluster->mutable_device()->mutable_peak_tflops())["bf16"] = peak;
    cluster->mutable_device()->set_default_dtype("bf16");
  } else if (has_peak) {
    o->Note("peak-perf", "not carried over: roofline-enabled is 0 or absent");
  }
  if (active != 1) {
    o->Note("active-chunks-per-dimension",
            absl::StrCat(active, " is not carried over: the parts of a collective run one after another"));
  }
  const int dimensions = cluster->topology().dimension_size();
  static constexpr const char* kCollectives[][2] = {{"all-reduce", "all_reduce"},
                                                    {"all-gather", "all_gather"},
                                                    {"reduce-scatter", "reduce_scatter"},
                                                    {"all-to-all", "all_to_all"}};
  std::vector<std::pair<std::string, std::string>> rest = {
      {"scheduling-policy", "collectives of a rank start in the order in which they become ready"},
      {"collective-optimization", "there is no reordering of dimensions"},
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
      {"per-node-custom-implementation", "custom collectives are not carried over"},
      {"boost-mode", "ASTRA-sim does not read it either"},
      {"intra-dimension-scheduling", "ASTRA-sim does not read it either"},
      {"inter-dimension-scheduling", "ASTRA-sim does not read it either"},
  };
  for (const auto& [option, collective] : kCollectives) {
    if (absl::Status s = TakeAlgorithm(o, option, collective, dimensions, c); !s.ok()) return s;
    rest.emplace_back(absl::StrCat(option, "-implementation-custom"),
                      "custom collectives have no counterpart");
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
                                 " communicator groups are no part of a cluster; give the "
                                 "file to the replay with --groups"));
  return absl::OkStatus();
}

template <typename F>
absl::Status WithOptions(const std::string& path, std::vector<std::string>* notes, F use) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> content = ReadFile(path);
  if (!content.ok()) return content.status();
  Options options(path, *std::move(content), notes);
  if (absl::Status s = options.Parse(); !s.ok()) return s;
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
  const absl::StatusOr<std::string> network = ReadFile(in.network_yaml);
  if (!network.ok()) return network.status();
  if (absl::Status s = NetworkReader(in.network_yaml).Read(*network, cluster); !s.ok()) return s;
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
