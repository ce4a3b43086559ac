#include "replay/compute/compute.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/device_rates.h"
#include "replay/compute/model/calls.h"
#include "replay/compute/model/reprice.h"
#include "replay/compute/operators/operator_work.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr TimeSource kSources[] = {TimeSource::kTable, TimeSource::kInterpolate, TimeSource::kRepriced,
                                   TimeSource::kModel, TimeSource::kRoofline,    TimeSource::kRecorded};

// The peak of `dtype` in TFLOP/s; 0: not given.
double Peak(const proto::Device& device, absl::string_view dtype) {
  const auto it = device.peak_tflops().find(std::string(dtype));
  return it == device.peak_tflops().end() ? 0 : it->second;
}

// The answer of a table, or of an interpolation in it, for one name, shapes, dtypes and work.
struct Found {
  std::optional<Time> time;
  double error = 0;
  bool outside = false;
};

class Pricer {
 public:
  Pricer(const Graph& graph, const ComputeModel& model, ComputeNotes* notes)
      : graph_(graph), model_(model), notes_(notes) {
    if (model_.kernels != nullptr && model_.captured_on != nullptr)
      repricer_.emplace(*model_.captured_on, *model_.kernels);
    if (model_.device == nullptr) return;
    default_dtype_ = DefaultDtype(*model_.device);
    default_peak_ = Peak(*model_.device, default_dtype_);
  }

  absl::StatusOr<ComputeTimes> Run() {
    times_.time_source.resize(graph_.size(), TimeSource::kNone);
    if (TakeRecorded()) return std::move(times_);
    times_.time.resize(graph_.size());
    for (uint32_t row = 0; row < graph_.size(); ++row) {
      if (graph_.type[row] != NodeType::kComp) continue;
      if (graph_.is_kept_comm(row)) {  // communication: no kernel table or peak of a device gives its time
        times_.time[row] = graph_.duration[row];
        times_.time_source[row] = TimeSource::kRecorded;
        continue;
      }
      for (TimeSource time_source : model_.time_sources) {
        const Time error = times_.error[static_cast<size_t>(time_source)];
        ASSIGN_OR_RETURN(std::optional<Time> answer, Ask(time_source, row));
        if (!answer.has_value()) continue;
        times_.time[row] = *answer;
        times_.time_source[row] = time_source;
        RETURN_IF_ERROR(TakeFactor(time_source, row, error));
        break;
      }
    }
    return std::move(times_);
  }

 private:
  // If `recorded` is the only time source and answers every COMP row, uses the graph's own column of
  // durations.
  bool TakeRecorded() {
    if (model_.time_sources.size() != 1 || model_.time_sources[0] != TimeSource::kRecorded) return false;
    for (uint32_t row = 0; row < graph_.size(); ++row) {
      if (graph_.type[row] != NodeType::kComp) continue;
      if (!model_.zeros_recorded && !graph_.is_kept_comm(row) && !IsRecorded(row)) {
        std::fill(times_.time_source.begin(), times_.time_source.end(), TimeSource::kNone);
        return false;
      }
      times_.time_source[row] = TimeSource::kRecorded;
    }
    times_.time = graph_.duration;
    return true;
  }

  // Multiplies the time of a row, its error and its spread by the `time_factor` that an edit gave the node.
  // Recorded and repriced times have the edit already. `error`: the sum of errors of this time source before
  // this row.
  absl::Status TakeFactor(TimeSource time_source, uint32_t row, Time error) {
    if (graph_.factor.empty() || graph_.factor[row] == 0) return absl::OkStatus();
    if (time_source == TimeSource::kRecorded || time_source == TimeSource::kRepriced) return absl::OkStatus();
    const auto [at, fresh] = factors_.try_emplace(graph_.factor[row], 1.0);
    if (fresh && !absl::SimpleAtod(graph_.strings.Get(graph_.factor[row]), &at->second)) at->second = 1;
    const auto times = [factor = at->second](Time t) { return static_cast<double>(t.picos()) * factor; };
    if (!(times(times_.time[row]) < 9e18))
      return Error(row, "its time_factor makes it take longer than 104 days");
    times_.time[row] = Time::Picos(std::llround(times(times_.time[row])));
    Time& errors = times_.error[static_cast<size_t>(time_source)];
    errors = error + Time::Picos(std::llround(std::min(9e18, times(errors - error))));
    if (time_source == TimeSource::kModel) {
      TimeSpread& spread = times_.spread[row];
      spread.low = Time::Picos(std::llround(times(spread.low)));
      spread.high = Time::Picos(std::llround(std::min(9e18, times(spread.high))));
    }
    return absl::OkStatus();
  }

  using Answer = absl::StatusOr<std::optional<Time>>;
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, int64_t, uint64_t, uint32_t>;

