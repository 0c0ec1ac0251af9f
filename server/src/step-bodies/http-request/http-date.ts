/** Dates in header fields, in the three formats that HTTP requires of every recipient (RFC 9110, 5.6.7). */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const TIME = '(?<hours>\\d\\d):(?<minutes>\\d\\d):(?<seconds>\\d\\d)';
const MONTH = '(?<month>[A-Z][a-z]{2})';
const FORMATS = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  // asctime: Sun Nov  6 08:49:37 1994
  new RegExp(`^[A-Z][a-z]{2} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/** Milliseconds since 1970; null if the text is no such date, or one of a day that does not exist. */
export function readHttpDate(text: string, now: number): number | null {
  for (const format of FORMATS) {
    const parts = format.exec(text)?.groups;
    if (parts !== undefined) return timeOf(parts, now);
  }
  return null;
}

function timeOf(parts: Readonly<Record<string, string>>, now: number): number | null {
  const { day = '', month = '', year = '' } = parts;
  const monthIndex = MONTHS.indexOf(month);
  const [hours, minutes, seconds] = [parts['hours'], parts['minutes'], parts['seconds']].map(
    Number,
  );
  if (hours === undefined || minutes === undefined || seconds === undefined) return null;
  // 60 is a leap second.
  if (monthIndex < 0 || hours > 23 || minutes > 59 || seconds > 60) return null;
  const fullYear = year.length === 2 ? fullYearOf(Number(year), now) : Number(year);
  const midnight = Date.UTC(fullYear, monthIndex, Number(day));
  if (new Date(midnight).getUTCDate() !== Number(day)) return null;
  return midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** More than 50 years from now, it is the most recent year with these digits. */
function fullYearOf(digits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const inThisCentury = thisYear - (thisYear % 100) + digits;
  return inThisCentury > thisYear + 50 ? inThisCentury - 100 : inThisCentury;
}
