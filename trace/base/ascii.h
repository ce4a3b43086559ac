// Classes of characters, whatever the locale.
#pragma once

namespace chakra {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace chakra
