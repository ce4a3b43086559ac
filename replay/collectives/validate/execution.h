// Executes a plan symbolically in one order, which represents all orders: any two steps that conflict on a
// chunk must be ordered by the plan, or the execution fails.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/collectives/proof.h"
#include "replay/collectives/validate/contents.h"
#include "replay/collectives/validate/wiring.h"

namespace chakra {

class Execution {
 public:
  // The arguments must outlive the execution. `wiring` must come from CheckPlan().
  Execution(const Plan& plan, const Wiring& wiring, const ProofOptions& options, PlanFault* fault)
      : plan_(plan), wiring_(wiring), options_(options), fault_(fault) {}

  absl::Status Run();

 private:
  using Clock = std::vector<uint32_t>;  // steps done, by stream
  struct Message {
    int chunk = 0;
    int count = 0;
    uint8_t pattern = 0;
    uint32_t stream = 0;  // the sender's stream and step
    uint32_t step = 0;
    std::vector<int32_t> block;  // by chunk
    std::vector<uint64_t> bits;  // number of words for each chunk: Contents::words()
    Clock clock;
  };
  struct StreamState {
    uint32_t next = 0;
    uint32_t steps = 0;
    bool queued = false;
    bool awaits = false;
    Clock clock;
    std::vector<std::pair<uint32_t, Clock>> awaited;  // awaited numbers of steps, with the clocks after these
                                                      // steps
  };
  struct Access {
    uint32_t stream = kNoStream;
    uint32_t step = 0;
  };
  // A step that overwrote content without restoring it.
  struct Loss {
    uint32_t stream, step;
    int32_t block;
    MemberBits bits;
  };

  absl::Status Begin();
  absl::Status RunStream(uint32_t stream);
  // Executes the next step of `stream`. Sets `done` to false if the step must wait.
  absl::Status One(uint32_t stream, bool* done);
  absl::Status Send(uint32_t stream, const PlainStep& step, bool* done);
  absl::Status Receive(uint32_t stream, const PlainStep& step, bool* done);
  absl::Status Local(uint32_t stream, const PlainStep& step);
  bool Await(uint32_t stream, const PlainStep& step);
  // Stores one chunk that was received or read, or adds it if `add`.
  absl::Status Put(uint32_t stream, int chunk, bool add, int32_t block, const uint64_t* bits,
                   const Message* from);
  absl::Status MayRead(uint32_t stream, int chunk, absl::string_view what);
  absl::Status MayWrite(uint32_t stream, int chunk);
  void AfterStep(uint32_t stream);
  void Wake(uint32_t stream);
  absl::Status Waiting() const;
  absl::Status LeftOver() const;
  absl::Status Result();
  int Misplaced(int m, int32_t block, int missing, int but);
  uint32_t Blocker(uint32_t stream) const;

  int Node(uint32_t stream) const { return static_cast<int>(wiring_.node_of[stream]); }
  PlanFault Place(uint32_t stream, uint32_t step) const {
    const int node = Node(stream);
    return {node, static_cast<int>(stream - wiring_.stream_base[node]), static_cast<int>(step)};
  }
  std::string Text(uint32_t stream, uint32_t step) const {
    const PlanFault at = Place(stream, step);
    return StepPlace(plan_, at.node, at.stream, at.step);
  }
  absl::Status Bad(uint32_t stream, absl::string_view what, const Message* from = nullptr) const;

  const Plan& plan_;
  const Wiring& wiring_;
  const ProofOptions& options_;
  PlanFault* fault_;
  bool barrier_ = false;
  bool clocks_ = false;  // whether some node has several streams
  Contents contents_;
  std::vector<StreamState> streams_;
  std::deque<uint32_t> ready_;
  std::vector<std::deque<Message>> inbox_;  // by connection
  std::vector<Access> writer_;              // by cell: the last write
  std::vector<size_t> reads_begin_;         // by node: index of its first cell in reads_
  std::vector<uint32_t> reads_;             // by cell and stream of the cell's node: 1 + the step of the last
                                            // read
  std::vector<Loss> losses_;
};

}  // namespace chakra
