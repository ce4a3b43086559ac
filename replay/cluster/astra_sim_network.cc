#include "replay/cluster/astra_sim_network.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr double kGiB = 1073741824.0;

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
      RETURN_IF_ERROR(ReadDimension(lists, i, cluster->mutable_topology()->add_dimension()));
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
    RETURN_IF_ERROR(Scalar(node, key, what, &text));
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
    RETURN_IF_ERROR(Scalar(kind, "topology", "a kind", &text));
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
    RETURN_IF_ERROR(Scalar(count, "npus_count", "a number of devices", &text));
    if (!absl::SimpleAtoi(text, &size) || size < 2) {
      return Error(count.Mark(),
                   absl::StrCat("key 'npus_count': expected a whole number above 1, found '", text, "'"));
    }
    d->set_size(size);

    const YAML::Node bandwidth = lists.at("bandwidth")[i];
    double gb, ns;
    RETURN_IF_ERROR(Number(bandwidth, "bandwidth", "GB/s, above 0", &gb));
    const double bytes = std::round(gb * kGiB);
    if (bytes < 1 || bytes >= 9.2e18) {
      return Error(bandwidth.Mark(),
                   absl::StrCat("key 'bandwidth': expected GB/s, above 0 and below 8.5e9, found '",
                                bandwidth.Scalar(), "'"));
    }
    d->set_bandwidth_bytes_per_s(static_cast<int64_t>(bytes));
    d->set_bandwidth_gbytes_per_s(bytes / 1e9);
    RETURN_IF_ERROR(Number(lists.at("latency")[i], "latency", "ns, 0 or more", &ns));
    d->set_latency_ns(ns);
    return absl::OkStatus();
  }

  const std::string& file_;
};

}  // namespace

absl::Status ReadAstraSimNetwork(const std::string& content, const std::string& file,
                                 proto::Cluster* cluster) {
  return NetworkReader(file).Read(content, cluster);
}

}  // namespace chakra
