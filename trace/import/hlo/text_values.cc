#include "trace/import/hlo/text_values.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/import/hlo/text_cursor.h"

namespace chakra::hlo {
namespace {

constexpr int64_t kLargestSlice = int64_t{1} << 50;

// Moves the text before `end` from `rest` to `out`, and removes `end`. Returns false if there is no `end`.
bool TakeTo(absl::string_view* rest, char end, absl::string_view* out) {
  const size_t at = rest->find(end);
  if (at == rest->npos) return false;
  *out = rest->substr(0, at);
  rest->remove_prefix(at + 1);
  return true;
}

// "'a'" or "a".
absl::string_view AxisName(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&text, "'")) absl::ConsumeSuffix(&text, "'");
  return text;
}

// "0,2,1,3", "[4,16]T(1,0)" or "[16]": the devices of a mesh in its order.
bool ParseMeshDevices(absl::string_view text, std::vector<int64_t>* out) {
  if (!absl::StartsWith(text, "[")) return ParseNumbers(text, out);
  ReplicaGroups one_each;
  const size_t turn = text.find('T');
  if (!ParseNumbers(text.substr(0, turn), &one_each.reshape)) return false;
  if (turn != text.npos) {
    absl::string_view order = text.substr(turn + 1);
    if (!absl::ConsumePrefix(&order, "(") || !absl::ConsumeSuffix(&order, ")") ||
        !ParseNumbers(order, &one_each.transpose))
      return false;
  }
  one_each.groups = 1;
  for (const int64_t size : one_each.reshape) {
    if (size < 1 || one_each.groups > kMostDevices / size) return false;
    one_each.groups *= size;
  }
  one_each.size = 1;
  for (const std::vector<int64_t>& device : ListGroups(one_each)) out->push_back(device.at(0));
  return !out->empty();
}

// "mesh['a'=2,'b'=4], device_ids=(0,2,...) {'b','a':(1)2}": groups of devices that differ only along the axes
// in braces.
bool ParseMeshGroups(absl::string_view text, ReplicaGroups* out) {
  std::vector<absl::string_view> names;
  std::vector<int64_t> sizes, devices;
  absl::string_view axes, part;
  if (!absl::ConsumePrefix(&text, "[") || !TakeTo(&text, ']', &axes)) return false;
  for (const absl::string_view axis : SplitList(axes)) {
    const size_t equals = axis.rfind('=');
    if (equals == axis.npos || !absl::SimpleAtoi(axis.substr(equals + 1), &sizes.emplace_back()))
      return false;
    names.push_back(AxisName(axis.substr(0, equals)));
  }
  const size_t brace = text.find('{');
  if (brace == text.npos || !absl::EndsWith(text, "}")) return false;
  absl::string_view ids = absl::StripAsciiWhitespace(text.substr(0, brace));
  if (absl::ConsumePrefix(&ids, ",")) {
    ids = absl::StripAsciiWhitespace(ids);
    if (!absl::ConsumePrefix(&ids, "device_ids=(") || !absl::ConsumeSuffix(&ids, ")") ||
        !ParseMeshDevices(ids, &devices))
      return false;
  } else if (!ids.empty()) {
    return false;
  }
  std::vector<AxisRef> refs;
  for (absl::string_view name : SplitList(text.substr(brace + 1, text.size() - brace - 2))) {
    AxisRef& ref = refs.emplace_back();
    if (const size_t colon = name.rfind(":("); colon != name.npos) {
      absl::string_view sub = name.substr(colon + 2);
      if (!TakeTo(&sub, ')', &part) || !absl::SimpleAtoi(part, &ref.pre_size) ||
          !absl::SimpleAtoi(sub, &ref.size) || ref.size < 1)
        return false;
      name = name.substr(0, colon);
    }
    ref.axis = std::find(names.begin(), names.end(), AxisName(name)) - names.begin();
  }
  return GroupsAlongMesh(sizes, refs, devices, out) == nullptr;
}

bool ParseListedGroups(absl::string_view text, ReplicaGroups* out) {
  const absl::string_view inside = absl::StripAsciiWhitespace(text.substr(1, text.size() - 2));
  if (inside.empty()) return true;
  for (const absl::string_view group : SplitList(inside)) {
    if (!absl::StartsWith(group, "{") || !ParseNumbers(group, &out->listed.emplace_back())) return false;
  }
  return true;
}

bool ParseIotaGroups(absl::string_view text, ReplicaGroups* out) {
  const size_t arrow = text.find("<=");
  if (arrow == text.npos) return false;
  std::vector<int64_t> sizes;
  if (!ParseNumbers(text.substr(0, arrow), &sizes) || sizes.empty()) return false;
  absl::string_view rest = text.substr(arrow + 2);
  const size_t turn = rest.find('T');
  if (!absl::StartsWith(rest, "[") || !ParseNumbers(rest.substr(0, turn), &out->reshape) ||
      out->reshape.empty())
    return false;
  if (turn != rest.npos) {
    rest.remove_prefix(turn + 1);
    if (!absl::ConsumePrefix(&rest, "(") || !absl::ConsumeSuffix(&rest, ")") ||
        !ParseNumbers(rest, &out->transpose))
      return false;
  }
  for (const int64_t size : sizes) {
    if (size < 1 || size > kMostDevices) return false;
  }
  // [2,4]: two groups of four. One number: that many groups of one device each.
  out->groups = sizes[0];
  out->size = 1;
  for (size_t k = 1; k < sizes.size(); ++k) {
    if (out->size > kMostDevices / sizes[k]) return false;
    out->size *= sizes[k];
  }
  return true;
}

