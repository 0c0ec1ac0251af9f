/** The media type of a response, as browsers find it in its `Content-Type` fields (Fetch standard, "extract a MIME type"). */

export interface MediaType {
  /** In lower case; empty if there is none. */
  readonly essence: string;
  readonly charset: string | null;
}

const ESSENCE = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** @param fields the values of all fields, joined by commas: the last valid one counts */
export function readMediaType(fields: string): MediaType {
  let found: MediaType = { essence: '', charset: null };
  for (const value of splitOutsideQuotes(fields, ',')) {
    const [type = '', ...parameters] = splitOutsideQuotes(value, ';').map((part) => part.trim());
    const essence = type.toLowerCase();
    if (!ESSENCE.test(essence) || essence === '*/*') continue;
    // One that repeats the type does not take away the charset.
    const inherited = essence === found.essence ? found.charset : null;
    found = { essence, charset: charsetOf(parameters) ?? inherited };
  }
  return found;
}

function charsetOf(parameters: readonly string[]): string | null {
  const parameter = parameters.find((text) => /^charset\s*=/i.test(text));
  return parameter?.replace(/^charset\s*=\s*/i, '').replaceAll(/^["']|["']$/g, '') ?? null;
}

/** A quote that is not closed ends with the text. */
function splitOutsideQuotes(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (isQuoted && character === '\\') at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}
