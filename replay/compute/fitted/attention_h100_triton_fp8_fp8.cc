// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {256, 1024, false}, {256, 1024, true}, {512, 0, false}, {512, 0, true},
};
constexpr char kResiduals[] =
    R"(?@@@@AABEGHIJJ@@A@ABBCEGIJJK@@@ABBCEGHIJKKBCCCDEFDHJKKLLWWWXXZWMKKLLLMTTUUUX\KMMMMMMQQRRS[MRPOOONNNNPQYLRRQPPPOO)"
    R"(PPR]KPSSRRQQPPTTV_OXVUTSRRQQYZeSYYXVUTSSRR]_hW`\ZXWUTSSSeo]ba_\ZXVUTTSmtbjea^[YWVUTT}iiifb_\ZXVUUU}lplhd`]ZXWVUU)"
    R"(}szpida][YWVUU@@@@@@A@##*/35A@@AAABB##+268CAA@AABB#$.69=GCBABCCE#*5<@FOVXXYZ[TJTUUUUQRSSTVfDUbiiicPPPPRcCQ`inpql)"
    R"(POOPaBP^hmprqoRPQ_@N\gloqrqqUSUlKYdkprsrrr[ZmKXdlqtuttssa`rUbkquwxvutthmVbmtx{|zxwvuio_luz}}}}zxwve`hs{}}}}}{yxw)"
    R"(fboz}}}}}}}zyxjo{}}}}}}}}{yy.-..///17;?ABC//0001248<?ACC012235549>ACDD33556762;@CEFFCCDEFF<>BDFGGH<>>?DOKMKJIIII)"
    R"(899=NXO[RNLLKK669ITLZXSPONMM45CSFSVUSQPONN37HSGXVTSRQPOO4@QDOTTSSRQPPP5FQEUTSSRRQQPP@OBMRRRRRQQQQPFPCTRRRRQQQQQQ)"
    R"(L>GOPQQQQQQQQQR>MOPQQQQQQQQQ\DSQQQQQQQQQQQ0//////0######11111223#####%32223345####&.7433458A)7=>>?=DFFGJOKKKLNPQ)"
    R"(=>??AT[N\^begd;::<NeHZis{}}t979KbFVfrz}}}z:8DW=O_lu{}}}{<8J_DVeqx|}}|{CCT<M^kty}}|{zHJ\CUdpwz}{zzyLR=M^kty{{zyyx)"
    R"(JQCTcovz|zyxxxB;HYhrx{zyxxww?<M^jty{zyxwwwABTdovz|zyxwww)";

}  // namespace

extern const AttentionFit kAttentionH100TritonFp8Fp8;
const AttentionFit kAttentionH100TritonFp8Fp8 = {"H100 80GB HBM3", "triton", KernelDtype::kFp8, KernelDtype::kFp8,
    {1298, 1.563, 1.823, 2.325, 0.1253, 425.2},
    {{0.2739, 0.1499, 0.2739, 0.2949}, {0.8929, 0.6915, 0.8929, 0.9123}, {2.411, 0.5461, 1.986, 2.663}},
    kGroups, kResiduals};

}  // namespace chakra::laws
