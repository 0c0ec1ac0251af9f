/** Sends an instance's messages to others: its result to its parent, terminations to its children. */
import type { ChildMessage } from '../../engine/flow/child-end.js';
import { JOINED_BY_MAX } from '../../engine/session/end-instance.js';
import type { OutboxMessage, Instance } from '../../engine/model/instance.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { PostedMessage } from '../../store/records/posted-messages.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import { UNLIMITED_PLACES, type PlacesOf } from '../../store/records/places.js';
import type { LimitKey } from '../../store/records/slots.js';
import { StoreRefusedError, type Store } from '../../store/store.js';
import type { ChangeAnnouncer } from '../notifications/change-announcer.js';
import { compensateInstance } from './termination.js';
import { readStored } from '../instance-state/long-states.js';
import {
  childReference,
  inboxMessage,
  type ChildReference,
} from '../instance-state/message-codec.js';
import { terminationWith } from './terminated-child.js';

export interface OutboxOptions {
  readonly store: Pick<
    Store,
    | 'controlInstance'
    | 'findPredecessor'
    | 'findWaitingKeys'
    | 'getInstance'
    | 'grantPlaces'
    | 'listAudit'
    | 'postMessages'
  >;
  readonly clock: Clock;
  /** How many instances of the definition run at a time, for each key; null: any number. */
  readonly placesOf: (definitionId: string) => Promise<number | null>;
  /** Slots of these keys may be free. */
  readonly lookAtLimits: (keys: readonly LimitKey[]) => void;
  readonly announcer: Pick<ChangeAnnouncer, 'send'>;
  readonly logger: Pick<Logger, 'error'>;
  /** Called when a message was stored: the node that runs its instance must be notified. */
  readonly posted: (posted: PostedMessage, message: InboxMessage) => void;
  /** Called when the status of an instance was changed in the store. */
  readonly controlled: (record: InstanceRecord) => void;
}

/** For references of earlier versions of the server. */
const GONE: NonNullable<ChildMessage['error']> = {
  stepId: '',
  type: 'Gone',
  message: 'the run has ended, but its data no longer exists or cannot be read',
  data: null,
};

const WAITING_KEYS_MAX = 100;

type EndReference = Omit<ChildReference, 'kind' | 'cost'>;

export class Outbox {
  readonly #options: OutboxOptions;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Idempotent. @throws StoreUnavailableError */
  async send(instance: Instance, message: OutboxMessage): Promise<void> {
    switch (message.kind) {
      case 'terminate-child':
        return this.#terminateChild(instance, message);
      case 'join':
        return this.#join(instance, message);
      case 'child-ended':
        return this.#announceEnd(instance, message);
      case 'take-place':
        return this.#takePlace(instance, message);
      case 'free-place':
        return this.#freePlace(instance);
      case 'ask-slots':
        this.#options.lookAtLimits([message.on]);
        return;
      case 'notify':
        return this.#notify(instance, message);
      default:
        // Written by a later version of the server.
        return;
    }
  }

