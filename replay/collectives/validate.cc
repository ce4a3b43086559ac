// Symbolic execution of plans: a chunk is the set of members whose data it
// holds. Programs are sequential and receives name their connection, so every
// order of messages leads to the same result, and one order proves all.
#include <deque>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/collectives/registry.h"

namespace chakra {
namespace {

using Members = std::vector<bool>;  // by member

struct Packet {
  int chunk = 0;
  std::vector<Members> content;  // by chunk of the range
};

class Prover {
 public:
  Prover(const Plan& plan, int root) : plan_(plan), n_(plan.members), root_(root) {}

  absl::Status Run() {
    Begin();
    next_.resize(plan_.stream_base.back());
    inbox_.resize(plan_.connection_base.back());
    if (absl::Status s = Execute(); !s.ok()) return s;
    for (int m = 0; m < n_; ++m) {
      for (uint32_t c = plan_.connection_base[m]; c < plan_.connection_base[m + 1]; ++c) {
        if (!inbox_[c].empty()) {
          return Bad(m, absl::StrCat("connection ", c - plan_.connection_base[m], " ends with ",
                                     inbox_[c].size(), " messages that no step receives"));
        }
      }
    }
    return CheckEnd();
  }

 private:
  absl::Status Bad(int member, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("plan ", plan_.algorithm, " for ",
                                                   std::string(Name(plan_.type)), " on ", n_,
                                                   " members: member ", member, ": ", std::string(what)));
  }

  bool Barrier() const { return plan_.type == CollectiveType::kBarrier; }

  void Begin() {
    using T = CollectiveType;
    hold_.assign(n_, std::vector<Members>(plan_.chunks, Members(n_, false)));
    from_.assign(n_, Members(n_, false));
    for (int m = 0; m < n_; ++m) {
      for (int c = 0; c < plan_.chunks; ++c) {
        switch (plan_.type) {
          case T::kAllGather:
          case T::kGather:
            hold_[m][c][m] = c == m;
            break;
          case T::kBroadcast:
          case T::kScatter:
            hold_[m][c][m] = m == root_;
            break;
          default:  // everyone contributes to everything
            hold_[m][c][m] = true;
        }
      }
    }
  }

