#include "replay/cli/on_signal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

#include "trace/base/parallel.h"

namespace chakra::cli {
namespace {

// A program that stops a group of processes may send one signal twice, to the process and to its group, as
// `timeout` does.
constexpr int64_t kOneWishMs = 500;

std::atomic<bool> stop_asked = false;
std::atomic<int64_t> asked_at_ms = 0;

extern "C" void AskToStop(int signal) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t ms = int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
  if (!stop_asked.exchange(true)) {
    asked_at_ms = ms;
  } else if (ms - asked_at_ms > kOneWishMs) {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
}

}  // namespace

OnSignal::OnSignal(std::function<void()> action) : action_(std::move(action)) {
  sigemptyset(&set_);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    if (sigaction(s, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set_, s);
  }
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
  signals_ = signalfd(-1, &set_, SFD_CLOEXEC);
  if (signals_ < 0 || pipe2(stop_, O_CLOEXEC) != 0) {  // signals end the process at once
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    return;
  }
  std::vector<std::thread> thread;
  StartThreads(
      1, [this](int) { Wait(); }, &thread);
  if (thread.empty()) {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  } else {
    thread_ = std::move(thread.front());
  }
}

OnSignal::~OnSignal() {
  if (thread_.joinable()) {
    close(stop_[1]);
    thread_.join();
    close(stop_[0]);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  if (signals_ >= 0) close(signals_);
}

void OnSignal::Wait() {
  pollfd on[] = {{signals_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
  while (poll(on, 2, -1) < 0) {
  }
  signalfd_siginfo info = {};
  if (on[0].revents == 0 || read(signals_, &info, sizeof(info)) != sizeof(info)) return;
  action_();
  const auto number = static_cast<int>(info.ssi_signo);
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(number);
}

StopOnSignal::StopOnSignal() {
  stop_asked = false;
  interrupt_ = std::signal(SIGINT, AskToStop);
  terminate_ = std::signal(SIGTERM, AskToStop);
}

StopOnSignal::~StopOnSignal() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
}

const std::atomic<bool>* StopOnSignal::flag() { return &stop_asked; }

}  // namespace chakra::cli
