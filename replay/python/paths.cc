#include "replay/python/paths.h"

#include <google/protobuf/descriptor.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

namespace fs = std::filesystem;

std::string Current() {
  std::error_code error;
  const fs::path path = fs::current_path(error);
  return error ? "" : path.string();
}

}  // namespace

std::string WordOf(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "yes" : "no";
  if (py::hasattr(value, "__fspath__")) return WordOf(value.attr("__fspath__")());
  if (py::isinstance<py::bytes>(value)) return value.cast<std::string>();
  // str() of a float is the shortest text that reads back equal.
  const py::str text(value);
  const py::object bytes =
      py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes) throw py::error_already_set();
  return bytes.cast<std::string>();
}

std::vector<std::string> PathsOf(const py::object& paths) {
  std::vector<std::string> out;
  const auto add = [&out](const py::handle& path) {
    std::string word = WordOf(path);
    if (word.size() > 1 && word[0] == '-') word.insert(0, "./");
    out.push_back(std::move(word));
  };
  if (py::isinstance<py::list>(paths) || py::isinstance<py::tuple>(paths)) {
    for (const py::handle& path : paths) add(path);
  } else if (!paths.is_none()) {
    add(paths);
  }
  return out;
}

py::str PathText(const std::string& path) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(path.data(), static_cast<Py_ssize_t>(path.size()), "surrogateescape"));
}

Folder::Folder() : path_(Current()) {}

bool Folder::left() const { return path_ != Current(); }

std::string Folder::Reach(const std::string& path) const {
  if (path.empty() || path_.empty() || fs::path(path).is_absolute() || !left()) return path;
  return (fs::path(path_) / path).lexically_normal().string();
}

void Folder::ReachIn(google::protobuf::Message* message) const {
  if (!left()) return;
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& r = *message->GetReflection();
  const auto reached = [this](const FieldDescriptor& f, const std::string& value) {
    std::error_code error;
    return f.name() == "trace" || fs::exists(fs::path(path_) / value, error) ? Reach(value) : value;
  };
  std::vector<const FieldDescriptor*> fields;
  r.ListFields(*message, &fields);
  for (const FieldDescriptor* f : fields) {
    const int n = f->is_repeated() ? r.FieldSize(*message, f) : 1;
    for (int i = 0; i < n; ++i) {
      if (f->message_type() != nullptr) {
        ReachIn(f->is_repeated() ? r.MutableRepeatedMessage(message, f, i) : r.MutableMessage(message, f));
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING && f->is_repeated()) {
        r.SetRepeatedString(message, f, i, reached(*f, r.GetRepeatedString(*message, f, i)));
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        r.SetString(message, f, reached(*f, r.GetString(*message, f)));
      }
    }
  }
}

}  // namespace chakra::python
