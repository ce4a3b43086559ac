// A reference machine: a small simulator of a rank, with two host threads, one of which works at a time, and
// a device with streams. The machine runs a program and writes the profile that Kineto would have written.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::machine {

inline constexpr int64_t kLatency = 4000, kGap = 1000, kCall = 1500, kReturn = 700;
inline constexpr int kStreams = 3;
inline constexpr int64_t kHandOver = 2500;  // from one thread to the other

struct Step {
  enum What {
    kWork,
    kLaunch,
    kRecordAndWait,
    kStreamSync,
    kDeviceSync,
    kSwitch,
    kAllReduce,  // or the call in `comm`
    kPoll,       // an operator launches a kernel and spins until the kernel has ended
    kPause,      // the host does something that no event covers
  } what;
  int64_t time = 0;  // of the host's work, or the kernel
  int stream = 0;
  int from = 0;  // kRecordAndWait: the stream that is waited for
  // kSwitch: the other thread goes on, as the backward thread does while the
  // main one waits for it.
  // kLaunch: the kernel begins when three quarters of the one before it on its
  // stream are done, and all before that one.
  bool dependent = false;
  // kAllReduce: the kernel's name, to which its number among the rank's is added, and its arguments.
  std::string kernel = "ncclDevKernel_AllReduce_", comm = {};
};

struct RunOptions {
  bool sync_rows = false;
  std::vector<int64_t> collective_ends;  // when each all-reduce ends, as far as it is known
  bool autograd = false;                 // the second thread does the work of autograd
  int64_t backlog = INT64_MIN / 2;       // until when work from before the window keeps the streams busy
  size_t queue = 0;                      // how many launches the device takes ahead; 0: any number
  bool step = true;                      // a ProfilerStep around all that the first thread does
  bool profile = true;                   // whether Outcome::profile is filled
};

// `usual`: events are recorded on the stream of the last launch, as PyTorch does, which records on the
// current stream.
inline std::vector<Step> Program(uint32_t seed, bool usual = false) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
  std::vector<Step> steps;
  int last = 0;
  for (int i = 0; i < 120; ++i) {
    if (i % 30 == 29) {  // with enough work that the waits of the others show
      steps.push_back({Step::kSwitch});
      steps.push_back({Step::kWork, 50000 + below(9000)});
    }
    const int kind = below(20);
    Step s;
    s.stream = below(kStreams);
    s.from = (s.stream + 1 + below(kStreams - 1)) % kStreams;
    // Host-bound, device-bound and mixed programs.
    const uint32_t host = seed % 3 == 0 ? 40000 : 6000, device = seed % 3 == 1 ? 60000 : 20000;
    if (kind < 8) {
      s.what = Step::kWork;
      s.time = 500 + below(host);
    } else if (kind < 16) {
      s.what = Step::kLaunch;
      s.time = 1000 + below(device);
    } else if (kind < 18) {
      s.what = Step::kRecordAndWait;
    } else {
      s.what = kind == 18 ? Step::kStreamSync : Step::kDeviceSync;
    }
    if (usual && s.what == Step::kRecordAndWait) {
      s.from = last;
      s.stream = (last + 1 + below(kStreams - 1)) % kStreams;
    }
    if (s.what == Step::kLaunch) last = s.stream;
    steps.push_back(s);
  }
  return steps;
}

struct Outcome {
  KinetoBuilder profile;
  std::map<std::string, int64_t> begin;   // of each event; a synchronisation: when its waiting ended
  std::vector<int64_t> arrivals;          // at each all-reduce
  std::map<std::string, int64_t> paused;  // begin of each pause, by step
};

