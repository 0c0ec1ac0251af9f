/** Keeps the sentences of an explanation true while time passes: its durations are those of the moment when the server wrote it. */
import type { Explanation, WaitReason } from '@stepwright/sdk';
import { exactTime } from '../../components/clock.js';

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration as the server writes it. */
export function serverDuration(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1000), 0);
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  const unit = UNITS[first];
  if (unit === undefined) return '0 s';
  const [name, length] = unit;
  const text = `${Math.floor(seconds / length)} ${name}`;
  const next = UNITS[first + 1];
  if (next === undefined || next[0] === 's') return text;
  const rest = Math.floor((seconds % length) / next[1]);
  return rest === 0 ? text : `${text} ${rest} ${next[0]}`;
}

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * The text with its durations as of now, and its times in the zone that the user has chosen.
 *
 * @param text the text of the reason, or a summary that contains it
 * @param nowMs the time of the server, as far as known
 */
export function freshText(
  text: string,
  { since, until }: Pick<WaitReason, 'since' | 'until'>,
  { time }: Pick<Explanation, 'time'>,
  nowMs: number,
): string {
  const writtenMs = Date.parse(time);
  let fresh = text;
  if (since !== null) {
    const [before, after] = [writtenMs, nowMs].map((ms) => serverDuration(ms - Date.parse(since)));
    fresh = fresh
      .replace(`${before} ago`, `${after} ago`)
      .replace(new RegExp(`\\bfor ${before}(?=$|[;,. )])`), `for ${after}`);
  }
  if (until !== null) {
    const [before, after] = [writtenMs, nowMs].map((ms) => serverDuration(Date.parse(until) - ms));
    const isDue = Date.parse(until) <= nowMs;
    fresh = fresh.replace(`in ${before}`, isDue ? 'now' : `in ${after}`);
  }
  return fresh.replace(ISO_TIME, exactTime);
}