  Answer Ask(TimeSource time_source, uint32_t row) {
    switch (time_source) {
      case TimeSource::kTable:
        if (model_.table == nullptr) break;
        return Take(time_source, Cached(row, &in_table_, [&](const KernelQuery& q) { return InTable(q); }));
      case TimeSource::kInterpolate:
        if (model_.interpolation == nullptr) break;
        return Take(time_source, Cached(row, &between_, [&](const KernelQuery& q) { return Between(q); }));
      case TimeSource::kRepriced:
        return Repriced(row);
      case TimeSource::kModel:
        return Modelled(row);
      case TimeSource::kRoofline:
        return Roofline(row);
      case TimeSource::kRecorded:
        if (IsRecorded(row)) return std::optional<Time>(graph_.duration[row]);
        break;
      case TimeSource::kNone:
        break;
    }
    return std::optional<Time>();
  }

  uint32_t Shapes(uint32_t row) const { return graph_.shapes.empty() ? 0 : graph_.shapes[row]; }
  uint32_t Types(uint32_t row) const { return graph_.types.empty() ? 0 : graph_.types[row]; }
  uint32_t Code(uint32_t row) const { return graph_.code.empty() ? 0 : graph_.code[row]; }
  bool IsRecorded(uint32_t row) const { return graph_.duration[row] > Time::Zero() || model_.zeros_recorded; }
  // Whether `recorded` is anywhere in the chain and would answer. A recorded time is preferred to derived
  // work.
  bool WillBeRecorded(uint32_t row) const {
    return IsRecorded(row) && std::find(model_.time_sources.begin(), model_.time_sources.end(),
                                        TimeSource::kRecorded) != model_.time_sources.end();
  }
  Work WorkOf(uint32_t row) const {
    return graph_.payload[row] == kNoRow ? Work() : graph_.work[graph_.payload[row]];
  }

  Found InTable(const KernelQuery& query) const {
    const KernelAnswer* answer = model_.table->Find(query);
    return answer == nullptr ? Found() : Found{answer->duration, answer->error};
  }

  Found Between(const KernelQuery& query) const {
    const KernelInterpolation::Result r = model_.interpolation->Find(query);
    using Outcome = KernelInterpolation::Outcome;
    if (r.outcome == Outcome::kAnswered) return {r.duration, r.error};
    return {std::nullopt, 0, r.outcome == Outcome::kOutside};
  }

  template <typename Ask>
  const Found& Cached(uint32_t row, absl::flat_hash_map<Key, Found>* cache, Ask ask) {
    const Work work = WorkOf(row);
    const auto [at, fresh] = cache->try_emplace(
        Key{graph_.name[row], Shapes(row), Types(row), work.num_ops, work.tensor_bytes, Code(row)});
    if (fresh) {
      at->second = ask(KernelQuery{graph_.name_of(row), graph_.strings.Get(Shapes(row)),
                                   graph_.strings.Get(Types(row)),
                                   static_cast<uint64_t>(std::max<int64_t>(0, work.num_ops)),
                                   work.tensor_bytes, graph_.strings.Get(Code(row))});
    }
    return at->second;
  }

  std::optional<Time> Take(TimeSource time_source, const Found& found) {
    if (found.outside) ++times_.outside;
    if (found.time.has_value() && found.error > 0) {
      const double ps = std::min(9e18, found.error * static_cast<double>(found.time->picos()));
      times_.error[static_cast<size_t>(time_source)] += Time::Picos(std::llround(ps));
    }
    return found.time;
  }

