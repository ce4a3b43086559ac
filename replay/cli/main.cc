#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "replay/cli/command_line.h"

namespace {

// The only exception that nothing catches is that of memory, on whatever thread.
[[noreturn]] void Unhandled() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    std::fputs(
        "chakra-replay: out of memory; expected a machine or a --max-memory with more, or less to do: fewer "
        "ranks, steps or nodes\n",
        stderr);
    std::_Exit(1);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(Unhandled);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error of the write
  return chakra::cli::RunCommandLine({argv + 1, argv + argc});
}
