/** Watches the stored runs of `queued.ts`: each begins when those before it have ended (I12). */
import {
  isLive,
  positionOf,
  type InsertInstance,
  type InstanceRecord,
} from '../../../src/store/records/instances.js';
import { QUEUED } from './queued.js';
import { hold } from './violation.js';

interface Watched {
  readonly record: InstanceRecord;
  /** How many runs were inserted before this one. */
  readonly number: number;
  /** How many had been inserted when it entered the queue; null: it hasn't. */
  enteredAfter: number | null;
  /** It has had its place in the queue, which no other one has until it ends. */
  hasBegun: boolean;
  /** Once it has ended, nobody waits for it, also if it is opened again. */
  hasEnded: boolean;
}

export class QueueWatch {
  readonly #runs = new Map<string, Watched>();

  /** Called after each insert that has stored an instance. */
  inserted({ conflict }: InsertInstance, record: InstanceRecord): void {
    if (record.definitionId !== QUEUED) return;
    const number = this.#runs.size;
    const isLater = record.countsFrom !== null;
    const hasEnded = !isLive(record.status);
    const run = {
      record,
      number,
      enteredAfter: isLater ? null : number,
      hasBegun: false,
      hasEnded,
    };
    this.#runs.set(record.id, run);
    if (conflict?.action === 'queue' && !record.queued) this.#begins(run);
  }

  /** Called after each other write that has changed an instance. */
  changed(what: string, before: InstanceRecord, after: InstanceRecord): void {
    const run = this.#runs.get(after.id);
    if (run === undefined) return;
    if (!before.queued && after.queued) run.enteredAfter ??= this.#runs.size;
    const isOpen = isLive(after.status);
    // A modification needs no place.
    if (before.queued && !after.queued && isOpen && what !== 'repair') this.#begins(run);
    if (!isOpen) run.hasEnded = true;
  }

  #begins(run: Watched): void {
    const { id, reference } = run.record;
    run.hasBegun = true;
    for (const other of this.#runs.values()) {
      if (other === run || other.hasEnded || other.record.reference !== reference) continue;
      const text = (): string => `${id} begins, but ${other.record.id} is open`;
      hold(!isBefore(other, run), 'I12 a run waits for those that were open before it', text);
      hold(!other.hasBegun, 'I12 one run of a queue works at a time', text);
    }
  }
}

/** Runs that count from a later time have the place of that time; the others go in the order of their acceptance. */
function isBefore(other: Watched, run: Watched): boolean {
  if (run.enteredAfter === null || other.number >= run.enteredAfter) return false;
  if (other.record.countsFrom === null && run.record.countsFrom === null) return true;
  const [theirs, own] = [positionOf(other.record), positionOf(run.record)];
  return theirs.at < own.at || (theirs.at === own.at && theirs.id < own.id);
}
