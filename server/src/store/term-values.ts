/**
 * Values of tags and index fields as text that sorts like them. The first letter tells the type:
 *  - `b0`, `b1`: booleans.
 *  - `n…`: numbers by value, in decimal: sign, exponent, digits. Those below zero have everything complemented.
 *  - `s…`: text, by code points.
 */
import type { IndexValue } from '../engine/values/index-fields.js';

export function termValue(value: IndexValue): string {
  if (typeof value === 'string') return `s${storableText(value)}`;
  if (typeof value === 'boolean') return value ? 'b1' : 'b0';
  return `n${numberTerm(value)}`;
}

/** Makes all exponents positive, with four digits: an integer has at most 1,000 digits. */
const EXPONENT_BIAS = 5000;

function numberTerm(value: number | bigint): string {
  if (value === 0) return '1';
  if (value === Infinity) return '2~';
  if (value === -Infinity) return '0!';
  const { digits, exponent } = decimalOf(value);
  const place = String(exponent + EXPONENT_BIAS);
  // Complemented digits turn the order around; `~` follows all digits, because a longer number is smaller here.
  return value > 0 ? `2${place}${digits}` : `0${complement(place + digits)}~`;
}

/** The absolute value is 0.DIGITS × 10^exponent. The shortest digits that are read as this number sort like numbers. */
function decimalOf(value: number | bigint): { digits: string; exponent: number } {
  if (typeof value === 'bigint') {
    const text = value.toString().replace('-', '');
    let end = text.length;
    while (text.charAt(end - 1) === '0') end -= 1;
    return { digits: text.slice(0, end), exponent: text.length };
  }
  const [mantissa = '', exponent = ''] = Math.abs(value).toExponential().split('e');
  return { digits: mantissa.replace('.', ''), exponent: Number(exponent) + 1 };
}

function complement(digits: string): string {
  let result = '';
  for (const digit of digits) result += String(9 - Number(digit));
  return result;
}

/** The characters that a database may not store, or that escape them. */
const UNSTORABLE = /[\0\u0001\ud7ff]|\p{Surrogate}/u;
const ALL_UNSTORABLE = /[\0\u0001\ud7ff]|\p{Surrogate}/gu;

/**
 * Text without U+0000 and lone surrogates, which not every database can store. They are escaped so that different texts stay
 * different and all keep their order: U+0000 sorts before U+0001, and surrogates directly after U+D7FF.
 */
export function storableText(text: string): string {
  if (!UNSTORABLE.test(text)) return text;
  return text.replaceAll(ALL_UNSTORABLE, (character) => {
    if (character === '\0') return '\u0001\u0001';
    if (character === '\u0001') return '\u0001\u0002';
    if (character === '\ud7ff') return '\ud7ff\u0001';
    return `\ud7ff${String.fromCharCode(character.charCodeAt(0) - 0xd800 + 0x100)}`;
  });
}