  async #takePlace(
    instance: Instance,
    message: Extract<OutboxMessage, { kind: 'take-place' }>,
  ): Promise<void> {
    if (message.reference === true && (await this.#joinPredecessor(instance, message))) return;
    const { concurrencyKey: key, definitionId, id } = instance;
    if (key === null) await this.#begin(id);
    else await this.#grantPlaces({ definitionId, key }, id);
  }

  async #freePlace({ concurrencyKey: key, definitionId }: Instance): Promise<void> {
    if (key !== null) await this.#grantPlaces({ definitionId, key }, null);
  }

  /** Grants the places of all keys again: the definition has changed. Idempotent. @throws StoreUnavailableError */
  async grantAllPlaces(definitionId: string): Promise<void> {
    const { store } = this.#options;
    let keys: readonly string[] = [];
    do {
      keys = await store.findWaitingKeys(definitionId, keys.at(-1) ?? null, WAITING_KEYS_MAX);
      for (const key of keys) await this.#grantPlaces({ definitionId, key }, null);
    } while (keys.length === WAITING_KEYS_MAX);
  }

  /** Every instance that gets a place begins. Until it has, the places that it holds are found again after a crash. */
  async #grantPlaces(places: PlacesOf, asking: string | null): Promise<void> {
    const { clock, placesOf, store } = this.#options;
    const limit = (await placesOf(places.definitionId)) ?? UNLIMITED_PLACES;
    let isCut = true;
    while (isCut) {
      const granted = await store.grantPlaces({ ...places, asking, limit, now: clock.now() });
      for (const id of granted.ids) await this.#begin(id);
      ({ isCut } = granted);
    }
  }

  async #begin(instanceId: string): Promise<void> {
    await this.#tell(instanceId, inboxMessage('begin', { kind: 'begin' }));
  }

  /** The instance before this one announces its end to it. Returns false if there is none. */
  async #joinPredecessor(
    { definitionId, id, reference }: Instance,
    { at, attempt, pointerId }: Extract<OutboxMessage, { kind: 'take-place' }>,
  ): Promise<boolean> {
    const queue = { definitionId, reference: reference ?? '', at, id };
    for (;;) {
      const before = await this.#options.store.findPredecessor(queue);
      if (before === null) return false;
      const joiner = { workflowId: id, pointerId, attempt, queue: true } as const;
      const join = inboxMessage(`queue/${id}`, { kind: 'join', ...joiner });
      // It may have ended in between.
      if (await this.#tell(before, join)) return true;
    }
  }

  /** For short messages, of which an instance gets few. Returns false if the instance has ended. */
  async #tell(instanceId: string, message: InboxMessage): Promise<boolean> {
    const { posted, store } = this.#options;
    const [answer] = await store.postMessages([{ instanceId, message, toFullInbox: true }]);
    if (answer === null || answer === undefined) return false;
    posted(answer, message);
    return true;
  }

  /** A failed notification doesn't suspend the run. */
  async #notify(
    instance: Instance,
    message: Extract<OutboxMessage, { kind: 'notify' }>,
  ): Promise<void> {
    const { announcer, logger } = this.#options;
    try {
      await announcer.send(instance, message);
    } catch (error) {
      if (!(error instanceof StoreRefusedError)) throw error;
      const fields = { err: error, workflowId: instance.id, notifications: message.names };
      logger.error(fields, 'the store refuses the messages about a run; they are not sent');
    }
  }

  #announceEnd(
    instance: Instance,
    message: Extract<OutboxMessage, { kind: 'child-ended' }>,
  ): Promise<void> {
    const { attempt, joined, parentId, pointerId, queue } = message;
    if (queue === true) return this.#announcePlace(instance, parentId);
    const end = joined === 'refused' ? refusal(instance, message) : endMessage(instance, message);
    // Several steps of one instance may have joined this one.
    const id = `child/${instance.id}${joined === undefined ? '' : `/${pointerId}/${attempt}`}`;
    return this.#sendEnd(parentId, id, end);
  }

  async #announcePlace({ id }: Instance, instanceId: string): Promise<void> {
    await this.#tell(instanceId, inboxMessage(`place-free/${id}`, { kind: 'place-free' }));
  }

  async #sendEnd(instanceId: string, messageId: string, end: ChildMessage): Promise<void> {
    const { posted, store } = this.#options;
    const whole = inboxMessage(messageId, end);
    const posting = store.postMessages([{ instanceId, message: whole }]);
    const [answer, isRefused] = await posting.then(
      ([given]) => [given, false] as const,
      (error: unknown) => {
        if (error instanceof StoreRefusedError) return [null, true] as const;
        throw error;
      },
    );
    if (answer?.overflowed !== true && !isRefused) {
      if (answer !== null && answer !== undefined) posted(answer, whole);
      return;
    }
    // A parent has few children compared with the length of its inbox, so the short form always fits.
    const short = childReference(whole, end);
    const fitting = { instanceId, message: short, toFullInbox: true } as const;
    const [again] = await store.postMessages([fitting]);
    if (again !== null && again !== undefined) posted(again, short);
  }

  /**
   * Joins or leaves another instance whose end a step waits for. If it has already ended, the step gets the message about it.
   */
  async #join(
    { id }: Instance,
    { attempt, left, pointerId, workflowId }: Extract<OutboxMessage, { kind: 'join' }>,
  ): Promise<void> {
    const execution = `${pointerId}/${attempt}`;
    const leaves = left === true;
    const body = { kind: 'join', workflowId: id, pointerId, attempt } as const;
    const message = leaves
      ? inboxMessage(`left/${id}/${execution}`, { ...body, left })
      : inboxMessage(`join/${id}/${execution}`, body);
    // The number of steps that an instance accepts is limited, and the message is short.
    if (await this.#tell(workflowId, message)) return;
    if (leaves) return;
    const end = await this.loadEnd({ workflowId, pointerId, attempt, status: 'Terminated' });
    await this.#sendEnd(id, `child/${workflowId}/${execution}`, end);
  }

  /** Loads the message about the end of a child whose short form was sent. @throws StoreUnavailableError */
  async loadEnd(reference: EndReference): Promise<ChildMessage> {
    const { workflowId } = reference;
    const child = reference.refused === true ? null : await this.#readInstance(workflowId);
    if (child !== null) return endMessage(child, reference);
    const { attempt, error = GONE, outcome, pointerId, refused, status } = reference;
    return {
      kind: 'child',
      pointerId,
      attempt,
      workflowId,
      status,
      ...(outcome !== undefined && { outcome }),
      error,
      data: null,
      ...(refused === true && { refused }),
    };
  }

  async #readInstance(id: string): Promise<Instance | null> {
    const record = await this.#options.store.getInstance(id);
    return record === null ? null : readStored(record).catch(() => null);
  }

  async #terminateChild(
    parent: Instance,
    { compensate, graceUntil, workflowId }: Extract<OutboxMessage, { kind: 'terminate-child' }>,
  ): Promise<void> {
    const { clock, controlled, store } = this.#options;
    const audit = terminationWith(parent, await store.listAudit(parent.id), clock.now());
    const result =
      compensate === true
        ? await compensateInstance(store, workflowId, audit, graceUntil)
        : await store.controlInstance(workflowId, 'terminate', audit.time, audit);
    if (result.outcome === 'done') controlled(result.record);
  }
}

