/** Brings runs of the repair matrix to a status, and ends what they wait for. */
import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type { StepExecution } from '../../../../src/api/wire/models/step-execution.js';
import type { Workflow } from '../../../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../../../src/engine/values/json.js';
import { useCallee } from '../callee.js';
import { fresh, type Client } from '../client.js';
import { step } from '../steps.js';
import { blockerOf } from './blockers.js';
import { ITEMS, shapeOf, stepsOf, TURNS } from './shapes.js';
import { behaviorFor, isEndedStatus, type Trial } from './trials.js';
import { eventually } from '../../../../../sdk/test/support/eventually.js';

/** A service that fails, succeeds, or holds its answer until it is released. */
export interface Service {
  readonly url: string;
  /** Answers a call, as soon as there is one. */
  release(key: string): Promise<unknown>;
}

export function useService(): Service {
  const held = new Map<string, ServerResponse>();
  const callee = useCallee((request, response) => {
    const [, what, key = ''] = (request.url ?? '').split('/');
    if (what === 'hold') {
      held.set(key, response);
      response.on('close', () => {
        if (held.get(key) === response) held.delete(key);
      });
    } else {
      response.statusCode = what === 'ok' ? 200 : 500;
      response.end('{}');
    }
  });
  return {
    get url() {
      return callee.url;
    },
    release: (key) =>
      eventually(`a call with the key ${key}`, () => {
        const response = held.get(key);
        held.delete(key);
        return response?.end('{}');
      }),
  };
}

export interface RepairedRun {
  readonly trial: Trial;
  readonly id: string;
  readonly key: string;
  /** The run that waits for this one; null if a client started it. */
  readonly parentId: string | null;
}

/** Definitions that do not depend on the trial. */
export async function defineCommon(client: Client): Promise<void> {
  const wait = step('wait', 'WaitFor', { EventName: '"release"', EventKey: 'data.key' });
  const check = { ...step('check', 'Decide'), SelectNextStep: { refuse: 'not data.fixed' } };
  const refuse = step('refuse', 'Fail', { Message: '"not fixed"' }, { ErrorBehavior: 'Terminate' });
  await post(client, { Id: 'waiting-child', Steps: [wait] });
  await post(client, { Id: 'failing-child', Steps: [check, refuse] });
  const script = 'if not is_fixed:\n    raise ValueError("not fixed")\n';
  const path = '/api/step/repair-matrix-script';
  const answer = await client.call('POST', path, { body: script, type: 'text/x-python' });
  expect(answer.status, answer.text).toBe(200);
}

async function post(client: Client, definition: JsonObject): Promise<void> {
  const answer = await client.postDefinition(definition);
  expect(answer.status, answer.text).toBe(201);
}

/** The definitions of trials, each stored once in its two versions. */
export class Definitions {
  readonly #stored = new Map<string, Promise<string>>();

  idOf(client: Client, trial: Trial): Promise<string> {
    const { blocker, place } = trial;
    const key = `${blocker}|${place}|${behaviorFor(trial)}`;
    const known = this.#stored.get(key) ?? this.#store(client, trial);
    this.#stored.set(key, known);
    return known;
  }

  async #store(client: Client, trial: Trial): Promise<string> {
    const Id = fresh('repaired');
    for (const version of [1, 2] as const) {
      const { nodes } = shapeOf(trial.place, trial.blocker, behaviorFor(trial), version);
      await post(client, { Id, Steps: stepsOf(nodes) });
    }
    return Id;
  }
}

/** Starts a run of version 1, by itself or as a child, and brings it to the status of the trial. */
export async function prepareRun(
  client: Client,
  definitionId: string,
  trial: Trial,
  service: Service,
): Promise<RepairedRun> {
  const key = fresh('key');
  const data = { key, url: service.url, fixed: trial.status === 'complete' };
  const isChild = trial.place === 'sub-workflow';
  const ids = isChild
    ? await startChild(client, definitionId, data)
    : { id: await startVersionOne(client, definitionId, data), parentId: null };
  const run = { trial, key, ...ids };
  await bringTo(client, run, service);
  if (await missesChild(client, run)) return prepareRun(client, definitionId, trial, service);
  if (run.parentId !== null && isEndedStatus(trial.status)) await client.ended(run.parentId);
  return run;
}

async function startVersionOne(
  client: Client,
  definitionId: string,
  data: JsonObject,
): Promise<string> {
  const answer = await client.post<Workflow>(`/api/workflow/${definitionId}?version=1`, data);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.workflowId;
}

async function startChild(
  client: Client,
  definitionId: string,
  data: JsonObject,
): Promise<{ id: string; parentId: string }> {
  const inputs = {
    DefinitionId: `"${definitionId}"`,
    Version: 1,
    Data: { '@key': 'data.key', '@url': 'data.url', '@fixed': 'data.fixed' },
    AcceptOutcome: ['Compensated', 'Failed', 'Terminated'],
  };
  const child = step('child', 'SubWorkflow', inputs, { Outputs: { child: 'step.Data' } });
  const parentId = await client.defineAndStart([child], data);
  const hasId = ({ childWorkflowId }: StepExecution): boolean => childWorkflowId !== null;
  const { childWorkflowId: id } = await client.untilStep(parentId, 'child', hasId);
  await hasStarted(client, id!);
  return { id: id!, parentId };
}

function hasStarted(client: Client, id: string): Promise<unknown> {
  return eventually(`the run ${id} has started`, async () => {
    const { status } = await client.get(`/api/workflow/${id}`);
    return status === 200;
  });
}

