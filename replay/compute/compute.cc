#include "replay/compute/compute.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/proto_io.h"

namespace chakra {
namespace {

constexpr ComputeRung kRungs[] = {ComputeRung::kTable, ComputeRung::kRoofline, ComputeRung::kRecorded};

struct Dtype {
  const char* text;
  const char* dtype;
};

// Spellings of PyTorch's observer, of torch dtypes and of NumPy.
constexpr Dtype kDtypes[] = {
    {"double", "fp64"},
    {"float64", "fp64"},
    {"float", "fp32"},
    {"float32", "fp32"},
    {"c10::BFloat16", "bf16"},
    {"bfloat16", "bf16"},
    {"c10::Half", "fp16"},
    {"half", "fp16"},
    {"float16", "fp16"},
    {"signed char", "int8"},
    {"char", "int8"},
    {"int8", "int8"},
    {"unsigned char", "int8"},
    {"uint8", "int8"},
    {"c10::qint8", "int8"},
    {"c10::quint8", "int8"},
    {"float8_e4m3fn", "fp8"},
    {"float8_e5m2", "fp8"},
    {"c10::Float8_e4m3fn", "fp8"},
    {"c10::Float8_e5m2", "fp8"},
};

// Peak of `dtype`, or 0.
double Peak(const proto::Device& device, absl::string_view dtype) {
  const auto it = device.peak_tflops().find(std::string(dtype));
  return it == device.peak_tflops().end() ? 0 : it->second;
}

class Pricer {
 public:
  Pricer(const Graph& graph, const ComputeModel& model, ComputeNotes* notes)
      : graph_(graph), model_(model), notes_(notes) {
    if (model_.device == nullptr) return;
    const std::string& named = model_.device->default_dtype();
    default_peak_ = Peak(*model_.device, named.empty() ? "bf16" : named);
  }

  absl::StatusOr<ComputeTimes> Run() {
    ComputeTimes times;
    times.time.resize(graph_.size());
    times.rung.resize(graph_.size(), ComputeRung::kNone);
    for (uint32_t row = 0; row < graph_.size(); ++row) {
      if (graph_.type[row] != NodeType::kComp) continue;
      for (ComputeRung rung : model_.rungs) {
        absl::StatusOr<std::optional<Time>> answer = Ask(rung, row);
        if (!answer.ok()) return answer.status();
        if (!answer->has_value()) continue;
        times.time[row] = **answer;
        times.rung[row] = rung;
        break;
      }
    }
    return times;
  }

 private:
  using Answer = absl::StatusOr<std::optional<Time>>;

  Answer Ask(ComputeRung rung, uint32_t row) {
    switch (rung) {
      case ComputeRung::kTable:
        return Table(row);
      case ComputeRung::kRoofline:
        return Roofline(row);
      case ComputeRung::kRecorded:
        if (graph_.duration[row] > Time::Zero() || model_.zeros_recorded) {
          return std::optional<Time>(graph_.duration[row]);
        }
        break;
      case ComputeRung::kNone:
        break;
    }
    return std::optional<Time>();
  }

  uint32_t Shapes(uint32_t row) const { return graph_.shapes.empty() ? 0 : graph_.shapes[row]; }
  uint32_t Types(uint32_t row) const { return graph_.types.empty() ? 0 : graph_.types[row]; }

  std::optional<Time> Table(uint32_t row) {
    if (model_.table == nullptr) return std::nullopt;
    const auto key = std::make_tuple(graph_.name[row], Shapes(row), Types(row));
    const auto [at, fresh] = found_.try_emplace(key, nullptr);
    if (fresh) {
      at->second = model_.table->Find(graph_.name_of(row), graph_.strings.Get(Shapes(row)),
                                      graph_.strings.Get(Types(row)));
    }
    if (at->second == nullptr) return std::nullopt;
    return *at->second;
  }

  absl::Status Error(uint32_t row, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("node ", graph_.id[row], " (\"", graph_.name_of(row), "\"): ", what));
  }

