// Parses MSCCL XML and checks it element by element.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra::msccl {

enum class Op : uint8_t {
  kSend,
  kRecv,
  kRecvCopySend,
  kRecvReduceSend,
  kRecvReduceCopy,
  kRecvReduceCopySend,
  kCopy,
  kReduce,
  kNop
};
inline constexpr absl::string_view kOpNames[] = {"s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"};

inline bool Sends(Op op) {
  return op == Op::kSend || op == Op::kRecvCopySend || op == Op::kRecvReduceSend ||
         op == Op::kRecvReduceCopySend;
}
inline bool Receives(Op op) { return op >= Op::kRecv && op <= Op::kRecvReduceCopySend; }

enum Buffer { kInput, kOutput, kScratch };  // "i", "o", "s"

struct Place {
  int buffer = kInput;
  int offset = 0;  // chunks
};

struct Step {
  int line = 0;
  Op op = Op::kNop;
  Place src, dst;
  int count = 0;   // chunks
  int depid = -1;  // thread block of the same GPU, -1: none
  int deps = -1;   // step of thread block `depid`
  bool hasdep = false;
};

struct Block {
  int line = 0;
  int send = -1, recv = -1;  // peers
  int chan = 0;
  std::vector<Step> steps;
};

struct Gpu {
  int line = 0;
  std::array<int, 3> chunks = {0, 0, 0};  // by Buffer
  std::vector<Block> blocks;              // by id
};

struct Algo {
  int line = 0;
  std::string name;
  std::string proto;  // lower case
  CollectiveType type = CollectiveType::kAllReduce;
  int nchannels = 1;
  int nchunks = 1;  // nchunksperloop
  bool in_place = false, out_of_place = false;
  uint64_t min_bytes = 0, max_bytes = 0;  // inclusive
  std::vector<Gpu> gpus;                  // by id
};

// Parses the text of the file `path`. Ignores elements and attributes that MSCCL does not define.
absl::StatusOr<Algo> Parse(absl::string_view text, const std::string& path);

// The error "FILE:12: gpu 0, tb 1, step 2: WHAT". Parts with negative numbers are left out.
absl::Status Error(const std::string& path, int line, int gpu, int block, int step, absl::string_view what);

}  // namespace chakra::msccl
