// Packed numbers, rows and columns read back as they were written.
#include "trace/base/packed_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/base/radix_order.h"
#include "trace/base/splitmix.h"
#include "trace/import/comm/comm_calls.h"
#include "trace/import/nsys/packed_rows.h"
#include "trace/model/narrow_column.h"

namespace chakra::CHAKRA_FILE {
namespace {

// Numbers of all lengths, in an order that is the same in each run.
std::vector<uint64_t> Numbers(size_t n) {
  std::vector<uint64_t> out = {0, 1, 127, 128, UINT64_MAX, uint64_t{1} << 63, INT64_MAX};
  for (uint64_t i = out.size(); i < n; ++i) out.push_back(SplitMix(i) >> (i * 7 % 64));
  return out;
}

TEST(PackedNumbers, ReadBackAsWritten) {
  const std::vector<uint64_t> numbers = Numbers(200000);
  PackedNumbers packed;
  int64_t before = 0;
  for (const uint64_t n : numbers) {
    packed.Begin();
    packed.Number(n);
    packed.Byte(static_cast<uint8_t>(n));
    packed.Change(before, static_cast<int64_t>(n));
    before = static_cast<int64_t>(n);
  }
  const PackedNumbers moved = std::move(packed);
  PackedNumbers::Reader reader(moved);
  before = 0;
  for (const uint64_t n : numbers) {
    reader.Begin();
    ASSERT_EQ(reader.Number(), n);
    ASSERT_EQ(reader.Byte(), static_cast<uint8_t>(n));
    before = reader.Change(before);
    ASSERT_EQ(before, static_cast<int64_t>(n));
  }
}

TEST(OrderByKey, EqualsAStableSort) {
  const std::vector<uint64_t> numbers = Numbers(5000);
  for (const int shift : {0, 20, 60}) {
    const auto key = [&](size_t i) { return static_cast<int64_t>(numbers[i]) >> shift; };
    std::vector<uint32_t> expected(numbers.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    EXPECT_EQ(OrderByKey(numbers.size(), key), expected) << shift;
  }
  EXPECT_TRUE(OrderByKey(0, [](size_t) { return 0; }).empty());
}

TEST(NarrowColumn, HasTheSameValues) {
  std::vector<Time> times;
  std::vector<uint32_t> rows;
  for (uint64_t i = 0; i < 3000; ++i) {
    times.push_back(Time::Nanos(static_cast<int64_t>(1000 * i + SplitMix(i) % 5000)));
    rows.push_back(static_cast<uint32_t>(i + SplitMix(i) % 100));
  }
  times[5] = Time::Picos(1);                        // no whole nanosecond
  times[700] = times[5] + Time::Nanos(6000000000);  // far
  times[1000] = Time::Never();
  times[1001] = Time::Picos(-7000);
  rows[1] = 0xfffffffe;
  rows[800] = 0xffffffff;
  const auto narrow_times = NarrowColumn<Time>::Narrow(times);
  const auto narrow_rows = NarrowColumn<uint32_t>::Narrow(rows);
  EXPECT_EQ(narrow_times.plain(), nullptr);
  EXPECT_EQ(narrow_rows.plain(), nullptr);
  EXPECT_EQ(narrow_times.ToVector(), times);
  EXPECT_EQ(narrow_rows.ToVector(), rows);
  EXPECT_TRUE(narrow_times == NarrowColumn<Time>(times));
  EXPECT_EQ(std::vector<uint32_t>(narrow_rows.begin(), narrow_rows.end()), rows);
  for (Time& t : times)
    t += Time::Picos(static_cast<int64_t>(SplitMix(static_cast<uint64_t>(t.picos())) % 1000));
  const auto odd = NarrowColumn<Time>::Narrow(times);
  EXPECT_NE(odd.plain(), nullptr) << "picoseconds are not narrow";
  EXPECT_EQ(odd.ToVector(), times);
  EXPECT_TRUE(NarrowColumn<Time>::Narrow({}).empty());
}

// Blocks that need no bit, one bit, or all; blocks whose greatest values equal the codes of special values.
TEST(NarrowColumn, HasTheSameValuesAtAllWidths) {
  std::vector<int32_t> lanes;
  std::vector<uint32_t> rows;
  for (uint64_t i = 0; i < 256 * 80; ++i) {
    const uint64_t block = i / 256, bits = block % 40 * 33 / 40, random = SplitMix(i);
    const uint64_t value = bits == 0 ? 0 : random >> (64 - bits);
    const bool none = block >= 40 && random % 3 == 0, far = random % 97 == 0;
    lanes.push_back(none ? INT32_MIN : static_cast<int32_t>(static_cast<uint32_t>(value) - (far ? 7 : 1000)));
    rows.push_back(none ? UINT32_MAX : far ? static_cast<uint32_t>(random) : static_cast<uint32_t>(value));
  }
  for (size_t i = 0; i < 256; ++i) lanes[i] = INT32_MIN;
  for (size_t i = 256; i < 512; ++i) rows[i] = UINT32_MAX;
  lanes.push_back(INT32_MAX);  // in a block of its own
  const auto narrow_lanes = NarrowColumn<int32_t>::Narrow(lanes);
  const auto narrow_rows = NarrowColumn<uint32_t>::Narrow(rows);
  EXPECT_EQ(narrow_lanes.plain(), nullptr);
  EXPECT_EQ(narrow_rows.plain(), nullptr);
  EXPECT_EQ(narrow_lanes.ToVector(), lanes);
  EXPECT_EQ(narrow_rows.ToVector(), rows);
  for (uint64_t i = 0; i < 1000; ++i) {
    const size_t begin = SplitMix(2 * i) % lanes.size();
    const size_t count = SplitMix(2 * i + 1) % std::min<size_t>(700, lanes.size() - begin + 1);
    std::vector<int32_t> some(count);
    narrow_lanes.Read(begin, count, some.data());
    for (size_t k = 0; k < count; ++k) {
      ASSERT_EQ(some[k], lanes[begin + k]);
      ASSERT_EQ(narrow_lanes[begin + k], lanes[begin + k]);
    }
  }
}

namespace rows {

using pytorch::DeviceExtra;
using pytorch::DeviceTrace;
using pytorch::Event;
using pytorch::EventKind;
using pytorch::OpExtra;
using pytorch::SyncExtra;

TEST(PackedRows, ReadBackEventsAndTheirExtras) {
  nsys::PackedRows packed;
  DeviceTrace expected;
  const auto add = [&](EventKind kind, int64_t ts, int64_t correlation, uint32_t lane) {
    Event e;
    e.kind = kind;
    e.ts = ts;
    e.dur = ts < 0 ? INT64_MAX : ts % 977;
    e.correlation = correlation;
    e.name = lane * 3;
    e.lane = lane;
    return expected.events.emplace_back(e);
  };
  for (int64_t i = 0; i < 30000; ++i) {
    packed.Add(add(EventKind::kRuntime, 1000 * i, i % 50 == 0 ? INT64_MAX : i, static_cast<uint32_t>(i % 2)));
    OpExtra op;
    op.seq = i % 3 == 0 ? pytorch::kNone : i;
    op.shapes = static_cast<uint32_t>(i % 7);
    op.comm = i % 5 == 0 ? 3 : kNoRow;
    expected.ops.push_back(op);
    packed.Add(add(EventKind::kCpuOp, i % 9 == 0 ? INT64_MIN + i : 1000 * i, pytorch::kNone, 1), op);
    expected.events.back().extra = static_cast<uint32_t>(expected.ops.size() - 1);
    DeviceExtra device;
    device.bytes = i % 2 == 0 ? pytorch::kNone : i << 40;
    expected.device.push_back(device);
    packed.Add(add(EventKind::kKernel, 1000 * i + 1, i, static_cast<uint32_t>(i % 300)), device);
    expected.events.back().extra = static_cast<uint32_t>(expected.device.size() - 1);
  }
  packed.Add(add(EventKind::kSync, 5, 0, 9), SyncExtra{SyncExtra::kStreamWaitEvent});
  expected.events.back().extra = 0;
  DeviceTrace got;
  packed.Unpack({}, &got);
  ASSERT_EQ(got.events.size(), expected.events.size());
  ASSERT_EQ(packed.size(), expected.events.size());
  for (size_t i = 0; i < got.events.size(); ++i) {
    const Event &a = got.events[i], &b = expected.events[i];
    ASSERT_EQ(std::make_tuple(a.kind, a.ts, a.dur, a.correlation, a.name, a.lane, a.extra),
              std::make_tuple(b.kind, b.ts, b.dur, b.correlation, b.name, b.lane, b.extra))
        << i;
  }
  ASSERT_EQ(got.ops.size(), expected.ops.size());
  for (size_t i = 0; i < got.ops.size(); ++i) {
    ASSERT_EQ(got.ops[i].seq, expected.ops[i].seq);
    ASSERT_EQ(got.ops[i].shapes, expected.ops[i].shapes);
    ASSERT_EQ(got.ops[i].comm, expected.ops[i].comm);
    ASSERT_EQ(got.device[i].bytes, expected.device[i].bytes);
  }
  EXPECT_EQ(got.syncs.at(0).kind, SyncExtra::kStreamWaitEvent);
}

TEST(CommCalls, KeepEqualCallsOnce) {
  pytorch::CommCalls calls;
  pytorch::CommCall call;
  for (int64_t i = 0; i < 100; ++i) {
    call.in_bytes = i % 3;
    call.dtype = i % 2 == 0 ? "Float" : "Half";
    EXPECT_EQ(calls.Add(call), static_cast<uint32_t>(i));
  }
  EXPECT_EQ(calls.AddLike(4), 100u);
  EXPECT_EQ(calls.size(), 101u);
  EXPECT_EQ(calls.distinct().size(), 6u);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(calls[i].in_bytes, static_cast<int64_t>(i % 3));
    EXPECT_EQ(calls[i].dtype, i % 2 == 0 ? "Float" : "Half");
  }
  EXPECT_EQ(calls[100], calls[4]);
}

}  // namespace rows
}  // namespace
}  // namespace chakra::CHAKRA_FILE
