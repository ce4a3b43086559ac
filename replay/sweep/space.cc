#include "replay/sweep/space.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/sweep/metrics.h"
#include "trace/base/checksum.h"
#include "trace/base/status_macros.h"

namespace chakra::sweep {

absl::Status SpecError(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

bool IsReservedName(const std::string& name) {
  for (const char* taken : {"point", "id", "error", "wall_s", "command"}) {
    if (name == taken) return true;
  }
  return IsReportMetric(name);
}

bool IsName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }) &&
         name != "and" && name != "or" && name != "not";
}

std::optional<Value> Space::ValueAt(const Place& place, const std::string& name) const {
  for (size_t a = 0; a < axes_.size(); ++a) {
    if (axes_[a].name == name) return axes_[a].values[place[a]].value;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<std::string>> Space::Words(const Place& place) const {
  const Lookup lookup = [&](const std::string& name) { return ValueAt(place, name); };
  std::vector<std::string> out;
  const auto fill = [&](const std::vector<std::string>& words) -> absl::Status {
    for (const std::string& word : words) {
      if (word.find_first_of("{}") == word.npos) {
        out.push_back(word);
        continue;
      }
      ASSIGN_OR_RETURN(auto filled, FillIn(word, lookup));
      out.push_back(std::move(filled));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(fill(words_));
  for (size_t a = 0; a < axes_.size(); ++a) {
    const SweepAxis& axis = axes_[a];
    const AxisValue& value = axis.values[place[a]];
    if (absl::Status s = fill(value.words); !s.ok()) return SpecError(axis.where, s.message());
    if (!axis.field.empty()) {
      out.push_back("--set");
      out.push_back(absl::StrCat(axis.field, "=", value.text));
    } else if (!axis.option.empty()) {
      if (axis.option != "TRACE") out.push_back(axis.option);
      out.push_back(value.text);
    }
  }
  return out;
}

absl::StatusOr<bool> Space::Allowed(const Place& place) const {
  const Lookup lookup = [&](const std::string& name) { return ValueAt(place, name); };
  for (size_t i = 0; i < constraints_.size(); ++i) {
    auto holds = constraints_[i].EvaluateNumber(lookup);
    if (!holds.ok()) return SpecError(absl::StrCat("constraint[", i, "]"), holds.status().message());
    if (*holds == 0) return false;
  }
  return true;
}

std::string Space::Id(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) absl::StrAppend(&all, w.size(), ":", w);
  return Sha256Hex(all).substr(0, 16);
}

}  // namespace chakra::sweep
