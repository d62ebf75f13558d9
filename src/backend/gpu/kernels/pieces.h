// Sixteen columns of a matrix's row, decoded from the file's own layout. What the bytes of a block mean
// stands with the format in quant/; the values are the same to the bit. Blocks begin at even addresses, but
// MXFP4's.
#pragma once

BEGIN_KERNELS

INLINE uint load16(DEVICE const uchar* p) {
  return *(DEVICE const ushort*)p;
}
INLINE float load_half(DEVICE const uchar* p) {
  return from_half(load16(p));
}
INLINE int signed_byte(uint v) {
  return int((v & 255u) ^ 128u) - 128;
}

// Sixteen bytes.
struct Bytes {
  uint words[4];
};
INLINE Bytes load_bytes(DEVICE const uchar* p) {
  Bytes bytes;
  UNROLL for (uint i = 0; i < 4; ++i) bytes.words[i] = load16(p + 4 * i) | load16(p + 4 * i + 2) << 16;
  return bytes;
}
INLINE uint byte_of(Bytes bytes, uint i) {
  return bytes.words[i / 4] >> (8 * (i % 4)) & 255u;
}
INLINE uint nibble_of(Bytes bytes, uint i, uint high) {
  return byte_of(bytes, i) >> (4 * high) & 15u;
}

// ---- 32 columns a block, two parts ----

INLINE void decode_q4_0(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const float scale = load_half(block);
  const Bytes levels = load_bytes(block + 2);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] = scale * float(int(nibble_of(levels, i, part)) - 8);
}

INLINE void decode_q4_1(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const float scale = load_half(block), minimum = load_half(block + 2);
  const Bytes levels = load_bytes(block + 4);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] = scale * float(nibble_of(levels, i, part)) + minimum;
}

INLINE uint five_bits(Bytes levels, uint high_bits, uint i, uint part) {
  return nibble_of(levels, i, part) | (high_bits >> (16 * part + i) & 1u) << 4;
}

INLINE void decode_q5_0(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const float scale = load_half(block);
  const uint high_bits = load16(block + 2) | load16(block + 4) << 16;
  const Bytes levels = load_bytes(block + 6);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] =
      scale * float(int(five_bits(levels, high_bits, i, part)) - 16);
}

INLINE void decode_q5_1(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const float scale = load_half(block), minimum = load_half(block + 2);
  const uint high_bits = load16(block + 4) | load16(block + 6) << 16;
  const Bytes levels = load_bytes(block + 8);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] =
      scale * float(five_bits(levels, high_bits, i, part)) + minimum;
}

INLINE void decode_q8_0(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const float scale = load_half(block);
  const Bytes levels = load_bytes(block + 2 + 16 * part);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] = float(signed_byte(byte_of(levels, i))) * scale;
}

// The table of IQ4_NL and IQ4_XS, a byte a level.
INLINE int iq4_level(uint index) {
  const ulong eight = index < 8 ? 0xf6eaddcfbfad9881ul : 0x7159453526190d01ul;
  return signed_byte(uint(eight >> (8 * (index & 7u))));
}

INLINE void decode_iq4_nl(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const float scale = load_half(block);
  const Bytes indices = load_bytes(block + 2);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] = scale * float(iq4_level(nibble_of(indices, i, part)));
}

// Twice the value of an E2M1 code.
INLINE int doubled_e2m1(uint code) {
  const int magnitude = int(uint(0x0c08060403020100ul >> (8 * (code & 7u))) & 255u);
  return code < 8 ? magnitude : -magnitude;
}

INLINE void decode_mxfp4(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const uint exponent = block[0];
  const float half_scale = as_float(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] =
      half_scale * float(doubled_e2m1(uint(block[1 + i]) >> (4 * part) & 15u));
}

// ---- 256 columns a block, sixteen parts ----

// The scale and minimum of a sub-block of Q4_K and Q5_K.
struct SubBlock {
  float scale, minimum;
};
INLINE SubBlock sub_block_of(DEVICE const uchar* block, uint s) {
  DEVICE const uchar* bytes = block + 4;
  uint scale, minimum;
  if (s < 4) {
    scale = uint(bytes[s]) & 63u;
    minimum = uint(bytes[s + 4]) & 63u;
  } else {
    scale = (uint(bytes[s + 4]) & 15u) | uint(bytes[s - 4]) >> 6 << 4;
    minimum = uint(bytes[s + 4]) >> 4 | uint(bytes[s]) >> 6 << 4;
  }
  const SubBlock found = {load_half(block) * float(scale), load_half(block + 2) * float(minimum)};
  return found;
}

INLINE void decode_q4_k(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const uint s = part / 2;
  const SubBlock sub = sub_block_of(block, s);
  const Bytes levels = load_bytes(block + 16 + s / 2 * 32 + part % 2 * 16);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] =
      sub.scale * float(nibble_of(levels, i, s % 2)) - sub.minimum;
}

INLINE void decode_q5_k(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const uint s = part / 2;
  const SubBlock sub = sub_block_of(block, s);
  const Bytes high_bits = load_bytes(block + 16 + part % 2 * 16);
  const Bytes levels = load_bytes(block + 48 + s / 2 * 32 + part % 2 * 16);
  UNROLL for (uint i = 0; i < PIECE; ++i) {
    const uint level = nibble_of(levels, i, s % 2) | (byte_of(high_bits, i) >> s & 1u) << 4;
    out[i] = sub.scale * float(level) - sub.minimum;
  }
}

