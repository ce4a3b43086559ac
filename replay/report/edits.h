// What edits did to traces, for people.
#pragma once

#include <string>

#include "proto/edit.pb.h"

namespace chakra {

// A table with one row for each edit, and their notes.
std::string PrintEdits(const proto::EditReport& report);

}  // namespace chakra
