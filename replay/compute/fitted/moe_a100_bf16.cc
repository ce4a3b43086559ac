// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr MoeGroup kGroups[] = {
    {2048, 768, 8, 128, 1, 1, false}, {2048, 768, 8, 128, 1, 1, true}, {2048, 768, 8, 128, 1, 2, false},
    {2048, 768, 8, 128, 1, 2, true}, {2048, 768, 8, 128, 1, 4, false}, {2048, 768, 8, 128, 1, 4, true},
    {2048, 768, 8, 128, 1, 8, false}, {2048, 768, 8, 128, 1, 8, true}, {2048, 768, 8, 128, 1, 16, false},
    {2048, 768, 8, 128, 1, 16, true}, {2048, 768, 8, 128, 1, 32, false}, {2048, 768, 8, 128, 1, 32, true},
    {2048, 768, 8, 128, 1, 64, false}, {2048, 768, 8, 128, 1, 64, true}, {2048, 768, 8, 128, 1, 128, false},
    {2048, 768, 8, 128, 1, 128, true}, {2048, 768, 8, 128, 2, 1, false}, {2048, 768, 8, 128, 2, 1, true},
    {2048, 768, 8, 128, 2, 2, false}, {2048, 768, 8, 128, 2, 2, true}, {2048, 768, 8, 128, 2, 4, false},
    {2048, 768, 8, 128, 2, 4, true}, {2048, 768, 8, 128, 2, 8, false}, {2048, 768, 8, 128, 2, 8, true},
    {2048, 768, 8, 128, 2, 16, false}, {2048, 768, 8, 128, 2, 16, true}, {2048, 768, 8, 128, 2, 32, false},
    {2048, 768, 8, 128, 2, 32, true}, {2048, 768, 8, 128, 2, 64, false}, {2048, 768, 8, 128, 2, 64, true},
    {2048, 768, 8, 128, 2, 128, false}, {2048, 768, 8, 128, 2, 128, true}, {2048, 768, 8, 128, 4, 1, false},
    {2048, 768, 8, 128, 4, 1, true}, {2048, 768, 8, 128, 4, 2, false}, {2048, 768, 8, 128, 4, 2, true},
    {2048, 768, 8, 128, 4, 4, false}, {2048, 768, 8, 128, 4, 4, true}, {2048, 768, 8, 128, 4, 8, false},
    {2048, 768, 8, 128, 4, 8, true}, {2048, 768, 8, 128, 4, 16, false}, {2048, 768, 8, 128, 4, 16, true},
    {2048, 768, 8, 128, 4, 32, false}, {2048, 768, 8, 128, 4, 32, true}, {2048, 768, 8, 128, 4, 64, false},
    {2048, 768, 8, 128, 4, 64, true}, {2688, 1856, 6, 128, 1, 1, false}, {2688, 1856, 6, 128, 1, 1, true},
    {2688, 1856, 6, 128, 1, 2, false}, {2688, 1856, 6, 128, 1, 2, true}, {2688, 1856, 6, 128, 1, 4, false},
    {2688, 1856, 6, 128, 1, 4, true}, {2688, 1856, 6, 128, 1, 8, false}, {2688, 1856, 6, 128, 1, 8, true},
    {2688, 1856, 6, 128, 1, 16, false}, {2688, 1856, 6, 128, 1, 16, true}, {2688, 1856, 6, 128, 1, 32, false},
    {2688, 1856, 6, 128, 1, 32, true}, {2688, 1856, 6, 128, 1, 64, false}, {2688, 1856, 6, 128, 1, 64, true},
    {2688, 1856, 6, 128, 1, 128, false}, {2688, 1856, 6, 128, 1, 128, true}, {2688, 1856, 6, 128, 2, 1, false},
    {2688, 1856, 6, 128, 2, 1, true}, {2688, 1856, 6, 128, 2, 2, false}, {2688, 1856, 6, 128, 2, 2, true},
    {2688, 1856, 6, 128, 2, 4, false}, {2688, 1856, 6, 128, 2, 4, true}, {2688, 1856, 6, 128, 2, 8, false},
    {2688, 1856, 6, 128, 2, 8, true}, {2688, 1856, 6, 128, 2, 16, false}, {2688, 1856, 6, 128, 2, 16, true},
    {2688, 1856, 6, 128, 2, 32, false}, {2688, 1856, 6, 128, 2, 32, true}, {2688, 1856, 6, 128, 2, 64, false},
    {2688, 1856, 6, 128, 2, 64, true}, {2688, 1856, 6, 128, 2, 128, false}, {2688, 1856, 6, 128, 2, 128, true},
    {2688, 1856, 6, 128, 4, 1, false}, {2688, 1856, 6, 128, 4, 1, true}, {2688, 1856, 6, 128, 4, 2, false},
    {2688, 1856, 6, 128, 4, 2, true}, {2688, 1856, 6, 128, 4, 4, false}, {2688, 1856, 6, 128, 4, 4, true},
    {2688, 1856, 6, 128, 4, 8, false}, {2688, 1856, 6, 128, 4, 8, true}, {2688, 1856, 6, 128, 4, 16, false},
    {2688, 1856, 6, 128, 4, 16, true}, {2688, 1856, 6, 128, 4, 32, false}, {2688, 1856, 6, 128, 4, 32, true},
    {2688, 1856, 6, 128, 4, 64, false}, {2688, 1856, 6, 128, 4, 64, true}, {2688, 1856, 6, 128, 8, 1, false},
    {2688, 1856, 6, 128, 8, 1, true}, {2688, 1856, 6, 128, 8, 2, false}, {2688, 1856, 6, 128, 8, 2, true},
    {2688, 1856, 6, 128, 8, 4, false}, {2688, 1856, 6, 128, 8, 4, true}, {2688, 1856, 6, 128, 8, 8, false},
    {2688, 1856, 6, 128, 8, 8, true}, {2688, 1856, 6, 128, 8, 16, false}, {2688, 1856, 6, 128, 8, 16, true},
    {2688, 1856, 6, 128, 8, 32, false}, {2688, 1856, 6, 128, 8, 32, true}, {2688, 1856, 6, 128, 16, 1, false},
    {2688, 1856, 6, 128, 16, 1, true}, {2688, 1856, 6, 128, 16, 2, false}, {2688, 1856, 6, 128, 16, 2, true},
    {2688, 1856, 6, 128, 16, 4, false}, {2688, 1856, 6, 128, 16, 4, true}, {2688, 1856, 6, 128, 16, 8, false},
    {2688, 1856, 6, 128, 16, 8, true}, {2688, 1856, 6, 128, 16, 16, false}, {2688, 1856, 6, 128, 16, 16, true},
    {2688, 1856, 6, 128, 32, 1, false}, {2688, 1856, 6, 128, 32, 1, true}, {2688, 1856, 6, 128, 32, 2, false},
    {2688, 1856, 6, 128, 32, 2, true}, {2688, 1856, 6, 128, 32, 4, false}, {2688, 1856, 6, 128, 32, 4, true},
    {2688, 1856, 6, 128, 32, 8, false}, {2688, 1856, 6, 128, 32, 8, true}, {3072, 1536, 8, 256, 1, 1, false},
    {3072, 1536, 8, 256, 1, 1, true}, {3072, 1536, 8, 256, 1, 2, false}, {3072, 1536, 8, 256, 1, 2, true},
    {3072, 1536, 8, 256, 1, 4, false}, {3072, 1536, 8, 256, 1, 4, true}, {3072, 1536, 8, 256, 1, 8, false},
    {3072, 1536, 8, 256, 1, 8, true}, {3072, 1536, 8, 256, 1, 16, false}, {3072, 1536, 8, 256, 1, 16, true},
    {3072, 1536, 8, 256, 1, 32, false}, {3072, 1536, 8, 256, 1, 32, true}, {3072, 1536, 8, 256, 1, 64, false},
    {3072, 1536, 8, 256, 1, 64, true}, {3072, 1536, 8, 256, 1, 128, false}, {3072, 1536, 8, 256, 1, 128, true},
    {3072, 1536, 8, 256, 1, 256, false}, {3072, 1536, 8, 256, 1, 256, true}, {3072, 1536, 8, 256, 2, 1, false},
    {3072, 1536, 8, 256, 2, 1, true}, {3072, 1536, 8, 256, 2, 2, false}, {3072, 1536, 8, 256, 2, 2, true},
    {3072, 1536, 8, 256, 2, 4, false}, {3072, 1536, 8, 256, 2, 4, true}, {3072, 1536, 8, 256, 2, 8, false},
    {3072, 1536, 8, 256, 2, 8, true}, {3072, 1536, 8, 256, 2, 16, false}, {3072, 1536, 8, 256, 2, 16, true},
    {3072, 1536, 8, 256, 2, 32, false}, {3072, 1536, 8, 256, 2, 32, true}, {3072, 1536, 8, 256, 2, 64, false},
    {3072, 1536, 8, 256, 2, 64, true}, {3072, 1536, 8, 256, 2, 128, false}, {3072, 1536, 8, 256, 2, 128, true},
    {3072, 1536, 8, 256, 4, 1, false}, {3072, 1536, 8, 256, 4, 1, true}, {3072, 1536, 8, 256, 4, 2, false},
    {3072, 1536, 8, 256, 4, 2, true}, {3072, 1536, 8, 256, 4, 4, false}, {3072, 1536, 8, 256, 4, 4, true},
    {3072, 1536, 8, 256, 4, 8, false}, {3072, 1536, 8, 256, 4, 8, true}, {3072, 1536, 8, 256, 4, 16, false},
    {3072, 1536, 8, 256, 4, 16, true}, {3072, 1536, 8, 256, 4, 32, false}, {3072, 1536, 8, 256, 4, 32, true},
    {3072, 1536, 8, 256, 4, 64, false}, {3072, 1536, 8, 256, 4, 64, true}, {3072, 1536, 8, 256, 8, 1, false},
    {3072, 1536, 8, 256, 8, 1, true}, {3072, 1536, 8, 256, 8, 2, false}, {3072, 1536, 8, 256, 8, 2, true},
    {3072, 1536, 8, 256, 8, 4, false}, {3072, 1536, 8, 256, 8, 4, true}, {3072, 1536, 8, 256, 8, 8, false},
    {3072, 1536, 8, 256, 8, 8, true}, {3072, 1536, 8, 256, 8, 16, false}, {3072, 1536, 8, 256, 8, 16, true},
    {3072, 1536, 8, 256, 8, 32, false}, {3072, 1536, 8, 256, 8, 32, true}, {3072, 1536, 8, 256, 16, 1, false},
    {3072, 1536, 8, 256, 16, 1, true}, {3072, 1536, 8, 256, 16, 2, false}, {3072, 1536, 8, 256, 16, 2, true},
    {3072, 1536, 8, 256, 16, 4, false}, {3072, 1536, 8, 256, 16, 4, true}, {3072, 1536, 8, 256, 16, 8, false},
    {3072, 1536, 8, 256, 16, 8, true}, {3072, 1536, 8, 256, 16, 16, false}, {3072, 1536, 8, 256, 16, 16, true},
    {3072, 1536, 8, 256, 32, 1, false}, {3072, 1536, 8, 256, 32, 1, true}, {3072, 1536, 8, 256, 32, 2, false},
    {3072, 1536, 8, 256, 32, 2, true}, {3072, 1536, 8, 256, 32, 4, false}, {3072, 1536, 8, 256, 32, 4, true},
    {3072, 1536, 8, 256, 32, 8, false}, {3072, 1536, 8, 256, 32, 8, true}, {4096, 1024, 10, 512, 1, 1, false},
    {4096, 1024, 10, 512, 1, 1, true}, {4096, 1024, 10, 512, 1, 2, false}, {4096, 1024, 10, 512, 1, 2, true},
    {4096, 1024, 10, 512, 1, 4, false}, {4096, 1024, 10, 512, 1, 4, true}, {4096, 1024, 10, 512, 1, 8, false},
    {4096, 1024, 10, 512, 1, 8, true}, {4096, 1024, 10, 512, 1, 16, false}, {4096, 1024, 10, 512, 1, 16, true},
    {4096, 1024, 10, 512, 1, 32, false}, {4096, 1024, 10, 512, 1, 32, true}, {4096, 1024, 10, 512, 1, 64, false},
    {4096, 1024, 10, 512, 1, 64, true}, {4096, 1024, 10, 512, 1, 128, false}, {4096, 1024, 10, 512, 1, 128, true},
    {4096, 1024, 10, 512, 1, 256, false}, {4096, 1024, 10, 512, 1, 256, true}, {4096, 1024, 10, 512, 2, 1, false},
    {4096, 1024, 10, 512, 2, 1, true}, {4096, 1024, 10, 512, 2, 2, false}, {4096, 1024, 10, 512, 2, 2, true},
    {4096, 1024, 10, 512, 2, 4, false}, {4096, 1024, 10, 512, 2, 4, true}, {4096, 1024, 10, 512, 2, 8, false},
    {4096, 1024, 10, 512, 2, 8, true}, {4096, 1024, 10, 512, 2, 16, false}, {4096, 1024, 10, 512, 2, 16, true},
    {4096, 1024, 10, 512, 2, 32, false}, {4096, 1024, 10, 512, 2, 32, true}, {4096, 1024, 10, 512, 2, 64, false},
    {4096, 1024, 10, 512, 2, 64, true}, {4096, 1024, 10, 512, 2, 128, false}, {4096, 1024, 10, 512, 2, 128, true},
    {4096, 1024, 10, 512, 4, 1, false}, {4096, 1024, 10, 512, 4, 1, true}, {4096, 1024, 10, 512, 4, 2, false},
    {4096, 1024, 10, 512, 4, 2, true}, {4096, 1024, 10, 512, 4, 4, false}, {4096, 1024, 10, 512, 4, 4, true},
    {4096, 1024, 10, 512, 4, 8, false}, {4096, 1024, 10, 512, 4, 8, true}, {4096, 1024, 10, 512, 4, 16, false},
    {4096, 1024, 10, 512, 4, 16, true}, {4096, 1024, 10, 512, 4, 32, false}, {4096, 1024, 10, 512, 4, 32, true},
    {4096, 1024, 10, 512, 4, 64, false}, {4096, 1024, 10, 512, 4, 64, true}, {4096, 1024, 10, 512, 8, 1, false},
    {4096, 1024, 10, 512, 8, 1, true}, {4096, 1024, 10, 512, 8, 2, false}, {4096, 1024, 10, 512, 8, 2, true},
    {4096, 1024, 10, 512, 8, 4, false}, {4096, 1024, 10, 512, 8, 4, true}, {4096, 1024, 10, 512, 8, 8, false},
    {4096, 1024, 10, 512, 8, 8, true}, {4096, 1024, 10, 512, 8, 16, false}, {4096, 1024, 10, 512, 8, 16, true},
    {4096, 1024, 10, 512, 8, 32, false}, {4096, 1024, 10, 512, 8, 32, true}, {4096, 1024, 10, 512, 16, 1, false},
    {4096, 1024, 10, 512, 16, 1, true}, {4096, 1024, 10, 512, 16, 2, false}, {4096, 1024, 10, 512, 16, 2, true},
    {4096, 1024, 10, 512, 16, 4, false}, {4096, 1024, 10, 512, 16, 4, true}, {4096, 1024, 10, 512, 16, 8, false},
    {4096, 1024, 10, 512, 16, 8, true}, {4096, 1024, 10, 512, 16, 16, false}, {4096, 1024, 10, 512, 16, 16, true},
    {4096, 1024, 10, 512, 32, 1, false}, {4096, 1024, 10, 512, 32, 1, true}, {4096, 1024, 10, 512, 32, 2, false},
    {4096, 1024, 10, 512, 32, 2, true}, {4096, 1024, 10, 512, 32, 4, false}, {4096, 1024, 10, 512, 32, 4, true},
    {4096, 1024, 10, 512, 32, 8, false}, {4096, 1024, 10, 512, 32, 8, true}, {4096, 1536, 8, 128, 1, 1, false},
    {4096, 1536, 8, 128, 1, 1, true}, {4096, 1536, 8, 128, 1, 2, false}, {4096, 1536, 8, 128, 1, 2, true},
    {4096, 1536, 8, 128, 1, 4, false}, {4096, 1536, 8, 128, 1, 4, true}, {4096, 1536, 8, 128, 1, 8, false},
    {4096, 1536, 8, 128, 1, 8, true}, {4096, 1536, 8, 128, 1, 16, false}, {4096, 1536, 8, 128, 1, 16, true},
    {4096, 1536, 8, 128, 1, 32, false}, {4096, 1536, 8, 128, 1, 32, true}, {4096, 1536, 8, 128, 1, 64, false},
    {4096, 1536, 8, 128, 1, 64, true}, {4096, 1536, 8, 128, 1, 128, false}, {4096, 1536, 8, 128, 1, 128, true},
    {4096, 1536, 8, 128, 2, 1, false}, {4096, 1536, 8, 128, 2, 1, true}, {4096, 1536, 8, 128, 2, 2, false},
    {4096, 1536, 8, 128, 2, 2, true}, {4096, 1536, 8, 128, 2, 4, false}, {4096, 1536, 8, 128, 2, 4, true},
    {4096, 1536, 8, 128, 2, 8, false}, {4096, 1536, 8, 128, 2, 8, true}, {4096, 1536, 8, 128, 2, 16, false},
    {4096, 1536, 8, 128, 2, 16, true}, {4096, 1536, 8, 128, 2, 32, false}, {4096, 1536, 8, 128, 2, 32, true},
    {4096, 1536, 8, 128, 2, 64, false}, {4096, 1536, 8, 128, 2, 64, true}, {4096, 1536, 8, 128, 2, 128, false},
    {4096, 1536, 8, 128, 2, 128, true}, {4096, 1536, 8, 128, 4, 1, false}, {4096, 1536, 8, 128, 4, 1, true},
    {4096, 1536, 8, 128, 4, 2, false}, {4096, 1536, 8, 128, 4, 2, true}, {4096, 1536, 8, 128, 4, 4, false},
    {4096, 1536, 8, 128, 4, 4, true}, {4096, 1536, 8, 128, 4, 8, false}, {4096, 1536, 8, 128, 4, 8, true},
    {4096, 1536, 8, 128, 4, 16, false}, {4096, 1536, 8, 128, 4, 16, true}, {4096, 1536, 8, 128, 4, 32, false},
    {4096, 1536, 8, 128, 4, 32, true}, {4096, 1536, 8, 128, 4, 64, false}, {4096, 1536, 8, 128, 4, 64, true},
    {4096, 1536, 8, 128, 8, 1, false}, {4096, 1536, 8, 128, 8, 1, true}, {4096, 1536, 8, 128, 8, 2, false},
    {4096, 1536, 8, 128, 8, 2, true}, {4096, 1536, 8, 128, 8, 4, false}, {4096, 1536, 8, 128, 8, 4, true},
    {4096, 1536, 8, 128, 8, 8, false}, {4096, 1536, 8, 128, 8, 8, true}, {4096, 1536, 8, 128, 8, 16, false},
    {4096, 1536, 8, 128, 8, 16, true}, {4096, 1536, 8, 128, 8, 32, false}, {4096, 1536, 8, 128, 8, 32, true},
    {4096, 1536, 8, 128, 16, 1, false}, {4096, 1536, 8, 128, 16, 1, true}, {4096, 1536, 8, 128, 16, 2, false},
    {4096, 1536, 8, 128, 16, 2, true}, {4096, 1536, 8, 128, 16, 4, false}, {4096, 1536, 8, 128, 16, 4, true},
    {4096, 1536, 8, 128, 16, 8, false}, {4096, 1536, 8, 128, 16, 8, true}, {4096, 1536, 8, 128, 16, 16, false},
    {4096, 1536, 8, 128, 16, 16, true}, {4096, 1536, 8, 128, 32, 1, false}, {4096, 1536, 8, 128, 32, 1, true},
    {4096, 1536, 8, 128, 32, 2, false}, {4096, 1536, 8, 128, 32, 2, true}, {4096, 1536, 8, 128, 32, 4, false},
    {4096, 1536, 8, 128, 32, 4, true}, {4096, 1536, 8, 128, 32, 8, false}, {4096, 1536, 8, 128, 32, 8, true},
    {4096, 2688, 22, 512, 1, 1, false}, {4096, 2688, 22, 512, 1, 1, true}, {4096, 2688, 22, 512, 1, 2, false},
    {4096, 2688, 22, 512, 1, 2, true}, {4096, 2688, 22, 512, 1, 4, false}, {4096, 2688, 22, 512, 1, 4, true},
    {4096, 2688, 22, 512, 1, 8, false}, {4096, 2688, 22, 512, 1, 8, true}, {4096, 2688, 22, 512, 1, 16, false},
    {4096, 2688, 22, 512, 1, 16, true}, {4096, 2688, 22, 512, 1, 32, false}, {4096, 2688, 22, 512, 1, 32, true},
    {4096, 2688, 22, 512, 1, 64, false}, {4096, 2688, 22, 512, 1, 64, true}, {4096, 2688, 22, 512, 1, 128, false},
    {4096, 2688, 22, 512, 1, 128, true}, {4096, 2688, 22, 512, 1, 256, false}, {4096, 2688, 22, 512, 1, 256, true},
    {4096, 2688, 22, 512, 2, 1, false}, {4096, 2688, 22, 512, 2, 1, true}, {4096, 2688, 22, 512, 2, 2, false},
    {4096, 2688, 22, 512, 2, 2, true}, {4096, 2688, 22, 512, 2, 4, false}, {4096, 2688, 22, 512, 2, 4, true},
    {4096, 2688, 22, 512, 2, 8, false}, {4096, 2688, 22, 512, 2, 8, true}, {4096, 2688, 22, 512, 2, 16, false},
    {4096, 2688, 22, 512, 2, 16, true}, {4096, 2688, 22, 512, 2, 32, false}, {4096, 2688, 22, 512, 2, 32, true},
    {4096, 2688, 22, 512, 2, 64, false}, {4096, 2688, 22, 512, 2, 64, true}, {4096, 2688, 22, 512, 2, 128, false},
    {4096, 2688, 22, 512, 2, 128, true}, {4096, 2688, 22, 512, 4, 1, false}, {4096, 2688, 22, 512, 4, 1, true},
    {4096, 2688, 22, 512, 4, 2, false}, {4096, 2688, 22, 512, 4, 2, true}, {4096, 2688, 22, 512, 4, 4, false},
    {4096, 2688, 22, 512, 4, 4, true}, {4096, 2688, 22, 512, 4, 8, false}, {4096, 2688, 22, 512, 4, 8, true},
    {4096, 2688, 22, 512, 4, 16, false}, {4096, 2688, 22, 512, 4, 16, true}, {4096, 2688, 22, 512, 4, 32, false},
    {4096, 2688, 22, 512, 4, 32, true}, {4096, 2688, 22, 512, 4, 64, false}, {4096, 2688, 22, 512, 4, 64, true},
    {4096, 2688, 22, 512, 8, 1, false}, {4096, 2688, 22, 512, 8, 1, true}, {4096, 2688, 22, 512, 8, 2, false},
    {4096, 2688, 22, 512, 8, 2, true}, {4096, 2688, 22, 512, 8, 4, false}, {4096, 2688, 22, 512, 8, 4, true},
    {4096, 2688, 22, 512, 8, 8, false}, {4096, 2688, 22, 512, 8, 8, true}, {4096, 2688, 22, 512, 8, 16, false},
    {4096, 2688, 22, 512, 8, 16, true}, {4096, 2688, 22, 512, 8, 32, false}, {4096, 2688, 22, 512, 8, 32, true},
    {4096, 2688, 22, 512, 16, 1, false}, {4096, 2688, 22, 512, 16, 1, true}, {4096, 2688, 22, 512, 16, 2, false},
    {4096, 2688, 22, 512, 16, 2, true}, {4096, 2688, 22, 512, 16, 4, false}, {4096, 2688, 22, 512, 16, 4, true},
    {4096, 2688, 22, 512, 16, 8, false}, {4096, 2688, 22, 512, 16, 8, true}, {4096, 2688, 22, 512, 16, 16, false},
    {4096, 2688, 22, 512, 16, 16, true}, {4096, 2688, 22, 512, 32, 1, false}, {4096, 2688, 22, 512, 32, 1, true},
    {4096, 2688, 22, 512, 32, 2, false}, {4096, 2688, 22, 512, 32, 2, true}, {4096, 2688, 22, 512, 32, 4, false},
    {4096, 2688, 22, 512, 32, 4, true}, {4096, 2688, 22, 512, 32, 8, false}, {4096, 2688, 22, 512, 32, 8, true},
    {4096, 14336, 2, 8, 1, 1, false}, {4096, 14336, 2, 8, 1, 1, true}, {4096, 14336, 2, 8, 1, 2, false},
    {4096, 14336, 2, 8, 1, 2, true}, {4096, 14336, 2, 8, 1, 4, false}, {4096, 14336, 2, 8, 1, 4, true},
    {4096, 14336, 2, 8, 1, 8, false}, {4096, 14336, 2, 8, 1, 8, true}, {4096, 14336, 2, 8, 2, 1, false},
    {4096, 14336, 2, 8, 2, 1, true}, {4096, 14336, 2, 8, 2, 2, false}, {4096, 14336, 2, 8, 2, 2, true},
    {4096, 14336, 2, 8, 2, 4, false}, {4096, 14336, 2, 8, 2, 4, true}, {4096, 14336, 2, 8, 2, 8, false},
    {4096, 14336, 2, 8, 2, 8, true}, {4096, 14336, 2, 8, 4, 1, false}, {4096, 14336, 2, 8, 4, 1, true},
    {4096, 14336, 2, 8, 4, 2, false}, {4096, 14336, 2, 8, 4, 2, true}, {4096, 14336, 2, 8, 4, 4, false},
    {4096, 14336, 2, 8, 4, 4, true}, {4096, 14336, 2, 8, 4, 8, false}, {4096, 14336, 2, 8, 4, 8, true},
    {4096, 14336, 2, 8, 8, 1, false}, {4096, 14336, 2, 8, 8, 1, true}, {4096, 14336, 2, 8, 8, 2, false},
    {4096, 14336, 2, 8, 8, 2, true}, {4096, 14336, 2, 8, 8, 4, false}, {4096, 14336, 2, 8, 8, 4, true},
    {4096, 14336, 2, 8, 8, 8, false}, {4096, 14336, 2, 8, 8, 8, true}, {4096, 14336, 2, 8, 16, 1, false},
    {4096, 14336, 2, 8, 16, 1, true}, {4096, 14336, 2, 8, 16, 2, false}, {4096, 14336, 2, 8, 16, 2, true},
    {4096, 14336, 2, 8, 16, 4, false}, {4096, 14336, 2, 8, 16, 4, true}, {4096, 14336, 2, 8, 16, 8, false},
    {4096, 14336, 2, 8, 16, 8, true}, {4096, 14336, 2, 8, 32, 1, false}, {4096, 14336, 2, 8, 32, 1, true},
    {4096, 14336, 2, 8, 32, 2, false}, {4096, 14336, 2, 8, 32, 2, true}, {4096, 14336, 2, 8, 32, 4, false},
    {4096, 14336, 2, 8, 32, 4, true}, {4096, 14336, 2, 8, 32, 8, false}, {4096, 14336, 2, 8, 32, 8, true},
    {6144, 2048, 8, 256, 1, 1, false}, {6144, 2048, 8, 256, 1, 1, true}, {6144, 2048, 8, 256, 1, 2, false},
    {6144, 2048, 8, 256, 1, 2, true}, {6144, 2048, 8, 256, 1, 4, false}, {6144, 2048, 8, 256, 1, 4, true},
    {6144, 2048, 8, 256, 1, 8, false}, {6144, 2048, 8, 256, 1, 8, true}, {6144, 2048, 8, 256, 1, 16, false},
    {6144, 2048, 8, 256, 1, 16, true}, {6144, 2048, 8, 256, 1, 32, false}, {6144, 2048, 8, 256, 1, 32, true},
    {6144, 2048, 8, 256, 1, 64, false}, {6144, 2048, 8, 256, 1, 64, true}, {6144, 2048, 8, 256, 1, 128, false},
    {6144, 2048, 8, 256, 1, 128, true}, {6144, 2048, 8, 256, 1, 256, false}, {6144, 2048, 8, 256, 1, 256, true},
    {6144, 2048, 8, 256, 2, 1, false}, {6144, 2048, 8, 256, 2, 1, true}, {6144, 2048, 8, 256, 2, 2, false},
    {6144, 2048, 8, 256, 2, 2, true}, {6144, 2048, 8, 256, 2, 4, false}, {6144, 2048, 8, 256, 2, 4, true},
    {6144, 2048, 8, 256, 2, 8, false}, {6144, 2048, 8, 256, 2, 8, true}, {6144, 2048, 8, 256, 2, 16, false},
    {6144, 2048, 8, 256, 2, 16, true}, {6144, 2048, 8, 256, 2, 32, false}, {6144, 2048, 8, 256, 2, 32, true},
    {6144, 2048, 8, 256, 2, 64, false}, {6144, 2048, 8, 256, 2, 64, true}, {6144, 2048, 8, 256, 2, 128, false},
    {6144, 2048, 8, 256, 2, 128, true}, {6144, 2048, 8, 256, 4, 1, false}, {6144, 2048, 8, 256, 4, 1, true},
    {6144, 2048, 8, 256, 4, 2, false}, {6144, 2048, 8, 256, 4, 2, true}, {6144, 2048, 8, 256, 4, 4, false},
    {6144, 2048, 8, 256, 4, 4, true}, {6144, 2048, 8, 256, 4, 8, false}, {6144, 2048, 8, 256, 4, 8, true},
    {6144, 2048, 8, 256, 4, 16, false}, {6144, 2048, 8, 256, 4, 16, true}, {6144, 2048, 8, 256, 4, 32, false},
    {6144, 2048, 8, 256, 4, 32, true}, {6144, 2048, 8, 256, 4, 64, false}, {6144, 2048, 8, 256, 4, 64, true},
    {6144, 2048, 8, 256, 8, 1, false}, {6144, 2048, 8, 256, 8, 1, true}, {6144, 2048, 8, 256, 8, 2, false},
    {6144, 2048, 8, 256, 8, 2, true}, {6144, 2048, 8, 256, 8, 4, false}, {6144, 2048, 8, 256, 8, 4, true},
    {6144, 2048, 8, 256, 8, 8, false}, {6144, 2048, 8, 256, 8, 8, true}, {6144, 2048, 8, 256, 8, 16, false},
    {6144, 2048, 8, 256, 8, 16, true}, {6144, 2048, 8, 256, 8, 32, false}, {6144, 2048, 8, 256, 8, 32, true},
    {6144, 2048, 8, 256, 16, 1, false}, {6144, 2048, 8, 256, 16, 1, true}, {6144, 2048, 8, 256, 16, 2, false},
    {6144, 2048, 8, 256, 16, 2, true}, {6144, 2048, 8, 256, 16, 4, false}, {6144, 2048, 8, 256, 16, 4, true},
    {6144, 2048, 8, 256, 16, 8, false}, {6144, 2048, 8, 256, 16, 8, true}, {6144, 2048, 8, 256, 16, 16, false},
    {6144, 2048, 8, 256, 16, 16, true}, {6144, 2048, 8, 256, 32, 1, false}, {6144, 2048, 8, 256, 32, 1, true},
    {6144, 2048, 8, 256, 32, 2, false}, {6144, 2048, 8, 256, 32, 2, true}, {6144, 2048, 8, 256, 32, 4, false},
    {6144, 2048, 8, 256, 32, 4, true}, {6144, 2048, 8, 256, 32, 8, false}, {6144, 2048, 8, 256, 32, 8, true},
    {6144, 2560, 8, 160, 1, 1, false}, {6144, 2560, 8, 160, 1, 1, true}, {6144, 2560, 8, 160, 1, 2, false},
    {6144, 2560, 8, 160, 1, 2, true}, {6144, 2560, 8, 160, 1, 4, false}, {6144, 2560, 8, 160, 1, 4, true},
    {6144, 2560, 8, 160, 1, 8, false}, {6144, 2560, 8, 160, 1, 8, true}, {6144, 2560, 8, 160, 1, 16, false},
    {6144, 2560, 8, 160, 1, 16, true}, {6144, 2560, 8, 160, 1, 32, false}, {6144, 2560, 8, 160, 1, 32, true},
    {6144, 2560, 8, 160, 2, 1, false}, {6144, 2560, 8, 160, 2, 1, true}, {6144, 2560, 8, 160, 2, 2, false},
    {6144, 2560, 8, 160, 2, 2, true}, {6144, 2560, 8, 160, 2, 4, false}, {6144, 2560, 8, 160, 2, 4, true},
    {6144, 2560, 8, 160, 2, 8, false}, {6144, 2560, 8, 160, 2, 8, true}, {6144, 2560, 8, 160, 2, 16, false},
    {6144, 2560, 8, 160, 2, 16, true}, {6144, 2560, 8, 160, 2, 32, false}, {6144, 2560, 8, 160, 2, 32, true},
    {6144, 2560, 8, 160, 4, 1, false}, {6144, 2560, 8, 160, 4, 1, true}, {6144, 2560, 8, 160, 4, 2, false},
    {6144, 2560, 8, 160, 4, 2, true}, {6144, 2560, 8, 160, 4, 4, false}, {6144, 2560, 8, 160, 4, 4, true},
    {6144, 2560, 8, 160, 4, 8, false}, {6144, 2560, 8, 160, 4, 8, true}, {6144, 2560, 8, 160, 4, 16, false},
    {6144, 2560, 8, 160, 4, 16, true}, {6144, 2560, 8, 160, 4, 32, false}, {6144, 2560, 8, 160, 4, 32, true},
    {6144, 2560, 8, 160, 8, 1, false}, {6144, 2560, 8, 160, 8, 1, true}, {6144, 2560, 8, 160, 8, 2, false},
    {6144, 2560, 8, 160, 8, 2, true}, {6144, 2560, 8, 160, 8, 4, false}, {6144, 2560, 8, 160, 8, 4, true},
    {6144, 2560, 8, 160, 8, 8, false}, {6144, 2560, 8, 160, 8, 8, true}, {6144, 2560, 8, 160, 8, 16, false},
    {6144, 2560, 8, 160, 8, 16, true}, {6144, 2560, 8, 160, 8, 32, false}, {6144, 2560, 8, 160, 8, 32, true},
    {6144, 2560, 8, 160, 16, 1, false}, {6144, 2560, 8, 160, 16, 1, true}, {6144, 2560, 8, 160, 16, 2, false},
    {6144, 2560, 8, 160, 16, 2, true}, {6144, 2560, 8, 160, 16, 4, false}, {6144, 2560, 8, 160, 16, 4, true},
    {6144, 2560, 8, 160, 16, 8, false}, {6144, 2560, 8, 160, 16, 8, true}, {6144, 2560, 8, 160, 16, 16, false},
    {6144, 2560, 8, 160, 16, 16, true}, {6144, 2560, 8, 160, 32, 1, false}, {6144, 2560, 8, 160, 32, 1, true},
    {6144, 2560, 8, 160, 32, 2, false}, {6144, 2560, 8, 160, 32, 2, true}, {6144, 2560, 8, 160, 32, 4, false},
    {6144, 2560, 8, 160, 32, 4, true}, {6144, 2560, 8, 160, 32, 8, false}, {6144, 2560, 8, 160, 32, 8, true},
    {6144, 16384, 2, 8, 1, 1, false}, {6144, 16384, 2, 8, 1, 1, true}, {6144, 16384, 2, 8, 1, 2, false},
    {6144, 16384, 2, 8, 1, 2, true}, {6144, 16384, 2, 8, 1, 4, false}, {6144, 16384, 2, 8, 1, 4, true},
    {6144, 16384, 2, 8, 1, 8, false}, {6144, 16384, 2, 8, 1, 8, true}, {6144, 16384, 2, 8, 2, 1, false},
    {6144, 16384, 2, 8, 2, 1, true}, {6144, 16384, 2, 8, 2, 2, false}, {6144, 16384, 2, 8, 2, 2, true},
    {6144, 16384, 2, 8, 2, 4, false}, {6144, 16384, 2, 8, 2, 4, true}, {6144, 16384, 2, 8, 2, 8, false},
    {6144, 16384, 2, 8, 2, 8, true}, {6144, 16384, 2, 8, 4, 1, false}, {6144, 16384, 2, 8, 4, 1, true},
    {6144, 16384, 2, 8, 4, 2, false}, {6144, 16384, 2, 8, 4, 2, true}, {6144, 16384, 2, 8, 4, 4, false},
    {6144, 16384, 2, 8, 4, 4, true}, {6144, 16384, 2, 8, 4, 8, false}, {6144, 16384, 2, 8, 4, 8, true},
    {6144, 16384, 2, 8, 8, 1, false}, {6144, 16384, 2, 8, 8, 1, true}, {6144, 16384, 2, 8, 8, 2, false},
    {6144, 16384, 2, 8, 8, 2, true}, {6144, 16384, 2, 8, 8, 4, false}, {6144, 16384, 2, 8, 8, 4, true},
    {6144, 16384, 2, 8, 8, 8, false}, {6144, 16384, 2, 8, 8, 8, true}, {6144, 16384, 2, 8, 16, 1, false},
    {6144, 16384, 2, 8, 16, 1, true}, {6144, 16384, 2, 8, 16, 2, false}, {6144, 16384, 2, 8, 16, 2, true},
    {6144, 16384, 2, 8, 16, 4, false}, {6144, 16384, 2, 8, 16, 4, true}, {6144, 16384, 2, 8, 16, 8, false},
    {6144, 16384, 2, 8, 16, 8, true}, {6144, 16384, 2, 8, 32, 1, false}, {6144, 16384, 2, 8, 32, 1, true},
    {6144, 16384, 2, 8, 32, 2, false}, {6144, 16384, 2, 8, 32, 2, true}, {6144, 16384, 2, 8, 32, 4, false},
    {6144, 16384, 2, 8, 32, 4, true}, {6144, 16384, 2, 8, 32, 8, false}, {6144, 16384, 2, 8, 32, 8, true},
    {7168, 2048, 8, 256, 1, 1, false}, {7168, 2048, 8, 256, 1, 1, true}, {7168, 2048, 8, 256, 1, 2, false},
    {7168, 2048, 8, 256, 1, 2, true}, {7168, 2048, 8, 256, 1, 4, false}, {7168, 2048, 8, 256, 1, 4, true},
    {7168, 2048, 8, 256, 1, 8, false}, {7168, 2048, 8, 256, 1, 8, true}, {7168, 2048, 8, 256, 1, 16, false},
    {7168, 2048, 8, 256, 1, 16, true}, {7168, 2048, 8, 256, 1, 32, false}, {7168, 2048, 8, 256, 1, 32, true},
    {7168, 2048, 8, 256, 1, 64, false}, {7168, 2048, 8, 256, 1, 64, true}, {7168, 2048, 8, 256, 1, 128, false},
    {7168, 2048, 8, 256, 1, 128, true}, {7168, 2048, 8, 256, 1, 256, false}, {7168, 2048, 8, 256, 1, 256, true},
    {7168, 2048, 8, 256, 2, 1, false}, {7168, 2048, 8, 256, 2, 1, true}, {7168, 2048, 8, 256, 2, 2, false},
    {7168, 2048, 8, 256, 2, 2, true}, {7168, 2048, 8, 256, 2, 4, false}, {7168, 2048, 8, 256, 2, 4, true},
    {7168, 2048, 8, 256, 2, 8, false}, {7168, 2048, 8, 256, 2, 8, true}, {7168, 2048, 8, 256, 2, 16, false},
    {7168, 2048, 8, 256, 2, 16, true}, {7168, 2048, 8, 256, 2, 32, false}, {7168, 2048, 8, 256, 2, 32, true},
    {7168, 2048, 8, 256, 2, 64, false}, {7168, 2048, 8, 256, 2, 64, true}, {7168, 2048, 8, 256, 2, 128, false},
    {7168, 2048, 8, 256, 2, 128, true}, {7168, 2048, 8, 256, 4, 1, false}, {7168, 2048, 8, 256, 4, 1, true},
    {7168, 2048, 8, 256, 4, 2, false}, {7168, 2048, 8, 256, 4, 2, true}, {7168, 2048, 8, 256, 4, 4, false},
    {7168, 2048, 8, 256, 4, 4, true}, {7168, 2048, 8, 256, 4, 8, false}, {7168, 2048, 8, 256, 4, 8, true},
    {7168, 2048, 8, 256, 4, 16, false}, {7168, 2048, 8, 256, 4, 16, true}, {7168, 2048, 8, 256, 4, 32, false},
    {7168, 2048, 8, 256, 4, 32, true}, {7168, 2048, 8, 256, 4, 64, false}, {7168, 2048, 8, 256, 4, 64, true},
    {7168, 2048, 8, 256, 8, 1, false}, {7168, 2048, 8, 256, 8, 1, true}, {7168, 2048, 8, 256, 8, 2, false},
    {7168, 2048, 8, 256, 8, 2, true}, {7168, 2048, 8, 256, 8, 4, false}, {7168, 2048, 8, 256, 8, 4, true},
    {7168, 2048, 8, 256, 8, 8, false}, {7168, 2048, 8, 256, 8, 8, true}, {7168, 2048, 8, 256, 8, 16, false},
    {7168, 2048, 8, 256, 8, 16, true}, {7168, 2048, 8, 256, 8, 32, false}, {7168, 2048, 8, 256, 8, 32, true},
    {7168, 2048, 8, 256, 16, 1, false}, {7168, 2048, 8, 256, 16, 1, true}, {7168, 2048, 8, 256, 16, 2, false},
    {7168, 2048, 8, 256, 16, 2, true}, {7168, 2048, 8, 256, 16, 4, false}, {7168, 2048, 8, 256, 16, 4, true},
    {7168, 2048, 8, 256, 16, 8, false}, {7168, 2048, 8, 256, 16, 8, true}, {7168, 2048, 8, 256, 16, 16, false},
    {7168, 2048, 8, 256, 16, 16, true}, {7168, 2048, 8, 256, 32, 1, false}, {7168, 2048, 8, 256, 32, 1, true},
    {7168, 2048, 8, 256, 32, 2, false}, {7168, 2048, 8, 256, 32, 2, true}, {7168, 2048, 8, 256, 32, 4, false},
    {7168, 2048, 8, 256, 32, 4, true}, {7168, 2048, 8, 256, 32, 8, false}, {7168, 2048, 8, 256, 32, 8, true},
    {7168, 2048, 8, 384, 1, 1, false}, {7168, 2048, 8, 384, 1, 1, true}, {7168, 2048, 8, 384, 1, 2, false},
    {7168, 2048, 8, 384, 1, 2, true}, {7168, 2048, 8, 384, 1, 4, false}, {7168, 2048, 8, 384, 1, 4, true},
    {7168, 2048, 8, 384, 1, 8, false}, {7168, 2048, 8, 384, 1, 8, true}, {7168, 2048, 8, 384, 1, 16, false},
    {7168, 2048, 8, 384, 1, 16, true}, {7168, 2048, 8, 384, 1, 32, false}, {7168, 2048, 8, 384, 1, 32, true},
    {7168, 2048, 8, 384, 1, 64, false}, {7168, 2048, 8, 384, 1, 64, true}, {7168, 2048, 8, 384, 1, 128, false},
    {7168, 2048, 8, 384, 1, 128, true}, {7168, 2048, 8, 384, 2, 1, false}, {7168, 2048, 8, 384, 2, 1, true},
    {7168, 2048, 8, 384, 2, 2, false}, {7168, 2048, 8, 384, 2, 2, true}, {7168, 2048, 8, 384, 2, 4, false},
    {7168, 2048, 8, 384, 2, 4, true}, {7168, 2048, 8, 384, 2, 8, false}, {7168, 2048, 8, 384, 2, 8, true},
    {7168, 2048, 8, 384, 2, 16, false}, {7168, 2048, 8, 384, 2, 16, true}, {7168, 2048, 8, 384, 2, 32, false},
    {7168, 2048, 8, 384, 2, 32, true}, {7168, 2048, 8, 384, 2, 64, false}, {7168, 2048, 8, 384, 2, 64, true},
    {7168, 2048, 8, 384, 2, 128, false}, {7168, 2048, 8, 384, 2, 128, true}, {7168, 2048, 8, 384, 4, 1, false},
    {7168, 2048, 8, 384, 4, 1, true}, {7168, 2048, 8, 384, 4, 2, false}, {7168, 2048, 8, 384, 4, 2, true},
    {7168, 2048, 8, 384, 4, 4, false}, {7168, 2048, 8, 384, 4, 4, true}, {7168, 2048, 8, 384, 4, 8, false},
    {7168, 2048, 8, 384, 4, 8, true}, {7168, 2048, 8, 384, 4, 16, false}, {7168, 2048, 8, 384, 4, 16, true},
    {7168, 2048, 8, 384, 4, 32, false}, {7168, 2048, 8, 384, 4, 32, true}, {7168, 2048, 8, 384, 4, 64, false},
    {7168, 2048, 8, 384, 4, 64, true}, {7168, 2048, 8, 384, 8, 1, false}, {7168, 2048, 8, 384, 8, 1, true},
    {7168, 2048, 8, 384, 8, 2, false}, {7168, 2048, 8, 384, 8, 2, true}, {7168, 2048, 8, 384, 8, 4, false},
    {7168, 2048, 8, 384, 8, 4, true}, {7168, 2048, 8, 384, 8, 8, false}, {7168, 2048, 8, 384, 8, 8, true},
    {7168, 2048, 8, 384, 8, 16, false}, {7168, 2048, 8, 384, 8, 16, true}, {7168, 2048, 8, 384, 8, 32, false},
    {7168, 2048, 8, 384, 8, 32, true}, {7168, 2048, 8, 384, 16, 1, false}, {7168, 2048, 8, 384, 16, 1, true},
    {7168, 2048, 8, 384, 16, 2, false}, {7168, 2048, 8, 384, 16, 2, true}, {7168, 2048, 8, 384, 16, 4, false},
    {7168, 2048, 8, 384, 16, 4, true}, {7168, 2048, 8, 384, 16, 8, false}, {7168, 2048, 8, 384, 16, 8, true},
    {7168, 2048, 8, 384, 16, 16, false}, {7168, 2048, 8, 384, 16, 16, true}, {7168, 2048, 8, 384, 32, 1, false},
    {7168, 2048, 8, 384, 32, 1, true}, {7168, 2048, 8, 384, 32, 2, false}, {7168, 2048, 8, 384, 32, 2, true},
    {7168, 2048, 8, 384, 32, 4, false}, {7168, 2048, 8, 384, 32, 4, true}, {7168, 2048, 8, 384, 32, 8, false},
    {7168, 2048, 8, 384, 32, 8, true},
};
constexpr char kResiduals[] =
    R"(KNPONMKIIIKWVXVVSQNJFEFILPTJLNG@FEEFHITUUUTSPOMKJJJJKMFFJMMLIKSUWTSSRQPOLJHHILNPTBGLGAEDGPQSSQQRQPNLKJJJKLNO;DFJ)"
    R"(INTVSQPTRPONMKJHHIJMORU;GKIBHSRQQONOOONMKJIIIJKMPQ;:ADHTRTRPLLMMLKJIHIHJLNOSU=HKHFRONNOKIHHIGFDBDFFEIJOS:::@FONN)"
    R"(LKJGIFIHGGFFGGHJMOP<FJJQROLLLMMMPRRSTTVY\_bcgg;::9CPPPPPMIIGHHGGFFFFFHHJL;CIVTQNKHGFFGIJKMOQSUWY\^_`77766@BDJJJH)"
    R"(IIHEGGCFEFFFFHH7:AHHGFGECA@BC@BCDGIKOTX\``55557BDDEDEGFFIIGB@EAEEEEEF7CEDB????=857:9:<?CFILORTWZFHIKJIIIIILRSRRQ)"
    R"(PMKIFEDFHLOGIKGCGFFFGHQSSSRPNLKJIIIIJJ5=BFHHGIPQPPONMLLJHGFFFGHLO7BIE@FDENOOONMNMKKJIHHHHIJL8:@EFIPPPOMONKIJIHGG)"
    R"(GGGHJNQ9EHEBGMNONLKLKIIIGGGGGGHJJN888@DMLKJJHHGFHHGGFGGHIIJMP:DDDCMLJIGGECBBDDBCCDEFFGIN6677@LNNLKJIIFFEEFEFEFFH)"
    R"(HIK8<ACLQOMKLKMJKLOQRRTVXZ\`bb55635<@B@@@>BCDDDDCFEFFFGGH78=GHDEEEGHHIGHIKMNPRTVZ]``56557@BCCCCBBB>=CA<>@DDEEFF6)"
    R"(8EEDB@@<;;<>>>>ACHLLORUWYZ44446ACDDDDFEEDDB?>A<>@DCDE6BCCCAA@><878:99=@CFHJLMOPQBFGIKLKKJJKRSRQPNLIHFFGHIKM@GIFA)"
    R"(GHHHHHPRQQPOMLKJJJJJJK88>AEEEFKKKJKIIHIFEGFGGIIKM7>CA=DACJIKJIJKLKHHIHIIIJKK98;ACFLMMLJGGFFEEGGGGGHIIKM:ABBBEJKL)"
    R"(LIGFFEDEGGGFHHHHIK877<DNNNMLIHGFEDCGGHHGHHIJM8<B@@LKKLKJFDCCAACCDECEEGHJ76658A@CA@@ACBCCEDCGGHHHHII88:<DDFDEGHKJ)"
    R"(IJKLOUTUVY[]_`66656@BBCCB>??@@@@@ABFFHHHH579CDCB@??@BEEDDGHQQSTWZZZZ45657@CDEDDDDD@@@@;?>@BEFGG57DEEDDC@@>>??>>@)"
    R"(CFILORTWXYJKKJJJJJJJLY[[[[YWTQNONQSZ]JMMJCGDDDEGVYYYYXWVTRPOOPQSFHJKIJKNY[^[ZZYXWTRPOQPTV[^IKOIAHGITUVWXXWWVTSQP)"
    R"(PPQRUXHGHLKOXYYYZYXXVUTQPOORRTX]_PMSPHNVVUUUVUTSRQPNLLNOOQSUMKIOOXZYXXWWWVTRQONNMPQTU[\IRTRP[XTTTTTUTSQPPNMOSUXZ)"
    R"(b`GGJNMXZ[ZXVTSSRQOMLMKLKNQTTIR\[`[XUTSQPQPPONQRPRTVXZ\^GHIPYWVVTTWVSPOLLKJJIJJJKOQIQW\_XRONKJHHFFGGGHMRUW^bbbGI)"
    R"(IS[]\\[ZYXXXWRRMNLKIHJJJJHRhhaWPLLIDB@==<:<9=ADGJMORFFFGK[_^^]]^\]\[XVRNLKKJIIJFJ\]ZSNKHE?<9643469<?CEHJLNIJMKJJ)"
    R"(KJJKMXZZZYXVSPMLJLOVZLNNJDHEEEEHUXXXXWVTRPNMLLNNIIHKIJJMWXXXXXWVUSQNLLLNQX\FGNLEIHIUVVVVVVUTSQOMLLMOQSFFFJJMVWXY)"
    R"(XWVUTSRONMKLMOSWZKLRPKMUUTTTUTSRQONLJIIJLNQU@BEJLWZYXVUTSRRQONKKJKJNPWY@JONLZWUTTSQPOOOOMKNLNOPSZ[>>BHJRUTSRPSRQ)"
    R"(NOMKIJIJIJJNO@IPS[WURPNPONNNNOPORTSSW\_c=>@KVVVUTTTSPMMMKKJIHHGHHII?IRc]UQPMJGGGGHHHFHKMPRUWZZ=>?HTUVVWVWVTUSQPL)"
    R"(NMKHGHGGH>D\^ZTQOLJFDBABA???AFFGGNTT9999;ILLLLLLMRRPNLIJJLHHGGG:BKKIEBDC@<86655678;>ACEGIKLKJKIJJJJJLWYYXWVTRPMM)"
    R"(IKLSXKKLJDGEDDEGUWWWVVTSQONMMMMO=DGILIIKUWWWWWUTRQPOMMKLNTY<EHGBGDEQQRSTTSRQQPNNMLLNQR<@EHHKTVYZYWURPPPONMLLKLPS)"
    R"(V=EKICJTRQQQSSPMMNLKJIIIJLPQ<<>GJRQQRQQQROMNNLKLKKLLMST=EMLIVTQPOOPQONOOOMNQQPRX]`=<=CHSUTSRPPPONOKJKKKKJKJKK<DL)"
    R"(NYWTRPOONNONMNPRTVY[^aaa::;?GNQQRQSTRPPONMLKKJJJJKK:<AIRSRPONLKLJHHIHEKOPQSVXZ;;:=EGGGGGGGHHHFJKMLIJHIJJJ9;IJHED)"
    R"(CBBBBAAAAABCEGJMPSXXKSTVWXWWWXZeggfeca_fddabbfhJSUUQURRRSVceffffffeedcbbccBHNRTVVYdhiihgeca^^cbb`bcfhAIPQNRQS_`b)"
    R"(bcedccbccbbbabdeACIQTW`bbbdcbb`__^]aaaaacfhBJRSRW````_``^^^__^]]^^]_bdA@DLT`aba`acba_[[[]````aaefAGOQR`a`___^`_^)"
    R"(]\]`bdeehjlnBA?AJ\a``____^a`\[Y\^__````?AHLY_`_]]]_b`_^]_beehjlorv>?@CMNOOOONNKLRRVWZYX[^___`?@EQQOMMMKQTUVXWWXX)"
    R"(\afdfgijJMTXZ\\\\\^egfeca^]fdebedegIPVWUYWWXY[deeeddefefeeffff?AIQUWXZ`abbba_ba^^cbdbddfg?FMPQWVW^``_```dcbbdcdd)"
    R"(ddff?@CKSXabbbdcaa^]\_`cbcbcdfg@DNQRW_`a```_^\[[^^^```aabc>>@DL\^^^__bca_][Z[``aabcef>AGLO[]\\]^_a`_^\\`bbcegikl)"
    R"(===?CPSSRQPQQSVYXZYZ[__aabb=>@BPSTRQRTWZZ[\^]_dfhjlnnnKNT\`bbbbbbefeba_\[dcebddfgKPWZ[`]]^_acddcbbefeeeefggh@BEO)"
    R"(W[\]accccb`^\[[bbdcddfg?CNRSZZ[```aaa__^__cceddegg?ADHNW^`abcc``^^]\\bbbcddfg@AFOQV[\]^_``^]]\\]_``_`bdd>>?DISSS)"
    R"(STUXZZ[Z[\\^_baccee>?CDHTVWTUY[\]\]]^^abcegfiiOPPNKJJMJJJJJOZ^[ZXUQNMOSX]KMMMF?DCA@ABCGTVVVVUSQPOOPQJLNOOLOMPNP\)"
    R"([[ZZZWUSQOORTY]FJNOGAFEEFGRTTTTUTSSQQQQRTVJILNOQOQZZZZZYXXWVSQPPQTW[]IITSKFJKRRSSSSTSSQQONOPRTWXLJHHMSXYZ\ZXWVUT)"
    R"(SQONPQRTW[^IIVWPMUSRRRQONNMKJHHIKKLLRUKJIHLOZ[XWXWVWUSQPNLLMNPRUWINWVU[[VSRRRRSTSTPSTY]]_bhjJIIFIJXYXWVWWQQONLKJ)"
    R"(JJJKMPQHJZ_bZWSQOMJJIHGFFFGHMNOPX`JHGIFHSWVVSSSOKLKKIHGHHHJKMGIS[bYRLHC><<=>>>>>>EHKKPTTGEHEEIX\ZYY[YVTQPKLLHHFG)"
    R"(GHHFHQX_VMHB@;6300000137<@DHKOGEEHEIZ]]]]_\Z[[XRNJGJGGFGGEH[ZVOGC>93/*&%&&(*.158:<==JKKJJJJJJJJJJLWYYXVSPLJLQWYJ)"
    R"(LMMF?DCA@ABBERTTTTSQOMLLLMGFHIIIJJKLNWXXXXWUSPNLKMPWYFGMNGAFEDEFQRSSSSSQPOMMNNQSBDEHIJLOVWWWWWVUTRPNMKLPTYYCEOQK)"
    R"(DHHOPPQPQQQPOOMKKLLNRTBCFGKNUVVVVUTSRRPOMLJKLPSXZBGPQLHVTQPOMMMLJHHEEDDDGKPSAACFGKUVUTWVSPOOOMLJJJIJMPS@ARSPTVSQ)"
    R"(NMNONNOPQRQRUY[]_`???BDFRSSQQQPMKLIJIHHGHHIJK?BRTSRQQLLFCEBDDDECBDGJLOVW?>>?BGTVWUTSRPLLIIHIGGFGGIH>?NX_XRNKGA@>)"
    R"(;;;;;===@CEJOO:::::@QTVTVWWUUTRLLKGIGGGGG:;GYXUPLJFA;954210124568:<>NKKKJJJJJJJJJLUWVUSPNKIILPTKMMMG@DCAAABCEPRR)"
    R"(RRPOMKKKJK@DEGIIIIJJMUVUUTSRPNLJHILSTADILF@DCBBDMNOPPPPONMKJJKNO;@CEHIJLSTTSSRSRQOMKIIIJNSW;BKLFCGGPPONNMNNNLLJI)"
    R"(IIHLOQ>@EHHLSSSSTSQONONLJIIIHJNSW?AMPJFPNMMLIGHGEGGDDBAB?EJL<=>CEHPQPOOOOMLJIJHHGGGHHJM>?LOMTTRONMNMKKKMPORQPPVW)"
    R"(]^;;;<AFTUUTSRQOMMIGGHGGFGGHH;=JPSUTRNLKJHFDBBBDFHEHKNPR;;::9BOQRQRSSQNPNLIHFHGGGGG;<BLURQPNKFFCA=<:;;;=?>ADGGLL)"
    R"(KJJIIIIIIIJKSTTRQOMMKJKNSIMLMGADCBAABCEOPPQPPOMMLLLL;AEFGHHHHIJRSSRQPONLKKIIKNR:AGHD@DCAACMNNNNNNMMLKJJKLM<=CEGH)"
    R"(HIOQQPPPRQNMKJIIHILPP<;JKGACBHHHGGIJKKJJIIIIJKMN??AFIJPQQPNNMKKKJJJHHHHJLPR@@LMJFONMMKHFFEDDBBDBCBCEGK>>==DITUTS)"
    R"(TSRNMLJHFIHHGGHJL=>ILKTVRSQQQPMLLKLOPSUVWX\]==<;<EPRVSSRQQQQNLIGFIHHHHH<=DJOUSROPMLMLIFFDEHIJKLMMNILMKKKKKKKKKKM)"
    R"(TTSRPNMNNNOPQFJNLHDGFDCDEFHQQQQQQPOOOOOO==BEGHHHHIJOPPQQOMMJJKKLMNO<<GIGCDCBBCIJKKKMNMLLLLLLNO?>?FHHIIOPPQONMLLJ)"
    R"(JJIJJKMOP>>ILHDDDKLKKKJJIIIIJJIIJKLN?@@CHLTVUVSQPPNMKJHJIJIJMOP@ALMKJSSRQQNLJIGEECECBDDEFH>>==>GSTSSTUTQPPNKIHHK)"
    R"(JIIJL>>DJLXWUTTTTTRQPOOPPQQVWZ[\HHMNNMLLLLLLMNUUUSQPORRUVXXIIOPLHJHFFGHILRRTVVUUTTUVWX=>AFJJIIIJKQRRQPPOMMMPQSTV)"
    R"(W=>HJJGFEEEGNONNNOOQRRQRSTUV=>?AHJJLTUUTTSRRQOMMNPPRTVW>?JLIGFGQPQQQPOOONNOQQPQSUU?@ACFLUWXXUUTUSRQPOOOQQQSUW@@D)"
    R"(JKKTTUUTSOONNLJKJLLHILMPQPOJIIILJIILIIIIKVWVTRNNSY]PMLOJB>B@?===>@ADOQQPONMMMMKNQPNJMKJKKMPPVWWVVTRQPQUY\HKONLD@)"
    R"(EDBBBCGNOOPPOOOOQRSTJJMPOLOMNORYXXWVVTSQPPPTX[]LGMRPIFKJIIOONOOOOOMNMNRUVWMKKOQOPRVXZXWWVUSRQOOPQUY]`RNRVSMKQRON)"
    R"(MMMLLKJJHGGHOPSSKMKPRRXZXWXWXVUTRQOMLLNOTXZLSU\ZTSUSRPPOPQPPOPQQQV[]__JKMPSSZYXWUUTTUURQNLKJJKMOSGGT\Z[UUTPMJIIJ)"
    R"(IIGFFGIKMQUYHFHSWZYWXUSTSQQTQPLLIHJIJKMFGTa`^TROMGDBBA@>88:;>@DGJJFDFSU[ZYXXWVTSPPOPMMKJIHHIIEEP[f[SLFA:88531/*,)"
    R"(/-369<?BHHHUWaab`a_]\ZYYWRNNNMKJIIHHESfbXNFA;50*&&$#####$'*,.1RPLJIIHIIILJIIIIKSUTRPNMRVZPMPNKC>BA?>=>?@ACNOONNM)"
    R"(LLKLJIILJIHIJJKLMOTUUTSRPMMNSVXJILSLD@DDBBBCELMNNONMMLMNPQLHGJLJJLMNPTUUUTSRQOMLLORWZNHKSPFCIJGHKLMMMNMMLKKJNPRS)"
    R"(GJIJLKMPUUTTUUURRPNLLKKPUY\MOPTRKHLOLJJKKKJHIGFEDDJLPQHKLNOMWXWVURQRSRPNLKJIIJOTVHQTVSOLRNLOLKLMMLMOOMLPSX]^DEMO)"
    R"(RNTTSRQQQQOQONKIIHHHIIMEEP[Z\VTQMKKJIIICBCEFFIKOTTEDFPSZZYXWVUTRQPPOLMIHIHHHIDDNXV]XTPLGDB?==<9888:<>@AC>>@KQ\]])"
    R"(\\[[ZYWUSRNMMMHGHHG>?JVd_XRNJC?=7220/-./0147:=TOLMJIHIIIIIIIIJKRSRPNNLNSTUQONKC?CA@>>??@BDLMMMLLKKKKJIGJOJIIIIJK)"
    R"(LNSSRRQOMKKKNQVJKJNNECEC@@ABFIJKLLKKKJKLNNCHHHJJIJKNOSTSRQQPOMKJJLOSUCHMPOHEHEFGJJJJJJKKJJHIKMNQADJLNKLMTUTRRQOO)"
    R"(OMLJIIJMNRVCGNPLHAEHKGGIIFDEEECCDCFHKMDFHOOMRSSSRQPOONMLJIHGHHLNOEIPVVPTSQONLLLLKKKKKMPRUX[^CCFLPOVWVUUUTSRQNNII)"
    R"(GGGGHIKBCLUW^ZWTRPONJIIHHHEDFFIMSUAABDP[\\\\Z[ZYXWURONJJHGGFGABJST^[XUROLJGC@<9:;777<===USMLMIIIIIIJJJJJKRSRQPQO)"
    R"(PRSTSONLFADCB@?@ABDFMNOOOOONNN@HHHIJIIIIKJKMRSRPPONLLLNPQ?HJKKEAHEDBABEIIKKKLLLKLMNNABILKIIJKLNUVURPNMNMKJKLNOQB)"
    R"(@LOMFAEDCDJJLKLKHJJIIIJLNOCCHNMJIJOQQQQPMMLLKIHHILOPRDDLTRLIJOMLKJJFEEFDCDBCGEJJEFHKPPVWXWWUTTSRKIIJHHHHKMOFHNUT)"
    R"(QUYXXVTRRRPKLLNNMORUX[DCCEJO[\\[Z[Z[YXUSMJJJHGGHJCDIRS_^]ZYVVVSQPMFFFFFFFLTTTTRNMNLLLLLLLMLLMRSRQQTSTUUPSSRMHEII)"
    R"(HGFFFFGJNPQQRRSSSSABHKLKIJJJKLNSVWTQOLKMOOOPPAAJNOIDGEDDDGJKLLMLLLMMNNOPCEKPOMJKMLNRSSPOMLKKKKLMNPPCDKSSMHJIHINM)"
    R"(MJIIHIIJJJLMNODEFJONLPUWVVVUQPMKJKKIJLNOPEFJTSOKMUTSRRPMIHECCFECEEKKFGGILR[^_^^[[[[ZSOMKJKJJKLNFHJUTT_^]\[YXYXVQ)"
    R"(QOMPRQOTXVTWXYVUUVVVVWWWUUUVTRQPUVY[[SSXYWSQSQPONOQQSUSSUTTTUVXYDEGPTUSUTUVVWWTSQOMKJKNQRSSDELTVSPRQPPQRTNMMLLLM)"
    R"(MMPPQRDFHNUUSTVWXZZYVSROMKJJMNOPQDFIUYURTTSTVVVQPOMLKJKMLMOPEFHLNSTW[\\]]\VUSPNLLLMMNOPEFJVVSQS[ZYXXXQNNKJFFEGHH)"
    R"(JJKLJIIIIIIIKWYXXWVSPKIKKQV]`LOMF?FEFGHKWXXXWVTRPONNOPSUJIKJIJLNVXXXXWVUTQNKKNOUY^aHOPE?GHJTVWWWVVUSQPNNOPRSXYHG)"
    R"(HJKOVWWWVVVUTRQOMLMOQW[_bMUVLEMTUUUUTTRQPOMMLNOPUWZ\MHGHMTUVVVTTSQQPOMLMNQSY\_bRYYQLVSPOPQONLJJIIIIIMNTUX\NMHGJU)"
    R"(UTSRQQPNOLLKKJJLOQTY\Q\`ZYYUSSQTUUVVWXXZ\_cfprtuONMHISUTSQNKNLMLJHGIIJJLNQSOYdi_VPKJKMNNPPQRRUX[^bgkpuNNNMLYZYYW)"
    R"(UURQNMNLJIHIJKKLNOT^g^TMJGD@@@ACDEHKNPUZ^dinPNNNQaddcb`][XUROLIJJHHIJJIPeec]TLFAB=:;<=?AEHLPTX\aejJKLJIIIIIIKUWW)"
    R"(WVTRNJGGGLRZ]NMOG?FEEFGIUWVVUTRPNMLKLMOQJJIJIIJLUVVUUTTSROMJHHJPUZ]JNNGBHFHSTUTTSSRQPNLKJKOPSVNGGIJLSTTSRSSRQPOM)"
    R"(KJHJLSW[]PRSLFLRQQRQPQQPPNMKKJJLPSUWEIGGKSSVUSOOONMLLJJIIJNTX[]KSVNHURONOMKJJIHGGGFDFHMRWYCDIGHSSRPNLLLIKKIHHIII)"
    R"(IKMTVLZ\WYXTQOQPRRSRRSQWYZ\^djmpA@AHHUWVUTQNNLLJJIGGGHHHHILDTYf`XSONLLIIJNIJNPSVZ^bgil==<>IZ]^^][ZXUQNNLHIHGGHHG)"
    R"(H?OZeaYUQNJFDCDFGEGJMQUZ^chn>>==?MPPOOOSRRUTRKHJHHHGGHH>OPOLFFHGE>:;<<>ADGJMPSVY\\NKKLKJJIIIKSTTSSQNLIGGEIOUXNLM)"
    R"(GCGFFGGISTTTSQPNLKJIJJLNJGFHJJIKRSRRPONNMKJHGGGLQUXLNLFBIFFPQQPPOPONMKKJIIKMOREIIHIKRRRQPRPMLKKIHIGHHMQVYFNQJDHO)"
    R"(PPONMNLJJJIIHHHIMOQSABHIJQPONNLKJIKKIHGHGGIORWZCRTMISONLLJHFEFGCBDDDDDKNOT@@AGIUWVSSQNNJJHHIGGFGGHIORBPSS\\XUSSS)"
    R"(RPPOQTVYVXY[_din????IY[[ZYWTUTQNKIFIGGGGGHHBMUca]YUSSPONLKMQQONQTWZ\_b>>>>BMPSPRQUSTPORNIFEHGGGGG@CSVVPTSONMLKHF)"
    R"(DCEHJLNQTVY\PMKKMOMLKKLRSRRPNKIIHHGINRTOMMGBHIIIJJSSRRQONMLKJJJJKMAIIGHHHIOPOONMLKKGFHGGGJNRT@LMHAGDELMMMMMMOLII)"
    R"(IHIIJLNOBBIIHJPQQPMLMJIGGHGGFGHMOSTCOQLGIOPPOMKJIHGGHGGGGHKMOPA@@JNVVUTSPNMKJHFHGGGGILORTCOONLVUSRQOLIGEDDDDBDDE)"
    R"(HIIJAA@@KY\[YXWUVROMKIGIHGGGHMNCGNP]_\ZYXXYVUSQRVXWXY\`dgkA@@??LNOQPRPSTSSRNIFFIHHGHHAEKVWVUTTUUVWSPNMKMNPSUX\]^)"
    R"(KPMKKKJJJJKQQPONLJHIHIKLMPRKPOIDHGGHIJQQQPPPQOLKKKLLLM@@GHHHGHNOOONLKJHFEHGHILNPRBLNJDGDFNNNNMMKJJHHJIJJKLNODCEJ)"
    R"(KNVXWWTSQONLJGFIHHILNPQFRPNLNUWVVTRQOMKJIHIHHIJJNNDCCGO\[[ZYVTTRPMKHHJIIILNPQCHPNO[ZYXWVRPOMJGEDFEEEIJKMCCBBCMPR)"
    R"(OPWWWVTSQNKHIJIIILNCDELUWVXYZ\\[YWWVTVWXXY]`aaMPQPONMMMMNTUTSQOMLMLNPSUWXLSSPLMKKLMOUUTTSRQRSRQRRSTUCCFLMLLMWXWV)"
    R"(UTSQONLNMNPSUWXDNONJLJKVXVVVTSRQPPPQQQRTUVEEFLPS\^^]ZXWVUTRONOOOPRTVWEIRONQ[]]\ZXVVUTRQNNQQPRSRUCCDEJUXZ[\ZYYWVV)"
    R"(TQPOPPPRTVWCEHKJYXYZZ\XWUQPQNMKLMNNPSUKJJIIIIIIIIIIHIQWWTQPSTY\^`QMMJCGDBCCFHKORUZVUSRRSTUVVLPLLKKLMNOPRSUXXXWUT)"
    R"(SUUX[\]QNOKFJHGHJNRUZWWVVUTTUUVWYYOSQQPPRTVX[ZYXXWWWVVUWWY\]\TQUSMQPQSUYVVUUUUVUUUVVXYZ[TUWYWVY\ZYYXWVUUUVVVVWXZ)"
    R"(\\]WY]ZSYXYTSSSTTTSSUUVUVWYZ\]Z[`d`]ZYXWWUTTRRSUVWWWXY[^]dchc[_VTSSQOPMMNOORSUTTUW[Zb\^c[V^gii[[[WGCA>>???>=<<<e)"
    R"(efaTUWbii\\YIHHECIIKKJKLMLeolpf]]]YXWVUTQPOONRSUVWWXZep}ucVTRPQRQPRSTX_]`bfjilnpccchc\[\XVTURQPNNNNMMPTUVWWdlwo^)"
    R"(OHGDDEEEFGIMQUVY[^adgidddib]ba^^YVUWROLMMMMLNQSTUcfie\IA>;;;=;<>@BEJPVWXXYZ[QLJIIIIIIIIIIHHKMTTQNRRUX[]PMMKCGDBB)"
    R"(CDEGIKMPTTRQPPQRSTOQOKJKKLMMNOQSWWVUSRPRSVY[]PPOJEJIHHIKMPSUUUTSRRRRRTUVMMNONNPRSUWXXWVUTSSRRSTVY\]QRTPKPNMNPSST)"
    R"(UTTSSSRRRSUVWYOPSUTTVYXXWWVUTSRQRRSTUWX[]RW\WQUUVTSSSSRQQQPQQRSTVVYZTWZ^\YXWWVUTSRPOOPQRSSTVYZZ[\a_ZZURPPOOONMLK)"
    R"(KLONPRRVYZZZ[c`cfnqsjh[VHECBBA@>>====\_a]Xc`komiYYJIJILJIKLLKLKL\ddkd\YYWXUVSROONMKLNQQSSUVZdrn^YTSOOPOLONPQPUY])"
    R"(bbfjmoZYZb`ZZ^ZWTTRRPONNMKKLNPRSTZaih\NKFFFDEDEJJLNPRT[^aaaaQMKJIIJJJJJJJIIJMSSPMPPSWZZQOPKDGECCDDEGHHJMSSQONMMN)"
    R"(OPNOLLJKLLMNOPQSVVUSQONPPSSVXMLONEJGFFHJLNQTTTRPONNNOPRSNOOQOQPQSTVWWVUTRPNNNPORUVXOPSNHMLMNPSSSSSRQONMMNOQRSTON)"
    R"(PVUSUWWWVVUTRQPMLMNOPSUUYQQTRNTTURQQRRRQONMKLMNNQSUUSVX\\ZXWXUTSRQONLKJLMNORSUXVW\XVYSQPQPNNLJJHHHHJKMQPSWQY_edY)"
    R"(YVUVSSRPNLJJIIKKMOPTUPZdc`ZUSSTSQQRQPQRQSU[[\behR[]e_VVUSTQUTRONNKJJIIKLNPPPYcd\SONMOOPOPQQPQRSVY]`dhhSQMNJJJJJJ)"
    R"(JJJJIKMRQQOOOTTWXRQPKFHEDCDEFGIIKMRQPONMMNOOLJJKJJJLMNOPQSUUTRPPNNMRTTWMJMLEIFGGHJLNQSSSQPNNMLNOPPMKKMLLNQRUVVWV)"
    R"(TSRPNNMMMQTWXPLPNILLMMORRSSQQQPNMMLMNOPQMNNPRPTVTTVVUTRPPNMMLMNQTVWOQTOKQSUPPRTSRPOOMLLKKLNQSVJSUWVUSWTTTTSRPNML)"
    R"(LLKMMQUWWLQVTTVRNOONOOOJHIIHHIILNPSQLSY]]VURRSRTUSPMLKKJKKKLNSTLT\Z[YTQPQPSTUUSSUWQUXY[aac`__]\]]]\]\\\\\bgdcigh)"
    R"(fiiji_^`_X[XVVWY[]`behggffedcccdXZZ^]]]^_`bdeggfecbeddbddffWY\\Z\ZZZ\`cfjeefeedcbbaabbWZ\_a`bcfhjiihfeca`cbb`bde)"
    R"(eUZ`_[`_acfjeefdddccbaa`abbcR[^bacfjhiiggfcba__a```bbbbP[a_^cehcbeedecbaa``_``aaacPU`ffgefedfeffa``^^`_``abbdRZb)"
    R"(dbgecba`a`a^]^]\]]\]^^aaeffgghhhhhgggffmodaihjfihhgefhgdgdcbcegimoqtihggggffffW\aehhhikklnppheda`feecddddT\eeche)"
    R"(efgkorugfffeeddccccbP[cfghjmorsljieecb`dccaccccNZdfdhhjlpsihhdfedccbbbbbccMV_ehimpjhikliecc``baaabbcbLWbfgknphfe)"
    R"(ejicbcaaaaaaaaacMKKMY[ZYYXVTRPOMKLLOPSV\agiROGP[[[ZYYXVUSQPONMNPRTZ^deTSR_`_]XYXRNMINMKKMQQUX_dghgZP_\ZYWVUQNNNN)"
    R"(OKLLMPSU]aecUTS`cb]]XUTPOLKJGMJKMPQUX_cdknea^\ZZZZ[Z]ab`ceimns|}}}MKLJIJLMQRVYNMNE>;?==:;:9::KKJIMUTX\URPQ[YWTWX)"
    R"(W[W\[^]]JIIHGFFDCB@A?==:568::;;<<==NMEMIJGJJECBA=><<??>??>>>>>LKMXZXWVVTOMIFKHGGHJLOSZ_cfb]V^[XWVVTPNMLJIIJJHLNQ)"
    R"(X^beQNO[][YXVURQOKJGDGGHIJLPSY_\fjb^\[ZYXXWUY\\Y_`aehnw}}}LLLLKILLQMLRLKKD@=DA==<:::9IIIIKLSNWUSQPXXYTXXTXUYXTVW)"
    R"(IIIIHGFFECBCA?@=789;;;<==>>KLEMJIHIIFDDC?>==>??@??????JIKWXVVXWUPMIFJHGGGHILPW]bd^WP\YWUUVUQMJLIHIHIJJJNU[acJKL\)"
    R"(]\ZXTSQPNKJGDFFGHIIKNV]T^hb_\YWVUUUTVYXZZ[\_cfrv{}FFDDDFJJJJHFJIHHD???AB><;;;DEDDEJINRUPPQVVV]]W[Z[]^___IHJMMIHJ)"
    R"(IFGKIHHE=;;=>===>>?KJGPNJIMNGHLNCEE>>>??@?????IGITVTSRSSOLIGJGFFGHGIKRY^`OPJXVTRQQQPLJJJHFFFFHJKOV[]LJL[]\[YWURS)"
    R"(ROOKFHEFGIIJLRYMTa`^\[YZYXYYWZ[[ZYabbfox}}@BB>==AAENMMHDABEAIDI@?=<;;?;::>LMNLNNSSZ[Yc^^_Z\[\]]_IGGIRSSRQPONMMLJ)"
    R"(FFCDFGIPU[_MIDKTTTSRRSRPQOMMIHHHIJMQVX>EFTVUTSSROMJGIIFFEEFHIPVZ]RMHXWUUSSRPMKLIJFFEEFGHMSZ[89HZ^_]\ZYXVURPLIHGG)"
    R"(GFGIKOSIQcc`_^\\\Z[YWWWWY]^``birux6;=MOSPORSSWYYURQNJHGGFFGHH;SPPSU^^^^^]^^b^_`_bfjilt}}?GGIUWWVVUTSRPPMHFFGFGIO)"
    R"(TXZLKFJUVVVUVVUTRPOMLHIHIILQTV79FW[ZYXYXVTSPOMHGGGGGIORWYGJJ[[YYXYXVTSQOMHGFHGFHLRVT88:ILLLLPPRUVVVTQMIHIHHHJOT9)"
    R"(=OPOQVW[\\]]]]\ZYZY_`benru67;LOPPOOOOPOMMPNOMKHGHHHHH9MPPPQRRRRRWZ[\\[\_bcdglu{{QOKJJJJJIIIIILY[ZYXURPPW[beNLMMF)"
    R"(>DBA@ADFJTVVWWUTRQPQSTNNKJJKKLMNQY[[[ZYWVTSTV\^cfLNOOIBHGGGJSUUVUVUTSSTUWX[]NLLNMNPSZ[[[ZZYXWUSRSWZ_adfLPVTMINNS)"
    R"(SSSTTTTTSQPQTVZ\^`RKIKPSY[[ZYYXWVUTQQQTY\`cffSMZWROVRPPPNNONLJJIIKLMPRV^SPMILRZZYXYYXVVTRQOMMORY]abTR`^WWYWRTRTR)"
    R"(RRRSUTTW[^aiqsPOMJLNJKTVYZVSQKLJ@>=>>><<=PQjjcXXTPPKFBG@:7;<>?@CDDEEQQPPJKVX[XXYXVQPNLJIIKKJKNPQR`ml^UQMHD@A=;;<)"
    R"(<>??EKQW]cTSRRPQ^_^_\ZXWVROLLIHJJJKJJQPXmgWKD?=932111248;>AEIMRVQQQPQVfhjgeddb`]XQOLGHHIIJKPQdb[OE?82+'%###$(-15)"
    R"(9<>ABDPOKJJJJJJJIIJLXZYXWURNOUY^cNONNF?DCA@ABDGSUVVVUSQOOOQSMJKJKJKKLMOXYZZYXWURPQSY]acNLQPGAEEDEFQSSTTUUTRQRSTU)"
    R"(XYPMJKMLNQXYYYYXXWUSROOSV[^adQMTUKEIHOOOQRRQRRRPMMPTWWZ\YRKJLQXYYXWXWUUTRQONOTX]_bdXR\ZOJYTQQOMMMLLKIGEELNQUWXYV)"
    R"(NJJN[[YXVUTSTTQONLKKKSX]_XW`aY\^ZWVSRQRSSTVWXX\`hlmoYXVNLKVWVUTUTRQQOMLJJJIJLSWYXefi]YUTQNLMHGGEDFGHKS[cbbXVUTNL)"
    R"(XZZYXXVSOOLKKHHHIIJJJWW^ej^UPLIB>?==>>>AD@DGKORVWWVVUUbddcba_\YVTPOLHHGIIJIVV[bj^UMHC>74330-,-159=@DHHPLKKJJJJJJ)"
    R"(JJJLWYXWUSPMKNTZ_OMOMG?ECAAABCFRTTUUTRPONNOPPMJKJJJJKLOWXXXWVTSPNNNSX]^NKOOHADBBBEPQRRRSSRQPOPQRUVVPJIJKLOWXXWVV)"
    R"(VUSRPMLOQVY^`WPTSKEHHPQPPPOPQQNOMLLOQTWZNSPKLNXYXWTSRRRRPNLKJORW[_`OVYWQLXVUSQNLJIJIGFDCEJMQRRROSNJLUVUTTSUPNNML)"
    R"(KIIIINRWZLR][TYXTTRQNNMONOOQRSTY]aejKKLRNNZZYXWUTRPPKJJHGHHHINQLMbcjb\WSPMJIGDDCCDGHKNQTWWHGHGOP^`b```_\XURNMKHG)"
    R"(GGGHHKM[`kd]ZVRLIFA><;;<?CFJMPSVUPLKJJJJJJJJJLUVUTRPNNLOSWXUNOOH@ECBABCDFPQRSSRQONMMMNUPKJKKJKKKMVWVVUSQPMKMNQSV)"
    R"(YTQONHCFDCCEMNOPPPOOONMNOOPRHROKJKLNWYXVUSQPPOLKJMNSUWZLUWROHKJPPQQQONNKMLKIKNPPRSKOTPMLRSRRPOPOMMLJIIILPTUXYKPZ)"
    R"(YOIQOMKJHGGGFFBAAADGJKNOJJLTPNWXWVUTSPNLKJJGFGHLPTUJL^]W^]ZVTRQPNMLMPQRPRT]`cfIIHGPR`b``]]\ZXUQMIJGGFGHLOIK\^bea)"
    R"(^ZYWTRNKGDFEFHHLSX\aZVPKKJJJJJJJKLUVUSRPNPNNQUVZTPMHBFECBCDEHQRRSSSRPPNNNNLQOMKKLJJKNXYXWVSOMKLMMORTUGRROIDHFFDF)"
    R"(MNOQRPNNNMMNNOPQJJSPLJIKRRRRRSPNNMKIILNQSUUJLXVNFGHNNMLKJJKKLJIIJKNOQRMLPUROWXXXUSTRNLKJJHHKNQSUVMN_\VPZXVURPMJH)"
    R"(HDCCDCDBGHKLKKJIQS_`_^^\\YWVQMIGGGGKNQSLN\][fda`^\\ZXVTRQPSSOTY_``UXVPNMMLLLLMMNWVUSQONRQQRSTSYVRLGIGEFFHILRSTUU)"
    R"(TSRRQQQQKOTRQLKKKLMTUTTQPOLLJMNOPQRJOVVPJJHFFHNOOONMMMOMMNOOPQLMTXSNMOXZZXWVTROLIGHKLOPRRKMZ]VNMMWWVTSRPONKKJJIK)"
    R"(NONPNNOSWW_``_\\ZYVTPMJHIJMOPRSNO^^ZXb`^][XVSRPLHECACEFHJMKKKJJJJJJJJLZ]\\[XUTQUY^befOMNHBGEEFGKOZ[\[[ZXUSRRTVXZ)"
    R"(IJLKKLMOR[]]\\[ZXVTSRX\`cfgMRSNFKJJMWYZYYZYXVTSSTVYZ^_MJKLNR[\\\[[ZYXWUSQSTZ]bdghPYXSOSZXYYYXWVWUTRQPQVY]]`aQJJM)"
    R"(S[[[[ZXXWUTSRPORTZ^bdghTY]VT\WTSSSRQQOOMJIINRW[___POJJOZ[ZYXXXVTSQPONNOQTZ_cdVclcd`[VUUXWWWXYY[WZahpuwzzQPNJLZ]_)"
    R"(^\XTQRSQNLLLLLMPSZ]Ubopg_YVRONNNMMMRNPUZ_dioooPPLKJJJJJJJLZ\\[ZXUSOQW\`ceQNNIBGEEEFHKXZ[ZZYWURQPQSUVMJJJJKLMPY[[)"
    R"([[ZYWURQOTZ^aceMQQKEJHHKUWYYYYXWUSQPQSUXZ\OJJJLPY[[[ZZYXWVTRPOOUZ_adePRYQINUUUVVVWVUTSPONNRVZ[]_VMJLNXYYZXWWUTSR)"
    R"(QNMMOVZ_adfX[_ZOZWTSSRQPONNLIJJJPSZZ]\USLIMYZYYWUTSRRONNMLLMOVZ_aY`b\_\YVUUVTUUTUVYXZ[aflqtwVTRLLYYYVVTTSPNOLKKK)"
    R"(KJKLNUYV[hfe^UPONLNLKKLKMQRTT\cjkkPLKKJJJJJJJLXZZZYWUSOPSY]`aQMNHBGEEEFGJWYYYYXVTRPOOQRTNJJKJJKKNXYYYXWWVSQPMPTZ)"
    R"(]`bPLPMDHFFHTVWXWWWVTRPOOPSTWYUNJJKMWYYXWWWVUTRPNMKPUZ]`bXXZRJLTSRSRRRRRRQOMLKMNUXZ\SRMKNWWWYWSRRRQONLKKJPU[]_aU)"
    R"([YRLYWSTRROLKKJHHHEEILPTX\PLPMLVWUURSQSNKMLJJJIIJOU[]P[^[c]WSQQTTSUURTUWUW\^dhlmNLLPP^_^\ZWUSPMKLIJIIIIIJPTN]dpg)"
    R"(a[VSPMIIILKKKRQPUZ`ekkTNLKKKKKKKKLVWWVUSQSOPSUX[]UONJEHFEFGHJTVWVUUSRPNMMNPRSOKMKKKLNUVVUTSRQOMNKNQUWZ\SONKDIFEG)"
    R"(QRRSSRRQQOMMMNOQTVSUPKKMUVVUTVURONNLJKKMQUWZ\QWUPKMURSSSQQQOMMKKIIKMQSVVKPSOMTTTRROMNMMMKIHIIMQUWZ]JXYVNXVQONKII)"
    R"(HFGDBAACBINPTUHHOQP[\ZXYVTSOLJIHIHGHIMQUWK]_[da\YWUUTRONPTTUTRX^dhkkGGHKSbddba^\\ZWTQKJIIHGHINPIW`flea]\ZXTRPNNN)"
    R"(MOPSX_ehknYSNLLLKKKKKMVVUTSPOSPQSTVXX[TOJEIGGGHIKUVVVUTSRPONNNOQUSNJJJJJLTUUTSTQPMJMLMPRUVWPTQMIJFFLQRRRRRRQNMML)"
    R"(KMNOPRLSTOLMTUUTRQPNMLKJIJILPSTWWMWZSLNTSSRQNPNLKLKIHHIKNORSLLUTR[[ZYXUTSOLJIHIHHLOSTVWMY]WS^ZXWUSPNKIFEFD@@CIMM)"
    R"(NNKKKTWddb``^]\YVSOKJIIHHKOSTLT]_lhfb`__^][XVTTUVWY]_bcdYYURNNMLLLMNWXWVTSRUTVYY[\]WZVOILIIIJLOVXXXYXVUUTTTTUVKN)"
    R"(RPMLMLNVWVUSQPOLKPORUWXYZKTVRKLIHISTSSRRSQQSPOPQSTUVNNVVSS\^^][ZXWTSPMKONPTVXZZOY[YTU]]\[YWVUSRONLNMOQTTVVMMNWYc)"
    R"(dcba^]\YVTQMMPNPSVWYZNU^\Zgdb`_\YWVSQNKHJJJOSRTTOLLN[]]\[ZXVSQSRMNJMOSYaejlPPHQ]^]\[ZZYWVTSRPNNOPU[aggMLN[\[ZYXV)"
    R"(URNLSRMNLNPUYaeiigXR`^[ZXYXVRONMLLMLNPRV`dggMNO]_][YVWTRPLMKHOIJJMOSWaegkjd`^\ZZZYZXV\abccgiqt|}}}NNQaca_][YVXUQ)"
    R"(QMJIINJKKMPTYPdedb_``aa_]_bfjkllrsw|}}}}OLLN[\\[[YWUSPPMIIGJKPW`dikOOHQ]]]\[ZYXWURPONKLMORZ_dePMN[\[ZXWUSQLIMJIH)"
    R"(IKMSW_cgig[W`][YWVUSQNKMLLJKKLPU\afgQQP\]\ZXVVTRQLLIFIHIIKLQV_c]egb_]][]\ZYXX\^`cdefinu}}}KKN^a`][YXVWTPQNJIIJIJ)"
    R"(JKMPVNadc`^`^_^][[]cddgjknos}}}}IIIHGFEDCB@B@:;7379;:;;<<==NLELIIFHIDCBA==<===>??>>>>>NJLYZYYXWVSPLIMJHHHIKQW_cf)"
    R"(gZTM][ZXWWVTQNJJIJJIKKMR[aefNKL[^\[YVVTRPLLIFHGHIJKOV^bT\eb^][[[ZZXXX[[\`aacem{|}}JKO`cb`^\ZY][WTOJIGIHIIJKOQOce)"
    R"(eb__a`_\\[Zb^ecdfjpu}}}}GIIIHGFEDCACA?@=889<<<<===>KLFMIIHHGFEDC@A=>????@?????MIKVWVVUUTSPLILIHHHIIMSZ_ce\YO\YWW)"
    R"(WWVTQOMMKJIJJJKOU]acNNO^`^\ZWVTTRQOKFHFGHIIKRX`T[id`^[YXYYZXV\ZZZ^_`chp{}}PNTdhgfdca^^\WSONLGHGHGJJLNPgiigefda_`)"
    R"(bc`aacbhihjs}}}}PJJLWXWWVTSSRPNLIIGIHKQX\`dPMFNXXWWVUTVWTQROLKKKKMSW[]RMLYZYXVUSRPLIMJFGGHILPW\`aUTN]\ZZWVUSPMKN)"
    R"(KJGGHIJOVZ^_RSTbedb`]]ZXVTQMIJFGGIIKPVZY]khgd`_`^^]ZWX[[]\^`clsw}}PPUgkkkihgffc`\YTOJKGGGHIKOSjmnlkjjhfba_^]]\ba)"
    R"(cfipy|}}ROKMZ\\[ZYXVTRPMHFFHHKPVZ]^TQJN\\[[YYWWVTQQMLLJJJMSWZZHOP____^]\[YVRQNHFFHHKOVZ\]YURa`_`^^\[XURQNMIGHEIM)"
    R"(RW[Z@BPdikihfecc`_\YTPJGGHHINUYRYlmkjihggfddb`_\\]aabimwyz>?BTWXXWWWX`bba_\XTOIGFHHJNAVYYYZdgijhggecd`_adfgowy}})"
    R"(PLOKJJIIIIIIIKXZZYXUSQRZ_dfQMMMF>DBA@ADFKTUVWWVTRQQRTWJJJJJKKLMNQYZZZZYXVTTVY^aegONSQHBGFEFJRSTUUVUUTTUVYY\^NKKK)"
    R"(LNPSZ[[ZZYYXWUSSTZ\adghOLWWPIMMSQRRSRTTSRQPSXX\]``SLKLPSYZ[ZYYXWVVTRQRV\_cegiUO][SNUSQRRPNNNMLKIIHNSW\^_UQKKMQZZ)"
    R"(YXYYXVVTSQPMMOT[_deVWf_Y[]ZWUVVUTUTVTTV[`ihmrrPPNJJNKKVX[\WTRKMK@=<===<<<RSie`OSTPMH?@C=77:<>>>>@BDFRRQPKMWY[[ZX)"
    R"(VSPPOMKJIKKJKNRTTfpm_VPKFB?@?>>???CEKPVZ]aSTUSQQ^__^\YWTTRQKLKJKJJJJJRR]nhVJB?<84122066675<CJQWWVTSSSVfijjgecaa^)"
    R"(YPNLHIJJKKKSTge\QE>92($####$(+/369<>@APOKKJJJJJJJIJLXYYXWURPQW[`dNOMMG?DCA@ABDGSTUVVUSQPPQRTOOLJJJKLLMOXYYYYXVUR)"
    R"(RTV[_beOMQSKBEECDGQRSTTTTTRQSUWWZ[SOJKKLNQXYYYYXWWVTRPPVY^adeRNWVNFKKQRPPQQQRRQPOOTVX[]^ZSQOMQXYXYXXWUUTSQPNQW[`)"
    R"(adf[U[VNJVSRROONMNMJIHHGMQTWY[\XPMKNZ[YXVUTSTRQPNMLKNV[`a[Zb_Y[_XTRPPOTVTVVUWX[cfhmn]ZXRMOWXXWUUTRQQOMLKKJJKNW[[)"
    R"([hd`ZVROOKJHGEFFHJLMQUZ`be]ZYWPP[\^^\ZWTPOMLKHHIIIJJLYY_ej`XRLHCA><?>@ACFHLPTY__][ZZYXeggfdb`]\XVOOMIJIJJJJYZfrm)"
    R"(`UNGC>74210--147<@DHMOQMLKJJJJJJJJJLWXXWUSQOMQW^aQONMG?ECAAABCFRSTUUUSQPOOPRROJKJJJJKLOWXXWWVTSQOQRW[_aSOQQI@EDC)"
    R"(DENOPQRRSSQPQRSTWXXPKKMLMOWXXWVUUUSRPNNRTY[`bXRTTKIKJQRQQQQPQQPOMLOQTXZZYXQLLNXYYWTSRRSRPNMLMRUZ]abVXZXQKUTRQOOM)"
    R"(JJKJGFDEHKQUVVRQUPLMWVUTSRSONNMLKJIJKRU[]SQa\XXYTQPPQOMNMQPRTVX]ghmmWPOUPNYZ[YXVTRPPLJKHGGGHKRTQScdmb[XTROMJGFEE)"
    R"(EJKLMSY^bcONIIRS`bedcb`]YVSOMKGGGHHHJKJ^cmh`[WRLHEB@??@ACEHJMOQTVOLKKJJJJJJJJLUVUTRPNOLOSY\WOQNH@EDBABCDGPQRSSSR)"
    R"(PNNMNPVPKJKJJKKKMVWVVUSQPMLOPSUXZWSPNIDGEDDFNPPQQPPPPOPPQRSTRWQOLOMNXYXVUSQPPPMKKPRUWZ\MWWSMEHINNMOQQNKKMLLKNOQS)"
    R"(SWPUYSNMRSSSQOPOMNLJJIJQRVX[]NS^YPJSOMMLJGEFEECCDCILMQTUMNRVQOYYYWVVTQNLKJJGFHHOSWXOYd`Za]YWUSTQPOMOPOQTX\abdeMM)"
    R"(MQVUbaa`_^][YVSNJJHGFGJPRLNbb_fda^[XVSPLIFEDHFLQSX\\\VPNKJJJJJJJKLUUUSRPOQOPRUW\UPMHBFECBCDFHPQRSSSSQPONNOYVQLKJ)"
    R"(JKMLNZZXWVSOMLMPPQSVWRWUPJCFEDDFOQQRRQONNNOOPPQRMMVSMJJLSTSSRQPOONKIIOPSTVXML[XOHGGNOMMLKJKLKJJJKMPQQSQQ[ZTPXYYX)"
    R"(UTSQNLKJIHHNPSUVWRVcaWQ[YWUSQNLJIGEECBDIJKNQOOOWVUaba`^]][YVRMJGGGHMPSTPQbb^hgda__^]ZXVRQQTUVXZ^bb][WQNMMMMMMMMO)"
    R"(XWUSQONRQRRTUW\XSLGJGFFFHIMRSTVUTSSRQQQQPWWUPMLLLMNUUTSRRNLKJOOPQSSMQYWRIIHGGHNOONNMMNONNOPPPQPQ[\UPPQY[ZXWUTRPM)"
    R"(IGHLNPQRSPS^`XPOOWXVUTSRPNKKJJKLMOPQRRU\[Xabaa^\]ZWTQMJHILNPQRSRTcb]Yeca^\YWSQPKGEB@@CIIHHQNMMJJJJIJJIIIIKYZZXWT)"
    R"(TV\aeQOMPMB=CA@>>?BEIRTTUTSRQQRSOOMJKKKKLLMOQZ[[ZYXWWXZ\`dgOOMPMEAFEDDEHQQRSSTSTVWXY[]ONLMMNNOQSZ[[[ZYYWVUWZ]`cf)"
    R"(hOKQURMJNMMRPPPRRRRRQRWYZ]_`UNNNPRT[\[ZZYYXWVTSTW\_cdgiVMT\XQMVTSQPNNNLMKJHHLPVXW^VSLMNPRZZZZ[ZYXVVTSPPQV\_deVRZ)"
    R"(b\YYYUSSSQPQQPSPOQZ`eiknUTRMKLPZ\ZYZXXXVTRROOMNOT\`US^ib^YWSMIJIIHJHHFFFEMVZ]`UURQMNLZ[ZZYXXURRQNMLKLKLNTTSbttfZ)"
    R"(VQMHCAA>>>>>>>CHMRTVSTSSPLMXYYZXWZWURJMKJJLJLKKSRZgo\QHA?:4-()'()+-15:?DHJQPKJKJJJJJJJJIIKYYYXVSTSZ`cQOMOLC=CA@>)"
    R"(>?@BEQSTTTRQPOPQOLLLJJJKLLLMOYZZYXWUUVXY^bdOLNPLDAGEDBCEPRRSSSRRTUVWY[SOMKKLMNOQYZZYYXXVUSSWZ]`ceSLPTQHDJIHNOOPQ)"
    R"(QPQPNPTWY[[^\SNKLOQYYYYYXWWVUSRPQX[_adf]SUXSKHTRQOMLJJKKIGDEGORUUZ\XOLJLOXYXXXXWWUTRQONMPW\ab]Z\_ZZZZWSPQQQPPPPR)"
    R"(QQR[`eil\ZXOLJMZ[ZY[YWURQQPNMLMKPX\[[ag`aWXTSNKJHFGFFFFELSVZ]_[ZYWOLJXYXXVTTRPPLMKJJKJKKNYY]kgcYSLGC@?;8842479<<)"
    R"(JNOP[[YYXON^`__^^^[XUNNLKIJIJIKYYZ`qcXOIF?81/./-,-./07>FHKRPLKKJJJJJJJJJJKXXXVURSPW\aRMMPMC>DB@>>?@ADPRSSSRQPOOP)"
    R"(SMJKJJJJKKLMOXXXXWVTRSUUZ^bSLMQMD>DBBBCEOPPPRRRRRSTTVWYRKJKKKMNPXXXWWWVTSPPSVX\_aZQNSQFAGGHMMMMOPOOONOQRVVYYXYUM)"
    R"(LMOWXXVUVUUTSQOMNSVZ]abVZVWQJFVSQNMJIGJIHGCBFIMOSTTQVQLKNXXWWWYVSPQPOMLKNRV\]UU]`ZXUTSPOMMNNMPOQPTQQ^bfiOOOVQLLW)"
    R"(XWVTSSRPNJMKJHJILRVOPZd\b\XUQLJHFDDDBCDFGOSUY]POOOUQM``_^]]YWTSNLKJHIHHHKNOZf`h`[VRKFD@;98747549>CGKWOLKKJJJJJJJ)"
    R"(JJJKVVUSRPSOTX\YQNOLD?DBA??@ABDNPQRRQPONNOVQKJLKJJKKKLNVWVUTSQOPTRVY\XQMQNFAECBABDLMMOOPPPQPQQSTVXRLMLKKLMUUUTTS)"
    R"(SRPNMPSUWY\MWSTQGCHFEMLKJLLKMLJJONPRUUPQYTNLNVVUTSWTQOPNLKKPSVXZ]PQ]\VLHPMKHHHGGIEDEDDDHLMOSNNRXRLMUVUTTRPPNNJLI)"
    R"(HGKPSWYNNW`YSZXUSRONLLKKMMNORVV]b`MMMPVQO]^]\[ZXWTRMLJJGHGJQSLMXd_fc^\XTQOKGECDEBBBFKOTV_YQMKJJJJJJKKKKLVVUTSQVQ)"
    R"(TVZ_WQOLFAECB@@ACDGOQRSSSSQPOOQTQMKMJLJKLKMUVUTSQPOPTRSUWQVSPMFBGEDCBCNNNOOONOPPQQQRMPXSOMLLLMUVUTSRSOMLLNRSTVXM)"
    R"(P[YSJCHFDLLKKNLKLJKJLNPPQRRQZ\TNMUVVTSRPQNKJKIIMQSTVXRQZ`YPKVSROMKIFEDBBBACGFILKPOOVWSP]^]]][XVTRMLJJHINPTUPPYb_)"
    R"(Xb_]\ZYXURROKJOQSQXZ\]a_XRNNNNNPNNNNNOXWUSRQYUUUXZ^YUQIEIGFEEFHIKSSSTTUUUTSSOXYTQNLLLLMMOVVUUSQPNOSQRSTMNYYTNFIG)"
    R"(FEEFNONMOOONOPPQQQOP[^XPMMMOVWVWTRQNKJLLPPQSTOO\_ZRMMJIQQQOLLKIHGIJKMNOPTSU^]WS___\[ZWUTQLIHJKNPQRSST\d`XS_^[XUS)"
    R"(RQNKGCAABCGIHK)";

}  // namespace

extern const MoeFit kMoeA100Bf16;
const MoeFit kMoeA100Bf16 = {"A100-SXM4-80GB", "sglang_fused_moe_triton", KernelDtype::kBf16,
    {5.933e+04, 0.4398, 1.163, 127.6, 0.5817, 180.4, 0.5621},
    {{0.1408, 0.1408, 0.1718, 0.1341}, {0.377, 0.377, 0.4128, 0.3679}, {0.2397, 0.2397, 0.1912, 0.2494}},
    kGroups, kResiduals};

}  // namespace chakra::laws
