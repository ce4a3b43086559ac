// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {192, 0, false}, {192, 0, true}, {192, 128, false}, {192, 128, true}, {256, 0, false}, {256, 0, true},
};
constexpr char kResiduals[] =
    R"(BFKPTQQQVXYYYYOOPSUUUUYZZZZZPPQUXYY]]]\[ZZQTUXWZ^gc`]\[ZX[\\]cluib_\[[PPRSW`lrib_\[ZGGHLR^fje`][ZZ?@BGP[]`_][ZYY)"
    R"(<=?GSVXZ[ZYXXX9;>FPRTVWWWVVV89?KMOQSTUUUUU79?IIMOQRSSSTT6;EGIKMOPQRRRS6;EDHJLNOPQQQR9>DEGIKMNOPPQQ8ACEGIKLNOOPPP)"
    R"(8BADGIJLMNOPPPE@EFKLNP?5(###JKMMPPRTE:,###NPQMSSTVG<0'$#QRORUVWYKA74/,RWX[\\^e\YYVTSNOQRRTZXSTQONOGGHIJPRMLKIIIL)"
    R"(A@@AGLHGFDDEFH=<<AKGDCB@ACEF;9;@HDBA@@ACEE98<GEA@?>>ACDD98<EA@?>>?ACDD::CB?>=<=@BCCC;:C@>=<<>ABCCC>=C?=<;;?ABBCC)"
    R"(@BA>=<;<@ABBBBBC?=<<<=@BBBBBLPPPQUUVZ]^^__PPQTXYYZ]_____PQTUYYZ`bbbaa`UVY[Z]bjigecbb\\__`fo|rlhfdcTWWX]eu}vpkhfe)"
    R"(\\]ai{}}zsmigfggkr}}}}{tokhgpqv}}}}}|uplihyz}}}}}}|vplji}}}}}}}}}vqmji}}}}}}}}}wqmkj}}}}}}}}}wrmkj}}}}}}}}}xrnkk)"
    R"(}}}}}}}}}ysolk}}}}}}}}}ztoml}}}}}}}}}ztpnmNLNPRTSSJF>:86QPTSTVVWOIA><>TTUSUVWXQLEBDDVUUVXXZ[TRLMMLY\^_`acnoqtuuw)"
    R"(ZUUVVXfkmppqrs_]]]_ppqtutuvvhggiz{z}}}}}}}qpq}}}}}}}}}}}{yz}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}})"
    R"(}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}},/////01:@DFHI///00007=BEGII0006467;AEHIJJ577788>DIJKLLL)"
    R"(@=@=BDM\SPONNN;;;;?EWbYTRPOO4667=O\aZVSRQP2238HV[[XVTRRQ113?QVWXVUTSRR004DRUUUUTSSRR/0<NRSTTTSSRRR/1AORRSSSSRRRR)"
    R"(/9LPQRRRRRRRRR0@NPQQQRRRRRRR4EOPPQQQQQQQQQ:KOOPPQQQQQQQQ@MOOPPQQQQQQQQ00-////0,*&%$#0/////04.-)()*2010123721-./.)"
    R"(67777779888:999=>@@CDUX^bcc`8:;;;=OTY]^_``66667ISUXZ[]``3223EQRTVWY\]^110;NQRSUVYZ[\1/1CPPRSUWZZZ[1/9MOQQSUXXYYZ)"
    R"(41AOPPQSVXXYYY::KOPPRUWXXXXXABOOOQSVXXXXXXFHOOPPSUWWXXXXJLNOPQTWWWWXXXLNOOQRUWWWWXXX)";

}  // namespace

extern const AttentionFit kAttentionB200TritonBf16Fp8;
const AttentionFit kAttentionB200TritonBf16Fp8 = {"B200", "triton", KernelDtype::kBf16, KernelDtype::kFp8,
    {1.894e+04, 0.0823, 0.02737, 0.3101, 0.4, 437},
    {{0.2866, 0.1326, 0.3016, 0.348}, {0.909, 0.909, 0.719, 1.072}, {2.115, 1.105, 2.516, 2.661}},
    kGroups, kResiduals};

}  // namespace chakra::laws
