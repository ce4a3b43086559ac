#include "replay/cli/progress.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"
#include "replay/engine/options.h"
#include "trace/base/text_table.h"

namespace chakra::cli {

ProgressLine::ProgressLine(bool quiet)
    : enabled_(!quiet && isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      next_(begin_ + std::chrono::seconds(1)) {}

ProgressLine::~ProgressLine() { Erase(); }

void ProgressLine::Update(const Progress& progress) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double spent = std::chrono::duration<double>(now - begin_).count();
  const auto done = static_cast<double>(progress.nodes_done);
  const auto total = static_cast<double>(progress.nodes_total);
  std::string left = "?";
  if (done > 0) left = absl::StrFormat("%.0f s", spent * (total - done) / done);
  const std::string line =
      absl::StrFormat("\r\033[Ksimulated %s, %s of %s nodes (%.0f %%), about %s left",
                      FormatTime(progress.now), FormatCount(progress.nodes_done),
                      FormatCount(progress.nodes_total), total > 0 ? 100 * done / total : 100.0, left);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::Erase() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace chakra::cli
