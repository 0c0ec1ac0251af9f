/** Runs one case on a server of its own: the start, what happens then, and what must hold. */
import { AppError } from '../../base/errors.js';
import type { JsonObject } from '../../engine/values/json.js';
import { SeenConditions } from '../seen-conditions.js';
import type { TestPython } from '../test-python.js';
import type { TestRun } from '../test-run.js';
import { createTestServer, type TestServer } from '../test-server.js';
import {
  checkExpectation,
  completedSteps,
  type Mismatch,
  type Observed,
} from './check-expectation.js';
import type { Action, Expectation, Place, TestCase } from './test-file.js';
import { problemAt, ProjectError, type TestProject } from './test-project.js';

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
  const play = new Play(server, test, options);
  await play.run();
  const durationMs = performance.now() - began;
  const { failures, newSnapshot, runs, story } = play;
  const { name, place } = test;
  const mocked = Object.keys(mocks);
  return { name, place, failures, durationMs, runs, conditions, mocked, story, newSnapshot };
}

async function register(server: TestServer, { definitions, scripts }: TestProject): Promise<void> {
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
  for (const { document, path, text } of definitions) {
    try {
      await server.define(text);
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

class Play {
  readonly failures: Mismatch[] = [];
  runs: readonly TestRun[] = [];
  story: CaseResult['story'] = null;
  newSnapshot: JsonObject | null = null;
  readonly #server: TestServer;
  readonly #test: TestCase;
  readonly #options: CaseOptions;

  constructor(server: TestServer, test: TestCase, options: CaseOptions) {
    this.#server = server;
    this.#test = test;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { expect, place, reference, start, then } = this.#test;
    const { project } = this.#options;
    const options = reference === null ? {} : { reference };
    const started = await this.#attempt(place, () =>
      this.#server.begin(project.id, start, options),
    );
    if (started === null) return;
    const { id } = started;
    await this.#attempt(place, () => this.#server.settle());
    for (const action of then) {
      if (this.failures.length > 0) break;
      await this.#attempt(action.place, () => this.#do(id, action));
    }
    if (this.failures.length === 0 && expect !== null) await this.#check(id, expect);
    this.runs = await familyOf(this.#server, id);
    const [run] = this.runs;
    if (run === undefined) return;
    const waiting = run.explanation.summary;
    this.story = { steps: completedSteps({ definition: this.#definition, run }), waiting };
  }

  async #do(id: string, action: Action): Promise<void> {
    if (action.kind === 'advance') await this.#server.advance(action.duration);
    else if (action.kind === 'expect') await this.#check(id, action.expectation);
    else await this.#server.publish(action.name, action.key, action.data);
  }

  async #check(id: string, expectation: Expectation): Promise<void> {
    const run = await this.#server.run(id);
    const { snapshot, update } = this.#options;
    const isWritten = update && expectation.snapshot;
    if (isWritten) this.newSnapshot = run.data;
    const observed: Observed = {
      run,
      definition: this.#definition,
      calls: this.#server.calls,
      snapshot: isWritten ? run.data : snapshot,
    };
    this.failures.push(...checkExpectation(expectation, observed));
  }

  /** Null, with a failure of the case: the call has failed. */
  async #attempt<Value>(place: Place, call: () => Promise<Value>): Promise<Value | null> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.failures.push({ place, message: textOf(error), differences: [] });
      return null;
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
