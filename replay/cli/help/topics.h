// Topics of `help`: tables of the keys of key=value texts, made from what declares them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra::cli {

struct KeyRow {
  std::string key;
  std::string fallback;  // "": as `doc` says
  std::string values;    // a range with its unit, or words; "": as `doc` says
  std::string doc;
};

struct HelpTopic {
  std::string name;   // "packet"
  std::string title;  // a sentence
  std::string about;  // sentences
  std::vector<KeyRow> rows;
};

// Those that `help` lists, in order.
std::vector<HelpTopic> HelpTopics();
// One for each network, transport and fabric with keys of its own, by its name.
std::vector<HelpTopic> HelpSubtopics();
// Of both.
std::optional<HelpTopic> FindTopic(absl::string_view name);

// On lines of at most `width` columns.
std::string PrintTopic(const HelpTopic& topic, size_t width);

}  // namespace chakra::cli
