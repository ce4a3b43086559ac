// PacketSim: its parts, window by window.
#include <algorithm>

#include "backends/packet/sim/sim.h"

namespace chakra::packet {
namespace {

// Events of other parts in a window: fewer are not worth waking threads.
constexpr uint64_t kWorthSharing = 200;
// More threads would wait for the one that runs where messages begin and end.
constexpr uint32_t kTasksOfWorker = 4;
// Packets, a line each, from which asking for memory ahead gains more than it costs: 1 MiB. (At 10,000 it
// costs a tenth, at 20,000 it costs nothing, at 80,000 it gains a fifth, where a core has 2 MiB of its own.)
constexpr size_t kMany = 1 << 14;

}  // namespace

template <typename Events>
int64_t PacketSim<Events>::at() {
  const int64_t own = std::min(events_.at(), this->mail().first);
  // What switches do next comes after the window.
  if (running_ && own <= last_) return own;
  Settle();
  return std::min(own, switches_at_);
}

template <typename Events>
void PacketSim<Events>::Run(int64_t limit, bool stop, int64_t bound) {
  if (switches_.empty()) {
    this->large = pool_.most_in_flight() >= kMany;
    RunEnds(limit, stop);
    return;
  }
  for (;;) {
    if (stop && !told_.empty() && at() > now_) return;
    if (!open_) {
      const int64_t begin = at();
      if (begin > limit || begin == std::numeric_limits<int64_t>::max()) return;
      OpenWindow(begin, bound);
    }
    const bool whole = RunEnds(std::min(limit, last_), stop) && limit >= last_;
    if (whole || !overlap_) Settle();
    if (!whole) return;
    open_ = false;
  }
}

// Switches may run from here on until Settle().
template <typename Events>
void PacketSim<Events>::OpenWindow(int64_t begin, int64_t bound) {
  open_ = running_ = true;
  this->large = pool_.most_in_flight() >= kMany;
  begin_ = begin;
  last_ = std::min(bound - begin < network_->lookahead() ? bound : begin + network_->lookahead() - 1, bound);
  mail_ = 0;
  for (Shard* part : parts_) {
    PacketMail& mail = part->mail();
    mail_ |= mail.parts;
    mail.parts = 0;
    mail.first = std::numeric_limits<int64_t>::max();
  }
  this->BeginWindow(this->window_ + 1, begin);
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
  if ((mail_ & 1) != 0) this->TakeMail(parts_);
}

template <typename Events>
void PacketSim<Events>::RunSwitches(uint32_t i) {
  Shard& part = *switches_[i];
  part.BeginWindow(this->window_, begin_);
  const bool mail = (mail_ >> (i + 1) & 1) != 0;
  if (mail) part.TakeMail(parts_);
  if (mail || part.next() <= last_) part.RunWindow(last_);
}

template <typename Events>
void PacketSim<Events>::Settle() {
  if (!running_) return;
  running_ = false;
  if (shared_out_) {
    crew_->Finish();
  } else {
    for (uint32_t i = 0; i < switches_.size(); ++i) RunSwitches(i);
  }
  const uint64_t before = counters_.events;
  for (const auto& part : switches_) part->Settle(&counters_);
  busy_ = counters_.events - before;
  FindNextOfSwitches();
}

template <typename Events>
void PacketSim<Events>::FindNextOfSwitches() {
  switches_at_ = std::numeric_limits<int64_t>::max();
  for (const auto& part : switches_) {
    switches_at_ = std::min({switches_at_, part->next(), part->mail().first});
  }
}

template <typename Events>
bool PacketSim<Events>::RunEnds(int64_t last, bool stop) {
  while (events_.HasUpTo(last)) {
    // All of one instant.
    if (stop && !told_.empty() && events_.at() > now_) return false;
    const PacketEvent e = Next();
    now_ = e.at;
    ++counters_.events;
    Handle(e);
  }
  return true;
}

template <typename Events>
void PacketSim<Events>::ChangeLink(uint32_t index, double share, int64_t now) {
  Settle();
  Shard* part = parts_[network_->node(port(index).node).part];
  part->ChangeLink(index, share, now);
  if (part == this) return;
  part->Settle(&counters_);
  FindNextOfSwitches();
}

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
