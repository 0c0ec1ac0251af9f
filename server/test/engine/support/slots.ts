/**
 * Replaces the store's accounts of slots: who holds them and who waits. Checks that each request is taken or waited for once, and
 * freed once (E15).
 */
import { refuseSlots } from '../../../src/engine/flow/slots.js';
import { executionKey } from '../../../src/engine/model/pointer.js';
import type { LimitKey, SlotRequest } from '../../../src/engine/model/slots.js';
import { stepOf, type Session, type WaitingSlots } from '../../../src/engine/session/session.js';
import { hasSlots } from '../../../src/engine/session/slots.js';
import { broken, checkRun } from './check-invariants.js';
import type { EngineDriver } from './engine-driver.js';

/** The units of each limit, for every key. */
export type Capacities = Readonly<Record<string, number>>;

export class Slots {
  /** Null: every limit exists, and has slots for all. */
  capacities: Capacities | null = null;
  readonly held = new Map<string, SlotRequest>();
  readonly waiting = new Map<string, WaitingSlots>();
  /** Those that have waited, and were given slots with which they haven't begun. */
  readonly granted = new Set<string>();
  /** Those of open items of activities. */
  readonly offered = new Set<string>();
  /** In order. */
  readonly freed: string[] = [];

  /** The executions that have slots, or wait for them, or whose items do. */
  get left(): readonly string[] {
    return [...this.held.keys(), ...this.waiting.keys(), ...this.offered];
  }

  /** Gives an execution its slots, whether or not they are free. */
  give(execution: string): void {
    const waiting = this.waiting.get(execution);
    if (waiting === undefined) broken('who gets slots waits for them', execution);
    this.waiting.delete(execution);
    this.granted.add(execution);
    const { needs } = waiting;
    this.held.set(execution, { execution, needs });
  }

  /** The first that waits and can have its slots. */
  next(): string | null {
    for (const request of this.waiting.values()) {
      if (this.#missing(request, this.held) === null) return request.execution;
    }
    return null;
  }

  /** What a server does with the session's changes: a commit, as often as it is refused. */
  commit(session: Session): void {
    const refused = this.#refused(session);
    if (refused.length > 0) {
      const moved = refuseSlots(session, refused);
      if (moved.length !== refused.length) broken('who is refused does not take', moved);
      checkRun(session);
      if (this.#refused(session).length > 0) broken('who is refused does not take', refused);
    }
    this.#free(session);
    const { activities, begunSlots, settledActivities, takenSlots, waitingSlots } = session.changes;
    for (const { id, needs } of activities) if (needs !== undefined) this.offered.add(id);
    for (const id of settledActivities) this.offered.delete(id);
    for (const request of takenSlots) {
      if (this.#has(request.execution)) broken('E15: slots are taken once', request);
      this.held.set(request.execution, request);
    }
    for (const request of waitingSlots) {
      if (this.#has(request.execution)) broken('E15: slots are waited for once', request);
      this.waiting.set(request.execution, request);
    }
    for (const execution of begunSlots) {
      if (!this.granted.delete(execution)) broken('E15: it begins with what it got', execution);
    }
  }

  #free({ changes }: Session): void {
    const added = new Set(changes.activities.map(({ id }) => id));
    for (const { execution } of changes.freedSlots) {
      this.freed.push(execution);
      if (this.offered.delete(execution) || added.has(execution)) continue;
      if (!this.#has(execution)) broken('E15: slots are freed once', execution);
      this.waiting.delete(execution);
      this.held.delete(execution);
      this.granted.delete(execution);
    }
    for (const id of changes.removedActivities) {
      if (this.offered.has(id)) broken('E15: a withdrawn item frees its slots', id);
    }
  }

  #has(execution: string): boolean {
    return this.held.has(execution) || this.waiting.has(execution);
  }

  #refused({ changes }: Session): Parameters<typeof refuseSlots>[1][number][] {
    const held = new Map(this.held);
    for (const { execution } of changes.freedSlots) held.delete(execution);
    const refused = [];
    for (const request of changes.takenSlots) {
      const on = this.#missing(request, held);
      if (on === null) held.set(request.execution, request);
      else if (this.#exists(on.limit)) refused.push({ execution: request.execution, on });
      else refused.push({ execution: request.execution, on, isUnknown: true } as const);
    }
    return refused;
  }

  #exists(limit: string): boolean {
    return this.capacities === null || Object.hasOwn(this.capacities, limit);
  }

  #missing(
    { needs }: Pick<SlotRequest, 'needs'>,
    held: ReadonlyMap<string, SlotRequest>,
  ): LimitKey | null {
    const others = [...held.values()].flatMap((request) => request.needs);
    for (const { key, limit, units } of needs) {
      const used = others.filter((other) => other.limit === limit && other.key === key);
      const sum = used.reduce((total, other) => total + other.units, units);
      const capacity = this.capacities === null ? Infinity : (this.capacities[limit] ?? 0);
      if (sum > capacity) return { limit, key };
    }
    return null;
  }

  /** E15: what is held and waited for is what open pointers need. */
  check(session: Session): void {
    const { instance } = session;
    const open = new Set<string>();
    for (const pointer of instance.pointers.values()) {
      const { slots, state } = pointer;
      const takes = stepOf(session, pointer).limits.length > 0;
      if (takes && hasSlots(state) && slots === undefined) broken('E15: it has slots', pointer);
      if (state.kind === 'limited' && slots === undefined) broken('E15: it has slots', pointer);
      if (slots === undefined) continue;
      if (!hasSlots(state)) broken('E15: its state needs slots', pointer);
      const { execution } = slots;
      const key = executionKey(instance.id, pointer);
      const isOwn = execution === key || execution.startsWith(`${key}/`);
      if (!isOwn) broken('E15: its attempt', pointer);
      const isLimited = this.waiting.has(execution) || this.granted.has(execution);
      if ((state.kind === 'limited') !== isLimited) broken('E15: it waits for its slots', pointer);
      if (state.kind !== 'activity') open.add(execution);
      else if (!this.offered.has(execution)) broken('E15: its item needs slots', pointer);
    }
    const known = [...this.held.keys(), ...this.waiting.keys()];
    const lost = known.filter((execution) => !open.has(execution));
    if (lost.length > 0) broken('E15: what has ended has no slots', lost);
  }
}

/** The store gives these slots, and the instance gets the message. */
export function grant(driver: EngineDriver, execution: string): void {
  driver.outside.slots.give(execution);
  driver.deliver({ kind: 'slots', execution });
}

/** The execution of the open pointer at a step. */
export function executionAt(driver: EngineDriver, stepId: string): string {
  const pointer = driver.pointer(stepId);
  return pointer.slots?.execution ?? executionKey(driver.instance.id, pointer);
}
