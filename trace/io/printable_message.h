// Messages whose texts come from users' files, before they are printed for people.
#pragma once

#include <google/protobuf/message.h>

namespace chakra {

// Makes all texts in a message, but keys of maps, Printable() (trace/base/printable.h).
void MakePrintable(google::protobuf::Message* message);

// A copy with printable texts.
template <typename M>
M PrintableCopy(const M& message) {
  M copy = message;
  MakePrintable(&copy);
  return copy;
}

}  // namespace chakra
