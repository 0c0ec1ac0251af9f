/**
 * Claims on work items: made before a poll is answered, kept while the worker has the item, then released.
 *
 * Owns: tokens, leases, and undeliverable items. Must not know: polls.
 *
 *  AC3 An item without a lease is first claimed for a limited time, and permanently soon after its delivery. So a node that
 *      dies between the claim and the response does not block the item: it returns to the queue by itself.
 *  AC4 An item whose stored form cannot be read fails its step instead of staying in the queue forever.
 *  AC5 The holder of a withdrawn item keeps it until it reports a result or returns the item, which counts as a result. No
 *      other worker can get the item, and its instance waits for the holder.
 *  AC7 The lease in a token is authenticated, unless nodes of earlier versions must be able to read the token. A heartbeat
 *      never extends a lease by more than the maximum, whatever the token contains.
 */
import { idempotencyKey } from '../../engine/model/pointer.js';
import { MissingSecretError } from '../secrets/secret-marks.js';
import type { Secrets } from '../secrets/secrets.js';
import { AppError } from '../../base/errors.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type { Logger } from '../../base/logger.js';
import { FAR_FUTURE_MS, type Store } from '../../store/store.js';
import type { LimitKey } from '../../store/records/slots.js';
import {
  isClaimed,
  isLongActivity,
  type ActivityClaim,
  type ActivityRecord,
  type LongActivity,
} from '../../store/records/activities.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type {
  CompleteActivityResult,
  MessageClaimer,
  PostedMessage,
} from '../../store/records/posted-messages.js';
import { RELEASED, storedResult, type ReportedResult } from './activity-results.js';
import type { Clock } from '../../base/clock.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { ExtendedLease, PullRequest, WorkItem } from './activity-types.js';
import { ClaimTimes } from '../workers/claim-times.js';
import { LeaseTimers } from './lease-timers.js';
import { UNKEPT_LEASE_MS, UnkeptClaims } from './unkept-claims.js';
import { readExecutionKey, readToken, type ActivityToken, type Ids } from '../../base/ids.js';
import { readWork } from '../instance-state/message-codec.js';
import type { Tracing } from '../../tracing/tracing.js';
import { traceClaim, traceHeld, type HeldItem } from '../tracing/activity-spans.js';

/** Items of suspended instances become available again after this time; a resume makes them available immediately. */
const DEFER_MS = 30_000;

/** The worker that gets the item, and its lease. */
export type Claimant = Pick<PullRequest, 'workerId' | 'leaseMs'>;

/** `undelivered`: the server releases it, because no worker got the item. */
export type ReleasedBy = 'worker' | 'undelivered';

/** A claim that is stored together with its item. */
export interface PreparedClaim {
  readonly token: string;
  readonly claim: ActivityClaim;
  readonly leaseMs: number | null;
}

export interface WorkClaimsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'activity'>;
  readonly secrets: Pick<Secrets, 'fill' | 'masker'>;
  readonly tracing?: Tracing;
  readonly leaseMsMax: number;
  /** True if all nodes can read tokens with an authenticated lease. */
  readonly bindsLeases: () => boolean;
  /** Who claims the instance that receives a result. */
  readonly claimer: () => MessageClaimer | undefined;
  readonly posted: (posted: PostedMessage, message: InboxMessage) => void;
  /** Others may wait for slots of these keys. */
  readonly lookAtLimits: (keys: readonly LimitKey[]) => void;
  /** Items can't be claimed, because slots of these keys aren't free. */
  readonly claimRefused: (keys: readonly LimitKey[]) => void;
  /** Called when work of this name is available again. */
  readonly offer: (name: string) => void;
}

export class WorkClaims {
  readonly #options: WorkClaimsOptions;
  readonly #unkept: UnkeptClaims;
  readonly #leases: LeaseTimers;
  readonly claimTimes = new ClaimTimes();

  constructor(options: WorkClaimsOptions) {
    this.#options = options;
    this.#unkept = new UnkeptClaims(options);
    this.#leases = new LeaseTimers(options);
  }

  /** Makes claims without a lease permanent, so that workers keep their items after this node is gone. */
  async stop(): Promise<void> {
    this.#leases.stop();
    await this.#unkept.stop();
  }

  /**
   * Claims the oldest item of the name that can be delivered; returns null if there is none. One with longer parameters is not
   * claimed.
   */
  async take(
    name: string,
    claimant: Claimant,
    lengthMax: number,
  ): Promise<WorkItem | LongActivity | null> {
    for (;;) {
      // The id of the item is unknown before the claim, so the token is completed afterwards.
      const { token, claim } = this.prepare('', claimant);
      const { claimRefused, clock, store } = this.#options;
      const now = clock.now();
      const request = { name, now, claim, deferMs: DEFER_MS, lengthMax };
      const item = await store.claimActivity(request);
      if (item?.limitedBy !== undefined) claimRefused(item.limitedBy);
      if (isLongActivity(item)) return item;
      if (!isClaimed(item)) return null;
      const full = `${Buffer.from(item.id).toString('base64url')}${token}`;
      const { leaseMs } = claimant;
      const work = this.deliver(item, { token: full, claim, leaseMs });
      if (work !== null) return work;
      await this.#failUnreadable(item, claim.tokenHash);
    }
  }

