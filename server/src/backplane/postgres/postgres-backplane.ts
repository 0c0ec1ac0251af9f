/**
 * Hints over PostgreSQL's LISTEN and NOTIFY, for nodes whose store is PostgreSQL.
 *
 * Owns: one connection that listens. Notifications are sent through the store's connections. Nothing waits for either, and
 * a lost hint only costs latency.
 *
 *  PB1 At most one statement is in flight, and the next one sends everything that was published meanwhile: a database commits
 *      all transactions that notify one after the other. The pause between statements grows with their duration, and they do
 *      not wait for the disk.
 *  PB2 A node without others sends nothing. A node that starts to listen announces itself, and from then on the others send
 *      hints, although they may not have found it in the store yet.
 *  PB3 A node counts as listening only after it has received its own notification: through a connection pooler, LISTEN
 *      succeeds but nothing ever arrives. The same check later detects a connection that has died silently.
 *  PB4 Anyone who can connect to the database can notify, so payloads that are not hints are ignored.
 */
import type { Logger } from '../../base/logger.js';
import type { Backplane, Hint } from '../backplane.js';
import { readHints } from '../hint-codec.js';
import { HintPayloads } from './hint-payloads.js';
import { HintPublisher } from './hint-publisher.js';
import { NotificationListener, type ListeningConnection } from './notification-listener.js';

export interface PostgresBackplaneOptions {
  /** A connection to the database of the store that no pooler shares between sessions. */
  readonly connect: () => Promise<ListeningConnection>;
  /** Sends these payloads on the channel, in one transaction that does not wait for the disk. */
  readonly notify: (channel: string, payloads: readonly string[]) => Promise<void>;
  /** Nodes with the same name receive each other's hints. Other databases never receive them. */
  readonly channel: string;
  readonly nodeId: string;
  readonly logger: Logger;
}

/** How long the start waits for the node's own notification before it continues without. */
const START_MS_MAX = 2000;
/** A connection on which the node's own notifications have not arrived for this long is closed. */
const UNHEARD_MS_MAX = 5000;
/** How long to remember a node that has announced itself but is not in the store's list of nodes yet. */
const NEWCOMER_MS = 60_000;

export function createPostgresBackplane(options: PostgresBackplaneOptions): PostgresBackplane {
  return new PostgresBackplane(options);
}

export class PostgresBackplane implements Backplane {
  readonly kind = 'postgres' as const;
  readonly #options: PostgresBackplaneOptions;
  readonly #publisher: HintPublisher;
  readonly #listener: NotificationListener;
  #heard: (hint: Hint) => void = () => undefined;
  #isShared: () => boolean = () => true;
  #othersHeardAt: number | null = null;
  /** When this node last received its own notification, and when it sent the oldest one that has not arrived since. */
  #heardMyselfAt = 0;
  #unheardSince: number | null = null;
  #confirmation: NodeJS.Timeout | null = null;
  #isConfirmed = false;
  #confirmed: () => void = () => undefined;
  #hasWarned = { ignored: false, deaf: false };
  /** Notifications that are not hints. */
  ignored = 0;

  constructor(options: PostgresBackplaneOptions) {
    this.#options = options;
    const { channel, connect, logger, nodeId, notify } = options;
    this.#publisher = new HintPublisher({
      payloads: new HintPayloads(nodeId),
      send: (payloads) => notify(channel, payloads),
      sent: (at) => this.#sent(at),
      logger,
    });
    this.#listener = new NotificationListener({
      connect,
      channel,
      logger,
      received: (text) => this.#receive(text),
      opened: () => this.#opened(),
      lost: () => this.#lost(),
    });
  }

  get healthy(): boolean {
    return this.#isConfirmed;
  }

  /** Hints that could not be sent. */
  get dropped(): number {
    return this.#publisher.dropped;
  }

  subscribe(listener: (hint: Hint) => void, isShared: () => boolean = () => true): void {
    this.#heard = listener;
    this.#isShared = isShared;
  }

  publish(hint: Hint): void {
    if (this.#hasListeners) this.#publisher.publish(hint);
  }

  /** Waits briefly for the node's own notification. Without it, the node starts anyway and keeps trying. */
  async start(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const heard = new Promise<void>((resolve) => {
      this.#confirmed = resolve;
      timer = setTimeout(resolve, START_MS_MAX);
    });
    this.#listener.start();
    await heard;
    clearTimeout(timer);
    if (!this.#isConfirmed) {
      this.#options.logger.warn(
        'notifications of PostgreSQL do not arrive; falling back to the store for news from other nodes',
      );
    }
  }

  async stop(): Promise<void> {
    await this.#publisher.stop();
    await this.#listener.stop();
    this.#lost();
    this.#confirmed();
  }

  get #hasListeners(): boolean {
    if (this.#isShared()) return true;
    return this.#othersHeardAt !== null && performance.now() - this.#othersHeardAt < NEWCOMER_MS;
  }

  /** The connection is listening; next, the node's own notification must arrive. */
  #opened(): void {
    this.#publisher.announceNode();
    this.#confirmation = setTimeout(() => this.#notHeard(), UNHEARD_MS_MAX);
  }

  #lost(): void {
    if (this.#confirmation !== null) clearTimeout(this.#confirmation);
    this.#confirmation = null;
    this.#unheardSince = null;
    if (!this.#isConfirmed) return;
    this.#isConfirmed = false;
    this.#options.logger.info(
      'lost the connection for notifications of PostgreSQL; falling back to the store for news from other nodes',
    );
  }

  #sent(at: number): void {
    // It may arrive before the response to the statement.
    if (!this.#listener.isOpen || this.#heardMyselfAt >= at) return;
    this.#unheardSince ??= at;
    if (this.#isConfirmed && at - this.#unheardSince > UNHEARD_MS_MAX) this.#listener.reconnect();
  }

  #notHeard(): void {
    // If no notification could be sent, the store is not responding.
    if (this.#unheardSince !== null && !this.#hasWarned.deaf) {
      this.#hasWarned.deaf = true;
      this.#options.logger.warn(
        'LISTEN succeeds, but notifications do not arrive: if dbhost points to a connection pooler such as PgBouncer, ' +
          'set dbhost_listen to the address of the database itself',
      );
    }
    this.#listener.reconnect();
  }

  #receive(text: string): void {
    const sent = readHints(text);
    if (sent === null) {
      this.#ignore();
    } else if (sent.sender === this.#options.nodeId) {
      this.#heardMyself();
    } else {
      this.#othersHeardAt = performance.now();
      for (const hint of sent.hints) this.#heard(hint);
    }
  }

  #heardMyself(): void {
    this.#unheardSince = null;
    this.#heardMyselfAt = performance.now();
    if (this.#isConfirmed) return;
    if (this.#confirmation !== null) clearTimeout(this.#confirmation);
    this.#confirmation = null;
    this.#isConfirmed = true;
    this.#listener.worked();
    this.#options.logger.info('listening to notifications of PostgreSQL');
    this.#confirmed();
  }

  #ignore(): void {
    this.ignored += 1;
    if (this.#hasWarned.ignored) return;
    this.#hasWarned.ignored = true;
    this.#options.logger.warn(
      { channel: this.#options.channel },
      'ignored a notification that no node of this version has sent; further ones are ignored without a message',
    );
  }
}
