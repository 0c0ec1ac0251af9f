/** `stepwright bulk`: applies one action to many runs. */
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
import type { WorkflowSummary } from '../../api/wire/models/workflow.js';
import type { JsonObject } from '../../engine/values/json.js';
import { readObject } from '../arguments/data.js';
import { filterOf, type FilterOptions } from '../arguments/run-filter.js';
import { explained } from '../connection/call-failures.js';
import { patiently } from '../connection/changes.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { jsonContent, pathTo, type ServerClient } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { misused } from '../failure.js';
import { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { noteMore, printRuns } from '../output/runs.js';
import { fullTime, relativeTime } from '../output/times.js';

export interface BulkOptions extends ServerCommandOptions, FilterOptions {
  readonly reason: string;
  readonly run?: string[];
  readonly all: boolean;
  readonly modification?: readonly string[];
  readonly compensate: boolean;
  readonly perSecond?: number;
  readonly dryRun: boolean;
  readonly idempotencyKey?: string;
  readonly wait: boolean;
  readonly timeout?: number;
}

/** How often to poll a job while waiting for it. */
const POLL_MS = 500;

export interface PageOptions extends ServerCommandOptions {
  readonly limit: number;
  readonly cursor?: string;
}

export async function createBulkJob(action: BulkAction, options: BulkOptions): Promise<ExitCode> {
  const { compensate, dryRun, json, modification, perSecond, reason, timeout, wait } = options;
  if (dryRun && wait)
    throw misused('--wait cannot be combined with --dry-run, which creates no job');
  if (timeout !== undefined && !wait) throw misused('--timeout needs --wait');
  const request: BulkRequest = {
    action,
    reason,
    ...selectionOf(options),
    ...(modification !== undefined && {
      modification: await readObject(modification, '--modification'),
    }),
    ...(compensate && { compensate }),
    ...(perSecond !== undefined && { perSecond }),
    ...(dryRun && { dryRun }),
  };
  const client = await connect(options);
  const answer = await client.send<CreatedBulkJob | BulkPreview>('POST', '/api/bulk', {
    body: jsonContent(request),
    idempotencyKey: options.idempotencyKey,
  });
  const output = new Output();
  const matched = matchedText(answer);
  if (wait && !('workflows' in answer)) {
    output.note(`The job ${answer.id} acts on ${matched}.`);
    const job = await untilEnded(client, answer.id, timeout);
    printJob(job, options);
    return exitCodeOf(job);
  }
  if (json) {
    output.json(answer);
    return EXIT_CODES.done;
  }
  if ('workflows' in answer) {
    if (answer.workflows.length > 0) printRuns(output, answer.workflows);
    output.note(`${action} would act on ${matched}.`);
    printObstacles(output, action, answer);
  } else {
    output.line(answer.id);
    output.note(`The job acts on ${matched}. Show its progress: stepwright bulk show ${answer.id}`);
  }
  return EXIT_CODES.done;
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

export async function listBulkJobs({ cursor, limit, ...options }: PageOptions): Promise<void> {
  const client = await connect(options);
  const page = await readPages<BulkJobSummary>(client, '/api/bulk', { cursor, limit });
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'JOB', text: ({ id }) => id },
      { title: 'ACTION', text: ({ action }) => action },
      { title: 'STATE', text: ({ state }) => state },
      { title: 'PROGRESS', text: progressOf },
      { title: 'STARTED', text: ({ startTime }) => relativeTime(startTime, output.now) },
      { title: 'BY', isOptional: true, text: ({ actor }) => actor, canShrink: true },
      { title: 'REASON', isOptional: true, text: ({ reason }) => reason, canShrink: true },
    ]);
  }
  noteMore(output, page, 'bulk jobs');
}

export async function showBulkJob(id: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  printJob(await client.get<BulkJob>(pathTo`/api/bulk/${id}`), options);
}

export async function stopBulkJob(id: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  printJob(await client.send<BulkJob>('DELETE', pathTo`/api/bulk/${id}`), options);
}

export async function listRunsOfBulkJob(
  id: string,
  { cursor, limit, ...options }: PageOptions,
): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/bulk/${id}/runs`;
  const page = await readPages<WorkflowSummary>(client, path, { cursor, limit });
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) printRuns(output, page.items);
  noteMore(output, page, 'runs');
}

function printJob(job: BulkJob, { json }: ServerCommandOptions): void {
  const output = new Output();
  if (json) {
    output.json(job);
    return;
  }
  const { endTime, failures, startTime } = job;
  output.pairs([
    ['Job', job.id],
    ['Action', job.action],
    ['State', job.state],
    ['Progress', progressOf(job)],
    ['Reason', job.reason],
    ['By', creatorOf(job)],
    ['Started', fullTime(startTime, output.now)],
    ['Ended', endTime === null ? '' : fullTime(endTime, output.now)],
  ]);
  printFailures(output, failures);
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
