#include "trace/io/printable_message.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <utility>
#include <vector>

#include "trace/base/printable.h"

namespace chakra {

void MakePrintable(google::protobuf::Message* message) {
  using Field = google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& of = *message->GetReflection();
  std::vector<const Field*> fields;
  of.ListFields(*message, &fields);
  for (const Field* field : fields) {
    const int n = field->is_repeated() ? of.FieldSize(*message, field) : 1;
    for (int i = 0; i < n; ++i) {
      if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
        MakePrintable(field->is_repeated() ? of.MutableRepeatedMessage(message, field, i)
                                           : of.MutableMessage(message, field));
      } else if (field->type() == Field::TYPE_STRING) {
        std::string scratch;
        const std::string& text = field->is_repeated()
                                      ? of.GetRepeatedStringReference(*message, field, i, &scratch)
                                      : of.GetStringReference(*message, field, &scratch);
        std::string printable = Printable(text);
        if (printable == text) continue;
        if (field->is_repeated()) {
          of.SetRepeatedString(message, field, i, std::move(printable));
        } else {
          of.SetString(message, field, std::move(printable));
        }
      }
    }
  }
}

}  // namespace chakra
