// Prints the outcome of edits for people.
#pragma once

#include <string>

#include "proto/edit.pb.h"
#include "trace/base/text_page.h"

namespace chakra {

// A table with one row for each edit, then the notes of the edits. `page` as for PrintReport().
std::string PrintEdits(const proto::EditReport& report, TextPage* page = nullptr);

}  // namespace chakra
