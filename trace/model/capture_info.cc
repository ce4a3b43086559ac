#include "trace/model/capture_info.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/status_macros.h"
#include "trace/model/attribute.h"

namespace chakra {
namespace {

using ChakraProtoMsg::AttributeProto;

constexpr char kCapture[] = "capture";
// The possible values of `capture`: the formats whose captures have these attributes.
constexpr absl::string_view kLogs = "collective_logs";
constexpr absl::string_view kCaptures[] = {"pytorch", kLogs};
constexpr int64_t kMostNanos = std::numeric_limits<int64_t>::max() / 1000;

class Reader {
 public:
  explicit Reader(const RankTrace& trace) : trace_(trace), graph_(*trace.graph) {}

  absl::StatusOr<std::optional<CaptureInfo>> Run() {
    // Most traces are not captures: do not parse their metadata.
    if (trace_.metadata.find(kCapture) == std::string::npos) return std::optional<CaptureInfo>();
    if (!metadata_.ParseFromString(trace_.metadata)) {
      return absl::InvalidArgumentError(
          absl::StrCat(trace_.file, ": metadata: expected a GlobalMetadata message"));
    }
    const AttributeProto* capture = nullptr;
    for (const AttributeProto& a : metadata_.attr()) {
      if (a.name() == kCapture) capture = &a;
    }
    if (capture == nullptr ||
        std::find(std::begin(kCaptures), std::end(kCaptures), capture->string_val()) == std::end(kCaptures))
      return std::optional<CaptureInfo>();
    capture_ = capture->string_val();
    CaptureInfo info;
    info.calls_alone = capture_ == kLogs;
    int64_t rank = 0, window = 0;
    RETURN_IF_ERROR(Integer("rank", std::numeric_limits<int>::max(), &rank));
    RETURN_IF_ERROR(Integer("window_end_ns", kMostNanos, &window));
    info.rank = static_cast<int>(rank);
    info.window_end = Time::Nanos(window);
    const AttributeProto* device = nullptr;
    RETURN_IF_ERROR(Find("device", &device));
    if (device != nullptr) {
      if (!device->has_string_val()) return Bad("device", "expected a string");
      info.device = device->string_val();
    }
    RETURN_IF_ERROR(Bytes("peak_allocated_bytes", &info.peak_allocated_bytes));
    RETURN_IF_ERROR(Bytes("peak_reserved_bytes", &info.peak_reserved_bytes));
    RETURN_IF_ERROR(Steps(&info));
    return std::optional<CaptureInfo>(std::move(info));
  }

 private:
  absl::Status Bad(absl::string_view field, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(trace_.file, ": metadata attribute ", field, ": ", what,
                                                   " (the trace says capture: ", capture_, ")"));
  }

  // Sets *found to null if the attribute is absent.
  absl::Status Find(absl::string_view name, const AttributeProto** found) const {
    *found = nullptr;
    for (const AttributeProto& a : metadata_.attr()) {
      if (a.name() != name) continue;
      if (*found != nullptr) return Bad(name, "given twice; expected once");
      *found = &a;
    }
    return absl::OkStatus();
  }

  static absl::string_view KindOf(const std::string& bytes, Attribute* out) {
    const uint8_t* at = nullptr;
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    const char* wrong = ReadAttribute({begin, begin + bytes.size()}, out, &at);
    return wrong == nullptr ? "" : wrong;
  }

  absl::Status Integer(absl::string_view name, int64_t most, int64_t* out) const {
    const AttributeProto* attr = nullptr;
    RETURN_IF_ERROR(Find(name, &attr));
    if (attr == nullptr) return Bad(name, "missing; expected an integer");
    const std::string bytes = attr->SerializeAsString();
    Attribute a;
    __int128 v = 0;
    if (!KindOf(bytes, &a).empty() || !ToInteger(a, &v)) {
      return Bad(name, absl::StrCat(ValueKind(a.value.number), ", expected an integer"));
    }
    if (v < 0 || v > most) return Bad(name, absl::StrCat("out of range, expected 0 to ", most));
    *out = static_cast<int64_t>(v);
    return absl::OkStatus();
  }

