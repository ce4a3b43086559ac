#include "replay/compute/operators/operands.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

struct ElementType {
  const char* text;
  int bytes;
  const char* dtype;
};

// Type names of PyTorch's observer and profiler, of torch dtypes and of NumPy. c10/core/ScalarType.h has the
// sizes.
constexpr ElementType kElementTypes[] = {
    {"double", 8, "fp64"},
    {"float64", 8, "fp64"},
    {"float", 4, "fp32"},
    {"float32", 4, "fp32"},
    {"c10::BFloat16", 2, "bf16"},
    {"bfloat16", 2, "bf16"},
    {"c10::Half", 2, "fp16"},
    {"half", 2, "fp16"},
    {"float16", 2, "fp16"},
    {"float8_e4m3fn", 1, "fp8"},
    {"float8_e5m2", 1, "fp8"},
    {"c10::Float8_e4m3fn", 1, "fp8"},
    {"c10::Float8_e5m2", 1, "fp8"},
    {"c10::Float8_e4m3fnuz", 1, "fp8"},
    {"c10::Float8_e5m2fnuz", 1, "fp8"},
    {"c10::Float4_e2m1fn_x2", 1, "fp4"},
    {"float4_e2m1fn_x2", 1, "fp4"},
    {"signed char", 1, "int8"},
    {"char", 1, "int8"},
    {"int8", 1, "int8"},
    {"unsigned char", 1, "int8"},
    {"uint8", 1, "int8"},
    {"c10::qint8", 1, "int8"},
    {"c10::quint8", 1, "int8"},
    {"bool", 1, ""},
    {"short", 2, ""},
    {"short int", 2, ""},
    {"int16", 2, ""},
    {"int", 4, ""},
    {"int32", 4, ""},
    {"c10::qint32", 4, ""},
    {"long", 8, ""},
    {"long int", 8, ""},
    {"long long", 8, ""},
    {"int64", 8, ""},
    {"c10::complex<float>", 8, ""},
    {"c10::complex<double>", 16, ""},
};

// Inside "Tensor(...)" case does not matter. In a bare name case matters, since "Int" is a scalar and "int" a
// tensor.
const ElementType* FindElement(absl::string_view text, bool any_case) {
  for (const ElementType& t : kElementTypes) {
    if (text == t.text || (any_case && absl::EqualsIgnoreCase(text, t.text))) return &t;
  }
  return nullptr;
}

// The element type in "Tensor(float)" or "float", or of the first tensor in "GenericList[Tensor(float),...]".
// Null: not a tensor, or an unknown element type.
const ElementType* ElementOf(absl::string_view type) {
  const size_t open = type.find("Tensor(");
  if (open == absl::string_view::npos) return FindElement(type, false);
  type.remove_prefix(open + 7);
  return FindElement(type.substr(0, type.find(')')), true);
}

class TextReader {
 public:
  TextReader(absl::string_view text, absl::string_view what) : text_(text), what_(what) {}

  absl::Status Error(absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat(what_, ", byte ", at_, ": ",
                     at_ < text_.size() ? absl::StrCat("\"", text_.substr(at_, 1), "\"") : "the end",
                     ", expected ", expected));
  }

  void Blanks() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool Take(char c) {
    Blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool done() {
    Blanks();
    return at_ == text_.size();
  }

  char next() {
    Blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  absl::Status Dimension(int64_t* value) {
    Blanks();
    if (at_ >= text_.size() || !absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]))) {
      return Error("a dimension >= 0, a list or its end");
    }
    *value = 0;
    for (; at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      const int digit = text_[at_] - '0';
      if (*value > (std::numeric_limits<int64_t>::max() - digit) / 10) return Error("a dimension of 64 bits");
      *value = *value * 10 + digit;
    }
    return absl::OkStatus();
  }

  absl::Status Quoted(absl::string_view* value) {
    const char quote = next();
    if (quote != '"' && quote != '\'') return Error("a type in quotes");
    const size_t begin = at_ + 1;
    const size_t end = text_.find(quote, begin);
    if (end == absl::string_view::npos) {
      at_ = text_.size();
      return Error("the end of a quoted type");
    }
    *value = text_.substr(begin, end - begin);
    at_ = end + 1;
    return absl::OkStatus();
  }

 private:
  absl::string_view text_, what_;
  size_t at_ = 0;
};

