/** Does the activities of a test: takes work as soon as it is offered, and gives it to a handler or to a mock. */
import { AppError } from '../base/errors.js';
import { readToken } from '../base/ids.js';
import type { WorkItem } from '../runtime/activities/activity-types.js';
import type { Clock } from '../base/clock.js';
import type { Host } from '../runtime/host.js';
import { runHandler, type ActivityHandlers, type Report } from './activity-handlers.js';
import { untilDue, type Answer, type Answers } from './answers.js';
import { reportOfMock } from './failure-report.js';
import type { Quiescence } from './quiescence.js';

export interface TestWorkerOptions {
  readonly host: Host;
  readonly handlers: ActivityHandlers;
  readonly answers: Answers;
  readonly quiescence: Quiescence;
  readonly clock: Clock;
  /** Whether work without a handler and without a mock is a mistake of the test. */
  readonly mustAnswer: boolean;
  readonly signal: AbortSignal;
}

interface Reported {
  /** The mock that has answered; null: a handler did. */
  readonly answer: Answer | null;
  readonly report: Report | 'gave-up';
}

const WORKER_ID = 'test';
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export class TestWorker {
  readonly #options: TestWorkerOptions;
  readonly #ignored = new Set<string>();
  /** Work in the hands of a handler, by the id of the item. */
  readonly #inHand = new Map<string, AbortController>();
  readonly #handlers: Map<string, ActivityHandlers[string]>;

  constructor(options: TestWorkerOptions) {
    this.#options = options;
    this.#handlers = new Map(Object.entries(options.handlers));
  }

  handle(name: string, handler: ActivityHandlers[string]): void {
    this.#handlers.set(name, handler);
  }

  /** Nobody answers. */
  ignore(name: string): void {
    this.#ignored.add(name);
  }

  /** There may be work of this name. */
  offered(name: string): void {
    const { answers, mustAnswer, quiescence } = this.#options;
    if (answers.isSilent(name) || this.#ignored.has(name)) return;
    if (!mustAnswer && !this.#handlers.has(name) && !answers.has(name)) return;
    void quiescence.during(() => this.#work(name));
  }

  /** Nobody else gets these items: those that a handler has are canceled. */
  withdrawn(ids: readonly string[]): void {
    for (const id of ids) this.#inHand.get(id)?.abort(new WorkCancelledError());
  }

  async #work(name: string): Promise<void> {
    const { host, quiescence, signal } = this.#options;
    for (;;) {
      const request = { name, workerId: WORKER_ID, timeoutMs: 0, leaseMs: null, signal };
      const item = await host.activities.pull(request);
      if (item === null) return;
      void quiescence.during(() => this.#answer(item));
    }
  }

  async #answer(item: WorkItem): Promise<void> {
    const reported = await this.#reportOf(item);
    if (reported === null) return;
    const { answer, report } = reported;
    const { clock, quiescence } = this.#options;
    if (answer === null) await this.#report(item, report);
    else {
      // The work is in hand, and nothing else moves until it is done.
      void untilDue(clock, answer).then(() => quiescence.during(() => this.#report(item, report)));
    }
  }

  async #report(item: WorkItem, report: Report | 'gave-up'): Promise<void> {
    const { activities } = this.#options.host;
    try {
      await (report === 'gave-up'
        ? activities.release(item.token)
        : activities.complete(item.token, report));
    } catch (error) {
      // The run no longer needs the result.
      if (!isUnneeded(error)) throw error;
    }
  }

  /** Null: nobody answers. */
  async #reportOf(item: WorkItem): Promise<Reported | null> {
    const { answers } = this.#options;
    const { activityName, stepId } = item;
    const handler = this.#handlers.get(activityName);
    if (handler !== undefined && !answers.has(stepId, activityName)) {
      return { answer: null, report: await this.#handle(handler, item) };
    }
    if (answers.isSilent(stepId)) return null;
    const answer = answers.next(
      `the activity ${activityName} of step ${stepId}`,
      stepId,
      activityName,
    );
    if (answer === null) return null;
    if ('fail' in answer) {
      return { answer, report: reportOfMock(answer.fail, answer.retryable ?? true) };
    }
    if ('result' in answer) return { answer, report: { succeeded: true, data: answer.result } };
    answers.note(
      `the mock of the activity ${activityName} needs a Result or a Fail, not a Response`,
    );
    return null;
  }

  /** As with a real worker, an ActivityFailure says after a cancellation that nothing has happened; any other error does not. */
  async #handle(handler: ActivityHandlers[string], item: WorkItem): Promise<Report | 'gave-up'> {
    const { parameters, ...about } = item;
    const canceled = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, canceled.signal]);
    const heartbeat = (): Promise<void> => Promise.resolve();
    const activityId = readToken(item.token)?.activityId ?? '';
    this.#inHand.set(activityId, canceled);
    try {
      const context = { ...about, signal, log: SILENT, heartbeat };
      const report = await runHandler(handler, parameters, context);
      if (report.succeeded || report.isDeliberate === true) return report;
      return canceled.signal.aborted ? 'gave-up' : report;
    } finally {
      this.#inHand.delete(activityId);
    }
  }
}

/** As in `@stepwright/worker-sdk`. */
class WorkCancelledError extends Error {
  // The spelling is that of `@stepwright/worker-sdk`.
  override readonly name = 'WorkCancelledError' as const;

  constructor() {
    super('the run is being undone');
  }
}

function isUnneeded(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  return error.code === 'activity_not_found' || error.code === 'work_cancelled';
}

function ignore(): void {
  // Logs of handlers are not part of a test.
}
