// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {128, 0, false}, {128, 0, true},
};
constexpr char kResiduals[] =
    R"(MNMMNORJKIIIHHNNNOOPTLMLPUTTNOOOPQUNOT]^__OPOPQSSMOXXVUTXYZ[\\QMWXWUSSXYYZ][Z\\YWVUTMNR]tfkieb`^\]?BOdY_ddeedefd)"
    R"(2>N][]^^^^_``a1?SRX\[[[[\]]^/DZQVWVWXXXZ[[4CKSVTTUVVVWXY=OORRRSTTUUVWW=IPQPQRSSSTUVV>IOPPQRRRSSTUURPMOOPQRRRSTTT)"
    R"(IOMNOPQQQQRSTTMLMMMMPB5&####NNNOOOQE8*####ONOOPPRF:2-0)#QQPPQQTHBCKHD@SWXXYZVOKOJFC@RVWXY[VWYSPNMLMNQ[mUV[ZZYYWX)"
    R"(FBN\QTTUTTSTTTB?MYPSRRRRRSSRB@MLSRQQQQRRRRDDVOQPPOPPQQQQGDJQOPOOPPPPPQLRONONNOPPPPPPJIPMMNNOOPOPPPJIPMMNOOOOOOPP)"
    R"(KINMMNOOOOOOPPMPMLNNOOOOOOOP)";

}  // namespace

extern const AttentionFit kAttentionA100FlashAttentionBf16Bf16;
const AttentionFit kAttentionA100FlashAttentionBf16Bf16 = {"A100-SXM4-80GB", "flash_attention", KernelDtype::kBf16, KernelDtype::kBf16,
    {1.457e+04, 0.7572, 0.02485, 0.8917, 0.4025, 397.7},
    {{0.1426, 0.1185, 0.3088, 0.09492}, {0.5596, 0.2188, 0.8761, 0.3659}, {0.4653, 0.1787, 0.6406, 0.3474}},
    kGroups, kResiduals};

}  // namespace chakra::laws
