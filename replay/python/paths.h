// Paths between Python, whose texts may stand for bytes that are no UTF-8, and the library.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

namespace chakra::python {

// A text, or what stands for a path, as the bytes of a word of a command line.
std::string WordOf(const pybind11::handle& value);
// Paths, or what stands for them. One that begins as an option does is written so that it is none.
std::vector<std::string> PathsOf(const pybind11::object& paths);

// A path for Python to open.
pybind11::str PathText(const std::string& path);

// The folder in which relative paths were given: where the process goes elsewhere, they still lead there.
class Folder {
 public:
  Folder();  // the current one
  explicit Folder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Whether it is not the current one.
  bool left() const;
  // A path that was given in it, for now.
  std::string Reach(const std::string& path) const;
  // The same of all options of a message whose value is a file there, and of its traces.
  void ReachIn(google::protobuf::Message* message) const;

 private:
  std::string path_;
};

}  // namespace chakra::python
