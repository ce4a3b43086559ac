// Keyword arguments as the options of the command line.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <string>

#include "replay/python/errors.h"

namespace chakra::python {

// Keyword arguments as fields of a message (trace/io/options.h): `fabric="fluid"` is --fabric=fluid,
// `lanes=None` is left out, `no_fast_path=True` is a flag; of what may be repeated a list gives one value
// each. A dict is "key=value,...", and of options whose values are NAME=VALUE one value for each item.
// Errors: TypeError for a name that there is not, with the nearest; values that the option does not take.
void FillOptions(const pybind11::dict& keywords, google::protobuf::Message* message);

// A message that Python holds. Errors: it is none.
template <typename M>
M MessageOf(const std::string& bytes) {
  M message;
  if (!message.ParseFromString(bytes)) ThrowInvalid("arguments of another version");
  return message;
}

void BindOptions(pybind11::module_& module);

}  // namespace chakra::python
