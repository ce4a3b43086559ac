// Answers questions about the results of a sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/sweep/results.h"
#include "trace/base/text_page.h"

namespace chakra::sweep {

// An answer as rows of texts. left[i]: column i has no numbers, and is aligned left.
struct Answer {
  std::vector<std::string> header;
  std::vector<bool> left;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;
};

// PrintAnswer() prints an aligned table for people; times in _ps columns have units. `page`: the page to lay
// the table out for (the caller passes the text to TextPage::Finish()); null: no limit. AnswerToCsv() prints
// CSV for programs, with exact numbers.
std::string PrintAnswer(const Answer& answer, TextPage* page = nullptr);
std::string AnswerToCsv(const Answer& answer);

struct Aim {
  std::string expression;  // a metric, or an expression over metrics and axes
  bool maximize = false;
};

// "EXPRESSION" (less is better), "min:EXPRESSION", "max:EXPRESSION".
Aim ParseAim(const std::string& text);

// A point, or the mean over the repeats of a point.
struct Candidate {
  const ResultRow* row = nullptr;  // the first of the repeats
  PointMetrics metrics;
  std::vector<const ResultRow*> repeats;  // the repeats that succeeded, including `row`
};

class Query {
 public:
  // `where`: an expression over axes and metrics; only points for which it is true are used; "": all points.
  // `raw`: numbers without units. Failed points are skipped, with a note. Errors: those of the expression.
  static absl::StatusOr<Query> Make(const Results& results, const std::string& where, bool raw);

  // The points that questions are about, by number: points with at least one successful repeat, for which
  // `where` is true.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // The points that failed. Only those for which `where` is false are left out; if it has no value, since it
  // needs a metric, the point is included.
  const std::vector<const ResultRow*>& failed() const { return failed_; }
  // Notes for the reader of an answer, such as points without a result.
  const std::vector<std::string>& notes() const { return notes_; }
  // The value of an expression for each candidate; nullopt: no value. Errors: an unknown name.
  absl::StatusOr<std::vector<std::optional<double>>> Values(const std::string& expression) const;
  // The text of `value`, a value of a metric or expression, as answers show it.
  std::string Cell(const std::string& expression, double value) const;
  // The heading of such cells: a name loses its "_ps" if the cells have units.
  std::string Heading(const std::string& expression) const;

  // The objective of the sweep.
  Aim Objective() const;
  // The `top` best points by `aim`; if `aim` is not given, by the objective of the sweep.
  absl::StatusOr<Answer> Best(const std::optional<Aim>& aim, size_t top) const;
  // The Pareto front: the points that no other point dominates. A point dominates another if it is better in
  // one aim and no worse in all others. Sorted by the first aim. Needs at least two aims.
  absl::StatusOr<Answer> Pareto(const std::vector<Aim>& aims) const;
  // A table of `show` by the values of two axes; `columns` may be "". A cell with several points has the best
  // value of `show`, or with `mean` the mean.
  absl::StatusOr<Answer> Table(const std::string& rows, const std::string& columns, const Aim& show,
                               bool mean) const;

 private:
  Query(const Results& results, bool raw) : results_(results), raw_(raw) {}
  absl::Status Select(const std::string& where);
  absl::StatusOr<Expression> ParseOver(const std::string& text) const;
  absl::StatusOr<double> Evaluate(const Expression& e, const Candidate& c) const;
  Answer Begin(const std::vector<Aim>& aims) const;
  void AddRow(const Candidate& c, const std::vector<double>& values, const std::vector<Aim>& aims,
              Answer* out) const;
  absl::StatusOr<size_t> FindAxis(const std::string& name) const;
  const Results& results_;
  bool raw_;
  std::vector<Candidate> candidates_;
  std::vector<const ResultRow*> failed_;
  std::vector<std::string> notes_;
};

}  // namespace chakra::sweep