  absl::Status Execute() {
    bool moved = true;
    bool all = false;
    while (moved && !all) {
      moved = false;
      all = true;
      for (int m = 0; m < n_; ++m) {
        const Program& program = plan_.program(m);
        for (uint32_t s = 0; s < program.streams.size(); ++s) {
          uint32_t& at = next_[plan_.stream_base[m] + s];
          const Stream& stream = program.streams[s];
          while (stream.begin + at < stream.end) {
            bool done = false;
            absl::Status status = Step1(m, stream.begin + at, program.steps[stream.begin + at], &done);
            if (!status.ok()) return status;
            if (!done) break;
            ++at;
            moved = true;
          }
          all = all && stream.begin + at == stream.end;
        }
      }
    }
    if (all) return absl::OkStatus();
    for (int m = 0; m < n_; ++m) {
      const Program& program = plan_.program(m);
      for (uint32_t s = 0; s < program.streams.size(); ++s) {
        const uint32_t at = next_[plan_.stream_base[m] + s];
        if (program.streams[s].begin + at < program.streams[s].end) {
          return Bad(m, absl::StrCat("step ", program.streams[s].begin + at,
                                     " waits for a message that never comes"));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status Step1(int m, uint32_t index, const Step& step, bool* done) {
    const int peer = plan_.rotational ? (m + step.peer) % n_ : step.peer;
    if (peer < 0 || peer >= n_ || peer == m)
      return Bad(m, absl::StrCat("step ", index, ": no such peer: ", step.peer));
    const int chunk = plan_.rotational ? (m + step.chunk) % plan_.chunks : step.chunk;
    if (chunk < 0 || step.count < 0 || chunk + step.count > plan_.chunks) {
      return Bad(m, absl::StrCat("step ", index, ": no such chunks: ", step.chunk, " + ", step.count));
    }
    const bool send = step.op == StepOp::kSend || step.op == StepOp::kSendWait;
    const int receiver = send ? peer : m;
    const uint32_t connections = plan_.connection_base[receiver + 1] - plan_.connection_base[receiver];
    if (step.connection >= connections) return Bad(m, absl::StrCat("step ", index, ": no such connection"));
    std::deque<Packet>& inbox = inbox_[plan_.connection_base[receiver] + step.connection];
    if (send) {
      Packet packet{chunk, {}};
      for (int c = 0; c < step.count; ++c) packet.content.push_back(hold_[m][chunk + c]);
      if (Barrier()) packet.content.push_back(hold_[m][0]);
      inbox.push_back(std::move(packet));
      *done = true;
      return absl::OkStatus();
    }
    if (inbox.empty()) return absl::OkStatus();
    const Packet packet = std::move(inbox.front());
    inbox.pop_front();
    *done = true;
    return Receive(m, index, step, peer, chunk, packet);
  }

  absl::Status Receive(int m, uint32_t index, const Step& step, int peer, int chunk, const Packet& packet) {
    if (Barrier()) return Merge(m, index, false, packet.content[0], &hold_[m][0]);
    if (static_cast<int>(packet.content.size()) != step.count) {
      return Bad(m, absl::StrCat("step ", index, ": receives ", packet.content.size(), " chunks, expected ",
                                 step.count));
    }
    if (plan_.type == CollectiveType::kAllToAll) {
      if (packet.chunk != m)
        return Bad(m, absl::StrCat("step ", index, ": receives what was meant for ", packet.chunk));
      from_[m][peer] = true;
      return absl::OkStatus();
    }
    if (packet.chunk != chunk) {
      return Bad(m, absl::StrCat("step ", index, ": receives chunk ", packet.chunk, ", expected ", chunk));
    }
    for (int c = 0; c < step.count; ++c) {
      if (step.op == StepOp::kRecv) {
        hold_[m][chunk + c] = packet.content[c];
      } else if (absl::Status s = Merge(m, index, true, packet.content[c], &hold_[m][chunk + c]); !s.ok()) {
        return s;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Merge(int m, uint32_t index, bool disjoint, const Members& in, Members* into) {
    for (int i = 0; i < n_; ++i) {
      if (!in[i]) continue;
      if (disjoint && (*into)[i])
        return Bad(m, absl::StrCat("step ", index, ": adds member ", i, "'s data twice"));
      (*into)[i] = true;
    }
    return absl::OkStatus();
  }

  bool Full(int m, int chunk) const { return hold_[m][chunk] == Members(n_, true); }
  bool Only(int m, int chunk, int owner) const {
    Members want(n_, false);
    want[owner] = true;
    return hold_[m][chunk] == want;
  }

  bool Right(int m) const {
    using T = CollectiveType;
    bool right = true;
    for (int c = 0; c < plan_.chunks; ++c) {
      switch (plan_.type) {
        case T::kAllReduce:
        case T::kBarrier:
          right = right && Full(m, c);
          break;
        case T::kReduce:
          right = right && (m != root_ || Full(m, c));
          break;
        case T::kReduceScatter:
        case T::kReduceScatterBlock:
          right = right && (c != m || Full(m, c));
          break;
        case T::kAllGather:
          right = right && Only(m, c, c);
          break;
        case T::kGather:
          right = right && (m != root_ || Only(m, c, c));
          break;
        case T::kScatter:
          right = right && (c != m || Only(m, c, root_));
          break;
        case T::kBroadcast:
          right = right && Only(m, c, root_);
          break;
        case T::kAllToAll:
          break;
      }
    }
    if (plan_.type == T::kAllToAll) {
      for (int i = 0; i < n_; ++i) right = right && (i == m || from_[m][i]);
    }
    return right;
  }

  absl::Status CheckEnd() const {
    for (int m = 0; m < n_; ++m) {
      if (!Right(m)) return Bad(m, "ends without the result of the collective");
    }
    return absl::OkStatus();
  }

  const Plan& plan_;
  int n_;
  int root_;
  std::vector<std::vector<Members>> hold_;  // [member][chunk]
  std::vector<Members> from_;               // all-to-all: [member][whose block it has]
  std::vector<uint32_t> next_;
  std::vector<std::deque<Packet>> inbox_;
};

}  // namespace

absl::Status ValidatePlan(const Plan& plan, int root) { return Prover(plan, root).Run(); }

}  // namespace chakra
