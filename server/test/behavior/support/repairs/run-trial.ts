/** Runs one trial of the repair matrix, and compares the server with the model. */
import { expect } from 'vitest';
import type { StepExecution } from '../../../../src/api/wire/models/step-execution.js';
import type { Workflow } from '../../../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../../../src/engine/values/json.js';
import { eventually } from '../../../../../sdk/test/support/eventually.js';
import type { Answer, Client } from '../client.js';
import { blockerOf } from './blockers.js';
import {
  Model,
  type Frame,
  type ModelData,
  type ModelModification,
  type Prediction,
} from './model.js';
import {
  openSteps,
  prepareRun,
  release,
  type Definitions,
  type RepairedRun,
  type Service,
} from './repair-runs.js';
import { ITEMS, shapeOf, SPARE, type Shape } from './shapes.js';
import {
  behaviorFor,
  isEndedStatus,
  REASON,
  requestOf,
  type Request,
  type Trial,
} from './trials.js';

interface Execution {
  readonly executionId: number;
  readonly stepId: string;
}

interface Repaired {
  readonly workflow: Workflow;
  readonly cancelled: readonly Execution[];
  readonly started: readonly Execution[];
  readonly repeats: readonly { stepId: string; stepType: string }[];
  readonly warnings: readonly { code: string; message: string }[];
}

interface Ongoing {
  readonly client: Client;
  readonly service: Service;
  readonly run: RepairedRun;
  readonly model: Model;
  readonly shapes: readonly [Shape, Shape];
}

export async function runTrial(
  client: Client,
  service: Service,
  definitions: Definitions,
  trial: Trial,
): Promise<void> {
  const { blocker, place } = trial;
  const behavior = behaviorFor(trial);
  const shapes = [
    shapeOf(place, blocker, behavior, 1),
    shapeOf(place, blocker, behavior, 2),
  ] as const;
  const run = await prepareRun(client, await definitions.idOf(client, trial), trial, service);
  const { model, steps } = await observe(client, run, shapes[0]);
  const ongoing = { client, service, run, model, shapes };
  const open = steps.filter(({ endTime }) => endTime === null).map(openStepOf);
  const request = requestOf(trial, open, shapes);
  const expected = obstaclesOf(request, trial);
  if (expected !== null) return provesObstacle(ongoing, request, expected);
  const parent = run.parentId === null ? null : await client.workflow(run.parentId);
  const before = await everythingOf(client, run.id);
  const preview = await client.post<Repaired>(`/api/workflow/${run.id}/modify`, {
    ...request.asModify,
    dryRun: true,
  });
  expect(preview.status, preview.text).toBe(200);
  expect(await everythingOf(client, run.id)).toEqual(before);
  const answer = await client.post<Repaired>(
    `/api/workflow/${run.id}/${request.call}`,
    request.body,
  );
  expect(answer.status, answer.text).toBe(200);
  const predicted = model.modify(request, request.version === 2 ? shapes[1] : shapes[0]);
  checkAnswer(answer.body, { request, steps, trial, predicted, shapes });
  checkPreview(preview.body, answer.body, predicted);
  await checkRecords(client, run.id, answer.body);
  await finish(ongoing);
  await checkEnd(ongoing, parent);
}

/**
 * Whether the step works at the moment. A container is running while steps inside it are open; a call that the service holds
 * is at rest, and so is every step of a suspended run, unless it has called something outside.
 */
function isMoving(
  { endTime, status, stepId }: StepExecution,
  trial: Trial,
  runStatus: Workflow['status'],
): boolean {
  const isBlocker = stepId === 'x' || stepId === 'y';
  const isHeld = trial.blocker === 'httpRequest' && isBlocker;
  const isCalling = isBlocker && blockerOf(trial.blocker).hasOutsideEffect === true;
  const canMove = runStatus === 'Suspended' ? isCalling : stepId !== 'box';
  return endTime === null && status === 'Running' && canMove && !isHeld;
}

