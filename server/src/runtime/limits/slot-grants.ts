/**
 * Grants of slots: gives the slots that become free to the executions that wait for them, and tells their instances.
 *
 * Owns: when a key is looked at. The store decides who gets a slot. A key is looked at when a commit or a worker has freed slots
 * that others wait for, when an execution begins to wait or waits for another key, when a rate allows the next one, and when a
 * limit changes.
 *
 *  LG1 An execution that was granted its slots is told until a commit says that it has begun. So a node that dies in between
 *      loses nothing: whoever looks at the key again tells it.
 *  LG2 A node that starts, or that finds another one dead or gone, looks at all keys for which somebody waits: the other one may
 *      have freed slots without looking, and its timers are lost.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { earlier, type LimitKey, type SlotGrant } from '../../store/records/slots.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { PostedMessage } from '../../store/records/posted-messages.js';
import type { Store } from '../../store/store.js';
import { StoreRetry } from '../instances/store-retry.js';
import { inboxMessage } from '../instance-state/message-codec.js';

/** How far ahead of its time an execution is granted a slot of a rate. So a fast rate needs few grants. */
const AHEAD_MS = 50;
/** How long a grant that this node has told isn't told again. */
const TOLD_MS = 5000;
/** How long a worker may take to claim an offered item before others get its slot. */
const OFFERED_MS = 100;
const REFUSED_MAX = 1000;
/** At most so often, a key is looked at because a claim has found that its slots aren't free. */
const REFUSED_MS = 20;
const KEYS_PER_PAGE = 100;

export interface SlotGrantsOptions {
  readonly store: Pick<Store, 'findWaitedKeys' | 'grantSlots' | 'postMessages'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
  readonly posted: (posted: PostedMessage, message: InboxMessage) => void;
  /** Items of this activity can be claimed again. */
  readonly offer: (name: string) => void;
}

interface Look {
  again: boolean;
}

export class SlotGrants {
  readonly #options: SlotGrantsOptions;
  /** Keys that are being looked at. */
  readonly #looks = new Map<string, Look>();
  /** Timers of keys that wait for their rate. */
  readonly #timers = new Map<string, () => void>();
  /** Executions that were told, or will be when their time has come, until when they aren't told again. */
  readonly #told = new Map<string, number>();
  readonly #begins = new Set<() => void>();
  /** When a key was last looked at because of a claim. */
  readonly #refused = new LRUCache<string, number>({ max: REFUSED_MAX });
  readonly #retry: StoreRetry;
  #stopping = false;

  constructor(options: SlotGrantsOptions) {
    this.#options = options;
    this.#retry = new StoreRetry(options.clock);
  }

