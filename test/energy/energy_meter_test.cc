// Meters and curves of power, against hand calculations and against independent sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "replay/energy/curve.h"
#include "replay/energy/meter.h"

namespace chakra::energy::CHAKRA_FILE {
namespace {

constexpr DeviceLevels kLevels = {100000, 50000, 20000, 400000};
constexpr int64_t kSecond = 1000000000000;

Time Ms(int64_t ms) { return Time::Micros(ms * 1000); }

Places OneNode(uint32_t ranks) {
  Places places;
  places.node.assign(ranks, 0);
  places.rack.assign(ranks, 0);
  places.nodes = places.racks = 1;
  return places;
}

RowPower Computes(Milliwatts tensor, Milliwatts memory, Milliwatts issue = 0) {
  return {tensor, issue, memory, Role::kComputes};
}
RowPower Communicates(Milliwatts link) { return {0, 0, link, Role::kCommunicates}; }

double Joules(Femtojoules e) { return ToJoules(e); }

TEST(PowerMeter, PowerIsTheSumOfStatesAndOperations) {
  const std::vector<std::vector<RowPower>> rows = {{Computes(80000, 20000), Communicates(30000)}};
  const std::vector<uint32_t> graph = {0, 0};
  const Places places = OneNode(2);
  PowerMeter meter(kLevels, rows, graph, places, true);
  // Rank 0 computes for 100 ms, then waits 50 ms for rank 1; both then move data for 50 ms; the run ends at
  // 300 ms.
  meter.Begin(0, 0, Ms(0));
  meter.Begin(1, 0, Ms(50));
  meter.End(0, 0, Ms(100));
  meter.Arrive(0, 1, 7, 2, Ms(100));
  meter.End(1, 0, Ms(150));
  meter.Arrive(1, 1, 7, 2, Ms(150));
  meter.End(0, 1, Ms(200));
  meter.End(1, 1, Ms(200));
  meter.Finish(Ms(300));
  // Rank 0: 100 W x 0.3 s, 150 W more for 0.1 s, 20 W more for 0.1 s, 30 W more for 0.05 s.
  EXPECT_DOUBLE_EQ(Joules(meter.DeviceEnergy(0)), 30 + 15 + 2 + 1.5);
  EXPECT_DOUBLE_EQ(Joules(meter.DeviceEnergy(1)), 30 + 15 + 1 + 1.5);
  EXPECT_DOUBLE_EQ(Joules(meter.energy()), 96);
  EXPECT_DOUBLE_EQ(Joules(meter.RowEnergy(0, 0)), 20);
  EXPECT_DOUBLE_EQ(Joules(meter.PartEnergy(Part::kTensor)), 16);
  EXPECT_DOUBLE_EQ(Joules(meter.PartEnergy(Part::kMemory)), 4);
  EXPECT_DOUBLE_EQ(Joules(meter.PartEnergy(Part::kLink)), 3);
  EXPECT_EQ(meter.busy_ps(), Picoseconds{kSecond} / 5);
  EXPECT_EQ(meter.wait_ps(), Picoseconds{3 * kSecond} / 20);
  EXPECT_EQ(meter.whole().peak(), 500000);  // both compute, from 50 to 100 ms
  EXPECT_EQ(meter.whole().least(), 200000);
  EXPECT_EQ(meter.DevicePeak(0), 250000);
}

TEST(PowerMeter, IdleDevicesDrawRestPower) {
  const std::vector<std::vector<RowPower>> rows = {{}};
  const std::vector<uint32_t> graph = {0, 0, 0};
  const Places places = OneNode(3);
  PowerMeter meter(kLevels, rows, graph, places, false);
  meter.Finish(Ms(2000));
  EXPECT_EQ(meter.energy(), EnergyOf(3 * kLevels.resident, 2 * kSecond));
}

TEST(PowerMeter, PowerAboveTheMostIsCutInProportion) {
  const std::vector<std::vector<RowPower>> rows = {{Computes(150000, 50000), Computes(0, 100000)}};
  const std::vector<uint32_t> graph = {0};
  const Places places = OneNode(1);
  PowerMeter meter(kLevels, rows, graph, places, false);
  meter.Begin(0, 0, Ms(0));
  meter.Begin(0, 1, Ms(0));
  meter.End(0, 0, Ms(1000));
  meter.End(0, 1, Ms(1000));
  meter.Finish(Ms(1000));
  // The device asks for 150 + 300 W, and the most is 400: the operations share 250 W, 2 to 1.
  EXPECT_DOUBLE_EQ(Joules(meter.energy()), 400);
  EXPECT_EQ(meter.DevicePeak(0), 400000);
  EXPECT_NEAR(Joules(meter.RowEnergy(0, 0)), 250 * 2 / 3.0, 1e-9);
  EXPECT_NEAR(Joules(meter.RowEnergy(0, 1)), 250 / 3.0, 1e-9);
  EXPECT_EQ(meter.RowEnergy(0, 0) + meter.RowEnergy(0, 1), EnergyOf(250000, kSecond));
}

// Operations start and end at random on several ranks.
class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : bits_(seed) {
    for (int g = 0; g < 2; ++g) {
      rows_.emplace_back();
      for (int row = 0; row < 12; ++row) {
        const Milliwatts a = Pick(150001), b = Pick(120001);
        rows_.back().push_back(row % 3 == 2 ? Communicates(b) : Computes(a, b, Pick(50001)));
      }
    }
    for (int r = 0; r < 6; ++r) {
      graph_.push_back(static_cast<uint32_t>(r % 2));
      places_.node.push_back(static_cast<uint32_t>(r / 2));
      places_.rack.push_back(static_cast<uint32_t>(r / 4));
    }
    places_.nodes = 3;
    places_.racks = 2;
  }

