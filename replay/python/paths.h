// Paths between Python and the library. Strings of Python may represent bytes that are not UTF-8.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

namespace chakra::python {

// A string, bytes, number or path object as the bytes of a command-line argument.
std::string WordOf(const pybind11::handle& value);
// One path or a list of paths as strings or path objects. A path that begins with "-" gets "./" before it, so
// that it is not read as an option.
std::vector<std::string> PathsOf(const pybind11::object& paths);

// A path for Python to open.
pybind11::str PathText(const std::string& path);

// The folder in which relative paths were given. They still lead there after the process changes its folder.
class Folder {
 public:
  Folder();  // the current one
  explicit Folder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Whether this folder is not the current one.
  bool left() const;
  // A path that was given in this folder, made valid for the current folder.
  std::string Reach(const std::string& path) const;
  // Applies Reach() to the traces of a message, and to all texts of it that name an existing file in this
  // folder.
  void ReachIn(google::protobuf::Message* message) const;

 private:
  std::string path_;
};

}  // namespace chakra::python
