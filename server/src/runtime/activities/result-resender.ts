/**
 * Resends activity results whose message hasn't been committed: it was lost with a node, or didn't fit into the inbox. Until
 * then, the result stays with its work item.
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { ActivityPosition, UnsettledActivity } from '../../store/records/activities.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { PostedMessage } from '../../store/records/posted-messages.js';
import { StoreRefusedError, type Store } from '../../store/store.js';
import { refusedMessage, resentMessage } from './activity-results.js';

/** Number of results per read: each may be as long as a request body. */
const PAGE = 16;
/** Maximum number of results per call, and their length in characters. */
const RESULTS_MAX = 512;
const LENGTH_MAX = 16 * 1024 * 1024;
/** The pauses between attempts for an instance whose inbox is full. After the last one, only housekeeping tries again. */
const PAUSE_MS_MIN = 1000;
const PAUSE_MS_MAX = 8000;

export interface ResultResenderOptions {
  readonly store: Pick<Store, 'findUnsettledActivities' | 'postMessages'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
  readonly posted: (posted: PostedMessage, message: InboxMessage) => void;
}

/** The progress of one call. */
interface Resent {
  readonly full: Set<string>;
  /** The inbox counter of each instance after the last message. */
  readonly inSeqs: Map<string, number>;
  length: number;
  /** True if an inbox has taken a message. */
  fits: boolean;
}

export class ResultResender {
  readonly #options: ResultResenderOptions;
  /** Where the last call stopped; undefined: at the end. */
  #until: ActivityPosition | undefined;
  #cancelSoon: (() => void) | null = null;
  #pauseMs = PAUSE_MS_MIN;
  #isRunning = false;
  #isStopped = false;

  constructor(options: ResultResenderOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelSoon?.();
  }

  /**
   * Sends results that were accepted before this time. Each call continues where the last one stopped, so that results that
   * don't fit into an inbox don't delay the others.
   */
  async resend(doneBefore: number): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const resent: Resent = { full: new Set(), inSeqs: new Map(), length: 0, fits: false };
    try {
      await this.#resend(doneBefore, resent);
    } finally {
      this.#isRunning = false;
    }
    // An inbox that takes some messages will take the others.
    this.#pauseMs = resent.fits ? PAUSE_MS_MIN : this.#pauseMs * 2;
    if (resent.full.size > 0 && this.#pauseMs <= PAUSE_MS_MAX) this.#again();
  }

  /** Called when a result didn't fit into the inbox of its instance, which is about to read its messages. */
  soon(): void {
    if (this.#cancelSoon !== null) return;
    this.#pauseMs = PAUSE_MS_MIN;
    this.#again();
  }

  #again(): void {
    if (this.#cancelSoon !== null || this.#isStopped) return;
    const { clock, logger } = this.#options;
    this.#cancelSoon = clock.at(clock.now() + this.#pauseMs, () => {
      this.#cancelSoon = null;
      this.resend(clock.now()).catch((error: unknown) => {
        logger.warn({ err: error }, 'could not send results of activities again');
      });
    });
  }

  async #resend(doneBefore: number, resent: Resent): Promise<void> {
    const { store } = this.#options;
    for (let sent = 0; sent < RESULTS_MAX && resent.length < LENGTH_MAX; sent += PAGE) {
      if (this.#isStopped) return;
      const page = await store.findUnsettledActivities(doneBefore, PAGE, this.#until);
      for (const activity of page) await this.#send(activity, resent);
      const last = page.at(-1);
      this.#until = last === undefined ? undefined : { doneAt: last.doneAt, id: last.id };
      if (last === undefined) return;
    }
  }

  async #post(instanceId: string, message: InboxMessage): Promise<PostedMessage | null> {
    const [posted] = await this.#options.store.postMessages([{ instanceId, message }]);
    return posted ?? null;
  }

  /** Fails the step instead, so that users see it. If the store refuses even that, the other results continue. */
  async #postRefusal(
    instanceId: string,
    activityId: string,
    error: StoreRefusedError,
  ): Promise<PostedMessage | null> {
    const { logger } = this.#options;
    const fields = { err: error, workflowId: instanceId, activityId };
    logger.error(fields, 'the store refuses the result of an activity');
    try {
      return await this.#post(instanceId, refusedMessage(activityId, error.message));
    } catch (again) {
      if (again instanceof StoreRefusedError) return null;
      throw again;
    }
  }

  async #send({ id, instanceId, result }: UnsettledActivity, resent: Resent): Promise<void> {
    resent.length += result.data.length;
    if (resent.full.has(instanceId)) return;
    const message = resentMessage(id, result);
    const posted = await this.#post(instanceId, message).catch((error: unknown) => {
      if (!(error instanceof StoreRefusedError)) throw error;
      return this.#postRefusal(instanceId, id, error);
    });
    if (posted === null) return;
    const before = resent.inSeqs.get(instanceId) ?? posted.inSeq;
    resent.inSeqs.set(instanceId, posted.inSeq);
    if (posted.overflowed === true) resent.full.add(instanceId);
    else if (posted.inSeq > before) resent.fits = true;
    this.#options.posted(posted, message);
  }
}
