/**
 * The order of ids in every list: by code points, which is also the byte order of UTF-8 that SQLite and MongoDB sort by.
 * JavaScript's own `<` compares UTF-16 units and puts U+1F600 before U+FF5E.
 */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === length) return left.length - right.length;
  return rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
}

/** Lifts surrogates (which stand for code points above U+FFFF) above all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
