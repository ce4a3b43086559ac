#include "replay/energy/meter_thread.h"

#include <utility>

#include "trace/base/parallel.h"

namespace chakra::energy {

void MeterThread::HandOver() {
  if (threads_.empty())
    StartThreads(
        1, [this](int) { Serve(); }, &threads_);
  if (threads_.empty()) {  // the system has no thread left
    Tell(filling_);
    filling_.clear();
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kMostBatches; });
  waiting_.push_back(std::move(filling_));
  filling_ = Batch();
  if (!emptied_.empty()) {
    filling_ = std::move(emptied_.back());
    emptied_.pop_back();
  }
  lock.unlock();
  changed_.notify_all();
  filling_.clear();
  filling_.reserve(kBatch);
}

void MeterThread::Stop() {
  if (!threads_.empty()) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    threads_.front().join();
    threads_.clear();
  }
  Tell(filling_);
  filling_.clear();
}

void MeterThread::Serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Batch batch = std::move(waiting_.front());
    lock.unlock();
    Tell(batch);
    lock.lock();
    waiting_.pop_front();
    emptied_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

void MeterThread::Tell(const Batch& batch) {
  for (const Event& e : batch) {
    switch (e.kind) {
      case kBegin:
        meter_.Begin(e.rank, e.row, e.at);
        break;
      case kWait:
        meter_.Wait(e.rank, e.row, e.at);
        break;
      case kTransfer:
        meter_.Transfer(e.rank, e.row, e.at);
        break;
      case kEnd:
        meter_.End(e.rank, e.row, e.at);
        break;
      default:
        meter_.Arrive(e.rank, e.row, e.call, e.kind - kFirstMembers, e.at);
    }
  }
}

}  // namespace chakra::energy