  prepare(activityId: string, { leaseMs, workerId }: Claimant): PreparedClaim {
    const { bindsLeases, clock, ids } = this.#options;
    const { token, tokenHash } = ids.newToken(activityId, leaseMs, bindsLeases());
    const leaseExpiresAt = clock.now() + (leaseMs ?? UNKEPT_LEASE_MS);
    return { token, claim: { tokenHash, workerId, leaseExpiresAt }, leaseMs };
  }

  /** Returns a claimed item for its worker, and watches its lease; null if the item can't be read. */
  deliver(
    item: Omit<ActivityRecord, 'availableAt' | 'tokenHash' | 'workerId' | 'done' | 'withdrawn'>,
    { claim, leaseMs, token }: PreparedClaim,
  ): WorkItem | null {
    const work = readWork(item.parameters);
    if (work === null) return null;
    const { pointerId: executionId } = readExecutionKey(item.id);
    const key = idempotencyKey(item.instanceId, { id: executionId, undone: work.undone ?? 0 });
    const { clock, tracing } = this.#options;
    const now = clock.now();
    this.claimTimes.add(item.id, now);
    if (leaseMs === null) this.#unkept.add({ activityId: item.id, tokenHash: claim.tokenHash });
    // If its claim can't be made permanent in time, the slots of the item are free.
    if (leaseMs !== null || item.needs !== undefined)
      this.#leases.watch(item, claim.leaseExpiresAt);
    return {
      token,
      activityName: item.name,
      parameters: work.parameters,
      storedLength: item.parameters.length,
      tokenExpiresAt: leaseMs === null ? null : claim.leaseExpiresAt,
      workflowId: item.instanceId,
      stepId: work.stepId,
      executionId,
      idempotencyKey: key,
      // For the worker, retries of the step and redeliveries after a lost lease are both attempts.
      attempt: work.attempt + item.attempt - 1,
      ...(tracing !== undefined &&
        work.trace !== undefined &&
        traceClaim(tracing, work.trace, item, { now, workerId: claim.workerId })),
    };
  }

