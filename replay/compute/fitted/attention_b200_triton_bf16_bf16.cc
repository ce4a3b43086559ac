// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {192, 0, false}, {192, 0, true}, {192, 128, false}, {192, 128, true}, {256, 0, false}, {256, 0, true},
};
constexpr char kResiduals[] =
    R"(GLLLMMNNTWXYYYMLMMRRVWXYYYYYMMQRVWW\\\[ZZZRRSWXXZdb_][ZZVWZ[\`ithb^\[ZMPPSW^krhb^\[ZHGIKQ]fle`][ZZAACHQ[_a`^\ZYY)"
    R"(>>AITXZ\[[YYXX<=@HRSVWXXWWWW:<BMOQSUUVVUUU9;CLLOQRSTTTTT9>HJLNOQRRSSSS9?IHKMNOPQRRRR=CHIJLMOPPQQRR=FGHJLMNOPPQQQ)"
    R"(>GEHJKMNOPPQQQJGILJNOPA5+###MPMPOPRSE;/%##MMOPOSSTF=1)(&NMOPRRUVI@740.ORWXYZ\d\YYWUULOQQRTZWSTRPPQGGIIJPSNNLKKLO)"
    R"(BAABHNJIHFFHJL?>>DNJGFDDDFIJ=<=CKGEDCCDFII<:?JGECBABDFGH<:@HECBAACEGGG>>FFCBA@ADFFGG@?GDBA@@BEFFFFBBFCA@??CEFFFF)"
    R"(DEEBA@?@DEFFFFEFCA@@@ADFFFFFMNVSSSSTZ]^^__RRSWWYZ\]_____WWWX[Z\_bbbaaaXXXX\Y^higecbb____`dn|rlifddVXXY\ev}xqlhff)"
    R"(```cj|}}}tojhgjlmt}}}}}vplihvvz}}}}}}wqmji}}}}}}}}}xrnkj}}}}}}}}}ysnlk}}}}}}}}}ysolk}}}}}}}}}ztoml}}}}}}}}}{tpml)"
    R"(}}}}}}}}}{upnm}}}}}}}}}|vqnn}}}}}}}}}}wronLHMPPSTSMICA?>PRTSVTVVQMFDCGSRRTUVWXSOIGKLVTUTVVY[UTPRSS[^^_`acpsty{|})"
    R"(\XWWWXhnquvwxyb^^_`stuz{{||}llkm}}}}}}}}}}vvv}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}})"
    R"(}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}$%,..--.6;@BDE(,-..../7=ACEF...-../3;@CEFG/////179BEGHHI)"
    R"(<8<<=>ETNKKKKK8459:=P]UPNMML22258JY_WSPONN0014DTYYVSQPPO/01<OUVVUSRQPP./1BPTTTTSRQQQ./:LQRSSSRRQQQ-0@NQRRRRRQQQQ)"
    R"(.8JOPQQQQQQQQQ/>MOPPQQQQQQQQ2DNOPPPQQQQQQQ8JNOOPPPQQQQQQ?MOOOPPPQQQQQQ'%),......,,,,*).,..../0../1......-//20244)"
    R"(1/.....457:==>6<=>>>?RX_efge55989:MTZ_acde22335HSUY[^`de1002DQRUWY\`bc00/:NQSTVY\^``0.0BPPRSW[^___0.8LOQRTX[\^^^)"
    R"(30AOOPRU[\]]]^99KOPPSY[\]]]]@AOOPQT[\]]]]]FGOOPQVZ\\\\\\JLOOPRX[\\\\\\LNOOPS[\\\\\\\)";

}  // namespace

extern const AttentionFit kAttentionB200TritonBf16Bf16;
const AttentionFit kAttentionB200TritonBf16Bf16 = {"B200", "triton", KernelDtype::kBf16, KernelDtype::kBf16,
    {1.623e+04, 0.09576, 0.02887, 0.2972, 0.4, 460},
    {{0.3523, 0.1551, 0.3814, 0.5127}, {0.9715, 0.2994, 0.7542, 1.224}, {2.115, 1.105, 2.516, 2.661}},
    kGroups, kResiduals};

}  // namespace chakra::laws
