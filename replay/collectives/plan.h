// A collective as data: per member, streams of sends, receives and reductions
// on chunk ranges. The form is MSCCL's, so that a plan from a file is no
// special case.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/trace.h"

namespace chakra {

enum class StepOp : uint8_t {
  kSend,        // starts a message and goes on
  kSendWait,    // starts a message and waits until its last byte has left
  kRecv,        // waits for a message
  kRecvReduce,  // waits for a message and adds it to what is there
};

// Chunk c of a plan of n chunks over B bytes holds bytes [c*B/n, (c+1)*B/n).
struct Step {
  StepOp op;
  uint16_t connection;  // dense index among the receiver's incoming connections
  int32_t peer;         // member; in a rotational plan: offset from the member, in [0, members)
  int32_t chunk;        // first chunk; in a rotational plan: offset from the member, modulo chunks
  int32_t count;        // chunks
};

// Steps of a stream run in order. Streams of a member run side by side.
struct Stream {
  uint32_t begin = 0;  // in Program::steps
  uint32_t end = 0;
};

struct Program {
  std::vector<Stream> streams;
  std::vector<Step> steps;
  uint32_t connections = 0;  // incoming
};

// Members are positions in the group, [0, members).
struct Plan {
  CollectiveType type = CollectiveType::kAllReduce;
  std::string algorithm;
  int members = 0;
  int chunks = 1;
  // True: every member runs programs[0], with peers and chunks relative to
  // itself. Else programs[m] is member m's.
  bool rotational = false;
  // True: no member can end before every member has begun.
  bool synchronizing = false;
  // Chunks are of B bytes each (all-gather: B per member), else B is cut.
  bool chunk_is_whole = false;
  std::vector<Program> programs;

  // Derived by BuildPlan: the first stream and the first incoming connection of
  // each member when all members' are numbered through. members + 1 entries.
  std::vector<uint32_t> stream_base;
  std::vector<uint32_t> connection_base;

  const Program& program(int member) const { return programs[rotational ? 0 : member]; }
};

inline uint64_t ChunkBytes(const Plan& plan, uint64_t bytes, int first, int count) {
  if (plan.chunk_is_whole) return bytes * static_cast<uint64_t>(count);
  const auto n = static_cast<unsigned __int128>(plan.chunks);
  const auto at = [&](int c) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * static_cast<unsigned>(c) / n);
  };
  return at(first + count) - at(first);
}

}  // namespace chakra
