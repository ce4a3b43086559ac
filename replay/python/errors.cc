#include "replay/python/errors.h"

#include "absl/strings/ascii.h"

namespace py = pybind11;

namespace chakra::python {

void BindErrors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const StatusError& e) {
      // Messages may quote bytes of files that are not UTF-8.
      const std::string text = e.what();
      const py::object message = py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
      const py::object type = py::module_::import("chakra_replay._errors").attr("Error");
      const py::object error =
          type(message, absl::AsciiStrToLower(absl::StatusCodeToString(e.status().code())));
      PyErr_SetObject(type.ptr(), error.ptr());
    }
  });
}

}  // namespace chakra::python
