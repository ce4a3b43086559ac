// Runs the command line, as a script does.
#pragma once

#include <string>

namespace chakra {

struct CommandResult {
  int status = -1;  // -1: it was not run or was killed; 124: it hung
  std::string out;
  std::string err;
};

// Runs `chakra-replay ARGUMENTS` in `folder` ("": the working folder) with an empty standard input. Plain
// words run in this process. Where a shell has work to do (pipes, redirections, variables, patterns), a shell
// runs the binary. `out`: the file in `folder` that standard output goes to; "": it is returned; "&-": it is
// closed.
CommandResult RunCommand(const std::string& arguments, const std::string& folder = "",
                         const std::string& out = "");

// The same in the working folder. Returns standard output and error as one text, in the order of writing.
std::string RunBinary(const std::string& arguments, int* status);

}  // namespace chakra