// Splits "3x3" or "1_1x1_1" into one text for each dimension.
bool ForDims(absl::string_view text, std::vector<WindowDim>* dims,
             bool (*take)(absl::string_view text, WindowDim* dim)) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
  if (dims->size() < parts.size()) dims->resize(parts.size());
  for (size_t d = 0; d < parts.size(); ++d) {
    if (!take(parts[d], &(*dims)[d])) return false;
  }
  return true;
}

}  // namespace

std::optional<ReplicaGroups> ParseReplicaGroups(absl::string_view text) {
  ReplicaGroups out;
  text = absl::StripAsciiWhitespace(text);
  const bool parsed = absl::ConsumePrefix(&text, "mesh") ? ParseMeshGroups(text, &out)
                      : absl::StartsWith(text, "{") && absl::EndsWith(text, "}") && text.size() > 1
                          ? ParseListedGroups(text, &out)
                          : ParseIotaGroups(text, &out);
  if (!parsed) return std::nullopt;
  return out;
}

std::optional<std::vector<std::pair<int64_t, int64_t>>> ParsePairs(absl::string_view text) {
  std::vector<std::pair<int64_t, int64_t>> out;
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) return std::nullopt;
  for (const absl::string_view part : SplitList(absl::StripAsciiWhitespace(text))) {
    std::vector<int64_t> pair;
    if (!absl::StartsWith(part, "{") || !ParseNumbers(part, &pair) || pair.size() != 2) return std::nullopt;
    out.emplace_back(pair[0], pair[1]);
  }
  return out;
}

bool ParseDimLabels(absl::string_view text, ConvDims* out) {
  const size_t bar = text.find('_'), arrow = text.find("->");
  if (bar == text.npos || arrow == text.npos || arrow < bar) return false;
  const absl::string_view input = text.substr(0, bar), kernel = text.substr(bar + 1, arrow - bar - 1),
                          output = text.substr(arrow + 2);
  const auto place = [](absl::string_view part, char letter) {
    const size_t at = part.find(letter);
    return at == part.npos ? int64_t{0} : static_cast<int64_t>(at);
  };
  const auto spatial = [&](absl::string_view part) {
    std::vector<int64_t> dims;
    for (char digit = '0'; digit <= '9' && absl::StrContains(part, digit); ++digit)
      dims.push_back(place(part, digit));
    return dims;
  };
  out->input_batch = place(input, 'b');
  out->input_feature = place(input, 'f');
  out->input_spatial = spatial(input);
  out->kernel_input = place(kernel, 'i');
  out->kernel_output = place(kernel, 'o');
  out->kernel_spatial = spatial(kernel);
  out->output_batch = place(output, 'b');
  out->output_feature = place(output, 'f');
  out->output_spatial = spatial(output);
  return true;
}

bool ParseWindow(absl::string_view text, std::vector<WindowDim>* out) {
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) return false;
  for (const absl::string_view field : absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    const absl::string_view key = pair.first;
    bool good = true;
    if (key == "size") {
      good = ForDims(pair.second, out,
                     [](absl::string_view t, WindowDim* d) { return absl::SimpleAtoi(t, &d->size); });
    } else if (key == "stride") {
      good = ForDims(pair.second, out,
                     [](absl::string_view t, WindowDim* d) { return absl::SimpleAtoi(t, &d->stride); });
    } else if (key == "lhs_dilate") {
      good = ForDims(pair.second, out, [](absl::string_view t, WindowDim* d) {
        return absl::SimpleAtoi(t, &d->base_dilation);
      });
    } else if (key == "rhs_dilate") {
      good = ForDims(pair.second, out,
                     [](absl::string_view t, WindowDim* d) { return absl::SimpleAtoi(t, &d->dilation); });
    } else if (key == "pad") {
      good = ForDims(pair.second, out, [](absl::string_view t, WindowDim* d) {
        return absl::SimpleAtoi(t.substr(0, t.find('_')), &d->pad_low);
      });
    }
    if (!good) return false;
  }
  return true;
}

int64_t ParseSliceElements(absl::string_view text) {
  if (!absl::StartsWith(text, "{{")) text = absl::StripAsciiWhitespace(text);
  const bool many =
      absl::StartsWith(text, "{{") && absl::ConsumePrefix(&text, "{") && absl::ConsumeSuffix(&text, "}");
  int64_t sum = 0;
  for (const absl::string_view slice : many ? SplitList(text) : std::vector<absl::string_view>{text}) {
    std::vector<int64_t> sizes;
    if (!ParseNumbers(slice, &sizes)) return 0;
    int64_t elements = 1;
    for (const int64_t size : sizes) {
      if (size < 0 || (size > 0 && elements > kLargestSlice / size)) return 0;
      elements *= size;
    }
    sum = std::min(kLargestSlice, sum + elements);
  }
  return sum;
}

absl::string_view FieldOf(absl::string_view braces, absl::string_view key) {
  const size_t at = braces.find(absl::StrCat(key, "="));
  if (at == braces.npos) return "";
  const absl::string_view rest = braces.substr(at + key.size() + 1);
  if (rest.empty()) return "";
  if (rest[0] == '"') {
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == '\\') {
        ++i;
      } else if (rest[i] == '"') {
        return rest.substr(0, i + 1);
      }
    }
    return "";
  }
  if (rest[0] == '{') {
    TextCursor cursor(rest);
    absl::string_view inside;
    return cursor.Bracketed(&inside) ? rest.substr(0, cursor.at()) : "";
  }
  return rest.substr(0, rest.find_first_of(" ,}"));
}

}  // namespace chakra::hlo
