/** Runs one case on a server of its own: the start, what happens then, and what must hold. */
import { AppError } from '../../base/errors.js';
import type { JsonObject } from '../../engine/values/json.js';
import { SeenConditions } from '../seen-conditions.js';
import type { TestPython } from '../python.js';
import type { TestRun } from '../run.js';
import { createTestServer, type TestServer } from '../server.js';
import {
  checkExpectation,
  completedSteps,
  type Mismatch,
  type Observed,
} from './check-expectation.js';
import type { Action, Expectation, Place, TestCase } from './file.js';
import { limitDocument } from './limit-file.js';
import { problemAt, ProjectError, type TestProject } from './tested-definitions.js';

export interface CaseOptions {
  readonly project: TestProject;
  readonly python: TestPython;
  /** Of this case; null if there is none. */
  readonly snapshot: JsonObject | null;
  /** Whether the data becomes the snapshot instead of being compared with it. */
  readonly update: boolean;
}

export interface CaseResult {
  readonly name: string;
  readonly place: Place;
  readonly failures: readonly Mismatch[];
  readonly durationMs: number;
  /** The run and its children at the end; empty if it did not start. */
  readonly runs: readonly TestRun[];
  readonly conditions: SeenConditions;
  /** The names of its mocks. */
  readonly mocked: readonly string[];
  /** For people: the completed steps in order, and why the run does not advance. */
  readonly story: { readonly steps: readonly string[]; readonly waiting: string } | null;
  /** The data to store, if the case has a snapshot and snapshots are written. */
  readonly newSnapshot: JsonObject | null;
}

/** @throws ProjectError if a definition or script has problems that only the server finds */
export async function runCase(test: TestCase, options: CaseOptions): Promise<CaseResult> {
  const began = performance.now();
  const { project, python } = options;
  const { mocks, now, secrets, seed } = test;
  const conditions = new SeenConditions();
  await using server = await createTestServer({
    python,
    mocks,
    secrets,
    mustAnswer: true,
    conditions,
    ...(now !== null && { now }),
    ...(seed !== null && { seed }),
  });
  await register(server, project);
  await pauseTriggers(server, project, test.trigger);
  const play = new Play(server, test, options);
  await play.run();
  const durationMs = performance.now() - began;
  const { failures, newSnapshot, runs, story } = play;
  const { name, place } = test;
  const mocked = Object.keys(mocks);
  return { name, place, failures, durationMs, runs, conditions, mocked, story, newSnapshot };
}

async function register(
  server: TestServer,
  { definitions, limits, scripts }: TestProject,
): Promise<void> {
  for (const [name, { path, text }] of scripts) {
    try {
      await server.script(name, text);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const [problem] = error.problems;
      const place = problem?.place ?? { line: 1, column: 1 };
      throw new ProjectError(path, [{ ...place, message: problem?.message ?? error.message }]);
    }
  }
  for (const [name, limit] of limits) await server.limit(name, limitDocument(limit));
  for (const { document, path, text } of definitions) {
    try {
      await server.register({ document: document.value, source: text });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const found = error.problems.map(({ message, pointer }) =>
        problemAt(document, pointer, message),
      );
      throw new ProjectError(
        path,
        found.length > 0 ? found : [problemAt(document, '', error.message)],
      );
    }
  }
}

/** Only the trigger that a case is about starts runs, so that other times and events change nothing. */
async function pauseTriggers(
  server: TestServer,
  { definitions, id }: TestProject,
  wanted: string | null,
): Promise<void> {
  for (const { definition } of definitions) {
    for (const { name } of definition.triggers) {
      if (definition.id !== id || name !== wanted) await server.pauseTrigger(definition.id, name);
    }
  }
}

class Play {
  readonly failures: Mismatch[] = [];
  runs: readonly TestRun[] = [];
  story: CaseResult['story'] = null;
  newSnapshot: JsonObject | null = null;
  /** Null: no run has started. */
  #id: string | null = null;
  readonly #server: TestServer;
  readonly #test: TestCase;
  readonly #options: CaseOptions;

