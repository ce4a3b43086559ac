// MaxText's rematerialization: which tensors of a layer its backward pass makes again.
#pragma once

#include "proto/workload.pb.h"
#include "trace/foreign/keys.h"

namespace chakra::foreign {

// Sets training.recompute and recompute_modules by remat_policy and, with the policy custom, by the keys of
// single tensors (device and offload keep one, remat makes it again). XLA makes only what is read: the output
// of the layer's last GEMM is not made again, unless experts need it for the gradient of their shares. Errors
// of `keys`: an unknown policy or place. Leaves out: copies of offloaded tensors, which stay on the device;
// tensors that cannot be kept alone.
void ReadRemat(ForeignKeys& keys, proto::Training* training);

}  // namespace chakra::foreign
