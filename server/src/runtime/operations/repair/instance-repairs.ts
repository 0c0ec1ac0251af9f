/**
 * Repairs of instances: a user cancels and starts steps, changes data, or moves an instance to another version of its
 * definition.
 *
 * Every repair is planned on a copy first, which finds obstacles and answers dry runs. An open instance then gets a message,
 * which its actor applies after all earlier messages; the result is kept in its state (see `answers.ts`). An ended instance has
 * no actor: it is changed by one compare-and-set.
 *
 *  RP1 A repair takes effect as a whole or not at all, once, whatever happens at the same time.
 *  RP2 The audit entry is part of the commit that contains the repair.
 */
import { answerTo, dropsOf, type KnownAnswer } from '../../../engine/repair/answers.js';
import type { ModificationAnswer, Repair } from '../../../engine/model/modification.js';
import { isEnded } from '../../../engine/model/instance.js';
import { indexFieldsOf } from '../../../engine/values/index-fields.js';
import { backOffMs } from '../../../base/back-off.js';
import { AppError } from '../../../base/errors.js';
import { hashOf, type Ids } from '../../../base/ids.js';
import type { ControlAction } from '../../../store/records/control.js';
import { isBeingRemoved } from '../../../store/records/housekeeping.js';
import type { InstanceRecord } from '../../../store/records/instances.js';
import type { InboxMessage } from '../../../store/records/messages.js';
import type { Store } from '../../../store/store.js';
import type { RuntimeMetrics } from '../../fleet/runtime-metrics.js';
import type { EndWaiters } from '../../instances/end-waiters.js';
import type { InstanceRunner } from '../../instances/instance-runner.js';
import type { RequestGate } from '../request-gate.js';
import { inboxMessage, readMessage } from '../../instance-state/message-codec.js';
import type { InstanceQueries } from '../instance-queries.js';
import { loadInstance, viewCommitted, viewInstance } from '../../instance-state/instance-views.js';
import { AnswerWaiters } from '../answer-waiters.js';
import { commitRepair, hasUnsentEnd } from './ended-repair.js';
import { impossible } from './impossible.js';
import { planRepair, type PlanOptions, type RepairPlan } from './repair-plan.js';
import type { ModifyRequest, RepairedInstance, RerunRequest } from './repair-types.js';

export interface InstanceRepairsOptions extends PlanOptions {
  readonly store: Store;
  readonly ids: Ids;
  readonly gate: RequestGate;
  readonly queries: Pick<InstanceQueries, 'read'>;
  readonly endWaiters: Pick<EndWaiters, 'changed'>;
  readonly metrics: Pick<RuntimeMetrics, 'instanceRepaired'>;
  readonly runner: Pick<InstanceRunner, 'controlled' | 'check' | 'postedByClient'>;
  /** Called when the status of an instance was changed in the store. */
  readonly controlled: (record: InstanceRecord, action: ControlAction) => Promise<void>;
}

/** How long a caller waits for the result. */
const ANSWER_MS = 30_000;
/** Another node may have the instance, and doesn't always announce its commits. */
const RECHECK = { firstMs: 20, lastMs: 400 };

const MODIFY_PREFIX = 'modify/';
/** Maximum number and length of an instance's modifications that haven't been committed. */
const WAITING_MAX = 20;
const WAITING_LENGTH_MAX = 2 * 1024 * 1024;

/** One request, which may need several reads of the instance. */
interface PendingRepair {
  readonly id: string;
  readonly request: ModifyRequest;
  readonly repair: Repair;
  /** Null: starts the steps of the request. Otherwise: the step to start, or the first one. */
  readonly rerun: { readonly from: string | null } | null;
  /**
   * The id of the message, or of the answer in an ended instance. It is the same in every attempt, so a repetition has no
   * effect.
   */
  readonly messageId: string;
  /** The message that was or may have been sent. Null: the repair must be planned first. */
  sent: Sent | null;
  /** How often the ended instance dropped the message. */
  drops: number;
}