inline Outcome Run(const std::vector<Step>& program, const RunOptions& options) {
  const bool sync_rows = options.sync_rows;
  const std::vector<int64_t>& collective_ends = options.collective_ends;
  Outcome out;
  if (!options.profile) out.profile.Mute();
  int64_t now = 0;
  int correlation = 1, thread = 1;
  std::vector<int64_t> free(kStreams, options.backlog), held(kStreams, INT64_MIN / 2);
  std::vector<int64_t> released(kStreams, options.backlog);
  std::vector<int64_t> launched;  // the ends of launched kernels, in order
  const auto begins = [&](const std::string& name, int64_t at) { out.begin[name] = at; };
  if (options.step) {
    out.profile.Annotation(1, "ProfilerStep#1", 0, 100000000);
    begins("ProfilerStep#1", 0);
  } else {
    out.profile.Annotation(1, "begin", 0, 100);
    begins("begin", 0);
  }
  for (size_t i = 0; i < program.size(); ++i) {
    const Step& s = program[i];
    const std::string id = std::to_string(i);
    const int64_t called = now + 300;  // work of the step itself
    now = called;
    switch (s.what) {
      case Step::kSwitch:
        thread = 3 - thread;
        now += kHandOver;
        break;
      case Step::kWork:
        out.profile.Op(thread, "work" + id, called, s.time);
        begins("work" + id, called);
        now += s.time;
        break;
      case Step::kAllReduce:
      case Step::kLaunch: {
        const auto stream = static_cast<size_t>(s.stream);
        int64_t submitted = called;
        if (options.queue > 0 && launched.size() >= options.queue)
          submitted = std::max(submitted, launched[launched.size() - options.queue]);
        int64_t start = std::max(submitted + kLatency, s.dependent ? released[stream] : free[stream] + kGap);
        start = std::max(start, held[static_cast<size_t>(s.stream)]);
        const bool collective = s.what == Step::kAllReduce;
        int64_t end = start + s.time;
        if (collective && out.arrivals.size() < collective_ends.size())
          end = collective_ends[out.arrivals.size()];
        end = std::max(end, start);
        const std::string name = collective ? s.kernel + std::to_string(out.arrivals.size()) : "kernel" + id;
        out.profile.Call(thread, "launch" + id, called, submitted - called + kCall, correlation);
        out.profile.Kernel(s.stream + 7, name, start, end - start, correlation,
                           !collective      ? ""
                           : s.comm.empty() ? CommArgs("allreduce", 1000, 1000, "0", "", 0)
                                            : s.comm);
        if (collective) out.arrivals.push_back(start);
        begins("launch" + id, submitted);
        begins(name, start);
        launched.push_back(end);
        released[stream] = std::max(start + (end - start) * 3 / 4, free[stream]);
        free[stream] = std::max(free[stream], end);
        now = submitted + kCall;
        break;
      }
      case Step::kPoll: {
        const auto stream = static_cast<size_t>(s.stream);
        const int64_t start = std::max({called + 500 + kLatency, free[stream] + kGap, held[stream]});
        out.profile.Call(thread, "launch" + id, called + 500, kCall, correlation);
        out.profile.Kernel(s.stream + 7, "kernel" + id, start, s.time, correlation);
        now = std::max(called + 500 + kCall, start + s.time) + kReturn;
        out.profile.Op(thread, "notify", called, now - called);
        begins("launch" + id, called + 500);
        begins("kernel" + id, start);
        free[stream] = released[stream] = start + s.time;
        break;
      }
      case Step::kPause:
        out.paused[id] = called;
        now += s.time;
        break;
      case Step::kRecordAndWait: {
        out.profile.Call(thread, "cudaEventRecord", called, 200, correlation);
        out.profile.Call(thread, "cudaStreamWaitEvent", called + 300, 200, correlation + 1);
        if (sync_rows)
          out.profile.SyncRow(s.stream + 7, "Stream Wait Event", called + 300, 1, correlation + 1, s.from + 7,
                              correlation);
        held[static_cast<size_t>(s.stream)] =
            std::max(held[static_cast<size_t>(s.stream)], free[static_cast<size_t>(s.from)] + kGap);
        now += 500;
        ++correlation;
        break;
      }
      case Step::kStreamSync:
      case Step::kDeviceSync: {
        int64_t done = called;
        for (size_t k = 0; k < kStreams; ++k) {
          if (s.what == Step::kDeviceSync || static_cast<int>(k) == s.stream) done = std::max(done, free[k]);
        }
        const std::string name =
            s.what == Step::kStreamSync ? "cudaStreamSynchronize" : "cudaDeviceSynchronize";
        out.profile.Call(thread, name + id, called, done - called + kReturn, correlation);
        if (sync_rows && s.what == Step::kStreamSync)
          out.profile.SyncRow(s.stream + 7, "Stream Sync", called, done - called, correlation);
        begins(name + id, done);
        now = done + kReturn;
        break;
      }
    }
    ++correlation;
    if (options.autograd && thread == 2 && s.what != Step::kSwitch && s.what != Step::kPause) {
      now += 100;
      out.profile.Op(thread, "autograd::engine::evaluate_function: step", called, now - called);
    }
  }
  return out;
}
inline Outcome Run(const std::vector<Step>& program, bool sync_rows,
                   const std::vector<int64_t>& collective_ends = {}) {
  return Run(program, RunOptions{.sync_rows = sync_rows, .collective_ends = collective_ends});
}

