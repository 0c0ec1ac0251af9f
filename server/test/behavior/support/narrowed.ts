/** Runs of two teams on one server, for callers who may only see those of one. */
import { eventually } from '../../../../sdk/test/support/eventually.js';
import type { StepExecution } from '../../../src/api/wire/models/step-execution.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { postBulk } from './bulk.js';
import { fresh, type Client } from './client.js';
import { activity, step } from './steps.js';

export type Team = 'inside' | 'outside';

/** Everything that the parameters of a path can name, of one team. */
export interface Target {
  readonly definitionId: string;
  readonly run: string;
  /** The execution of the step that waits for work. */
  readonly executionId: string;
  readonly queue: string;
  readonly token: string;
  readonly event: string;
  readonly eventId: string;
  readonly job: string;
}

/** Names that no team has. */
export const UNKNOWN: Target = {
  definitionId: 'no-such-definition',
  run: '01hx5v3x9t6k2m4n8p0q',
  executionId: '1',
  queue: 'no-such-work',
  token: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  event: 'no-such-event',
  eventId: '01hx5v3x9t6k2m4n8p0q',
  job: '01hx5v3x9t6k2m4n8p0q',
};

const eventOf = (definitionId: string): string => `${definitionId}-event`;

/** A run that waits for work and for an event, with a trigger that does not fire during the tests. */
export function definitionOf(id: string): JsonObject {
  const hour = (new Date().getUTCHours() + 12) % 24;
  // Only a literal name gives the right to publish it.
  const event = JSON.stringify(eventOf(id));
  const waits = step('wait', 'WaitFor', { EventName: event, EventKey: '"key"' });
  const works = { ...activity('work', ''), Inputs: { ActivityName: 'data.queue' } };
  return {
    Id: id,
    Triggers: [{ Name: 'main', Cron: `0 ${hour} * * *` }],
    Steps: [step('both', 'Parallel', {}, { Do: [[works], [waits]] })],
  };
}

/** @param own a client that may control the runs of this team only */
export async function startTarget(team: Team, admin: Client, own: Client): Promise<Target> {
  const definitionId = fresh(`${team}-definition`);
  await admin.postDefinition(definitionOf(definitionId));
  const queue = fresh(`${team}-work`);
  const event = eventOf(definitionId);
  const run = await admin.start(definitionId, { queue, marker: `${team}-data` });
  const open: StepExecution = await admin.untilWaiting(run, 'work');
  await admin.untilWaiting(run, 'wait');
  const { token } = await admin.work(queue, '&lease=3600');
  const { id: eventId } = await admin.publish('unrelated', 'key', {});
  const { body: job } = await postBulk(own, { action: 'retry', workflowIds: [run] });
  await eventually('the bulk job ends', async () => {
    const { body } = await admin.get<{ state: string }>(`/api/bulk/${job.id}`);
    return body.state === 'Done';
  });
  const executionId = String(open.executionId);
  return { definitionId, run, executionId, queue, token, event, eventId, job: job.id };
}

/** The path with the names of the target instead of its parameters. */
export function pathFor(method: string, path: string, target: Target): string {
  const [, , kind = ''] = path.split('/');
  const isStart = method === 'POST' && path === '/api/workflow/{id}';
  const ids: Readonly<Record<string, string>> = {
    workflow: isStart ? target.definitionId : target.run,
    definition: target.definitionId,
    activity: method === 'DELETE' ? target.token : target.queue,
    bulk: target.job,
    event: target.eventId,
  };
  const values: Readonly<Record<string, string>> = {
    id: ids[kind] ?? 'any',
    name: kind === 'definition' ? 'main' : target.event,
    key: 'key',
    token: target.token,
    executionId: target.executionId,
  };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
}
