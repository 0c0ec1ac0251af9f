/** Starts instances: for clients, who may repeat a request with the same Idempotency-Key, and for SubWorkflow steps. */
import { toObject, toText } from '../../engine/values/convert-input.js';
import { referenceOf } from '../../engine/primitives/effects.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { JsonObject } from '../../engine/values/json.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { hashOf, newId } from '../../base/ids.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceRunner } from '../instances/instance-runner.js';
import type { ChildStart } from '../instances/child-starts.js';
import type { NodeEnvironment } from '../instances/node-environment.js';
import type { InputSchemas } from '../../schemas/input-schemas.js';
import type { InstanceView, StartRequest } from './instance-types.js';
import { viewNew, viewStarted } from './instance-views.js';

export interface WorkflowStartsOptions {
  readonly clock: Clock;
  readonly metrics: RuntimeMetrics;
  readonly catalog: DefinitionCatalog;
  readonly runner: Pick<InstanceRunner, 'startInstance'>;
  readonly environment: Pick<NodeEnvironment, 'retryStore'>;
  readonly inputSchemas: Pick<InputSchemas, 'admit'>;
  /** Maximum number of concurrent starts of clients; more are rejected. */
  readonly startsMax: number;
  readonly isStopping: () => boolean;
}

export class WorkflowStarts {
  readonly #options: WorkflowStartsOptions;
  #underWay = 0;

  constructor(options: WorkflowStartsOptions) {
    this.#options = options;
  }

  /** @throws AppError `definition_not_found`, `invalid_data`, `idempotency_conflict` */
  async start(request: StartRequest): Promise<InstanceView> {
    if (this.#underWay >= this.#options.startsMax) {
      throw new AppError('overloaded', 'Too many workflows are being started', {
        retryAfterSeconds: 1,
      });
    }
    this.#underWay += 1;
    try {
      return await this.#start(request);
    } finally {
      this.#underWay -= 1;
    }
  }

  async #start(request: StartRequest): Promise<InstanceView> {
    const { definitionId, idempotency, reference } = request;
    const definition = await this.#options.catalog.latest(definitionId);
    const data = await this.#admit(definition, request.data);
    const id =
      idempotency === null
        ? newId(this.#options.clock.now())
        : `k-${hashOf('start', definitionId, idempotency.key)}`;
    const requestHash = idempotency?.requestHash ?? null;
    const startTime = this.#options.clock.now();
    const result = await this.#options.runner.startInstance({
      id,
      definition,
      data,
      reference,
      parent: null,
      requestHash,
      startTime,
    });
    if (result.outcome === 'exists') {
      if (result.record.requestHash === requestHash) return viewStarted(result.record, data);
      throw new AppError(
        'idempotency_conflict',
        'This Idempotency-Key was already used for a start with different data',
        { fields: { workflowId: id } },
      );
    }
    this.#options.metrics.workflowStarted();
    return viewNew(id, definition, { ...request, data }, startTime);
  }

  /** `full`: the root has reached its maximum number of open descendants. */
  async startChild(
    inputs: JsonObject,
    { parent, workflowId }: ChildStart,
  ): Promise<'started' | 'full'> {
    const { catalog, clock, environment, isStopping, metrics, runner } = this.#options;
    const definitionId = toText(inputs['DefinitionId'] ?? null);
    const data = toObject(inputs['Data'] ?? {});
    if (!definitionId.ok) throw new AppError('invalid_request', definitionId.message);
    if (!data.ok) throw new AppError('invalid_request', `The input Data: ${data.message}`);
    const definition = await environment.retryStore(
      () => catalog.latest(definitionId.value),
      isStopping,
    );
    if (definition === null) throw new AppError('stopping', 'The server is stopping');
    const childData = await this.#admit(definition, data.value);
    const result = await environment.retryStore(
      () =>
        runner.startInstance({
          id: workflowId,
          definition,
          data: childData,
          reference: referenceOf(inputs),
          parent,
          requestHash: null,
          startTime: clock.now(),
        }),
      isStopping,
    );
    if (result === null) throw new AppError('stopping', 'The server is stopping');
    if (result.outcome === 'full') return result.outcome;
    metrics.workflowStarted();
    return 'started';
  }

  /** The start data with the defaults of the definition's Input. @throws AppError `invalid_data` */
  #admit(definition: WorkflowDefinition, data: JsonObject): Promise<JsonObject> | JsonObject {
    return definition.input === null ? data : this.#options.inputSchemas.admit(definition, data);
  }
}
