#include "division.h"

#if defined(__x86_64__) && defined(__linux__)

#include <ucontext.h>

#include <cstdint>

namespace emulated {

namespace {

// A `div` or `idiv`, decoded as far as needed to skip it.
struct Division {
    unsigned size;    // of the operands, in bytes
    unsigned length;  // of the instruction
};

// The length of an operand's encoding: ModRM, possibly SIB, and a displacement.
unsigned operand_length(const unsigned char *modrm) {
    unsigned mode = *modrm >> 6, rm = *modrm & 7, length = 1;
    if (mode == 3)
        return length;
    bool sib = rm == 4;
    if (sib)
        length++;
    if (mode == 1)
        return length + 1;
    if (mode == 2)
        return length + 4;
    unsigned base = sib ? modrm[1] & 7u : rm;
    return base == 5 ? length + 4 : length;
}

bool decode(const unsigned char *code, Division &d) {
    const unsigned char *p = code;
    d.size = 4;
    if (*p == 0x66) {
        d.size = 2;
        p++;
    }
    if ((*p & 0xf0) == 0x40) {  // REX; its bit W makes it 64 bits
        if (*p & 8)
            d.size = 8;
        p++;
    }
    if (*p != 0xf6 && *p != 0xf7)
        return false;
    if (*p == 0xf6)
        d.size = 1;
    p++;
    unsigned what = *p >> 3 & 7;
    if (what != 6 && what != 7)
        return false;
    d.length = unsigned(p - code) + operand_length(p);
    return true;
}

// Writes the low bytes of a register, as an instruction of that size would.
void put(greg_t &reg, unsigned size, uint64_t value) {
    uint64_t mask = size == 1 ? 0xff : size == 2 ? 0xffff : ~uint64_t(0);
    if (size == 4)
        value &= 0xffffffff;
    reg = greg_t((uint64_t(reg) & ~mask) | (value & mask));
}

}  // namespace

bool finish_division(void *signal_context) {
    greg_t *regs = static_cast<ucontext_t *>(signal_context)->uc_mcontext.gregs;
    Division d;
    if (!decode(reinterpret_cast<const unsigned char *>(regs[REG_RIP]), d))
        return false;
    // The result on hardware is not documented. A quotient with all bits set is the most noticeable
    // if a kernel uses it. The remainder is 0.
    if (d.size == 1) {
        put(regs[REG_RAX], 2, 0x00ff);
    } else {
        put(regs[REG_RAX], d.size, ~uint64_t(0));
        put(regs[REG_RDX], d.size, 0);
    }
    regs[REG_RIP] += greg_t(d.length);
    return true;
}

}  // namespace emulated

#else

namespace emulated {
bool finish_division(void *) { return false; }
}  // namespace emulated

#endif
