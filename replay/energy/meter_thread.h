// A meter on a separate thread, so that the run does not wait for it.
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

// Passes all events to a meter, in the same order but later; so the sums of the meter are the same. As long
// as most devices have the same events, the meter handles an event faster than another thread could. The
// thread therefore starts kBatch events after devices begin to differ.
class MeterThread : public RunObserver {
 public:
  // `meter` is not owned.
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

  // Call after the run. When it returns, the meter has all events, and the thread has ended.
  void Stop();

 private:
  static constexpr size_t kBatch = size_t{1} << 14;
  static constexpr size_t kMostBatches = 8;  // maximum number of batches that wait for the meter
  // Kinds from kFirstMembers on are an arrival at a call of kind - kFirstMembers members.
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
  // Runs on the thread.
  void Serve();
  void Tell(const Batch& batch);

  PowerMeter& meter_;
  bool beside_ = false;  // events go to the thread
  Batch filling_;
  std::vector<std::thread> threads_;  // one thread, if the system can start it
  std::mutex mutex_;
  std::condition_variable changed_;
  // The meter works on the first one; guarded by mutex_, as are the members below.
  std::deque<Batch> waiting_;
  std::vector<Batch> emptied_;  // empty batches for reuse
  bool stopping_ = false;
};

}  // namespace chakra::energy
