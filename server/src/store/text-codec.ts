/**
 * Text for databases that store UTF-8, which has no lone surrogates.
 *
 * JavaScript strings may hold them (`JSON.parse('"\\ud800"')`), and encoders silently replace them, so that two ids could
 * become one. Text with a lone surrogate is stored as a marker and a JSON string, which escapes them; so is text that
 * begins with the marker. All other text is stored as it is. The mapping is one-to-one, so encoded ids can be compared;
 * only the place of such text in sorted lists is not by code point.
 */
const MARKER = '\u0001';
const ANY_SURROGATE = /[\ud800-\udfff]/;
/** In a Unicode regular expression a surrogate that is half of a pair does not match. */
const LONE_SURROGATE = /\p{Surrogate}/u;

export function encodeText(text: string): string {
  const isPlain =
    !text.startsWith(MARKER) && (!ANY_SURROGATE.test(text) || !LONE_SURROGATE.test(text));
  return isPlain ? text : MARKER + JSON.stringify(text);
}

export function encodeOptional(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

/** For databases whose text has no U+0000 either. JSON escapes it, and `decodeText` reads both. */
export function encodeTextWithoutNul(text: string): string {
  const encoded = encodeText(text);
  return encoded.includes('\0') ? MARKER + JSON.stringify(text) : encoded;
}

export function decodeText(stored: string): string {
  if (!stored.startsWith(MARKER)) return stored;
  const text: unknown = JSON.parse(stored.slice(MARKER.length));
  if (typeof text !== 'string') throw new TypeError('The stored text is corrupt');
  return text;
}
