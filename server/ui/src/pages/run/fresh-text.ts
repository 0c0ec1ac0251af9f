/** Updates the durations in an explanation as time passes, because the server wrote them at a certain moment. */
import type { Explanation, WaitReason } from '@stepwright/sdk';
import { plainDuration } from '../../../../src/runtime/explain/plain-duration.js';
import { exactTime } from '../../components/zone-choice.js';

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * The text with its durations as of now, and its times in the zone that the user has chosen.
 *
 * @param text the text of the reason, or a summary that contains it
 * @param nowMs the server's time, as far as known
 */
export function freshText(
  text: string,
  { error, kind, since, until }: Pick<WaitReason, 'error' | 'kind' | 'since' | 'until'>,
  { time }: Pick<Explanation, 'time'>,
  nowMs: number,
): string {
  const writtenMs = Date.parse(time);
  let fresh = text;
  // A step that is retried keeps failing.
  const failingSince = kind === 'retry' ? error?.since : undefined;
  for (const from of new Set([since, failingSince])) {
    if (from === null || from === undefined) continue;
    const [before, after] = [writtenMs, nowMs].map((ms) => plainDuration(ms - Date.parse(from)));
    fresh = fresh
      .replace(`${before} ago`, `${after} ago`)
      .replace(new RegExp(`\\bfor ${before}(?=$|[;,. )])`), `for ${after}`);
  }
  if (until !== null) {
    const [before, after] = [writtenMs, nowMs].map((ms) => plainDuration(Date.parse(until) - ms));
    const isDue = Date.parse(until) <= nowMs;
    fresh = fresh.replace(`in ${before}`, isDue ? 'now' : `in ${after}`);
  }
  return exactTimes(fresh);
}

/** The text with its times in the zone that the user has chosen. */
export function exactTimes(text: string): string {
  return text.replace(ISO_TIME, exactTime);
}
