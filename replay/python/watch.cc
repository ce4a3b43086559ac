#include "replay/python/watch.h"

namespace py = pybind11;

namespace chakra::python {

void Watch::Look(const std::function<void()>& call, bool last) {
  const auto now = std::chrono::steady_clock::now();
  if (stop_.load() || (now < next_ && !last)) return;
  next_ = now + kEvery;
  const py::gil_scoped_acquire held;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress_.is_none()) call();
  } catch (...) {
    raised_ = std::current_exception();
    stop_ = true;
  }
}

void Watch::Tell(const Progress& progress) {
  Look(
      [&] {
        const double total = static_cast<double>(progress.nodes_total);
        const double share = total > 0 ? static_cast<double>(progress.nodes_done) / total : 0;
        progress_(share, static_cast<double>(progress.now.picos()) * 1e-12, progress.nodes_done,
                  progress.nodes_total);
      },
      false);
}

bool Watch::Stopped() {
  Look([] {}, false);
  return stop_.load();
}

void Watch::Tell(uint64_t done, uint64_t of) {
  Look([&] { progress_(of > 0 ? static_cast<double>(done) / static_cast<double>(of) : 1.0, done, of); },
       done == of);
}

}  // namespace chakra::python