function refusal(
  { id: workflowId }: Instance,
  { attempt, pointerId }: Pick<ChildMessage, 'pointerId' | 'attempt'>,
): ChildMessage {
  const message = `${JOINED_BY_MAX} steps of other runs already wait for its end, the maximum`;
  const error = { stepId: '', type: 'TooManyJoined', message, data: null };
  // Nodes of earlier versions, which don't know `refused`, treat it as a failed run.
  const end = { status: 'Terminated', outcome: 'Failed', error, data: null } as const;
  return { kind: 'child', pointerId, attempt, workflowId, ...end, refused: true };
}

function endMessage(
  child: Instance,
  { attempt, pointerId }: Pick<ChildMessage, 'pointerId' | 'attempt'>,
): ChildMessage {
  return {
    kind: 'child',
    pointerId,
    attempt,
    workflowId: child.id,
    status: child.status,
    ...endOf(child),
    data: child.data,
  };
}

/** How and why an instance ended, as reported to its parent. */
function endOf({ lastError, outcome }: Instance): Pick<ChildMessage, 'outcome' | 'error'> {
  if (lastError === null) return { ...(outcome !== null && { outcome }), error: null };
  const { data, message, stepId, type } = lastError;
  return { ...(outcome !== null && { outcome }), error: { stepId, type, message, data } };
}
