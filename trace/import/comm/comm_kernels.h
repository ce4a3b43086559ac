// Finds the device operations that communicate, by their names: one table, in comm_kernels.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// What the name of a device operation shows about its communication.
struct CommKernel {
  absl::string_view library;     // "NCCL", "DeepEP", ...; static
  CommOp op = CommOp::kUnknown;  // kUnknown: the name does not show the kind
  absl::string_view dtype;       // a name for ItemSize(); "": the name does not show it
  int64_t group_size = kNone;    // number of members, if a template argument gives it
  bool process_group = false;    // false: the library has its own groups, which captures do not name
};

// kComputes: the table lists the name as one that only resembles communication.
enum class KernelSays : uint8_t { kNothing, kComputes, kCommunicates };

// Reads the name of a device operation. `name` is as a profiler writes it: mangled or not, with or without
// return type, template arguments and parameters. Copies between devices communicate. Sets `out` for
// kCommunicates.
KernelSays ReadCommKernel(absl::string_view name, CommKernel* out);

// A kernel's name in parts: "void a::b<4, c<5>>::f<6>(int)" has the path "a::b::f" and the arguments {"6"}.
struct KernelName {
  std::string path;                    // without return type, template arguments and parameters
  std::vector<std::string> arguments;  // template arguments of the last component
};
KernelName SplitKernelName(absl::string_view name);

}  // namespace chakra::pytorch
