#include "replay/compute/interpolate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "replay/compute/convex_weights.h"
#include "replay/compute/work_fit.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Interpolated = KernelInterpolation::Outcome;

PointSet Points(size_t dimension, std::vector<double> coordinates) {
  return {dimension, coordinates.size() / dimension, std::move(coordinates)};
}

// The point that the weights give.
std::vector<double> At(const PointSet& points, const std::vector<Weight>& weights) {
  std::vector<double> x(points.dimension, 0);
  for (const Weight& w : weights) {
    for (size_t j = 0; j < points.dimension; ++j) x[j] += w.weight * points.at(w.point, j);
  }
  return x;
}

TEST(ConvexWeights, UseTheNeighboursOnALine) {
  const PointSet line = Points(1, {0, 10, 3, 1});
  const auto w = ConvexWeights(line, {2}, 99);
  ASSERT_TRUE(w.has_value());
  ASSERT_EQ(w->size(), 2u);  // 3 and 1, not 0 and 10
  EXPECT_EQ((*w)[0].point, 2u);
  EXPECT_EQ((*w)[1].point, 3u);
  EXPECT_NEAR((*w)[0].weight, 0.5, 1e-9);
  EXPECT_TRUE(ConvexWeights(line, {10}, 99).has_value());
  EXPECT_FALSE(ConvexWeights(line, {10.001}, 99).has_value());
  EXPECT_FALSE(ConvexWeights(line, {-0.001}, 99).has_value());
  EXPECT_FALSE(ConvexWeights(line, {9}, 1).has_value());  // without the point at 10
}

TEST(ConvexWeights, UseTheEnclosingTriangleInAPlane) {
  // A square, its centre, and a far point.
  const PointSet plane = Points(2, {0, 0, 4, 0, 0, 4, 4, 4, 2, 2, 100, 100});
  const auto w = ConvexWeights(plane, {2, 1}, 99);
  ASSERT_TRUE(w.has_value());
  EXPECT_EQ(w->size(), 3u);
  for (const Weight& each : *w)
    EXPECT_TRUE(each.point == 0 || each.point == 1 || each.point == 4) << each.point;
  EXPECT_NEAR(At(plane, *w)[0], 2, 1e-9);
  EXPECT_NEAR(At(plane, *w)[1], 1, 1e-9);
  EXPECT_FALSE(ConvexWeights(plane, {5, 1}, 99).has_value());
  EXPECT_TRUE(ConvexWeights(plane, {50, 50}, 99).has_value());
  EXPECT_FALSE(ConvexWeights(plane, {50, 50}, 5).has_value());
}

TEST(ConvexWeights, HandleCollinearAndRepeatedPoints) {
  const PointSet diagonal = Points(3, {0, 0, 0, 1, 1, 1, 1, 1, 1, 3, 3, 3});
  const auto w = ConvexWeights(diagonal, {2, 2, 2}, 99);
  ASSERT_TRUE(w.has_value());
  EXPECT_NEAR(At(diagonal, *w)[1], 2, 1e-9);
  EXPECT_FALSE(ConvexWeights(diagonal, {2, 2, 2.001}, 99).has_value());
  EXPECT_FALSE(ConvexWeights(Points(1, {5}), {5}, 0).has_value());
  EXPECT_FALSE(ConvexWeights({2, 0, {}}, {0, 0}, 99).has_value());
}

TEST(ConvexWeights, ArePositiveAndSumToOne) {
  PointSet cloud{3, 400, {}};
  uint64_t state = 1;
  for (size_t i = 0; i < cloud.count * cloud.dimension; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    cloud.coordinates.push_back(static_cast<double>(state >> 40) / 1e6);
  }
  size_t inside = 0;
  for (size_t i = 0; i < cloud.count; i += 8) {
    const std::vector<double> x = {cloud.at(i, 0), cloud.at(i, 1), cloud.at(i, 2)};
    const auto w = ConvexWeights(cloud, x, i);
    if (!w.has_value()) continue;
    ++inside;
    double sum = 0;
    for (const Weight& each : *w) {
      EXPECT_GT(each.weight, 0);
      EXPECT_NE(each.point, i);
      sum += each.weight;
    }
    EXPECT_LE(w->size(), 4u);
    EXPECT_NEAR(sum, 1, 1e-9);
    for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(At(cloud, *w)[j], x[j], 1e-6);
  }
  EXPECT_GT(inside, 25u);
  EXPECT_LT(inside, 50u);
}

