/** What changes about slots and waits with commits and inserts. See slot-rows.ts. */
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import type { NewActivityRecord } from '../records/activities.js';
import type { InstanceCommit } from '../records/instances.js';
import {
  distinctKeys,
  takesSlots,
  type LimitKey,
  type NeededSlot,
  type RefusedSlots,
} from '../records/slots.js';
import { offerItem, takeItem } from './item-slots.js';
import {
  freeSlots,
  putWait,
  removeWait,
  rulesOf,
  takeSlots,
  waitedAmong,
  type Rules,
} from './slot-rows.js';
import type { SqlSteps } from './statements.js';

export type Slotted = Pick<InstanceCommit, 'side' | 'slots'>;

/** Whether a commit or an insert needs the steps of `changeSlots`. */
export function changesSlots({ side, slots }: Slotted): boolean {
  return slots !== undefined || side.activities.some(({ needs = [] }) => needs.length > 0);
}

/** Whether its slots, or those of its new items, may be refused. Otherwise it only frees, waits, or begins what was granted. */
export function mayBeRefused({ side, slots }: Slotted): boolean {
  return (
    (slots?.take.length ?? 0) > 0 || side.activities.some(({ needs = [] }) => needs.length > 0)
  );
}

/** The keys of which it frees slots. */
export function freedBy({ slots }: Slotted): readonly LimitKey[] {
  return distinctKeys(slots?.free.flatMap(({ needs }) => needs) ?? []);
}

/** The rules that `changeSlots` needs. */
export function rulesNeeded(all: readonly Slotted[]): SqlSteps<Rules> {
  const asked = all.flatMap(({ side, slots }) => [...(slots?.take ?? []), ...side.activities]);
  return rulesOf(asked.flatMap(({ needs = [] }) => needs.map(({ limit }) => limit)));
}

/** All keys about which a commit or an insert decides, or which it frees. */
export function slotKeysOf({ side, slots }: Slotted): readonly LimitKey[] {
  const { free = [], take = [] } = slots ?? {};
  const requests = [...free, ...take, ...side.activities];
  return distinctKeys(requests.flatMap(({ needs = [] }) => needs));
}

/** All keys for which it waits. */
export function waitKeysOf({ slots }: Slotted): readonly LimitKey[] {
  return distinctKeys(slots?.wait.flatMap(({ needs }) => needs) ?? []);
}

export interface Taking {
  readonly instanceId: string;
  readonly priority: Priority;
  readonly fairness: Fairness | null;
  readonly now: number;
}

export interface ChangedSlots {
  /** If not empty, everything must be rolled back. */
  readonly refused: readonly RefusedSlots[];
  /** Keys for which new items wait. */
  readonly limitedBy: readonly LimitKey[];
}

/**
 * Frees, takes and waits for what a commit or an insert asks for. Its instance and its items have been written before.
 * @param items those that were added, without those that existed
 */
export function* changeSlots(
  rules: Rules,
  { side, slots }: Slotted,
  items: readonly NewActivityRecord[],
  taking: Taking,
): SqlSteps<ChangedSlots> {
  const { begun = [], free = [], take = [], wait = [] } = slots ?? {};
  const unknown = side.activities.flatMap(({ id, needs = [] }) => unknownOf(rules, id, needs));
  if (unknown.length > 0) return { refused: unknown, limitedBy: [] };
  for (const { execution } of free) yield* freeSlots(execution);
  const refused: RefusedSlots[] = [];
  for (const request of take) {
    const asking = { ...request, ...taking, since: taking.now };
    const answer = yield* takeSlots(rules, asking, { now: taking.now });
    if (!answer.isFree) refused.push(refusedOf(answer));
  }
  for (const item of side.activities.filter(takesSlots)) {
    const answer = yield* takeItem(rules, item, items.includes(item));
    if (!answer.isFree) refused.push(refusedOf(answer));
  }
  if (refused.length > 0) return { refused, limitedBy: [] };
  for (const { on, ...request } of wait) {
    yield* putWait({ ...request, ...taking }, { on, state: 'waiting' });
  }
  const limitedBy: LimitKey[] = [];
  for (const item of items) {
    if (!takesSlots(item)) limitedBy.push(...(yield* offerItem(rules, item)));
  }
  for (const execution of begun) yield* removeWait(execution);
  return { refused: [], limitedBy: distinctKeys(limitedBy) };
}

function refusedOf({ execution, isUnknown, on }: RefusedSlots): RefusedSlots {
  return { execution, on, ...(isUnknown === true && { isUnknown }) };
}

function unknownOf(
  rules: Rules,
  execution: string,
  needs: readonly NeededSlot[],
): readonly RefusedSlots[] {
  const on = needs.find(({ limit }) => !rules.has(limit));
  if (on === undefined) return [];
  return [{ execution, on: { limit: on.limit, key: on.key }, isUnknown: true }];
}

/** The keys that a commit tells its caller. */
export function* waitsAfter(
  slotted: Slotted,
  limitedBy: readonly LimitKey[],
): SqlSteps<readonly LimitKey[]> {
  return distinctKeys([...limitedBy, ...(yield* waitedAmong(freedBy(slotted)))]);
}