/** Omits the planned copy of the instance: many requests may wait for their answers at the same time. */
interface Sent {
  readonly forecast: Forecast;
  readonly resumes: boolean;
  /** Null: the instance has ended, so it takes no message. */
  readonly message: InboxMessage | null;
  wasTried: boolean;
  /** False while it is unknown whether the store has it. */
  isCertain: boolean;
}

export class InstanceRepairs {
  readonly #options: InstanceRepairsOptions;
  readonly #waiters: AnswerWaiters<true>;

  constructor(options: InstanceRepairsOptions) {
    this.#options = options;
    this.#waiters = new AnswerWaiters(options.environment.clock);
  }

  /** Called when a commit on this node contains these results of modifications. */
  answered(answers: readonly ModificationAnswer[]): void {
    for (const { id } of answers) this.#waiters.answered(id, () => true);
  }

  /**
   * @throws AppError `workflow_not_found`, `modification_impossible` with all obstacles, `too_many_requests`,
   * `modification_pending`, `idempotency_conflict`
   */
  modify(id: string, request: ModifyRequest, actor: string): Promise<RepairedInstance> {
    const repair: Repair = { action: 'modify', actor };
    return this.#apply(this.#ask({ id, request, repair, rerun: null }));
  }

  /** Throws what `modify` throws. */
  rerun(id: string, request: RerunRequest, actor: string): Promise<RepairedInstance> {
    const { from = null, ...rest } = request;
    const repair: Repair = { action: 'rerun', actor };
    const modification: ModifyRequest = { ...rest, cancel: 'all', resume: true };
    return this.#apply(this.#ask({ id, request: modification, repair, rerun: { from } }));
  }