TEST(WorkFit, FindsTheConstantsOfTheTimes) {
  std::vector<WorkSample> samples;
  for (double n : {1.0, 10.0, 100.0, 1000.0}) samples.push_back({n * n, n, 5 + 2e-3 * n * n + 0.1 * n});
  const WorkFit fit = FitWork(samples, samples.size());
  EXPECT_NEAR(fit.start, 5, 1e-6);
  EXPECT_NEAR(fit.per_operation, 2e-3, 1e-9);
  EXPECT_NEAR(fit.per_byte, 0.1, 1e-7);
  samples[1].time = 1e9;  // left out
  EXPECT_GT(FitWork(samples, 1).per_operation, 0);
  EXPECT_EQ(FitWork({}, 0).Time(1, 1), 0);
  // Times that fall with the work: nothing negative.
  const WorkFit falling = FitWork({{1, 0, 10}, {100, 0, 1}}, 2);
  EXPECT_GE(falling.start, 0);
  EXPECT_GE(falling.per_operation, 0);
}

void Add(proto::KernelTable* t, const std::string& name, const std::string& shapes, double us,
         const std::string& dtypes = "") {
  proto::KernelRow* row = t->add_row();
  row->set_name(name);
  row->set_shapes(shapes);
  row->set_dtypes(dtypes);
  row->set_duration_us(us);
}

std::string Square(int64_t n) { return absl::StrCat("[[", n, ", ", n, "], [", n, ", ", n, "]]"); }

// The time of a kernel with a start, a rate and a bandwidth for a square GEMM; us.
double SquareTime(double n) { return 4 + 2 * n * n * n / 1e8 + 12 * n * n / 1e6; }

proto::KernelTable Squares() {
  proto::KernelTable t;
  for (int64_t n : {256, 512, 2048, 8192}) Add(&t, "aten::mm", Square(n), SquareTime(static_cast<double>(n)));
  return t;
}

TEST(Interpolate, FollowsTheWorkBetweenRows) {
  const KernelInterpolation between(Squares());
  for (int64_t n : {300, 1024, 4096, 8191}) {
    const auto r = between.Find({"aten::mm", Square(n), ""});
    ASSERT_EQ(r.outcome, Interpolated::kAnswered) << n;
    const double expected = SquareTime(static_cast<double>(n));
    EXPECT_NEAR(r.duration.seconds() * 1e6 / expected, 1, 1e-6) << n;  // the times follow the model
    EXPECT_LT(r.error, 1e-3) << n;
  }
}

TEST(Interpolate, RefusesShapesOutsideTheRows) {
  const KernelInterpolation between(Squares());
  for (const std::string& shapes : {Square(255), Square(8193), std::string("[[1024, 1024], [1024, 2048]]"),
                                    std::string("[[1024, 512], [512, 1024]]")}) {
    EXPECT_EQ(between.Find({"aten::mm", shapes, ""}).outcome, Interpolated::kOutside) << shapes;
  }
  EXPECT_EQ(between.Find({"aten::bmm", Square(1024), ""}).outcome, Interpolated::kNoRows);
  EXPECT_EQ(between.Find({"aten::mm", "[[1024, 1024]]", ""}).outcome, Interpolated::kNoRows);
  EXPECT_EQ(between.Find({"aten::mm", "", ""}).outcome, Interpolated::kNoRows);
  EXPECT_EQ(between.Find({"aten::mm", "[[99999999999999999999999]]", ""}).outcome, Interpolated::kNoRows);
}

TEST(Interpolate, ConstantDimensionsMustMatch) {
  proto::KernelTable t;
  for (int64_t m : {64, 128, 512}) Add(&t, "aten::mm", absl::StrCat("[[", m, ", 32], [32, 48]]"), 0.1 * m);
  const KernelInterpolation between(t);
  EXPECT_EQ(between.Find({"aten::mm", "[[100, 32], [32, 48]]", ""}).outcome, Interpolated::kAnswered);
  EXPECT_EQ(between.Find({"aten::mm", "[[100, 33], [33, 48]]", ""}).outcome, Interpolated::kOutside);
  EXPECT_EQ(between.Find({"aten::mm", "[[100, 32], [32, 49]]", ""}).outcome, Interpolated::kOutside);
}

