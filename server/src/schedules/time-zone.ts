/** Local times of IANA time zones, from the ICU data of the platform. */
import { LRUCache } from 'lru-cache';

const MINUTE_MS = 60_000;
/** How far around a time a part of the day is looked for that clocks show twice: more than is ever repeated but days. */
const REPEATED_MS_MAX = 3 * 3_600_000;
/** Longer than the distance of any zone from UTC, and shorter than the time between two changes of the clocks. */
const AROUND_MS = 26 * 3_600_000;

const zones = new LRUCache<string, TimeZone>({ max: 200 });

/** Null if there is no such zone. */
export function timeZoneOf(name: string): TimeZone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  // Intl also accepts offsets such as "+02:00", which are no zones.
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return null;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
  const zone = new TimeZone(format);
  zones.set(name, zone);
  return zone;
}

/** Local times are written as the instant at which UTC shows them. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new LRUCache<number, number>({ max: 5000 });

  constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
  }

  localOf(instant: number): number {
    return instant + this.#offsetAt(instant);
  }

  /** The first instant at which clocks show this time or, if a change of the clocks skips it, the first one after the gap. */
  instantOf(local: number): number {
    const before = this.#offsetAt(local - AROUND_MS);
    const after = this.#offsetAt(local + AROUND_MS);
    // If clocks show the time twice, the offset before the change gives the first.
    for (const offset of [before, after]) {
      if (this.#offsetAt(local - offset) === offset) return local - offset;
    }
    return this.#changeBetween(local - AROUND_MS, local + AROUND_MS);
  }

  /** The instants, near the given one, at which clocks show times that they have shown before. */
  repeatedNear(instant: number): { readonly begin: number; readonly end: number } | null {
    const [from, to] = [instant - REPEATED_MS_MAX, instant + REPEATED_MS_MAX];
    const backMs = this.#offsetAt(from) - this.#offsetAt(to);
    if (backMs <= 0 || backMs > REPEATED_MS_MAX) return null;
    const begin = this.#changeBetween(from, to);
    return { begin, end: begin + backMs };
  }

  /** The first instant of the other offset, where the offsets differ. */
  #changeBetween(from: number, to: number): number {
    const before = this.#offsetAt(from);
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }

  #offsetAt(instant: number): number {
    // Offsets change at full minutes in all zones since 1970.
    const minute = Math.floor(instant / MINUTE_MS) * MINUTE_MS;
    const known = this.#offsets.get(minute);
    if (known !== undefined) return known;
    const part: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(minute)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute: minutes = 0, second = 0 } = part;
    const offset = Date.UTC(year, month - 1, day, hour, minutes, second) - minute;
    this.#offsets.set(minute, offset);
    return offset;
  }
}
