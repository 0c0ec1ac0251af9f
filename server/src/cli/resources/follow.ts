/** Waits for the end of a run over the live stream, and prints its steps as they run. */
import { setTimeout as pause } from 'node:timers/promises';
import type { StepExecution } from '../../api/wire/models/step-execution.js';
import type { ChangedWorkflow, Workflow } from '../../api/wire/models/workflow.js';
import { patiently, RunChanges } from '../connection/changes.js';
import type { Page } from '../connection/pages.js';
import { pathTo, type ServerClient } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import type { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { paintedStatus, styleOf } from '../output/runs.js';
import { detailOf, nameOf, tookOf } from '../output/steps.js';
import { localTime } from '../output/times.js';

interface FollowOptions {
  /** Whether to print the steps. */
  readonly follow: boolean;
  readonly timeout?: number;
}

/** Faster changes are shown together. */
const REFRESH_MS_MIN = 100;
const PAGE_SIZE = 100;
/** For a long run, only the newest steps are shown at the start. */
const PAGES_MAX = 20;

/** Waits until the run has ended or is suspended, or the wait has timed out. Prints its steps and result. */
export async function followToEnd(
  client: ServerClient,
  workflowId: string,
  output: Output,
  options: FollowOptions,
): Promise<ExitCode> {
  const settled = await untilSettled(client, workflowId, output, options);
  // After steps, the run is one more line of JSON.
  if (options.follow) output.entry(settled, () => printSettled(output, settled));
  else output.result(settled, () => printSettled(output, settled));
  return exitCodeOf(settled);
}

async function untilSettled(
  client: ServerClient,
  workflowId: string,
  output: Output,
  options: FollowOptions,
): Promise<Workflow> {
  const path = pathTo`/api/workflow/${workflowId}`;
  const stop = new AbortController();
  const { timeout: timeoutMs } = options;
  const timer = timeoutMs === undefined ? null : setTimeout(() => stop.abort(), timeoutMs);
  const steps = options.follow ? new StepLines(client, workflowId, output) : null;
  const { signal } = stop;
  const read = (): Promise<Workflow> => client.get<Workflow>(path);
  try {
    const changes = new RunChanges(client, workflowId, signal);
    for (;;) {
      const change = await changes.next();
      if (change === undefined) break;
      const run = change ?? (await patiently(read, signal));
      if (steps !== null) await patiently(() => steps.refresh(), signal);
      // The reader of the output is gone, as with `| head`.
      if (isSettled(run) || process.stdout.destroyed) break;
      if (steps !== null) await pause(REFRESH_MS_MIN);
    }
    return await patiently(read, signal);
  } finally {
    if (timer !== null) clearTimeout(timer);
    stop.abort();
  }
}

function isSettled({ outcome, status }: ChangedWorkflow): boolean {
  return outcome !== null || status === 'Suspended';
}

/** The exit code of a command that has waited for a run. */
function exitCodeOf({ outcome, status }: ChangedWorkflow): ExitCode {
  switch (outcome) {
    case 'Succeeded':
      return EXIT_CODES.done;
    case 'Failed':
      return EXIT_CODES.runFailed;
    case 'Terminated':
      return EXIT_CODES.runTerminated;
    case 'Compensated':
      return EXIT_CODES.runCompensated;
    case null:
      return status === 'Suspended' ? EXIT_CODES.runSuspended : EXIT_CODES.runOpen;
  }
}

/** The status on standard error, and the data on standard output. */
function printSettled(output: Output, run: Workflow): void {
  const { data, lastError, workflowId } = run;
  const isOpen = run.outcome === null;
  const why = lastError === null ? '' : `: ${lastError.stepId}: ${lastError.message}`;
  const still = run.queued ? 'still queued' : 'still open';
  const status = isOpen && run.status === 'Runnable' ? still : paintedStatus(run, output.paint);
  output.note(`${workflowId}  ${status}${plain(why)}`);
  if (isOpen) output.note(`See why: stepwright explain ${workflowId}`);
  else output.json(data);
}

const MARKS: Readonly<Record<StepExecution['status'], string>> = {
  Pending: '…',
  Running: '…',
  Waiting: '…',
  Complete: '✓',
  Failed: '✗',
  Cancelled: '-',
  Compensated: '↩',
};

class StepLines {
  readonly #client: ServerClient;
  readonly #path: string;
  readonly #output: Output;
  /** The open executions, with the last line printed about each. */
  #open = new Map<number, string>();
  readonly #ended = new Set<number>();

  constructor(client: ServerClient, workflowId: string, output: Output) {
    this.#client = client;
    this.#path = pathTo`/api/workflow/${workflowId}/steps`;
    this.#output = output;
  }

  /** Prints the changes. */
  async refresh(): Promise<void> {
    const fresh = await this.#read();
    const open = new Map<number, string>();
    for (const step of fresh.sort(byTime)) {
      if (step.endTime !== null) {
        this.#ended.add(step.executionId);
        this.#print(step);
        continue;
      }
      const state = `${step.status} ${step.attempt} ${step.waitsFor?.kind}`;
      open.set(step.executionId, state);
      if (isWorthALine(step) && this.#open.get(step.executionId) !== state) this.#print(step);
    }
    this.#open = open;
  }

  /** The open executions, and the ended ones that haven't been printed yet, the newest first. */
  async #read(): Promise<StepExecution[]> {
    const fresh: StepExecution[] = [];
    // These may have ended long before younger ones.
    const missing = new Set(this.#open.keys());
    let cursor: string | undefined;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const query = { order: 'desc', limit: PAGE_SIZE, cursor };
      const { items, nextCursor } = await this.#client.get<Page<StepExecution>>(this.#path, query);
      for (const step of items) {
        missing.delete(step.executionId);
        if (!this.#ended.has(step.executionId)) fresh.push(step);
      }
      const isKnown = items.some(({ executionId }) => this.#ended.has(executionId));
      if (nextCursor === null || (isKnown && missing.size === 0)) break;
      cursor = nextCursor;
    }
    return fresh;
  }

  #print(step: StepExecution): void {
    this.#output.entry(step, () => this.#printLine(step));
  }

  #printLine(step: StepExecution): void {
    const output = this.#output;
    const { attempt, endTime, startTime, status } = step;
    const detail = detailOf(step, Date.now());
    const parts = [tookOf(step), attempt > 1 ? `attempt ${attempt}` : '', detail].filter(Boolean);
    const mark = output.paint(styleOf(status) ?? 'dim', MARKS[status]);
    const time = output.paint('dim', localTime(endTime ?? startTime).slice(11));
    output.line(
      `${time} ${mark} ${plain(nameOf(step))}  ${output.paint('dim', plain(parts.join(', ')))}`,
    );
  }
}

/** Skips steps that are just running, or waiting for the steps inside them: printing their end is enough. */
function isWorthALine({ waitsFor }: StepExecution): boolean {
  return waitsFor !== null && waitsFor.kind !== 'steps';
}

function byTime(one: StepExecution, other: StepExecution): number {
  const [first, second] = [timeOf(one), timeOf(other)];
  return first === second ? one.executionId - other.executionId : first - second;
}

function timeOf({ endTime }: StepExecution): number {
  return endTime === null ? Infinity : Date.parse(endTime);
}
