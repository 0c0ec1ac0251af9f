/**
 * The messages of one instance: pending ones, and ones applied since the last commit. The next commit clears the latter from
 * the store.
 *
 * Each message that is added increments the counter of the stored inbox. A gap in the counter means that messages were missed,
 * or that something else changed; the instance must then be read again.
 */
import type { Message } from '../../engine/flow/messages.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { ActorEnvironment } from './actor-environment.js';
import {
  inOrder,
  readArrived,
  referredCost,
  REFERRED_BYTES_MAX,
  type ArrivedMessage,
} from '../instance-state/message-codec.js';

export class ActorInbox {
  readonly #instanceId: string;
  /** The counter of the stored inbox after the last message received. A commit expects it to be unchanged. */
  #inSeq: number;
  #waiting: ArrivedMessage[] = [];
  /**
   * Ids of applied messages that no commit has cleared yet. They are still in the stored inbox, and every read returns them
   * again.
   */
  readonly #takenIn = new Set<string>();

  constructor(instanceId: string, inSeq: number) {
    this.#instanceId = instanceId;
    this.#inSeq = inSeq;
  }

  get inSeq(): number {
    return this.#inSeq;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get waiting(): readonly ArrivedMessage[] {
    return this.#waiting;
  }

  /** True if the stored inbox holds something that the next commit clears. */
  get hasTakenIn(): boolean {
    return this.#takenIn.size > 0;
  }

  /** Receives a message that was stored. Returns false on a gap in the counter: the instance must be read again. */
  deliver(message: ArrivedMessage): boolean {
    const last = this.#waiting.at(-1)?.inSeq ?? this.#inSeq;
    if (message.inSeq <= last) return true;
    // A repeated message changes nothing. Something else, such as a suspension, has since incremented the counter.
    const isKnown =
      this.#takenIn.has(message.id) || this.#waiting.some(({ id }) => id === message.id);
    if (isKnown || message.inSeq !== last + 1) return false;
    this.#waiting.push(message);
    return true;
  }

  /** Receives the messages that were in the stored inbox when the instance was loaded. */
  receive(messages: readonly InboxMessage[]): void {
    const inSeq = this.#inSeq;
    this.#waiting.push(...messages.map((message) => ({ ...message, inSeq })));
  }

  /** Replaces everything with the stored inbox, which was read again. It contains all pending messages and the applied ones. */
  replace({ inSeq, inbox }: Pick<InstanceRecord, 'inSeq' | 'inbox'>): void {
    this.#waiting = inbox.map((message) => ({ ...message, inSeq }));
    this.#inSeq = inSeq;
  }

  /**
   * Takes as many pending messages as fit into memory together. Returns the ones that are new to the engine, in the order in
   * which the engine must apply them.
   */
  async takeIn(
    environment: Pick<ActorEnvironment, 'loadDefinition' | 'loadEnd' | 'loadEvent' | 'logger'>,
  ): Promise<readonly Message[]> {
    const messages: Message[] = [];
    for (const arrived of this.#takeTogether()) {
      this.#inSeq = arrived.inSeq;
      if (this.#takenIn.has(arrived.id)) continue;
      this.#takenIn.add(arrived.id);
      const message = await readArrived(this.#instanceId, arrived, environment);
      if (message !== null) messages.push(message);
    }
    return inOrder(messages);
  }

  #takeTogether(): readonly ArrivedMessage[] {
    let count = 0;
    for (let referred = 0; referred <= REFERRED_BYTES_MAX && count < this.#waiting.length;) {
      referred += referredCost(this.#waiting[count]?.body ?? '');
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** A commit has cleared the applied messages. */
  committed(): void {
    this.#takenIn.clear();
  }
}