  Answer Roofline(uint32_t row) {
    if (model_.device == nullptr || graph_.is_cpu(row) || graph_.payload[row] == kNoRow) return std::nullopt;
    const Work& work = graph_.work[graph_.payload[row]];
    if (work.num_ops < 0) return Error(row, absl::StrCat("num_ops is ", work.num_ops, "; expected >= 0"));
    if (work.num_ops == 0 && work.tensor_bytes == 0) return std::nullopt;
    double ps = 0;
    if (work.tensor_bytes > 0) {
      const double gigabytes_per_s = model_.device->memory_gbytes_per_s();
      if (gigabytes_per_s <= 0) return std::nullopt;
      ps = static_cast<double>(work.tensor_bytes) * 1e3 / gigabytes_per_s;
    }
    if (work.num_ops > 0) {
      const double tflops = PeakOf(row);
      if (tflops <= 0) return std::nullopt;
      ps = std::max(ps, static_cast<double>(work.num_ops) / tflops);
    }
    if (!(ps < 9e18)) return Error(row, "roofline: num_ops or tensor_size takes longer than 104 days");
    return std::optional<Time>(Time::Picos(std::llround(ps)));
  }

  // Peak of the node's dtype in TFLOP/s, or of the default one.
  double PeakOf(uint32_t row) {
    const uint32_t types = Types(row);
    const auto [at, fresh] = dtype_.try_emplace(types);
    if (fresh) at->second = DtypeOf(graph_.strings.Get(types));
    if (at->second.empty()) return default_peak_;
    const double peak = Peak(*model_.device, at->second);
    if (peak > 0) return peak;
    if (default_peak_ > 0 && notes_ != nullptr) ++notes_->unknown_peak[std::string(at->second)];
    return default_peak_;
  }

  const Graph& graph_;
  const ComputeModel& model_;
  ComputeNotes* notes_;
  double default_peak_ = 0;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, const Time*> found_;
  absl::flat_hash_map<uint32_t, absl::string_view> dtype_;
};

}  // namespace

absl::string_view Name(ComputeRung rung) {
  switch (rung) {
    case ComputeRung::kTable:
      return "table";
    case ComputeRung::kRoofline:
      return "roofline";
    case ComputeRung::kRecorded:
      return "recorded";
    case ComputeRung::kNone:
      break;
  }
  return "none";
}

absl::StatusOr<std::vector<ComputeRung>> ParseRungs(absl::string_view text) {
  std::vector<std::string> names;
  for (ComputeRung r : kRungs) names.emplace_back(Name(r));
  const std::string known = absl::StrJoin(names, ", ");
  std::vector<ComputeRung> rungs;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    const std::string name(absl::StripAsciiWhitespace(piece));
    if (name == "interpolate") {
      return absl::InvalidArgumentError(
          absl::StrCat("compute: \"interpolate\" is not available yet; expected of: ", known));
    }
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end()) {
      const std::string nearest = NearestName(name, names);
      return absl::InvalidArgumentError(absl::StrCat(
          "compute: unknown rung \"", name, "\"",
          nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?"), " Known: ", known));
    }
    const ComputeRung rung = kRungs[it - names.begin()];
    if (std::find(rungs.begin(), rungs.end(), rung) != rungs.end()) {
      return absl::InvalidArgumentError(absl::StrCat("compute: \"", name, "\" is there twice"));
    }
    rungs.push_back(rung);
  }
  return rungs;
}

absl::string_view DtypeOf(absl::string_view types) {
  constexpr absl::string_view kOpen = "Tensor(";
  for (size_t at = types.find(kOpen); at != absl::string_view::npos; at = types.find(kOpen)) {
    types.remove_prefix(at + kOpen.size());
    const absl::string_view element = types.substr(0, types.find(')'));
    for (const Dtype& d : kDtypes) {
      if (absl::EqualsIgnoreCase(element, d.text)) return d.dtype;
    }
  }
  return "";
}

absl::StatusOr<ComputeTimes> PriceGraph(const Graph& graph, const ComputeModel& model, ComputeNotes* notes) {
  return Pricer(graph, model, notes).Run();
}

}  // namespace chakra
