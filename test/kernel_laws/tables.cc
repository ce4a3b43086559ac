// Writes the tables of replay/compute/fitted.
#include <cmath>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "test/kernel_laws/fit.h"

namespace chakra::kernel_laws {
namespace {

constexpr size_t kLine = 112;  // characters of residuals on a line

std::string Numbers(absl::Span<const double> numbers) {
  return absl::StrCat(
      "{",
      absl::StrJoin(numbers, ", ", [](std::string* out, double x) { absl::StrAppendFormat(out, "%.4g", x); }),
      "}");
}

std::string Dtype(KernelDtype dtype) {
  constexpr const char* kNames[kKernelDtypes] = {"kFp64",     "kFp32", "kTf32", "kBf16",       "kFp8",
                                                 "kFp8Block", "kFp4",  "kInt8", "kInt4Weights"};
  return absl::StrCat("KernelDtype::", kNames[static_cast<size_t>(dtype)]);
}

std::string SpreadsText(const laws::Spreads& s) {
  return absl::StrCat("{", Numbers(s.corrected), ", ", Numbers(s.bare), ", ", Numbers(s.across), "}");
}

std::string Characters(const std::string& name, const std::string& residuals) {
  std::string out = absl::StrCat("constexpr char ", name, "[] =");
  for (size_t at = 0; at < residuals.size(); at += kLine) {
    absl::StrAppend(&out, "\n    R\"(", residuals.substr(at, kLine), ")\"");
  }
  return absl::StrCat(out, ";\n");
}

std::string GroupText(const laws::AttentionGroup& g) {
  return absl::StrFormat("{%g, %g, %s}", g.head_dim, g.window, g.shared ? "true" : "false");
}
std::string GroupText(const laws::MoeGroup& g) {
  return absl::StrFormat("{%g, %g, %g, %g, %g, %g, %s}", g.hidden, g.inter, g.topk, g.experts, g.tp, g.ep,
                         g.skewed ? "true" : "false");
}

template <typename Group>
std::string GroupsText(const std::string& type, const std::string& name, const std::vector<Group>& groups) {
  std::string out = absl::StrCat("constexpr ", type, " ", name, "[] = {\n   "), line;
  for (const Group& g : groups) {
    const std::string text = GroupText(g);
    if (line.size() + text.size() + 2 > kLine) {
      absl::StrAppend(&out, line, "\n   ");
      line.clear();
    }
    absl::StrAppend(&line, " ", text, ",");
  }
  return absl::StrCat(out, line, "\n};\n");
}

// A file that defines a fit as `variable`.
std::string File(const std::string& body, const std::string& type, const std::string& variable,
                 const std::string& fields) {
  return absl::StrCat(
      "// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.\n",
      "// clang-format off\n#include \"replay/compute/model/fits.h\"\n\nnamespace chakra::laws {\nnamespace "
      "{\n\n",
      body, "\n}  // namespace\n\nextern const ", type, " ", variable, ";\nconst ", type, " ", variable,
      " = {", fields, "};\n\n}  // namespace chakra::laws\n");
}

std::string Plain(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (absl::ascii_isalnum(c)) {
      out.push_back(absl::ascii_tolower(c));
    } else if (!out.empty() && out.back() != '_') {
      out.push_back('_');
    }
  }
  return out;
}

// "A100-SXM4-80GB" -> "a100".
std::string Short(const std::string& device) { return Plain(device.substr(0, 4)); }

std::string Camel(const std::string& name) {
  std::string out = "k";
  bool up = true;
  for (char c : name) {
    if (c == '_') {
      up = true;
    } else {
      out.push_back(up ? absl::ascii_toupper(c) : c);
      up = false;
    }
  }
  return out;
}

// Declares the fits and lists them.
std::string List(const std::string& type, const std::string& function,
                 const std::vector<std::string>& variables) {
  return absl::StrCat("extern const ", type, " ", absl::StrJoin(variables, ", "), ";\n", "absl::Span<const ",
                      type, " > ", function, "() {\n  static const ", type, " kFits[] = {",
                      absl::StrJoin(variables, ", "), "};\n  return kFits;\n}\n");
}

}  // namespace

std::vector<TableFile> WriteTables(const Fits& fits) {
  std::vector<TableFile> tables;
  std::vector<std::string> gemm, attention, moe;
  const auto add = [&](const std::string& name, const std::string& type, const std::string& body,
                       const std::string& fields, std::vector<std::string>* list) {
    tables.push_back({name + ".cc", File(body, type, Camel(name), fields)});
    list->push_back(Camel(name));
  };
  for (const FittedGemm& f : fits.gemm) {
    add(absl::StrCat("gemm_", Short(f.device), "_", Name(f.dtype)), "GemmFit",
        Characters("kResiduals", f.residuals),
        absl::StrCat("\"", f.device, "\", ", Dtype(f.dtype), ",\n    ", Numbers(f.constants), ",\n    ",
                     SpreadsText(f.spreads), ",\n    kResiduals"),
        &gemm);
  }
  for (const FittedAttention& f : fits.attention) {
    add(absl::StrCat("attention_", Short(f.device), "_", Plain(f.kernel), "_", Name(f.dtype), "_",
                     Name(f.kv_dtype)),
        "AttentionFit",
        absl::StrCat(GroupsText("AttentionGroup", "kGroups", f.groups),
                     Characters("kResiduals", f.residuals)),
        absl::StrCat("\"", f.device, "\", \"", f.kernel, "\", ", Dtype(f.dtype), ", ", Dtype(f.kv_dtype),
                     ",\n    ", Numbers(f.constants), ",\n    ", SpreadsText(f.spreads),
                     ",\n    kGroups, kResiduals"),
        &attention);
  }
  for (const FittedMoe& f : fits.moe) {
    add(absl::StrCat("moe_", Short(f.device), "_", Name(f.dtype)), "MoeFit",
        absl::StrCat(GroupsText("MoeGroup", "kGroups", f.groups), Characters("kResiduals", f.residuals)),
        absl::StrCat("\"", f.device, "\", \"", f.kernel, "\", ", Dtype(f.dtype), ",\n    ",
                     Numbers(f.constants), ",\n    ", SpreadsText(f.spreads), ",\n    kGroups, kResiduals"),
        &moe);
  }
  tables.push_back(
      {"fits.cc",
       absl::StrCat("// Made by test/kernel_laws; the list of all fits.\n// clang-format off\n"
                    "#include \"replay/compute/model/fits.h\"\n\nnamespace chakra::laws {\n\n",
                    List("GemmFit", "GemmFits", gemm), "\n", List("AttentionFit", "AttentionFits", attention),
                    "\n", List("MoeFit", "MoeFits", moe), "\n}  // namespace chakra::laws\n")});
  return tables;
}

}  // namespace chakra::kernel_laws
