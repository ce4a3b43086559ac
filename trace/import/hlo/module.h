// An XLA module after its optimizations: the program that one device runs, with shapes and collectives.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra::hlo {

// The shape of an array or a tuple. XLA's "token" and "opaque" have no bytes.
struct Shape {
  std::string type;           // "bf16", "f32", "s32", "pred", ...; "" for a tuple
  std::vector<int64_t> dims;  // of a dynamic dimension, its bound
  std::vector<Shape> parts;   // of a tuple
  bool host = false;          // in the host's memory: S(5) in its layout
  bool tuple() const { return type.empty(); }
};

// A name for messages; long names are cut.
std::string Short(absl::string_view name);

// Bits of one element of "bf16", "f32", ...; 0: the type is not known, or has no data.
int BitsOfType(absl::string_view type);
// Number of elements of an array (1 for a scalar), or of all parts of a tuple. Saturates at 2^62.
int64_t ElementsOf(const Shape& shape);
// Bytes of an array, or of all parts of a tuple. Saturates at 2^62.
int64_t BytesOf(const Shape& shape);

// Sets of devices of a collective, in one of the forms that XLA writes.
struct ReplicaGroups {
  std::vector<std::vector<int64_t>> listed;  // {{0,1},{2,3}}; all empty: one group of all
  // [2,4]<=[4,2]T(1,0): the numbers 0, 1, ... as an array of shape `reshape`, transposed, then cut into
  // `groups` groups of `size`.
  int64_t groups = 0, size = 0;
  std::vector<int64_t> reshape;
  std::vector<int64_t> transpose;  // empty: not transposed
  bool iota() const { return groups > 0; }
};

// Returns the groups as lists. Empty: the sizes of the form do not agree, or there are more devices than
// kMostDevices.
std::vector<std::vector<int64_t>> ListGroups(const ReplicaGroups& groups);
inline constexpr int64_t kMostDevices = int64_t{1} << 22;

// An axis of a mesh, or a part of an axis, along which a collective communicates.
struct AxisRef {
  int64_t axis = 0;
  // Of a part: the product of the sizes of the parts before it, and its own size; size 0: the whole axis.
  int64_t pre_size = 1, size = 0;
};
// Makes the groups of devices that differ only along `refs`, in a mesh of axes of these sizes. `devices`: the
// ids in the order of the mesh; empty: 0, 1, ... Returns null, or an error text: an axis does not exist, an
// axis or a part of it is named twice, a part does not divide its axis, there are no or too many devices.
const char* GroupsAlongMesh(const std::vector<int64_t>& sizes, const std::vector<AxisRef>& refs,
                            const std::vector<int64_t>& devices, ReplicaGroups* out);

// Dimensions of a GEMM, and of a convolution.
struct DotDims {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  std::vector<int64_t> rhs_group;  // of ragged-dot: the dimension of the weights that numbers the groups
};
struct ConvDims {
  int64_t input_batch = 0, input_feature = 1, kernel_input = 1, kernel_output = 0, output_batch = 0,
          output_feature = 1;
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;
};

// One spatial dimension of a convolution's window.
struct WindowDim {
  int64_t size = 1, stride = 1, pad_low = 0, dilation = 1, base_dilation = 1;
};

struct Instruction {
  std::string name;
  std::string opcode;  // "fusion", "all-reduce-start", ...
  Shape shape;
  std::vector<uint32_t> operands;  // rows of the computation's instructions
  std::vector<uint32_t> calls;     // rows of Module::computations
  std::vector<uint32_t> control;   // rows of instructions that must run before
  ReplicaGroups replica_groups;
  std::vector<std::pair<int64_t, int64_t>> pairs;  // source, target
  DotDims dot;
  ConvDims conv;
  std::vector<WindowDim> window;  // empty: not recorded
  std::string op_name;            // metadata: the name in the program
  std::string target;             // of a custom call
  std::string backend_config;     // as written
  std::string async_thread;       // of async-start
  int64_t channel = 0;            // 0: none
  int64_t tuple_index = 0;
  int64_t parameter = 0;  // number of a parameter
  int64_t feature_groups = 1, batch_groups = 1;
  int64_t slice_elements = 0;  // of a permute in place: elements that each device sends; 0: the whole operand
  int64_t trip_count = -1;     // of a while, if the compiler knows it; -1: not known
  int64_t constant = INT64_MIN;  // of a scalar integer constant; INT64_MIN: none
  std::string direction;         // of a comparison: "LT", ...
  bool global_ids = false;       // ids of groups are replica * partitions + partition
  bool host_transfer = false;    // of a send or receive: the other end is the host
  bool synchronous = false;      // of a start: the compiler runs it on the main stream
};

struct Computation {
  std::string name;
  // Operands before their users; in the order of the schedule, if there is one.
  std::vector<Instruction> instructions;
  uint32_t root = kNoRow;
  absl::flat_hash_map<std::string, uint32_t> rows;  // by name
};

struct Module {
  std::string name;
  std::vector<Computation> computations;
  uint32_t entry = kNoRow;
  int64_t replicas = 0, partitions = 0;          // 0: not given
  std::vector<std::vector<int64_t>> assignment;  // device of [partition][replica]; empty: not given
  bool scheduled = false;
  bool fused_here = false;  // its fusions are not those of XLA (fuse.h)
  // Returns the first instruction of this name in any computation; null: there is none.
  const Instruction* Find(absl::string_view name) const;
  // Returns the row of the computation that has the instruction; kNoRow: there is none.
  uint32_t ComputationOf(absl::string_view name) const;
};

}  // namespace chakra::hlo
