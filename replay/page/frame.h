// The common parts of all pages: one HTML file with a frame, styles, scripts and data.
#pragma once

#include <string>
#include <vector>

namespace chakra::page {

// Files are named as in assets.h. Texts are plain; Assemble() escapes them for HTML.
struct Parts {
  std::string sections;              // the file with the content of <main>
  std::vector<std::string> styles;   // files, joined in this order into one style
  std::vector<std::string> scripts;  // files, joined in this order into one script
  std::string columns;               // columns of the tables, JSON (ColumnsOf()); `kShown` in the script
  std::string kind;                  // id of the element with the data
  std::string data;                  // JSON
  std::string title;                 // title of the window
  std::string heading, of;           // heading of the page; `of` is shown smaller
  std::string text;                  // shown instead of charts and tables if scripting is off
};

// Makes a page that loads nothing and runs only its own scripts, whatever the texts and the data contain: its
// content security policy names the scripts by hash. Bytes that are not UTF-8 are removed or become U+FFFD.
std::string Assemble(const Parts& parts);

}  // namespace chakra::page
