/** Checks the invariants E1 to E8 of `pointer.ts`, as far as two successive states of a run show them. */
import { isEnded } from '../../../src/engine/model/instance.js';
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import type { Session } from '../../../src/engine/session/session.js';

export function broken(promise: string, about: unknown): never {
  throw new Error(`invariant violated: ${promise}: ${JSON.stringify(about)}`);
}

export function checkRun(session: Session): void {
  const { instance } = session;
  for (const pointer of instance.pointers.values()) checkPointer(session, pointer);
  for (const id of session.queue) {
    const kind = instance.pointers.get(id)?.state.kind;
    if (kind !== 'ready' && kind !== 'finishing')
      broken('E3: only runnable pointers are queued', id);
  }
  if (session.joins.size > 0)
    broken('joins are settled between calls of the engine', [...session.joins]);
  checkStatus(session);
}

function checkPointer(session: Session, pointer: Pointer): void {
  const { instance } = session;
  const { kind } = pointer.state;
  const isQueued = session.queue.has(pointer.id);
  if ((kind === 'ready' || kind === 'finishing') !== isQueued) {
    broken('E3: runnable pointers are queued', pointer);
  }
  if (pointer.parentId !== null) {
    const parent = instance.pointers.get(pointer.parentId);
    if (parent === undefined) broken('E1: the parent is open', pointer);
    if (parent.state.kind !== 'open' && parent.state.kind !== 'compensating') {
      broken('E1: the parent runs its children', { pointer, parent });
    }
    if (parent.id >= pointer.id) broken('E4: children were opened later', pointer);
    const isStopped = parent.isEnding === true && parent.state.kind === 'open';
    if (isStopped && pointer.isEnding !== true) broken('E14: nothing begins in it', pointer);
  }
  const children = [...instance.pointers.values()].filter(
    ({ parentId }) => parentId === pointer.id,
  );
  if (children.length !== pointer.children) broken('E2: children are counted', pointer);
  if (kind === 'open' && children.length === 0) broken('an empty container has joined', pointer);
  if (kind === 'compensating' && children.length === 0) {
    broken('E8: a compensation runs while its step is compensating', pointer);
  }
  if (pointer.id >= instance.nextPointerId) broken('E4: ids come from the counter', pointer);
  if (pointer.isEnding === true && (kind === 'ready' || kind === 'sleeping' || kind === 'event')) {
    broken('E14: what only waits was canceled', pointer);
  }
  if (pointer.attempt < 1 || pointer.attemptStartedAt > session.now)
    broken('an attempt has started', pointer);
}

function checkStatus(session: Session): void {
  const { instance } = session;
  const open = instance.pointers.size;
  if (instance.status === 'Runnable' && open === 0)
    broken('E6: an instance without open pointers is Complete', instance.status);
  if (isEnded(instance) && open > 0) broken('E6: an ended instance has nothing open', open);
  if (isEnded(instance) !== (instance.endTime !== null)) {
    broken('an ended instance has an end time', {
      status: instance.status,
      endTime: instance.endTime,
    });
  }
  const { lastError } = instance;
  if (isEnded(instance) !== (instance.outcome !== null)) {
    broken('an ended instance has an outcome', {
      status: instance.status,
      outcome: instance.outcome,
    });
  }
  if (instance.outcome === 'Succeeded' && instance.status !== 'Complete') {
    broken('only a Complete instance has succeeded', instance.status);
  }
  if (lastError === null || open === 0) return;
  if (!instance.pointers.has(lastError.pointerId))
    broken('lastError belongs to an open pointer', lastError);
}

/** E5: the records that one pointer leaves in the history, over a whole run. */
export class RecordCheck {
  readonly #latest = new Map<number, StepRecord>();

  add(record: StepRecord): void {
    const before = this.#latest.get(record.pointerId);
    if (record.startTime > record.endTime) broken('an attempt ends after its start', record);
    if (before !== undefined && !isValidSuccessor(before, record)) {
      broken('E5: a pointer ends once', { before, record });
    }
    this.#latest.set(record.pointerId, record);
  }

  /** Once nothing is open, every opened pointer has its record. */
  checkAllRecorded(openedCount: number): void {
    if (this.#latest.size !== openedCount) {
      broken('E5: every pointer leaves a record', { recorded: this.#latest.size, openedCount });
    }
  }
}

/** E8: nothing of one compensation is open when the next one begins. */
export class CompensationCheck {
  /** Children of each compensating pointer, by the place of its plan that they belong to. */
  readonly #children = new Map<string, ReadonlySet<number>>();

  check(pointers: readonly Pointer[]): void {
    for (const { id, attempt, state } of pointers) {
      if (state.kind !== 'compensating') continue;
      const children = pointers.filter(({ parentId }) => parentId === id);
      const before = this.#children.get(`${id}/${attempt}/${state.next - 1}`);
      if (children.some((child) => before?.has(child.id) === true)) {
        broken('E8: compensations run one after another', children);
      }
      const ids = new Set(children.map((child) => child.id));
      this.#children.set(`${id}/${attempt}/${state.next}`, ids);
    }
  }
}

/** An attempt fails at most once, and may be compensated or canceled after that; an ended pointer stays ended. */
function isValidSuccessor(before: StepRecord, record: StepRecord): boolean {
  const isNextAttempt = record.attempt > before.attempt;
  if (isNextAttempt) return before.status === 'Failed' || before.status === 'Compensated';
  if (record.attempt !== before.attempt) return false;
  if (before.status === 'Failed') return endsFailed(record);
  // Compensated in a suspended instance, and terminated before it went on to the next step.
  return before.status === 'Compensated' && record.status === 'Cancelled';
}

function endsFailed(record: StepRecord): boolean {
  return record.status === 'Compensated' || record.status === 'Cancelled';
}
