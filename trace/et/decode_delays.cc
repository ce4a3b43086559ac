// Decodes the attributes about a node's dependencies: delays, their causes, and when each dependency releases
// the node.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/et/decode.h"
#include "trace/model/node_fields.h"

namespace chakra {
namespace {


}  // namespace

bool Decoder::SetDelays(AttributeKey key, const Attribute& a, Node* node) {
  std::vector<int64_t> values;
  bool good = ToIntegers(a, &values);
  for (const int64_t d : values) good = good && d >= 0 && d <= kMaxPicos / 1000;
  if (!good) {
    return Fail(a.value.at, node, absl::StrCat("attribute ", a.name),
                absl::StrCat("expected a list of nanoseconds, 0 or more, found ", ValueKind(a.value.number)));
  }
  node->has_delays = node->has_delays || key == AttributeKey::kDepDelays;
  ValuesOfRows& to = key == AttributeKey::kDepDelays ? delays_ : unexplained_;
  to.rows.push_back({static_cast<uint32_t>(g_.id.size()), to.values.size()});
  to.values.insert(to.values.end(), values.begin(), values.end());
  return true;
}

bool Decoder::SetReleases(const Attribute& a, Node* node) {
  std::vector<int64_t> values;
  bool good = ToIntegers(a, &values);
  for (const int64_t v : values) good = good && v >= 0 && v <= kReleaseAtEnd;
  if (!good) {
    return Fail(
        a.value.at, node, "attribute dep_release",
        absl::StrCat("expected a list of integers from 0 (released at the begin of the dependency) to ",
                     kReleaseAtEnd, " (at its end), found ", ValueKind(a.value.number)));
  }
  releases_.rows.push_back({static_cast<uint32_t>(g_.id.size()), releases_.values.size()});
  releases_.values.insert(releases_.values.end(), values.begin(), values.end());
  return true;
}

bool Decoder::SetKinds(const Attribute& a, Node* node) {
  if (a.value.number != static_cast<uint32_t>(ValueField::kString)) {
    return Fail(a.value.at, node, "attribute dep_kinds",
                absl::StrCat("expected text, found ", ValueKind(a.value.number)));
  }
  node->kinds = a.value.text();
  node->kinds_at = a.value.at;
  return true;
}

// Appends the causes of the node's delays: from dep_kinds for data dependencies, kOther for the others.
bool Decoder::AddDelayCauses(const Node& node) {
  if (!node.has_delays) return true;
  const uint64_t data = data_.size() - data_begin_.back();
  if (node.kinds_at != nullptr) {
    const auto commas = static_cast<uint64_t>(std::count(node.kinds.begin(), node.kinds.end(), ','));
    if (commas + 1 != std::max<uint64_t>(1, data)) {
      return Fail(node.kinds_at, &node, "attribute dep_kinds",
                  absl::StrCat(commas + 1, " kinds, expected one for each of the ", data, " data_deps"));
    }
    absl::string_view left = node.kinds;
    for (uint64_t i = 0; i < data; ++i) {
      const size_t comma = std::min(left.find(','), left.size());
      causes_.push_back(CauseOfKind(left.substr(0, comma)));
      left.remove_prefix(std::min(comma + 1, left.size()));
    }
  }
  causes_.resize(delays_.values.size(), DelayCause::kOther);
  return true;
}

}  // namespace chakra
