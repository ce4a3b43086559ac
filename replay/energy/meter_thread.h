// A meter on a thread of its own, so that a run does not wait for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "replay/energy/meter.h"
#include "replay/engine/observer.h"

namespace chakra::energy {

// Tells a meter what it is told, in the same order, later: so the meter's sums are the same. As long as
// devices are alike, the meter takes an event in less time than another thread does: the thread begins kBatch
// events after they are no more.
class MeterThread : public RunObserver {
 public:
  // `meter` is borrowed.
  explicit MeterThread(PowerMeter* meter) : meter_(*meter) { filling_.reserve(kBatch); }
  ~MeterThread() override { Stop(); }

  void Begin(uint32_t rank, uint32_t row, Time now) override {
    if (AtOnce()) return meter_.Begin(rank, row, now);
    Add({now, rank, row, 0, kBegin});
  }
  void Wait(uint32_t rank, uint32_t row, Time now) override {
    if (AtOnce()) return meter_.Wait(rank, row, now);
    Add({now, rank, row, 0, kWait});
  }
  void Transfer(uint32_t rank, uint32_t row, Time now) override {
    if (AtOnce()) return meter_.Transfer(rank, row, now);
    Add({now, rank, row, 0, kTransfer});
  }
  void Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) override {
    if (AtOnce()) return meter_.Arrive(rank, row, call, members, now);
    Add({now, rank, row, call, kFirstMembers + members});
  }
  void End(uint32_t rank, uint32_t row, Time now) override {
    if (AtOnce()) return meter_.End(rank, row, now);
    Add({now, rank, row, 0, kEnd});
  }

  // After the run: all events are with the meter, and the thread has ended.
  void Stop();

 private:
  static constexpr size_t kBatch = size_t{1} << 14;
  static constexpr size_t kMostBatches = 8;  // that wait for the meter
  // Beyond the last kind: an arrival at a call of so many members.
  enum Kind : uint32_t { kBegin, kWait, kTransfer, kEnd, kFirstMembers };
  struct Event {
    Time at;
    uint32_t rank, row, call, kind;
  };
  using Batch = std::vector<Event>;

  bool AtOnce() {
    beside_ = beside_ || !meter_.alike();
    return !beside_;
  }
  void Add(const Event& event) {
    filling_.push_back(event);
    if (filling_.size() == kBatch) HandOver();
  }
  void HandOver();
  // On the thread.
  void Serve();
  void Tell(const Batch& batch);

  PowerMeter& meter_;
  bool beside_ = false;  // events go by the thread
  Batch filling_;
  std::vector<std::thread> threads_;  // one, where the system gives it
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;   // the first of them is with the meter; guarded by mutex_, as is all below
  std::vector<Batch> emptied_;  // to be filled again
  bool stopping_ = false;
};

}  // namespace chakra::energy
