/**
 * The maximum length of expressions: parsers and compilers take time for each byte, and longer code belongs in a custom
 * step.
 */
export const MAX_EXPRESSION_BYTES = 16_384;

/** @param source counted as UTF-8; counting stops at the limit */
export function isExpressionTooLong(source: string): boolean {
  if (source.length > MAX_EXPRESSION_BYTES) return true;
  if (source.length * 3 <= MAX_EXPRESSION_BYTES) return false;
  let bytes = source.length;
  for (let index = 0; index < source.length; index += 1) {
    const unit = source.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a surrogate pair counts as two of its four bytes.
    const isHalfOfPair = unit >= 0xd800 && unit <= 0xdfff;
    bytes += unit < 0x800 || isHalfOfPair ? 1 : 2;
  }
  return bytes > MAX_EXPRESSION_BYTES;
}

export const EXPRESSION_TOO_LONG = `An expression can have at most ${MAX_EXPRESSION_BYTES} bytes; move longer code to a custom step.`;
