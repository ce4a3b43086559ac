#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/cluster/devices.h"
#include "replay/compute/collect.h"
#include "replay/compute/kernel_table.h"
#include "replay/compute/model/calibrate.h"
#include "replay/compute/model/predict.h"
#include "replay/compute/transfer.h"
#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/paths.h"
#include "replay/python/records.h"
#include "replay/python/results.h"
#include "replay/python/table.h"
#include "replay/python/tools.h"
#include "replay/python/traces.h"
#include "replay/python/watch.h"
#include "trace/generate/importer.h"
#include "trace/import/reader.h"
#include "trace/io/csv.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

struct Kernels {
  std::shared_ptr<const proto::KernelTable> table;
};

Kernels Held(proto::KernelTable table) {
  return {std::make_shared<const proto::KernelTable>(std::move(table))};
}

// The device with this name (FindDevice()), or the device of a Cluster.
proto::Device DeviceOf(const py::object& device) {
  if (py::isinstance<Cluster>(device)) return device.cast<Cluster>().cluster->snapshot()->cluster.device();
  return OrThrow(FindDevice(py::str(device)));
}

Kernels Collect(const std::vector<std::string>& paths, ReadOptions read, bool host, const std::string& device,
                int threads) {
  read.keep_raw = true;
  read.threads = threads;
  const TraceSet traces = OrThrow(ReadTraceSet(paths, read));
  CollectOptions options;
  options.host = host;
  options.device = device;
  for (const InputFile& input : traces.inputs) {
    if (!IsTraceRole(input.role)) continue;
    options.source =
        absl::StrCat("collected from ", input.path, traces.inputs.size() > 1 ? " and others" : "");
    break;
  }
  CollectNotes notes;
  return Held(OrThrow(CollectKernels(traces, options, &notes)));
}

Kernels Merge(const std::vector<Kernels>& tables, bool any_device) {
  std::vector<proto::KernelTable> all;
  std::vector<std::string> names;
  for (const Kernels& one : tables) {
    all.push_back(*one.table);
    names.push_back(absl::StrCat("table ", names.size()));
  }
  return Held(OrThrow(MergeKernels(all, names, any_device)));
}

Kernels Transfer(const Kernels& kernels, const py::object& to, const py::object& from,
                 const std::string& dtype) {
  const std::string own = kernels.table->device();
  if (from.is_none() && own.empty()) ThrowInvalid("the table does not name its device; expected from_device");
  const proto::Device target = DeviceOf(to);
  const proto::Device source = from.is_none() ? OrThrow(FindDevice(own)) : DeviceOf(from);
  TransferNotes notes;
  return Held(OrThrow(TransferTable(*kernels.table, source, target, dtype, &notes)));
}

// Converts CSV with a header to columns.
std::shared_ptr<Table> TableOfCsv(const std::string& csv) {
  CsvReader reader(csv, "rows");
  std::vector<std::string> header, fields;
  (void)OrThrow(reader.Next(&header));
  std::vector<std::vector<std::string>> columns(header.size());
  auto table = std::make_shared<Table>();
  while (OrThrow(reader.Next(&fields))) {
    for (size_t i = 0; i < header.size(); ++i) columns[i].push_back(i < fields.size() ? fields[i] : "");
    ++table->rows;
  }
  for (size_t i = 0; i < header.size(); ++i) AddValues(header[i], columns[i], table.get());
  return table;
}

std::shared_ptr<Table> PredictTable(const std::string& csv, const py::object& device, const std::string& op) {
  const proto::Device of = DeviceOf(device);
  std::shared_ptr<Table> table;
  Watch{py::none()}.Run([&] {
    const KernelRows rows = OrThrow(ReadKernelRows(csv, "rows", of, op));
    const KernelModel model = OrThrow(KernelModel::Create(of));
    size_t refused = 0;
    table = TableOfCsv(PredictRows(model, rows, &refused));
  });
  return table;
}

py::list DescribeOps() {
  py::list out;
  for (const KernelOp& op : KernelOps()) {
    py::dict d;
    d["op"] = op.name;
    d["needs"] = op.needs;
    d["may"] = op.may;
    out.append(d);
  }
  return out;
}

Cluster Calibrate(const std::string& csv, const py::object& device) {
  const proto::Device of = DeviceOf(device);
  const KernelRows rows = OrThrow(ReadKernelRows(csv, "rows", of));
  DescribedCluster described;
  *described.cluster.mutable_device() = OrThrow(CalibrateDevice(of, rows));
  return Cluster(std::make_shared<ClusterRoot>("(calibrated)", std::move(described)));
}

}  // namespace

void BindKernels(py::module_& module) {
  py::class_<Kernels>(module, "Kernels", "Measured times of kernels.")
      .def_static("load", [](const std::string& path) { return Held(OrThrow(LoadKernelTable(path))); })
      .def_static(
          "collect",
          [](const py::object& given, bool host, const std::string& device, int threads) {
            const std::vector<std::string> paths = PathsOf(given);
            Kernels out;
            Watch{py::none()}.Run([&] { out = Collect(paths, ReadOptions(), host, device, threads); });
            return out;
          })
      .def_static(
          "collect_of",
          [](const std::shared_ptr<Traces>& traces, bool host, const std::string& device, int threads) {
            const TraceOptions options = traces->OptionsHere();
            if (generate::AreWorkload(options.inputs))
              ThrowInvalid(
                  "a step that was generated from a model has no measured kernels; expected a capture");
            Kernels out;
            Watch{py::none()}.Run(
                [&] { out = Collect(options.inputs, options.read, host, device, threads); });
            return out;
          })
      .def_static("merge", &Merge)
      .def("transfer", &Transfer)
      .def("save",
           [](const Kernels& k, const std::string& path) { ThrowIf(WriteKernelTable(*k.table, path)); })
      .def("to_csv", [](const Kernels& k) { return Text(FormatKernelCsv(*k.table)); })
      .def("record", [](const Kernels& k) { return RecordObject(k.table); });
  module.def("predict", &PredictTable);
  module.def("calibrate", &Calibrate);
  module.def("kernel_ops", &DescribeOps);
  module.def("device_names", &DeviceNames);
}

}  // namespace chakra::python
