// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {256, 1024, false}, {256, 1024, true}, {512, 0, false}, {512, 0, true},
};
constexpr char kResiduals[] =
    R"(JJIIJJKNOPPPPPIJJJKLNQPPPPPPJKKLMNPUPPPPPPNNOPPRTGMOPPPP[\\]_aRKNOPPPPRSSUX]VRQQQQQQJKLOT\LVSRQQQQGGIMVIPSSRRQQQ)"
    R"(IIJXGLPRSRRRRRMLQZJSSSSSSRRRSU`NSUUUTTSSSSZ]eT\YXWVUTSSSen[`_]ZXWVUTTTotbjc_\ZXWUUTT}jjjfb^[YWVUUT}nrmhc`\ZXWVUU)"
    R"(}w}qje`]ZXWVUUJJKIIJJL#(.136KJJJJKLO#+2689LKKKLMNQ'18<><ONMNOPRD2<:99>SZ\]^`QGDCAABFPQQRTXWJPPOPPQLIJLOaAP]cccb])"
    R"(JGGI[=KXagijfcKHHY:GU_ehjjhgOLNfDQ\dhjkkjjUUhFQ]ejmnnmml][nP[elprrqponekT^hpuxyvtrqqio_jrx}}}zwtsrfahsz}}}}}yvut)"
    R"(hepz}}}}}}{xvuns}}}}}}}}|ywv-,,+,-/4=CFIJK--...03:AEHJKK//0015:EFHJKLL34457<HJKLMMNNCCDFJUQRRQPPOO<<?BL_]_YUSRQQ)"
    R"(78;CUbYg]XUSRR56<O[T`_[XVTSS48GXMY\\ZXVUTS49LYO][ZXWVUTT5DUJUYYXWVUUTT8IVL[YXWVVUTTTCSGSWWWVVUTTTTITIXVVVUUTTTTS)"
    R"(NBMSUUUUTTTTSSTBQSTTUTTTTSSS^HVUTTTTTTTSSS-,,,,-.1######.---./14######1///0139###%)/532235<D0<@BBA;BCEFMQNMOPRRS)"
    R"(:;<>DW^R`beffd888=PgL^mx}}}s859LbIYiu|}}}y97DW?Qbow|}}}{<8J`FXgrx}}}}|CCU>Pamuy}}}|{HJ\EWfpw{}}|{zMR>O`ltx||{zzy)"
    R"(KREWfpvy|{zyyxC=J\irwz{zyxxxA=O`ltx{zyxxxwCEVeovy{zyxxww)";

}  // namespace

extern const AttentionFit kAttentionH100TritonBf16Fp8;
const AttentionFit kAttentionH100TritonBf16Fp8 = {"H100 80GB HBM3", "triton", KernelDtype::kBf16, KernelDtype::kFp8,
    {1798, 0.1533, 0.03049, 2.243, 0.1316, 485.1},
    {{0.2716, 0.2716, 0.2716, 0.2833}, {0.8354, 0.8354, 0.7521, 0.9512}, {2.294, 0.6001, 2.005, 2.678}},
    kGroups, kResiduals};

}  // namespace chakra::laws
