// Made by test/kernel_laws from published measurements; see replay/compute/model/README.md.
// clang-format off
#include "replay/compute/model/fits.h"

namespace chakra::laws {
namespace {

constexpr AttentionGroup kGroups[] = {
    {64, 0, false}, {64, 0, true}, {64, 128, false}, {64, 128, true}, {128, 0, false}, {128, 0, true},
    {128, 8192, true}, {192, 0, false}, {192, 0, true}, {192, 128, false}, {192, 128, true}, {256, 0, false},
    {256, 0, true},
};
constexpr char kResiduals[] =
    R"(IJJKLNRWXXXXXXKLLNOQV[YYXXXXLLMNORVZZYYXXXMMNOOSVYZZZYYYTTTUVYY[\[ZZYYWWXY[^]b_]\ZZYWVW[_bgic_][ZZKLQ[lptjd`][ZZ)"
    R"(@DNZenlgc_][ZZ9@Magkhda^\[ZY4>P_eedb_][ZYY2AV`cba_]\ZYYX3G[___^]\ZYYXX7HV[\\\[ZYYXXW8QYZ[[[ZYYXWWWDXYYYZZYYXXWWW)"
    R"(DRUWYYYYXXXWWWKJJJJJKLHA7.(#MLLNPRSTPKA=9;NMPRSTTWRMOQVWRSTUUVWUPUQYZYTUUUVWTOTRY[YXUXXXYYVZX^]\[[RVXYZ[_aegfgee)"
    R"(LLMTc^^ceeedccECKU[\Z]^]]\]^A?JXVX[[[ZYZZ[@=M[URUTTTUVXYC@NSRRTTRWTWWWGGYLMOPQRTSUUVLHRNNOOQVTQSTUTZLLMNNNQTSSTT)"
    R"(VYEJMMNOPQRSTTTSKKKLNOOTSSTTJJJKKMQWXXXXXXKLLNNRTYYXXXXXKLMNORVZYYYXXXMMMNPRUXZZYYYYSTTUVYY[\\[ZYYVWWXZ[[b`^\[ZZ)"
    R"(bccfeclme`]\[Zcdffclojea^\[[cfhdajkhda^\[[dffclojgc`^\[[fheakkheb`^\[[ggdlokgdb_]\[[heajkifca_]\[Zgdlokhec`^][[Z)"
    R"(fbkljgeb`^\[ZZdajkigdb`^\[ZZclpligdb`^\[[ZKJIIJJKLGA7.'#LLLNPQSTPKA<9:NLPRSTUVRMOPVVRSTTUUVTPTQYZYUTTUWVTPTRZ[YX)"
    R"(YWWXXYU_^iiihg_b\ZZV__iiiihhbc^[V__ijihgggcc^YRY`ghhgfffdd^W__iihhgggfee]TYahhhgffffdf^a`iihhgggffcc[[bhhhggffff)"
    R"(bbcbjjhhggffffb`cgjhhggggfffc`deiihgggggffhlikkihggggggfGGGHIJMOPTY\\\HHHIJLNQRW^jmoHHHIJLOMOP^baaIIIKKNLEDPUUTT)"
    R"(OQQRTRJAMPPNMLOPQRUOEPQPONNNLMNPSMUUTSSRRR=?FQU`_^^^]]_]18BXZaceedefhb,2COZ]_```bdfc&2KRUWYYY[\^``$7KRQSTUWY[Z\\)"
    R"('<JQPQQSUXVXYZ0FCILNPRSUTVWX1HNLNOPRRRTUVV2EJLMOPQQQSTUVD=CGJNOOPRSTUUHHGHHHHI@7)###IHIKLNOPH?5/-)KJNOOPQRJDDIJD)"
    R"(NPPQQRSMFEKNKINPQQSTMFEKNJIHMOPQRRJJNOMLKKHLNOPQQVWVVVVXA?EPQOY\^_^^^_:9?RJRUXXXXY[[62ALJPSTUUVXWZ52EGKOPPQRTTUV)"
    R"(75HDJNOPPSUTST;9FHHLMOPRQSSSBG?EHKMOPRPQRRBECGIKLOQQQQQQABCFJKMNNPOPQQ?=BFGKMMMPPPQQLKHHHHIGB72+%#MMNOOOQOJ?;7<9)"
    R"(NOQQQQSQJJLUVSNOQQQRSKMFPRONNOPQRULNHLNKJHMMOPSQPKOOMKLKKKLOORRWWVUVVVIHGRPR\__``^`^GFEMIOWXXWYZ\\FECKJNTTUUVXYZ)"
    R"(EFIEHLOOPSVWXXCDHFHLOPPVYXVVAA>CIKMNPUVUTT??BFGHJPNQRQQQ;;;9;;:@@EJMNN973146588?EIKL764656:<;>DHJKZ^accegkigecbb)"
    R"(bcdefjlpjgecbbcddgikmmjgecbbdefjkljihfdcbaijmnoljjifdcbadfginljnjgdbaaYZ]eqosqkgdba`IKRbqyvpjfca`_<CPgtxrmhdb`_^)"
    R"(5?Qbqrmieb`_^].=Ueijgeb`^]\\,@Vcccca_^]\[[-DW[^^^^]\[ZZZ5LWWY[[[[ZYYYY6NSTVXYYYYXXXX6IOQTVWXXXXXWXEBGNRUVWWWWWWW)"
    R"(_\]__accXK9###acccdefh^SA3/%ccddeghiaULLF@deefghibWOPKD@dijkmmeYSSLFA?`degih]VVRLHEFWY\`hfaa^^WTRPMKNX]a__b\Z\Z[)"
    R"(EBIXYYXWUTVXXX@=IUUTTTURRTVV=:HOQNOMLMOPRS=<NILNMLNOMNPP?<JJJJIJKMMNNODGEHHKJLLNMMNNFHDEEHIIJJLMMMEFFGHGIJILLLMM)"
    R"(CADEEGIJJJKLMM[_acbdgkigdcbabccegjlojgdcbaccdfikmmifdbaaddfikljihfdbaaijlmomjhgecba`ehhjmkimifca``ggimkinnieca``)"
    R"(gilkinolheb`__illioomjgda`_^imkiookheca_^^kliopmjgdb`^]]mkioolifca_^]]liopmkheb`^]\\kiooljgdb_^]\\ipqnlifca_]\\[)"
    R"(hppnkhfca_]\\[hopmkhfca_]\\\_\]^`bbcXK9)##abccdefh_SB56-ccddeghi`UORMHddeegiibVQSNJGfiikmmeYTVOJGFdbcdff[VYTPLKK)"
    R"(ddegf\W[VROMMLeegf\X\WSPNNMMfgha^\YURONNMMggf\Z\XTQONMMMghb_^ZVROONMMMee^]^YTQONNMMMcbb_[VRONNMMMMb`a_ZUQONMMMMM)"
    R"(dde_YSPONMMMMMeec]WRONNMMMMMefc\VRONNMMMMMJIJJKMORRUXZZZKKKLNPSUW[hlmmLLLNOQSNP[^^]]MNNOQTNEQSSRQQWWXZ\VJLPPPMML)"
    R"(UVWZ\RQSQPNNMMEHKWiZ[XVTSRQQ38DX`c`^][ZZ[X)2D_dhfdcbcb^\#0FUbccdbcec_]#2NY\\[]^`a`^]#8MYYXZZ[_\]\\&?QTTTTVXYZ[[[)"
    R"(/GPPRQTUUVXYYY1HNMPQRSTTVWXX2EKLOPQRRTVWWXD?DHMPPPTTUVWWKJIIIJJJ<.####LLLMNOPQE8()'#NMNOOPRSG<CD@:PPPPQRTJ=EEA>9)"
    R"(RWXXZZOAGFB><:OUVWYWHKJFECBBFHKScUVUTSRQPP<9ASRUX[]\\[]]62@WPSTUWVXYY[3/BMPPSTUTWWXW30GKNNPQQTTUTU76IKNOOPRSSSTT)"
    R"(=;GKLLNORRQSSSDHCFJMNQQPQQRRFIEGILOQQQPQQQFJEGKLOOQQOPQQB>DFJMNNRPOPPP)";

}  // namespace

extern const AttentionFit kAttentionH100Fa3Bf16Bf16;
const AttentionFit kAttentionH100Fa3Bf16Bf16 = {"H100 80GB HBM3", "fa3", KernelDtype::kBf16, KernelDtype::kBf16,
    {1.801e+04, 0.7223, 0.02212, 0.3474, 0.3948, 354.8},
    {{0.1245, 0.1078, 0.2264, 0.09791}, {0.4279, 0.3906, 0.6301, 0.3583}, {0.3734, 0.4749, 0.5283, 0.2887}},
    kGroups, kResiduals};

}  // namespace chakra::laws
