/**
 * Texts that somebody has written with escapes: percent-encoded as in URLs, with backslashes as in JSON and Python, as in HTML.
 *
 *  DT1 Every position of a decoded text has its position in the original, so that what is found in one can be replaced in
 *      the other.
 *  DT2 The time and the memory grow with the length of the text.
 */

interface Escapes {
  /** No text without it contains an escape. */
  readonly sign: string;
  readonly pattern: RegExp;
  /** What an escape, or a run of them, stands for; null: it is none. */
  readonly read: (escape: string) => readonly WrittenCharacter[] | null;
}

interface WrittenCharacter {
  readonly character: string;
  /** How many characters the escape has. */
  readonly length: number;
}

export class DecodedText {
  readonly text: string;
  /** By position; null: the text is the original. */
  readonly #offsets: Uint32Array | null;

  constructor(text: string, offsets: Uint32Array | null = null) {
    this.text = text;
    this.#offsets = offsets;
  }

  /** Null: there is nothing to decode. */
  decode({ pattern, read, sign }: Escapes): DecodedText | null {
    const { text } = this;
    if (!text.includes(sign)) return null;
    // Nothing that is written with escapes gets longer. Without an object for each character, a hostile text costs little.
    const units = new Uint16Array(text.length);
    const offsets = new Uint32Array(text.length + 1);
    let length = 0;
    let end = 0;
    const put = (unit: number): void => {
      units[length] = unit;
      offsets[length] = this.offset(end);
      length += 1;
    };
    const copyTo = (index: number): void => {
      for (; end < index; end += 1) put(text.charCodeAt(end));
    };
    for (const { 0: escape, index } of text.matchAll(pattern)) {
      const characters = read(escape);
      if (characters === null) continue;
      copyTo(index);
      for (const written of characters) {
        for (let unit = 0; unit < written.character.length; unit += 1) {
          put(written.character.charCodeAt(unit));
        }
        end += written.length;
      }
    }
    if (end === 0) return null;
    copyTo(text.length);
    offsets[length] = this.offset(end);
    return new DecodedText(Buffer.from(units.buffer, 0, 2 * length).toString('utf16le'), offsets);
  }

  /** Where a character starts in the original; for the end of the text, the end of the original. */
  offset(at: number): number {
    return this.#offsets === null ? at : (this.#offsets[at] ?? 0);
  }
}

/** `%c3%bc`, where it is UTF-8. */
const PERCENT: Escapes = {
  sign: '%',
  pattern: /(?:%[0-9a-f]{2})+/gi,
  read: (run) => readUtf8(run.replaceAll('%', ''), '%00'.length),
};

const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** `\"`, `\n`, `\u00fc`, and Python's `\xfc` and `\U0001f600`. */
const BACKSLASH: Escapes = {
  sign: '\\',
  pattern: /(?:\\x[0-9A-Fa-f]{2})+|\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^])/g,
  read(escape) {
    const { length } = escape;
    const kind = escape.charAt(1);
    if (length > 2 && kind === 'x') {
      const digits = escape.replaceAll('\\x', '');
      return readUtf8(digits, '\\x00'.length) ?? readLatin1(digits, '\\x00'.length);
    }
    if (length > 2) {
      const code = parseInt(escape.slice(2), 16);
      return code > 0x10ffff ? null : [{ character: characterOf(kind, code), length }];
    }
    return [{ character: NAMED[kind] ?? kind, length }];
  },
};

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  quot: '"',
};

/** `&quot;`, `&#39;`, `&#x27;` */
const ENTITY: Escapes = {
  sign: '&',
  pattern: /&(?:amp|apos|gt|lt|quot|#\d{1,7}|#x[0-9a-f]{1,6});/gi,
  read(escape) {
    const name = escape.slice(1, -1).toLowerCase();
    const code = name.startsWith('#x') ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    const named = ENTITIES[name];
    if (named === undefined && !(code <= 0x10ffff)) return null;
    return [{ character: named ?? String.fromCodePoint(code), length: escape.length }];
  },
};

/**
 * How texts are written that contain other texts: a JSON text in a JSON text, and in one more, as in an error that quotes the
 * body of a request; JSON in a URL, and in HTML.
 */
export const WAYS_OF_WRITING: readonly (readonly Escapes[])[] = [
  [PERCENT],
  [PERCENT, BACKSLASH],
  [PERCENT, BACKSLASH, BACKSLASH],
  [BACKSLASH],
  [BACKSLASH, BACKSLASH],
  [BACKSLASH, BACKSLASH, BACKSLASH],
  [ENTITY],
  [ENTITY, BACKSLASH],
  [ENTITY, BACKSLASH, BACKSLASH],
  [ENTITY, BACKSLASH, BACKSLASH, BACKSLASH],
];

/** A pair of surrogates is written as two escapes. */
function characterOf(kind: string, code: number): string {
  return kind === 'u' ? String.fromCharCode(code) : String.fromCodePoint(code);
}

function readUtf8(digits: string, lengthOfByte: number): readonly WrittenCharacter[] | null {
  const text = Buffer.from(digits, 'hex').toString();
  if (text.includes('\uFFFD')) return null;
  return Array.from(text, (character) => ({
    character,
    length: Buffer.byteLength(character) * lengthOfByte,
  }));
}

function readLatin1(digits: string, lengthOfByte: number): readonly WrittenCharacter[] {
  const text = Buffer.from(digits, 'hex').toString('latin1');
  return Array.from(text, (character) => ({ character, length: lengthOfByte }));
}
