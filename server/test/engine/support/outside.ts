/**
 * Everything outside of an instance that it has requested: subscriptions, offered activities, effects, and the events that
 * are stored. The requests must be exactly what its pointers wait for (E7).
 */
import type { EventPosition, Instance } from '../../../src/engine/model/instance.js';
import type { EventMessage } from '../../../src/engine/flow/messages.js';
import { executionKey, type Pointer } from '../../../src/engine/model/pointer.js';
import {
  noChanges,
  type ActivityOffer,
  type Session,
} from '../../../src/engine/session/session.js';
import type { WithdrawnItem } from '../../../src/engine/flow/withdrawn-items.js';
import {
  comparePositions,
  eventKey,
  isTaken,
  searchStart,
} from '../../../src/engine/flow/taken-events.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { broken } from './check-invariants.js';
import { Slots } from './slots.js';

/** Something that runs outside the engine: the body of an HttpRequest or custom step, or the start of a child. */
export interface Effect {
  readonly stepId: string;
  readonly pointerId: number;
  readonly attempt: number;
  readonly inputs: JsonObject;
}

export class Outside {
  /** Everything that was ever requested, in order: subscriptions, activities, effects by execution key. */
  readonly asked = new Set<string>();
  readonly subscriptions = new Set<string>();
  readonly activities = new Map<string, ActivityOffer>();
  readonly #effects = new Map<number, Effect>();
  /** Items that a worker has, or had, and when its lease ends. */
  readonly #leases = new Map<string, number>();
  /** Items that nobody gets any more. */
  readonly withdrawn = new Set<string>();
  readonly #events: EventMessage[] = [];
  readonly slots = new Slots();

  /** By pointer, because a node that takes over the instance starts them in that order. */
  get effects(): readonly Effect[] {
    return [...this.#effects.values()].sort((a, b) => a.pointerId - b.pointerId);
  }

  /** Stores an event, without telling anybody. */
  store(
    event: Omit<EventMessage, 'kind' | 'eventId'> & { readonly eventId?: string },
  ): EventMessage {
    const stored: EventMessage = {
      eventId: `event-${this.#events.length + 1}`,
      ...event,
      kind: 'event',
    };
    this.#events.push(stored);
    this.#events.sort((a, b) => comparePositions(positionOf(a), positionOf(b)));
    return stored;
  }

  /** The first stored event that the instance can still take; undefined if there is none. */
  firstEvent(
    instance: Instance,
    wanted: { readonly name: string; readonly key: string; readonly effectiveAt: number },
  ): EventMessage | undefined {
    const key = eventKey(wanted.name, wanted.key);
    const start = searchStart(instance, key, wanted.effectiveAt);
    return this.#events.find(
      (event) =>
        eventKey(event.name, event.key) === key &&
        comparePositions(positionOf(event), start) > 0 &&
        !isTaken(instance, key, positionOf(event)),
    );
  }

  hold(activityId: string, leaseUntil: number): void {
    if (this.withdrawn.has(activityId)) broken('E14: nobody gets withdrawn work', activityId);
    this.#leases.set(activityId, leaseUntil);
  }

  extend(activityId: string, leaseUntil: number): void {
    this.#leases.set(activityId, leaseUntil);
  }

  /** As the store does: from now on, nobody gets the item. */
  withdraw(activityId: string, now: number): WithdrawnItem {
    this.withdrawn.add(activityId);
    const leaseUntil = this.#leases.get(activityId);
    if (leaseUntil === undefined) return { kind: 'not-begun' };
    return leaseUntil > now ? { kind: 'held', leaseUntil } : { kind: 'left' };
  }

  /** The effect has its result, unless another attempt is under way by now. */
  endEffect({ pointerId, attempt }: Effect): void {
    if (this.#effects.get(pointerId)?.attempt === attempt) this.forgetEffect(pointerId);
  }

  forgetEffect(pointerId: number): void {
    this.#effects.delete(pointerId);
  }

  /** They ended with the node that ran them; the new node must be told to start them again. */
  forgetEffects(): void {
    this.#effects.clear();
  }

  /** Does what a run requests, and clears the requests. Answers the log lines. */
  take(session: Session): readonly Json[] {
    this.slots.commit(session);
    const { changes, instance } = session;
    for (const { id } of changes.subscriptions) {
      if (this.asked.has(`event ${id}`)) broken('E7: a subscription is asked for once', id);
      this.asked.add(`event ${id}`);
      this.subscriptions.add(id);
    }
    for (const id of changes.removedSubscriptions) {
      if (!this.subscriptions.delete(id)) broken('E7: a subscription is given up once', id);
    }
    for (const offer of changes.activities) {
      if (this.asked.has(`activity ${offer.id}`)) broken('E7: work is offered once', offer);
      this.asked.add(`activity ${offer.id}`);
      this.activities.set(offer.id, offer);
    }
    for (const id of changes.removedActivities) {
      if (!this.activities.delete(id)) broken('E7: work is withdrawn once', id);
    }
    for (const id of changes.settledActivities) this.activities.delete(id);
    for (const pointerId of changes.abortedEffects) this.forgetEffect(pointerId);
    for (const pointerId of changes.effects) {
      const pointer = instance.pointers.get(pointerId);
      if (pointer?.state.kind === 'limited') broken('E15: what waits does not begin', pointer);
      if (pointer !== undefined) this.#startEffect(instance, pointer);
    }
    const logMessages = changes.logLines.map(({ message }) => message);
    Object.assign(changes, noChanges());
    this.#checkWaits(instance);
    this.slots.check(session);
    return logMessages;
  }

  #startEffect(instance: Instance, pointer: Pointer): void {
    const { id: pointerId, attempt, stepId, state } = pointer;
    if (state.kind !== 'effect' && state.kind !== 'child') return;
    if (this.#effects.get(pointerId)?.attempt === attempt) return;
    this.asked.add(`effect ${executionKey(instance.id, pointer)}`);
    this.#effects.set(pointerId, { pointerId, attempt, stepId, inputs: state.inputs });
  }

  #checkWaits(instance: Instance): void {
    const wanted = { event: new Set<string>(), activity: new Set<string>() };
    const effects = new Set<string>();
    for (const pointer of instance.pointers.values()) {
      const { state } = pointer;
      const key = executionKey(instance.id, pointer);
      if (state.kind === 'event' || state.kind === 'activity') wanted[state.kind].add(key);
      const runs = state.kind === 'effect' || (state.kind === 'child' && !state.started);
      if (runs) effects.add(`${pointer.id}/${pointer.attempt}`);
    }
    const underWay = this.effects.map(({ pointerId, attempt }) => `${pointerId}/${attempt}`);
    checkSame('E7: subscriptions are those of waiting steps', this.subscriptions, wanted.event);
    checkSame('E7: activities are those of waiting steps', this.activities, wanted.activity);
    checkSame('effects under way are those of waiting steps', new Set(underWay), effects);
  }
}

function positionOf(event: EventMessage): EventPosition {
  return { publishedAt: event.publishedAt, id: event.eventId };
}

function checkSame(
  promise: string,
  actual: ReadonlySet<string> | ReadonlyMap<string, unknown>,
  wanted: ReadonlySet<string>,
): void {
  const isSame = actual.size === wanted.size && [...wanted].every((key) => actual.has(key));
  if (!isSame) broken(promise, { actual: [...actual.keys()], wanted: [...wanted] });
}