const openStepOf = ({ executionId, item, stepId }: StepExecution) => ({
  executionId,
  stepId,
  item: typeof item === 'string' ? item : null,
});

/** The run as it is, once nothing moves. */
async function observe(
  client: Client,
  { id, trial }: RepairedRun,
  shape: Shape,
): Promise<{ model: Model; steps: readonly StepExecution[] }> {
  const { steps, workflow } = await eventually('nothing moves', async () => {
    const all = await client.steps(id);
    const seen = await client.workflow(id);
    const moves = all.some((each) => isMoving(each, trial, seen.status));
    return !moves && { steps: all, workflow: seen };
  });
  const { data, outcome, status } = workflow;
  const { fixed, trail = [], turns = 0 } = data as Partial<ModelData>;
  const model = new Model(shape, status, { fixed: fixed === true, trail: [...trail], turns });
  model.outcome = outcome;
  for (const each of steps.filter(({ endTime }) => endTime === null)) {
    const { executionId, ...step } = openStepOf(each);
    model.addFrame(executionId, step, stateOf(each, trial), each.status === 'Running');
    if (step.item !== null) model.setItemsBegun(ITEMS.findIndex((item) => item === step.item) + 1);
  }
  const undoable = steps.filter((done) => done.stepId === 'a' && done.status === 'Complete');
  model.undoable = undoable.map(({ stepId }) => stepId);
  return { model, steps };
}

/** A step of a suspended run that is running has been interrupted between its inputs and its outputs. */
function stateOf(
  { attempt, error, status, stepId, waitsFor }: StepExecution,
  { blocker }: Trial,
): Frame['state'] {
  if (stepId === 'box') return 'open';
  if (waitsFor?.kind === 'retry' || attempt > 1 || error !== null) return 'failed';
  const isInterrupted = status === 'Running' && blocker !== 'httpRequest';
  return status === 'Pending' || isInterrupted ? 'ready' : 'waiting';
}

/** The obstacle of a modification that cannot be carried out; null if it can. */
function obstaclesOf(request: Request, trial: Trial): { status: number; code: string } | null {
  const isEnded = isEndedStatus(trial.status);
  if (isEnded && request.cancel !== 'all' && request.cancel.length > 0) {
    return { status: 409, code: 'execution_ended' };
  }
  const isInside =
    (trial.action === 'start inside' || trial.action === 'start the spare step') &&
    trial.place !== 'top' &&
    trial.place !== 'sub-workflow';
  return isEnded && isInside ? { status: 409, code: 'container_not_open' } : null;
}

async function provesObstacle(
  { client, run: { id } }: Ongoing,
  { body, call }: Request,
  expected: { status: number; code: string },
): Promise<void> {
  const before = await everythingOf(client, id);
  for (const dryRun of [true, false]) {
    const { body: problem, status } = await client.post(`/api/workflow/${id}/${call}`, {
      ...body,
      dryRun,
    });
    expect(problem).toMatchObject({
      code: 'modification_impossible',
      errors: [{ code: expected.code }],
    });
    expect(status).toBe(expected.status);
  }
  expect(await everythingOf(client, id)).toEqual(before);
}

/** All but the times at which the server records the end of what was terminated. */
async function everythingOf(client: Client, id: string): Promise<unknown> {
  const { body: audit } = await client.get(`/api/workflow/${id}/audit`);
  const steps = [...(await client.steps(id))]
    .sort((one, other) => one.executionId - other.executionId || one.attempt - other.attempt)
    .map((each) => ({ ...each, endTime: each.endTime !== null }));
  const workflow = { ...(await client.workflow(id)), lastChangeTime: null };
  return { workflow, steps, audit };
}

interface Checked {
  readonly request: Request;
  readonly steps: readonly StepExecution[];
  readonly trial: Trial;
  readonly predicted: Prediction;
  readonly shapes: readonly [Shape, Shape];
}

