// Finds the operators and annotations of the host that communicate, and their sizes: one table, in
// comm_operators.cc.
#pragma once

#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// An operator or annotation that communicates.
struct CommOperator {
  CommOp op = CommOp::kUnknown;
  bool annotation = false;  // of a process group's backend ("nccl:all_reduce"): all its inputs are sent
  int input = -1;           // the argument that is sent; -1: the first tensor
  int output = -1;          // the argument that is received; -1: not known
  bool whole = false;       // every kernel that it launches communicates
  bool closes = false;      // it ends the calls before it, which run as one ("nccl:ALLGATHER_coalesced")
  // Of "nccl:send 0->1" or "nccl:recv 1<-0": ranks in the group.
  int64_t rank = kNone, peer = kNone;
};

// Returns false if an operator of that name does not communicate, or only prepares communication.
bool ReadCommOperator(absl::string_view name, CommOperator* out);

// Reads what a call of `op` moves on this rank, from the shapes and types of its arguments. These are JSON
// texts such as "[[8,1024],[]]" and "[\"float\",\"\"]". Sets op, dtype, in_elems, in_bytes, out_elems,
// out_bytes, rank and root of `call`; members that the arguments do not give keep their values.
void ReadOperatorCall(const CommOperator& op, absl::string_view shapes, absl::string_view types,
                      CommCall* call);

}  // namespace chakra::pytorch
