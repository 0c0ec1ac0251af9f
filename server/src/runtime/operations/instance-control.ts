/**
 * Control actions of users and clients on running instances: suspend, resume, terminate, retry, answer for a worker.
 *
 * Every action is recorded in the instance with its actor, in the same write that performs it.
 */
import type { Instance } from '../../engine/model/instance.js';
import { waitsForRetry } from '../../engine/flow/messages.js';
import { executionKey, type Pointer } from '../../engine/model/pointer.js';
import type { Priority } from '../../engine/model/start-options.js';
import { TAGS_MAX } from '../../engine/values/tags.js';
import { AppError } from '../../base/errors.js';
import type {
  AuditAction,
  AuditEntry,
  ControlAction,
  ControlResult,
  TagChanges,
} from '../../store/records/control.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { PostedMessage } from '../../store/records/posted-messages.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import { storedResult, type ReportedResult } from '../activities/activity-results.js';
import type { Secrets } from '../secrets/secrets.js';
import type { Clock } from '../../base/clock.js';
import type { InstanceView } from '../model/instance-types.js';
import type { Ids } from '../../base/ids.js';
import { instanceNotFound, type InstanceQueries } from './instance-queries.js';
import { loadInstance, viewInstance } from '../instance-state/instance-views.js';
import { inboxMessage } from '../instance-state/message-codec.js';
import type { ControlOptions, ControlOutcome, InstanceAction } from '../model/control-types.js';
import { compensateInstance, WITH_COMPENSATION } from '../instances/termination.js';

export interface InstanceControlOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Pick<Secrets, 'masker'>;
  readonly queries: Pick<InstanceQueries, 'load' | 'read'>;
  /** Called when the status of an instance was changed in the store. */
  readonly controlled: (record: InstanceRecord, action: ControlAction) => Promise<void>;
  /** Called when tags of an instance were changed in the store. */
  readonly changed: (record: InstanceRecord) => void;
  readonly posted: (posted: PostedMessage, message: InboxMessage) => void;
}

export interface ControlledBy extends ControlOptions {
  readonly actor: string;
  /** The same for repetitions of one retry. */
  readonly retryId?: string;
}

/** Lease of a work item that an operator answers, in case the server dies before the answer is stored. */
const TAKE_OVER_MS = 30_000;
const DETAIL_LENGTH_MAX = 600;
/** Maximum number of instances of one request that are controlled concurrently. */
const CONTROL_WIDTH = 8;

const RETRY_PREFIX = 'retry/';
/** Maximum number of retries of an instance that haven't been committed. */
const RETRIES_WAITING_MAX = 20;

function compensated(detail: string | null): string {
  return detail === null ? WITH_COMPENSATION : `${WITH_COMPENSATION}; ${detail}`;
}

const PAST = { suspend: 'suspended', resume: 'resumed' } as const;

export class InstanceControl {
  readonly #options: InstanceControlOptions;

  constructor(options: InstanceControlOptions) {
    this.#options = options;
  }

