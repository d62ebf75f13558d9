#include "backend/cpu/isa.h"

#include <cstdlib>

#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "backend/cpu/targets/targets.h"

namespace tempo9::backend::cpu {
namespace {

struct Isa {
  std::string_view name;
  bool (*runs_here)();
  const Kernels& (*kernels)();
};

#if defined(__x86_64__)
// What not every compiler knows by name is asked of CPUID itself (Intel's Software Developer's Manual, volume
// 2A). Zeros where the processor does not know the leaf.
struct CpuId {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  explicit CpuId(unsigned leaf) { __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx); }
};
bool has_f16c() {
  return (CpuId(1).ecx >> 29 & 1) != 0;
}
bool has_amx_units() {
  constexpr unsigned kBfloats = 1u << 22, kTiles = 1u << 24, kBytes = 1u << 25,
                     kAll = kBfloats | kTiles | kBytes;
  return (CpuId(7).edx & kAll) == kAll;
}

// These questions include whether the operating system saves the registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni");
}
bool has_avx512bf16() {
  return has_avx512() && __builtin_cpu_supports("avx512bf16");
}
// Linux keeps the tiles' registers only for a process that has asked (arch/x86/include/uapi/asm/prctl.h).
bool has_amx() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return has_avx512bf16() && has_amx_units() && ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

const Kernels& avx512bf16_kernels() {
  static const Kernels kernels = [] {
    Kernels k = kAvx512Kernels;
    k.name = "avx512bf16";
    k.kv[static_cast<int>(KvType::kBF16)] = kAvx512Bf16Store;
    return k;
  }();
  return kernels;
}
#elif defined(__aarch64__)
bool has_dotprod() {
  constexpr unsigned long kBoth = HWCAP_ASIMDHP | HWCAP_ASIMDDP;
  return (::getauxval(AT_HWCAP) & kBoth) == kBoth;
}
bool has_i8mm() {
  return has_dotprod() && (::getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
}
#endif

// The fastest first.
constexpr Isa kIsas[] = {
#if defined(__x86_64__)
    {"avx512bf16", has_avx512bf16, avx512bf16_kernels},
    // For those who ask: where it was measured (Intel Xeons), quantised weights run 0.7 to 1.2 times as fast
    // as with the first, and BF16 1.1 to 3.4 times.
    {"amx", has_amx, []() -> const Kernels& { return kAmxKernels; }},
    {"avx512", has_avx512, []() -> const Kernels& { return kAvx512Kernels; }},
    {"avx2", has_avx2, []() -> const Kernels& { return kAvx2Kernels; }},
#elif defined(__aarch64__)
    {"neon_i8mm", has_i8mm, []() -> const Kernels& { return kNeonI8mmKernels; }},
    {"neon_dotprod", has_dotprod, []() -> const Kernels& { return kNeonDotprodKernels; }},
#endif
    {"scalar", [] { return true; }, []() -> const Kernels& { return kScalarKernels; }},
};

// The names for which `wanted` is true, in a sentence.
template <class Wanted>
std::string list_names(Wanted wanted) {
  std::string names;
  for (const Isa& isa : kIsas)
    if (wanted(isa)) names += fmt::format("{}{}", names.empty() ? "" : ", ", isa.name);
  return names;
}

}  // namespace

std::vector<const Kernels*> runnable_kernels() {
  std::vector<const Kernels*> tables;
  for (const Isa& isa : kIsas)
    if (isa.runs_here()) tables.push_back(&isa.kernels());
  return tables;
}

Result<const Kernels*> choose_kernels(std::string_view name) {
  if (name.empty())
    if (const char* forced = std::getenv("TEMPO9_CPU_ISA")) name = forced;
  if (name.empty()) return runnable_kernels().front();
  for (const Isa& isa : kIsas) {
    if (isa.name != name) continue;
    if (isa.runs_here()) return &isa.kernels();
    return fail(ErrorCode::kUnsupported, "this machine has no CPU instruction set '{}'; it can run: {}", name,
                list_names([](const Isa& i) { return i.runs_here(); }));
  }
  return fail(ErrorCode::kInvalidArgument, "unknown CPU instruction set '{}'; this build has: {}", name,
              list_names([](const Isa&) { return true; }));
}

}  // namespace tempo9::backend::cpu
