/** Starts instances: for clients, who may repeat a request with the same Idempotency-Key, and for SubWorkflow steps. */
import { collectedFrom } from '../../engine/model/debounce.js';
import { childStartOf } from '../../engine/primitives/effects.js';
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import type { ParentLink } from '../../engine/model/instance.js';
import { toObject, toText } from '../../engine/values/convert-input.js';
import type { JsonObject } from '../../engine/values/json.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { CanceledError } from '../../base/slices.js';
import { hashOf, type Ids } from '../../base/ids.js';
import type { InstanceRecord, InstanceSummary } from '../../store/records/instances.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type { RunHistory } from '../fleet/run-history.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceRunner } from '../instances/instance-runner.js';
import type { ChildStart, ChildStarted } from '../instances/child-starts.js';
import { isLater, type NewInstance } from '../instance-state/new-instance.js';
import type { NodeEnvironment } from '../instances/node-environment.js';
import type { Tracing } from '../../tracing/tracing.js';
import { traceChild, traceStart } from '../tracing/start-trace.js';
import { ANONYMOUS } from '../model/control-types.js';
import type {
  InstanceView,
  StartedInstance,
  StartRequest,
  StartWait,
} from '../model/instance-types.js';
import { viewInstance, viewNew } from '../instance-state/instance-views.js';
import {
  StartAdmission,
  type RequestedStart,
  type StartAdmissionOptions,
} from './start-admission.js';
import { StartInsertion, StartRefusals, type Insertion } from './start-insertion.js';
import {
  debounceOf,
  startAtOf,
  viewStartDebounce,
  joinedWindowOf,
  type JoinedWindow,
} from './start-debounce.js';
import { JOIN_MS, type WindowJoins } from './window-joins.js';
import { findWaitingWith, waitsForChild } from './waiting-ancestors.js';
import type { InstanceEnds } from './instance-ends.js';

export interface InstanceStarterOptions extends Omit<StartAdmissionOptions, 'latest'> {
  readonly clock: Clock;
  readonly tracing?: Tracing | undefined;
  readonly ids: Ids;
  readonly metrics: RuntimeMetrics;
  readonly history: Pick<RunHistory, 'started'>;
  readonly catalog: Pick<DefinitionCatalog, 'latest' | 'startable'>;
  readonly runner: Pick<InstanceRunner, 'startInstance'>;
  readonly ends: Pick<InstanceEnds, 'begin' | 'wait'>;
  readonly joins: Pick<WindowJoins, 'join'>;
  /** Maximum size of what a window collects, in bytes of JSON. */
  readonly collectedLengthMax: number;
  readonly environment: Pick<NodeEnvironment, 'retryStore' | 'store'>;
  /** Called when another start has terminated this instance in the store. */
  readonly replaced: (record: InstanceSummary) => void;
  /** Maximum number of concurrent client starts; more are rejected. */
  readonly startsMax: number;
  readonly isStopping: () => boolean;
}

interface Started extends StartedInstance {
  /** False if an earlier request has inserted the instance. */
  readonly isInserted: boolean;
}

export class InstanceStarter {
  readonly #options: InstanceStarterOptions;
  readonly #admission: StartAdmission;
  readonly #insertion: StartInsertion;
  readonly #refusals: StartRefusals;
  #underWay = 0;

  constructor(options: InstanceStarterOptions) {
    this.#options = options;
    const latest = (id: string) => options.catalog.latest(id);
    this.#admission = new StartAdmission({ ...options, latest });
    this.#insertion = new StartInsertion({ ...options, admission: this.#admission });
    this.#refusals = new StartRefusals(options.metrics);
  }

  /**
   * @param wait how long to wait for the end; without it, the response shows a new instance before its first step
   * @throws AppError `definition_not_found`, `definition_disabled`, `invalid_data`, `expression_failed`, `reference_in_use`,
   * `idempotency_conflict`
   */
  async start(request: StartRequest, wait: StartWait | null = null): Promise<StartedInstance> {
    const id = this.#idOf(request);
    if (wait === null) return this.#startLimited(id, request);
    const { clock, ends } = this.#options;
    const deadline = clock.now() + wait.timeoutMs;
    // Begins before the start, so that the end of the first pass is not missed.
    const begun = ends.begin(id, wait);
    try {
      const { instance, isInserted, isNew } = await this.#startLimited(id, request);
      const timeoutMs = Math.max(0, deadline - clock.now());
      // A repeated start may find an instance that has already ended: its end would not be reported again.
      const known = isInserted ? begun : null;
      const ended = ends.wait(instance.id, timeoutMs, wait.signal, known);
      return { instance: await ended.catch(otherwise(instance)), isNew };
    } finally {
      begun.cancel();
    }
  }

