/** `stepwright triggers`: manages the triggers of a definition. */
import type { BackfillTimes, Schedule, Trigger } from '../../api/wire/models/trigger.js';
import type { ControlledWorkflow } from '../../api/wire/models/workflow.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { Output } from '../output/output.js';
import { fullTime, relativeTime } from '../output/times.js';
import { isJoined, joinedRun } from './run.js';

export type TriggerSwitch = 'pause' | 'resume';

export interface BackfillOptions extends ServerCommandOptions {
  readonly from: string;
  readonly to: string;
}

export interface ScheduleOptions extends ServerCommandOptions {
  readonly hours: number;
  readonly limit: number;
}

export async function listTriggers(
  definitionId: string,
  options: ServerCommandOptions,
): Promise<void> {
  const client = await connect(options);
  const triggers = await client.get<Trigger[]>(pathTo`/api/definition/${definitionId}/triggers`);
  const output = new Output();
  if (options.json) {
    output.json(triggers);
    return;
  }
  if (triggers.length === 0) {
    output.note(`The definition ${definitionId} has no triggers.`);
    return;
  }
  output.table(triggers, [
    { title: 'TRIGGER', text: ({ name }) => name },
    { title: 'STATE', text: ({ paused }) => (paused ? 'paused' : 'active') },
    { title: 'FIRES', text: sourceOf, canShrink: true },
    { title: 'NEXT', text: ({ nextTimes: [next] }) => (next ? fullTime(next, output.now) : '') },
    { title: 'LAST', text: ({ last }) => relativeTime(last?.time ?? null, output.now) },
    { title: 'OUTCOME', text: ({ last }) => last?.outcome ?? '' },
    { title: 'REASON', isOptional: true, text: ({ last }) => last?.reason ?? '', canShrink: true },
  ]);
}

/** One line per trigger, ordered by the next due time. */
export async function showSchedule({ hours, limit, ...options }: ScheduleOptions): Promise<void> {
  const client = await connect(options);
  const query = `?hours=${hours}&limit=${limit}`;
  const schedule = await client.get<Schedule>(`/api/schedule${query}`);
  const { items, more } = schedule;
  const output = new Output();
  if (options.json) {
    output.json(schedule);
    return;
  }
  if (items.length === 0) output.note('No triggers fire in this period.');
  else {
    output.table(items, [
      { title: 'NEXT', text: ({ times: [next] }) => (next ? fullTime(next, output.now) : '') },
      { title: 'DEFINITION', text: ({ definitionId }) => definitionId, canShrink: true },
      { title: 'TRIGGER', text: ({ name }) => name },
      { title: 'FIRES', text: (item) => cronOf(item.cron, item.timeZone), canShrink: true },
      { title: 'TIMES', text: (item) => `${item.times.length}${item.more ? '+' : ''}` },
    ]);
  }
  if (more) output.note('More triggers fire in this period; --limit shows more.');
}

export async function switchTrigger(
  action: TriggerSwitch,
  definitionId: string,
  name: string,
  options: ServerCommandOptions,
): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/definition/${definitionId}/triggers/${name}/${action}`;
  const trigger = await client.send<Trigger>('PUT', path);
  const output = new Output();
  if (options.json) output.json(trigger);
  else output.note(`The trigger ${name} is ${trigger.paused ? 'paused' : 'active'}.`);
}

/** Prints the id of the run, as `stepwright run` does. */
export async function fireTrigger(
  definitionId: string,
  name: string,
  options: ServerCommandOptions,
): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/definition/${definitionId}/triggers/${name}/fire`;
  const { status, value: run } = await client.sendForStatus<ControlledWorkflow>('POST', path);
  const output = new Output();
  if (options.json) output.json(run);
  else {
    output.line(run.workflowId);
    if (isJoined(status)) output.note(joinedRun(run));
  }
}

export async function backfillTrigger(
  definitionId: string,
  name: string,
  { from, to, ...options }: BackfillOptions,
): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/definition/${definitionId}/triggers/${name}/backfill`;
  const answer = await client.send<BackfillTimes>('POST', path, {
    body: jsonContent({ from, to }),
  });
  const output = new Output();
  if (options.json) {
    output.json(answer);
    return;
  }
  for (const time of answer.times) output.line(time);
  if (answer.times.length === 0) output.note('The trigger has no due times in this period.');
}

function cronOf(cron: string, timeZone: string | null): string {
  return timeZone === 'UTC' ? cron : `${cron} (${timeZone})`;
}

function sourceOf({ cron, eventKey, eventName, timeZone }: Trigger): string {
  if (cron !== null) return cronOf(cron, timeZone);
  return `event ${eventName}${eventKey === null ? '' : `, key ${eventKey}`}`;
}
