/** Formats times and durations for people. */
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const;
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
/** Older times are shown as dates. */
const RELATIVE_MAX = 7 * DAY;

/** `3 minutes ago`, `in 2 days`, and `2026-05-04 12:20` for times that are more than a week away. */
export function relativeTime(time: string | null, now: number): string {
  if (time === null) return '';
  const distance = Date.parse(time) - now;
  const size = Math.abs(distance);
  if (Number.isNaN(distance)) return time;
  if (size >= RELATIVE_MAX) return localTime(time).slice(0, 16);
  const found = UNITS.find(([, ms]) => size >= ms);
  if (found === undefined) return 'now';
  const [unit, ms] = found;
  return RELATIVE.format(Math.trunc(distance / ms), unit);
}

/** `2026-05-04 12:20:30` in the user's time zone. */
export function localTime(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const part = (value: number): string => String(value).padStart(2, '0');
  const day = [date.getFullYear(), part(date.getMonth() + 1), part(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(part).join(':')}`;
}

/** Both forms: `2026-05-04 12:20:30, 3 minutes ago`. */
export function fullTime(time: string, now: number): string {
  const relative = relativeTime(time, now);
  const local = localTime(time);
  return local.startsWith(relative) ? local : `${local}, ${relative}`;
}

/** `12 ms`, `1.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function durationOf(from: string, to: string): string {
  return duration(Date.parse(to) - Date.parse(from));
}

export function duration(ms: number): string {
  if (Number.isNaN(ms)) return '';
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return twoUnits(ms, [MINUTE, 'min'], [SECOND, 's']);
  if (ms < DAY) return twoUnits(ms, [HOUR, 'h'], [MINUTE, 'min']);
  return twoUnits(ms, [DAY, 'd'], [HOUR, 'h']);
}

type Unit = readonly [ms: number, name: string];

function twoUnits(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  const first = `${Math.floor(ms / large)} ${largeName}`;
  return rest === 0 ? first : `${first} ${rest} ${smallName}`;
}