  /**
   * Suspends, resumes, terminates (with or without compensation), or retries failed steps immediately. Terminating an
   * instance that has ended changes nothing.
   * @throws AppError `workflow_not_found`, `status_conflict`, `action_conflict`, `too_many_requests`
   */
  async control(
    id: string,
    action: InstanceAction,
    actor: string,
    options: ControlOptions = {},
  ): Promise<InstanceView> {
    const by = { actor, ...options };
    if (action === 'retry') return viewInstance(await this.#retry(id, by));
    const result = await this.#change(id, action, by);
    if (result.outcome === 'missing') throw instanceNotFound(id);
    if (result.outcome === 'refused' && action !== 'terminate' && action !== 'compensate') {
      const { status } = result.record;
      throw conflict(
        'status_conflict',
        result.record,
        `A run that is ${status} cannot be ${PAST[action]}`,
      );
    }
    return viewInstance(result.record);
  }

  /** Like `control`, for one instance of a bulk job. @throws AppError `too_many_requests` */
  async controlFor(
    id: string,
    action: InstanceAction,
    by: ControlledBy,
  ): Promise<ControlOutcome['outcome']> {
    return (await this.#controlOne(id, action, by)).outcome;
  }

  /** Controls each instance separately, a few at a time; results are in the order of the ids. */
  async controlMany(
    ids: readonly string[],
    action: InstanceAction,
    by: ControlledBy,
  ): Promise<readonly ControlOutcome[]> {
    const outcomes: ControlOutcome[] = [];
    for (let at = 0; at < ids.length; at += CONTROL_WIDTH) {
      const group = ids.slice(at, at + CONTROL_WIDTH);
      outcomes.push(...(await Promise.all(group.map((id) => this.#controlOne(id, action, by)))));
    }
    return outcomes;
  }

  /**
   * Reports the result of a waiting Activity step in place of its worker, whose token becomes stale. Only one of this result
   * and the worker's own is accepted.
   * @throws AppError `workflow_not_found`, `execution_not_found`, `action_conflict`
   */
  answerActivity(
    execution: { readonly workflowId: string; readonly executionId: number },
    reported: ReportedResult,
    actor: string,
  ): Promise<void> {
    const { executionId, workflowId } = execution;
    const answer = { executionId, reported, actor };
    return this.#options.queries.read(workflowId, (record) => this.#answer(record, answer));
  }

  async #answer(
    record: InstanceRecord,
    {
      actor,
      executionId,
      reported,
    }: {
      readonly actor: string;
      readonly executionId: number;
      readonly reported: ReportedResult;
    },
  ): Promise<void> {
    const { clock, ids, posted, store } = this.#options;
    const pointer = waitingPointer(record, await loadInstance(record), executionId);
    const activityId = executionKey(record.id, pointer);
    const { tokenHash } = ids.newToken(activityId, null);
    const leaseExpiresAt = clock.now() + TAKE_OVER_MS;
    const claim = { tokenHash, workerId: actor, leaseExpiresAt };
    const taken = await store.takeOverActivity(activityId, claim);
    if (taken === null) throw answeredAlready(record);
    const { message, result } = storedResult(activityId, reported, this.#options.secrets.masker);
    const detail = `step ${pointer.stepId} (execution ${pointer.id})`;
    const outcome = await store.completeActivity({
      activityId,
      tokenHash,
      result,
      message,
      now: clock.now(),
      audit: this.#entry(actor, result.succeeded ? 'complete-activity' : 'fail-activity', detail),
    });
    if (outcome.outcome === 'repeated') return;
    if (outcome.outcome !== 'accepted' || outcome.posted === null) throw answeredAlready(record);
    posted(outcome.posted, message);
  }

  /**
   * Merges changes into the tags of an instance in any status.
   * @throws AppError `workflow_not_found`, `invalid_request` for more tags than an instance may have
   */
  async setTags(id: string, changes: TagChanges, actor: string): Promise<InstanceView> {
    const { changed, store } = this.#options;
    const entry = this.#entry(actor, 'set-tags', JSON.stringify(changes));
    const result = await store.patchTags(id, changes, entry);
    if (result.outcome === 'missing') throw instanceNotFound(id);
    if (result.outcome === 'too-many') {
      throw new AppError('invalid_request', `A run can have at most ${TAGS_MAX} tags`, {
        fields: { workflowId: id },
      });
    }
    changed(result.record);
    return viewInstance(result.record);
  }

  /**
   * Changes the priority of an open instance, and of its work items that wait.
   * @throws AppError `workflow_not_found`, `action_conflict`: it has ended
   */
  async setPriority(
    id: string,
    priority: Priority,
    { actor, detail = null }: Pick<ControlledBy, 'actor' | 'detail'>,
  ): Promise<InstanceView> {
    const { changed, store } = this.#options;
    const why = detail === null ? '' : `: ${detail}`;
    const entry = this.#entry(actor, 'set-priority', `${priority}${why}`);
    const result = await store.setPriority(id, priority, entry);
    if (result.outcome === 'missing') throw instanceNotFound(id);
    if (result.outcome === 'refused') {
      throw conflict('action_conflict', result.record, 'The run has ended');
    }
    changed(result.record);
    return viewInstance(result.record);
  }

  /** Records that an event was published for an instance. */
  async notePublished(
    workflowId: string,
    { key, name }: { readonly name: string; readonly key: string },
    actor: string,
  ): Promise<void> {
    const entry = this.#entry(actor, 'publish-event', `event ${name}/${key}`);
    await this.#options.store.appendAudit(workflowId, entry);
  }

  /** The control actions on an instance with their actors, newest first. @throws AppError `workflow_not_found` */
  async listActions(id: string): Promise<readonly AuditEntry[]> {
    const entries = await this.#options.store.listAudit(id);
    if (entries === null) throw instanceNotFound(id);
    return entries;
  }

  async #change(id: string, action: ControlAction, by: ControlledBy): Promise<ControlResult> {
    const { clock, controlled, store } = this.#options;
    const { actor, detail = null, graceMs } = by;
    const graceUntil = graceMs === undefined ? undefined : clock.now() + graceMs;
    const result =
      action === 'compensate'
        ? await compensateInstance(
            store,
            id,
            this.#entry(actor, 'terminate', compensated(detail)),
            graceUntil,
          )
        : await store.controlInstance(id, action, clock.now(), this.#entry(actor, action, detail));
    if (result.outcome === 'done') await controlled(result.record, action);
    return result;
  }

  #retry(id: string, by: ControlledBy): Promise<InstanceRecord> {
    return this.#options.queries.read(id, (record) => this.#retryOf(record, by));
  }

  async #retryOf(record: InstanceRecord, by: ControlledBy): Promise<InstanceRecord> {
    const { clock, ids, posted, store } = this.#options;
    const { id } = record;
    const pointers = [...(await loadInstance(record)).pointers.values()];
    const waits = pointers.some(({ state }) => waitsForRetry(state));
    if (record.status !== 'Runnable' || !waits) {
      throw conflict('action_conflict', record, 'No step of this run is waiting for a retry');
    }
    assertFewRetries(record);
    const { actor, detail = null, retryId = ids.newId(clock.now()) } = by;
    const message = inboxMessage(`${RETRY_PREFIX}${retryId}`, { kind: 'retry-now' });
    const audit = this.#entry(actor, 'retry', detail);
    const request = { instanceId: id, message, audit, toFullInbox: true } as const;
    const [answer] = await store.postMessages([request]);
    if (answer === null || answer === undefined) {
      throw conflict('action_conflict', record, 'The run has ended in the meantime');
    }
    posted(answer, message);
    return record;
  }

  async #controlOne(id: string, action: InstanceAction, by: ControlledBy): Promise<ControlOutcome> {
    if (action !== 'retry') {
      const result = await this.#change(id, action, by);
      if (result.outcome === 'missing') return { workflowId: id, outcome: 'missing', status: null };
      const { endTime, status } = result.record;
      // The requested action is already in progress.
      const isDone = result.outcome === 'done' || (action === 'compensate' && endTime === null);
      return { workflowId: id, outcome: isDone ? 'done' : 'refused', status };
    }
    try {
      const { status } = await this.#retry(id, by);
      return { workflowId: id, outcome: 'done', status };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'workflow_not_found') {
        return { workflowId: id, outcome: 'missing', status: null };
      }
      if (error.code !== 'action_conflict' && error.code !== 'too_many_requests') throw error;
      // A bulk job tries again later.
      if (by.retryId !== undefined && error.code === 'too_many_requests') throw error;
      const { status } = await this.#options.queries.load(id);
      return { workflowId: id, outcome: 'refused', status };
    }
  }

  #entry(actor: string, action: AuditAction, detail: string | null): AuditEntry {
    const cut = detail === null ? null : detail.slice(0, DETAIL_LENGTH_MAX);
    return { time: this.#options.clock.now(), actor, action, detail: cut };
  }
}

/** Retries are added even to a full inbox, so their number is limited. */
function assertFewRetries({ id, inbox, status }: InstanceRecord): void {
  const waiting = inbox.filter((message) => message.id.startsWith(RETRY_PREFIX)).length;
  if (waiting < RETRIES_WAITING_MAX) return;
  throw new AppError('too_many_requests', `${waiting} retries of this run are already waiting`, {
    retryAfterSeconds: 1,
    fields: { workflowId: id, workflowStatus: status },
  });
}

function waitingPointer(record: InstanceRecord, instance: Instance, executionId: number): Pointer {
  const pointer = instance.pointers.get(executionId);
  if (executionId >= instance.nextPointerId) {
    throw new AppError('execution_not_found', `The run has no execution ${executionId}`, {
      fields: { workflowId: record.id },
    });
  }
  if (pointer?.state.kind !== 'activity' || record.endTime !== null) throw answeredAlready(record);
  return pointer;
}

function answeredAlready(record: InstanceRecord): AppError {
  return conflict('action_conflict', record, 'This execution is not waiting for an activity');
}

function conflict(
  code: 'status_conflict' | 'action_conflict',
  record: InstanceRecord,
  message: string,
): AppError {
  return new AppError(code, message, {
    fields: { workflowId: record.id, workflowStatus: record.status },
  });
}