INLINE void decode_q2_k(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const uint scales = block[part], shift = part / 2 % 4 * 2;
  const float scale = load_half(block + 80) * float(scales & 15u);
  const float minimum = load_half(block + 82) * float(scales >> 4);
  const Bytes levels = load_bytes(block + 16 + part / 8 * 32 + part % 2 * 16);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] = scale * float(byte_of(levels, i) >> shift & 3u) - minimum;
}

INLINE void decode_q3_k(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const uint group = part / 2, shift = group % 4 * 2;
  const uint low_scale = uint(block[96 + part % 8]) >> (part / 8 * 4) & 15u;
  const uint high_scale = uint(block[104 + part % 4]) >> (part / 4 * 2) & 3u;
  const float scale = load_half(block + 108) * float(int(low_scale | high_scale << 4) - 32);
  const Bytes high_bits = load_bytes(block + part % 2 * 16);
  const Bytes levels = load_bytes(block + 32 + part / 8 * 32 + part % 2 * 16);
  UNROLL for (uint i = 0; i < PIECE; ++i) {
    const uint level = (byte_of(levels, i) >> shift & 3u) | (byte_of(high_bits, i) >> group & 1u) << 2;
    out[i] = scale * float(int(level) - 4);
  }
}

INLINE void decode_q6_k(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const uint half_block = part / 8, group = part / 2 % 4;
  const float scale = load_half(block + 208) * float(signed_byte(block[192 + part]));
  const Bytes low = load_bytes(block + half_block * 64 + group % 2 * 32 + part % 2 * 16);
  const Bytes high = load_bytes(block + 128 + half_block * 32 + part % 2 * 16);
  UNROLL for (uint i = 0; i < PIECE; ++i) {
    const uint level = nibble_of(low, i, group / 2) | (byte_of(high, i) >> (2 * group) & 3u) << 4;
    out[i] = scale * float(int(level) - 32);
  }
}

INLINE void decode_iq4_xs(DEVICE const uchar* block, uint part, THREAD float (&out)[PIECE]) {
  const uint s = part / 2;
  const uint low = uint(block[4 + s / 2]) >> (s % 2 * 4) & 15u, high = load16(block + 2) >> (2 * s) & 3u;
  const float scale = load_half(block) * float(int(low | high << 4) - 32);
  const Bytes indices = load_bytes(block + 8 + s * 16);
  UNROLL for (uint i = 0; i < PIECE; ++i) out[i] = scale * float(iq4_level(nibble_of(indices, i, part % 2)));
}

// ---- Any format ----

// Numbers that stand alone; columns past the row's end are 0.
INLINE void decode_floats(uint format, DEVICE const uchar* row, uint first, uint columns,
                          THREAD float (&out)[PIECE]) {
  if (format == FORMAT_F32 && columns % PIECE == 0) {
    DEVICE const float4* vectors = (DEVICE const float4*)((DEVICE const float*)row + first);
    UNROLL for (uint i = 0; i < PIECE / 4; ++i) {
      const float4 v = vectors[i];
      out[4 * i] = v.x;
      out[4 * i + 1] = v.y;
      out[4 * i + 2] = v.z;
      out[4 * i + 3] = v.w;
    }
    return;
  }
  UNROLL for (uint i = 0; i < PIECE; ++i) {
    const uint k = first + i;
    out[i] = 0.0f;
    if (k >= columns) continue;
    if (format == FORMAT_F32)
      out[i] = ((DEVICE const float*)row)[k];
    else if (format == FORMAT_F16)
      out[i] = load_half(row + 2 * k);
    else
      out[i] = as_float(load16(row + 2 * k) << 16);
  }
}

INLINE void decode_piece(uint format, DEVICE const uchar* row, uint piece, uint columns,
                         THREAD float (&out)[PIECE]) {
  const uint half_part = piece % 2, small = piece / 2, part = piece % 16, large = piece / 16;
  switch (format) {
    case FORMAT_Q4_0:
      decode_q4_0(row + small * 18, half_part, out);
      break;
    case FORMAT_Q4_1:
      decode_q4_1(row + small * 20, half_part, out);
      break;
    case FORMAT_Q5_0:
      decode_q5_0(row + small * 22, half_part, out);
      break;
    case FORMAT_Q5_1:
      decode_q5_1(row + small * 24, half_part, out);
      break;
    case FORMAT_Q8_0:
      decode_q8_0(row + small * 34, half_part, out);
      break;
    case FORMAT_IQ4_NL:
      decode_iq4_nl(row + small * 18, half_part, out);
      break;
    case FORMAT_MXFP4:
      decode_mxfp4(row + small * 17, half_part, out);
      break;
    case FORMAT_Q2_K:
      decode_q2_k(row + large * 84, part, out);
      break;
    case FORMAT_Q3_K:
      decode_q3_k(row + large * 110, part, out);
      break;
    case FORMAT_Q4_K:
      decode_q4_k(row + large * 144, part, out);
      break;
    case FORMAT_Q5_K:
      decode_q5_k(row + large * 176, part, out);
      break;
    case FORMAT_Q6_K:
      decode_q6_k(row + large * 210, part, out);
      break;
    case FORMAT_IQ4_XS:
      decode_iq4_xs(row + large * 136, part, out);
      break;
    default:
      decode_floats(format, row, piece * PIECE, columns, out);
      break;
  }
}

END_KERNELS
