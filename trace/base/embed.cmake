# cmake -DFOLDER=... -DFILES="a.js b.css" -DNAMESPACE=chakra::page -DOUT=files.cc -P embed.cmake: writes a source
# file in which NAMESPACE::Embedded() returns a table of the files. The assembler includes their bytes (.incbin),
# which GCC and Clang support for ELF.
string(REPLACE " " ";" FILES "${FILES}")
string(REPLACE "::" "_" own "${NAMESPACE}_embedded")
set(bytes "")
set(symbols "")
set(rows "")
set(n 0)
foreach(file ${FILES})
  set(begin ${own}_${n})
  string(APPEND bytes "    .globl ${begin}, ${begin}_end
    .hidden ${begin}, ${begin}_end
${begin}:
    .incbin \"${FOLDER}/${file}\"
${begin}_end:
    .byte 0
")
  string(APPEND symbols "extern const char ${begin}[], ${begin}_end[];\n")
  string(APPEND rows "      {\"${file}\", View(${begin}, ${begin}_end)},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include \"trace/base/embedded.h\"

asm(R\"(
    .pushsection .rodata
${bytes}    .popsection
)\");

#pragma GCC visibility push(hidden)
extern \"C\" {
${symbols}}
#pragma GCC visibility pop

namespace ${NAMESPACE} {
namespace {

absl::string_view View(const char* begin, const char* end) { return absl::string_view(begin, end - begin); }

}  // namespace

absl::Span<const ::chakra::EmbeddedFile> Embedded();

absl::Span<const ::chakra::EmbeddedFile> Embedded() {
  static const ::chakra::EmbeddedFile kFiles[] = {
${rows}  };
  return kFiles;
}

}  // namespace ${NAMESPACE}
")