  void Check() {
    PowerMeter meter(kLevels, rows_, graph_, places_, true);
    std::vector<std::vector<bool>> running(6, std::vector<bool>(12));
    Time now;
    for (int i = 0; i < 4000; ++i) {
      now += Time::Picos(static_cast<int64_t>(Pick(3)) * static_cast<int64_t>(Pick(987654321)));
      const uint32_t rank = static_cast<uint32_t>(Pick(6)), row = static_cast<uint32_t>(Pick(12));
      if (running[rank][row]) {
        meter.End(rank, row, now);
      } else if (rows_[graph_[rank]][row].role == Role::kCommunicates) {
        meter.Wait(rank, row, now);
        if (Pick(2) > 0) meter.Transfer(rank, row, now);
      } else {
        meter.Begin(rank, row, now);
      }
      running[rank][row] = !running[rank][row];
    }
    for (uint32_t rank = 0; rank < 6; ++rank) {
      for (uint32_t row = 0; row < 12; ++row) {
        if (running[rank][row]) meter.End(rank, row, now);
      }
    }
    now += Ms(1);
    meter.Finish(now);
    Compare(meter);
  }

 private:
  uint64_t Pick(uint64_t below) { return bits_() % below; }

  void Compare(const PowerMeter& meter) {
    const Femtojoules base = EnergyOf(kLevels.resident, meter.resident_ps()) +
                             EnergyOf(kLevels.busy, meter.busy_ps()) +
                             EnergyOf(kLevels.wait, meter.wait_ps());
    Femtojoules parts = base, by_row = base, ranks = 0, steps = 0, nodes = 0, racks = 0;
    for (const Part part : {Part::kTensor, Part::kIssue, Part::kMemory, Part::kLink, Part::kCopy})
      parts += meter.PartEnergy(part);
    for (size_t g = 0; g < 2; ++g) {
      for (uint32_t row = 0; row < 12; ++row) by_row += meter.RowEnergy(g, row);
    }
    for (size_t r = 0; r < 6; ++r) {
      ranks += meter.DeviceEnergy(r);
      EXPECT_LE(meter.DevicePeak(r), kLevels.most);
      steps += Integral(meter.device(r));
      EXPECT_EQ(meter.DevicePeak(r), meter.device(r).peak());
      EXPECT_EQ(meter.DeviceLeast(r), meter.device(r).least());
    }
    for (const PowerCurve& curve : meter.nodes()) nodes += curve.energy();
    for (const PowerCurve& curve : meter.racks()) racks += curve.energy();
    for (const Femtojoules sum : {parts, by_row, ranks, steps, nodes, racks, Integral(meter.whole())})
      EXPECT_TRUE(sum == meter.energy()) << Joules(sum) << " and " << Joules(meter.energy());
  }

  static Femtojoules Integral(const PowerCurve& curve) {
    Femtojoules sum = 0;
    const auto& steps = curve.steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      const Time until = i + 1 < steps.size() ? steps[i + 1].at : curve.end();
      sum += EnergyOf(steps[i].power, (until - steps[i].at).picos());
    }
    return sum;
  }

  std::mt19937_64 bits_;
  std::vector<std::vector<RowPower>> rows_;
  std::vector<uint32_t> graph_;
  Places places_;
};

TEST(PowerMeter, SumsByPartRowRankAndTimeAgree) {
  for (uint64_t seed = 1; seed <= 20; ++seed) RandomRun(seed).Check();
}