async function bringTo(client: Client, run: RepairedRun, service: Service): Promise<void> {
  const { id, trial } = run;
  await releaseFirst(client, run, service);
  switch (trial.status) {
    case 'waiting':
    case 'suspended by a person':
    case 'terminated':
      // Of the waits, only a call is running.
      await untilBlocked(client, run, ({ status }) =>
        trial.blocker === 'httpRequest' ? status === 'Running' : status === 'Waiting',
      );
      if (trial.status === 'suspended by a person') {
        expect((await client.control(id, 'suspend')).status).toBe(200);
      }
      if (trial.status === 'terminated') expect((await client.terminate(id)).status).toBe(200);
      break;
    case 'retrying':
      await untilBlocked(client, run, ({ waitsFor }) => waitsFor?.kind === 'retry');
      break;
    case 'suspended by a failure':
      await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      break;
    case 'complete':
    case 'failed':
    case 'compensated':
      await untilParentKnows(client, await client.ended(id));
  }
}

/**
 * Whether the run was suspended by the child of one item before the child of another had ended. It takes no notice of that
 * end until it is resumed, which the model does not predict.
 */
async function missesChild(client: Client, { id, trial }: RepairedRun): Promise<boolean> {
  const { blocker, status } = trial;
  if (status !== 'suspended by a failure' || blockerOf(blocker).waits !== undefined) return false;
  return (await openSteps(client, id)).some(({ waitsFor }) => waitsFor?.kind === 'workflow');
}

function untilNoChildRuns(client: Client, id: string): Promise<unknown> {
  return eventually('no step waits for a child', async () =>
    (await openSteps(client, id)).every(({ waitsFor }) => waitsFor?.kind !== 'workflow'),
  );
}

/** Otherwise the answer to a repair depends on whether the parent has been told of the end of the run. */
async function untilParentKnows(client: Client, { parent }: Workflow): Promise<void> {
  if (parent !== null) await untilNoChildRuns(client, parent.workflowId);
}

const isParallel = ({ place }: Trial): boolean => place === 'Foreach in parallel';

/** Waits until the step blocks, for each item of a parallel Foreach. */
function untilBlocked(
  client: Client,
  { id, trial }: RepairedRun,
  holds: (step: StepExecution) => boolean,
): Promise<unknown> {
  const count = isParallel(trial) ? ITEMS.length : 1;
  return eventually(`${count} steps block`, async () => {
    const open = await openSteps(client, id);
    return open.filter((each) => each.stepId === 'x' && holds(each)).length === count;
  });
}

export async function openSteps(client: Client, id: string): Promise<readonly StepExecution[]> {
  return (await client.steps(id)).filter(({ endTime }) => endTime === null);
}

/** Ends the waits that come before the status of the trial. */
async function releaseFirst(client: Client, run: RepairedRun, service: Service): Promise<void> {
  const { blocker, status } = run.trial;
  const { fails, waits } = blockerOf(blocker);
  const isPassed = status === 'complete' && (waits === 'timer' || waits === 'service');
  const isFailing =
    fails !== undefined && status !== 'waiting' && !/person|terminated/.test(status);
  if (waits === undefined || isPassed || (status !== 'complete' && !isFailing)) return;
  const items = itemsToRelease(run.trial);
  for (const item of items)
    await release(client, run, { item, isFixed: status === 'complete' }, service);
}

function itemsToRelease({ place, status }: Trial): readonly (string | null)[] {
  if (place === 'Foreach in parallel') {
    return status === 'complete' || status === 'retrying' ? ITEMS : ITEMS.slice(0, 1);
  }
  if (place === 'Foreach in sequence') return status === 'complete' ? ITEMS : ITEMS.slice(0, 1);
  if (place === 'While' && status === 'complete') return Array.from({ length: TURNS }, () => null);
  return [null];
}

/** Ends one wait of the step, with a failure if a worker reports one. */
export async function release(
  client: Client,
  { id, key, trial }: Pick<RepairedRun, 'id' | 'key' | 'trial'>,
  wait: { readonly item: string | null; readonly isFixed: boolean },
  service: Service,
): Promise<void> {
  const { fails, waits } = blockerOf(trial.blocker);
  const ownKey = key + (wait.item ?? 'None');
  switch (waits) {
    case 'worker': {
      const { token } = await client.work(ownKey);
      if (fails === 'worker' && !wait.isFixed) await client.fail(token, 'not fixed');
      else await client.succeed(token, 'done');
      return;
    }
    case 'child': {
      // Its child takes only an event that was published after its start.
      const children = await eventually('the child of the step waits', async () => {
        const open = await openSteps(client, id);
        const ids = open
          .filter(({ item }) => item === wait.item)
          .flatMap((each) => each.childWorkflowId ?? []);
        const runs = await Promise.all(ids.map((child) => client.workflow(child)));
        const waiting = runs.filter(({ endTime }) => endTime === null);
        return waiting.length > 0 && waiting.map(({ workflowId }) => workflowId);
      });
      await client.publish('release', ownKey, 'done');
      // Until then, it would be taken for the child of the next turn, which does not take an event from before its start.
      for (const child of children) await client.ended(child);
      return;
    }
    case 'event':
      await client.publish('release', ownKey, 'done');
      return;
    case 'service':
      await service.release(ownKey);
      return;
    case 'timer':
    case undefined:
      throw new Error(`nobody can end the wait of ${trial.blocker} in ${id}`);
  }
}
