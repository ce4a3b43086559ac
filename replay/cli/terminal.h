// The terminal at standard output, if there is one.
#pragma once

#include <string>

#include "trace/base/text_page.h"

namespace chakra::cli {

// The page for an output in `format` to `path`: for text to standard output ("-") that is a terminal, the
// terminal's width, or that of COLUMNS where it is a number of 20 to 10,000; else a page without limits. A
// terminal that does not know its width has none.
TextPage PageOf(const std::string& path, const std::string& format = "text");

// Columns of help: COLUMNS or the width of the terminal, within 40 to 100; 79 where neither is known.
size_t HelpWidth();

}  // namespace chakra::cli
