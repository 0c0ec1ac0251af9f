/** Reads how far the time is advanced: `3d`, `2h 30m`, or a duration as in definitions. */
import { DURATION_FORMS, parseDurationMs } from '../engine/values/durations.js';

const SHORT = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?$/i;
const LENGTH_MAX = 64;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1000];

/** For messages: the accepted forms in one phrase. */
export const ADVANCE_FORMS = `3d, 2h 30m, 45s, ${DURATION_FORMS}`;

/** Milliseconds; null if the value is not a duration. */
export function readAdvance(value: unknown): number | null {
  if (typeof value !== 'string') return parseDurationMs(value);
  if (value.trim() === '' || value.length > LENGTH_MAX) return null;
  const parts = SHORT.exec(value.replaceAll(' ', ''));
  if (parts === null) return parseDurationMs(value);
  return parseDurationMs(
    UNITS_MS.reduce((sum, ms, index) => sum + Number(parts[index + 1] ?? 0) * (ms / 1000), 0),
  );
}
