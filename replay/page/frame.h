// What all pages have in common: one HTML file of a frame, styles, scripts and data.
#pragma once

#include <string>
#include <vector>

namespace chakra::page {

// Names are of assets.h, texts are plain: Assemble() makes HTML of them.
struct Parts {
  std::string sections;              // what stands in <main>
  std::vector<std::string> styles;   // in their order; one style
  std::vector<std::string> scripts;  // in the order in which they run; one script
  std::string columns;               // of its tables, JSON (ColumnsOf()): kShown of the script
  std::string kind;                  // id of the element with the data
  std::string data;                  // JSON
  std::string title;                 // of the window
  std::string heading, of;           // of the page; `of` smaller
  std::string text;                  // in place of charts and tables where there is no scripting
};

// A page that loads nothing and runs no script but its own, which its content security policy names by hash,
// whatever stands in the texts and the data. Bytes that are no UTF-8 are left out or become U+FFFD.
std::string Assemble(const Parts& parts);

}  // namespace chakra::page
