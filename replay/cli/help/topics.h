// Topics of `help`: tables of the keys of key=value texts, made from the declarations of the keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra::cli {

struct KeyRow {
  std::string key;
  std::string fallback;  // the default; "": see `doc`
  std::string values;    // a range with its unit, or the valid words; "": see `doc`
  std::string doc;
};

struct HelpTopic {
  std::string name;   // "packet"
  std::string title;  // a sentence
  std::string about;  // sentences
  std::vector<KeyRow> rows;
};

// The topics that `help` lists, in order.
std::vector<HelpTopic> HelpTopics();
// A topic for each network, transport and fabric that has its own keys, with its name.
std::vector<HelpTopic> HelpSubtopics();
// Searches HelpTopics() and HelpSubtopics().
std::optional<HelpTopic> FindTopic(absl::string_view name);

// Prints a topic on lines of at most `width` columns.
std::string PrintTopic(const HelpTopic& topic, size_t width);

}  // namespace chakra::cli
