// Makes messages with texts from users' files safe to print.
#pragma once

#include <google/protobuf/message.h>

namespace chakra {

// Applies Printable() (trace/base/printable.h) to all texts in a message, except the keys of maps.
void MakePrintable(google::protobuf::Message* message);

// A copy with printable texts.
template <typename M>
M PrintableCopy(const M& message) {
  M copy = message;
  MakePrintable(&copy);
  return copy;
}

}  // namespace chakra
