#include "replay/python/watch.h"

#include <future>
#include <system_error>
#include <utility>

#include "trace/base/stop.h"

namespace py = pybind11;

namespace chakra::python {

void Watch::Run(const std::function<void()>& work) {
  std::exception_ptr failed;
  {
    const py::gil_scoped_release released;
    const auto stoppable = [&] {
      const StopScope scope(&stop_);
      work();
    };
    try {
      std::future<void> ends;
      try {
        ends = std::async(std::launch::async, stoppable);
      } catch (const std::system_error&) {  // no more threads are available
        stoppable();
      }
      while (ends.valid() && ends.wait_for(kEvery) != std::future_status::ready) Look();
      if (ends.valid()) ends.get();
    } catch (...) {
      failed = std::current_exception();
    }
  }
  if (failed && !raised_) std::rethrow_exception(failed);
  End();
}

void Watch::End() {
  if (raised_) std::rethrow_exception(raised_);
  PassOn();
}

void Watch::Look() {
  const auto now = std::chrono::steady_clock::now();
  if (stop_.load() || now < next_) return;
  next_ = now + kEvery;
  const py::gil_scoped_acquire held;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    PassOn();
  } catch (...) {
    raised_ = std::current_exception();
    stop_ = true;
  }
}

void Watch::PassOn() {
  std::optional<News> news;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    news.swap(news_);
  }
  if (!news.has_value() || progress_.is_none()) return;
  if (news->seconds.has_value())
    progress_(news->share, *news->seconds, news->done, news->of);
  else
    progress_(news->share, news->done, news->of);
}

void Watch::Note(const News& news) {
  const std::lock_guard<std::mutex> lock(mutex_);
  news_ = news;
}

void Watch::Tell(const Progress& progress) {
  const double total = static_cast<double>(progress.nodes_total);
  Note({total > 0 ? static_cast<double>(progress.nodes_done) / total : 0,
        static_cast<double>(progress.now.picos()) * 1e-12, progress.nodes_done, progress.nodes_total});
}

void Watch::Tell(double share, uint64_t done, uint64_t of) { Note({share, std::nullopt, done, of}); }

}  // namespace chakra::python
