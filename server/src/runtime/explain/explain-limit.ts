/** Explains why a step waits for a slot of a limit. */
import type { Pointer } from '../../engine/model/pointer.js';
import type { LimitKey } from '../../engine/model/slots.js';
import type { LimitRule } from '../../store/records/rates.js';
import type { SlotPosition } from '../../store/records/slots.js';
import type { InstanceFacts } from './explanation.js';

interface LimitSaid {
  readonly on: LimitKey;
  readonly text: string;
  readonly since: number;
  readonly holders: readonly string[];
}

export function explainLimit(pointer: Pointer, { now, of, status }: InstanceFacts): LimitSaid {
  const known = of.get(pointer.id);
  const { position = null, rule = null } = known?.kind === 'limit' ? known : {};
  const { state } = pointer;
  const stored = state.kind === 'limited' ? state : null;
  const needed = pointer.slots?.needs[0] ?? { limit: '', key: '' };
  const on = position?.on ?? stored?.on ?? needed;
  const since = position?.since ?? stored?.since ?? pointer.attemptStartedAt;
  const text =
    position === null
      ? `waits for a slot of ${nameOf(on)}${known === undefined ? '' : '; it is about to begin'}`
      : sayPosition(pointer, { position, rule, now });
  const isWaiting =
    status === 'Suspended' ? `${text}; while the run is suspended, others pass it` : text;
  return { on, text: isWaiting, since, holders: position?.holders ?? [] };
}

interface Waiting {
  readonly position: SlotPosition;
  readonly rule: LimitRule | null;
  readonly now: number;
}

function sayPosition(pointer: Pointer, { now, position, rule }: Waiting): string {
  const { ahead, held, nextAt, on } = position;
  const limit = nameOf(on);
  if (rule === null) return `waits for a slot of ${limit}, which no longer exists`;
  const units = pointer.slots?.needs.find((need) => need.limit === on.limit)?.units ?? 1;
  const most = mostUnits(rule);
  if (units > most)
    return `waits for ${units} units of ${limit}, which allows ${most}: raise the limit, or terminate the run`;
  const inLine = ahead === 0 ? '' : `, ${ahead} in line before it`;
  const { concurrency } = rule;
  if (concurrency !== null && held + units > concurrency)
    return `waits for a slot of ${limit} (${held} of ${concurrency} in use)${inLine}`;
  if (rule.rate !== null && nextAt > now)
    return `waits for the rate of ${limit}, until about ${timeOf(position, rule)}${inLine}`;
  return `waits for a slot of ${limit}${inLine || '; it is about to begin'}`;
}

/** When its turn comes, if each of those before it takes one unit. */
function timeOf({ ahead, nextAt }: SlotPosition, { rate }: LimitRule): string {
  const intervalMs = rate === null ? 0 : rate.perMs / rate.count;
  return new Date(Math.ceil(nextAt + ahead * intervalMs)).toISOString();
}

function mostUnits({ concurrency, rate }: LimitRule): number {
  return Math.min(concurrency ?? Infinity, rate?.burst ?? Infinity);
}

function nameOf({ key, limit }: LimitKey): string {
  return key === '' ? `limit '${limit}'` : `limit '${limit}' with the key '${key}'`;
}