  /** In the background: see LG2. */
  start(): void {
    this.lookAtAll().catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'could not look for steps that wait for limits');
    });
  }

  stop(): void {
    this.#stopping = true;
    for (const cancel of [...this.#timers.values(), ...this.#begins]) cancel();
    this.#timers.clear();
    this.#begins.clear();
  }

  /** Looks at these keys in the background. */
  look(keys: readonly LimitKey[]): void {
    for (const key of keys) void this.#look(key);
  }

  /**
   * Looks at these keys, because items can't be claimed. An item behind one that needs more slots than are free is refused each time
   * that it's offered: so not at once.
   */
  claimRefused(keys: readonly LimitKey[]): void {
    const { clock } = this.#options;
    const now = clock.now();
    for (const key of keys) {
      const id = idOf(key);
      const last = this.#refused.get(id) ?? 0;
      if (now - last >= REFUSED_MS) {
        this.#refused.set(id, now);
        void this.#look(key);
      } else if (!this.#timers.has(id)) this.#setTimer(key, last + REFUSED_MS + AHEAD_MS);
    }
  }

  /** Looks at all keys of a limit that has changed, in the background. */
  limitChanged(limit: string): void {
    this.lookAtAll(limit).catch((error: unknown) => {
      this.#options.logger.error({ err: error, limit }, 'could not look at a changed limit');
    });
  }

  /** Looks at all keys for which somebody waits (LG2), or only at those of one limit. */
  async lookAtAll(limit: string | null = null): Promise<void> {
    const { store } = this.#options;
    let after: LimitKey | null = limit === null ? null : { limit, key: '' };
    if (after !== null) await this.#look(after);
    while (!this.#stopping) {
      const from: LimitKey | null = after;
      const keys = await this.#retry.untilAnswered(() => store.findWaitedKeys(from, KEYS_PER_PAGE));
      const own = limit === null ? keys : keys.filter((key) => key.limit === limit);
      for (const key of own) await this.#look(key);
      after = keys.at(-1) ?? null;
      if (keys.length < KEYS_PER_PAGE || own.length < keys.length) return;
    }
  }

  /** One look at a time for each key. A call during a look repeats it. */
  async #look(key: LimitKey): Promise<void> {
    const id = idOf(key);
    const current = this.#looks.get(id);
    if (current !== undefined) {
      current.again = true;
      return;
    }
    if (this.#stopping) return;
    const look: Look = { again: true };
    this.#looks.set(id, look);
    try {
      do {
        look.again = false;
        if (await this.#grant(key)) look.again = true;
      } while (look.again && this.#isOpen());
    } catch (error) {
      const fields = { err: error, limit: key.limit, key: key.key };
      this.#options.logger.error(fields, 'could not grant slots of a limit');
    } finally {
      this.#looks.delete(id);
    }
  }

  #isOpen(): boolean {
    return !this.#stopping;
  }

  /** Returns true if more may be possible. */
  async #grant(key: LimitKey): Promise<boolean> {
    const { clock, offer, store } = this.#options;
    const request = { limit: key.limit, key: key.key, aheadMs: AHEAD_MS };
    const grants = await this.#retry.untilAnswered(() =>
      store.grantSlots({ ...request, now: clock.now() }),
    );
    await this.#tell(grants.begin);
    for (const name of grants.offered) offer(name);
    this.look(grants.moved);
    // If nobody claims the items, those behind them get the slots.
    const claimed = grants.offered.length === 0 ? null : clock.now() + OFFERED_MS + AHEAD_MS;
    this.#setTimer(key, earlier(grants.retryAt, claimed));
    return grants.isCut;
  }

  #setTimer(key: LimitKey, at: number | null): void {
    const id = idOf(key);
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    if (at === null || this.#stopping) return;
    const { clock } = this.#options;
    const cancel = clock.at(Math.max(at - AHEAD_MS, clock.now() + 1), () => {
      this.#timers.delete(id);
      void this.#look(key);
    });
    this.#timers.set(id, cancel);
  }

  async #tell(grants: readonly SlotGrant[]): Promise<void> {
    const now = this.#options.clock.now();
    this.#forgetTold(now);
    const untold = grants.filter(({ execution }) => !this.#told.has(execution));
    for (const { at, execution } of untold) this.#told.set(execution, Math.max(at, now) + TOLD_MS);
    await this.#post(untold.filter(({ at }) => at <= now));
    for (const grant of untold) if (grant.at > now) this.#postLater(grant);
  }

  #postLater(grant: SlotGrant): void {
    const { clock, logger } = this.#options;
    const cancel = clock.at(grant.at, () => {
      this.#begins.delete(cancel);
      this.#post([grant]).catch((error: unknown) => {
        const fields = { err: error, workflowId: grant.instanceId };
        logger.error(fields, 'could not tell a run that a step has its slots');
      });
    });
    this.#begins.add(cancel);
  }

  async #post(grants: readonly SlotGrant[]): Promise<void> {
    if (grants.length === 0) return;
    const { posted, store } = this.#options;
    const messages = grants.map(({ execution, instanceId, unknown }) => ({
      instanceId,
      message: inboxMessage(`slots/${execution}`, {
        kind: 'slots',
        execution,
        ...(unknown !== undefined && { unknown }),
      }),
      toFullInbox: true as const,
    }));
    const answers = await this.#retry.untilAnswered(() => store.postMessages(messages));
    for (const [position, answer] of answers.entries()) {
      const message = messages[position]?.message;
      // The instance may have ended: then it frees its slots.
      if (answer !== null && message !== undefined) posted(answer, message);
    }
  }

  #forgetTold(now: number): void {
    // In the order in which they were told.
    for (const [execution, until] of this.#told) {
      if (until > now) return;
      this.#told.delete(execution);
    }
  }
}

function idOf({ key, limit }: LimitKey): string {
  return `${limit.length}:${limit}:${key}`;
}
