/** Starts instances: for clients, who may repeat a request with the same Idempotency-Key, and for SubWorkflow steps. */
import { childStartOf } from '../../engine/primitives/effects.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { ParentLink } from '../../engine/model/instance.js';
import type { OnConflict } from '../../engine/model/start-options.js';
import { mergeTags } from '../../engine/model/start-tags.js';
import type { Tags } from '../../engine/model/tags.js';
import { toObject, toText } from '../../engine/values/convert-input.js';
import type { JsonObject } from '../../engine/values/json.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { hashOf, type Ids } from '../../base/ids.js';
import type {
  ConflictRule,
  InstanceRecord,
  InstanceSummary,
} from '../../store/records/instances.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type { RunHistory } from '../fleet/run-history.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceRunner } from '../instances/instance-runner.js';
import type { ChildStart, ChildStarted } from '../instances/child-starts.js';
import type { NewInstance } from '../instances/new-instance.js';
import type { NodeEnvironment } from '../instances/node-environment.js';
import type { InputSchemas } from '../../schemas/input-schemas.js';
import type { Tracing } from '../../tracing/tracing.js';
import { traceChild, traceStart } from '../tracing/start-trace.js';
import { insertNothing, type Inserted } from './insert-nothing.js';
import { ANONYMOUS } from './control-types.js';
import type { InstanceView, StartedWorkflow, StartRequest, StartWait } from './instance-types.js';
import { viewInstance, viewNew } from './instance-views.js';
import { findWaitingWith, waitsForChild } from './waiting-ancestors.js';
import type { WorkflowEnds } from './workflow-ends.js';

export interface WorkflowStartsOptions {
  readonly clock: Clock;
  readonly tracing?: Tracing | undefined;
  readonly ids: Ids;
  readonly metrics: RuntimeMetrics;
  readonly history: Pick<RunHistory, 'started'>;
  readonly catalog: Pick<DefinitionCatalog, 'startable'>;
  readonly runner: Pick<InstanceRunner, 'startInstance'>;
  readonly ends: Pick<WorkflowEnds, 'begin' | 'wait'>;
  readonly environment: Pick<NodeEnvironment, 'retryStore' | 'store'>;
  readonly inputSchemas: Pick<InputSchemas, 'admit'>;
  /** Another start has terminated this instance in the store. */
  readonly replaced: (record: InstanceSummary) => void;
  /** Maximum number of concurrent starts of clients; more are rejected. */
  readonly startsMax: number;
  readonly isStopping: () => boolean;
}

type Note = StartRequest['replaced'];

/** What a definition makes of the data and tags of a start. */
type Admitted = Pick<NewInstance, 'data'> & { readonly tags: Tags };

interface Insertion {
  readonly admitted: Admitted;
  readonly result: Inserted;
}

interface Started extends StartedWorkflow {
  /** False if an earlier request has inserted the instance. */
  readonly isInserted: boolean;
}

export class WorkflowStarts {
  readonly #options: WorkflowStartsOptions;
  #underWay = 0;

  constructor(options: WorkflowStartsOptions) {
    this.#options = options;
  }

  /**
   * @param wait how long to wait for the end; without it, the response shows a new instance before its first step
   * @throws AppError `definition_not_found`, `definition_disabled`, `invalid_data`, `reference_in_use`,
   * `idempotency_conflict`
   */
  async start(request: StartRequest, wait: StartWait | null = null): Promise<StartedWorkflow> {
    const id = this.#idOf(request);
    if (wait === null) return this.#startLimited(id, request);
    const { clock, ends } = this.#options;
    const deadline = clock.now() + wait.timeoutMs;
    // Begins before the start, so that the end of the first pass is not missed.
    const begun = ends.begin(id, wait);
    try {
      const { instance, isInserted, isNew } = await this.#startLimited(id, request);
      const timeoutMs = Math.max(0, deadline - clock.now());
      // A repeated start may be of an instance that has ended: nobody would notice its end again.
      const known = isInserted ? begun : null;
      return { instance: await ends.wait(instance.id, timeoutMs, wait.signal, known), isNew };
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
    const { definitionId, idempotency, onConflict = 'allow', reference, restartOf } = request;
    const definition = await catalog.startable(definitionId, request.version ?? 'latest');
    const startTime = clock.now();
    const start: NewInstance = {
      id,
      definition,
      data: request.data,
      input: request.data,
      reference,
      parent: null,
      requestHash: idempotency?.requestHash ?? null,
      startTime,
      startAt: startAtOf(request, startTime),
      conflict: this.#ruleOf(onConflict, id, request.actor ?? ANONYMOUS),
      ...(restartOf !== undefined && { restartOf }),
      ...(request.trigger !== undefined && { trigger: request.trigger.start }),
      ...traceStart(tracing, { id, startTime, ...request }),
    };
    return this.#answer(
      request,
      start,
      await this.#insertAdmitted(start, request.tags, request.replaced),
    );
  }

