/** `stepwright triggers`: manages the triggers of a definition. */
import type { Command } from 'commander';
import type { BackfillTimes, Schedule, Trigger } from '../../api/wire/models/trigger.js';
import type { ControlledWorkflow } from '../../api/wire/models/workflow.js';
import { readPastTime, wholeNumber } from '../arguments/values.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import type { Column } from '../output/table.js';
import { fullTime, relativeTime } from '../output/times.js';
import { isJoined, joinedRun } from './run.js';
import { addCommands, serverCommand, type AddCommand, type Call } from './server-command.js';

interface ScheduleOptions {
  readonly hours: number;
  readonly limit: number;
}

interface BackfillOptions {
  readonly from: string;
  readonly to: string;
}

const COLUMNS: readonly Column<Trigger>[] = [
  { title: 'TRIGGER', text: ({ name }) => name },
  { title: 'STATE', text: ({ paused }) => (paused ? 'paused' : 'active') },
  { title: 'FIRES', text: sourceOf, canShrink: true },
  { title: 'NEXT', text: ({ nextTimes: [next] }, now) => (next ? fullTime(next, now) : '') },
  { title: 'LAST', text: ({ last }, now) => relativeTime(last?.time ?? null, now) },
  { title: 'OUTCOME', text: ({ last }) => last?.outcome ?? '' },
  { title: 'REASON', isOptional: true, text: ({ last }) => last?.reason ?? '', canShrink: true },
];

const SCHEDULE_COLUMNS: readonly Column<Schedule['items'][number]>[] = [
  { title: 'NEXT', text: ({ times: [next] }, now) => (next ? fullTime(next, now) : '') },
  { title: 'DEFINITION', text: ({ definitionId }) => definitionId, canShrink: true },
  { title: 'TRIGGER', text: ({ name }) => name },
  { title: 'FIRES', text: ({ cron, timeZone }) => cronOf(cron, timeZone), canShrink: true },
  { title: 'TIMES', text: ({ more, times }) => `${times.length}${more ? '+' : ''}` },
];

const list = serverCommand({
  description: 'list triggers with their next due time and last outcome',
  declare: ofDefinition,
  run: async ({ connect, output }: Call, definitionId: string) => {
    const client = await connect();
    const triggers = await client.get<Trigger[]>(pathTo`/api/definition/${definitionId}/triggers`);
    output.result(triggers, () => {
      if (triggers.length > 0) output.table(triggers, COLUMNS);
      else output.note(`The definition ${definitionId} has no triggers.`);
    });
  },
});

/** One line per trigger, ordered by the next due time. */
const schedule = serverCommand({
  description: 'list the triggers of all definitions that fire in the next hours',
  declare: (command) =>
    command
      .option('--hours <number>', 'the period in hours, at most 168', wholeNumber(1, 168), 24)
      .option('--limit <number>', 'the number of triggers, at most 500', wholeNumber(1, 500), 100),
  run: async ({ connect, options, output }: Call<ScheduleOptions>) => {
    const { hours, limit } = options;
    const client = await connect();
    const found = await client.get<Schedule>('/api/schedule', { hours, limit });
    output.result(found, () => {
      if (found.items.length > 0) output.table(found.items, SCHEDULE_COLUMNS);
      else output.note('No triggers fire in this period.');
      if (found.more) output.note('More triggers fire in this period; --limit shows more.');
    });
  },
});

function switchCommand(action: 'pause' | 'resume', description: string): AddCommand {
  return serverCommand({
    description,
    declare: ofTrigger,
    run: async ({ connect, output }: Call, definitionId: string, name: string) => {
      const client = await connect();
      const path = pathTo`/api/definition/${definitionId}/triggers/${name}/${action}`;
      const trigger = await client.send<Trigger>('PUT', path);
      const state = trigger.paused ? 'paused' : 'active';
      output.result(trigger, () => output.note(`The trigger ${name} is ${state}.`));
    },
  });
}

/** Prints the id of the run, as `stepwright run` does. */
const fire = serverCommand({
  description: 'start a run now, even if paused, and print its id',
  declare: ofTrigger,
  run: async ({ connect, output }: Call, definitionId: string, name: string) => {
    const client = await connect();
    const path = pathTo`/api/definition/${definitionId}/triggers/${name}/fire`;
    const { status, value: run } = await client.sendForStatus<ControlledWorkflow>('POST', path);
    output.result(run, () => {
      output.line(run.workflowId);
      if (isJoined(status)) output.note(joinedRun(run));
    });
  },
});

const backfill = serverCommand({
  description: 'start runs for the due times in a period, and print these times',
  declare: (command) =>
    ofTrigger(command)
      .requiredOption(
        '--from <time>',
        'the start of the period, inclusive: how long ago (2d), or a time',
        readPastTime,
      )
      .requiredOption('--to <time>', 'the end of the period, exclusive', readPastTime),
  run: async (
    { connect, options: { from, to }, output }: Call<BackfillOptions>,
    definitionId: string,
    name: string,
  ) => {
    const client = await connect();
    const path = pathTo`/api/definition/${definitionId}/triggers/${name}/backfill`;
    const body = jsonContent({ from, to });
    const started = await client.send<BackfillTimes>('POST', path, { body });
    output.result(started, () => {
      for (const time of started.times) output.line(time);
      if (started.times.length === 0) output.note('The trigger has no due times in this period.');
    });
  },
});

export const triggers: AddCommand = (parent, groupName) => {
  const description = 'manage the triggers that start runs by time or event';
  addCommands(parent.command(groupName).description(description), {
    list,
    schedule,
    pause: switchCommand('pause', 'pause a trigger; missed due times and events start no runs'),
    resume: switchCommand('resume', 'resume a trigger'),
    fire,
    backfill,
  });
};

function ofDefinition(command: Command): Command {
  return command.argument('<definition>', 'the id of a definition');
}

function ofTrigger(command: Command): Command {
  return ofDefinition(command).argument('<trigger>', 'the name of a trigger');
}

function cronOf(cron: string, timeZone: string | null): string {
  return timeZone === 'UTC' ? cron : `${cron} (${timeZone})`;
}

function sourceOf({ cron, eventKey, eventName, timeZone }: Trigger): string {
  if (cron !== null) return cronOf(cron, timeZone);
  return `event ${eventName}${eventKey === null ? '' : `, key ${eventKey}`}`;
}