  // Sets *out to 0 if the attribute is absent.
  absl::Status Bytes(absl::string_view name, uint64_t* out) const {
    const AttributeProto* attr = nullptr;
    if (absl::Status s = Find(name, &attr); !s.ok() || attr == nullptr) return s;
    int64_t bytes = 0;
    RETURN_IF_ERROR(Integer(name, std::numeric_limits<int64_t>::max(), &bytes));
    *out = static_cast<uint64_t>(bytes);
    return absl::OkStatus();
  }

  // Reads a list of node ids as rows.
  absl::Status Rows(absl::string_view name, int count, std::vector<uint32_t>* rows) {
    const AttributeProto* attr = nullptr;
    RETURN_IF_ERROR(Find(name, &attr));
    std::vector<int64_t> ids;
    if (attr != nullptr) {
      const std::string bytes = attr->SerializeAsString();
      Attribute a;
      if (!KindOf(bytes, &a).empty() || !ToIntegers(a, &ids)) {
        return Bad(name, absl::StrCat(ValueKind(a.value.number), ", expected a list of node ids"));
      }
    }
    if (static_cast<int>(ids.size()) != count) {
      return Bad(name,
                 absl::StrCat(ids.size(), " nodes, expected one for each of the ", count, " step_names"));
    }
    for (const int64_t id : ids) {
      const uint32_t row = RowOf(static_cast<uint64_t>(id));
      if (row == kNoRow)
        return Bad(name, absl::StrCat("node ", static_cast<uint64_t>(id), ", which is not in the file"));
      rows->push_back(row);
    }
    return absl::OkStatus();
  }

  uint32_t RowOf(uint64_t id) {
    if (id < graph_.size() && graph_.id[id] == id)
      return static_cast<uint32_t>(id);  // the converter's ids are row numbers
    if (rows_.empty()) {
      for (uint32_t row = 0; row < graph_.size(); ++row) rows_.emplace(graph_.id[row], row);
    }
    const auto it = rows_.find(id);
    return it == rows_.end() ? kNoRow : it->second;
  }

  absl::Status Steps(CaptureInfo* info) {
    const AttributeProto* names = nullptr;
    RETURN_IF_ERROR(Find("step_names", &names));
    if (names != nullptr && !names->has_string_list()) return Bad("step_names", "expected a list of strings");
    const int count = names == nullptr ? 0 : names->string_list().values_size();
    std::vector<uint32_t> first, last;
    RETURN_IF_ERROR(Rows("step_first_nodes", count, &first));
    RETURN_IF_ERROR(Rows("step_last_nodes", count, &last));
    std::vector<CaptureInfo::Step> steps;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      const std::string& name = names->string_list().values(i);
      if (StartOf(last[at]) + graph_.duration[last[at]] < StartOf(first[at])) {
        return Bad("step_last_nodes",
                   absl::StrCat("step \"", name, "\" ends with node ", graph_.id[last[at]],
                                ", before its first node, ", graph_.id[first[at]], ", starts"));
      }
      steps.push_back({name, first[at], last[at]});
    }
    steps.shrink_to_fit();
    info->steps = std::move(steps);
    return absl::OkStatus();
  }

  Time StartOf(uint32_t row) const { return graph_.start.empty() ? Time::Zero() : graph_.start[row]; }

  const RankTrace& trace_;
  const Graph& graph_;
  ChakraProtoMsg::GlobalMetadata metadata_;
  std::string capture_;  // the value of attribute `capture`
  absl::flat_hash_map<uint64_t, uint32_t> rows_;
};

}  // namespace

absl::StatusOr<std::optional<CaptureInfo>> ReadCaptureInfo(const RankTrace& trace) {
  return Reader(trace).Run();
}

}  // namespace chakra
