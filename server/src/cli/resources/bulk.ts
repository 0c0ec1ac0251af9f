/** `stepwright bulk`: applies one action to many runs. */
import { Argument, type Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  BulkAction,
  BulkFailure,
  BulkJob,
  BulkJobSummary,
  BulkPreview,
  BulkRequest,
  CreatedBulkJob,
} from '../../api/wire/models/bulk.js';
import type { Priority, WorkflowSummary } from '../../api/wire/models/workflow.js';
import type { JsonObject } from '../../engine/values/json.js';
import { readObject } from '../arguments/data.js';
import { filterOf, withFilter, type FilterOptions } from '../arguments/run-filter.js';
import { collect, readDuration, readPriority, readRate } from '../arguments/values.js';
import { explained } from '../connection/call-failures.js';
import { withPage } from '../connection/options.js';
import { jsonContent, pathTo, type ServerClient } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { misused } from '../failure.js';
import type { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { RUN_COLUMNS } from '../output/runs.js';
import { fullTime, relativeTime } from '../output/times.js';
import { itemCommand, printItem, resource, type ItemDescription } from './resource-command.js';
import { listCommand, serverCommand, type Call } from './server-command.js';

interface BulkOptions extends FilterOptions {
  readonly reason: string;
  readonly run?: string[];
  readonly all: boolean;
  readonly modification?: readonly string[];
  readonly compensate: boolean;
  readonly priority?: Priority;
  readonly perSecond?: number;
  readonly dryRun: boolean;
  readonly idempotencyKey?: string;
  readonly wait: boolean;
  readonly timeout?: number;
}

const ACTIONS: readonly BulkAction[] = [
  'suspend',
  'resume',
  'retry',
  'terminate',
  'modify',
  'restart',
  'priority',
  'purge',
];
const KEY = ['job', 'the id of a bulk job'] as const;
/** How often to poll a job while waiting for it. */
const POLL_MS = 500;

const JOB: ItemDescription<BulkJob, BulkJobSummary> = {
  description: 'apply one action to many runs',
  noun: 'bulk job',
  path: '/api/bulk',
  key: KEY,
  pageSize: 20,
  columns: [
    { title: 'JOB', text: ({ id }) => id },
    { title: 'ACTION', text: ({ action }) => action },
    { title: 'STATE', text: ({ state }) => state },
    { title: 'PROGRESS', text: progressOf },
    { title: 'STARTED', text: ({ startTime }, now) => relativeTime(startTime, now) },
    { title: 'BY', isOptional: true, text: ({ actor }) => actor, canShrink: true },
    { title: 'REASON', isOptional: true, text: ({ reason }) => reason, canShrink: true },
  ],
  pairs: (job, now) => [
    ['Job', job.id],
    ['Action', job.action],
    ['State', job.state],
    ['Progress', progressOf(job)],
    ['Reason', job.reason],
    ['By', creatorOf(job)],
    ['Started', fullTime(job.startTime, now)],
    ['Ended', job.endTime === null ? '' : fullTime(job.endTime, now)],
  ],
  printRest: (output, { failures }) => printFailures(output, failures),
};

const create = serverCommand({
  description: 'create a bulk job',
  declare: withCreateOptions,
  run: async ({ connect, options, output }: Call<BulkOptions>, action: BulkAction) => {
    const { dryRun, idempotencyKey, timeout, wait } = options;
    if (dryRun && wait)
      throw misused('--wait cannot be combined with --dry-run, which creates no job');
    if (timeout !== undefined && !wait) throw misused('--timeout needs --wait');
    const body = jsonContent(await requestOf(action, options));
    const client = await connect();
    const answer = await client.send<CreatedBulkJob | BulkPreview>('POST', '/api/bulk', {
      body,
      idempotencyKey,
    });
    const matched = matchedText(answer);
    if (wait && !('workflows' in answer)) {
      output.note(`The job ${answer.id} acts on ${matched}.`);
      const job = await untilEnded(client, answer.id, timeout);
      printItem(output, JOB, job);
      return exitCodeOf(job);
    }
    output.result(answer, () => {
      if ('workflows' in answer) printPreview(output, action, answer);
      else {
        output.line(answer.id);
        const hint = `Show its progress: stepwright bulk show ${answer.id}`;
        output.note(`The job acts on ${matched}. ${hint}`);
      }
    });
    return EXIT_CODES.done;
  },
});

function withCreateOptions(command: Command): Command {
  return withFilter(
    command
      .addArgument(new Argument('<action>', 'the action').choices(ACTIONS))
      .requiredOption('--reason <text>', 'the reason, for the record of actions')
      .option('--modification <json>', 'with modify: JSON or @file', collect)
      .option('--compensate', 'with terminate: compensate the completed steps', false)
      .option('--priority <number>', 'with priority: from 1 (first) to 5 (last)', readPriority)
      .option('--per-second <number>', 'the number of runs to act on per second', readRate)
      .option('--dry-run', 'only show the matching runs, and any obstacles to modify', false)
      .option('--idempotency-key <key>', 'calls with the same key create one job')
      .option('--run <id>', 'this run; repeatable', collect)
      .option('--all', 'all runs', false)
      .option('--wait', 'wait until the job has ended, and show it', false)
      .option('--timeout <duration>', 'with --wait: the maximum time to wait', readDuration),
  );
}

async function requestOf(action: BulkAction, options: BulkOptions): Promise<BulkRequest> {
  const { compensate, dryRun, modification, perSecond, priority, reason } = options;
  return {
    action,
    reason,
    ...selectionOf(options),
    ...(modification !== undefined && {
      modification: await readObject(modification, '--modification'),
    }),
    ...(compensate && { compensate }),
    ...(priority !== undefined && { priority }),
    ...(perSecond !== undefined && { perSecond }),
    ...(dryRun && { dryRun }),
  };
}

/** All runs are selected only explicitly, so a forgotten filter can't affect everything. */
function selectionOf(options: BulkOptions): Pick<BulkRequest, 'filter' | 'workflowIds'> {
  const filter = filterOf(options);
  const isFiltered = Object.keys(filter).length > 0;
  const { all, run } = options;
  if ([run !== undefined, isFiltered, all].filter(Boolean).length !== 1) {
    throw misused('select the runs with a filter such as --status, with --run <id>, or with --all');
  }
  return run === undefined ? { filter } : { workflowIds: run };
}

const runs = listCommand<WorkflowSummary, object, [id: string]>({
  description: 'list the runs that a bulk job acts on',
  declare: (command) => withPage(command.argument('<job>', KEY[1]), 20),
  path: (id) => pathTo`/api/bulk/${id}/runs`,
  columns: RUN_COLUMNS,
  nouns: 'runs',
});

const stop = itemCommand(JOB, 'stop a bulk job; completed actions are not undone', (client, path) =>
  client.send<BulkJob>('DELETE', path),
);

export const bulk = resource<BulkJob, BulkJobSummary>({
  ...JOB,
  commands: {
    create,
    list: 'list bulk jobs, newest first',
    show: 'show the progress of a bulk job',
    runs,
    stop,
  },
});

function printPreview(output: Output, action: BulkAction, preview: BulkPreview): void {
  if (preview.workflows.length > 0) output.table(preview.workflows, RUN_COLUMNS);
  output.note(`${action} would act on ${matchedText(preview)}.`);
  printObstacles(output, action, preview);
}

/** Only for the first runs; the others may have more obstacles. */
function printObstacles(
  output: Output,
  action: BulkAction,
  { obstacles, workflows }: BulkPreview,
): void {
  if (obstacles.length === 0) return;
  const shown = workflows.length === 1 ? 'this run' : `the first ${workflows.length} runs`;
  const which = obstacles.length === workflows.length ? shown : `${obstacles.length} of ${shown}`;
  output.note(`${action} would fail for ${which}:`);
  printFailures(output, obstacles);
}

/** Waits until the job has ended or the wait has timed out. */
async function untilEnded(
  client: ServerClient,
  id: string,
  timeoutMs: number | undefined,
): Promise<BulkJob> {
  const { patiently } = await import('../connection/changes.js');
  const { signal } = new AbortController();
  const end = timeoutMs === undefined ? Infinity : Date.now() + timeoutMs;
  for (;;) {
    const job = await patiently(() => client.get<BulkJob>(pathTo`/api/bulk/${id}`), signal);
    const left = end - Date.now();
    if (job.state !== 'Running' || left <= 0) return job;
    await pause(Math.min(POLL_MS, left));
  }
}

/** The exit code of a command that has waited for a job. */
function exitCodeOf({ failed, state }: BulkJob): ExitCode {
  if (state === 'Running') return EXIT_CODES.runOpen;
  return state === 'Done' && failed === 0 ? EXIT_CODES.done : EXIT_CODES.failed;
}

/** Older servers don't report whether it was created with an API key. */
function creatorOf({ actor, apiKey }: Pick<BulkJob, 'actor'> & Partial<BulkJob>): string {
  if (apiKey === null || apiKey === undefined) return actor;
  const { id, state } = apiKey;
  return `${actor}, with the API key ${id}${state === 'Active' ? '' : ` (${state.toLowerCase()})`}`;
}

function printFailures(output: Output, failures: readonly BulkFailure[]): void {
  for (const { problem, workflowId } of failures) {
    const [detail = '', ...details] = explained({ ...problem } as JsonObject).map(plain);
    output.line(`${output.paint('red', plain(workflowId))}  ${detail}`);
    for (const line of details) output.line(line);
  }
}

function progressOf({ done, exact, failed, matched, skipped }: BulkJobSummary): string {
  const more = [
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ];
  return [`${done} of ${matched}${exact ? '' : '+'} done`, ...more].join(', ');
}

function matchedText({ exact, matched }: Pick<CreatedBulkJob, 'exact' | 'matched'>): string {
  const runs = matched === 1 ? '1 run' : `${matched} runs`;
  return exact ? runs : `${matched} runs or more`;
}