TEST(Interpolate, DtypesMatchUnlessRowsHaveNone) {
  proto::KernelTable t;
  for (int64_t n : {64, 256}) {
    Add(&t, "k", absl::StrCat("[[", n, "]]"), static_cast<double>(n), "['half']");
    Add(&t, "any", absl::StrCat("[[", n, "]]"), static_cast<double>(n));
  }
  const KernelInterpolation between(t);
  EXPECT_EQ(between.Find({"k", "[[128]]", "[ 'half' ]"}).outcome, Interpolated::kAnswered);
  EXPECT_EQ(between.Find({"k", "[[128]]", "['float']"}).outcome, Interpolated::kNoRows);
  EXPECT_EQ(between.Find({"any", "[[128]]", "['float']"}).outcome, Interpolated::kAnswered);
}

TEST(Interpolate, UsesTheWorkWithoutShapes) {
  proto::KernelTable t;
  for (uint64_t n : {1000, 4000, 16000}) {
    Add(&t, "layer", "", 1 + static_cast<double>(n) / 1000);
    t.mutable_row(t.row_size() - 1)->set_operations(n);
    t.mutable_row(t.row_size() - 1)->set_bytes(2 * n);
  }
  const KernelInterpolation between(t);
  const auto r = between.Find({"layer", "", "", 8000, 16000});
  ASSERT_EQ(r.outcome, Interpolated::kAnswered);
  EXPECT_NEAR(r.duration.seconds() * 1e6, 9, 1e-3);
  EXPECT_EQ(between.Find({"layer", "", "", 20000, 40000}).outcome, Interpolated::kOutside);
  EXPECT_EQ(between.Find({"layer", "", "", 8000, 17000}).outcome, Interpolated::kOutside);
  EXPECT_EQ(between.Find({"layer", "", "", 8000, 0}).outcome, Interpolated::kNoRows);
}

TEST(Interpolate, ErrorComesFromTheRowsAround) {
  proto::KernelTable t = Squares();
  t.mutable_row(1)->set_duration_us(t.row(1).duration_us() * 2);  // 512 does not fit the others
  const KernelInterpolation between(t);
  EXPECT_GT(between.Find({"aten::mm", Square(600), ""}).error, 0.2);
  for (proto::KernelRow& row : *t.mutable_row()) row.set_error(0.5);
  EXPECT_GT(KernelInterpolation(t).Find({"aten::mm", Square(600), ""}).error, 0.7);
}

TEST(Interpolate, TwoRowsLeaveAnError) {
  proto::KernelTable t;
  Add(&t, "aten::mm", Square(64), 10);
  Add(&t, "aten::mm", Square(1024), 400);
  EXPECT_GT(KernelInterpolation(t).Find({"aten::mm", Square(256), ""}).error, 0.1);
}

TEST(Interpolate, LeaveOneOutEqualsTableWithoutRow) {
  proto::KernelTable t = Squares();
  t.mutable_row(2)->set_duration_us(t.row(2).duration_us() * 1.3);
  const auto ratios = KernelInterpolation(t).LeaveOneOut();
  ASSERT_EQ(ratios.size(), 4u);
  EXPECT_FALSE(ratios[0].has_value());
  EXPECT_FALSE(ratios[3].has_value());
  for (int i : {1, 2}) {
    proto::KernelTable others = t;
    others.mutable_row()->DeleteSubrange(i, 1);
    const auto found = KernelInterpolation(others).Find({"aten::mm", t.row(i).shapes(), ""});
    ASSERT_TRUE(ratios[i].has_value());
    EXPECT_NEAR(found.duration.seconds() * 1e6, *ratios[i] * t.row(i).duration_us(), 1e-5) << i;
  }
}

TEST(Interpolate, SkipsUnusableRows) {
  proto::KernelTable t;
  for (int64_t n : {1, 2, 3}) Add(&t, "k", absl::StrCat("[[", n, "]"), 1);   // no list
  for (int64_t n : {1, 2, 3}) Add(&t, "z", absl::StrCat("[[", n, "]]"), 0);  // no time
  Add(&t, "alone", "[[1]]", 1);
  EXPECT_EQ(KernelInterpolation(t).groups(), 0u);
  EXPECT_EQ(KernelInterpolation(Squares()).grouped(), 4u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
