#include "replay/python/table.h"

#include <pybind11/stl.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/python/errors.h"
#include "trace/base/did_you_mean.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

py::dtype DtypeOf(TableColumn::Type type) {
  switch (type) {
    case TableColumn::Type::kInt32:
      return py::dtype::of<int32_t>();
    case TableColumn::Type::kInt64:
      return py::dtype::of<int64_t>();
    case TableColumn::Type::kUint64:
      return py::dtype::of<uint64_t>();
    case TableColumn::Type::kDouble:
      return py::dtype::of<double>();
    case TableColumn::Type::kBool:
      return py::dtype::of<bool>();
  }
  return py::dtype::of<int64_t>();
}

py::list NamesOfColumns(const Table& table) {
  py::list names;
  for (const TableColumn& column : table.columns) names.append(column.name);
  return names;
}

}  // namespace

void Table::AddWords(std::string name, std::string doc, std::vector<int32_t> codes,
                     std::vector<std::string> words, bool category) {
  Add(std::move(name), std::move(doc), std::move(codes));
  columns.back().words = std::make_shared<const std::vector<std::string>>(std::move(words));
  columns.back().category = category;
}

const TableColumn& Table::Find(const std::string& name) const {
  std::vector<std::string> names;
  for (const TableColumn& column : columns) {
    if (column.name == name) return column;
    names.push_back(column.name);
  }
  throw py::key_error(absl::StrCat("there is no column \"", name, "\"", SuggestName(name, names)));
}

py::array View(const py::dtype& type, int64_t rows, int64_t stride, const void* data,
               std::shared_ptr<const void> owner) {
  auto* held = new std::shared_ptr<const void>(std::move(owner));
  const py::capsule base(held, [](void* p) { delete static_cast<std::shared_ptr<const void>*>(p); });
  py::array array(type, {static_cast<py::ssize_t>(rows)}, {static_cast<py::ssize_t>(stride)}, data, base);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

py::str Text(const std::string& text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

void BindTable(py::module_& module) {
  py::class_<Table, std::shared_ptr<Table>>(module, "Columns",
                                            "Columns of equal length, made by the library.")
      .def_readonly("rows", &Table::rows)
      .def("names", &NamesOfColumns)
      .def("array",
           [](const Table& table, const std::string& name) {
             const TableColumn& column = table.Find(name);
             const py::dtype type = DtypeOf(column.type);
             return View(type, table.rows, type.itemsize(), column.data, column.owner);
           })
      .def("words",
           [](const Table& table, const std::string& name) -> py::object {
             const TableColumn& column = table.Find(name);
             if (column.words == nullptr) return py::none();
             py::list words(column.words->size());
             for (size_t i = 0; i < column.words->size(); ++i) words[i] = Text((*column.words)[i]);
             return words;
           })
      .def("is_category",
           [](const Table& table, const std::string& name) { return table.Find(name).category; })
      .def("doc", [](const Table& table, const std::string& name) { return table.Find(name).doc; })
      .def("arrow", [](std::shared_ptr<Table> table) { return ArrowStream(std::move(table)); });
}

}  // namespace chakra::python
