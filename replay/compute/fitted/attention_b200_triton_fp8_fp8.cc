// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {192, 0, false}, {192, 0, true}, {192, 128, false}, {192, 128, true}, {256, 0, false}, {256, 0, true},
};
constexpr char kResiduals[] =
    R"(CIOQPPPQVXYZZZMKOOUUUWYZZZZZKOPQUVW[]]\[[[TQUVVW\gc`^\[[UUYZ\`kvic_]\[RRRVWamtjc`]\[KJLOWajmgb_\[[DEGLV_aca_][ZZ)"
    R"(BBEMY[\^]\[ZYY@ADMVVXZZYYXXX>@FRSTUWWWWWVV>@GPORSTUUUUUU=BLNOPRSSTTTTT=CMKMOPQRSSSSS?FLLMNPPQRRRSS?IJKMNOPQQRRRR)"
    R"(?JHKLNOPPQRRRRHDFHLLPPD:/'##LNMOPQQTG>3)$#NMPPRQSUIA6-'*PPQPTUTWKD:422QUVYY[]c\[XYXXOQQRSUZZVTUSRTJILLMRUQOONMLN)"
    R"(FEEFKQLJJHGGIKCBBFPLIGFEDFGIA@AEMIFFDCCFHH?>BKJFDCBBCEGG?>AKGDCBAADGGG@?IHDBA@@BDFFFA@IECA@@@CFFFFCCGDB@@?@DEFFF)"
    R"(FGFCA@??AEEFFFGHDB@???CFFFFFKPUQURVW\^_```PQUVVZ[[^````aUUVWZ[\`cccbbbWVW[\\akkhfedc^_abcfo}tnjgfe[[[\_iy}zsmjhg)"
    R"(abden}}}}vplihnnqx}}}}}xrmjixy}}}}}}}ysnkj}}}}}}}}}zsolk}}}}}}}}}ztoml}}}}}}}}}{upml}}}}}}}}}|upnm}}}}}}}}}|vqnm)"
    R"(}}}}}}}}}}vron}}}}}}}}}}wrpo}}}}}}}}}}xsppOKPRSUUUQNHFECSTQTUVWXTQLIHIUUUTVWXYUSNLLRVRVTXXY[YYTRWY[^]``acptxy}}})"
    R"(^[ZZZ\jquwz|}}eaaccuxz|}}}}}nnnp}}}}}}}}}}yxy}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}})"
    R"(}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}('((((()18<@AB(((((((*39>@BC((((())28=@BDD))))*235>BDEFF)"
    R"(93535;>NIHHHHH53556=LVPLKJJJ00117IUZSPNMLL//13DQVVSQONMM./1<NSTTRQPOON..1BPSSSRQPPOO./:LQRRRQQPPPP-0@OQQQQQQPPPP)"
    R"(.8JPPQQQQQPPPP/?NPPPPQQQPPPP3EOPPPPPPPPPPP9JOOPPPPPPPPPP?NOOPPPPPPPPPP((('((())+****)('(((()//,,,-*((((((*0/-.02)"
    R"(-)(()*+314157839349:<LSW]aa_235556IPUZ\]^^10014EQRVXYZ\\0//1CQQSTUWXYZ//.9MPQSSTUVXX/.0BPPQRSTVWWX0.8LPPQQSTUVWW)"
    R"(30@PPPQQSVWWWW99KPPPPRUUVVVW@AOOPPPSVWVVVVFGPOPPQSUVVVVVJLOOPPRTVVVVVVLOOPPPRVWWVVVV)";

}  // namespace

extern const AttentionFit kAttentionB200TritonFp8Fp8;
const AttentionFit kAttentionB200TritonFp8Fp8 = {"B200", "triton", KernelDtype::kFp8, KernelDtype::kFp8,
    {1.758e+04, 0.06271, 0.03282, 0.2737, 0.4, 520.6},
    {{0.3669, 0.1416, 0.4569, 0.6606}, {1.022, 0.8076, 1.219, 1.354}, {2.264, 1.158, 3.2, 2.807}},
    kGroups, kResiduals};

}  // namespace chakra::laws
