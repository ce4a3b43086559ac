#include "replay/cli/progress.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/cli/command.h"
#include "replay/engine/options.h"
#include "trace/base/text_table.h"

namespace chakra::cli {

std::string DurationText(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s >= 3600) return absl::StrFormat("%d h %02d min", s / 3600, s / 60 % 60);
  return s >= 60 ? absl::StrFormat("%d min %02d s", s / 60, s % 60) : absl::StrCat(s, " s");
}

ProgressLine::ProgressLine(bool quiet)
    : enabled_(!quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      next_(begin_ + std::chrono::seconds(1)) {}

ProgressLine::~ProgressLine() { Erase(); }

void ProgressLine::Update(const Progress& progress) {
  const bool note = enabled_ && !terminal_ && !noted_ && Clock::now() >= begin_ + kNote;
  if (!note && !Due()) return;
  const auto done = static_cast<double>(progress.nodes_done);
  const auto total = static_cast<double>(progress.nodes_total);
  std::string left = "?";
  if (done > 0) left = DurationText(spent() * (total - done) / done);
  const std::string text =
      absl::StrFormat("simulated %s, %s of %s nodes (%.0f %%), about %s left", FormatTime(progress.now),
                      FormatCount(progress.nodes_done), FormatCount(progress.nodes_total),
                      total > 0 ? 100 * done / total : 100.0, left);
  noted_ |= note;
  note ? PrintError(absl::StrCat("note: after ", DurationText(spent()), ": ", text)) : Draw(text);
}

void ProgressLine::Draw(const std::string& text) {
  next_ = Clock::now() + std::chrono::milliseconds(100);
  const std::string line = absl::StrCat("\r\033[K", text);
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
