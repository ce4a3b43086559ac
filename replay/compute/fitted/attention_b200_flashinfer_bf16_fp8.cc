// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {128, 0, false}, {128, 0, true},
};
constexpr char kResiduals[] =
    R"(RRRRNMNNOPPPPQNNNPNNPRPPPPQQMMNNNNQPPPQQQQPNONROPOPPQQQQSSSSSPOMPQQRRRXXXYYWSORRRRRRWWWZ]ZUZVTSSSSVXY\`^b\XVTTSS)"
    R"(XY[]\d`[XVUTSSXZ[^Y_]ZXVUTTSXZ[W^\ZYWVUTTSYZZRYYXWVUTTTSYZRZWWWVUUTTSSYYMPTUUUUTTSSSXRQRSTTTTTSSSSXOXSSSTTTSSSSS)"
    R"(WHMQRSSSSSSSSSNMOOQNNNZju}}}NMMMNMNO[ju}}}NMMNNNNN[gpy}}ONNOOOMJSZ]cdfQOSPQNIBFIIJIHUXYYWVMABDCA?>VVWWYUJOSQQPOO)"
    R"(WVYYZO[a`````_WXXZRYT[[Z[[\]XXYZMOWXYYZZ\[XXYPWMTSQQRUWWXYXKPKMMMMPQSTWXOWQHJIGJMOPQUWHKKDEEGIKMNOQPNLLDDEFHJKLM)"
    R"(MMWSRDDFEGIJKLIFJKD@BDEGIJKK)";

}  // namespace

extern const AttentionFit kAttentionB200FlashinferBf16Fp8;
const AttentionFit kAttentionB200FlashinferBf16Fp8 = {"B200", "flashinfer", KernelDtype::kBf16, KernelDtype::kFp8,
    {3e+04, 0.5667, 0.02629, 0.6901, 0.1518, 420.1},
    {{0.07836, 0.0707, 0.08866, 0.06624}, {0.4543, 0.1115, 0.9317, 0.3273}, {1.152, 1.21, 1.742, 0.6738}},
    kGroups, kResiduals};

}  // namespace chakra::laws
