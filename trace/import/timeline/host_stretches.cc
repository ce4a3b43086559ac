#include "trace/import/timeline/host_stretches.h"

#include <algorithm>

#include "trace/import/timeline/host_messages.h"

namespace chakra::pytorch {
namespace {

// Emits the nodes of one thread.
class Walker {
 public:
  Walker(const HostThreads& host, const OwnWork& own_work, uint32_t thread, const ThreadMarks& marks,
         TimelineDraft* draft, std::vector<Waiter>* waiters)
      : host_(host),
        own_work_(own_work),
        thread_(thread),
        waits_(marks.waits),
        cuts_(marks.cuts),
        draft_(draft),
        waiters_(waiters) {}

  void Run();

 private:
  void TakeWait(const HostWait& wait, int64_t* from, int64_t to);
  void EmitIdle(int64_t from, int64_t to);
  void EmitOwnWork(int64_t from, int64_t to);
  void EmitStretch(uint32_t row, int64_t from, int64_t to);
  void EmitNode(uint32_t row, int64_t from, int64_t to);

  const HostThreads& host_;
  const OwnWork& own_work_;
  const uint32_t thread_;
  const std::vector<HostWait>& waits_;
  const std::vector<int64_t>& cuts_;
  TimelineDraft* draft_;
  std::vector<Waiter>* waiters_;
  // State after the last emitted node.
  uint32_t last_ = kNoRow;  // last node of the thread
  int64_t waited_ = 0;      // time waited since the last node's end
  bool inside_ = false;     // whether the last node's call is still open
  std::vector<const HostWait*> owed_;
  size_t next_wait_ = 0, next_cut_ = 0;
};

// Emits a node of the call `row`, or of the thread's own work if `row` is kNoRow.
void Walker::EmitNode(uint32_t row, int64_t from, int64_t to) {
  TimelineNode n;
  n.event = row;
  if (row != kNoRow && draft_->first_node[row] != kNoRow)
    n.part = draft_->t.nodes[draft_->last_node[row]].part + 1;
  n.start = from;
  n.dur = to - from;
  n.lane = static_cast<int32_t>(thread_);
  const uint32_t node = draft_->AddOnThread(thread_, n);
  for (const HostWait* wait : owed_) waiters_->push_back({node, wait});
  if (last_ != kNoRow) {
    const int64_t gap = from - draft_->EndOf(last_) - waited_;
    draft_->AddEdge(last_, node, inside_ ? EdgeKind::kCall : EdgeKind::kThread, gap);
  } else if (waited_ == 0) {
    draft_->AddEdge(0, node, EdgeKind::kStart, from - draft_->t.window_begin);
  }
  last_ = node;
  waited_ = 0;
  inside_ = true;
  owed_.clear();
}

// Adds one wait of the stretch from `from` to `to`, and moves `from` to its end.
void Walker::TakeWait(const HostWait& wait, int64_t* from, int64_t to) {
  const int64_t until = std::min(wait.until, to);
  waited_ += std::max<int64_t>(0, until - std::max(*from, wait.from));
  owed_.push_back(&wait);
  *from = std::max(*from, until);
}

// Before the thread's first node, only the time after a wait is known to be work.
void Walker::EmitOwnWork(int64_t from, int64_t to) {
  inside_ = false;
  if (last_ == kNoRow && owed_.empty()) return;
  if (own_work_.Is(thread_, from, to)) EmitNode(kNoRow, from, to);
  inside_ = false;
}

// Emits the time from `from` to `to`, in which the thread had no open call.
void Walker::EmitIdle(int64_t from, int64_t to) {
  for (; next_wait_ < waits_.size() && waits_[next_wait_].from < to; ++next_wait_) {
    EmitOwnWork(from, waits_[next_wait_].from);
    TakeWait(waits_[next_wait_], &from, to);
  }
  EmitOwnWork(from, to);
}

// Emits a stretch of the call `row` without its callees. The stretch is divided where the call waited and
// where it submitted what it launched.
void Walker::EmitStretch(uint32_t row, int64_t from, int64_t to) {
  const auto emit = [&](int64_t a, int64_t b) {
    while (next_cut_ < cuts_.size() && cuts_[next_cut_] <= a) ++next_cut_;
    while (next_cut_ < cuts_.size() && cuts_[next_cut_] < b) {
      EmitNode(row, a, cuts_[next_cut_]);
      a = cuts_[next_cut_++];
    }
    EmitNode(row, a, b);
  };
  bool must = draft_->first_node[row] == kNoRow;
  while (next_wait_ < waits_.size()) {
    const HostWait& wait = waits_[next_wait_];
    if (wait.from >= to && !(wait.call == row && wait.until <= to)) break;
    ++next_wait_;
    if (wait.from > from) emit(from, wait.from);
    from = std::max(from, std::min(wait.from, to));
    TakeWait(wait, &from, to);
    must = true;
  }
  if (must || to > from) emit(from, to);
}

void Walker::Run() {
  std::vector<uint32_t> open;
  int64_t now = draft_->t.window_begin;
  const auto close_until = [&](uint32_t parent) {
    while (!open.empty() && open.back() != parent) {
      const uint32_t row = open.back();
      EmitStretch(row, now, host_.End(row));
      now = host_.End(row);
      open.pop_back();
    }
  };
  for (const uint32_t row : host_.threads[thread_].events) {
    close_until(host_.parent[row]);
    if (open.empty()) {
      EmitIdle(now, host_.Begin(row));
    } else {
      EmitStretch(open.back(), now, host_.Begin(row));
    }
    now = host_.Begin(row);
    open.push_back(row);
  }
  close_until(kNoRow);
}

// Emits events that began on a thread and ended on another one: they are outside of the thread's order.
void EmitAsync(const DeviceTrace& device, const HostThreads& host, uint32_t thread, TimelineDraft* draft) {
  for (const uint32_t row : host.threads[thread].async) {
    TimelineNode n;
    n.event = row;
    n.start = BeginOfMessage(device, host, row);
    n.dur = host.End(row) - n.start;
    n.lane = -1;
    const uint32_t node = draft->Add(n);
    const uint32_t before = draft->LastEnded(thread, n.start);
    if (before == kNoRow) {
      draft->AddEdge(0, node, EdgeKind::kStart, n.start - draft->t.window_begin);
    } else {
      draft->AddEdge(before, node, EdgeKind::kHandOff, n.start - draft->EndOf(before));
    }
  }
}

}  // namespace

std::vector<Waiter> EmitHost(const DeviceTrace& device, const HostThreads& host, const OwnWork& own_work,
                             const std::vector<ThreadMarks>& marks, TimelineDraft* draft) {
  std::vector<Waiter> waiters;
  const auto threads = static_cast<uint32_t>(host.threads.size());
  for (uint32_t t = 0; t < threads; ++t) Walker(host, own_work, t, marks[t], draft, &waiters).Run();
  for (uint32_t t = 0; t < threads; ++t) EmitAsync(device, host, t, draft);
  return waiters;
}

}  // namespace chakra::pytorch
