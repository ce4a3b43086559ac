// What the programs of this folder have in common: the command line, files that are written and compared, figures that
// must hold. Exit status: 0 all holds; 1 a figure, a file or the input does not; 2 the command line is wrong; 77 there are
// no measurements.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "test/validation/checks.h"

namespace chakra::validation {

using Files = std::vector<std::pair<std::string, std::string>>;  // name and content

class Program {
 public:
  static constexpr int kGoOn = -1;

  // `name`: of the binary. `input`: the one argument without a dash, as the usage has it. `more`: options beside those
  // below, as the usage has them ("--every N"); without a value they are flags. Without `checks` there is no --check.
  Program(std::string name, std::string input, std::vector<std::string> more = {}, bool checks = true);

  // kGoOn, or the exit status: of a wrong command line, or of an input that is absent. With `wants_work` one of --out,
  // --check and --compare must be there.
  int Parse(int argc, char** argv, bool wants_work);

  const std::string& input() const { return input_; }
  const std::string& out() const { return out_; }
  const std::string& compare() const { return compare_; }
  bool check() const { return check_; }
  // What was given for one of `more`, by its name ("--every"), of a flag the name; "" if nothing.
  const std::string& Option(const std::string& name) const;

  // Prints what is wrong; 1.
  int Fail(const std::string& what) const;
  int Fail(const absl::Status& status) const { return Fail(std::string(status.message())); }
  int Usage() const;

  // Writes the files into --out and wants the same bytes in --compare, as far as these are given.
  int Keep(const Files& files) const;
  // With --check: prints each figure, and fails if one does not hold.
  int Check(const std::vector<Finding>& findings) const;
  // What writes the kept files anew, as a command line.
  std::string Again() const;

 private:
  std::string name_, input_name_;
  std::vector<std::string> more_;
  bool checks_;
  std::string input_, out_, compare_;
  std::map<std::string, std::string> options_;
  bool check_ = false;
};

}  // namespace chakra::validation
