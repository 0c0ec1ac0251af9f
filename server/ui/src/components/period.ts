/** Periods up to now, such as `1h`. In a URL, they stay relative to the time when it is opened. */

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Periods that filters offer, with their texts. */
export const PERIODS: Readonly<Record<string, string>> = {
  '15m': 'in the last 15 min',
  '1h': 'in the last hour',
  '1d': 'in the last day',
  '7d': 'in the last 7 days',
  '30d': 'in the last 30 days',
};

/** The start of the period `10m`, `1h` or `7d` that ends now, as ISO 8601; undefined for any other text. */
export function periodStart(text: string, nowMs: number): string | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  if (count === undefined || unitMs === undefined) return undefined;
  return new Date(nowMs - Number(count) * unitMs).toISOString();
}