// Ranks of two graphs are symmetric for a while; sometimes a rank does something else, or skips an event. One
// meter gets the events of all ranks, and each rank also has its own meter.
class SymmetricRanks {
 public:
  static constexpr uint32_t kRanks = 24;

  explicit SymmetricRanks(uint64_t seed) : bits_(seed) {
    for (int g = 0; g < 2; ++g) {
      rows_.emplace_back();
      for (int row = 0; row < 9; ++row)
        rows_.back().push_back(row % 3 == 2 ? Communicates(Milli(120))
                                            : Computes(Milli(200), Milli(120), Milli(50)));
    }
    for (uint32_t r = 0; r < kRanks; ++r) {
      graph_.push_back(r % 2);
      places_.node.push_back(r / 8);
      places_.rack.push_back(r / 16);
    }
    places_.nodes = 3;
    places_.racks = 2;
    all_ = std::make_unique<PowerMeter>(kLevels, rows_, graph_, places_, true);
    for (uint32_t r = 0; r < kRanks; ++r) {
      own_rows_.push_back({rows_[graph_[r]]});
      running_.emplace_back(9, false);
    }
    for (uint32_t r = 0; r < kRanks; ++r)
      own_.push_back(std::make_unique<PowerMeter>(kLevels, own_rows_[r], kFirstGraph, one_, true));
  }

  // `apart`: of a thousand events, the number that a rank skips, and the number of other events before its
  // turn.
  void Check(uint64_t apart) {
    for (int i = 0; i < 400; ++i) {
      now_ += Time::Picos(static_cast<int64_t>(Pick(3)) * static_cast<int64_t>(Pick(987654321)));
      const uint32_t graph = static_cast<uint32_t>(Pick(2)), row = static_cast<uint32_t>(Pick(9));
      for (uint32_t rank = graph; rank < kRanks; rank += 2) {
        if (Pick(1000) < apart) Toggle(rank, static_cast<uint32_t>(Pick(9)));
        if (Pick(1000) >= apart) Toggle(rank, row);
      }
    }
    now_ += Ms(1);
    all_->Finish(now_);
    Femtojoules energy = 0;
    std::vector<Femtojoules> rows(18), nodes(3);
    Picoseconds busy = 0, wait = 0;
    for (uint32_t r = 0; r < kRanks; ++r) {
      PowerMeter& own = *own_[r];
      own.Finish(now_);
      EXPECT_TRUE(all_->DeviceEnergy(r) == own.energy()) << r;
      EXPECT_EQ(all_->DevicePeak(r), own.DevicePeak(0));
      EXPECT_EQ(all_->DeviceLeast(r), own.DeviceLeast(0));
      ExpectSame(all_->device(r), own.device(0));
      energy += own.energy();
      nodes[r / 8] += own.energy();
      busy += own.busy_ps();
      wait += own.wait_ps();
      for (uint32_t row = 0; row < 9; ++row) rows[9 * graph_[r] + row] += own.RowEnergy(0, row);
    }
    EXPECT_TRUE(all_->energy() == energy);
    EXPECT_TRUE(all_->busy_ps() == busy);
    EXPECT_TRUE(all_->wait_ps() == wait);
    for (uint32_t row = 0; row < 18; ++row)
      EXPECT_TRUE(all_->RowEnergy(row / 9, row % 9) == rows[row]) << row;
    for (size_t n = 0; n < 3; ++n) EXPECT_TRUE(all_->nodes()[n].energy() == nodes[n]) << n;
    EXPECT_TRUE(all_->racks()[0].energy() == nodes[0] + nodes[1]);
  }

  bool symmetric() const { return all_->alike(); }

 private:
  uint64_t Pick(uint64_t below) { return bits_() % below; }
  Milliwatts Milli(uint64_t most) { return static_cast<Milliwatts>(Pick(1000 * most + 1)); }

  void Toggle(uint32_t rank, uint32_t row) {
    for (const auto& [meter, as] : {std::pair{all_.get(), rank}, {own_[rank].get(), 0U}}) {
      if (running_[rank][row]) {
        meter->End(as, row, now_);
      } else if (row % 3 == 2) {
        meter->Wait(as, row, now_);
        if (row < 6) meter->Transfer(as, row, now_);
      } else {
        meter->Begin(as, row, now_);
      }
    }
    running_[rank][row] = !running_[rank][row];
  }

