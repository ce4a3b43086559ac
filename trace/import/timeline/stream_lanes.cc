#include "trace/import/timeline/stream_lanes.h"

#include <algorithm>
#include <utility>

namespace chakra::pytorch {

LanePlacer::LanePlacer(const DeviceTrace& device)
    : d_(device), lanes_of_(device.streams.size()), names_(device) {
  out_.of_stream.resize(device.streams.size());
  const auto ops = static_cast<size_t>(
      std::count_if(d_.events.begin(), d_.events.end(), [](const Event& e) { return OnDevice(e.kind); }));
  out_.ops.reserve(ops);
  out_.after.reserve(ops);
  out_.release.reserve(ops);
}

bool LanePlacer::Communicates(const DeviceOp& op) {
  const CommKernel* kernel = nullptr;
  return names_.Kernel(d_.events[op.event], &kernel) == KernelSays::kCommunicates;
}

// Cuts communication on the stream that ends shortly after `begin`.
void LanePlacer::CutCommunication(uint32_t stream, int64_t begin) {
  for (const uint32_t lane : lanes_of_[stream]) {
    DeviceOp& op = out_.ops[last_[lane]];
    if (op.end <= begin || op.end > begin + kRoundingNs || op.begin > begin) continue;
    if (!Communicates(op)) continue;
    op.end = begin;
    ++out_.clipped;
  }
}

uint32_t LanePlacer::FreeLane(uint32_t stream, int64_t begin) const {
  for (const uint32_t lane : lanes_of_[stream]) {
    if (out_.ops[last_[lane]].end <= begin) return lane;
  }
  return kNoRow;
}

void LanePlacer::Add(uint32_t row, uint32_t launch) {
  const Event& e = d_.events[row];
  DeviceOp op;
  op.event = row;
  op.launch = launch;
  op.begin = e.ts;
  op.end = e.ts + e.dur;
  CutCommunication(e.lane, op.begin);
  uint32_t after = kNoRow, release = kNoRow;
  for (const uint32_t lane : lanes_of_[e.lane]) {
    const uint32_t last = last_[lane];
    if (out_.ops[last].end > op.begin) continue;
    if (after == kNoRow || out_.ops[last].end > out_.ops[after].end) after = last;
  }
  if (!out_.of_stream[e.lane].empty()) {
    const uint32_t before = out_.of_stream[e.lane].back();
    const DeviceOp& running = out_.ops[before];
    const bool branch = launch != kNoRow && running.launch == launch && after != kNoRow &&
                        op.begin - out_.ops[after].end <= kNextNs;
    if (running.end > op.begin && !branch && !Communicates(running)) release = before;
  }
  op.lane = FreeLane(e.lane, op.begin);
  const auto index = static_cast<uint32_t>(out_.ops.size());
  for (const uint32_t lane : lanes_of_[e.lane]) {
    const uint32_t last = last_[lane];
    if (last == after || out_.ops[last].end > op.begin) continue;
    if (out_.ops[last].end > out_.ops[after].begin) out_.also.push_back({index, last});
  }
  std::vector<uint32_t>& lanes = lanes_of_[e.lane];
  if (op.lane == kNoRow) {
    op.lane = static_cast<uint32_t>(out_.lanes.size());
    out_.split += lanes.empty() ? 0 : 1;
    out_.lanes.push_back({e.lane, static_cast<uint32_t>(lanes.size())});
    lanes.push_back(op.lane);
    last_.push_back(index);
  }
  last_[op.lane] = index;
  out_.after.push_back(after);
  out_.release.push_back(release);
  out_.of_stream[e.lane].push_back(index);
  out_.ops.push_back(op);
}

PlacedOps LanePlacer::Take() { return std::move(out_); }

}  // namespace chakra::pytorch