// The begin of each event by the timeline; for several parts, the begin of the last.
inline std::map<std::string, int64_t> Begins(const Linked& l, const Played& p) {
  std::map<std::string, int64_t> begin;
  for (uint32_t i = 1; i < l.t.nodes.size(); ++i) {
    if (l.t.nodes[i].IsOwnWork()) continue;
    const std::string name(l.device.name_of(l.device.events[l.t.nodes[i].event]));
    if (l.t.nodes[i].part > 0 && !name.starts_with("cuda")) continue;
    begin[name] = p.begin[i];
  }
  begin.erase("cudaEventRecord");
  begin.erase("cudaStreamWaitEvent");
  return begin;
}

// Events at random times: calls that overlap, kernels before their launches, synchronisations that return
// early, as with wrong clocks.
inline KinetoBuilder Chaos(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const int64_t span = seed % 2 == 0 ? 100000 : 3000000;
  const int64_t grain = seed % 3 == 0 ? 1000 : 1;  // whole microseconds make ties
  const auto time = [&](int64_t n) { return below(n) / grain * grain; };
  KinetoBuilder k;
  for (int i = 0; i < 60; ++i) {
    const int thread = 1 + static_cast<int>(below(3)), stream = 7 + static_cast<int>(below(3));
    const std::string id = std::to_string(i);
    const int64_t at = time(span), length = time(span / (1 + below(40)));
    switch (below(9)) {
      case 0:
        k.Annotation(thread, "annotation" + id, at, length);
        break;
      case 1:
      case 2:
        k.Op(thread, "op" + id, at, length);
        break;
      case 3:
        k.Call(thread, "cudaStreamWaitEvent", at, length / 8, i);
        if (below(2) == 0)
          k.SyncRow(stream, "Stream Wait Event", at, 1, i, 7 + static_cast<int>(below(3)),
                    static_cast<int>(below(60)));
        break;
      case 4:
        k.Call(thread, below(2) == 0 ? "cudaStreamSynchronize" : "cudaEventSynchronize", at, length / 4, i);
        if (below(2) == 0) k.SyncRow(stream, "Stream Sync", at, 1, i);
        break;
      case 5:
        k.Call(thread, below(2) == 0 ? "cudaDeviceSynchronize" : "cudaEventRecord", at, length / 4, i);
        break;
      case 6:
        k.Call(thread, "cudaMemcpyAsync", at, length / 4, i);
        k.OnDevice("gpu_memcpy", stream, "Memcpy DtoH (Device -> Pageable)", at + time(span / 20), length / 8,
                   i);
        break;
      default:
        k.Call(thread, "cudaLaunchKernel", at, length / 20, i);
        for (int64_t n = 1 + below(8) / 6; n > 0; --n) {
          k.Kernel(stream, "kernel" + id, at + time(span / 10) - (below(6) == 0 ? 2000 : 0), length / 8,
                   below(12) == 0 ? 1000 + i : i);
        }
    }
  }
  return k;
}

}  // namespace chakra::pytorch::machine
