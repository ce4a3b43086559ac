// The command line as a function. The binary calls it once; tests call it many times in one process.
#pragma once

#include <string>
#include <vector>

namespace chakra::cli {

// Runs `chakra-replay ARGUMENTS` and returns the exit status. Writes to this process's standard output and
// standard error. Restores the signal handlers.
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace chakra::cli
