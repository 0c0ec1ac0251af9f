/** The turns of imported records: all keys start at the present. MongoDB keeps turns in another way, so they aren't copied. */
import type { ArchivedActivity, ArchivedInstance, ArchivedSlotWait } from '../archive.js';
import { placesKeyOf } from '../records/places.js';
import { slotsKeyOf } from '../records/slots.js';
import type { Line } from '../records/turns.js';
import { PRIORITIES, type Fairness } from '../../engine/model/start-options.js';
import { itemsLineOf } from './item-turns.js';
import { entersLine } from './places.js';
import type { SqlSteps } from './statements.js';
import { putTurn } from './turns.js';

interface Entry {
  readonly line: Line;
  readonly fairness: Fairness;
  readonly since: number;
}

function* putTurns(entries: readonly Entry[]): SqlSteps<void> {
  const first = new Map<string, Entry>();
  for (const entry of entries) {
    const { fairness, line } = entry;
    const id = JSON.stringify([line.queue, line.priority, fairness.key]);
    if (!first.has(id)) first.set(id, entry);
  }
  for (const { line, ...entry } of first.values()) yield* putTurn(line, entry);
}

export function turnsOfItems(items: readonly ArchivedActivity[]): SqlSteps<void> {
  return putTurns(
    items.flatMap((item) => {
      const { createdAt: since, done, fairness, settled } = item;
      if (fairness === undefined || done || settled) return [];
      return [{ line: itemsLineOf(item), fairness, since }];
    }),
  );
}

export function turnsOfWaits(waits: readonly ArchivedSlotWait[]): SqlSteps<void> {
  return putTurns(
    waits.flatMap(({ fairnessKey: key, fairnessWeight: weight, since, state, ...wait }) => {
      const priority = PRIORITIES.find((each) => each === wait.priority);
      if (key === '' || state !== 'waiting' || priority === undefined) return [];
      const queue = slotsKeyOf({ limit: wait.limitName, key: wait.limitKey });
      return [{ line: { queue, priority }, fairness: { key, weight }, since }];
    }),
  );
}

export function turnsOfInstances(instances: readonly ArchivedInstance[]): SqlSteps<void> {
  return putTurns(
    instances.flatMap((instance) => {
      const { concurrencyKey: key, countsFrom, definitionId, fairness, priority } = instance;
      if (!entersLine(instance) || key === null || fairness === null) return [];
      const line = { queue: placesKeyOf({ definitionId, key }), priority };
      return [{ line, fairness, since: countsFrom ?? instance.startTime }];
    }),
  );
}
