#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/command.pb.h"
#include "replay/python/cluster.h"
#include "replay/python/errors.h"
#include "replay/python/options.h"
#include "replay/python/table.h"
#include "replay/python/tools.h"
#include "replay/python/watch.h"
#include "replay/run/collective_arguments.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

// Adds a column of texts; each row has its own word.
void AddTexts(const std::string& name, const std::string& doc, std::vector<std::string> texts, Table* table) {
  std::vector<int32_t> codes(texts.size());
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int32_t>(i);
  table->AddWords(name, doc, std::move(codes), std::move(texts), false);
}

std::shared_ptr<Table> TableOfRows(const std::vector<TableRow>& rows) {
  auto table = std::make_shared<Table>();
  table->rows = static_cast<int64_t>(rows.size());
  const auto texts = [&](const std::string TableRow::*field) {
    std::vector<std::string> out;
    for (const TableRow& row : rows) out.push_back(row.*field);
    return out;
  };
  const auto numbers = [&](double TableRow::*field) {
    std::vector<double> out;
    for (const TableRow& row : rows) out.push_back(row.*field);
    return out;
  };
  std::vector<uint64_t> bytes;
  std::vector<int32_t> channels;
  for (const TableRow& row : rows) {
    bytes.push_back(row.bytes);
    channels.push_back(row.channels);
  }
  table->Add("bytes", "the larger of a rank's buffers", std::move(bytes));
  AddTexts("algorithm", "that the call takes", texts(&TableRow::algorithm), table.get());
  AddTexts("protocol", "of a collective library", texts(&TableRow::protocol), table.get());
  table->Add("channels", "", std::move(channels));
  table->Add("time_us", "the larger of device_us and host_us", numbers(&TableRow::time_us));
  table->Add("device_us", "of the kernel, with the gap before it", numbers(&TableRow::device_us));
  table->Add("host_us", "of the thread that launches", numbers(&TableRow::host_us));
  table->Add("algbw_gbytes_per_s", "bytes over time", numbers(&TableRow::algbw));
  table->Add("busbw_gbytes_per_s", "times nccl-tests' factor", numbers(&TableRow::busbw));
  AddTexts("why", "that algorithm", texts(&TableRow::why), table.get());
  return table;
}

std::pair<std::shared_ptr<Table>, std::vector<std::string>> Price(const std::string& kind,
                                                                  const py::dict& keywords,
                                                                  const py::object& cluster) {
  proto::CollectiveRun told;
  told.set_collective(kind);
  FillOptions(keywords, &told);
  CollectiveArguments arguments(told);
  std::shared_ptr<const DescribedCluster> described;
  if (!cluster.is_none()) {
    const auto given = cluster.cast<Cluster>();
    described = given.cluster->snapshot();
    arguments.options().cluster = given.cluster->spec();
    arguments.options().described = described.get();
  }
  Watch watch{py::none()};
  std::vector<std::string> notes;
  std::vector<TableRow> rows;
  watch.Run([&] {
    const std::vector<uint64_t> sizes = OrThrow(arguments.Sizes());
    absl::Status misuse;
    CollectiveTable table = OrThrow(arguments.Table(&notes, &misuse));
    for (const uint64_t size : sizes) {
      rows.push_back(OrThrow(table.Price(size)));
      if (watch.stop()->load()) break;
    }
  });
  return {TableOfRows(rows), std::move(notes)};
}

}  // namespace

void BindCollective(py::module_& module) { module.def("collective", &Price); }

}  // namespace chakra::python
