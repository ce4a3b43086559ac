// Faults as the command line writes them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/spec.h"
#include "replay/cluster/faults.h"
#include "trace/base/spelling.h"

namespace chakra {
namespace {

using proto::LinkFault;

struct TextKey {
  const char* key;
  void (*set)(LinkFault*, const std::string&);
};

constexpr TextKey kTexts[] = {
    {"class", [](LinkFault* f, const std::string& v) { f->set_link_class(v); }},
    {"from", [](LinkFault* f, const std::string& v) { f->set_from(v); }},
    {"to", [](LinkFault* f, const std::string& v) { f->set_to(v); }},
    {"vertex", [](LinkFault* f, const std::string& v) { f->set_vertex(v); }},
};

struct NumberKey {
  const char* key;
  bool whole;
  void (*set)(LinkFault*, double);
};

constexpr NumberKey kNumbers[] = {
    {"bandwidth", false, [](LinkFault* f, double v) { f->set_bandwidth(v); }},
    {"copy", true, [](LinkFault* f, double v) { f->set_copy(static_cast<int>(v)); }},
    {"device", true, [](LinkFault* f, double v) { f->set_device(static_cast<int>(v)); }},
    {"dimension", true, [](LinkFault* f, double v) { f->set_dimension(static_cast<int>(v)); }},
    {"loss", false, [](LinkFault* f, double v) { f->set_loss(v); }},
    {"seed", true, [](LinkFault* f, double v) { f->set_seed(static_cast<uint64_t>(v)); }},
    {"share", false, [](LinkFault* f, double v) { f->set_share(v); }},
};

struct TimeKey {
  const char* key;
  void (*set)(LinkFault*, double micros);
};

constexpr TimeKey kTimes[] = {
    {"after", [](LinkFault* f, double v) { f->set_after_us(v); }},
    {"until", [](LinkFault* f, double v) { f->set_until_us(v); }},
};

absl::Status UnknownKey(const std::string& key) {
  std::vector<std::string> known;
  for (const TimeKey& k : kTimes) known.emplace_back(k.key);
  for (const TextKey& k : kTexts) known.emplace_back(k.key);
  for (const NumberKey& k : kNumbers) known.emplace_back(k.key);
  return absl::InvalidArgumentError(absl::StrCat("unknown key \"", key, "\"", SuggestName(key, known)));
}

absl::StatusOr<double> ParseNumber(const NumberKey& key, const std::string& value) {
  double v = 0;
  if (!absl::SimpleAtod(value, &v) || !std::isfinite(v) ||
      (key.whole && (v != std::floor(v) || v < 0 || v > 1 << 24))) {
    return absl::InvalidArgumentError(absl::StrCat(key.key, " is \"", value, "\"; expected a ",
                                                   key.whole ? "whole number >= 0" : "number"));
  }
  return v;
}

absl::Status SetKey(const std::string& key, const std::string& value, LinkFault* f) {
  for (const TextKey& k : kTexts) {
    if (key != k.key) continue;
    k.set(f, value);
    return absl::OkStatus();
  }
  for (const NumberKey& k : kNumbers) {
    if (key != k.key) continue;
    const absl::StatusOr<double> v = ParseNumber(k, value);
    if (v.ok()) k.set(f, *v);
    return v.status();
  }
  for (const TimeKey& k : kTimes) {
    if (key != k.key) continue;
    const auto t = ParseTime(value);
    if (!t.ok()) return absl::InvalidArgumentError(absl::StrCat(key, " is ", t.status().message()));
    k.set(f, static_cast<double>(t->picos()) / 1e6);
    return absl::OkStatus();
  }
  return UnknownKey(key);
}

// What a kind must say, and must not.
absl::Status CheckKind(const std::string& kind, const LinkFault& f) {
  const char* wrong = nullptr;
  if (kind == "slow" && !f.has_bandwidth()) {
    wrong = "no bandwidth; expected the share that is left, as bandwidth=0.5";
  } else if (kind == "lossy" && !f.has_loss()) {
    wrong = "no loss; expected the share of packets that are lost, as loss=0.01";
  } else if (kind == "down" && (f.has_bandwidth() || f.has_loss())) {
    wrong = "bandwidth and loss are for slow and lossy";
  }
  return wrong == nullptr ? absl::OkStatus() : absl::InvalidArgumentError(wrong);
}

absl::Status Parse(const std::string& text, LinkFault* f) {
  const auto spec = ParseNetworkSpec(text);
  if (!spec.ok()) return spec.status();
  const std::vector<std::string> kinds = {"down", "slow", "lossy"};
  if (std::find(kinds.begin(), kinds.end(), spec->name) == kinds.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no kind \"", spec->name, "\"", SuggestName(spec->name, kinds)));
  }
  for (const auto& [key, value] : spec->set) {
    if (absl::Status s = SetKey(key, value, f); !s.ok()) return s;
  }
  return CheckKind(spec->name, *f);
}

}  // namespace

absl::Status AddFault(const std::string& text, proto::Topology* topology) {
  LinkFault fault;
  // The last dimension is what joins nodes.
  fault.set_dimension(topology->dimension_size() - 1);
  fault.set_label(absl::StrCat("--fault \"", text, "\""));
  if (absl::Status s = Parse(text, &fault); !s.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(fault.label(), ": ", s.message()));
  }
  *topology->add_fault() = fault;
  return absl::OkStatus();
}

}  // namespace chakra