// Reads a list whose "[" was read already; `item` reads one item.
template <typename Item>
absl::Status ReadList(TextReader* text, Item item) {
  if (text->Take(']')) return absl::OkStatus();
  do {
    RETURN_IF_ERROR(item());
  } while (text->Take(','));
  return text->Take(']') ? absl::OkStatus() : text->Error("\",\" or \"]\"");
}

absl::Status ReadShape(TextReader* text, Shape* shape) {
  return ReadList(text, [&] {
    shape->push_back(0);
    return text->Dimension(&shape->back());
  });
}

// Reads a shape, or a list of shapes.
absl::Status ReadOperand(TextReader* text, Operand* operand) {
  if (!text->Take('[')) return text->Error("a shape, \"[...]\"");
  if (text->next() != '[') {
    operand->shapes.emplace_back();
    return ReadShape(text, &operand->shapes.back());
  }
  operand->list = true;
  return ReadList(text, [&] {
    if (!text->Take('[')) return text->Error("a shape, \"[...]\"");
    operand->shapes.emplace_back();
    return ReadShape(text, &operand->shapes.back());
  });
}

void SetType(absl::string_view type, Operand* operand) {
  const ElementType* element = ElementOf(type);
  if (element != nullptr) {
    operand->element_bytes = element->bytes;
    operand->dtype = element->dtype;
    return;
  }
  // Kineto does not give the element type of a "TensorList". An operand with a shape and an unknown type is
  // still a tensor.
  const bool tensors = type == "TensorList" || absl::StrContains(type, "Tensor(");
  if (!tensors || absl::StrContains(type, "nullptr")) operand->shapes.clear();
}

}  // namespace

absl::StatusOr<std::vector<Operand>> ParseOperands(absl::string_view shapes, absl::string_view types) {
  std::vector<Operand> operands;
  TextReader text(shapes, "shapes");
  if (!text.Take('[')) return text.Error("a list of shapes, \"[[...], ...]\"");
  absl::Status s = ReadList(&text, [&] {
    operands.emplace_back();
    return ReadOperand(&text, &operands.back());
  });
  if (!s.ok()) return s;
  if (!text.done()) return text.Error("the end");
  TextReader names(types, "dtypes");
  if (names.done()) {
    for (Operand& o : operands) {
      if (o.list || o.shapes[0].empty()) o.shapes.clear();
    }
    return operands;
  }
  if (!names.Take('[')) return names.Error("a list of types, \"['...', ...]\"");
  size_t count = 0;
  s = ReadList(&names, [&] {
    absl::string_view type;
    RETURN_IF_ERROR(names.Quoted(&type));
    if (count < operands.size()) SetType(type, &operands[count]);
    ++count;
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  if (!names.done()) return names.Error("the end");
  if (count != operands.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtypes has ", count, " types, expected ", operands.size(), ", as many as shapes has"));
  }
  return operands;
}

absl::string_view DtypeOf(absl::string_view types) {
  constexpr absl::string_view kOpen = "Tensor(";
  if (absl::StrContains(types, kOpen)) {
    for (size_t at = types.find(kOpen); at != absl::string_view::npos; at = types.find(kOpen)) {
      types.remove_prefix(at + kOpen.size());
      const ElementType* element = FindElement(types.substr(0, types.find(')')), true);
      if (element != nullptr && element->dtype[0] != '\0') return element->dtype;
    }
    return "";
  }
  TextReader text(types, "dtypes");
  absl::string_view found;
  if (!text.Take('[')) return found;
  (void)ReadList(&text, [&] {
    absl::string_view type;
    RETURN_IF_ERROR(text.Quoted(&type));
    const ElementType* element = FindElement(type, false);
    if (found.empty() && element != nullptr) found = element->dtype;
    return absl::OkStatus();
  });
  return found;
}

int BytesOfDtype(absl::string_view dtype) {
  if (dtype == "tf32") return 4;
  for (const ElementType& t : kElementTypes) {
    if (dtype == t.dtype && !dtype.empty()) return t.bytes;
  }
  return 0;
}

double Elements(const Shape& shape) {
  double n = 1;
  for (int64_t d : shape) n *= static_cast<double>(d);
  return n;
}

}  // namespace chakra
