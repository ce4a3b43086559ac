// Definitions of Windows, for files that instantiate it.
#pragma once

#include <algorithm>

#include "backends/packet/parts/shard_impl.h"
#include "backends/packet/parts/windows.h"

namespace chakra::packet {

template <typename Events>
int64_t Windows<Events>::at() {
  if (stopped_) return std::numeric_limits<int64_t>::max();
  const int64_t own = std::min(first_.event_loop().events().at(), first_.event_loop().mailbox().first);
  // The next events of switches come after the window.
  if (running_ && own <= last_) return own;
  Settle();
  return std::min(own, switches_at_);
}

template <typename Events>
void Windows<Events>::Run(int64_t limit, bool stop, int64_t bound) {
  if (switches_.empty()) {
    LookAtPool();
    if (!stopped_) RunFirst(limit, stop);
    return;
  }
  for (;;) {
    if (Stops()) return Settle();
    if (stop && !told_.empty() && at() > first_.event_loop().now()) return;
    if (!open_) {
      const int64_t begin = at();
      if (begin > limit || begin == std::numeric_limits<int64_t>::max()) return;
      Open(begin, bound);
    }
    const bool whole = RunFirst(std::min(limit, last_), stop) && limit >= last_;
    if (whole || !overlap_) Settle();
    if (!whole) return;
    open_ = false;
  }
}

template <typename Events>
void Windows<Events>::LookAtPool() {
  // In packets of 64 bytes: 1 MiB. (Prefetching costs a tenth of the time at 10,000 packets, nothing at
  // 20,000, and saves a fifth at 80,000, on a core with 2 MiB of its own cache.)
  constexpr size_t kMany = 1 << 14;
  large_ = pool_.most_in_flight() >= kMany;
}

// From here on, switches may run until Settle().
template <typename Events>
void Windows<Events>::Open(int64_t begin, int64_t bound) {
  // Number of events of switches in the last window: with fewer it is not worth waking threads.
  constexpr uint64_t kWorthSharing = 200;
  // With fewer tasks for each, workers would wait for the thread that runs the first shard.
  constexpr uint32_t kTasksOfWorker = 4;
  open_ = running_ = true;
  LookAtPool();
  begin_ = begin;
  last_ = std::min(bound - begin < network_.lookahead() ? bound : begin + network_.lookahead() - 1, bound);
  mailbox_ = 0;
  for (Shard<Events>* shard : all_) {
    Mailbox& mailbox = shard->event_loop().mailbox();
    mailbox_ |= mailbox.parts;
    mailbox.parts = 0;
    mailbox.first = std::numeric_limits<int64_t>::max();
  }
  first_.event_loop().BeginWindow(first_.event_loop().window() + 1, begin);
  shared_out_ = threads_ > 1 && busy_ >= kWorthSharing;
  if (shared_out_) {
    if (crew_ == nullptr) {
      const auto tasks = static_cast<uint32_t>(switches_.size());
      const auto most = static_cast<int>(std::max(1u, tasks / kTasksOfWorker));
      crew_ = std::make_unique<WorkerCrew>(std::min(threads_ - 1, most), tasks,
                                           [this](uint32_t task) { RunSwitches(task); });
    }
    crew_->Begin();
  }
  if ((mailbox_ & 1) != 0) first_.TakeMessages(all_);
}

template <typename Events>
void Windows<Events>::RunSwitches(uint32_t i) {
  Shard<Events>& shard = *switches_[i];
  shard.event_loop().BeginWindow(first_.event_loop().window(), begin_);
  const bool mailbox = (mailbox_ >> (i + 1) & 1) != 0;
  if (mailbox) shard.TakeMessages(all_);
  if (mailbox || shard.next() <= last_) shard.Run(last_);
}

template <typename Events>
void Windows<Events>::Settle() {
  if (!running_) return;
  running_ = false;
  if (shared_out_) {
    crew_->Finish();
  } else {
    for (uint32_t i = 0; i < switches_.size(); ++i) RunSwitches(i);
  }
  const uint64_t before = totals_.events;
  for (const auto& shard : switches_) shard->Settle(&totals_);
  busy_ = totals_.events - before;
  FindNextOfSwitches();
}

template <typename Events>
void Windows<Events>::FindNextOfSwitches() {
  switches_at_ = std::numeric_limits<int64_t>::max();
  for (const auto& shard : switches_) {
    switches_at_ = std::min({switches_at_, shard->next(), shard->event_loop().mailbox().first});
  }
}

template <typename Events>
bool Windows<Events>::RunFirst(int64_t last, bool stop) {
  constexpr uint32_t kEventsPerLook = 1 << 14;
  // Finishes all events of one instant.
  return first_.RunUnless(last, [this, stop] {
    if (++asked_ % kEventsPerLook == 0 && Stops()) return true;
    return stop && !told_.empty() && first_.event_loop().events().at() > first_.event_loop().now();
  });
}

template <typename Events>
void Windows<Events>::ChangeLink(uint32_t index, double share, int64_t now) {
  Settle();
  Shard<Events>* shard = all_[network_.node(network_.port(index).node).part];
  shard->ChangeLink(index, share, now);
  if (shard == &first_) return;
  shard->Settle(&totals_);
  FindNextOfSwitches();
}

}  // namespace chakra::packet
