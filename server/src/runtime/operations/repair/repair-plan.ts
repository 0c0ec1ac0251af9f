/** Plans a repair on a copy of the instance: its effects, or its obstacles. */
import type { WorkflowDefinition } from '../../../engine/model/definition.js';
import { isEnded, type Instance } from '../../../engine/model/instance.js';
import { keepAnswer } from '../../../engine/repair/answers.js';
import { describeModification } from '../../../engine/repair/describe-modification.js';
import { modifyInstance } from '../../../engine/repair/modify.js';
import type {
  AppliedModification,
  KeyedRequest,
  Modification,
  ModificationWarning,
  Obstacle,
  Repair,
  RepeatedStep,
} from '../../../engine/model/modification.js';
import { externalCallsFrom } from '../../../engine/repair/repeated-steps.js';
import type { Session } from '../../../engine/session/session.js';
import { AppError } from '../../../base/errors.js';
import type { InputSchemas } from '../../../schemas/input-schemas.js';
import type { InstanceRecord } from '../../../store/records/instances.js';
import type { Store } from '../../../store/store.js';
import type { DefinitionCatalog } from '../../definitions/definition-catalog.js';
import type { ActorEnvironment } from '../../instances/actor-environment.js';
import { InstanceTooLargeError, StateLength } from '../../passes/instance-bounds.js';
import { impossible } from './impossible.js';
import { stepsThatRan } from './past-steps.js';
import type { ModifyRequest } from './repair-types.js';
import { copySession, type CopyEnvironment } from './session-copy.js';

export interface PlanOptions {
  readonly environment: CopyEnvironment &
    Pick<ActorEnvironment, 'announce' | 'indexPaths' | 'limits'>;
  readonly store: Pick<Store, 'listInstances' | 'readHistory'>;
  readonly catalog: Pick<DefinitionCatalog, 'find' | 'latest'>;
  readonly inputSchemas: Pick<InputSchemas, 'admit'>;
}

export interface RepairPlan {
  readonly modification: Modification;
  /** The version of the definition that the instance moves to; null: its own. */
  readonly movesTo: number | null;
  /** The copy, after the modification. */
  readonly session: Session;
  readonly now: number;
  readonly result: AppliedModification;
  readonly repeats: readonly RepeatedStep[];
  /** In addition to the result's own warnings. */
  readonly warnings: readonly ModificationWarning[];
  /** Set if the request has an idempotency key. */
  readonly keyed: KeyedRequest | undefined;
}

export interface Planned {
  /** The id of the answer. */
  readonly messageId: string;
  readonly record: InstanceRecord;
  readonly request: ModifyRequest;
  readonly repair: Repair;
  readonly rerun: { readonly from: string | null } | null;
}

/** @throws AppError `modification_impossible` */
export async function planRepair(
  { messageId, record, repair, request, rerun }: Planned,
  options: PlanOptions,
): Promise<RepairPlan> {
  const session = await copySession(record, options.environment);
  const { definition: own } = session;
  const target = await targetOf(record, own, request, options);
  const modification = modificationOf(
    request,
    rerun === null ? null : (rerun.from ?? target.entryStepId),
  );
  const wasEnded = isEnded(session.instance);
  const result = modifyInstance(session, modification, target);
  if (result.outcome === 'impossible') {
    const { obstacles } = result;
    throw impossible(record.id, rerun === null ? obstacles : obstaclesOfRerun(obstacles));
  }
  const repeats = await repeatsOf(session, result, modification.stepMap, options);
  const warnings = [
    ...(wasEnded && !isEnded(session.instance) ? await referenceWarnings(record, options) : []),
    ...(await dataWarnings(session, modification, target !== own, options)),
  ];
  const requestHash = request.idempotency?.requestHash;
  const keyed = requestHash === undefined ? undefined : { requestHash, repeats, warnings };
  // The commit of the modification also stores the answer.
  keepAnswer(session, { id: messageId, keyed, result });
  assertNotTooLarge(session, record, options);
  const detail = describeModification(
    { modification, from: own.version, to: target.version },
    result,
  );
  session.changes.repairs.push({ ...repair, time: session.now, detail });
  return {
    modification,
    movesTo: target === own ? null : target.version,
    session,
    now: session.now,
    result,
    repeats,
    warnings,
    keyed,
  };
}