  static void ExpectSame(const PowerCurve& a, const PowerCurve& b) {
    ASSERT_EQ(a.steps().size(), b.steps().size());
    for (size_t i = 0; i < a.steps().size(); ++i) {
      EXPECT_EQ(a.steps()[i].at, b.steps()[i].at);
      EXPECT_EQ(a.steps()[i].power, b.steps()[i].power);
    }
  }

  inline static const std::vector<uint32_t> kFirstGraph = {0};
  std::mt19937_64 bits_;
  std::vector<std::vector<RowPower>> rows_;
  std::vector<uint32_t> graph_;
  Places places_, one_ = OneNode(1);
  std::unique_ptr<PowerMeter> all_;
  std::vector<std::vector<std::vector<RowPower>>> own_rows_;  // by rank: the rows of its graph
  std::vector<std::unique_ptr<PowerMeter>> own_;
  std::vector<std::vector<bool>> running_;
  Time now_;
};

TEST(PowerMeter, SymmetricDevicesMatchSingleMeters) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    for (const uint64_t apart : {0, 1, 10, 300}) SymmetricRanks(seed).Check(apart);
  }
}

TEST(PowerMeter, DevicesAreSymmetricUntilTheyDiffer) {
  SymmetricRanks same(1), apart(1);
  same.Check(0);
  apart.Check(300);
  EXPECT_TRUE(same.symmetric());
  EXPECT_FALSE(apart.symmetric());
}

TEST(PowerCurve, SwingsMatchAllPairsOfInstants) {
  std::mt19937_64 bits(3);
  PowerCurve curve(1000, true);
  Time now;
  for (int i = 0; i < 300; ++i) {
    now += Time::Picos(static_cast<int64_t>(bits() % 1000 + 1));
    curve.Change(static_cast<Milliwatts>(bits() % 2001) - 1000, now);
  }
  curve.End(now + Time::Picos(500));
  const auto& steps = curve.steps();
  for (const int64_t window : {0, 1, 700, 5000, 1000000}) {
    Milliwatts most = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      for (size_t j = i; j < steps.size(); ++j) {
        const Time left = j == i ? steps[i].at : steps[i + 1].at;
        if (j > i && steps[j].at - left > Time::Picos(window)) break;
        most = std::max(most, std::abs(steps[i].power - steps[j].power));
      }
    }
    EXPECT_EQ(SwingWithin(curve, Time::Picos(window)), most) << window;
  }
}

TEST(PowerCurve, GivesPercentilesAndMeans) {
  PowerCurve curve(100, true);
  curve.Change(100, Time::Picos(900));
  curve.Change(300, Time::Picos(990));
  curve.End(Time::Picos(1000));
  EXPECT_EQ(PowerBelow(curve, 0.5), 100);
  EXPECT_EQ(PowerBelow(curve, 0.95), 200);
  EXPECT_EQ(PowerBelow(curve, 0.999), 500);
  const std::vector<double> means = MeanOfBuckets(curve, 2);
  ASSERT_EQ(means.size(), 2u);
  EXPECT_DOUBLE_EQ(means[0], 0.1);
  EXPECT_DOUBLE_EQ(means[1], (400 * 100 + 90 * 200 + 10 * 500) / 500.0 / 1000);
}

TEST(PowerCurve, JoinedStepsKeepExtremesAndEnergy) {
  std::mt19937_64 bits(5);
  PowerCurve whole(500000, true), joined(500000, true, 64);
  Time now;
  for (int i = 0; i < 2000; ++i) {
    now += Time::Picos(static_cast<int64_t>(bits() % 1000000 + 1));
    const Milliwatts by = static_cast<Milliwatts>(bits() % 2001) - 1000;
    whole.Change(by, now);
    joined.Change(by, now);
  }
  whole.End(now);
  joined.End(now);
  EXPECT_LE(joined.steps().size(), 65u);
  EXPECT_GT(joined.grain(), Time::Zero());
  EXPECT_EQ(joined.peak(), whole.peak());
  EXPECT_EQ(joined.least(), whole.least());
  EXPECT_TRUE(joined.energy() == whole.energy());
}

TEST(Amounts, MicrojoulesOfPartsAddUp) {
  const std::vector<Femtojoules> parts = {1, kFemtoPerMicro - 1, 999999999, 1, 12345678901234, 0, 7};
  Femtojoules sum = 0;
  int64_t micro = 0;
  for (const Femtojoules p : parts) sum += p;
  for (const int64_t m : ToMicrojoules(parts)) micro += m;
  EXPECT_EQ(micro, static_cast<int64_t>(sum / kFemtoPerMicro));
}

}  // namespace
}  // namespace chakra::energy::CHAKRA_FILE
