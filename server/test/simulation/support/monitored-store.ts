/**
 * The store with a monitor: it reads an instance before and after each write, and checks what must never happen between
 * two states. It wraps the memory store, whose operations complete at once (MS1), so nothing comes in between.
 */
import type {
  InsertInstance,
  InstanceRecord,
  InstanceStatus,
} from '../../../src/store/records/instances.js';
import type { PlacesOf } from '../../../src/store/records/places.js';
import type { Store } from '../../../src/store/store.js';
import type { Archive } from './archive.js';
import { BOUNDED, checkBounded } from './bounded.js';
import type { PlaceWatch } from './place-watch.js';
import type { QueueWatch } from './queue-watch.js';
import type { WindowWatch } from './window-watch.js';
import { hold, Violation } from './violation.js';

interface Progress {
  readonly nextPointerId: number;
  readonly spilled: number;
  readonly recent: readonly unknown[];
}

const ENDED: readonly InstanceStatus[] = ['Complete', 'Terminated'];

export interface MonitorOptions {
  readonly archive: Archive;
  readonly queues: QueueWatch;
  readonly places: PlaceWatch;
  readonly windows: WindowWatch;
  readonly violated: (violation: Violation) => void;
}

export function monitorStore(
  base: Store,
  { archive, places, queues, violated, windows }: MonitorOptions,
): Store {
  async function monitored<Answer>(
    what: string,
    id: string,
    operation: () => Promise<Answer>,
    insert?: InsertInstance,
  ): Promise<Answer> {
    const before = base.getInstance(id);
    const answer = operation();
    const after = base.getInstance(id);
    const of = insert === undefined ? null : keyOf(insert);
    const others = Promise.all(
      of === null ? [] : places.of(of).map((other) => base.getInstance(other)),
    );
    try {
      const [old, current] = [await before, await after];
      compare(what, old, current);
      if (current === null || old === current) return await answer;
      if (of !== null) places.refresh(of, await others);
      places.changed(what, old, current);
      windows.changed(what, old, current);
      if (old !== null) queues.changed(what, old, current);
      else if (insert !== undefined) queues.inserted(insert, current);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      violated(error);
    }
    return answer;
  }
  return {
    ...base,
    insertInstance: (insert) => {
      archive.inserted(insert.record.id);
      return monitored('insert', insert.record.id, () => base.insertInstance(insert), insert);
    },
    insertDefinition: (definition, stamp) => {
      places.defined(definition);
      return base.insertDefinition(definition, stamp);
    },
    grantPlaces: async (request) => {
      const granted = base.grantPlaces(request);
      const runs = Promise.all(places.of(request).map((id) => base.getInstance(id)));
      try {
        places.granted(request, await runs);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        violated(error);
      }
      return granted;
    },
    commitInstance: (commit) => {
      // A modification may resume and open again.
      const what = (commit.audit ?? []).length > 0 ? 'repair' : 'commit';
      return monitored(what, commit.id, () => base.commitInstance(commit));
    },
    claimInstance: (claim) => monitored('claim', claim.id, () => base.claimInstance(claim)),
    controlInstance: (id, action, ...details) =>
      monitored(action, id, () => base.controlInstance(id, action, ...details)),
    purge: async (request) => {
      try {
        return await archive.purge(base, request);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        violated(error);
        return { instances: 0, events: 0, activities: 0, isComplete: true };
      }
    },
  };
}

function keyOf({ record: { concurrencyKey, definitionId } }: InsertInstance): PlacesOf | null {
  return concurrencyKey === null ? null : { definitionId, key: concurrencyKey };
}

function compare(what: string, before: InstanceRecord | null, after: InstanceRecord | null): void {
  if (before === null || after === null || before === after) return;
  const describe = (): string =>
    `${what} of ${after.id}: ${before.status} ${before.revision} -> ${after.status} ${after.revision}`;
  hold(what !== 'insert', 'I1 an instance is not started over', describe);
  hold(after.epoch >= before.epoch, 'R7 the epoch never decreases', describe);
  hold(
    what === 'repair' || !ENDED.includes(before.status) || after.status === before.status,
    'an end is final',
    describe,
  );
  if (before.status === 'Suspended' && after.status !== 'Suspended') {
    const ends = ['resume', 'terminate', 'compensate', 'repair'];
    // A step error that ended the instance before the suspension was applied takes precedence: there is nothing left to
    // suspend.
    const hasFailed = what === 'commit' && after.outcome === 'Failed';
    hold(ends.includes(what) || hasFailed, 'suspended stays suspended', describe);
  }
  if (after.definitionId === BOUNDED && after.endTime === null) {
    checkBounded(after.state, describe);
  }
  if (what === 'commit' || what === 'repair') {
    hold(after.revision > before.revision, 'I5 the revision increases', describe);
    hold(
      !isOlder(progress(after), progress(before)),
      'I5 a commit never undoes progress',
      describe,
    );
  }
}

function progress(record: InstanceRecord): Progress {
  // `writeState` wrote it.
  return JSON.parse(record.state) as Progress;
}

function isOlder(after: Progress, before: Progress): boolean {
  const records = (state: Progress): number => state.spilled + state.recent.length;
  return after.nextPointerId < before.nextPointerId || records(after) < records(before);
}