function checkAnswer(
  answer: Repaired,
  { predicted, request, shapes, steps, trial }: Checked,
): void {
  const ids = answer.cancelled.map(({ executionId }) => executionId);
  expect([...ids].sort((a, b) => a - b)).toEqual([...predicted.canceled].sort((a, b) => a - b));
  for (const { executionId, stepId } of answer.cancelled) {
    expect(
      steps.find((each) => each.executionId === executionId && each.endTime === null)?.stepId,
    ).toBe(stepId);
  }
  expect(answer.started.map(({ stepId }) => stepId)).toEqual(predicted.started);
  const isTold =
    trial.place === 'sub-workflow' && isEndedStatus(trial.status) && predicted.started.length > 0;
  expect(answer.warnings.map(({ code }) => code)).toEqual(isTold ? ['parent_not_told'] : []);
  for (const { message } of answer.warnings) expect(message.length).toBeGreaterThan(10);
  const blocker = blockerOf(trial.blocker);
  const target = request.version === 2 ? shapes[1] : shapes[0];
  const loops = trial.place === 'While' || trial.place.startsWith('Foreach');
  const leadsBack = [target.blocked, 'box', 'before', ...(loops ? [target.next, SPARE] : [])];
  const willRun = request.start.some((stepId) => leadsBack.includes(stepId));
  const ranBefore = steps.some(({ stepId }) => stepId === target.blocked);
  const isRepeated = blocker.hasOutsideEffect === true && willRun && ranBefore;
  expect(answer.repeats).toEqual(
    isRepeated ? [{ stepId: target.blocked, stepType: blocker.stepType }] : [],
  );
}

/** The dry run guesses the ids of what is started, and its run is not yet further than the modification. */
function checkPreview(preview: Repaired, answer: Repaired, { hasMoved }: Prediction): void {
  const comparable = ({ started, workflow, ...rest }: Repaired): unknown => {
    const { data, definitionId, endTime, version, workflowId } = workflow;
    const stable = { ...workflow, endTime: endTime === null, lastChangeTime: null };
    const shown = hasMoved ? { definitionId, version, workflowId, fixed: data['fixed'] } : stable;
    return { ...rest, started: started.map(({ stepId }) => stepId), workflow: shown };
  };
  expect(comparable(preview)).toEqual(comparable(answer));
}

async function checkRecords(
  client: Client,
  id: string,
  { cancelled, started }: Repaired,
): Promise<void> {
  const steps = await client.steps(id);
  for (const { executionId } of cancelled) {
    const record = steps.findLast((each) => each.executionId === executionId);
    expect(record).toMatchObject({ status: 'Cancelled', reason: REASON });
  }
  for (const { executionId, stepId } of started) {
    expect(steps.find((each) => each.executionId === executionId)).toMatchObject({
      stepId,
      reason: REASON,
    });
  }
  const { body } = await client.get<{ items: { action: string; detail: string | null }[] }>(
    `/api/workflow/${id}/audit`,
  );
  expect(JSON.stringify(body)).toContain(REASON);
}

/** Ends what the run waits for, one wait after another, and compares it with the model after each. */
async function finish(ongoing: Ongoing): Promise<void> {
  const { client, model, run } = ongoing;
  for (let turn = 0; !model.isEnded; turn += 1) {
    if (turn > 20) throw new Error(`the model does not end: ${model.open.join(', ')}`);
    await untilAsPredicted(ongoing);
    const hopeless = blockerOf(run.trial.blocker).fails === 'always';
    if (model.status === 'Suspended') {
      const failed = hopeless ? model.frames.find(({ state }) => state === 'failed') : undefined;
      const cancel = failed === undefined ? {} : { cancel: [failed.id] };
      await modifyAgain(ongoing, { resumes: true, fixes: true, ...cancel }, failed);
      continue;
    }
    const frame = model.frames.find(({ state }) => state === 'failed' || state === 'waiting');
    if (frame === undefined) throw new Error(`nothing waits: ${model.open.join(', ')}`);
    const { waits } = blockerOf(run.trial.blocker);
    if (frame.state === 'failed' && !hopeless) {
      if (!model.data.fixed) await modifyAgain(ongoing, { fixes: true });
      const { status, text } = await client.call('PUT', `/api/workflow/${run.id}/retry`);
      expect(status, text).toBe(200);
      model.retry();
    } else if (frame.state === 'failed' || waits === 'timer') {
      await modifyAgain(ongoing, { cancel: [frame.id] }, frame);
    } else {
      await release(client, run, { item: frame.item, isFixed: model.data.fixed }, ongoing.service);
      model.release(frame);
    }
  }
}

