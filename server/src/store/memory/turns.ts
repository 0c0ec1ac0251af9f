/** Turns of fairness keys: see ../records/turns.ts. */
import type { Fairness } from '../../engine/model/start-options.js';
import { isLive } from '../records/instances.js';
import { placesKeyOf } from '../records/places.js';
import { slotsKeyOf } from '../records/slots.js';
import { inTurnOrder, itemsQueueOf, Turns, type Line, type TurnRecord } from '../records/turns.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

/** What enters the queue may need a record of its key. */
export function putTurn(
  data: MemoryData,
  line: Line,
  { fairness = null, since }: { readonly fairness?: Fairness | null; readonly since: number },
): void {
  if (fairness === null) return;
  const { present = 0 } = data.turns.get(idOf({ ...line, fairnessKey: '' })) ?? {};
  const group = { ...line, fairnessKey: '', turn: 0, present: 0, since: 0 };
  const own = { ...line, fairnessKey: fairness.key, turn: present, present: 0, since };
  for (const record of [group, own]) {
    if (!data.turns.has(idOf(record))) data.turns.set(idOf(record), record);
  }
}

export function turnsOf(data: MemoryData, line: Line): Turns {
  return new Turns(recordsOf(data, line));
}

/** Also removes what says nothing any more. */
export function saveTurns(data: MemoryData, line: Line, turns: Turns): void {
  const { last } = turns;
  const before = last === null ? [] : recordsOf(data, line).filter(isBefore(last));
  for (const record of before) if (!isUsed(data, record)) data.turns.delete(idOf(record));
  for (const record of turns.changedIn(line)) data.turns.set(idOf(record), record);
}

function isBefore(last: NonNullable<Turns['last']>): (record: TurnRecord) => boolean {
  return (record) => record.fairnessKey !== '' && inTurnOrder(record, last) < 0;
}

/** Returns how many were looked at. Those that stay are looked at again later. */
export function removeOldTurns(data: MemoryData, before: number, limit: number): number {
  const old = [...data.turns.values()]
    .filter(({ since }) => since < before)
    .sort(
      (left, right) =>
        left.since - right.since ||
        compareText(left.queue, right.queue) ||
        left.priority - right.priority ||
        compareText(left.fairnessKey, right.fairnessKey),
    )
    .slice(0, limit);
  const groups = old.filter(({ fairnessKey }) => fairnessKey === '');
  const keyed = old.filter(({ fairnessKey }) => fairnessKey !== '');
  for (const record of [...keyed, ...groups]) {
    if (isUsed(data, record)) data.turns.set(idOf(record), { ...record, since: before });
    else data.turns.delete(idOf(record));
  }
  return old.length;
}

function recordsOf(data: MemoryData, { priority, queue }: Line): readonly TurnRecord[] {
  return [...data.turns.values()].filter(
    (record) => record.queue === queue && record.priority === priority,
  );
}

function idOf({ fairnessKey, priority, queue }: Omit<TurnRecord, 'turn' | 'present' | 'since'>) {
  return JSON.stringify([queue, priority, fairnessKey]);
}

/** Whether something of the key is in the queue; of the group without a key, whether others have a record. */
function isUsed(data: MemoryData, { fairnessKey, priority, queue }: TurnRecord): boolean {
  const isIn = (own: Line & { readonly fairness?: Fairness | null | undefined }): boolean =>
    own.queue === queue && own.priority === priority && own.fairness?.key === fairnessKey;
  if (fairnessKey === '') return recordsOf(data, { queue, priority }).length > 1;
  const items = [...data.activities.values()].some(
    ({ record }) =>
      !record.done && !record.withdrawn && isIn({ ...record, queue: itemsQueueOf(record.name) }),
  );
  const waits = [...data.slotWaits.values()].some(
    (wait) => wait.state === 'waiting' && isIn({ ...wait, queue: slotsKeyOf(wait.on) }),
  );
  const places = [...data.instances.values()].some(
    ({ concurrencyKey: key, definitionId, place, status, ...own }) =>
      key !== null &&
      place === 'waiting' &&
      isLive(status) &&
      isIn({ ...own, queue: placesKeyOf({ definitionId, key }) }),
  );
  return items || waits || places;
}