  #ask(pending: Pick<PendingRepair, 'id' | 'repair' | 'request' | 'rerun'>): PendingRepair {
    const { dryRun, idempotency } = pending.request;
    const isKeyed = idempotency !== undefined && dryRun !== true;
    const id = isKeyed
      ? `k-${hashOf(idempotency.key)}`
      : this.#options.ids.newId(this.#options.environment.clock.now());
    return { ...pending, messageId: `${MODIFY_PREFIX}${id}`, sent: null, drops: 0 };
  }

  async #apply(pending: PendingRepair): Promise<RepairedInstance> {
    const { environment, gate, queries } = this.#options;
    const { clock } = environment;
    const deadline = clock.now() + ANSWER_MS;
    /** Since the message was sent. */
    let rechecks = 1;
    for (;;) {
      const wasSent = pending.sent !== null;
      const repaired = await gate
        .pass(() => queries.read(pending.id, (record) => this.#advance(pending, record)))
        .catch((error: unknown) => {
          if (isRefusal(error) && pending.sent !== null) return null;
          throw error;
        });
      if (repaired !== null) return repaired;
      const now = clock.now();
      if (now >= deadline || gate.state !== 'open') throw stillPending(pending);
      const until = Math.min(deadline, now + backOffMs(rechecks, RECHECK));
      await this.#waiters.wait(pending.messageId, until);
      rechecks = wasSent ? rechecks + 1 : 1;
    }
  }

  /** Advances the request as far as possible. Null: the instance must be read again later. */
  async #advance(pending: PendingRepair, record: InstanceRecord): Promise<RepairedInstance | null> {
    const { environment } = this.#options;
    const instance = await loadInstance(record);
    const answer = answerTo(instance, pending.messageId);
    if (answer !== null && isOf(pending, answer))
      return answered(record, pending.sent?.forecast, answer);
    assertFree(pending, record, answer);
    if (isEnded(record)) return this.#repairEnded(pending, record);
    const drops = dropsOf(instance, pending.messageId);
    // The instance ended and was reopened before it took the message, which no longer has an effect.
    if (drops > pending.drops) pending.sent = null;
    pending.drops = drops;
    // The message was not added, because the inbox had another request's message with the same key, which turned out
    // impossible.
    if (answer !== null && !record.inbox.some(({ id }) => id === pending.messageId))
      pending.sent = null;
    if (pending.sent?.isCertain === true) return null;
    if (pending.sent?.message == null) {
      const plan = await this.#plan(pending, record);
      if (pending.request.dryRun === true) return planResult(plan, environment);
      const message = messageFor(pending, record, plan);
      pending.sent = { ...sentFor(plan), message, wasTried: false, isCertain: false };
    }
    await this.#send(record, pending.sent);
    if (pending.sent.isCertain) return null;
    // The store has refused it.
    pending.sent = null;
    return null;
  }

  #plan(
    { messageId, repair, request, rerun }: PendingRepair,
    record: InstanceRecord,
  ): Promise<RepairPlan> {
    return planRepair({ messageId, record, repair, request, rerun }, this.#options);
  }

  /** Sends the message for the first time, or again after an unknown outcome. @throws StoreUnavailableError */
  async #send(record: InstanceRecord, sent: Sent): Promise<void> {
    const { controlled, environment, runner, store } = this.#options;
    const { id, inbox, status } = record;
    const { message, resumes } = sent;
    if (message === null) return;
    const mayBeStored = sent.wasTried || inbox.some((each) => each.id === message.id);
    sent.wasTried = true;
    if (resumes && status === 'Suspended') {
      const now = environment.clock.now();
      const result = await store.controlInstance(id, 'resume', now, undefined, message);
      if (result.outcome !== 'done') return;
      sent.isCertain = true;
      await controlled(result.record, 'resume');
      return;
    }
    const [answer] = await store.postMessages([{ instanceId: id, message, toFullInbox: true }]);
    if (answer === null || answer === undefined) return;
    sent.isCertain = true;
    // If it was stored together with the resumption, the actor must take both: it reads the instance again.
    if (!mayBeStored) runner.postedByClient(answer, message);
    else if (resumes) await controlled(record, 'resume');
    else runner.controlled(record);
  }

  async #repairEnded(
    pending: PendingRepair,
    record: InstanceRecord,
  ): Promise<RepairedInstance | null> {
    const { endWaiters, environment, metrics, runner, store } = this.#options;
    if (isBeingRemoved(record)) throw notFound(record);
    const isDryRun = pending.request.dryRun === true;
    if (!isDryRun && hasUnsentEnd(await loadInstance(record))) {
      // The runs that wait for its end are about to be notified.
      runner.check(record.id);
      return null;
    }
    const plan = await this.#plan(pending, record);
    if (isDryRun) return planResult(plan, environment);
    pending.sent = { ...sentFor(plan), message: null, wasTried: true, isCertain: false };
    const committed = await commitRepair(plan, { record, store, environment });
    if (committed === null) {
      pending.sent = null;
      return null;
    }
    metrics.instanceRepaired(pending.repair.action);
    endWaiters.changed(record.id);
    runner.controlled(committed);
    return planResult(plan, environment);
  }
}

/** A later suspension remains in effect: only the control action that is sent with the message resumes. */
function messageFor(
  { messageId, repair }: PendingRepair,
  record: InstanceRecord,
  { keyed, modification, movesTo }: RepairPlan,
): InboxMessage {
  const message = inboxMessage(messageId, {
    kind: 'modify',
    id: messageId,
    modification: { ...modification, resume: false },
    definitionId: record.definitionId,
    version: movesTo,
    hasResumed: modification.resume && record.status === 'Suspended',
    repair,
    ...(keyed !== undefined && { keyed }),
  });
  assertRoom(record, message);
  return message;
}

/** The parts of the result that only the plan contains. */
type Forecast = Pick<RepairPlan, 'repeats' | 'warnings'>;

