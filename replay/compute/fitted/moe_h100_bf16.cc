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
    R"(PQSNMMMLLKJJJIIHFC?;62-,,-.LNQKDKJIIIJJJJJJIGA=;853211EFHLKLKLQRRQPOOOPONMLMNOOOPAHKHDHHIOPQQPPRRPPNMNOOOPPP>BFI)"
    R"(NMQRRQNNNLLNONNNNNOPPPP;JMKFKLKMNNLLJJLMMMMMNOPPPP;:@EGJHHGHEEGHMMMMMNNOPPPQQ?IMIGJGFEDDBAADGIKKKLLLMMOQ:::AENON)"
    R"(LKJHGEEGJMLMMNNOPPP<HLLTROLKKJHGILPTWY\Y[^`bdd:::9@KLMNNLIIIHGEEGLLLMNOOP:=HQQOLIIHGGFCDHLPRTVXZ]_bb99:;9?@ABABD)"
    R"(B@<<?BBEGKLMMNO9;CDC@>=;98;=<>@CFILORSUVXX;<<::BDDEEFEDDDCA=>AADGKLMN<CCDDA?=;955789=@CFHKMNPRSSAIKMLMKKJJJIIIHG)"
    R"(EB@<9742112BJNJGKHHIIIIJIIIGEBA?;976555<DGJMLLMMLLKKKKLIIKJLMNNOO6DGE@EEFHIJJKKMOLIJLMMNOOOO89@DFHLLLKGEDEFFHLLL)"
    R"(MMNOOOP:EHFBFJKKJGECCEFFLKLLMNNOOP889@EMLLKKHGGFEFHLLMMNOOPPP9@EEENKKIIIFDCBBFIIJJKKJMLL7777=GIJGGIJIFEEEEGMLMMN)"
    R"(OOO8>CDGKKJIIKKJGHHKQVW[[\^_ab77766=>????;<>>?>BBEFJKMMNO79;BA??>>?BEDCDEHJLNQTWZ]]]55567>@ABBBBBA>=>?<?AEGJKMM6)"
    R"(7=BBAA?=<97788:=ADHKLNOPQQ66778ACCDDEDDEEEC??@=?AEHKL7ABBCBA@?=977778<?CFILOQTTT?BILKKJHIIJJJJIHFDA@>><=>>?@FKJE)"
    R"(JGFFHKKLJKMIFEGGDCBA@@77>CCDCCGGFFFEDDDEGKJLMNOOO8ADB?C@@EFEEEEDEEGHLMNNOOPP89=BEHMOONKIIHHGEFINMMNNOOP:AECBGLMN)"
    R"(NMIHHGFEEGMMNNOONN879<?HIJLMIIIIHGFFIMMNNOOOO79ABCIHHIJKJHFDCA@EIHHHJIII67776=?@===>@?BCEDDEHLMNNOO799:?@??AADHG)"
    R"(HHIKKOSUX[^aaa56667?ABBCB?@AA@;<=ACFILNNN68:>BBB@?@@?@@?@CGIPWY[]^^^54446?ACCDDEEDAAAB==>ACFION67@BDCDCA@?@?<<;>)"
    R"(AEHLOQSUUUMNNMLLLLKKKKKKJIGDA=9721,-*NPQMFJFFFGIKMJKLHGFC@;85310ILONLMNOPQPPPNNMIF@:540/--+LRWMHLKJKLJLMLMMHFA;7)"
    R"(5321..LPNONQSOPQQQQNMLE@:511/-,-,QX[TJRPIIJLLMJIHA<710/-,+**MQPPNMMMLLMMMLGDA:62..--,,+NZ^YROOMJKKLMIFD?;8531244)"
    R"(67CCKOLOONMLKLLLLNNONPPQPQQQRDO[YYRNKIIIJKMPRTWWUZ\\\\\[EBCQYXWWVUTRPMLKKMNPOPOPQQQCQXX^XSPLIDBBBBBCFIKMOSSTTTAB)"
    R"(GU^___^^]\[YVROKLNNOPPPPPBNZfc[VRNJD@=<=>?DDEHJMPPPPCA?@COMMPSMMTMJJRNLLMPOOPPP?BPTKG@@9>;85458:<?BEGIJKLLLMNNLM)"
    R"(MLLLLLKKJJILD?;:7>982LNQMGJGGGGHIJJKLMOIEB=B@=:8BGJMMMNNOPQRRMLKIHA=9832010DKQMGLJJJKNPQJJIIGA=9853322FKKNNPPLMM)"
    R"(MMMMLKEA>95412110JPTQMQPKIJLKKJIIB?:652120//?BGLKNMMMMMMMKKMNMNOOOPPPPP>JVTPPMLJJIJJKKNQQQQTXWWWVX<?BKKQRQPOMMLJ)"
    R"(JJILLLMNNOOPP?ISQXVROMKIHGGFGHNNQTWWWWWW;<>MWXXXWWVURPOMKIKMLMNNNOP>IUb_YUSPMJGFEEFHJJKOPNTVXY::;?IEHIKEGIHNJHGH)"
    R"(JIJMLMNNO==JLHJJGGGDAA@@@ACBDEHJMMMN;;<;>FHHHHIIIIIHGCDEGIJLLMN=FHHGDB@=;74468:<>@BEGHIJKKEKMNMMLMLLLLLLKJIKD@==)"
    R"(:8453KMOMHJHGGHIJLKKLKLHEB?<:987<BGJKLLLLMMPQNMMIGC@<<87554;ELKFLJIIJKNNLMMHHD@>;:8866:<EIJKNNNNNMKLKMLPPQQRRSTT)"
    R"(T=FPPLKLLKKJIGGHIJMMNNQRRRQR<=DJKQQQRQPPOKKIJMNPQRRSSTT=ENNMTRPPOONMKJIJLOSSWX[\[[;;;DJSUUUSRRRQRQMJKORPQRSSS<AM)"
    R"(OYXVTRQQPPPMKKLLRTVX[^_`;;;<CIKIGOMNKLLMJMLJJMNPQRR;=ELKIGKIFGLMLJIILNQRTYYYYY99;=DFFGGGGGGGFECCDIHIJMNPQ:;=GGEC)"
    R"(BA@=;;==>>ADGIJKLMMNHMUY[^\[[[ZZZZZc^e_bageebdcEQWXUYVVWWY[]bdeehjkjihggffACMTVXYZ\]]]\\[ZZ\\bbdceeefAJTVTWUVYYY)"
    R"(YYYYZ\_abcdefffgBDLTWY^^_`a`^^\[[[]ccddeeffBJSTUX\[\\]^\[[[[\_bbbcdcddAADOV^aaaaaba__][[\bccdeeee@HSTU`_^__a``^^)"
    R"(]\Z_cefijmln@@@BHPX]\[[]\\]_\[Z\]abcdde@DLN[[Z\\\\]^^^]\]`eeimnprs==?BJLOOOOPOMLLMSVXYZZ\_acc?@CMNMMMKKKOSUVWWZ^)"
    R"(_beghjjjIOX\^_________]\ZXXbadbeeffJS[\Y]ZZZ[]]]_`acccceefgghh@BJTX[[\^____^]\[ZZbbecfffgBJRTUYXX[\\\]]]]]^cccef)"
    R"(gghhBCHOV[_`abcc``^^]]]ddfdffggBFRUUZ^^^_``_^]]\\]bbcdefff?ABGOZ\\^]^``^_^]\]_ddefffg?BFOR[\[[\]__^^^^^`cglknlpp)"
    R"(>>@BELOQRPPPQTXYWWY\]^cdffg>ACEMNNPOORSYZ[\]```fkmoqqqKOV_ceddddddcca`_]\baecffhiJR[^_c``abcbbbbbbbbcggghijj@BGR)"
    R"(Y^^_`aaaaa`_^]]aaeeggiiADPUV\[\^]^__````aabcfgiijjACGKRX\^_`bc``_____bbgghhiiADIQTY\\]]_``_^^^__`beehggg?@AFKPQR)"
    R"(RTU[[ZZZ[]_aacfghhi?BEGJPOOPRTWZZ\]^abbehjloooTTOONNNNNNNNNPXZZZXVRNJLNPPMOQQKCHGEEEFGHSUVWWVTSRSSRROLONNNOPPQSW)"
    R"(XYZZYYXVSPNOPQPJKXSKEKJJIKPRRTUVWWUTSSRRRRLJKRPPRTXXWWXYYYYXWUSQPPQRQMNWZNIPORQQQSTUVVVUTQQPPPPQFLKKMSVVVUWXXWWW)"
    R"(WVUTRQQRQRQHPUYWNXUQOLKKNPNNMJJHIIILLMEFLJKMTUVVXVRPPSURRQQRQQQQQENZ[VOQQNOPPONRUUWX[XY]]]`cDDCKJINNNMLJHGHLKPOO)"
    R"(OPPQQQQHM^^_UQKHECCEFHIGIKLOMOONMMCDBDKLVWWVUTRPLJIKOSPPPPPQQGEV[bYSNJE?<:<>?@ABCCDGILNNHHIFJP]___^\\ZXVRKIMMTQP)"
    R"(PQQDHWfd[SMIE>8410035558;=?ABBDCACEINNONNNMMKKJNMIGJMTQQREJNOKC<:8;2/*'(*-0358:<>??@NMNNNMMMMMMMNOWXXXWTQNJKMNOO)"
    R"(NPPJCHFEDDEFHRSTUUSRPPQQQQFIMMMNNMMLLMMLMMKIE?;510-,,GJRQJEJHGEFFHGIJHHC>;853220=GILPNNQUUTTTTUVVUTSQPOOPQP>JORM)"
    R"(GKMPONMNNOQRRQPONNNOPNBHJJLNSTTTTRQOQSSQQPPPPPPPQCHSSNHLKIIIIHHHILJHGIHJIHLL@?@HHJPOPNNMKGHKKNNNNOOOPPPABSURSROL)"
    R"(KJJHIMNRQQUWWX[\\[A>@DHIQRSRPNMKJJGJMNNNNOOPP?@SW]XUQMJGEEBADDGIJLMOQRRRA>@?>IWYZYXWVUQOMKIKKNNNNOO@APY`[WSPLGCA)"
    R"(><<>?@ACDEGHHI>?>==@DEHGLHHHHKMJHIHKKMNNO>=AIIJFECE@;97422369;=?ABCCPNMMMLLLLLLLMMTUUTSQPNKKLNNPONOJCGEDCDEEGOQQ)"
    R"(RRQPNNNOOP;DIKNMKKKKKJJIHHHGD@=:652119DMOIFHFCBCCCDDEEECA=:86432<BHIJONLOPPPQQRPNOPNNNNNOOO=DNNIEGGFEFGIJKKKKNLM)"
    R"(LMMONO@@DJJKMMMLKJIIIKLNNMMNNOOOO@AOPMINKIHGECCBBDIHGHIHHHJH==>DIJRSRQQPOLJIHIKNMNMNNOO>?MQPVURPONNMIIGHNPSQUXYX)"
    R"(XX<<<=@IUWXWWTSRQPLJHHJMMMMNN=>IQUYXVRQONMJGFEHKLLPQQRTT;<<<<=EEJIGKLLLKMNKJGIJLMNN<<?DLMLIIKFGFCA?<>@BDEGHIKKMO)"
    R"(NLLKKKKKKKKLRSSRQOMOLLLNNCOOMICGEDCDDEHNOPPPPONNOOPQ<>DGIKJIIJKKKJIIHECEC>=?=<<;<GJHDDAABEFFDEGECBGFBA@>>=>>DHHH)"
    R"(GHJKKJJIIHHJKMMNMNNNN=>JMIEEEHHGFGFEEEHJMMLLMNNN>@@FKLQRRRONNLLKIKKNMNNNNNN@AMONKSQPONLIGFEDCEGGHIIGII=<<>FLWXWV)"
    R"(VVURQPMKIJKNMNNNN=?MNNWWVUUSUSQPONMOQTUWYZ\[==;;;?KIKHKHMOQSPOMIHIKLMNN<<AGILQQMKKMOMKIHECFILNOQPPGLPNLLKKKKKLLL)"
    R"(MMLLLMNPMOQSSHMRPKFHGFFFGHMHGIKNRQOPQRST>?EIIHGGHHIJJIIIHHHJLNNPQRR=?ILJEEDCCDEEFFFFGHJMPPQQRR>>?HJIHJOOOOOONMML)"
    R"(KKLPPPQRR=?LMKHGHMMMLLLKKKJJLMPPQQQQA@ABJOVWXWUTTRQPNMLMMPPQQQQ?@IONMWVVUURPONLJHFFGJKKLNM<=>?AGNOSUVVWTSSRPNLKM)"
    R"(NOPQQ<>AILVQTTUVWUTRSRQROSVWZZ]]IKPRPONMMMMNNNMLLKJJKPPSVXZIJSTPMLJHHIJKMJJJKKNQUWWYZ[>@CIMKJJKKLOPOOONNNNORSVWY)"
    R"(Z>AJMNJJHHHJMMMLMMMNOQUWXXYY?@AFJLLMTUUUUUTSRRQQRUVWXYY<@KOMJIJQRQRRRRRQQQQRTVWXYY>?ACEMUXXXVVVVUUTSSRSVWXYYY>@B)"
    R"(ILNVWWWWVRRQQONNMNRRTTSTPOOONMMMMMMMMMMMNVXXWTUPQPPRQQROGBFECAAABCDGQSTTSSRRRRLLMNNMMNOOPPQSXYYXXWVTUQQPPKLPRPGD)"
    R"(IHGFGGJOPRSUVTSSRRRQMLKNONPQRSUXXYYYXXXWUTTQQQQPLPWQKINMLMMMOQQRTTTSRRQQPQONMPTSTUXXWVWXXWXWVUTSSQQQRVRT[YQPTSPN)"
    R"(MMNNNNNNLNMKKKJKIONPSS[[YXVTSTUWUUSSRQRQQQQHVU\ZTRTSPQOLLOPTSTRRRUXUXX@BIRVPPMLMW\\\^b`PFFB<9-**+?BRaZSJLNROOPXX)"
    R"(>?;;30(&'')+DDFSXYUTSRRQPOMMLMMPNOPPPPQBFR^\\TOKHC?=<:<;;97:@AABBBHIKVW^]\[[ZZXWURONKMQQQPQPQAEP[g^VPKF>850-,.03)"
    R"(346789::ABEVZbdcccbba`_]ZUPNMNOQPPPACUge]UNID=60)&$%'(*,.02344RPOONMLMMMMMMMMMNWWWVTWQRQQSQQQNGBFECAAABCDFQRSSRQ)"
    R"(PPQQMKKMNMLMMNOPPRWXWWWUUSTQQPPLLMPMGCGFEEFGINOPRSRSRQPQPQCHILNLLMONPQT`dd[\`WUJHEFFGFHLTSKGKJFGHJZ_aUX_TSHGFGGF)"
    R"(ALNOOPORXYXUTRRSUSTSRQQPPPPDOPSSLILPONNMLIHJKJKKIIIIJJFKNQPOQQQQRQPOPRQQPOOOPOPPQENTVUQRQNLKJHHIIMOQPTUVWUX\CEMR)"
    R"(RPVVWUSSQPOMKLLONNNOOOOCCPXXXWUQOKJIECBAGGIKJIMMMMBCEPW]\[ZYYXXVTTRNKMLOOOONOBCNXX_[WSQLHFC?<9:<>>???@@@BCDNS^aa)"
    R"(a``__^\ZXVRNLLMPOOOBALWda\XTPJEB=:7234556689::VSONNLLLLLLLLLLLMTUTTTXSRPOWTQPOGCGECBAABCDFOPQQRQPPPQGLJJLLLLLLLM)"
    R"(OQUUUTRRRQSQPONCLMNOLEHFEDDEHKLMNNPPPPONOOAIMLLLLMNOQXXXUSQPQQOOPOONNAJNPPJFMJGGKKNNNKJMNNNMMMMMDLNPNLLMOOPPPPOO)"
    R"(PPONNOONNNOCEOSPKGIJIHFEEDBDGGGFGFHHIIEFIPQPTTTTUSQQPOKLMNMNNNNONEHOWWSXVTSRPNMMLJNNRSRRUUWXCCENRR[\\[ZYXXVTROKK)"
    R"(LNNNNNNCDMUX`]\ZWTRQMKKFBEFIJIKHHHBBBEN]``a```_]\\[VSOKJMONNMBBHTV`_][XTSQMJFA<8:<>?@@CCRURONMKJKLLLLLKKLLKIGFFE)"
    R"(HGGLVSROGBFDDBABCCCEGHFGGHHGFFBILKJKLKKKLMNOTUTRPNNORQRQPBINMLHEHHIHHGGHJKNLKMOOPPOPBCMONJJJLLMNNNMMLLLMMMNOOOOC)"
    R"(CNRPIFHHFGGGGEEEGHKKMLMNNNCEKPPLKLQRRRRQNMLKKLNMNNNNNDFMTSMIKQQNNLLHGFDDGJHIHJIIEEFLRSZ[\[\YXWVUQNLKLNNNNNNCHNUU)"
    R"(U^^\[ZYVUTROMMNORSRUVWABDGMS_bba``__][YWQMLLNONNNACJUV[``_][[YUTROJECGHIKILNSYWRMKJJKKKLKLKKJJLJIJKKNNPPUWSOGBED)"
    R"(CAABBCDDGKLLNPPOPPEKNONMKKLLMNOPLKKKLLLLPPRSTCDMQQLHIHGFGHJDDEFHJLNOQQRRDDGPRNLLMNORRRPONMLKLMPOPQRDEMUVPLLLLKOO)"
    R"(NKKKKJJLOPPPQPBEGNQQOQWYXYYXUTRPNMMOQPPPPBEKUURNPWWVUTSQOMKHGGHKJJIKDEGJPU_abab_^]]\WTROMNPQPPPDFKWXXbca_`^\\[YX)"
    R"(VTRQSUXY\[UW[\ZXWWXXXXYYXXWPNNOQYVX\]TU[^\WTVTSQQRTTVWMLNORTWWZ\EGLRWVTUVVWXXXRPONNMMMOPSUVDFMVYWSTSRQRTUMLLLMMM)"
    R"(MORSTUBDIRWWVWXYZZZYVUTSQPOOPQSSTCEKXZXUWWWWWWWTSRQPOONOPRRSCDHMQUVX^____^ZYWUTRQPQRSSSCFJWYWTU]\[ZYYWTSQPNLKKLN)"
    R"(NNNONNNNNMMNOYZZZYXUSPKLMPOQQOQQJCJJJKLNYZ[[[ZXVUTSSSSSSLLPNNOPRXYYYXXXXWUSQOOPQQRRMTUMDLMOVWXXXXXYXVTSSRRRRSRNL)"
    R"(MQORXXXWUVWWVVUTRQPPQSRRRQVZTJPUVVUTSUVVVTRSRQRRRRSRPNLLOWVVUSPRTTTRSQQQQQQRRSSTXXTNTTRPPNKLNNMKNJKNONNPRQPPNKKN)"
    R"(NMKLJIKKOPOOOPPPPQRSSS^^YWQLJJKLQTVXXZ]]_``acdfgNONMMVWUTRPLJIJJMPOPOPPQQQRQ^bh_VQLJIIKLSSRVYXW[^_acddQPPPQ^`_^])"
    R"([YVSNJILLQPQPPQRQQ[lkcZSNJFEGHJMNMOPRSUWZ\__MMOOSaededca`]ZWRJFJLPRRQQRRegd`XQLGB:57:=@CFHJLNPQSSSMNPNMMMLLLKKJI)"
    R"(IGEB>941-****NPRJCJIIJJKJKKJJHFA<:6520./MKLNMNMNVVVVUUTSSQOOMNNOPQPMPQKGKIKSUUUUTTTSRQPPPPPQPQMMLLQQUUUTSTSONPQO)"
    R"(OONOOQPPPNSULJOQPRRRQROMNPNNOOPPPPPPCKKJLQOMLKJKKKOOONNOOOPPPPPJVWSIOMLJHGEEFJKKHIMLIMNONMABIKLSTSQPNLLIHILNMONO)"
    R"(OPPPQFYXUZWTQPOMLLMQSXYYY[^abceeEECIMZ[[ZYWSRPOMKKKQOOOOPPRFT[gc\YUQOOLKJIMQTVXZ[\\[[[CDAEK[^^^]\[ZXUROMHJKMNNOO)"
    R"(ODLXd`[XURNJHECBBEHKNPRSSTUUECBEFNOOOOONMMPKHEDHFKLQPPOFNOMLGC@>>7679:<?BEGIJLMNOPLLMNMMLLLLLKKJIHEB>:750////MNP)"
    R"(JGKIIJJKJKJIJGEB?=864322JLLKMPPPRRRRQQPONKJLLMPOOORKONFAIJMPPPPQQRRNMMMMNOOOOOAJLKKLOONNLKJIIIJMLMMNNOOOODRRNFHL)"
    R"(LKLKIIGGHHMMLMNONOOOCDKLLUTSQQNLKIIIKNMNMNNNOOODSUQNVTRPONJHEEFHJJLJJMMOMN@@AHMYZZXXVUTPMKIJJNNNNNNOOCRUU`][YXWV)"
    R"(USPPORVYZ[\]^^_`@@AAK[]^]][XXWWTPLIIJLMNNNNAJP[^][XWVVTRNKIEMTX\WWWVVVA@@@@JLLNMMLLKHGGNLJHHJMMNNACOPOLJIGEIKLHG)"
    R"(ECEFILORVZZZKLLMMMLKKKKKJJJIFDA?=;9:::;GMNKEJIHIJLMNKKNJFDEEA??=<<AIJIHIHILLLKKJIHGHIKJLLMNNOAONICEDFJJKKJIHHGIJ)"
    R"(MMNNNOOOBCKLLMTUUTRQONLKIHJNLLMMMNNDRSNJMTTTTRPOMLJHHJMMMLNNNN@BGKOZZZYXVTRPNLKJKNMMMMMNNCPRPP\ZZXWVSQNKIGFHKKJJ)"
    R"(IJJJ@@?BLZ]^\\\[[WVSPLIJKLMMMMMBGOR]__]]]\\[WVTQORUX\Y]^_aAAAAAJMOONMJKOWWUSOKHJLMMNMABEPQNMKPPWXXUSQMHGOSUVWXXX)"
    R"(JSROMMLLLLLMMLLKJHGJKLLOPQQIUUOJLIJJKMMMMLLKKKLNPPPQQRBFLMKKKLRSSRRQPNMKIIILNOPPQDPPNIJIJQQQQQPONMLJLMPPPPQQCEKN)"
    R"(PRZ[\[XWVUSRPMKKKMNOOPPEQTQOS[\[[ZWVUSQOMJKMONOOOPACDKR^____\[ZXUSQNKLLNNNOOOCHQSS_^]^]\ZXVSQNJHHKLIIHHH??@BDMPP)"
    R"(MOWY[XXXVSPMKLMNOOOACEGPPOQV[\]\\[ZXTTVWZ]_``bMRUUSRQPQQQUUTSRQONNMPQTVWYMXXUSROOPQSUUUUTSRQQQTWWWXYCDIOPQPQXZYY)"
    R"(XWVUTRQPOQSUWXXDQSROQOPXYYYXWVVTSRQQTUVWXXCFGKQU^`aa^]][YXVTSRQSUVWWWDGSTST]_``_]\[YXVTSQRUTVWWW@BDFHRWY]^\\\\ZX)"
    R"(WUSRRTUVWWWCEFHMSXYX\][ZZXVTQPMORQPRTUPNMMLLLLLLKKKJIIHKDE=@>AABASPPMFJGEEEEFGFGHLMIGBDDEEDEPONNMNOOONLLLMMMIFA:)"
    R"(5640--,RPSNGMKJJHGGHLMNJIC=:7420/.ORTQRQQPPPQQQNLKE@:4240.-,,RU[RMQNJKJLNOKKJD@:6521/.-,SVU[WWRRQOOONHEB<730-++-)"
    R"(+,+VZ]]U[ONMJJKKECA:631/+,,*+*X[^eb^\\\\\\[[ZYXWWXVVWXXZYaaig``ZYWWWWVVTUTSSRRSTVWWWY^`dc\bddaknneOFB<9+)(***'([)"
    R"(agbZR\`^_mnlOJFBA202357777flimd]ZZWZYZXYWWWVUVUUVWVWXcjuq^VPMOQRUUWY[[XZ\acdgghheccd_WTTRTSUVXWUUVUUUUUUVWVeiqk[)"
    R"(KFFEFGIKLLNOQSUWZ]]]^^ccdic_][XWUSTVUTTWVUUUUTUUUbfhdVC=<<<;=?ACDFFGJMPSTUVWQONMLLLLLLLKKJJIHIC?:953/1/SQQMFJGEE)"
    R"(EFGHHIJIIFBA;86421NOOONNOPPQOOONNMIFA:6331-..PQTPJMKJJKIKLLMMIGA;85410/.LOPQRRTVVQQRQPONF@;520///--PRVSOSRRRLKMN)"
    R"(MMLD?:6320..--SRUWXY\][[ZZ[ZYYXVUTSSRRRSTUT]YVZ[[VVVWXYXWVVUSRRRRRSSYYY^_]XYZZYZYYXWVUTTSSRRSTS]Z^^Y^TRTUSTTTRRQ)"
    R"(POPPOOOPPPZbjefaertocdgfWRM=9/-3+*+-*Zgpcbb`nl_ajhYUSC=5667868;7`cad\TSUSUSWVVTTSSRSRRRRRRR]ald\RMKJLOOQTSRWWUWY)"
    R"(\]_```[\Z^`YWURPOQQSSSUUTSRRRRRRS]bhi]NFFDGFGJMNOKNPRSXZWYZ[RQOMLLMLLLLLLLKLJKE@=<:9586SSSMFJHFFFGHIKLMKLIC@==:9)"
    R"(87OOONNNOPQQRRSQPPLIB=9975364PRSOIMKKKKMOQOPPLJC>;974544NPRSQRTVXY[ZZZXXWVUUTSQQQQQRRWUOSQQTUXUWWWWWUUSRQQQQQQRR)"
    R"(SVUWZ\XVXYYWWVUTSSRRQQQQQUTWVOYXZQPRVWUTUTSRQQPPPPPQVWW[[[VUSTTVVTSSSRQRRQQQQQQVXZ[V\ROMMMOQQNONNNNMNNOOONW]`a`T)"
    R"(RONPPRUTRQPPOPPPPPPPPT[^_]VPMLNPQRTSUVXZYZZ\\[^`X\\__YWVTSPQQRRSTRQQPPPQQQQQY`^]WQOLLMMPSRRPSU\\]]]^__TRPNLMMMMM)"
    R"(MMMLKMJKFB@B@>:<:UTSNGKIFFGHIJKLMJKGFDA?=<;<OOOQONNOPQSTUWWVVVUXWXTUUUUOORTKMJIJLOPSVUUUVUUTTTTTUTQQPQPPRUWXZWVW)"
    R"(WXVVUWVVUUUUUSRSOJONQSTWSSTUVUUUUTTTTTTUMRRSRSWZVUVUUUUUTTTUUUUUUUUNTUSOTUXPPPRRTSSSSSSTTTTTTTMSWYWWRQQQQSSWUSSS)"
    R"(STTUTUUUUKSYZWYRNLLKNNSQNNOQQPPRRRSSMRX]^YYVTTRRTTUTTSRSSSSSSSSKS\[Y\XVTSSUWXX[Z[Z^_bacabbcccdcccccccccccjnedmlm)"
    R"(ikjkidced]a^]]^`bdhjmpiihhhhiiiiZ\^cdcddfghjklgedddjikgihhgY\``\b`_`bfjmpfeffgggggggggS[`cdfghkmohggdccddhhhgggg)"
    R"(fS\cb^dedgjnddeccegfggggggggMX`eefikfddedecdeddgggfgggfLXcdcfijba`abcbceeffeffffggLR^fiifefeeeefdeeeegfgggfffMXb)"
    R"(efkfcbba`ab_`a`ccceeeedejjklnnnnnnmmmmmsrc`ihkhkjkjjkmkhmjhijknqtvz{ihhiiiijjjY_dilopqrrrstthdcbcigighhhgT_fhekj)"
    R"(jlmptwzgeffhghggggggP[diklopsuujhjhfeddhhhghgggN[gkillmpsufdhffehgggggggggMT`hknqrkihhhgdggefhhhgggggMYdhinqqhff)"
    R"(fffbdffggggfggggWQOPXYYXWVUSQQYTLMMPPUVXZ\][VLTZZYXWWWVWWVTTTUVWYXYZ[\[XT\\[ZXWTQNJIQOMOPRRVVX[\^k`W`][ZYWURNMNR)"
    R"(RQRSTUWXX[\]ZZ[cdca`^^[WSNLKIOOPPRRTUXZklnhecba_]ZXVX`ccehjhjmppuu[[^kmkjhfda`]XXTOLMOPQRSSTU]mnmkhgfcc`^]]ahkjk)"
    R"(nqoquu{}NNMNMLKJIGEC@=:62+$%%%&'''(SSKRNLKJIHKKLEBA51-,++*)((*URTZZYXYXVSOKIONMNOQQSSTUVXaYR^[YXXYWSOMMONOOQRQST)"
    R"(TTWWVUT]^]\ZWWTRRNNLINNOPQQRSTU_hib_\[YXXWWWW^bcbcffhiilnqVVYhkjhgecab^YVSPNLNOPRRRRRXjlkjgefb__^__cfiijmqqossvx)"
    R"(LNNNMLLKJIGEC@=964/'&()****ORLRNMLMNKJIIFC?:94,++--++*RNMSTRQONMKKIHOMKLNPPRUTVUU]XQWURQNMLKKJLONNNPQQRSSTTSQQP\)"
    R"(^]\ZYWTROJIIINMNOPPQRTWV]fb_]\YXVSSRUZ]`_bdghilklmRSVfjihgfdb`]YTPLJJOPOPPQQRUhkkigec`^ZXY\adfjjjnnoprsrLNPNOMLL)"
    R"(LJGEDB?<895.+/*++++MQORPMLMLNLKJKID>;70,+,,+++PMLUVVTSQPMJHFHGHLMNOPPQRSSWRLYXVUSRPMJHHJJLMLMPPQRRSSPPP]`_^]\[YW)"
    R"(TPLIFKKNNNOOPQRTXeca`^]\[XVTRTYZ```edghjkiOOSdhhhgfecb_\YVQIGJKONOOPPRgjihgfdb`^[YWVZ_fkjilmmqpqNMKLTUUUTSRQPNMK)"
    R"(FFHLMOOPQQQQPJNVVVUTTSRRPNMJLNOPPPQQRR<HKXZZYXWVTRPNMKFGINNOOPQQQQQP\\ZZYXVTRPOMKHILNONNOPQQ:<L]aaa`_^]\ZWUROMHI)"
    R"(KNNPPPQIQ_cbbaa`_^][[YXVX`a_dfgiij88;ILMMMMMMKJIKKMMKJGJLOOPP:JMMMMNNOUTXXX[[Y]_chgjkmhm@KLOY[\\\[ZYYXWUOLHGKOPQ)"
    R"(QQRRPMP[\\\\[[ZZYWVRNLNPRQQQRR;=J[^__^]\[ZYXWUOKIKLPPQQQQ<GK^___^]\[ZYXVTQKIIKPPQQQQ::;FIIJJKKJJJNLMRTNKIKMPOPQ:)"
    R"(?IJJLQQPTTVWY^][YX]adcbdcd9:=JMNOOOPPPONNMKJLPLIHLNPP<KMNOPPQQQQQQV[_]Z\`fgihmppRQOONNNNNNNNNPYZZZYWUTMNOQQPRRQK)"
    R"(CIGEEFGILTVWYZZYWWVVUUMNONNOPPQRTYZ[[[[ZYWUSQQRSSNOVVMFKKIHKRSUVWXZZZYWVUUUUOMPOOQSUZZZ[[[[[ZZYWUUSSSTTQP\YQKPOS)"
    R"(QQSTUVWXXXVUUTTSSTVQNPRVZYYYYZ[ZZZYXVUTUTTTTUXS__SOURPQPPPQQORPOMLLMMLMMKJJMMMNO\^_a^imm_[RM;4,-(''KRedYMOTXWPSe)"
    R"(j\\ZQB>;741055\[XLLMOPTUY[URTVNJGB32()'')\\jh]ONSQJGJG@?@92-&)(*,,,,XXWVPNUUUTRPNLJKNPPQQRQQQRRXZdkhYPIC@>=>?>>=)"
    R"(@BCDFHJLNOXXXXWU`bba_^\YVSOKOTRSRRRRRXZeoj\PIB>73058654359>ACEGGXXXXX[knnmlkigeb^WQLMPRTSRRYbljcYOG@:0)$#$')-036)"
    R"(9<>@AAONPONNNNNNNNNPXYYXXVTTNOOQPOOSRKCIGEEEFGISUVWXXXVUUTTTNMNNNNNOPQSXYYYYXXWVTSPPQQQONWVMEIHGHKPQRSTUWWXVUTTT)"
    R"(SSSOOOOORUYYXWWWXYXXVTSRQQQRRTPVYRINOQQQQRRRTUUUTSRRQQRQYUPNPS[\ZXTRSVXWUTTSRQQQQRRVV][TLSQQQPMJJKMMMNKLJJKOMLHH)"
    R"(KMNQNNUVX[W^a]LGEC;4,+*,*HRabYNMQTUR[\OCDEG@<4455678WWVTONUUTSRRPMKKKMOOPQPPQQQUWedg[WPMKGDEEFEGIIKLMPRTVWUUWWTQ)"
    R"(\^^][ZXURQNLMOPPQQPPQWXbilaYSNJEA?=?>?@@@CFHIJKKWVVVVWfiihgfeca^ZTQNMOPPQPPVX_fmd[UPKD>94112258;=?ACDERONPONNMMM)"
    R"(MNNPXYYXWUTVPONQPRPPSKDHGEEEFGISUVVWWWUTSSSSLJKLMLMMMMNOPY[[TVZRNFBBDEGMKPPIDHGFEFGJX\^SV]SSIGGHHHWTQMNOOQ[\[YWU)"
    R"(SRSUSRQQPPPPPRTWTMFJIOOPQTQONORQQPPPOOPQMTSPNOOOONNMNPQQQQPOOPOOOPPNX[XPKNKJHFEDEFHIIJHIKKGIMIIKTSOOTUTSRQPMKKKN)"
    R"(ONONNOOPPIK]^Y[WTPONMLIJMORTUWWZ[Z[[HHJSSR\^^][ZXVTRNKKMNOONOOOIJabba_ZWTPMKGEDCFGHJLMOPQQGHHJSVeggfedc`^\YUPLLO)"
    R"(OOOOOIJ^hpic_[XSOKGB>=<>@BDEFGGGXSOMONNMMMNNNOVWVUTRRVPPOPOYTQOKFIGEEEGGHQSSTUUUTSSRRRVSOLMNNNNNPZ[ZZXUQONPRPOOO)"
    R"(ORSRPJFLLJIHMNQSTSOOQQQQPPPPJTSPLLLMNNMMMMLMMNNNNONNNOOHVYTLEHHHGFFGGHGKLMMNMNMMMMLLUTQOSTTSQPONLKKMNMNONNNNOLS])"
    R"(ZUNUSPOMKIHGEDFHHHGIGHJIHIITTS]^]\[ZYVTRPMLMNNNNNNNKR``\dc_][ZYWSSQNOTVUSUTUVXJJJOUXeggfedca_]YTPLLONNONNJL^`_jh)"
    R"(eb_][YURNJEGLLMMMMNN\YSNMNNONNNOOPTTTSRPPTPQQQQZYTPJEHFEGJKKLNPRUVTSSRSSRRJSSOLKJJKKLLLLKKJJKKKNOPPPOIUVRLDFEDDF)"
    R"(FGGHHHHKNNOPQPPPHJUUPLKMRSRRQPONLJIJKMMNNNNIMZYRJHIOONMMMLKJHGJMLLMMNNLLMWVT\]]\ZYXVTROLLLMMMMMMMKN^^YT_^\[YVTRP)"
    R"(NJFDGHIHHIGHIIJOWYfggfedc_]\YTPLLNNMNMMJL___kjgfddb`^\ZVSRRRTUYZZZS\YTQONNNNNOOPNMLKIIKROQSUVS][VPKLJHHHIKMJIIIJ)"
    R"(LORRSTUUJRWVSNMMMNORRRQPOMLJJKMPRSTIMYYVNLJIIJNOONNMMLKLOQPRRRJMX[XRQSZ[[[ZYXWTQNLKMNOOPPJM^_ZSQQZZXXXWUTRPNKJLM)"
    R"(NMNOKLOTZ\eggfcb`_][XSPMLNOOOOOKNaa_\hgfec`^\ZWSOLGEIJJIJIOPPPOONNNNOPZ\\\[YXYTTTTVWYPRSMFKIIJKMQY[\\]]\ZYWWWWVV)"
    R"(LNOOOPQRTZ[\\\\\[YWXTVUUVWXNVXRKONNOVXYZ[[\[[ZXXVVVVVVOMPPQU[[Z[[\\\[[ZXVWTVUUUWWQXbYOSVVVVXYYYZ[YYWUUVUTUVVVPNS)"
    R"(VZYYZZ[ZZZZYXVUUUVVUUVWX`e_SZWSSTTTUSTRRQMOOPQSRRSWUONT\\[ZVSSVWWVUUUTTTUVVVUZdea[]XWURSVWY[Z\ZX_acehggiWWVOMPPO)"
    R"(MLLMOPPSRRRSSSSTUVVYekk_RKHIIIJNNPRPPTWXY\^aa`OOPPOONNNNNPYZZZZXWZUWUSUUUPQRMGKJIIJLNXZ[[[[ZYXWVVVUUMMOOOOOQSZZY)"
    R"(YYYZYXVXUUTSTTTOPTQGLLLOUWWVWXYZYXWVUTTTTTVQOOOQXYYYWWXYXXWVUUSUTSSSSTZZTOPWVUVUUVXXXWVUSSSSTTRSYSNNQXYYXVSTTWVU)"
    R"(UTSSRSTSSSS[\]SORSTSTRNMNQQOONLJMOPNOO[YSNNSSQOMNOQOORRQQQRRRRSSS[dd\[WSPMMOPQSWXWVZ]`bccdddZYXSPWWVUTRPNMKLNORR)"
    R"(QQQQRRS[`dcaYQMJIGGFIMQPQRSUVXY[[[RPOOONNNNNNOWYYYXVVYTWVSTTUSQQOGKJJIJKMVXYYYXWVUTTTTTTQNLNNONNPWXWWVUUUTSUSUSQ)"
    R"(RRRRTSOKMKKLTTUUVUVUUUTSRSRRRSWSPNNQUWWXVWUSPQSRQSQRQQQQQYXXPKSQQQSSRSQOOQRROOPOPQOPKTRONPOONMKLLMORQPOPPPQPQQQJ)"
    R"([\TNTPNLKJHHHHHLKLJLKKLLLLIHSRPYYXUTRPOLKKMOQQOOPPPQQO^`]c]XVSQPONKPSWXXZZ^a`_``IJRVU`aa_^\YXWTQMMNPQPPOPPPP`dgj)"
    R"(c]ZVSQNLIGHOQRTWVX[]]]XSONONNNMNNOVWWWVSSXUWXRSSSXTQLGLJIIJLMVWWWWVUTSRRRRRRURNLNRRRQTTTUTSSRNMQPRSPQPPXTRKFMLMM)"
    R"(OOPQTSTQNOPPPPPPPPJTSOLMPPPONLLKJKKLOONOPOPPOIZXQJMONMMLJIHHIKNMMMMOOONNJLTRQWWVUTRPOMKKMNPONOOOOOOK[]XRYVTRQOMK)"
    R"(IGEGGJGIJIILKLIIPUUab`_^\ZYURPMLMOPONNOOOL^a^beb`]\YXVSQPMRUX[Z[\]]]HIIJWgjjihfdcb_]WRNNNPPOONNIUabplheb`^[XTPNM)"
    R"(MMNNSUWY[[_YTPOPPPPPPPRRRQRRSYSRXSUSR`[VOIMJJJLQSQQRRTWVSQRRRRRRWVTOLLLLLNNNMLKJIHJONPQOOOOLYWPIKHHILLLKKJJIJLON)"
    R"(OOOOOOLQWUQQWWWWTTSQONKJJMOONNNNNM\]XSRWWVVURQPOMKIJLNMMNMNMKMVXX```_^[YXUSQMKLOONNMMNMM^_\Yda_]][XVSQOJFHJLKKHJ)"
    R"(JJJJJQZikjhhged`][WRNLNOONNMMLYaapnliggedb_\ZWUVVWXYZ\^^a`[VRQPPPPQQRQPOMLMXUW[YZZYV`]VPQMLMNOQPPOONNPTVWWXXXXLV)"
    R"(XVRPPPQVVVVUTSQONOQUVVWVVLX[YRQNNOUUTTTSRQPOQTVUUUUVMOWZXX`aaa_]][ZXURPRSUTTUUTNW`^ZYaaa`^]\ZXWURPQRRSSTTTMMOW]i)"
    R"(jjiheca`][XTQSSTUTTTTLP``_ljhggeb`\ZWSPMLONOONPPSPPQ[\\\[ZYWVU\WMPORQUVY[]^VTMU]]]]\\\[]\ZWXWVYZZY[\]]VTRZ[ZYWUT)"
    R"(QPPMVROPPSTUWY[]^hd\`\ZXWUSRQRSSRRSUUVVWY[]\WWV_`_]\ZXURPLKKLNOQQSTUWZ[ddida_]\[YWXX^cddghjlonptuwWWYcdca_]\[^YR)"
    R"(PMKKMQPQRTUUUXefecada_^_`_agimmmpqttyzz}OQPRZ[[[ZYXWUTYSKLMPPRRSUWYRUMU\\\\\[[Z[ZWTUTSTTUWWWXXSQSYZYXYWUQOMLTPNO)"
    R"(PRRSTUUWYa]R]ZYXWVVQPOPRQQRSSSTTWVXYSSR[\\[ZUTRQPLKLKNNPPRRSTUUfhg`]]YXZZWZWX]abddhiglmlppSTVdfeca_]\_\WTQMKMNPP)"
    R"(QQRSSVfhgebbba_]^^bgijlnmoqqtrvyMNNMMLKJHGECA??<4/%$$&''()'PRJRNNKMMJIIJB?>85-,***))('QNNRQPNMQQPNNLRONOOQQRSTTU)"
    R"(VcYTVRPMLMPPOMNOPOPQRRQSTUWURRP[\[YWUSPNLJPNLNOOPQQRSUU^cfa][XVTSQTVY_^aeffgjjkmpnSSVgjigfdc`]ZUOKKMNOQPQQRRRVik)"
    R"(kifda^[[]_aedeggmnpolrqsKKMMPMLLKHFDCAA>61'%$')*,++LNJQRNLPPMKHHEB@;7.,+++,++*SOMUVTSQOMJHHJQNKMNPPRUTTTU]YSZWUS)"
    R"(QOMJHHKMPPOOQRSSTTUUTTT`ba`^][XVRNJIIONOPPPQRST\`ifca`^][XUUY^```efhghikmnTUYjmmlkjifda]YUPJLPPPQQQQRXmoonligeb_)"
    R"(\[]adfhiglmoqrutTPMNUVVUUSRQOMLJGLJMNPPQRSSVRKQWWWVUUSRQPMKKOPQQRSSTTTSRP\^]\ZYWUSQOOKGKMOPPPQRST[XS`_]\[YWTSROM)"
    R"(LLONPQPQQRSSVUWfhhgfedb`]ZWTQNJMOPQQRRR[_mkjhhgedb`^]\[X_adeffhhkkRQVhmmllmkjihec`[UQMKNOPQQQUjnnnnmlljhfdb```ef)"
    R"(kmnmnimnSTPR]___^^]\[YWTOKGJMOPQRSSZWQS_``__^]\[ZXUPLKOPQRSSSSEQTdffedcb`_^\ZWQLJMOPQQRRS\YWhgfedcb`_^[YVPKIOOQQ)"
    R"(RQRRADPcjkjkjjhhgdb`]YRMKNPPQQQMUdllklllkkihgeeb]\dddfhhjiABDSVXXYXXXXWVVTU[ZXRMMOPQQCTXXYY\Z[]^dhgghfb`fijkjloq)"
    R"(QRPPOOOOONNNNPXZZYYWVVPPPQRQSSRKCIGFEFHIMTVWYZ[ZYXWWVVNPPOOOPQQRTYZ[[[ZZZXVWRSSTTOSUULEKJIILRSUVWYZZZYXWVVVVOMPO)"
    R"(PRTVZZZZ[[[[ZZYWVUTTTTTQO^[TOSQSRQRUUVVXYXWVUTTTSTWQOOSVZYYYYZ[ZZZYXWUUUTTTUUXT]fZSXUSQPPPPQQQRQOONNMNNPHHIMLLMO)"
    R"(\^_a`lpn_\SM<4+,('+IKcfZLNXXXSbhl^^\UDA=961/26ZZWMLMOPSTZ[URTWNKGB31))('(\Zji]USURKHKMB@>>-,(&&'())*ZZYWQOUUUSRQ)"
    R"(OLJJOOPPQRQRRSSYZekj[OID@=>?>@AA?>ADGJLPPPYYYXWU`baa_^\YVSOMOTRSSRRRRXZ`pj[PHB<611265877;>ADFGHIYYYYY\loonmlkhfc)"
    R"(^WRNNRSUTTSYZlkdYOF?9/(##%'),048;>@BCCRPQPOOOONNNNNPXYYXXWUWPQORQRPTRKCIGFEFFGJSTVXYZYXWVVUUPOOOOOOPQRSXYYYXXXWV)"
    R"(UVSSRRRPPVVOGKJIJKPQRSTUWXYXWUUTTTXSOOPPSUYYXWWWXXXXVUTTRRRRRVRWZTHNNPPOONORSUUVUTTSSRRR\VQNPS[[ZXTRSVXXVUTSRRRR)"
    R"(RRR\W\]WNTSRTQMKJKNNMONNLKKHKMHHLNNRNNUVY[X_b]LGEC;3,*)))JTdbVMNOQQR[\[DDHIE?6323246]][UPNUUVVTQOMLKKNNOPPPPQQR])"
    R"(^ffc^XSOKGEDADFGIIKLNPPQRR]]\ZUS]_^][ZYVSRPLMOOPQPPQQ]^elocZTOKEA?:;>@CDEFJJKLMM]]]\\[hjkjihfdb_[UQNNQQQRQQ]]iuq)"
    R"(f\VPKD=930.0258:=?@BBBUPNPONNNNNNNNPXYXWVUTWRQQSRUQPTKDIGFEFFGISUUWWXXVUUUTTMKKMMMMMMMNOPY[[TWYRNFCBDEGNKORLDGFE)"
    R"(CEGHV\]RU]SSIGGGGHZUQNOOOQ[\[YWTSRSUSSRRQQPQP[WWTQILKPPQTTRNNNSRQQQQQQPPRYVQOOPPONMMNOQQQQPOOPPPPPPP[_[QLNKIHFEE)"
    R"(DFHIJJKGGGIHJJPPXUPOUUUTSQPMLKKNONOOOOPPPPYcaY]YVSQONLJJMORUXWYZZ]Z\LMNWUS^_`_][YWUSOKLNNNOOOOPNXgfffb^YVROMIFCC)"
    R"(GLFIJLNPRRKJLNWZgiihgfec`^\VPLLOOOPOOJMafsle`\YSOLGB>;=?@CEFGHIIZTONONNNNNNNNOUVVUTSSWQRPPP[UQOKGIGEEFGGIQRSTUUV)"
    R"(UUUTSSZVPMMOONNNPY[ZYXUQOOPRQQPPO[WSQLGLMJIIOPQRSRPOQRRRQQPPMXUQMMLMNNNMMLMMMNNONPOOOOOO[ZVOFHHHIGHHGFGILNMONNNN)"
    R"(NNORYVRPUUUTRQPNMLLMMMNNNNNNNOW`]VPWUSQOMJIGEDCGHEDCFIGIMNTYVT^`_^\[ZWUSPMLMNNNNONNMOcc_fd`^]ZYWURQNPRSUUXZ\\[LL)"
    R"(LMXYgijihfdc`^ZUQMLOONNNNLOcgupkheb_]ZVQOIGGKPNKKJKK_ZSNMOOOPOOOOPTTTSRPPUQRRQQa[UPJEIGFHKLLLNPRUVSSTTTTSRTYUPMK)"
    R"(KKKLMMMLLKJJKKKNOQQQPNZXTNEGEDEFGGGGGGHKNNOQQPPPOSZXQMLMSTSSRQPOMJIIKMMNNNNOV^[SLLKRQPOONMLKIHJNKKLMMMNO[\XU]^^])"
    R"([ZYWUROLLLMMNMMMMPPba[V`^]\ZXUSQNJEDFHGFEDFJMMOX[[hiihgfda_]ZUPMLMMMNMMMOcdbonkigecb_][WTPSUUTUVWX^`[UQPOOOOOOPP)"
    R"(ONLKJIKROQSVVWa]WQLLJIHIJKNJJJJJMORRSTUVPW[YUONNNOPSSSRQPNLJJKMPRSSOT]\WOMKJJKPPPOONMLKLNQPRRRMOV]YTST\]]\[ZYWUQ)"
    R"(NLKMNNOPPMPbb]VTT\\[ZYXWUSPNKJLMNNNOOQX`_^gihhedb`^\XTPMLNNNNNNOReea^kihgdb_\ZWSOKHFGIGIJJTSPOOOOOOOONNNNOYZZZYV)"
    R"(ZQTQVWTRSPGBHFECCDFHKRUWXYYYXWWVOQPOOOPPQQRSTZ[[[[[ZYWYRUSUSRSVQGEKIHHIKQRSUWXYYYXWWVVQNPOPRRTUVZ[[[[[[[ZYXWXTUT)"
    R"(VQNV[UPMPPOQRRSSSUVWXWUUTTTSYRNOSVVZZZZ[[[[[[ZYWWVVUUUUZR[cZTQXUPQQQQRRSSPPNMNMNLOYWQNORTYZYYYY[ZYZYXVVTVTUTUYX\)"
    R"(kb]X[WTQQPSRRSSVVVY[[Z[[YYWPMNOYYYY[YVUTTVUUUSURSTVYYcm`YUTROJHHEGILKIHKMOPRQQYYYWPMOSRRQPOPPOPNSPPQSRRSTYX^kdYN)"
    R"(KGC<97745:867:=?ABCCYYYYWPN[[[ZYWUSPLJPQPQSRSRSYX[ep^SJC=5.)()+)-.022368::RORPOOOOONNNNNNOXYYYXV[SVQVUPTSPGBHFEC)"
    R"(BCDEGQTUWXXXXWUURPOOOOOOPQQRSYYZZYYYXVYSURTPPRVRIFJIHGHIOOQSUVWXXWVUTTVPNOPPQSTUYYXYYZZYXWVUVSTRSVPRXULHOMMONMMR)"
    R"(SRSTTUTSSRRR^WQNPRTXYXWVWZYXXWVUTSTRSRS^WU]YOLXVSOMLKNMMMNKKMKHJKJHHJKMNNVXX\bbZ[Z\]]\N94-+))HHUd\VSYWVXZOQVWZ\Y)"
    R"(N;9320//^]\UOLLRRQPONNNMMMRPPORPRQS^]`d`^WRMIECB@AADBBFEFJJJNQ]]][UPQZZYXWVVTRNKLONOQPQQQ]]`ifd[VPLFB>9664779:<?)"
    R"(>@AB]]]\[UTdeddcb`^[XSQLNNPQRPR\\]csg]UOJC=71/,-./024579:;WQNQONNNNNNNNNNOYYYWWV\SXRYWQPTQHCHFECBCDEFQTUVWXXWVUU)"
    R"(UQMNOONOOOPQSYZYXWXWVTXRUQSUROUSJEIGFFFHOQQQSTUVVVUTSRZUQMOOOOPSXXWWVVWWVUTSUQSQR\VTTTNFJJKPNMLLMNSRRSQQPOPPRZVQ)"
    R"(OPPUVVUUWTRQSURRQQRPQPQO\[\TLIOLLLJJJKJHHJFHHFGFIIRSZVPNMQRQQPOMLKNMQONNPOPPRNN^a[RVTPNKIHFGFJNPORTSTTVWLLMYUPOY)"
    R"(ZYWWVUTRNKLMOOPNOOPQQ[f^f^[WSNMJGC@>ACCDEEGJLNMLMMYUUcddcba`^\YTQKKMOOPOOLNZgckd`\XROKE@<7466<>?@BCC\UPNPONNNNNN)"
    R"(NNNOVVVUUU\UYR\]VQQTICIGECCDDEGOQRTVWXXVTT[VOLNOOOOPOOPVWVVTSSSRWSUPU\WQQQLJKIGEDFNOONOPQSTTTSQQU[VQOOQONOTUUUTT)"
    R"(TPORQPRPQORM[XWQIEKIIHGIJKMMJKOPPPNNMMOT\XROMQQPONNMLLLMPNMMONONPPQ_]WNIQOMJHFEDC@BEEDEEEFGKMMMZVRPYZYYXVTSQOLLL)"
    R"(MMOMNNONNYc_X_]ZXVTRONMKJKRQQVUUVVMMMQZWUcdcbba`^\XTQMLLNNONOMMYfbmifb_\YWSOLGD>FFGFFDFHc]UOMPMMMMMMMNNOUUUSSS\U)"
    R"(YW^d]VRNIEKHGEEEFGJPQRSUVWXXWVSZUPMNPRSSRPORSRRRQPNOSRTSVN[WSOHCJHGFEGFGHJNNMMQRSSRQNS[XSMKKKLOOONNMKKJKLMPOOOPN)"
    R"(Q]\VNHIGGJIIHGHFEGIMLNMNMLPQZ_ZSPXYXWVUTRQNLKKLMNMMMNPPZc^UOZYWTQONLKGDBDCFFFEFEMMNV[XVbcbcba^][XTPLKLNMNMNMOZdb)"
    R"(]iheca_^[ZXUQOORURSSUU_c^WRPPQPQQQQQQQRQQRRT\UYZ_Zd_YTMJMLJJIJKMQILMRTVUWWYYOT[YUQNNNNOOPPOONLKJJMRQTTWNP][WQKKJ)"
    R"(HHHJJJIIIIJKNQQSSSMP\_\TPPQRWWWVUTRPNLKLNNPPQNOZc`WQQPOUTSRRQOMKIHKMMMNORRU]`\Xbcc`__]\ZWSOLLMNNONOQR\gc^Zecb_]Z)"
    R"(XVURNJEDEFFFGG)";

}  // namespace

extern const MoeFit kMoeH100Bf16;
const MoeFit kMoeH100Bf16 = {"H100 80GB HBM3", "sglang_fused_moe_triton", KernelDtype::kBf16,
    {6.066e+04, 0.2783, 1.128, 117.4, 0.6939, 179.3, 0.6043},
    {{0.1334, 0.1334, 0.1605, 0.1231}, {0.4278, 0.4278, 0.4365, 0.4231}, {0.2274, 0.2274, 0.2124, 0.2354}},
    kGroups, kResiduals};

}  // namespace chakra::laws
