// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {256, 1024, false}, {256, 1024, true}, {512, 0, false}, {512, 0, true},
};
constexpr char kResiduals[] =
    R"(CDCDDEEIJLLMMNDDDEEFGJKLMMNNDEEFFGILKLMNNNHHIIJKLCJMNNOOYYZZ\]QLNOOOPPUUUWY]\SRQQQQQRQRSX_QYUSRRRRNPPT]PWXVUTSSS)"
    R"(UUWbPTXXWVUTTT]]`gT_\[YXWVUUhhr^ab`][YXWVVqtydmgc`][YXWW}}rtqlgc_]ZYXX}}{}wpjea^\ZYX}}}}zrlgc_][ZY}}}}}unhd`][ZZ)"
    R"(}}}}}voiea^\[ZEDDDDEEG#'/47;EDDDEFFI#)39=>GFEEFGGJ#.9?BCKHHHHIJF,;DFFJRY[\]^YQQRRRSUSTTVWYeL^ccddcRPQRSgFVfotwvo)"
    R"(SQPQcCSalruwvtWTUdBP`jquwxxx_\]sO\jrwy{{{zhhyT`lw|}}}}}}ss}amx}}}}}}}}}}it}}}}}}}}}}}}w}}}}}}}}}}}}{}}}}}}}}}}}})"
    R"(}}}}}}}}}}}}}}}}}}}}}}}}}}}}+,,,,-./5:=@AB---//0246:>@BB/002345-6<?BCD334667.3:?BDEEABCDF<9<ADEFGG::;=CGFLJIIIII)"
    R"(555:NUS\RNLKKK014HTL]YTPOMMM.0?QFRWVTQPONN.0DRHZVUSRQPOO.<NCOTTTSRQPPP0COEUTSSRRQQPP<L@LQRRRRQQQPPCMARQQQQQQQQQQ)"
    R"(G;FMOPQQQQQQQQN;KNOPPQQQQQQQWARPPPPQQQQQQQ.-------######/..../01#####%10011244##%(,/532345840769<=;BCEFH@A@ADHKM)"
    R"(9;<<?POLQUZ^_^6567KaEXhnswvn423F]AResz}}{v42?Q7I\lt{}}{y63DZ>Pbpv{}}{z==O5GZjrw}}{zzBDU<O`nuy}|zzyFM6GYirwz{zyyy)"
    R"(DJ<O`mtx|{zyxx;5BUeou{{zyxxx84HZiqv}|zyxxx:<Pamsw}}{yxxx)";

}  // namespace

extern const AttentionFit kAttentionH100TritonBf16Bf16;
const AttentionFit kAttentionH100TritonBf16Bf16 = {"H100 80GB HBM3", "triton", KernelDtype::kBf16, KernelDtype::kBf16,
    {1343, 2.554, 1.878, 2.451, 0.1725, 424.6},
    {{0.3619, 0.182, 0.3619, 0.4501}, {1.068, 1.068, 0.7579, 1.217}, {2.294, 0.6001, 2.005, 2.678}},
    kGroups, kResiduals};

}  // namespace chakra::laws
