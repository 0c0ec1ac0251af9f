/**
 * Sends starts to the instance whose window they join, and waits until a commit contains them.
 *
 *   message --> the instance takes it: the commit contains its id and its data --> joined
 *           \-> the window has closed, or the instance has ended            --> too late
 *
 *  DB1 A start has joined once a commit contains its id; only then is its caller answered. A start is too late if the stored
 *      state has no open window and doesn't contain its id. The commit of an instance that ended in between may still contain
 *      it, so the end counts only once the inbox doesn't have the message any more.
 *  DB2 The id is the same in each attempt, so a start joins once, whatever is repeated.
 */
import { windowEnd, type DebounceMessage } from '../../engine/flow/debounce.js';
import { isEnded } from '../../engine/model/instance.js';
import type { WindowJoin } from '../../engine/session/session.js';
import { backOffMs } from '../../base/back-off.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { Store } from '../../store/store.js';
import type { InstanceRunner } from '../instances/instance-runner.js';
import { loadInstance, viewInstance } from '../instance-state/instance-views.js';
import { inboxMessage } from '../instance-state/message-codec.js';
import type { InstanceView } from '../model/instance-types.js';
import { AnswerWaiters } from './answer-waiters.js';
import type { InstanceQueries } from './instance-queries.js';

export interface WindowJoinsOptions {
  readonly store: Pick<Store, 'postMessages'>;
  readonly clock: Clock;
  readonly queries: Pick<InstanceQueries, 'read'>;
  readonly runner: Pick<InstanceRunner, 'claimer' | 'postedByClient'>;
  readonly isStopping: () => boolean;
}

/** How long a caller waits for the commit. */
export const JOIN_MS = 30_000;
/** Another node may have the instance, and doesn't announce its commits. */
const RECHECK = { firstMs: 50, lastMs: 500 };

type Answer = { readonly joined: InstanceView } | 'late';
type Found = Answer | 'pending';

export class WindowJoins {
  readonly #options: WindowJoinsOptions;
  readonly #waiters: AnswerWaiters<Answer>;

  constructor(options: WindowJoinsOptions) {
    this.#options = options;
    this.#waiters = new AnswerWaiters(options.clock);
  }

  /** Called when a commit on this node contains the results of these starts. */
  answered(joins: readonly WindowJoin[], view: () => InstanceView): void {
    for (const { id, instanceId, joined } of joins) {
      const answerOf = (): Answer => (joined ? { joined: view() } : 'late');
      this.#waiters.answered(waiterIdOf(instanceId, id), answerOf);
    }
  }

  /**
   * The instance that the start has joined; null: it came too late.
   *
   * @param mayHaveJoined an earlier request may have sent the same start
   * @throws AppError `overloaded`, `stopping`; StoreUnavailableError. The start may join nevertheless.
   */
  async join(
    instanceId: string,
    start: Omit<DebounceMessage, 'kind'>,
    mayHaveJoined: boolean,
  ): Promise<InstanceView | null> {
    const { clock } = this.#options;
    const message = inboxMessage(messageIdOf(start.id), { kind: 'debounce', ...start });
    const deadline = clock.now() + JOIN_MS;
    let isSent = false;
    if (mayHaveJoined) {
      const found = await this.#look(instanceId, start.id);
      if (found !== 'pending') return viewOf(found);
    }
    for (let attempt = 1; ; attempt += 1) {
      const until = Math.min(deadline, clock.now() + backOffMs(attempt, RECHECK));
      const answer = this.#waiters.wait(waiterIdOf(instanceId, start.id), until);
      isSent ||= await this.#send(instanceId, message);
      const found = (await answer) ?? (await this.#look(instanceId, start.id));
      if (found !== 'pending') return viewOf(found);
      this.#assertMayGoOn(instanceId, deadline);
    }
  }

  /** @throws AppError `overloaded`, `stopping` */
  #assertMayGoOn(workflowId: string, deadline: number): void {
    const { clock, isStopping } = this.#options;
    const fields = { workflowId };
    if (isStopping())
      throw new AppError('stopping', 'The server is stopping', { retryAfterSeconds: 1, fields });
    if (clock.now() < deadline) return;
    const message =
      'The run that collects such starts has not taken this one yet. It may still take it: repeat the start with the same Idempotency-Key';
    throw new AppError('overloaded', message, { retryAfterSeconds: 5, fields });
  }

  /** Returns false if the instance can't take it now. */
  async #send(instanceId: string, message: InboxMessage): Promise<boolean> {
    const { runner, store } = this.#options;
    const [posted] = await store.postMessages([{ instanceId, message }], runner.claimer);
    if (posted === null || posted === undefined) return false;
    runner.postedByClient(posted, message);
    return posted.overflowed !== true;
  }

  async #look(instanceId: string, id: string): Promise<Found> {
    try {
      return await this.#options.queries.read(instanceId, (record) => find(record, id));
    } catch (error) {
      if (error instanceof AppError && error.code === 'workflow_not_found') return 'late';
      throw error;
    }
  }
}

async function find(record: InstanceRecord, id: string): Promise<Found> {
  const instance = await loadInstance(record);
  if (instance.debounce?.joins.includes(id) === true) return { joined: await viewInstance(record) };
  if (windowEnd(instance) === null) return 'late';
  const isSent = record.inbox.some((message) => message.id === messageIdOf(id));
  return isEnded(record) && !isSent ? 'late' : 'pending';
}

/** A start that came too late for one instance may wait for the next before the first one says so. */
function waiterIdOf(instanceId: string, startId: string): string {
  return `${instanceId}/${startId}`;
}

function messageIdOf(startId: string): string {
  return `debounce/${startId}`;
}

function viewOf(found: Answer): InstanceView | null {
  return found === 'late' ? null : found.joined;
}