  constructor(server: TestServer, test: TestCase, options: CaseOptions) {
    this.#server = server;
    this.#test = test;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { expect, place, then, trigger } = this.#test;
    if (trigger === null) await this.#attempt(place, () => this.#start());
    else if (this.#definition.triggers.every(({ name }) => name !== trigger)) {
      const message = `the definition ${this.#options.project.id} has no trigger ${trigger}`;
      this.failures.push({ place, message, differences: [] });
    }
    for (const action of then) {
      if (this.failures.length > 0) break;
      await this.#attempt(action.place, () => this.#do(action));
    }
    if (this.failures.length === 0) await this.#attempt(place, () => this.#end(expect));
    if (this.#id === null) return;
    this.runs = await familyOf(this.#server, this.#id);
    const [run] = this.runs;
    if (run === undefined) return;
    const waiting = run.explanation.summary;
    this.story = { steps: completedSteps({ definition: this.#definition, run }), waiting };
  }

  async #start(): Promise<void> {
    const { reference, start, tags } = this.#test;
    const options = { tags, ...(reference !== null && { reference }) };
    const { id } = await this.#server.begin(this.#options.project.id, start, options);
    this.#id = id;
    await this.#server.settle();
  }

  async #do(action: Action): Promise<void> {
    if (action.kind === 'advance') await this.#server.advance(action.duration);
    else if (action.kind === 'expect') await this.#check(action.expectation);
    else await this.#server.publish(action.name, action.key, action.data);
  }

  async #end(expect: Expectation | null): Promise<void> {
    // A case without expectations still fails if there is no run.
    if (expect === null) await this.#findRun();
    else await this.#check(expect);
  }

  /** The run that the case has started, or the newest of its trigger. @throws Error if there is none yet */
  async #findRun(): Promise<string> {
    const { trigger } = this.#test;
    const { id } = this.#options.project;
    if (trigger === null) return this.#id ?? '';
    const newest = (await this.#server.runs(id)).findLast((run) => run.trigger?.name === trigger);
    if (newest === undefined) throw new Error(await this.#whyNotTriggered(trigger));
    this.#id = newest.id;
    return newest.id;
  }

  async #whyNotTriggered(trigger: string): Promise<string> {
    const triggers = await this.#server.triggers(this.#options.project.id);
    const found = triggers.find(({ name }) => name === trigger);
    const [next] = found?.nextTimes ?? [];
    const { last } = found ?? {};
    const parts = [
      `the trigger ${trigger} has started no run`,
      last == null ? null : `its last outcome is ${last.outcome}: ${last.reason ?? 'no reason'}`,
      next === undefined ? null : `it is due next at ${new Date(next).toISOString()}`,
    ];
    return parts.filter((part) => part !== null).join('; ');
  }

  async #check(expectation: Expectation): Promise<void> {
    const { id } = this.#options.project;
    const runs = expectation.runs === undefined ? 1 : (await this.#server.runs(id)).length;
    // Nothing else can hold of a run that there is not.
    if (expectation.runs === 0 && runs === 0) return;
    const run = await this.#server.run(await this.#findRun());
    const { snapshot, update } = this.#options;
    const isWritten = update && expectation.snapshot;
    if (isWritten) this.newSnapshot = run.data;
    const observed: Observed = {
      run,
      runs,
      definition: this.#definition,
      calls: this.#server.calls,
      snapshot: isWritten ? run.data : snapshot,
    };
    this.failures.push(...checkExpectation(expectation, observed));
  }

  /** A call that fails is a failure of the case. */
  async #attempt(place: Place, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.failures.push({ place, message: textOf(error), differences: [] });
    }
  }

  get #definition() {
    const { definitions, id } = this.#options.project;
    const found = definitions.find(({ definition }) => definition.id === id);
    if (found === undefined) throw new Error(`the project has no definition ${id}`);
    return found.definition;
  }
}

function textOf(error: Error): string {
  const problems = error instanceof AppError ? error.problems : [];
  const details = problems.map(({ message, pointer }) => `${pointer || '/'}: ${message}`);
  return [error.message, ...details].join('\n');
}

/** The run and its descendants. */
async function familyOf(server: TestServer, id: string): Promise<readonly TestRun[]> {
  const found = new Map<string, TestRun>();
  const waiting = [id];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    const run = await server.run(next);
    found.set(next, run);
    waiting.push(...run.steps.flatMap(({ childWorkflowId }) => childWorkflowId ?? []));
  }
  return [...found.values()];
}
