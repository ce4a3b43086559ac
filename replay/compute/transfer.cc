#include "replay/compute/transfer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/operators/operator_work.h"
#include "replay/compute/work_fit.h"

namespace chakra {
namespace {

std::string DefaultDtype(const proto::Device& device) {
  return device.default_dtype().empty() ? "bf16" : device.default_dtype();
}

double Sustained(const proto::Device& device) {
  return device.sustained_share() > 0 ? device.sustained_share() : 1;
}

// The peak that the device sustains. 0: it has no peak, not even of the default dtype.
double Peak(const proto::Device& device, const std::string& dtype, bool* other) {
  for (const std::string& d : {dtype, DefaultDtype(device)}) {
    const auto it = device.peak_tflops().find(d);
    if (it != device.peak_tflops().end() && it->second > 0) return it->second * Sustained(device);
    *other = true;
  }
  return 0;
}

struct RowWork {
  double operations = 0;
  double bytes = 0;
  bool known() const { return operations > 0 || bytes > 0; }
};

RowWork WorkOf(const proto::KernelRow& row, const std::string& default_dtype) {
  if (row.operations() > 0 || row.bytes() > 0) {
    return {static_cast<double>(row.operations()), static_cast<double>(row.bytes())};
  }
  const auto work =
      WorkOfKernel(row.name(), row.op(), row.shapes(), row.dtypes(), BytesOfDtype(default_dtype));
  return work.has_value() ? RowWork{work->operations, work->bytes} : RowWork();
}

// The rates of a device for one dtype.
struct Rates {
  double operations_per_us = 0;
  double bytes_per_us = 0;
  double doubt = 1;  // by what factor operations_per_us may be off
  bool ByOperations(const RowWork& w) const {
    return w.operations / operations_per_us > w.bytes / bytes_per_us;
  }
  double Roofline(const RowWork& w) const {
    return std::max(w.operations / operations_per_us, w.bytes / bytes_per_us);
  }
};

absl::Status CheckDevice(const proto::Device& device) {
  if (!(device.sustained_share() >= 0 && device.sustained_share() <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("device \"", device.name(), "\": sustained_share is ",
                                                   device.sustained_share(),
                                                   "; expected a share above 0, up to 1"));
  }
  bool other = false;
  if (device.memory_gbytes_per_s() > 0 && Peak(device, DefaultDtype(device), &other) > 0)
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

SheetRatios Sheets(const Rates& from, const Rates& to) {
  const double peaks = from.operations_per_us / to.operations_per_us;
  const double bandwidths = from.bytes_per_us / to.bytes_per_us;
  return {std::min({1.0, peaks, bandwidths}), std::max({1.0, peaks, bandwidths})};
}

// Of a device for a dtype. 1 TFLOP/s is 1e6 operations in a microsecond, 1 GB/s is 1e3 bytes.
Rates RatesOf(const proto::Device& device, const std::string& dtype, bool* other) {
  return {Peak(device, dtype, other) * 1e6, device.memory_gbytes_per_s() * 1e3, 1 / Sustained(device)};
}

// Sets time and error of a row.
void Scale(double start_us, const RowWork& work, const Rates& from, const Rates& to, proto::KernelRow* row) {
  const double start = std::min(start_us, row->duration_us()), rest = row->duration_us() - start;
  double explained = 0, ratio = 1, least = 1, most = 1;
  if (work.known()) {
    ratio = to.Roofline(work) / from.Roofline(work);
    explained = std::min(rest, from.Roofline(work));
    least = std::min(1.0, ratio);
    most = std::max(1.0, ratio);
  } else {
    const SheetRatios sheets = Sheets(from, to);
    least = sheets.least;
    most = sheets.most;
  }
  const auto scaled = [&](double beyond) { return start + explained * ratio + (rest - explained) * beyond; };
  const double us = scaled(std::sqrt(least * most));
  double error = kTransferError;
  if (from.ByOperations(work) || to.ByOperations(work)) error = std::max(error, from.doubt * to.doubt - 1);
  for (double beyond : {least, most}) {
    if (us > 0) error = std::max(error, std::abs(scaled(beyond) / us - 1));
  }
  row->set_duration_us(us);
  row->set_error(row->error() + error);
}

}  // namespace

SheetRatios RatiosOfSheets(const proto::Device& from, const proto::Device& to, const std::string& dtype) {
  const std::string d = dtype.empty() ? DefaultDtype(from) : dtype;
  bool other = false;
  return Sheets(RatesOf(from, d, &other), RatesOf(to, d, &other));
}

absl::StatusOr<proto::KernelTable> TransferTable(const proto::KernelTable& table, const proto::Device& from,
                                                 const proto::Device& to, const std::string& dtype,
                                                 TransferNotes* notes) {
  for (const proto::Device* device : {&from, &to}) {
    if (absl::Status s = CheckDevice(*device); !s.ok()) return s;
  }
  const std::string default_dtype = dtype.empty() ? DefaultDtype(from) : dtype;
  std::vector<RowWork> work;
  for (const proto::KernelRow& row : table.row()) work.push_back(WorkOf(row, default_dtype));
  proto::KernelTable out = table;
  out.set_device(to.name());
  out.set_source(absl::StrCat(table.source(), table.source().empty() ? "" : "; ", "transferred from ",
                              from.name(), " by roofline"));
  *notes = TransferNotes();
  notes->start_us = StartOf(table, work);
  for (int i = 0; i < out.row_size(); ++i) {
    proto::KernelRow* row = out.mutable_row(i);
    absl::Status s = CheckKernelRow(*row, absl::StrCat("row ", i, " (\"", row->name(), "\")"));
    if (!s.ok()) return s;
    std::string d = dtype.empty() ? std::string(DtypeOf(row->dtypes())) : dtype;
    if (d.empty()) d = default_dtype;
    bool other = false;
    const Rates source = RatesOf(from, d, &other), target = RatesOf(to, d, &other);
    ++(work[i].known() ? notes->by_roofline : notes->without_work);
    notes->other_peak += other ? 1 : 0;
    row->clear_count();
    row->clear_min_us();
    row->clear_max_us();
    Scale(notes->start_us, work[i], source, target, row);
    s = CheckKernelRow(*row, absl::StrCat("row ", i, " (\"", row->name(), "\"), transferred"));
    if (!s.ok()) return s;
  }
  return out;
}

}  // namespace chakra
