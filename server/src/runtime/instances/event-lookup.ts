/** Finds stored events for the waits of an instance, which may have been published before the waits began. */
import { applyMessage, type EventMessage } from '../../engine/flow/messages.js';
import type { Session } from '../../engine/session/session.js';
import { eventKey, isTaken, searchStart } from '../../engine/flow/taken-events.js';
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import { readJson } from '../../engine/values/exact-json.js';
import type { Clock } from '../../base/clock.js';
import { nameKeyOf } from '../../base/ids.js';
import type { FoundEvent } from '../../store/records/events.js';
import type { Store } from '../../store/store.js';
import { UNREAD_EVENT_COST } from '../instance-state/message-codec.js';
import type { StoreRetry } from './store-retry.js';

const EVENT_PAGE = 50;

type EventWait = Extract<Pointer['state'], { kind: 'event' }>;

/**
 * Marks waits as searched: no stored event is for them, and each that is stored later comes as a message. That is known
 *
 * - of all waits, if the insert of the instance has looked (`InsertInstanceResult.noEvents`);
 * - of the waits for one name and key, if the step that stored an event for them has claimed the instance, and has seen no other
 *   event (`PostedMessage.onlyEventOf`). The former owner has searched for them after it had stored them, but its result isn't
 *   stored: a search that finds nothing causes no commit. So without this, each new owner would search again. It must do so if
 *   there are other events: the former owner may have been about to search, or it found one and its commit was fenced.
 *
 * @param nameKey the waits; omitted: all
 */
export function markSearched({ instance }: Session, nameKey?: string): void {
  for (const pointer of instance.pointers.values()) {
    const { state } = pointer;
    if (state.kind !== 'event' || state.looked) continue;
    if (nameKey !== undefined && nameKeyOf(state.name, state.key) !== nameKey) continue;
    pointer.state = { ...state, looked: true };
  }
}

export class EventLookup {
  readonly #store: Pick<Store, 'findEvents' | 'getEvent'>;
  readonly #clock: Clock;
  readonly #retry: StoreRetry;
  readonly #loading = new Map<string, Promise<EventMessage | null>>();

  constructor(store: Pick<Store, 'findEvents' | 'getEvent'>, clock: Clock, retry: StoreRetry) {
    this.#store = store;
    this.#clock = clock;
    this.#retry = retry;
  }

  /** Concurrent calls for the same event share one read. Returns null if the event no longer exists. */
  load(eventId: string): Promise<EventMessage | null> {
    const known = this.#loading.get(eventId);
    if (known !== undefined) return known;
    const loading = this.#retry
      .untilAnswered(() => this.#store.getEvent(eventId))
      .then((event) => (event === null ? null : eventOf(event, event.data)))
      .finally(() => this.#loading.delete(eventId));
    this.#loading.set(eventId, loading);
    return loading;
  }

  /** See `ActorEnvironment.lookForEvents`. */
  async search(session: Session, hasRoom: (bytes: number) => boolean): Promise<boolean> {
    let taken = false;
    for (const pointer of [...session.instance.pointers.values()]) {
      const { state } = pointer;
      if (state.kind !== 'event' || state.looked) continue;
      const found = await this.#find(session.instance, state);
      if (found?.data === null && !hasRoom(UNREAD_EVENT_COST)) continue;
      const event = found === null ? null : await this.#read(found);
      // No message can have arrived in between: the actor takes messages only at the start of a turn.
      pointer.state = { ...state, looked: true };
      if (event === null) continue;
      session.now = this.#clock.now();
      applyMessage(session, event);
      taken = true;
    }
    return taken;
  }

  #read(event: FoundEvent): Promise<EventMessage | null> {
    const { data, id } = event;
    return data === null ? this.load(id) : Promise.resolve(eventOf(event, data));
  }

  async #find(instance: Instance, wait: EventWait): Promise<FoundEvent | null> {
    const key = eventKey(wait.name, wait.key);
    let from = searchStart(instance, key, wait.effectiveAt);
    for (;;) {
      const position = from;
      const page = await this.#retry.untilAnswered(() =>
        this.#store.findEvents(nameKeyOf(wait.name, wait.key), position, EVENT_PAGE),
      );
      const event = page.find((candidate) => !isTaken(instance, key, candidate));
      if (event !== undefined) return event;
      const last = page.at(-1);
      if (last === undefined || page.length < EVENT_PAGE) return null;
      from = last;
    }
  }
}

function eventOf(event: FoundEvent, text: string): EventMessage {
  const { id: eventId, key, name, publishedAt } = event;
  const data = readJson(text); // Stored by us as JSON.
  return { kind: 'event', eventId, name, key, publishedAt, data };
}
