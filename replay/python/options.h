// Converts keyword arguments to options of the command line.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <string>

#include "replay/python/errors.h"

namespace chakra::python {

// Sets the fields of a message from keyword arguments (trace/io/options.h): `fabric="fluid"` is
// --fabric=fluid, `lanes=None` is ignored, and `no_fast_path=True` is a flag. A list gives one value for each
// element if the option may be repeated, else one value joined by commas. A dict is "key=value,...", or one
// value for each item if the option's values are NAME=VALUE. Errors: TypeError for an unknown name, with the
// nearest name; values that the option does not accept.
void FillOptions(const pybind11::dict& keywords, google::protobuf::Message* message);

// Parses a message that Python holds as bytes. Errors: the bytes are not such a message.
template <typename M>
M MessageOf(const std::string& bytes) {
  M message;
  if (!message.ParseFromString(bytes)) ThrowInvalid("arguments of another version");
  return message;
}

void BindOptions(pybind11::module_& module);

}  // namespace chakra::python