  absl::Status Error(uint32_t row, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("node ", graph_.id[row], " (\"", graph_.name_of(row), "\"): ", what));
  }

  // The family and kernel model calls of a node, and the number of its name, shapes, dtypes and work.
  struct KnownCalls {
    FamilyCalls calls;
    uint32_t number = 0;
    absl::StatusOr<ModelledTime> time = absl::UnknownError("not asked");  // on this device
  };

  KnownCalls& CallsOf(uint32_t row) {
    const Work work = WorkOf(row);
    const auto [at, fresh] = calls_.try_emplace(
        Key{graph_.name[row], Shapes(row), Types(row), work.num_ops, work.tensor_bytes, 0});
    if (fresh) {
      at->second.number = static_cast<uint32_t>(calls_.size() - 1);
      at->second.calls = CallsOfKernel(
          {graph_.name_of(row), "", graph_.strings.Get(Shapes(row)), graph_.strings.Get(Types(row)),
           static_cast<double>(std::max<int64_t>(0, work.num_ops)), static_cast<double>(work.tensor_bytes)},
          BytesOfDtype(default_dtype_));
      at->second.time = model_.kernels == nullptr ? absl::UnknownError("no model")
                                                  : PredictAll(*model_.kernels, at->second.calls.calls);
    }
    return at->second;
  }

  // Stores the range of a row (low, high) and returns its time. All times in picoseconds.
  Answer Keep(TimeSource time_source, uint32_t row, const KnownCalls& known, double low, double ps,
              double high) {
    if (!(high < 9e18)) return Error(row, absl::StrCat(Name(time_source), ": it takes longer than 104 days"));
    if (times_.spread.empty()) times_.spread.resize(graph_.size());
    times_.spread[row] = {Time::Picos(std::llround(low)), Time::Picos(std::llround(high)), known.number,
                          static_cast<uint8_t>(known.calls.family)};
    times_.error[static_cast<size_t>(time_source)] +=
        Time::Picos(std::llround(std::max(ps - low, high - ps)));
    return std::optional<Time>(Time::Picos(std::llround(ps)));
  }

  Answer Modelled(uint32_t row) {
    if (model_.kernels == nullptr || graph_.is_cpu(row) || WillBeRecorded(row)) return std::optional<Time>();
    const KnownCalls& known = CallsOf(row);
    if (!known.time.ok()) return std::optional<Time>();
    const ModelledTime& t = *known.time;
    return Keep(TimeSource::kModel, row, known, t.low_us * 1e6, t.us * 1e6, t.high_us * 1e6);
  }

  Answer Repriced(uint32_t row) {
    if (!repricer_.has_value() || graph_.is_cpu(row) || !IsRecorded(row)) return std::optional<Time>();
    const KnownCalls& known = CallsOf(row);
    const double ps = static_cast<double>(graph_.duration[row].picos());
    const TimeRatio r =
        repricer_->Ratio(known.calls, graph_.name_of(row), DtypeOf(graph_.strings.Get(Types(row))), ps / 1e6);
    return Keep(TimeSource::kRepriced, row, known, ps * r.low, ps * r.ratio, ps * r.high);
  }

  // The work of a node that has no num_ops and tensor_size, from its name and shapes.
  OperatorWork Derive(uint32_t row) {
    const auto [at, fresh] = derived_.try_emplace(std::make_tuple(graph_.name[row], Shapes(row), Types(row)));
    if (fresh) {
      at->second = WorkOfOperator(graph_.name_of(row), graph_.strings.Get(Shapes(row)),
                                  graph_.strings.Get(Types(row)), BytesOfDtype(default_dtype_))
                       .value_or(OperatorWork());
    }
    return at->second;
  }

  Answer Roofline(uint32_t row) {
    if (model_.device == nullptr || graph_.is_cpu(row)) return std::optional<Time>();
    const Work work = WorkOf(row);
    if (work.num_ops < 0) return Error(row, absl::StrCat("num_ops is ", work.num_ops, "; expected >= 0"));
    OperatorWork does = {static_cast<double>(work.num_ops), static_cast<double>(work.tensor_bytes)};
    const bool derive = work.num_ops == 0 && work.tensor_bytes == 0;
    if (derive && WillBeRecorded(row)) return std::optional<Time>();
    if (derive) does = Derive(row);
    if (does.operations == 0 && does.bytes == 0) return std::optional<Time>();
    double ps = 0;
    if (does.bytes > 0) {
      const double gigabytes_per_s = model_.device->memory_gbytes_per_s();
      if (gigabytes_per_s <= 0) return std::optional<Time>();
      ps = does.bytes * 1e3 / gigabytes_per_s;
    }
    if (does.operations > 0) {
      const double tflops = PeakOf(row);
      if (tflops <= 0) return std::optional<Time>();
      ps = std::max(ps, does.operations / tflops);
    }
    if (!(ps < 9e18)) return Error(row, "roofline: num_ops or tensor_size takes longer than 104 days");
    if (derive) ++times_.derived;
    return std::optional<Time>(Time::Picos(std::llround(ps)));
  }

  // The peak of the node's dtype in TFLOP/s; if unknown, the peak of the default dtype.
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
  ComputeTimes times_;
  std::string default_dtype_;
  double default_peak_ = 0;
  absl::flat_hash_map<Key, Found> in_table_, between_;
  absl::flat_hash_map<Key, KnownCalls> calls_;
  std::optional<Repricer> repricer_;
  absl::flat_hash_map<uint32_t, double> factors_;  // by graph_.factor
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, OperatorWork> derived_;
  absl::flat_hash_map<uint32_t, absl::string_view> dtype_;
};

}  // namespace

absl::string_view Name(TimeSource time_source) {
  switch (time_source) {
    case TimeSource::kTable:
      return "table";
    case TimeSource::kInterpolate:
      return "interpolate";
    case TimeSource::kRepriced:
      return "repriced";
    case TimeSource::kModel:
      return "model";
    case TimeSource::kRoofline:
      return "roofline";
    case TimeSource::kRecorded:
      return "recorded";
    case TimeSource::kNone:
      break;
  }
  return "none";
}

absl::StatusOr<std::vector<TimeSource>> ParseTimeSources(absl::string_view text) {
  std::vector<std::string> names;
  for (TimeSource r : kSources) names.emplace_back(Name(r));
  std::vector<TimeSource> time_sources;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    const std::string name(absl::StripAsciiWhitespace(piece));
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown time source \"", name, "\"", NearestOfKnown(name, names)));
    }
    const TimeSource time_source = kSources[it - names.begin()];
    if (std::find(time_sources.begin(), time_sources.end(), time_source) != time_sources.end()) {
      return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is given twice"));
    }
    time_sources.push_back(time_source);
  }
  return time_sources;
}

absl::StatusOr<ComputeTimes> PriceGraph(const Graph& graph, const ComputeModel& model, ComputeNotes* notes) {
  return Pricer(graph, model, notes).Run();
}

}  // namespace chakra
