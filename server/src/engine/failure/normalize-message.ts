/**
 * Normalizes error messages: removes the parts that vary from run to run, such as numbers, ids, times and email addresses. The
 * remaining text identifies the cause, so that failures with the same cause form a group.
 *
 * The host of an address stays, because hosts fail for reasons of their own, and so do the words of its path, because two
 * endpoints of one host are two causes. Quoted words stay, because they are usually names (`KeyError: 'total'`). Status codes
 * stay: `answered 404` and `answered 503` have different causes.
 */

/** The rest of a longer message is ignored. */
const READ_MAX = 4096;
/** Maximum length of a normalized message. */
export const NORMALIZED_MAX = 200;

/** Line breaks and all other control characters. */
const BLANKS = /[\s\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** In a Unicode regular expression, this doesn't match half of a valid pair. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** The alternatives, each with a name. No alternative can match in more than one way, so the time is linear. */
const VARIABLE = new RegExp(
  [
    '(?<url>\\bhttps?://[^\\s?"\'<>,;)]{1,2048})',
    '(?<kept>\\b(?:answered|status(?: code)?|code|errno|HTTP(?:/\\d(?:\\.\\d)?)?)[ :=]{0,3}\\d{1,5}(?![\\w.]))',
    '(?<id>\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?!\\w))',
    '(?<time>\\b\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?(?!\\w))',
    '(?<email>(?<![\\w.+-])[\\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\\.[a-z0-9-]{1,63}){1,8})',
    '(?<word>(?<![a-z0-9])[a-z0-9]{8,})',
    '(?<number>(?<!\\w)-\\d[\\d.,:]*\\d|(?<!\\w)-\\d|\\d[\\d.,:]*\\d|\\d)',
  ].join('|'),
  'giu',
);

export function normalizeMessage(message: string): string {
  const text = oneLine(message.slice(0, READ_MAX));
  const normalized = text.replaceAll(VARIABLE, (match, ...rest) => {
    // With named groups, they are the last argument.
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (groups['kept'] !== undefined) return match;
    if (groups['url'] !== undefined) return normalizeUrl(match);
    if (groups['word'] !== undefined) return normalizeWord(match);
    if (groups['number'] !== undefined) return '#';
    return groups['time'] !== undefined
      ? '<time>'
      : groups['email'] !== undefined
        ? '<email>'
        : '<id>';
  });
  return truncateText(normalized, NORMALIZED_MAX);
}

/** `https://api.example.com/orders/4711/items` becomes `https://api.example.com/orders/#/items`. */
function normalizeUrl(url: string): string {
  let length = url.length;
  while (url[length - 1] === '.' || url[length - 1] === ':') length -= 1;
  const hostAt = url.indexOf('//') + 2;
  const slashAt = url.indexOf('/', hostAt);
  const hostEnd = slashAt === -1 ? length : slashAt;
  const authority = url.slice(hostAt, hostEnd);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const path = url.slice(hostEnd, length);
  return `${url.slice(0, hostAt)}${host}${path.split('/').map(normalizeSegment).join('/')}${url.slice(length)}`;
}

/** A name may end with a digit or two, as in `v2` and `oauth2`; anything else with digits is an id. */
function normalizeSegment(segment: string): string {
  const text = segment.replaceAll(/%[0-9a-f]{2}/gi, '');
  if (!/[\d@]/.test(text)) return segment;
  return /^[a-z]{1,20}\d{1,2}$/.test(text) ? text.replace(/\d{1,2}$/, '#') : '#';
}

/** Joins a text into one line without control characters. */
export function oneLine(text: string): string {
  return text.replaceAll(BLANKS, ' ').trim().replaceAll(LONE_SURROGATE, '\ufffd');
}

/** Never splits a surrogate pair. */
export function truncateText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Letters mixed with several digits are an id; a word may have a digit or two, as in `sha256sum`. */
function normalizeWord(word: string): string {
  const parts = word.split(/\d+/);
  if (parts.length === 1) return word;
  const digits = word.length - parts.join('').length;
  if (parts.every((part) => part === '')) return '#';
  // Digits in several places are typical of ids; so are many digits.
  return parts.length > 2 || digits > 3 ? '<id>' : parts.join('#');
}