  async #answer(
    request: StartRequest,
    { definition, id, requestHash, startTime }: NewInstance,
    { admitted, result }: Insertion,
  ): Promise<Started> {
    const { history, metrics } = this.#options;
    switch (result.outcome) {
      case 'inserted':
        metrics.workflowStarted(definition.id);
        history.started();
        return {
          instance: viewNew(id, definition, { ...request, ...admitted }, startTime),
          isNew: true,
          isInserted: true,
        };
      case 'exists':
        if (result.record.requestHash !== requestHash) throw otherRequest(id);
        return {
          instance: await this.#firstAnswer(result.record, request),
          isNew: true,
          isInserted: false,
        };
      case 'joined-before':
        if (result.requestHash !== requestHash) throw otherRequest(result.record.id);
        return { instance: await viewInstance(result.record), isNew: false, isInserted: false };
      case 'joined':
        metrics.startJoined();
        return { instance: await viewInstance(result.record), isNew: false, isInserted: false };
      case 'in-use':
        throw this.#inUse(definition.id, result.record);
      case 'disabled':
        throw this.#disabled(definition.id);
      case 'full':
        throw new AppError('internal', 'A start without a root cannot have too many descendants');
    }
  }

  /** The response to the start of this instance, whatever has become of it and of its definition. */
  async #firstAnswer(
    { definitionId, id, startTime, version }: InstanceRecord,
    request: StartRequest,
  ): Promise<InstanceView> {
    const definition = await this.#options.catalog.startable(definitionId, version);
    const admitted = await this.#admit(definition, request.data, request.tags, request.restartOf);
    return viewNew(id, definition, { ...request, ...admitted }, startTime);
  }

  async startChild(inputs: JsonObject, child: ChildStart): Promise<ChildStarted> {
    const { parent, workflowId } = child;
    const { catalog, clock, environment, history, isStopping, metrics, tracing } = this.#options;
    const definitionId = toText(inputs['DefinitionId'] ?? null);
    const data = toObject(inputs['Data'] ?? {});
    if (!definitionId.ok) throw new AppError('invalid_request', definitionId.message);
    if (!data.ok) throw new AppError('invalid_request', `The input Data: ${data.message}`);
    const { onConflict, reference, tags, version } = childStartOf(inputs);
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
      reference,
      parent,
      requestHash: null,
      startTime,
      conflict: this.#ruleOf(onConflict, workflowId, `workflow ${parent.workflowId}`),
      ...traceChild(tracing, { definitionId: definition.id, startTime, ...child }),
    };
    const inserted = await environment.retryStore(
      () => this.#insertChild(start, parent, tags),
      isStopping,
    );
    if (inserted === null) throw new AppError('stopping', 'The server is stopping');
    const { result } = inserted;
    switch (result.outcome) {
      case 'full':
        return { outcome: 'full' };
      case 'disabled':
        throw this.#disabled(definitionId.value);
      case 'in-use':
        throw this.#inUse(definitionId.value, result.record);
      case 'joined':
      case 'joined-before':
        metrics.startJoined();
        return { outcome: 'joined', workflowId: result.record.id };
      case 'inserted':
      case 'exists':
        metrics.workflowStarted(definition.id);
        history.started();
        return { outcome: 'started' };
    }
  }

  /** @throws AppError `reference_in_use`: the reference belongs to an instance that waits for the child, see waiting-ancestors.ts */
  async #insertChild(start: NewInstance, parent: ParentLink, tags: Tags): Promise<Insertion> {
    const { store } = this.#options.environment;
    const { conflict, definition, reference } = start;
    if (conflict?.action === 'terminate') {
      const named = { definitionId: definition.id, reference };
      const waiting = await findWaitingWith(store, parent, named);
      if (waiting !== null) throw this.#waitsForChild(waiting, 'cannot be replaced by its child');
    }
    const inserted = await this.#insertAdmitted(start, tags);
    const { result } = inserted;
    if (result.outcome === 'joined') {
      const isAbove = await waitsForChild(store, parent, result.record.id);
      if (isAbove) throw this.#waitsForChild(result.record, 'cannot be waited for here');
    }
    return inserted;
  }

  /** Inserts the instance with the defaults and tags of its definition. @throws AppError `invalid_data`, `invalid_request` */
  async #insertAdmitted(start: NewInstance, tags?: Tags, note?: Note): Promise<Insertion> {
    let admitted: Admitted;
    try {
      admitted = await this.#admit(start.definition, start.data, tags, start.restartOf);
    } catch (error) {
      const result = await this.#withoutData(start);
      if (result === null) throw error;
      return { admitted: { data: start.data, tags: {} }, result };
    }
    return { admitted, result: await this.#insert({ ...start, ...admitted }, note) };
  }

  /**
   * The result of a start whose data or tags the definition refuses, if they do not matter: the start joins an open instance,
   * or it is repeated, and the definition accepted it at the time. Otherwise null.
   */
  async #withoutData(start: NewInstance): Promise<Inserted | null> {
    const { conflict, parent, requestHash } = start;
    const mayJoin = conflict?.action === 'join';
    if (!mayJoin && requestHash === null && parent === null) return null;
    return insertNothing(this.#options.environment.store, start, mayJoin ? conflict : undefined);
  }

  /** Repeats the insert until all instances with the reference are terminated, if that is the rule. */
  async #insert(start: NewInstance, note?: Note): Promise<Inserted> {
    const { metrics, replaced, runner } = this.#options;
    for (;;) {
      const result = await runner.startInstance(start);
      const terminated = 'terminated' in result ? (result.terminated ?? []) : [];
      for (const record of terminated) {
        metrics.workflowReplaced();
        replaced(record);
      }
      for (const { id } of terminated) await note?.(id);
      if (result.outcome !== 'more') return result;
    }
  }

  #ruleOf(onConflict: OnConflict, id: string, actor: string): ConflictRule | undefined {
    switch (onConflict) {
      case 'allow':
        return undefined;
      case 'fail':
        return { action: 'refuse' };
      case 'existing':
        return { action: 'join' };
      case 'terminate': {
        const time = this.#options.clock.now();
        const detail = `replaced by run ${id}`;
        return { action: 'terminate', audit: { time, actor, action: 'terminate', detail } };
      }
    }
  }

  #disabled(definitionId: string): AppError {
    this.#options.metrics.startRefused('disabled');
    return new AppError('definition_disabled', `The definition '${definitionId}' is disabled`, {
      fields: { definitionId },
    });
  }

  #waitsForChild({ id, reference }: InstanceSummary, consequence: string): AppError {
    this.#options.metrics.startRefused('reference_in_use');
    return new AppError(
      'reference_in_use',
      `The run ${id} with the reference '${reference ?? ''}' waits for this step itself, so it ${consequence}. Use another Reference, or Wait: false`,
      { fields: { workflowId: id } },
    );
  }

  #inUse(definitionId: string, { id, reference }: InstanceSummary): AppError {
    this.#options.metrics.startRefused('reference_in_use');
    return new AppError(
      'reference_in_use',
      `The run ${id} of '${definitionId}' with the reference '${reference ?? ''}' has not ended`,
      { fields: { definitionId, workflowId: id } },
    );
  }

  /**
   * The data with the defaults of the definition's Input, and the tags with those of the definition.
   * @throws AppError `invalid_data`, `invalid_request`
   */
  #admit(
    definition: WorkflowDefinition,
    data: JsonObject,
    ofStart: Tags = {},
    restartOf?: string,
  ): Promise<Admitted> | Admitted {
    const tags = restartOf === undefined ? tagsOf(definition, ofStart) : ofStart;
    if (definition.input === null) return { data, tags };
    return this.#options.inputSchemas
      .admit(definition, data)
      .then((withDefaults) => ({ data: withDefaults, tags }));
  }
}

/** @throws AppError `invalid_request` */
function tagsOf(definition: WorkflowDefinition, ofStart: Tags): Tags {
  const { problem, tags } = mergeTags(definition.tags, ofStart);
  if (problem === null) return tags;
  throw new AppError('invalid_request', `Invalid tags: ${problem}`, { parameter: 'tag' });
}

function startAtOf({ delayMs, startAt }: StartRequest, startTime: number): number | null {
  if (delayMs !== undefined) return startTime + delayMs;
  return startAt ?? null;
}

function otherRequest(workflowId: string): AppError {
  return new AppError(
    'idempotency_conflict',
    'This Idempotency-Key was already used for a start with different data',
    { fields: { workflowId } },
  );
}
