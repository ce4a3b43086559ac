# cmake -DFOLDER=... -DFILES="a.js b.css" -DNAMESPACE=chakra::page -DOUT=files.cc -P embed.cmake: the files as a table,
# which NAMESPACE::Embedded() gives.
string(REPLACE " " ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(n 0)
foreach(file ${FILES})
  file(READ ${FOLDER}/${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${n}[] = {\n${bytes}0};\n")
  string(APPEND rows "      {\"${file}\", View(kFile${n})},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include <cstddef>

#include \"trace/base/embedded.h\"

namespace ${NAMESPACE} {
namespace {

${arrays}
// Less the zero at its end.
template <size_t n>
absl::string_view View(const unsigned char (&bytes)[n]) {
  return absl::string_view(reinterpret_cast<const char*>(bytes), n - 1);
}

}  // namespace

absl::Span<const ::chakra::EmbeddedFile> Embedded();

absl::Span<const ::chakra::EmbeddedFile> Embedded() {
  static const ::chakra::EmbeddedFile kFiles[] = {
${rows}  };
  return kFiles;
}

}  // namespace ${NAMESPACE}
")
