// The terminal of standard output, if there is one.
#pragma once

#include <string>

#include "trace/base/text_page.h"

namespace chakra::cli {

// The page for an output in `format` to `path`. For text to standard output ("-") on a terminal, the page has
// the width of the terminal, or that of COLUMNS if it is a number from 20 to 10,000. For all else, and for a
// terminal of unknown width, the page has no limit.
TextPage PageOf(const std::string& path, const std::string& format = "text");

// The number of columns of help: COLUMNS or the width of the terminal, limited to 40 to 100; 79 if neither is
// known.
size_t HelpWidth();

}  // namespace chakra::cli
