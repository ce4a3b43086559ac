#include "trace/import/nsys/operator_text.h"

#include <algorithm>

#include "absl/strings/numbers.h"

namespace chakra::nsys {
namespace {

// Returns the list of lists of numbers at the begin of `text`, without blanks; "": there is no complete list.
std::string ShapesAt(absl::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    const bool known = (c >= '0' && c <= '9') || c == '[' || c == ']' || c == ',' || c == '-';
    if (!known || depth > 3) return "";
    out += c;
    if (depth == 0) return out;
  }
  return "";
}

int64_t NumberAt(absl::string_view text) {
  int64_t n = -1;
  const size_t end = text.find_first_not_of("0123456789");
  return absl::SimpleAtoi(text.substr(0, end), &n) ? n : -1;
}

}  // namespace

bool ReadOperatorText(absl::string_view text, OperatorText* out) {
  constexpr absl::string_view kSeq = ", seq = ", kId = ", op_id = ", kSizes = ", sizes = ";
  *out = OperatorText();
  const size_t seq = text.find(kSeq), id = text.find(kId), sizes = text.find(kSizes);
  const size_t end = std::min({seq, id, sizes});
  if (end == text.npos || end == 0) return false;
  out->name = text.substr(0, end);
  if (seq != text.npos) out->seq = NumberAt(text.substr(seq + kSeq.size()));
  if (sizes != text.npos) out->shapes = ShapesAt(text.substr(sizes + kSizes.size()));
  return true;
}

}  // namespace chakra::nsys