  /**
   * The item with its secret values. Null: a secret is missing, so the step fails.
   * @throws StoreUnavailableError
   */
  async reveal(item: WorkItem): Promise<WorkItem | null> {
    try {
      const { idempotencyKey: execution, parameters } = item;
      return { ...item, parameters: await this.#options.secrets.fill(parameters, execution) };
    } catch (error) {
      if (!(error instanceof MissingSecretError)) throw error;
      await this.complete(item.token, { succeeded: false, data: error.message });
      return null;
    }
  }

  /** @throws AppError `activity_not_found` for an unknown or stale token, `work_cancelled` */
  async complete(token: string, result: ReportedResult): Promise<void> {
    const outcome = await this.#decide(token, (held) => this.#complete(held, result));
    assertAccepted(outcome);
    this.#options.metrics.activity(result.succeeded ? 'completed' : 'failed');
  }

  /**
   * `leaseMs` null: the lease with which the item was claimed.
   * @throws AppError `activity_not_found`, `work_cancelled`
   */
  async extend(token: string, leaseMs: number | null): Promise<ExtendedLease> {
    const { clock, leaseMsMax, store } = this.#options;
    const wantedMs = leaseMs ?? readToken(token)?.leaseMs ?? null;
    const heldForMs = wantedMs === null ? null : Math.min(wantedMs, leaseMsMax);
    const now = clock.now();
    const tokenExpiresAt = heldForMs === null ? FAR_FUTURE_MS : now + heldForMs;
    const held = await this.#decide(token, async ({ activityId, tokenHash }) => {
      const extended = await store.extendActivity(activityId, tokenHash, tokenExpiresAt, now);
      return extended === null ? null : { ...extended, activityId };
    });
    if (held === null) throw await this.#refusalOf(token);
    const { activityId, name, withdrawn } = held;
    // No worker gets a withdrawn item after its lease.
    const endsAt = withdrawn || heldForMs === null ? null : tokenExpiresAt;
    this.#leases.watch({ id: activityId, name }, endsAt);
    return { tokenExpiresAt, cancelRequested: withdrawn };
  }

  /**
   * Rejects the token of an item whose name isn't allowed. An unknown token passes: the actual call rejects it.
   * @throws AppError `activity_not_found`
   */
  async assertWithin(token: string, allowed: AllowedNames): Promise<void> {
    const activityId = readToken(token)?.activityId;
    if (activityId === undefined) return;
    const [item] = await this.#options.store.getActivities([activityId]);
    if (item !== undefined && !allowsName(allowed, item.name)) throw staleToken();
  }

  /** For a worker that rejects the item. @throws AppError `activity_not_found`, `work_cancelled` */
  async release(token: string, by: ReleasedBy = 'worker'): Promise<void> {
    await this.giveBack(token, by);
    this.#options.metrics.activity('released');
  }

  /**
   * Returns the item to its former place in the queue. If no worker got it, the attempt doesn't count. A withdrawn item isn't
   * queued again: its instance is notified of the return.
   * @throws AppError `activity_not_found`, `work_cancelled`
   */
  async giveBack(token: string, by: ReleasedBy): Promise<void> {
    const released = await this.#decide(token, ({ activityId, tokenHash }) =>
      this.#options.store.releaseActivity(activityId, tokenHash, by === 'worker'),
    );
    if (released === null) {
      await this.#giveBackWithdrawn(token);
      return;
    }
    const activityId = readToken(token)?.activityId;
    if (activityId !== undefined) this.#letGo(activityId);
    this.#options.lookAtLimits(released.waits);
    this.#options.offer(released.name);
  }

  /** Idempotent, in case the response to the first call was lost. */
  async #giveBackWithdrawn(token: string): Promise<void> {
    const item = await this.#heldWith(token);
    if (item === null || !(item.withdrawn || item.done)) throw staleToken();
    assertAccepted(await this.#decide(token, (held) => this.#complete(held, RELEASED)));
  }

  /** The error for a token whose item isn't held. */
  async #refusalOf(token: string): Promise<AppError> {
    const item = await this.#heldWith(token);
    return item?.done === true && item.withdrawn ? workCanceled() : staleToken();
  }

  /** The item with this token; null if the item has another token, or none. */
  async #heldWith(token: string): Promise<ActivityRecord | null> {
    const held = readToken(token);
    if (held === null) return null;
    const [item] = await this.#options.store.getActivities([held.activityId]);
    return item?.tokenHash === held.tokenHash ? item : null;
  }

  /** The worker's decision about an item takes precedence over making its claim permanent. */
  async #decide<Outcome>(
    token: string,
    decide: (held: ActivityToken) => Promise<Outcome>,
  ): Promise<Outcome> {
    const held = readToken(token);
    if (held === null) throw staleToken();
    const wasUnkept = this.#unkept.remove(held.tokenHash);
    try {
      return await decide(held);
    } catch (error) {
      if (wasUnkept) this.#unkept.add(held);
      throw error;
    }
  }

  async #complete(
    { activityId, tokenHash }: Pick<ActivityToken, 'activityId' | 'tokenHash'>,
    reported: ReportedResult,
  ): Promise<CompleteActivityResult['outcome']> {
    const { clock, posted, secrets, store } = this.#options;
    const { message, result } = storedResult(activityId, reported, secrets.masker);
    const claimer = this.#options.claimer();
    const completed = await store.completeActivity({
      activityId,
      tokenHash,
      result,
      message,
      now: clock.now(),
      ...(claimer !== undefined && { claimer }),
    });
    if (completed.outcome !== 'accepted') return completed.outcome;
    const end = result.succeeded ? 'completed' : 'failed';
    this.#traceHeld(completed.activity, reported.released === true ? 'released' : end);
    this.#letGo(activityId);
    if (completed.waits !== undefined) this.#options.lookAtLimits(completed.waits);
    // The instance has ended before a commit withdrew its work: no step waits for the result.
    if (completed.posted === null) return 'stale';
    posted(completed.posted, message);
    return 'accepted';
  }

  #traceHeld(item: ActivityRecord, end: HeldItem['end']): void {
    const { clock, tracing } = this.#options;
    if (tracing === undefined) return;
    const trace = readWork(item.parameters)?.trace;
    if (trace === undefined) return;
    const since = this.claimTimes.timeOf(item.id);
    traceHeld(tracing, trace, item, { end, now: clock.now(), since });
  }

  /** If this fails as well, the claim expires, and the next node that finds the item tries again. */
  async #failUnreadable({ id, instanceId, name }: ActivityRecord, tokenHash: string) {
    this.#options.logger.error(
      { workflowId: instanceId, activityName: name },
      'failing a step, because the stored parameters of its work item cannot be read',
    );
    const data = 'the stored parameters of the activity cannot be read';
    await this.#complete({ activityId: id, tokenHash }, { succeeded: false, data });
  }

  /** Called when no worker holds the item any more. */
  #letGo(activityId: string): void {
    this.claimTimes.remove(activityId);
    this.#leases.forget(activityId);
  }
}

function assertAccepted(outcome: CompleteActivityResult['outcome']): void {
  if (outcome === 'canceled') throw workCanceled();
  if (outcome === 'stale') throw staleToken();
}

function workCanceled(): AppError {
  return new AppError('work_cancelled', 'The work was canceled, because the run is being undone');
}

function staleToken(): AppError {
  return new AppError(
    'activity_not_found',
    'The token does not hold an activity: it is unknown or stale',
  );
}
