#include "replay/python/paths.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
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

bool IsText(const std::string& text) {
  const py::object read = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"));
  if (!read) PyErr_Clear();
  return static_cast<bool>(read);
}

}  // namespace

std::string WordOf(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "yes" : "no";
  if (py::hasattr(value, "__fspath__")) return WordOf(value.attr("__fspath__")());
  if (py::isinstance<py::bytes>(value)) return value.cast<std::string>();
  // Of a float the shortest that reads back equal.
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

py::list WordList(const std::vector<std::string>& words) {
  py::list out;
  for (const std::string& word : words) {
    if (IsText(word))
      out.append(py::str(word));
    else
      out.append(py::bytes(word));
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

std::vector<std::string> Folder::ReachWords(const std::vector<std::string>& words) const {
  if (!left()) return words;
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const size_t value = absl::StartsWith(word, "--") ? word.find('=') : std::string::npos;
    std::error_code error;
    if (!absl::StartsWith(word, "-")) {
      out.push_back(Reach(word));
    } else if (value != std::string::npos && fs::exists(fs::path(path_) / word.substr(value + 1), error)) {
      out.push_back(absl::StrCat(word.substr(0, value + 1), Reach(word.substr(value + 1))));
    } else {
      out.push_back(word);
    }
  }
  return out;
}

}  // namespace chakra::python
