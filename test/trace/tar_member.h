// Tar archives for tests, written member by member.
#pragma once

#include <cstdio>
#include <string>

namespace chakra {

// One member of a tar archive.
inline std::string TarMember(const std::string& name, const std::string& content, char type = '0') {
  std::string h(512, '\0');
  h.replace(0, name.size(), name);
  char size[16];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  h.replace(124, 11, size);
  h.replace(257, 5, "ustar");
  h[156] = type;
  if (type == 'S') h[482] = 1;  // a block of holes follows
  h.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : h) sum += static_cast<unsigned char>(c);
  std::snprintf(size, sizeof size, "%06o", sum);
  h.replace(148, 6, size);
  h[154] = '\0';
  return h + content + std::string((512 - content.size() % 512) % 512, '\0');
}

inline const std::string kTarEnd(1024, '\0');

}  // namespace chakra
