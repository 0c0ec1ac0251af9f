/** The settings of a limit: in words, as the fields of a form, and as a request. Pure. */
import type { Limit, LimitRequest } from '@stepwright/sdk';

type Settings = Pick<Limit, 'concurrency' | 'rate'>;

/** `5 at a time, 100 per 1m (10 at once)`. */
export function settingsInWords({ concurrency, rate }: Settings): string {
  const parts: string[] = [];
  if (concurrency !== null) parts.push(`${concurrency.toLocaleString('en')} at a time`);
  if (rate !== null) {
    const burst = rate.burst === 1 ? '' : ` (${rate.burst.toLocaleString('en')} at once)`;
    parts.push(`${rate.count.toLocaleString('en')} per ${periodInWords(rate.per)}${burst}`);
  }
  return parts.join(', ');
}

/** A number is a number of seconds, as in definitions. */
export function periodInWords(per: number | string | null): string {
  return typeof per === 'number' ? `${per}s` : (per ?? '');
}

/** The fields of the form, as the user writes them. */
export interface LimitFields {
  readonly name: string;
  readonly description: string;
  /** Empty: any number. */
  readonly concurrency: string;
  /** Empty: no rate. */
  readonly count: string;
  readonly per: string;
  /** Empty: 1. */
  readonly burst: string;
}

export function fieldsOf(limit: Limit | null): LimitFields {
  const { concurrency = null, description = null, name = '', rate = null } = limit ?? {};
  return {
    name,
    description: description ?? '',
    concurrency: concurrency === null ? '' : String(concurrency),
    count: rate === null ? '' : String(rate.count),
    per: rate === null ? '1m' : periodInWords(rate.per),
    burst: rate === null ? '' : String(rate.burst),
  };
}

/** Null while a number isn't one, or neither a concurrency nor a rate is given. The server validates the rest. */
export function requestOf(fields: LimitFields): LimitRequest | null {
  const [concurrency, count, burst] = [fields.concurrency, fields.count, fields.burst].map(
    numberOf,
  );
  if (concurrency === undefined || count === undefined || burst === undefined) return null;
  if (concurrency === null && count === null) return null;
  const rate = count === null ? null : { count, per: fields.per.trim(), burst: burst ?? 1 };
  return { description: fields.description.trim() || null, concurrency, rate };
}

/** Null: empty. Undefined: not a number. */
function numberOf(text: string): number | null | undefined {
  const written = text.trim();
  if (written === '') return null;
  return /^\d{1,15}$/.test(written) ? Number(written) : undefined;
}
