#include "textflag.h"

// Every character that makes a two-character escape has a bit that is set for
// both its halves: 1 for " and /, 2 for \, 4 for b, f and n, 8 for r and t.
DATA lowHalf<>+0(SB)/8, $0x00040008000d0000
DATA lowHalf<>+8(SB)/8, $0x0104000200000000
GLOBL lowHalf<>(SB), RODATA|NOPTR, $16
DATA highHalf<>+0(SB)/8, $0x0804020000010000
DATA highHalf<>+8(SB)/8, $0
GLOBL highHalf<>(SB), RODATA|NOPTR, $16

DATA bytes<>+0(SB)/4, $0x0f1f5c22 // '"', '\\', the last control character, half a byte
GLOBL bytes<>(SB), RODATA|NOPTR, $4

// MARKS stores the top bits of the 64 bytes in lo and hi.
#define MARKS(lo, hi, result) \
	VPMOVMSKB lo, AX     \
	VPMOVMSKB hi, DX     \
	SHLQ      $32, DX    \
	ORQ       DX, AX     \
	MOVQ      AX, result

// ODD sets the bytes of out where those of x make no two-character escape. A byte
// outside ASCII looks up a zero.
#define ODD(x, out) \
	VPSRLW   $4, x, Y8     \
	VPAND    Y5, Y8, Y8    \
	VPSHUFB  Y8, Y7, Y8    \
	VPSHUFB  x, Y6, out    \
	VPAND    Y8, out, out  \
	VPCMPEQB Y9, out, out

// func classify(p *[64]byte) (quote, back, odd, control, high uint64)
TEXT ·classify(SB), NOSPLIT, $0-48
	MOVQ           p+0(FP), SI
	VMOVDQU        (SI), Y0
	VMOVDQU        32(SI), Y1
	VPBROADCASTB   bytes<>+0(SB), Y2
	VPBROADCASTB   bytes<>+1(SB), Y3
	VPBROADCASTB   bytes<>+2(SB), Y4
	VPBROADCASTB   bytes<>+3(SB), Y5
	VBROADCASTI128 lowHalf<>(SB), Y6
	VBROADCASTI128 highHalf<>(SB), Y7
	VPXOR          Y9, Y9, Y9

	VPCMPEQB Y0, Y2, Y10
	VPCMPEQB Y1, Y2, Y11
	MARKS(Y10, Y11, quote+8(FP))

	VPCMPEQB Y0, Y3, Y10
	VPCMPEQB Y1, Y3, Y11
	MARKS(Y10, Y11, back+16(FP))

	ODD(Y0, Y10)
	ODD(Y1, Y11)
	MARKS(Y10, Y11, odd+24(FP))

	VPMINUB  Y0, Y4, Y10
	VPMINUB  Y1, Y4, Y11
	VPCMPEQB Y0, Y10, Y10
	VPCMPEQB Y1, Y11, Y11
	MARKS(Y10, Y11, control+32(FP))

	MARKS(Y0, Y1, high+40(FP))
	VZEROUPPER
	RET

// func markAVX2(p *byte, n int, out *uint64) (high uint64)
TEXT ·markAVX2(SB), NOSPLIT, $0-32
	MOVQ         p+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         out+16(FP), DI
	VPBROADCASTB bytes<>+0(SB), Y2
	VPBROADCASTB bytes<>+1(SB), Y3
	VPBROADCASTB bytes<>+2(SB), Y4
	VPXOR        Y9, Y9, Y9

next:
	VMOVDQU  (SI), Y0
	VMOVDQU  32(SI), Y1
	VPOR     Y0, Y9, Y9
	VPOR     Y1, Y9, Y9
	VPCMPEQB Y0, Y2, Y5
	VPCMPEQB Y1, Y2, Y6
	VPCMPEQB Y0, Y3, Y7
	VPCMPEQB Y1, Y3, Y8
	VPOR     Y7, Y5, Y5
	VPOR     Y8, Y6, Y6
	VPMINUB  Y0, Y4, Y7
	VPMINUB  Y1, Y4, Y8
	VPCMPEQB Y0, Y7, Y7
	VPCMPEQB Y1, Y8, Y8
	VPOR     Y7, Y5, Y5
	VPOR     Y8, Y6, Y6
	MARKS(Y5, Y6, (DI))
	ADDQ     $64, SI
	ADDQ     $8, DI
	DECQ     CX
	JNE      next
	VPMOVMSKB Y9, AX
	MOVQ     AX, high+24(FP)
	VZEROUPPER
	RET
