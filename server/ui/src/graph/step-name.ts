/** Breaks the name of a step into the lines of its box. Pure. */

/** The width of a text in pixels, in the font of names. */
export type MeasureText = (text: string) => number;

const ELLIPSIS = '…';
/** The first line ends after one of these, if that leaves it at least half full. */
const BREAK_AFTER = /[\s\-_.:/]$/u;
/** Longer names are shortened without measuring the omitted part. */
const CHARACTERS_MAX = 400;

/**
 * One line or two. A name that is too long for two lines is shortened in the middle, because names often differ only at
 * the end.
 */
export function nameLines(name: string, width: number, measure: MeasureText): readonly string[] {
  const characters = charactersOf(name);
  if (characters.length < CHARACTERS_MAX && measure(name) <= width) return [name];
  const first = firstLine(characters, width, measure);
  const rest = characters.slice(first.length);
  const restText = rest.join('');
  if (rest.length < CHARACTERS_MAX && measure(restText) <= width) return [first.join(''), restText];
  const kept = longestThat(
    (length) => measure(ELLIPSIS + rest.slice(-length).join('')) <= width,
    rest,
  );
  return [first.join(''), ELLIPSIS + rest.slice(rest.length - kept).join('')];
}

/** An estimate, slightly too wide for most fonts, for environments without text measurement. */
export function estimatedWidth(text: string): number {
  return Array.from(text, (character) => (character > '\u2e7f' ? 15 : 8.6)).reduce(
    (sum, width) => sum + width,
    0,
  );
}

/** Only the ends of an overlong name are read. */
function charactersOf(name: string): readonly string[] {
  const short =
    name.length > 2 * CHARACTERS_MAX
      ? name.slice(0, CHARACTERS_MAX) + name.slice(-CHARACTERS_MAX)
      : name;
  return Array.from(new Intl.Segmenter().segment(short), ({ segment }) => segment);
}

function firstLine(
  characters: readonly string[],
  width: number,
  measure: MeasureText,
): readonly string[] {
  const fits = (length: number): boolean =>
    measure(characters.slice(0, length).join('').trimEnd()) <= width;
  const most = longestThat(fits, characters);
  for (let length = most; length >= most / 2; length -= 1) {
    if (BREAK_AFTER.test(characters[length - 1] ?? '')) return characters.slice(0, length);
  }
  return characters.slice(0, most);
}

/** The greatest length that fits, at least 1. */
function longestThat(fits: (length: number) => boolean, characters: readonly string[]): number {
  let [least, most] = [1, characters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}
