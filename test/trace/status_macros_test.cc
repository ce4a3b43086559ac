#include "trace/base/status_macros.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

absl::Status Bad() { return absl::DataLossError("bad"); }

template <typename T>
absl::StatusOr<T> Maybe(bool good, T value) {
  if (good) return value;
  return Bad();
}

absl::Status Check(bool good) { return good ? absl::OkStatus() : Bad(); }

// Counts its copies and moves.
struct Counted {
  Counted() = default;
  Counted(const Counted& o) : copies(o.copies + 1), moves(o.moves) {}
  Counted(Counted&& o) noexcept : copies(o.copies), moves(o.moves + 1) {}
  Counted& operator=(const Counted&) = default;
  int copies = 0, moves = 0;
};

TEST(ReturnIfError, ReturnsOnlyErrors) {
  int behind = 0;
  const auto f = [&](bool good) -> absl::Status {
    RETURN_IF_ERROR(Check(good));
    ++behind;
    return absl::CancelledError("end");
  };
  EXPECT_EQ(f(false), Bad());
  EXPECT_EQ(behind, 0);
  EXPECT_EQ(f(true), absl::CancelledError("end"));
  EXPECT_EQ(behind, 1);
}

TEST(ReturnIfError, IsOneStatement) {
  const auto f = [](bool first, bool good) -> absl::StatusOr<int> {
    if (first)
      RETURN_IF_ERROR(Check(good));
    else
      return 2;
    return 1;
  };
  EXPECT_EQ(f(true, true), absl::StatusOr<int>(1));
  EXPECT_EQ(f(false, true), absl::StatusOr<int>(2));
  EXPECT_EQ(f(true, false).status(), Bad());
}

TEST(ReturnIfError, TakesCommasAndNestedUses) {
  const auto f = [](int most) -> absl::Status {
    RETURN_IF_ERROR(Maybe<std::pair<int, int>>(true, {1, 2}).status());
    RETURN_IF_ERROR([&, n = 0]() mutable -> absl::Status {
      RETURN_IF_ERROR(Check(++n <= most));
      RETURN_IF_ERROR(Check(++n <= most));
      ASSIGN_OR_RETURN(const int a, Maybe(2 < most, 3));
      ASSIGN_OR_RETURN(const int b, Maybe(3 < most, 4));
      return absl::CancelledError(absl::StrCat(a, " ", b));
    }());
    return absl::OkStatus();
  };
  for (int most = 0; most < 4; ++most) EXPECT_EQ(f(most), Bad());
  EXPECT_EQ(f(4), absl::CancelledError("3 4"));
}

TEST(AssignOrReturn, DeclaresAndAssigns) {
  struct Out {
    std::vector<int> values = {0, 0};
    std::optional<double> rate;
  };
  const auto f = [](bool good, Out* out) -> absl::Status {
    ASSIGN_OR_RETURN(const int one, Maybe(true, 1));
    ASSIGN_OR_RETURN(auto two, Maybe(true, 2));
    ASSIGN_OR_RETURN(out->values[1], Maybe(true, one + two));
    ASSIGN_OR_RETURN(((*out).values)[0], Maybe(good, 9));
    ASSIGN_OR_RETURN(out->rate, Maybe(true, 1.5));
    return absl::OkStatus();
  };
  Out out;
  EXPECT_EQ(f(false, &out), Bad());
  EXPECT_THAT(out.values, ElementsAre(0, 3));
  EXPECT_EQ(f(true, &out), absl::OkStatus());
  EXPECT_THAT(out.values, ElementsAre(9, 3));
  EXPECT_EQ(out.rate, 1.5);
}

TEST(AssignOrReturn, TakesCommasInParentheses) {
  const auto f = []() -> absl::StatusOr<int> {
    ASSIGN_OR_RETURN((const std::pair<int, int> both), Maybe<std::pair<int, int>>(true, {1, 2}));
    ASSIGN_OR_RETURN((const auto [a, b]), Maybe(true, both));
    ASSIGN_OR_RETURN((auto&& [text, n]), Maybe(true, std::pair<std::string, int>("xyz", 10)));
    return a + b + n + static_cast<int>(text.size());
  };
  EXPECT_EQ(f(), absl::StatusOr<int>(16));
}

TEST(AssignOrReturn, EvaluatesOnce) {
  int calls = 0;
  const auto f = [&](bool good) -> absl::Status {
    ASSIGN_OR_RETURN(const int n, (++calls, Maybe(good, 7)));
    return absl::CancelledError(absl::StrCat(n));
  };
  EXPECT_EQ(f(true), absl::CancelledError("7"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(f(false), Bad());
  EXPECT_EQ(calls, 2);
}

TEST(AssignOrReturn, MovesAndNeverCopies) {
  const auto f = [](bool reference) -> absl::StatusOr<Counted> {
    if (reference) {
      ASSIGN_OR_RETURN(const Counted& c, absl::StatusOr<Counted>(absl::in_place));
      EXPECT_EQ(c.moves, 0);
    }
    ASSIGN_OR_RETURN(Counted c, absl::StatusOr<Counted>(absl::in_place));
    EXPECT_EQ(c.moves, 1);
    return c;
  };
  for (const bool reference : {false, true}) {
    const absl::StatusOr<Counted> c = f(reference);
    ASSERT_TRUE(c.ok());
    EXPECT_EQ(c->copies, 0);
    EXPECT_EQ(c->moves, 2);
  }
}

// The value that the expression names stays whole: it is copied, not moved.
TEST(AssignOrReturn, DoesNotMoveNamedValues) {
  const absl::StatusOr<std::string> kept("a text too long for the object itself");
  absl::StatusOr<std::string> other = kept;
  const auto f = [&](const absl::StatusOr<std::string>& from) -> absl::StatusOr<size_t> {
    ASSIGN_OR_RETURN(const std::string text, from);
    return text.size();
  };
  EXPECT_EQ(f(kept), absl::StatusOr<size_t>(kept->size()));
  EXPECT_EQ(f(other), absl::StatusOr<size_t>(kept->size()));
  EXPECT_EQ(other, kept);
}

TEST(AssignOrReturn, ReturnsMoveOnlyValues) {
  const auto f = [](bool good) -> absl::StatusOr<std::unique_ptr<const int>> {
    ASSIGN_OR_RETURN(std::unique_ptr<int> p, Maybe(good, std::make_unique<int>(3)));
    *p += 1;
    return p;
  };
  const auto p = f(true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(**p, 4);
  EXPECT_EQ(f(false).status(), Bad());
}

// A lambda whose type is deduced gives an absl::Status either way.
TEST(AssignOrReturn, KeepsDeducedReturnTypes) {
  const auto f = [](bool good) {
    ASSIGN_OR_RETURN(const int n, Maybe(good, 1));
    RETURN_IF_ERROR(Check(n == 1));
    return absl::OkStatus();
  };
  static_assert(std::is_same_v<decltype(f(true)), absl::Status>);
  EXPECT_EQ(f(true), absl::OkStatus());
  EXPECT_EQ(f(false), Bad());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
