// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {128, 0, false}, {128, 0, true},
};
constexpr char kResiduals[] =
    R"(PPPNKNPPNMMMMMPPPPPOPOMMMMMMPPPPPOOKKLLLLMPPPPPOJHIJKLLMPPPQPKDAFIKLLMWWWWVRI>FIKLMMXWYYXPGJJKLMMMXXY[[QTONNNNNN)"
    R"(WYZ\Y]VRPOOOOOWYZ\UZVSRPPOOOXZZV\XVTRQPPPPXYZPVVUSRQQPPPXYRYUTTSRRQQQPXXLORSSRRRQQQQXSQQRRRRRQQQQQWOXSRRRRRQQQQQ)"
    R"(WILPQRRRRQQQQQPPPPPPOP[lx}}}PPPOOPPP\lx}}}PPPPPPPO[hr{}}QPPPPPOIQZ^degRQPPPNI@CGGIIHUWWXXUL=?B@@?>WWUXYUHNRPPPPP)"
    R"(WXXXYPZa_`aaaaXXXYRZT[[ZZZ\]XYYYMOVXXYYZ[[XXXQWMRSQQRUWWXXXKPKMLLMORSTWWOXQJIHHJLOPQUWIJKDEDGIKMNOQQNLKDDDFHJKLM)"
    R"(NNXRSCDEEGIJKLJGMJC@BDEFHJKK)";

}  // namespace

extern const AttentionFit kAttentionB200FlashinferBf16Bf16;
const AttentionFit kAttentionB200FlashinferBf16Bf16 = {"B200", "flashinfer", KernelDtype::kBf16, KernelDtype::kBf16,
    {2.437e+04, 0.5661, 0.02628, 0.6309, 0.1641, 420.5},
    {{0.06161, 0.05072, 0.08585, 0.06161}, {0.4838, 0.2215, 1.06, 0.3313}, {1.152, 1.21, 1.742, 0.6738}},
    kGroups, kResiduals};

}  // namespace chakra::laws
