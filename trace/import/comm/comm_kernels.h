// Which device operations communicate, by their names: one table, in comm_kernels.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// What the name of a device operation tells of its communication.
struct CommKernel {
  absl::string_view library;     // "NCCL", "DeepEP", ...; static
  CommOp op = CommOp::kUnknown;  // kUnknown: the name does not tell the kind
  absl::string_view dtype;       // as ItemSize() reads it; "": the name does not tell it
  int64_t group_size = kNone;    // members, where a template argument gives them
  bool process_group = false;    // false: the library has groups of its own, which no capture names
};

// kComputes: the table lists the name as one that only looks like communication.
enum class KernelSays : uint8_t { kNothing, kComputes, kCommunicates };

// `name` is as a profiler writes it: mangled or not, with or without return type, template arguments and
// parameters. Copies between devices communicate. Fills `out` for kCommunicates.
KernelSays ReadCommKernel(absl::string_view name, CommKernel* out);

// A kernel's name in parts: "void a::b<4, c<5>>::f<6>(int)" has the path "a::b::f" and the arguments {"6"}.
struct KernelName {
  std::string path;                    // without return type, template arguments and parameters
  std::vector<std::string> arguments;  // template arguments of the last component
};
KernelName SplitKernelName(absl::string_view name);

}  // namespace chakra::pytorch
