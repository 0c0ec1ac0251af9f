/**
 * Reports changes to listeners as they happen: instances after each commit and control action, definitions when they get a
 * version.
 *
 * Owns: the listeners of this node, and the notifications that other nodes have requested. Must not know: HTTP, the store. It
 * is a feed, not a log: listeners recover from losses (of a hint, or by a slow listener) by reading the lists again.
 *
 *  F1 Without listeners on any node, a commit costs one comparison and nothing is sent.
 *  F2 Each listener uses bounded memory; a slow listener is notified that it missed changes.
 *  F3 A change costs the same, however many listeners have the same filter. One caller can't take all permits.
 */
import {
  CHANGES_PER_HINT_MAX,
  type ChangeBatch,
  type Hint,
  type ChangedInstance,
} from '../../backplane/backplane.js';
import type { Instance } from '../../engine/model/instance.js';
import { AppError } from '../../base/errors.js';
import { currentCaller } from '../../base/limits/current-caller.js';
import type { InstanceSummary } from '../../store/records/instances.js';
import { ChangeBuffer } from './change-buffer.js';
import { ChangeChannel, channelKey, type ChangeFilter } from './change-channel.js';
import { ChangeWatch, type ChangeListener } from './change-watch.js';
import { ListenerLimits } from './listener-limits.js';
import type { Clock } from '../../base/clock.js';
import type { InstanceListItem } from '../model/instance-types.js';
import { committedItem, listItem } from '../instance-state/instance-views.js';

export interface ChangeFeedOptions {
  readonly clock: Clock;
  readonly publish: (hint: Hint) => void;
  /** True while this node may learn of other nodes' changes late. */
  readonly mayBeStale: () => boolean;
}

/** Interest is announced at this interval, and expires on other nodes when announcements stop for this long. */
const INTEREST_INTERVAL_MS = 5000;
const INTEREST_MS = 15_000;
/** How long changes are collected before other nodes are notified. */
const TELL_INTERVAL_MS = 200;

export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  /** The channels of the listeners' filters. */
  readonly #channels = new Map<string, ChangeChannel>();
  readonly #limits = new ListenerLimits();
  readonly #forOthers = new ChangeBuffer();
  #othersListenUntil = 0;
  #cancelTelling: (() => void) | null = null;
  #cancelBeat: () => void = () => undefined;
  #isClosed = false;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  get listeners(): number {
    return this.#limits.taken;
  }

  /**
   * Reports changes from now on, on this node and, if possible, on other nodes. @throws AppError `too_many_requests`,
   * `stopping`
   */
  watch(filter: ChangeFilter): ChangeListener {
    if (this.#isClosed) {
      throw new AppError('stopping', 'The server is stopping', { retryAfterSeconds: 1 });
    }
    const release = this.#limits.take(currentCaller());
    const { clock } = this.#options;
    const key = channelKey(filter);
    const channel = this.#channels.get(key) ?? new ChangeChannel(clock, filter);
    this.#channels.set(key, channel);
    if (this.#limits.taken === 1) this.#announceInterest();
    return new ChangeWatch(clock, channel, () => {
      release();
      if (channel.watches.size === 0) this.#channels.delete(key);
      if (this.#limits.taken === 0) this.#cancelBeat();
    });
  }

  /** Ends every watch; no new one can start. */
  close(): void {
    this.#isClosed = true;
    for (const { watches } of [...this.#channels.values()]) {
      for (const watch of [...watches]) watch.close();
    }
    this.#cancelTelling?.();
    this.#cancelTelling = null;
  }

  // -- changes on this node

  /** Called when a commit of this instance is durable. */
  committed(instance: Instance): void {
    if (!this.#isWanted) return;
    this.#changed(changeOf(committedItem(instance, this.#options.clock.now())));
  }

  /** Called when the status of an instance was changed in the store. */
  controlled(record: InstanceSummary): void {
    if (!this.#isWanted) return;
    this.#changed(changeOf(listItem(record)));
  }

  definitionStored(id: string, version: number): void {
    if (!this.#isWanted) return;
    for (const channel of this.#channels.values()) channel.definitionChanged(id, version);
    if (!this.#othersListen) return;
    this.#forOthers.addDefinition(id, version);
    this.#tellSoon();
  }

  // -- notifications from other nodes

  receiveInterest(): void {
    this.#othersListenUntil = this.#options.clock.now() + INTEREST_MS;
  }

  receiveChanges({ definitions, lagged, workflows }: ChangeBatch): void {
    for (const channel of this.#channels.values()) {
      for (const change of workflows) channel.instanceChanged(change);
      for (const { id, version } of definitions) channel.definitionChanged(id, version);
      if (lagged) channel.lag();
    }
  }

  get #isWanted(): boolean {
    return this.#channels.size > 0 || this.#othersListen;
  }

  get #othersListen(): boolean {
    return this.#othersListenUntil !== 0 && this.#options.clock.now() < this.#othersListenUntil;
  }

  #changed(change: ChangedInstance): void {
    for (const channel of this.#channels.values()) channel.instanceChanged(change);
    if (!this.#othersListen) return;
    this.#forOthers.addInstance(change);
    this.#tellSoon();
  }

  #tellSoon(): void {
    const { clock } = this.#options;
    if (this.#isClosed) return;
    this.#cancelTelling ??= clock.at(clock.now() + TELL_INTERVAL_MS, () => {
      this.#cancelTelling = null;
      this.#tellOthers(this.#forOthers.take());
    });
  }

  #tellOthers({ definitions, lagged, workflows }: ChangeBatch): void {
    const pieces = Math.ceil(Math.max(workflows.length, definitions.length) / CHANGES_PER_HINT_MAX);
    for (let piece = 0; piece < Math.max(pieces, 1); piece += 1) {
      const from = piece * CHANGES_PER_HINT_MAX;
      const to = from + CHANGES_PER_HINT_MAX;
      const changes = {
        workflows: workflows.slice(from, to),
        definitions: definitions.slice(from, to),
        lagged,
      };
      this.#options.publish({ kind: 'changes', changes });
    }
  }

  /** While there are listeners here, asks other nodes for notifications; if that is impossible, listeners are notified. */
  #announceInterest(): void {
    const { clock, mayBeStale, publish } = this.#options;
    publish({ kind: 'interest' });
    this.#cancelBeat = clock.at(clock.now() + INTEREST_INTERVAL_MS, () => {
      if (mayBeStale()) for (const channel of this.#channels.values()) channel.lag();
      this.#announceInterest();
    });
  }
}

/** The change without members that may be long. */
function changeOf(item: InstanceListItem): ChangedInstance {
  const { id, definitionId, version, reference, status, outcome, parent } = item;
  const { startTime, endTime, lastChangeTime, failureTime, failingSince } = item;
  const times = { startTime, endTime, lastChangeTime, failureTime, failingSince };
  return { id, definitionId, version, reference, status, outcome, parent, ...times };
}