/** @throws AppError `modification_impossible` */
async function targetOf(
  { definitionId, id }: InstanceRecord,
  own: WorkflowDefinition,
  { version }: ModifyRequest,
  { catalog }: PlanOptions,
): Promise<WorkflowDefinition> {
  if (version === undefined || version === own.version) return own;
  const target = await catalog.find(definitionId, version);
  if (target !== null) return target;
  const latest = await catalog.latest(definitionId);
  const message = `There is no version ${version} of the definition '${definitionId}'. The latest is version ${latest.version}.`;
  throw impossible(id, [{ code: 'unknown_version', message, pointer: '/version' }]);
}

/** Rewrites pointers to `start`, which a rerun doesn't have. */
function obstaclesOfRerun(obstacles: readonly Obstacle[]): readonly Obstacle[] {
  return obstacles.map(({ code, message, pointer }) => {
    if (!pointer.startsWith('/start')) return { code, message, pointer };
    if (code !== 'container_not_open') return { code, message, pointer: '/from' };
    const hint = 'Rerun starts at a step in no container. To start inside one, use modify.';
    return { code, message: `${message}. ${hint}`, pointer: '/from' };
  });
}

/** Empty members count as absent. */
function modificationOf(
  { cancel = [], data = {}, reason, resume = false, start = [], stepMap = {} }: ModifyRequest,
  startAt: string | null,
): Modification {
  return {
    reason,
    data: Object.keys(data).length === 0 ? null : data,
    cancel,
    start: startAt === null ? start : [{ stepId: startAt, inside: null }],
    stepMap,
    resume,
  };
}

/** References may repeat. But with `onConflict`, callers expect at most one open instance per reference. */
async function referenceWarnings(
  { definitionId, reference }: InstanceRecord,
  { store }: Pick<PlanOptions, 'store'>,
): Promise<readonly ModificationWarning[]> {
  if (reference === null) return [];
  for (const status of ['Runnable', 'Suspended'] as const) {
    const filter = { definitionId, reference, status };
    const { items } = await store.listInstances({ filter, after: null, limit: 1 });
    const [other] = items;
    if (other === undefined) continue;
    const message = `The run ${other.id} of '${definitionId}' has the same reference and is also open`;
    return [{ code: 'reference_in_use', message }];
  }
  return [];
}

/** @throws AppError `modification_impossible` */
function assertNotTooLarge(
  session: Session,
  { id, state }: InstanceRecord,
  { environment: { limits } }: PlanOptions,
): void {
  try {
    new StateLength(Buffer.byteLength(state), limits.instanceLengthMax).assertWritable(session);
  } catch (error) {
    if (!(error instanceof InstanceTooLargeError)) throw error;
    const message = `The run would be too large: ${error.message}`;
    throw impossible(id, [{ code: 'too_large', message, pointer: '/data' }]);
  }
}

async function repeatsOf(
  { definition, instance }: Session,
  { started }: AppliedModification,
  stepMap: Modification['stepMap'],
  { store }: Pick<PlanOptions, 'store'>,
): Promise<readonly RepeatedStep[]> {
  const placed = started.map(({ executionId, stepId }) => ({
    stepId,
    containers: containersOf(instance, executionId),
  }));
  const calls = externalCallsFrom(definition, placed);
  if (calls.length === 0) return [];
  const ids = new Set(calls.map(({ stepId }) => stepId));
  const ran = await stepsThatRan({ store, instance, stepMap }, ids);
  return calls.filter(({ stepId }) => ran.has(stepId));
}

/** The steps of the containers around an open execution, innermost first. */
function containersOf({ pointers }: Instance, executionId: number): readonly string[] {
  const containers: string[] = [];
  let parentId = pointers.get(executionId)?.parentId ?? null;
  while (parentId !== null) {
    const parent = pointers.get(parentId);
    if (parent !== undefined) containers.push(parent.stepId);
    parentId = parent?.parentId ?? null;
  }
  return containers;
}

/** `Input` applies only to starts, so the data isn't checked against it again; but users may want a warning. */
async function dataWarnings(
  { definition, instance }: Session,
  { data }: Modification,
  isMoved: boolean,
  { inputSchemas }: Pick<PlanOptions, 'inputSchemas'>,
): Promise<readonly ModificationWarning[]> {
  if (definition.input === null || (data === null && !isMoved)) return [];
  try {
    await inputSchemas.admit(definition, instance.data);
    return [];
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_data') throw error;
    return [{ code: 'invalid_data', message: error.message }];
  }
}
