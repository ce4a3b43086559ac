# cmake -DFOLDER=... -DFILES="a.js b.css" -DOUT=assets.cc -P embed.cmake: the files as the source of assets.h.
string(REPLACE " " ";" FILES "${FILES}")
set(arrays "")
set(cases "")
set(n 0)
foreach(file ${FILES})
  file(READ ${FOLDER}/${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${n}[] = {\n${bytes}0};\n")
  string(APPEND cases "  if (name == \"${file}\") return View(kFile${n});\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include \"replay/page/assets.h\"

#include <cstddef>

namespace chakra::page {
namespace {

${arrays}
// Less the zero at its end.
template <size_t n>
absl::string_view View(const unsigned char (&bytes)[n]) {
  return absl::string_view(reinterpret_cast<const char*>(bytes), n - 1);
}

}  // namespace

absl::string_view Asset(absl::string_view name) {
${cases}  return absl::string_view();
}

}  // namespace chakra::page
")