  async #startLimited(id: string, request: StartRequest): Promise<Started> {
    if (this.#underWay >= this.#options.startsMax) {
      throw new AppError('overloaded', 'Too many workflows are being started', {
        retryAfterSeconds: 1,
      });
    }
    this.#underWay += 1;
    try {
      return await this.#start(id, request);
    } finally {
      this.#underWay -= 1;
    }
  }

  #idOf({ definitionId, idempotency, restartOf, trigger }: StartRequest): string {
    if (trigger !== undefined) return trigger.workflowId;
    const { clock, ids } = this.#options;
    if (idempotency === null) return ids.newId(clock.now());
    const what = restartOf === undefined ? ['start', definitionId] : ['restart', restartOf];
    return `k-${hashOf(...what, idempotency.key)}`;
  }

  async #start(id: string, request: StartRequest): Promise<Started> {
    const { catalog, clock, tracing } = this.#options;
    const { actor = ANONYMOUS, conflictScope = null, definitionId, idempotency } = request;
    const { fairness = {}, onConflict = null, priority, reference, replaced } = request;
    const { restartOf, tags, version = 'latest' } = request;
    const definition = await catalog.startable(definitionId, version);
    const startTime = clock.now();
    const debounce = debounceOf(request, this.#options.collectedLengthMax);
    const start: NewInstance = {
      id,
      definition,
      data: request.data,
      input: request.data,
      reference,
      parent: null,
      requestHash: idempotency?.requestHash ?? null,
      startTime,
      startAt: startAtOf(request, startTime, debounce),
      ...(debounce !== undefined && { debounce }),
      ...(priority !== undefined && { priority }),
      ...(restartOf !== undefined && { restartOf }),
      ...(request.trigger !== undefined && { trigger: request.trigger.start }),
      ...traceStart(tracing, { id, startTime, ...request }),
    };
    const key = { reference, onConflict, conflictScope };
    const hooks = replaced === undefined ? {} : { replaced };
    const isLatest = version === 'latest';
    const isAdmitted = request.isCollected === true;
    const asked: RequestedStart = { start, key, fairness, tags, isLatest, actor, isAdmitted };
    const deadline = startTime + JOIN_MS;
    for (;;) {
      const insertion = await this.#insertion.insert(asked, hooks);
      const joins = joinedWindowOf(insertion, asked);
      if (joins === null) return this.#answer(request, asked, insertion);
      const joined = await this.#join(insertion.start, joins);
      if (joined !== null) return joined;
      // Its window closed in between.
      if (clock.now() < deadline) continue;
      const message = 'Too many starts with this debounceKey arrive at the same time';
      throw new AppError('overloaded', message, { retryAfterSeconds: 1 });
    }
  }

  /** Null: the start came too late for this instance. */
  async #join(
    { data, debounce, id, input, requestHash }: NewInstance,
    { instanceId, mayHaveJoined }: JoinedWindow,
  ): Promise<Started | null> {
    const { environment, joins, metrics } = this.#options;
    const message = {
      id,
      periodMs: debounce?.periodMs ?? 0,
      data,
      ...(input !== undefined && input !== data && { input }),
    };
    const instance = await joins.join(instanceId, message, mayHaveJoined);
    if (instance !== null) {
      metrics.startJoined('debounce');
      return { instance, isNew: false, byWindow: true, isInserted: false };
    }
    if (requestHash !== null) await environment.store.forgetJoinedStart(id, instanceId);
    return null;
  }

  async #answer(
    request: StartRequest,
    asked: RequestedStart,
    { result, start }: Insertion,
  ): Promise<Started> {
    const { history, metrics } = this.#options;
    const { definition, id, requestHash } = start;
    switch (result.outcome) {
      case 'inserted':
        metrics.instanceStarted(definition.id);
        history.started();
        return { instance: viewStart(request, start), isNew: true, isInserted: true };
      case 'exists':
        if (result.record.requestHash !== requestHash) throw otherRequest(id);
        return {
          instance: await this.#firstAnswer(result.record, request, asked),
          isNew: true,
          isInserted: false,
        };
      case 'joined-before':
        if (result.requestHash !== requestHash) throw otherRequest(result.record.id);
        return { instance: await viewInstance(result.record), isNew: false, isInserted: false };
      case 'joined':
        metrics.startJoined('reference');
        return { instance: await viewInstance(result.record), isNew: false, isInserted: false };
      case 'in-use':
        throw this.#refusals.inUse(definition.id, result.record);
      case 'no-place':
        throw this.#refusals.concurrencyReached(start, result.holders);
      case 'queue-full':
        throw this.#refusals.queueFull(start);
      case 'disabled':
        throw this.#refusals.disabled(definition.id);
      case 'window':
      case 'full':
        throw new AppError('internal', 'A start without a root cannot have too many descendants');
    }
  }

  /**
   * The response to the first start of this instance, whatever the current state of the instance and its definition. Only
   * `queued` is the current one.
   */
  async #firstAnswer(
    { definitionId, endTime, fairness, queued, reference, startTime, version }: InstanceRecord,
    request: StartRequest,
    asked: RequestedStart,
  ): Promise<InstanceView> {
    const definition = await this.#options.catalog.startable(definitionId, version);
    const queues = queued && endTime === null ? ('place' as const) : undefined;
    const start = { ...asked.start, definition, reference, fairness, startTime, queues };
    return viewStart(request, {
      ...start,
      ...(await this.#admission.contentOf({ ...asked, start })),
    });
  }

  async startChild(inputs: JsonObject, child: ChildStart): Promise<ChildStarted> {
    const { parent, workflowId } = child;
    const { catalog, clock, environment, history, isStopping, metrics, tracing } = this.#options;
    const definitionId = toText(inputs['DefinitionId'] ?? null);
    const data = toObject(inputs['Data'] ?? {});
    if (!definitionId.ok) throw new AppError('invalid_request', definitionId.message);
    if (!data.ok) throw new AppError('invalid_request', `The input Data: ${data.message}`);
    const { key, priority, tags, version } = childStartOf(inputs);
    const definition = await environment.retryStore(
      () => catalog.startable(definitionId.value, version),
      isStopping,
    );
    if (definition === null) throw new AppError('stopping', 'The server is stopping');
    const startTime = clock.now();
    const start: NewInstance = {
      id: workflowId,
      definition,
      data: data.value,
      input: data.value,
      reference: key.reference,
      parent,
      requestHash: null,
      startTime,
      priority: priority ?? child.priority,
      inheritedFairness: child.fairness,
      ...traceChild(tracing, { definitionId: definition.id, startTime, ...child }),
    };
    const actor = `workflow ${parent.workflowId}`;
    const asked = { start, key, fairness: {}, tags, isLatest: version === 'latest', actor };
    const inserted = await environment.retryStore(
      () => this.#insertChild(asked, parent),
      isStopping,
    );
    if (inserted === null) throw new AppError('stopping', 'The server is stopping');
    const { result } = inserted;
    switch (result.outcome) {
      case 'window':
      case 'full':
        return { outcome: 'full' };
      case 'disabled':
        throw this.#refusals.disabled(definitionId.value);
      case 'in-use':
        throw this.#refusals.inUse(definitionId.value, result.record);
      case 'no-place':
        throw this.#refusals.concurrencyReached(inserted.start, result.holders);
      case 'queue-full':
        throw this.#refusals.queueFull(inserted.start);
      case 'joined':
      case 'joined-before':
        metrics.startJoined('reference');
        return { outcome: 'joined', workflowId: result.record.id };
      case 'inserted':
      case 'exists':
        metrics.instanceStarted(definition.id);
        history.started();
        return { outcome: 'started' };
    }
  }

  /** @throws AppError `reference_in_use`: the reference belongs to an instance that waits for the child, see waiting-ancestors.ts */
  async #insertChild(asked: RequestedStart, parent: ParentLink): Promise<Insertion> {
    const { store } = this.#options.environment;
    const check = async ({ conflict, definition, reference }: NewInstance): Promise<void> => {
      const { action } = conflict ?? {};
      if (action !== 'terminate' && action !== 'queue') return;
      const named = { definitionId: definition.id, reference };
      const waiting = await findWaitingWith(store, parent, named);
      if (waiting === null) return;
      const consequence =
        action === 'queue' ? 'would wait forever' : 'cannot be replaced by its child';
      throw this.#refusals.waitsForChild(waiting, consequence);
    };
    const inserted = await this.#insertion.insert(asked, { check });
    const { result } = inserted;
    if (result.outcome === 'joined') {
      const isAbove = await waitsForChild(store, parent, result.record.id);
      if (isAbove) throw this.#refusals.waitsForChild(result.record, 'cannot be waited for here');
    }
    return inserted;
  }
}

function viewStart(request: StartRequest, start: NewInstance): InstanceView {
  const { debounce: asked, definition, id, priority = DEFAULT_PRIORITY, reference } = start;
  const { fairness = null, startTime, tags = {} } = start;
  const data = collectedFrom(asked, start.data);
  const debounce = viewStartDebounce(start);
  const queued = start.queues !== undefined && !isLater(start);
  const shown = { ...request, data, debounce, priority, fairness, queued, reference, tags };
  return viewNew(id, definition, shown, startTime);
}

function otherRequest(workflowId: string): AppError {
  return new AppError(
    'idempotency_conflict',
    'This Idempotency-Key was already used for a start with different data',
    { fields: { workflowId } },
  );
}

/** The caller no longer waits, but may still need the id of the instance that it has started. */
function otherwise(instance: InstanceView): (error: unknown) => InstanceView {
  return (error) => {
    if (error instanceof CanceledError) return instance;
    throw error;
  };
}
