#include "replay/compare/frames.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/import/locate.h"
#include "trace/model/attribute.h"

namespace chakra {
namespace {

constexpr size_t kValueWidth = 60;

using AttributeValue = const ChakraProtoMsg::AttributeProto*;  // null: absent
using Attributes = std::map<std::string, AttributeValue>;

template <typename Message>
Attributes ByKey(const Message& message) {
  Attributes out;
  for (const ChakraProtoMsg::AttributeProto& a : message.attr()) out.emplace(a.name(), &a);
  return out;
}

std::string ValueText(AttributeValue attribute) {
  if (attribute == nullptr) return "";
  ChakraProtoMsg::AttributeProto value = *attribute;
  value.clear_name();
  value.clear_doc_string();
  return Shorten(value.ShortDebugString(), kValueWidth, "(empty)");
}

// Calls differ(key, a, b) for each key whose attributes differ; an absent attribute is null.
template <typename Differ>
void CompareAttributes(const Attributes& a, const Attributes& b, const Differ& differ) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const int order = x == a.end() ? 1 : y == b.end() ? -1 : x->first.compare(y->first);
    if (order < 0) {
      differ(x->first, x->second, nullptr);
    } else if (order > 0) {
      differ(y->first, nullptr, y->second);
    } else if (x->second->SerializeAsString() != y->second->SerializeAsString()) {
      differ(x->first, x->second, y->second);
    }
    if (order <= 0) ++x;
    if (order >= 0) ++y;
  }
}

// Compares attributes and values of two nodes that CompareGraphs() does not compare. Returns whether they
// differ.
bool CompareNode(const ChakraProtoMsg::Node& a, const ChakraProtoMsg::Node& b, uint32_t row,
                 std::vector<NodeDifference>* out) {
  bool differs = false;
  const auto differ = [&](const std::string& name, const std::string& x, const std::string& y) {
    AddDifference(name, 1, row, x, y, out);
    differs = true;
  };
  CompareAttributes(ByKey(a), ByKey(b), [&](const std::string& key, AttributeValue x, AttributeValue y) {
    if (FindAttributeKey(key) == AttributeKey::kOther) {
      differ(absl::StrCat("attr.", key), ValueText(x), ValueText(y));
    }
  });
  if (a.inputs().values() != b.inputs().values()) {
    differ("inputs.values", Shorten(a.inputs().values(), kValueWidth, ""),
           Shorten(b.inputs().values(), kValueWidth, ""));
  }
  if (a.outputs().SerializeAsString() != b.outputs().SerializeAsString()) {
    differ("outputs", Shorten(a.outputs().ShortDebugString(), kValueWidth, ""),
           Shorten(b.outputs().ShortDebugString(), kValueWidth, ""));
  }
  return differs;
}

absl::Status ParseFrame(const RankTrace& trace, uint32_t row, ChakraProtoMsg::Node* out) {
  const absl::string_view frame = trace.raw->frame(row + 1);
  if (out->ParseFromArray(frame.data(), static_cast<int>(frame.size()))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      DescribeNode(trace, row), ": the frame is not a Node message, such as for text that is not UTF-8"));
}

}  // namespace

absl::Status CompareFrames(const RankTrace& a, const RankTrace& b, const NodePairs& pairs,
                           std::vector<NodeDifference>* differences, std::vector<uint8_t>* changed) {
  for (const RankTrace* trace : {&a, &b}) {
    if (trace->raw == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(trace->file, ": rank ", trace->rank, ": its frames were not kept"));
    }
  }
  ChakraProtoMsg::Node of_a, of_b;
  for (uint32_t row = 0; row < a.graph->size(); ++row) {
    const uint32_t other = pairs.identical ? row : pairs.b_of_a[row];
    if (other == kNoRow || a.raw->frame(row + 1) == b.raw->frame(other + 1)) continue;
    RETURN_IF_ERROR(ParseFrame(a, row, &of_a));
    RETURN_IF_ERROR(ParseFrame(b, other, &of_b));
    if (CompareNode(of_a, of_b, row, differences)) (*changed)[row] = 1;
  }
  return absl::OkStatus();
}

void CompareMetadata(const TraceSet& a, const TraceSet& b, proto::Comparison* out) {
  std::set<std::string> seen;
  const size_t ranks = std::min(a.ranks.size(), b.ranks.size());
  for (size_t r = 0; r < ranks; ++r) {
    if (a.ranks[r].metadata == b.ranks[r].metadata) continue;
    ChakraProtoMsg::GlobalMetadata of_a, of_b;
    // Parsing can fail only for text that is not UTF-8, which is kept: the reader decoded these metadata
    // before.
    of_a.ParseFromString(a.ranks[r].metadata);
    of_b.ParseFromString(b.ranks[r].metadata);
    const auto add = [&](const std::string& name, const std::string& x, const std::string& y) {
      if (!seen.insert(name).second) return;
      proto::TextChange* text = out->add_setting();
      text->set_name(ranks > 1 ? absl::StrCat(name, " (rank ", r, ")") : name);
      text->set_a(x);
      text->set_b(y);
    };
    if (of_a.version() != of_b.version()) add("schema version", of_a.version(), of_b.version());
    CompareAttributes(ByKey(of_a), ByKey(of_b),
                      [&](const std::string& key, AttributeValue x, AttributeValue y) {
                        add(absl::StrCat("metadata ", key), ValueText(x), ValueText(y));
                      });
  }
}

}  // namespace chakra
