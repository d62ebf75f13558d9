// The formats of this backend. A kernel table has one entry for each, in this order.
#pragma once
#include "backend/cpu/format/floats.h"
#include "backend/cpu/format/iq4_nl.h"
#include "backend/cpu/format/iq4_xs.h"
#include "backend/cpu/format/mxfp4.h"
#include "backend/cpu/format/q2_k.h"
#include "backend/cpu/format/q3_k.h"
#include "backend/cpu/format/q4_0.h"
#include "backend/cpu/format/q4_1.h"
#include "backend/cpu/format/q4_k.h"
#include "backend/cpu/format/q5_0.h"
#include "backend/cpu/format/q5_1.h"
#include "backend/cpu/format/q5_k.h"
#include "backend/cpu/format/q6_k.h"
#include "backend/cpu/format/q8_0.h"

namespace tempo9::backend::cpu {

template <class... Formats>
struct FormatList {
  static constexpr int kCount = sizeof...(Formats);
};

using AllFormats =
    FormatList<PanelF32, PanelF16, PanelBF16, PanelQ4_0, PanelQ4_1, PanelQ5_0, PanelQ5_1, PanelQ8_0,
               PanelQ2_K, PanelQ3_K, PanelQ4_K, PanelQ5_K, PanelQ6_K, PanelIQ4_NL, PanelIQ4_XS, PanelMXFP4>;

}  // namespace tempo9::backend::cpu
