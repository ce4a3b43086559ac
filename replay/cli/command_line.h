// The command line as a function: the binary calls it once, tests many times in one process.
#pragma once

#include <string>
#include <vector>

namespace chakra::cli {

// Runs `chakra-replay ARGUMENTS` and returns the exit status. Writes to this process's standard output and
// error, and leaves its signal handlers as they were.
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace chakra::cli
