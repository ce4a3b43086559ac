#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "replay/cli/command_line.h"

namespace {

constexpr char kNoMemory[] =
    "chakra-replay: out of memory; expected a machine with more memory, a larger --max-memory, or fewer "
    "ranks, steps or nodes\n";

// Prints one line about the current exception, without allocating memory. Returns false if the exception is
// no lack of resources of the system.
bool Explain() {
  try {
    // If there is no caught exception, the reason may be threads that a failed allocation left behind.
    if (const std::exception_ptr thrown = std::current_exception()) {
      std::rethrow_exception(thrown);
    } else if (std::uncaught_exceptions() == 0) {
      return false;
    }
  } catch (const std::system_error& e) {
    std::fprintf(stderr, "chakra-replay: the system gives no more threads or locks: %s\n", e.what());
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const std::exception& e) {
    std::fprintf(stderr, "chakra-replay: %s; this is a fault of the program\n", e.what());
    return false;
  } catch (...) {
    return false;
  }
  std::fputs(kNoMemory, stderr);
  return true;
}

// Handles uncaught exceptions on any thread.
[[noreturn]] void Unhandled() {
  if (Explain()) std::_Exit(1);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(Unhandled);
  std::signal(SIGXFSZ, SIG_IGN);  // a file above the size limit is then a write error
  try {
    return chakra::cli::RunCommandLine({argv + 1, argv + argc});
  } catch (const std::exception&) {  // caught, so that destructors undo what was begun
    if (!Explain()) std::abort();
    return 1;
  }
}
