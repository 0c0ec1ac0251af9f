/**
 * The messages of one instance: those that wait to be taken in, and those that were taken in since the last commit, which
 * clears them in the store.
 *
 * Each message raises the counter of the stored inbox by one. So a message that does not follow directly shows that
 * others were missed, or that something else was changed; then the instance has to be read.
 */
import type { Message } from '../../engine/flow/messages.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { ActorEnvironment } from './actor-environment.js';
import { inOrder, readArrived, type ArrivedMessage } from './message-codec.js';

export class ActorInbox {
  readonly #instanceId: string;
  /** The counter of the stored inbox after the last message that was taken in. A commit expects it unchanged. */
  #inSeq: number;
  #waiting: ArrivedMessage[] = [];
  /** Ids of messages that no commit has cleared yet: they are still in the stored inbox, and are read again with it. */
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

  /** The stored inbox holds something that the next commit clears. */
  get hasTakenIn(): boolean {
    return this.#takenIn.size > 0;
  }

  /** A message was stored. False: it does not follow what is known, so the instance has to be read. */
  deliver(message: ArrivedMessage): boolean {
    const last = this.#waiting.at(-1)?.inSeq ?? this.#inSeq;
    if (message.inSeq <= last) return true;
    // Posted again it changes nothing, so what has raised the counter since is something else, such as a suspension.
    const isKnown =
      this.#takenIn.has(message.id) || this.#waiting.some(({ id }) => id === message.id);
    if (isKnown || message.inSeq !== last + 1) return false;
    this.#waiting.push(message);
    return true;
  }

  /** Messages that were in the stored inbox when the instance was loaded. */
  receive(messages: readonly InboxMessage[]): void {
    const inSeq = this.#inSeq;
    this.#waiting.push(...messages.map((message) => ({ ...message, inSeq })));
  }

  /** The stored inbox was read again: it has all that waits, and what was taken in as well. */
  replace({ inSeq, inbox }: Pick<InstanceRecord, 'inSeq' | 'inbox'>): void {
    this.#waiting = inbox.map((message) => ({ ...message, inSeq }));
    this.#inSeq = inSeq;
  }

  /** Takes in what waits; answers what the engine has not seen yet, in the order in which it is to see it. */
  async takeIn(
    environment: Pick<ActorEnvironment, 'loadEvent' | 'logger'>,
  ): Promise<readonly Message[]> {
    const messages: Message[] = [];
    for (const arrived of this.#waiting.splice(0)) {
      this.#inSeq = arrived.inSeq;
      if (this.#takenIn.has(arrived.id)) continue;
      this.#takenIn.add(arrived.id);
      const message = await readArrived(this.#instanceId, arrived, environment);
      if (message !== null) messages.push(message);
    }
    return inOrder(messages);
  }

  /** A commit has cleared what was taken in. */
  committed(): void {
    this.#takenIn.clear();
  }
}
