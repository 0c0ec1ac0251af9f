/** Slots, waits and rates as rows. */
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import type { LimitKey, NeededSlot, SlotRequest } from '../records/slots.js';
import type { Columns } from './columns.js';
import { fairnessOf, priorityOf } from './instances.js';
import type { StoredRow } from './stored-row.js';

/** Who asks, and its position among those that wait. */
export interface Asking extends SlotRequest {
  readonly instanceId: string;
  readonly priority: Priority;
  readonly fairness: Fairness | null;
  readonly since: number;
}

type WaitState = 'waiting' | 'offered' | 'granted';

export interface StoredWait extends Asking {
  readonly on: LimitKey;
  /** `offered`: its item can be claimed. `granted`: it has its slots, and hasn't begun. */
  readonly state: WaitState;
  /** Null: it isn't an item of an activity. */
  readonly activityName: string | null;
  /** When it may begin, once it is granted. */
  readonly at: number;
}

interface HeldSlot extends NeededSlot {
  readonly execution: string;
  readonly instanceId: string;
  readonly isActivity: boolean;
}

/** See rates.ts. */
interface LimitRate extends LimitKey {
  readonly spentUntil: number;
}

export const SLOT_COLUMNS: Columns<HeldSlot> = {
  execution: ['text', ({ execution }) => execution],
  limitName: ['text', ({ limit }) => limit],
  limitKey: ['text', ({ key }) => key],
  units: ['number', ({ units }) => units],
  instanceId: ['text', ({ instanceId }) => instanceId],
  isActivity: ['boolean', ({ isActivity }) => isActivity],
};

export const WAIT_COLUMNS: Columns<StoredWait> = {
  execution: ['text', ({ execution }) => execution],
  limitName: ['text', ({ on }) => on.limit],
  limitKey: ['text', ({ on }) => on.key],
  instanceId: ['text', ({ instanceId }) => instanceId],
  activityName: ['text', ({ activityName }) => activityName],
  priority: ['number', ({ priority }) => priority],
  fairnessKey: ['text', ({ fairness }) => fairness?.key ?? ''],
  fairnessWeight: ['real', ({ fairness }) => fairness?.weight ?? 1],
  since: ['number', ({ since }) => since],
  state: ['text', ({ state }) => state],
  at: ['real', ({ at }) => at],
  needs: ['text', ({ needs }) => JSON.stringify(needs)],
};

export const RATE_COLUMNS: Columns<LimitRate> = {
  limitName: ['text', ({ limit }) => limit],
  limitKey: ['text', ({ key }) => key],
  spentUntil: ['real', ({ spentUntil }) => spentUntil],
};

export const REPLACE_SLOT = replacing(['execution', 'limitName'], SLOT_COLUMNS);
export const REPLACE_WAIT = replacing(['execution'], WAIT_COLUMNS);
export const REPLACE_RATE = replacing(['limitName', 'limitKey'], RATE_COLUMNS);

function replacing(keys: readonly string[], columns: Readonly<Record<string, unknown>>): string {
  const others = Object.keys(columns).filter((name) => !keys.includes(name));
  const sets = others.map((name) => `${name} = excluded.${name}`).join(', ');
  return `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${sets}`;
}

export function waitOf(row: StoredRow): StoredWait {
  return {
    execution: row.text('execution'),
    instanceId: row.text('instanceId'),
    priority: priorityOf(row),
    fairness: fairnessOf(row),
    since: row.number('since'),
    on: { limit: row.text('limitName'), key: row.text('limitKey') },
    // Only this server writes these.
    state: row.text('state') as WaitState,
    activityName: row.textOrNull('activityName'),
    at: row.number('at'),
    needs: JSON.parse(row.text('needs')) as StoredWait['needs'],
  };
}
