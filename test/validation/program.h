// The common parts of the programs of this folder: the command line, files to write and compare, and checks
// of figures. Exit status: 0 all is right; 1 a figure, a file or the input is wrong; 2 the command line is
// wrong; 77 there are no measurements.
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

  // `name` is the binary's. `input` is the one argument without a dash, as in the usage. `more` has further
  // options, as in the usage ("--every N"); those without a value are flags. Without `checks` there is no
  // --check.
  Program(std::string name, std::string input, std::vector<std::string> more = {}, bool checks = true);

  // kGoOn, or the exit status of a wrong command line or of an absent input. With `wants_work`, one of --out,
  // --check and --compare must be given.
  int Parse(int argc, char** argv, bool wants_work);

  const std::string& input() const { return input_; }
  const std::string& out() const { return out_; }
  const std::string& compare() const { return compare_; }
  bool check() const { return check_; }
  // The given value of one of `more`, by its name ("--every"); for a flag, its name; "": not given.
  const std::string& Option(const std::string& name) const;

  // Prints an error; returns 1.
  int Fail(const std::string& what) const;
  int Fail(const absl::Status& status) const { return Fail(std::string(status.message())); }
  int Usage() const;

  // Writes the files into --out, and expects the same bytes in --compare, if these are given.
  int Keep(const Files& files) const;
  // With --check, prints each figure, and fails if one is wrong.
  int Check(const std::vector<Finding>& findings) const;
  // The command line that writes the kept files again.
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
