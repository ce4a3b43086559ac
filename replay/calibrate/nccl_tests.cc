#include "replay/calibrate/nccl_tests.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "replay/calibrate/nccl_tests_rows.h"

namespace chakra {
namespace {

bool LooksLikeJson(absl::string_view text) {
  if (absl::StartsWith(text, "{")) return true;
  if (!absl::ConsumePrefix(&text, "[")) return false;  // "[1,0]<stdout>:" is not JSON
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{");
}

// Whether the text begins with a header of a column "collective" and at least one other column.
bool LooksLikeCsv(absl::string_view text) {
  const absl::string_view line = text.substr(0, text.find('\n'));
  return absl::StartsWithIgnoreCase(absl::StripPrefix(line, "\""), "collective") &&
         line.find(',') != absl::string_view::npos;
}

}  // namespace

bool LooksLikeNcclTests(absl::string_view text) { return absl::StrContains(text, "busbw"); }

absl::StatusOr<MeasuredRun> ReadNcclTests(absl::string_view text, const std::string& path) {
  absl::string_view start = text;
  absl::ConsumePrefix(&start, "\xef\xbb\xbf");
  const absl::string_view body = absl::StripLeadingAsciiWhitespace(start);
  if (LooksLikeJson(body)) return nccl_tests::ReadJson(start, path);
  if (LooksLikeCsv(body)) return nccl_tests::ReadCsv(start, path);
  return nccl_tests::ReadText(start, path);
}

}  // namespace chakra
