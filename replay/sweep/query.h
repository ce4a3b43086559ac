// Questions about the results of a sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/sweep/results.h"
#include "trace/base/text_page.h"

namespace chakra::sweep {

// An answer as rows of texts; the first `left` columns are no numbers.
struct Answer {
  std::vector<std::string> header;
  std::vector<bool> left;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;
};

// For people: aligned, times of _ps columns with their units. For programs: CSV, numbers as they are.
// `page`: where the table is to fit, once the page has finished the text; null: anywhere.
std::string PrintAnswer(const Answer& answer, TextPage* page = nullptr);
std::string AnswerToCsv(const Answer& answer);

struct Aim {
  std::string expression;  // a metric, or an expression over metrics and axes
  bool maximize = false;
};

// "EXPRESSION" (less is better), "min:EXPRESSION", "max:EXPRESSION".
Aim ParseAim(const std::string& text);

// A point, or the mean over the repeats of one.
struct Candidate {
  const ResultRow* row = nullptr;  // the first of the repeats
  PointMetrics metrics;
  std::vector<const ResultRow*> repeats;  // those that ended well, `row` among them
};

class Query {
 public:
  // `where`: only points for which that is true (names of axes and metrics); "": all. `raw`: numbers as they
  // are. Failed points are left out, and noted. Errors: the expression.
  static absl::StatusOr<Query> Make(const Results& results, const std::string& where, bool raw);

  // What is asked about, by number: points of which a repeat ended well.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Points that failed. With `where` those too for which it says nothing, as it asks for a metric.
  const std::vector<const ResultRow*>& failed() const { return failed_; }
  // What an answer is to be read with: points without a result, and the like.
  const std::vector<std::string>& notes() const { return notes_; }
  // An expression for each candidate; nothing where it has no value. Errors: it names what there is not.
  absl::StatusOr<std::vector<std::optional<double>>> Values(const std::string& expression) const;
  // `value` of that metric or expression, as answers have it.
  std::string Cell(const std::string& expression, double value) const;

  // What the sweep goes by.
  Aim Objective() const;
  // The `top` best points by `aim`; without one by the objective of the sweep.
  absl::StatusOr<Answer> Best(const std::optional<Aim>& aim, size_t top) const;
  // The points than which none is better in one aim and no worse in the others; by the first aim. At least
  // two aims.
  absl::StatusOr<Answer> Pareto(const std::vector<Aim>& aims) const;
  // `show` by the values of two axes; `columns` may be "". Where several points meet in a cell, the best of
  // them by `show`, or their mean.
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