async function modifyAgain(
  { client, model, run, shapes }: Ongoing,
  modification: ModelModification,
  frame?: Frame,
): Promise<void> {
  const open = await openSteps(client, run.id);
  const at = open.find(({ item, stepId }) => stepId === frame?.stepId && item === frame.item);
  const body: JsonObject = {
    reason: 'the matrix goes on',
    ...(at !== undefined && { cancel: [at.executionId] }),
    ...(modification.fixes === true && { data: { fixed: true } }),
    ...(modification.resumes === true && { resume: true }),
  };
  const answer: Answer = await client.post(`/api/workflow/${run.id}/modify`, body);
  expect(answer.status, answer.text).toBe(200);
  const { version } = await client.workflow(run.id);
  model.modify(modification, version === 2 ? shapes[1] : shapes[0]);
}

/** Waits until the open steps, the status and what was written are what the model has. */
async function untilAsPredicted({ client, model, run: { id, trial } }: Ongoing): Promise<void> {
  const wanted = [model.status, ...model.open, '|', ...written(model.data.trail)].join(' ');
  let seen = '';
  await eventually(
    () => `the run is: ${wanted}; it is: ${seen}`,
    async () => {
      const { data, status } = await client.workflow(id);
      const open = await openSteps(client, id);
      const steps = open.map((each) => textOf(each, status)).sort();
      seen = [status, ...steps, '|', ...written(data['trail'] as string[])].join(' ');
      const moving = open.filter((each) => isMoving(each, trial, status));
      if (moving.length > 0) seen += `; running: ${moving.map(({ stepId }) => stepId).join(', ')}`;
      return seen === wanted;
    },
  );
}

/** As the model shows open steps. */
function textOf({ item, stepId, waitsFor }: StepExecution, runStatus: string): string {
  const isRetrying = runStatus === 'Runnable' && waitsFor?.kind === 'retry';
  return stepId + (typeof item === 'string' ? item : '') + (isRetrying ? '!' : '');
}

/** The order of parallel branches is not predicted. */
const written = (trail: readonly string[] = []): readonly string[] => [...trail].sort();

async function checkEnd(
  { client, model, run: { id, parentId, trial } }: Ongoing,
  parent: Workflow | null,
): Promise<void> {
  const wanted = written(model.data.trail).join(' ');
  // A run that had already ended does not necessarily do anything more.
  const ended = await eventually(
    () => `the run ends`,
    async () => {
      const { data, endTime } = await client.workflow(id);
      return endTime !== null && written(data['trail'] as string[]).join(' ') === wanted;
    },
    5000,
  ).then(
    () => client.workflow(id),
    () => client.workflow(id),
  );
  const { data, lastError, outcome, status } = ended;
  expect([...written(data['trail'] as string[])].join(' ')).toBe(wanted);
  expect({ status, outcome, fixed: data['fixed'], turns: data['turns'] ?? 0 }).toEqual({
    status: model.status,
    outcome: model.outcome,
    fixed: model.data.fixed,
    turns: model.data.turns,
  });
  if (outcome === 'Succeeded') expect(lastError !== null).toBe(model.hasUnresolvedError);
  expect((await openSteps(client, id)).length).toBe(0);
  if (parentId === null) return;
  const endedParent = await client.ended(parentId);
  expect(endedParent.status).toBe('Complete');
  const result = isEndedStatus(trial.status) ? parent?.data['child'] : data;
  expect(endedParent.data['child']).toEqual(result);
}
