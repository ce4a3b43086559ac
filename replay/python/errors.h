// Converts statuses to Python exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace chakra::python {

// Becomes chakra_replay.Error in Python.
class StatusError : public std::exception {
 public:
  explicit StatusError(absl::Status status) : status_(std::move(status)), text_(status_.message()) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
  std::string text_;
};

inline void ThrowIf(absl::Status status) {
  if (!status.ok()) throw StatusError(std::move(status));
}

template <typename T>
T OrThrow(absl::StatusOr<T> value) {
  ThrowIf(value.status());
  return *std::move(value);
}

// Throws an InvalidArgument error.
[[noreturn]] inline void ThrowInvalid(const std::string& text) {
  throw StatusError(absl::InvalidArgumentError(text));
}

void BindErrors();

}  // namespace chakra::python
