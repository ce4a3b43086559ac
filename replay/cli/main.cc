#include <csignal>

#include "replay/cli/command_line.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error of the write
  return chakra::cli::RunCommandLine({argv + 1, argv + argc});
}