/** The forecast of an answer that was found instead of awaited. */
const NO_FORECAST: Forecast = { repeats: [], warnings: [] };

function sentFor({
  modification,
  repeats,
  warnings,
}: RepairPlan): Pick<Sent, 'forecast' | 'resumes'> {
  return { forecast: { repeats, warnings }, resumes: modification.resume };
}

/** True if the answer belongs to this request, or to an earlier one that it repeats. */
function isOf({ request }: PendingRepair, { keyed }: Pick<KnownAnswer, 'keyed'>): boolean {
  return keyed?.requestHash === request.idempotency?.requestHash;
}

/** @throws AppError `idempotency_conflict` if another request with this key was applied, or is about to be */
function assertFree(
  pending: PendingRepair,
  { id, inbox }: InstanceRecord,
  answer: KnownAnswer | null,
): void {
  const waiting = inbox.find((message) => message.id === pending.messageId);
  const message = waiting === undefined ? null : readMessage(waiting.body);
  const isTaken =
    answer?.result.outcome === 'applied' || (message?.kind === 'modify' && !isOf(pending, message));
  if (!isTaken) return;
  throw new AppError(
    'idempotency_conflict',
    'This Idempotency-Key was already used for a different modification of this run',
    { fields: { workflowId: id } },
  );
}

function answered(
  record: InstanceRecord,
  forecast: Forecast | undefined,
  { keyed, result }: KnownAnswer,
): Promise<RepairedInstance> {
  const { repeats, warnings } = keyed ?? forecast ?? NO_FORECAST;
  if (result.outcome === 'impossible') throw impossible(record.id, result.obstacles);
  const { cancelled, started } = result;
  return viewInstance(record).then((instance) => ({
    instance,
    cancelled,
    started,
    repeats,
    warnings: [...result.warnings, ...warnings],
  }));
}

/** The result of the plan itself. */
async function planResult(
  { now, repeats, result, session, warnings }: RepairPlan,
  environment: PlanOptions['environment'],
): Promise<RepairedInstance> {
  const { cancelled, started } = result;
  session.instance.index = indexFieldsOf(
    session.instance.data,
    await environment.indexPaths(session.definition),
  );
  return {
    instance: viewCommitted(session.instance, now),
    cancelled,
    started,
    repeats,
    warnings: [...result.warnings, ...warnings],
  };
}

/** Such an error tells callers that they can repeat the request, which is wrong once the message has been sent. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && REFUSALS.has(error.code);
}

const REFUSALS: ReadonlySet<string> = new Set(['overloaded', 'stopping', 'store_unavailable']);

/** Modifications are added even to a full inbox, so their number and length are limited. */
function assertRoom({ id, inbox, status }: InstanceRecord, { body }: InboxMessage): void {
  const waiting = inbox.filter((message) => message.id.startsWith(MODIFY_PREFIX));
  const length = waiting.reduce((sum, message) => sum + message.body.length, body.length);
  if (waiting.length < WAITING_MAX && (waiting.length === 0 || length <= WAITING_LENGTH_MAX))
    return;
  throw new AppError(
    'too_many_requests',
    `${waiting.length} modifications of this run are already waiting`,
    { retryAfterSeconds: 1, fields: { workflowId: id, workflowStatus: status } },
  );
}

function notFound({ id }: InstanceRecord): AppError {
  const message = `The run with the id '${id}' is being removed`;
  return new AppError('workflow_not_found', message, { fields: { workflowId: id } });
}

function stillPending({ id, sent }: PendingRepair): AppError {
  const seconds = ANSWER_MS / 1000;
  const message =
    sent === null
      ? `The run has changed continuously for ${seconds} s; nothing was modified`
      : `The run has not taken the modification yet. It may still be applied: repeat the request with the same Idempotency-Key, or read the run first`;
  return new AppError('modification_pending', message, {
    retryAfterSeconds: 5,
    fields: { workflowId: id },
  });
}
