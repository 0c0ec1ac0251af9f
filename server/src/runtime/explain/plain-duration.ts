/**
 * Durations for people: "40 s", "12 min", "3 h 5 min", "2 d 4 h". The operator's page also uses this file, so it must not
 * import anything.
 */
const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** Rounded to the second; from one minute on, at most two units. Negative and empty durations are "0 s". */
export function plainDuration(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1000), 0);
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  const unit = UNITS[first];
  if (unit === undefined) return '0 s';
  const [name, length] = unit;
  const text = `${Math.floor(seconds / length)} ${name}`;
  const next = UNITS[first + 1];
  // Minutes are precise enough without seconds.
  if (next === undefined || next[0] === 's') return text;
  const rest = Math.floor((seconds % length) / next[1]);
  return rest === 0 ? text : `${text} ${rest} ${next[0]}`;
}
