/**
 * The conditions that hold for a workload once the faults are over, whatever the faults were:
 *
 * K1 every acknowledged start exists exactly once, and has reached its end;
 * K2 its data is what the model predicts;
 * K3 every external call was made, always with the same idempotency key; repeats are counted;
 * K4 exactly one result was accepted for every activity, and it is the one in the data;
 * K5 its history has every step as often as the model predicts, each with its own id;
 * K6 every wait took its event once (K2 shows the event, K5 the wait);
 * K7 nothing remains: no runnable instance, no available work, no undelivered event, and no log line of a server fault.
 */
import { isDeepStrictEqual } from 'node:util';
import { KINDS } from './definitions.js';
import { eventually } from './eventually.js';
import type { Fleet } from './fleet.js';
import type { Ledger } from '../../../server/test/support/ledger.js';
import type { Instance, Page, StepRow } from './wire.js';
import type { Run, Workload } from './workload.js';

const CHECKS_AT_A_TIME = 16;

export interface Verdict {
  readonly violations: readonly string[];
  readonly runs: number;
  /** External calls that were made more than once. */
  readonly repeatedCalls: readonly string[];
}

export async function check(workload: Workload, ledger: Ledger, fleet: Fleet): Promise<Verdict> {
  const checker = new Checker(workload, ledger);
  const queue = [...workload.runs];
  const lane = async (): Promise<void> => {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      await checker.checkRun(run);
    }
  };
  await Promise.all(Array.from({ length: CHECKS_AT_A_TIME }, lane));
  await checker.checkLeftovers(fleet);
  return checker.verdict();
}

class Checker {
  readonly #workload: Workload;
  readonly #ledger: Ledger;
  readonly #violations: string[] = [];
  readonly #repeatedCalls: string[] = [];

  constructor(workload: Workload, ledger: Ledger) {
    this.#workload = workload;
    this.#ledger = ledger;
  }

  verdict(): Verdict {
    return {
      violations: this.#violations,
      repeatedCalls: this.#repeatedCalls,
      runs: this.#workload.runs.length,
    };
  }

  async checkRun(run: Run): Promise<void> {
    const instance = await this.#ended(run);
    if (instance === null) return;
    this.#checkData(run, instance);
    if (run.kind === 'http') this.#checkCalls(run);
    if (run.kind === 'activity') this.#checkResult(run, instance);
    await this.#checkHistory(run);
    await this.#checkStartedOnce(run);
  }

  async checkLeftovers(fleet: Fleet): Promise<void> {
    const runnable = await this.#get<Page<Instance>>('/api/workflow?status=Runnable');
    for (const { workflowId } of runnable.items)
      this.#violate('K7', `${workflowId} is still running`);
    for (const metric of ['stepwright_activities_waiting', 'stepwright_events_undelivered']) {
      await eventually(`${metric} is 0`, async () => (await fleet.metric(metric)) === 0).catch(
        (error: unknown) => this.#violate('K7', String(error)),
      );
    }
    for (const line of fleet.faults) this.#violate('K7', line);
  }

  /** K1 */
  async #ended({ kind, name, workflowId }: Run): Promise<Instance | null> {
    let instance: Instance | null = null;
    for (const deadline = Date.now() + 150_000; Date.now() < deadline;) {
      instance = await this.#get<Instance>(`/api/workflow/${workflowId}?wait=5`);
      if (instance.status === 'Complete') return instance;
      if (instance.status === 'Terminated') break;
    }
    this.#violate('K1', `${name} (${kind}) did not complete: ${JSON.stringify(instance)}`);
    return null;
  }

  /** K2, K6 */
  #checkData(run: Run, { data }: Instance): void {
    const { ledger, n, name } = run;
    const expected = { name, n, ledger, ...KINDS[run.kind].expectedData(run) };
    // K4 compares the answer of the worker with the accepted result.
    const compared = Object.fromEntries(Object.entries(data).filter(([key]) => key !== 'result'));
    if (isDeepStrictEqual(compared, expected)) return;
    this.#violate('K2', `${name}: ${JSON.stringify(data)} is not ${JSON.stringify(expected)}`);
  }

  /** K3 */
  #checkCalls({ name }: Run): void {
    const calls = this.#ledger.callsTo(`/call/${name}`);
    if (calls.length === 0) this.#violate('K3', `${name} made no call`);
    if (new Set(calls.map(({ key }) => key)).size > 1) {
      this.#violate('K3', `${name} called with several keys: ${JSON.stringify(calls)}`);
    }
    if (calls.length > 1) this.#repeatedCalls.push(name);
  }

  /** K4 */
  #checkResult({ n, name }: Run, { data }: Instance): void {
    const accepted = [...(this.#workload.accepted.get(name) ?? [])];
    const expected = { twice: n * 2, nonce: accepted[0] };
    if (accepted.length === 1 && isDeepStrictEqual(data['result'], expected)) return;
    const result = JSON.stringify(data['result']);
    this.#violate('K4', `${name}: accepted ${JSON.stringify(accepted)}, in the data ${result}`);
  }

  /** K5, K6 */
  async #checkHistory({ kind, name, workflowId }: Run): Promise<void> {
    const rows = await readHistory(workflowId, (path) => this.#get<Page<StepRow>>(path));
    const counts: Record<string, number> = {};
    for (const { stepId } of rows) counts[stepId] = (counts[stepId] ?? 0) + 1;
    const ids = new Set(rows.map(({ executionId }) => executionId));
    const isSound =
      isDeepStrictEqual(counts, { ...KINDS[kind].expectedSteps }) &&
      ids.size === rows.length &&
      rows.every(({ status }) => status === 'Complete');
    if (!isSound) this.#violate('K5', `${name} (${kind}): ${JSON.stringify(rows)}`);
  }

  /** K1: a start whose response was lost and its repetition are one start. */
  async #checkStartedOnce({ name, workflowId }: Run): Promise<void> {
    const page = await this.#get<Page<Instance>>(`/api/workflow?reference=${name}`);
    const ids = page.items.map((item) => item.workflowId);
    if (isDeepStrictEqual(ids, [workflowId])) return;
    this.#violate('K1', `${name}: started as ${JSON.stringify(ids)}, answered ${workflowId}`);
  }

  async #get<Body>(path: string): Promise<Body> {
    return (await this.#workload.client.call('GET', path)).body as Body;
  }

  #violate(invariant: string, what: string): void {
    this.#violations.push(`${invariant} ${what}`);
  }
}

/** All pages of an instance's steps. */
export async function readHistory(
  workflowId: string,
  get: (path: string) => Promise<Page<StepRow>>,
): Promise<readonly StepRow[]> {
  const rows: StepRow[] = [];
  let cursor = '';
  for (;;) {
    const page = await get(`/api/workflow/${workflowId}/steps?limit=200${cursor}`);
    rows.push(...page.items);
    if (page.nextCursor === null) return rows;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}
