#include "replay/compute/transfer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/compute/device_rates.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/model/calls.h"
#include "replay/compute/model/reprice.h"
#include "replay/compute/operators/operator_work.h"
#include "replay/compute/work_fit.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

struct RowWork {
  double operations = 0;
  double bytes = 0;
  bool known() const { return operations > 0 || bytes > 0; }
};

RowWork RowWorkOf(const proto::KernelRow& row, const std::string& default_dtype) {
  if (row.operations() > 0 || row.bytes() > 0) {
    return {static_cast<double>(row.operations()), static_cast<double>(row.bytes())};
  }
  const auto work =
      WorkOfKernel(row.name(), row.op(), row.shapes(), row.dtypes(), BytesOfDtype(default_dtype));
  return work.has_value() ? RowWork{work->operations, work->bytes} : RowWork();
}

bool ByOperations(const DeviceRates& rates, const RowWork& w) {
  return w.operations / rates.operations_per_us > w.bytes / rates.bytes_per_us;
}
double Roofline(const DeviceRates& rates, const RowWork& w) {
  return std::max(w.operations / rates.operations_per_us, w.bytes / rates.bytes_per_us);
}

absl::Status CheckDevice(const proto::Device& device) {
  if (!(device.sustained_share() >= 0 && device.sustained_share() <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("device \"", device.name(), "\": sustained_share is ",
                                                   device.sustained_share(),
                                                   "; expected a share above 0, up to 1"));
  }
  if (device.memory_gbytes_per_s() > 0 && RatesOf(device, DefaultDtype(device)).operations_per_us > 0)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "device \"", device.name(), "\" has no memory_gbytes_per_s or no peak_tflops of its default dtype, ",
      DefaultDtype(device), "; expected both"));
}

double StartOf(const proto::KernelTable& table, const std::vector<RowWork>& work) {
  std::vector<WorkSample> samples;
  double shortest = 0;
  for (int i = 0; i < table.row_size(); ++i) {
    const double us = table.row(i).duration_us();
    if (us <= 0) continue;
    shortest = shortest > 0 ? std::min(shortest, us) : us;
    if (work[i].operations > 0 || work[i].bytes > 0)
      samples.push_back({work[i].operations, work[i].bytes, us});
  }
  return std::min(shortest, FitWork(samples, samples.size()).start);
}

// Sets time and error of a row by the rooflines of both devices.
void Scale(double start_us, const RowWork& work, const DeviceRates& from, const DeviceRates& to,
           proto::KernelRow* row) {
  const double start = std::min(start_us, row->duration_us()), rest = row->duration_us() - start;
  double explained = 0, ratio = 1, least = 1, most = 1;
  if (work.known()) {
    ratio = Roofline(to, work) / Roofline(from, work);
    explained = std::min(rest, Roofline(from, work));
    least = std::min(1.0, ratio);
    most = std::max(1.0, ratio);
  } else {
    const SheetRatios sheets = RatiosOfSheets(from, to);
    least = sheets.least;
    most = sheets.most;
  }
  const auto scaled = [&](double beyond) { return start + explained * ratio + (rest - explained) * beyond; };
  const double us = scaled(std::sqrt(least * most));
  double error = kTransferError;
  if (ByOperations(from, work) || ByOperations(to, work)) error = std::max(error, from.doubt * to.doubt - 1);
  for (double beyond : {least, most}) {
    if (us > 0) error = std::max(error, std::abs(scaled(beyond) / us - 1));
  }
  row->set_duration_us(us);
  row->set_error(row->error() + error);
}

// Sets time and error of a row by the kernel model. Returns false if the row's kernel has no family.
bool ScaleByLaw(Repricer& repricer, const std::string& dtype, const std::string& default_dtype,
                proto::KernelRow* row) {
  const KernelFacts kernel = {row->name(),
                              row->op(),
                              row->shapes(),
                              row->dtypes(),
                              static_cast<double>(row->operations()),
                              static_cast<double>(row->bytes())};
  const FamilyCalls calls = CallsOfKernel(kernel, BytesOfDtype(default_dtype));
  if (calls.family == KernelFamily::kNone) return false;
  const TimeRatio r = repricer.Ratio(calls, row->name(), dtype, row->duration_us());
  row->set_duration_us(row->duration_us() * r.ratio);
  row->set_error(row->error() + std::max(r.high / r.ratio - 1, 1 - r.low / r.ratio));
  return true;
}

// The kernel models of both devices; nullopt if a device names no architecture (rooflines are used then).
std::optional<std::pair<KernelModel, KernelModel>> ModelsOf(const proto::Device& from,
                                                            const proto::Device& to) {
  for (const proto::Device* device : {&from, &to}) {
    if (device->architecture().empty()) return std::nullopt;
  }
  auto here = KernelModel::Create(from);
  auto there = KernelModel::Create(to);
  if (!here.ok() || !there.ok()) return std::nullopt;
  return std::make_pair(*std::move(here), *std::move(there));
}

}  // namespace

absl::StatusOr<proto::KernelTable> TransferTable(const proto::KernelTable& table, const proto::Device& from,
                                                 const proto::Device& to, const std::string& dtype,
                                                 TransferNotes* notes) {
  for (const proto::Device* device : {&from, &to}) {
    RETURN_IF_ERROR(CheckDevice(*device));
  }
  const std::string default_dtype = dtype.empty() ? DefaultDtype(from) : dtype;
  std::vector<RowWork> work;
  for (const proto::KernelRow& row : table.row()) work.push_back(RowWorkOf(row, default_dtype));
  proto::KernelTable out = table;
  out.set_device(to.name());
  out.set_source(
      absl::StrCat(table.source(), table.source().empty() ? "" : "; ", "transferred from ", from.name()));
  *notes = TransferNotes();
  notes->start_us = StartOf(table, work);
  const auto models = ModelsOf(from, to);
  std::optional<Repricer> repricer;
  if (models.has_value()) repricer.emplace(models->first, models->second);
  for (int i = 0; i < out.row_size(); ++i) {
    proto::KernelRow* row = out.mutable_row(i);
    absl::Status s = CheckKernelRow(*row, absl::StrCat("row ", i, " (\"", row->name(), "\")"));
    if (!s.ok()) return s;
    std::string d = dtype.empty() ? std::string(DtypeOf(row->dtypes())) : dtype;
    if (d.empty()) d = default_dtype;
    row->clear_count();
    row->clear_min_us();
    row->clear_max_us();
    const DeviceRates source = RatesOf(from, d), target = RatesOf(to, d);
    if (repricer.has_value() && ScaleByLaw(*repricer, d, default_dtype, row)) {
      ++notes->by_law;
    } else {
      ++(work[i].known() ? notes->by_roofline : notes->without_work);
      notes->other_peak += source.other_peak || target.other_peak ? 1 : 0;
      Scale(notes->start_us, work[i], source, target, row);
    }
    s = CheckKernelRow(*row, absl::StrCat("row ", i, " (\"", row->name(), "\"), transferred"));
    if (!s.ok()) return s;
  }
  return out;
}

}  // namespace chakra
