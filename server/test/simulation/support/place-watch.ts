/** Watches the stored runs of `placed.ts`: who is given a place, and who begins (I13), and whose turn it is (I22). */
import { isLive, type InstanceRecord } from '../../../src/store/records/instances.js';
import { PRIORITIES } from '../../../src/engine/model/start-options.js';
import type { DefinitionRecord } from '../../../src/store/records/definitions.js';
import type { PlaceRequest } from '../../../src/store/records/places.js';
import { PLACED, PLACED_OR_REFUSED } from './placed.js';
import { TurnsCheck } from './turns-check.js';
import { hold } from './violation.js';

const WATCHED: ReadonlySet<string> = new Set([PLACED, PLACED_OR_REFUSED]);

export class PlaceWatch {
  /** Of each definition, the largest limit so far. */
  readonly #limits = new Map<string, number>();
  readonly #runs = new Map<string, InstanceRecord>();
  readonly #turns = new TurnsCheck();

  /** Called before a version is stored. */
  defined({ body, id }: Pick<DefinitionRecord, 'id' | 'body'>): void {
    if (!WATCHED.has(id)) return;
    // As the server writes it.
    const { concurrency } = JSON.parse(body) as {
      readonly concurrency?: { readonly limit: number };
    };
    const limit = concurrency?.limit ?? Infinity;
    this.#limits.set(id, Math.max(limit, this.#limits.get(id) ?? 0));
  }

  /** Called after each write that has changed an instance. */
  changed(what: string, before: InstanceRecord | null, after: InstanceRecord): void {
    if (!WATCHED.has(after.definitionId)) return;
    this.#runs.set(after.id, after);
    const { concurrencyKey, id, place, queued, status } = after;
    if (concurrencyKey === null || !isLive(status)) return;
    const mayRun = queued || place === 'held' || (place === 'later' && waitsForStart(after));
    hold(mayRun, 'I13 an open run that has begun holds a place', () => `${what} of ${id}`);
    if (place !== 'held' || before?.place === 'held') return;
    // A modification needs no place.
    if (what === 'repair') return;
    hold(what === 'insert', 'I13 a run is given a place', () => `${what} of ${id}`);
    this.#checkCount(after);
  }

  /** The runs of the key that a request is about. */
  of({ definitionId, key }: Pick<PlaceRequest, 'definitionId' | 'key'>): readonly string[] {
    const runs = [...this.#runs.values()];
    return runs
      .filter((run) => run.definitionId === definitionId && run.concurrencyKey === key)
      .map(({ id }) => id);
  }

  /** What has been read of the runs of a key. A spoiled store may have written since its answer. */
  refresh(
    of: Pick<PlaceRequest, 'definitionId' | 'key'>,
    runs: readonly (InstanceRecord | null)[],
  ): void {
    for (const id of this.of(of)) this.#runs.delete(id);
    for (const run of runs) if (run !== null) this.#runs.set(run.id, run);
  }

  /** Called after each grant, with the runs of its key. */
  granted(request: PlaceRequest, runs: readonly (InstanceRecord | null)[]): void {
    const open = runs.filter((run) => run !== null && isLive(run.status)) as InstanceRecord[];
    const given = open.filter(
      ({ id, place }) => place === 'held' && this.#runs.get(id)?.place !== 'held',
    );
    this.refresh(request, runs);
    this.#checkTurns(request, open, given);
    const [first] = given;
    if (first === undefined) return;
    this.#checkCount(first);
    for (const run of given) {
      for (const other of open) {
        const waits = other.place === 'waiting' && other.status === 'Runnable';
        const text = (): string => `${run.id}, but ${other.id} waits`;
        hold(!waits || isBefore(run, other), 'I13 the first in line is given a place', text);
      }
    }
  }

  /** I22: compares the keys that wait before and after the grant. */
  #checkTurns(
    { definitionId, key }: PlaceRequest,
    open: readonly InstanceRecord[],
    given: readonly InstanceRecord[],
  ): void {
    for (const priority of PRIORITIES) {
      const line = `places of ${definitionId}/${key} with the priority ${priority}`;
      const keysOf = (runs: readonly InstanceRecord[]): readonly string[] =>
        runs
          .filter((run) => run.priority === priority)
          .map((run) => this.#turns.keyOf(run.fairness));
      const waiting = open.filter((run) => run.place === 'waiting' && run.status === 'Runnable');
      this.#turns.waiting(line, new Set(keysOf(waiting)));
      this.#turns.handOut(line, keysOf(given));
    }
  }

  #checkCount({ concurrencyKey, definitionId, id }: InstanceRecord): void {
    const key = concurrencyKey ?? '';
    let held = 0;
    for (const other of this.of({ definitionId, key })) {
      const { place, status } = this.#runs.get(other)!;
      if (place === 'held' && isLive(status)) held += 1;
    }
    const limit = this.#limits.get(definitionId) ?? 0;
    const text = (): string => `${id}: ${held} of ${limit} of the key '${key}'`;
    hold(held <= limit, 'I13 no more runs than the limit are given a place', text);
  }
}

/** Whether its start time is still to come. */
function waitsForStart({ state }: InstanceRecord): boolean {
  // `writeState` wrote it.
  const { pointers } = JSON.parse(state) as {
    readonly pointers: readonly { readonly state: { readonly isStart?: true } }[];
  };
  return pointers.some((pointer) => pointer.state.isStart === true);
}

function isBefore(run: InstanceRecord, other: InstanceRecord): boolean {
  const isSameKey = run.fairness?.key === other.fairness?.key;
  const differences = [
    run.priority - other.priority,
    isSameKey ? 0 : -1,
    (run.countsFrom ?? 0) - (other.countsFrom ?? 0),
    run.id < other.id ? -1 : 1,
  ];
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}
