/** What a test answers in place of the outside world: HTTP calls, activities, custom steps and sub-workflows. */
import { sleep, type Clock } from '../base/clock.js';
import { writeJson } from '../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../engine/values/json.js';

/** One answer. */
export type Answer = Given & {
  /** How long the call takes, in milliseconds of virtual time. @default 0 */
  readonly afterMs?: number;
};

type Given =
  /** The result of an activity, the variables of a custom step, or the data of a sub-workflow. */
  | { readonly result: Json }
  /** The response to an HttpRequest step. */
  | { readonly response: MockResponse }
  /**
   * A failure: of an activity, what its handler throws (a message, or `{message, type, data}`, as the options of `ActivityFailure`
   * in the worker SDK); of anything else, its error.
   */
  | { readonly fail: Json; readonly retryable?: boolean };

export interface MockResponse {
  /** @default 200 */
  readonly status?: number;
  /** @default null */
  readonly body?: Json;
  readonly headers?: JsonObject;
}

/** One answer for all calls, or a list with one for each call. An empty list: nobody answers. */
export type Mock = Answer | readonly Answer[];

/** By the name of an activity or a custom step, the id of a step, or the definition of a sub-workflow. */
export type Mocks = Readonly<Record<string, Mock>>;

/** Something outside was called that the test has no answer for. */
export class UnmockedCallError extends Error {
  override readonly name = 'UnmockedCallError' as const;
}

export class Answers {
  readonly #mocks: ReadonlyMap<string, Mock>;
  readonly #calls = new Map<string, number>();
  readonly #problems: string[] = [];

  constructor(mocks: Mocks) {
    this.#mocks = new Map(Object.entries(mocks));
  }

  /** How often each mock was called. */
  get calls(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      [...this.#mocks.keys()].map((key) => [key, this.#calls.get(key) ?? 0]),
    );
  }

  has(...keys: readonly string[]): boolean {
    return keys.some((key) => this.#mocks.has(key));
  }

  /** Whether nobody answers. */
  isSilent(key: string): boolean {
    const mock = this.#mocks.get(key);
    return isList(mock) && mock.length === 0;
  }

  /** All answers of a mock; empty if there is none. */
  allOf(key: string): readonly Answer[] {
    const mock = this.#mocks.get(key) ?? [];
    return isList(mock) ? mock : [mock];
  }

  /** The answer to the next call of the first of these keys that is mocked; null, with a note, if there is none. */
  next(what: string, ...keys: readonly string[]): Answer | null {
    const key = keys.find((name) => this.#mocks.has(name));
    const mock = key === undefined ? undefined : this.#mocks.get(key);
    if (key === undefined || mock === undefined) {
      this.note(
        `${what} is not mocked: add ${keys.map((name) => `'${name}'`).join(' or ')} to the mocks`,
      );
      return null;
    }
    const count = (this.#calls.get(key) ?? 0) + 1;
    this.#calls.set(key, count);
    if (!isList(mock)) return mock;
    const answer = mock[count - 1];
    if (answer !== undefined) return answer;
    this.note(
      `${what} was called ${count} times, but the mock '${key}' has ${mock.length} answers`,
    );
    return null;
  }

  note(problem: string): void {
    if (!this.#problems.includes(problem)) this.#problems.push(problem);
  }

  /** @throws UnmockedCallError if a call since the last check had no answer */
  check(): void {
    const problems = this.#problems.splice(0);
    if (problems.length > 0) throw new UnmockedCallError(problems.join('\n'));
  }
}

function isList(mock: Mock | undefined): mock is readonly Answer[] {
  return Array.isArray(mock);
}

export function messageOfFailure(fail: Json): string {
  return typeof fail === 'string' ? fail : (textIn(fail, 'message') ?? writeJson(fail));
}

export function typeOfFailure(fail: Json): string {
  return textIn(fail, 'type') ?? 'MockedFailure';
}

function textIn(fail: Json, name: string): string | null {
  const value = isJsonObject(fail) ? fail[name] : undefined;
  return typeof value === 'string' ? value : null;
}

/** Resolves when an answer is due. The test goes on meanwhile: it moves the time. */
export async function untilDue(clock: Clock, answer: Answer | null): Promise<void> {
  const { afterMs = 0 } = answer ?? {};
  if (afterMs <= 0) return;
  await sleep(clock, afterMs);
}
