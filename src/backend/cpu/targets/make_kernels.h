// Instantiates everything for one leaf.
#pragma once
#include "backend/cpu/attention.h"
#include "backend/cpu/delta.h"
#include "backend/cpu/linear_bfloat.h"
#include "backend/cpu/rows.h"
#include "backend/cpu/targets/targets.h"

namespace tempo9::backend::cpu {

template <class Format, class L>
consteval LinearKernel choose_linear() {
  if constexpr (kHasBfloatTiles<L> && Format::kFormat == quant::Format::kBF16)
    return {linear_by_bfloat_tiles<L>, InputForm::kBfloats};
  else if constexpr (kIsFloats<Format>)
    return {linear<Format, L>, InputForm::kFloats};
  else if constexpr (kHasTiles<L>)
    return {linear_by_tiles<Format, L>, InputForm::kBlocks};
  else
    return {linear<Format, L>, InputForm::kBlocks};
}

template <class L>
consteval auto choose_split_row() {
  if constexpr (kHasBfloatTiles<L>)
    return split_row<L>;
  else
    return nullptr;
}

template <class L, class... Formats>
consteval Kernels make_kernels(const char* name, FormatList<Formats...>) {
  return {
      .name = name,
      .prepare_row = prepare_row<L>,
      .quantise_row = quantise_row<L>,
      .split_row = choose_split_row<L>(),
      .activate_row = activate_row<L>,
      .softcap_row = softcap_row<L>,
      .delta_columns = delta_columns<L>,
      .rotate_row = rotate_row<L>,
      .linear = {choose_linear<Formats, L>()...},
      .kv = {AttentionKernel<L, FloatStore>::table(), AttentionKernel<L, HalfStore>::table(),
             AttentionKernel<L, BfloatStore>::table(), AttentionKernel<L, ByteStore>::table()},
  };
}

}  // namespace tempo9::backend::cpu
