/**
 * A whole server in the process of a test: the real engine, real Python and the store in memory, with virtual time.
 *
 *  TS1 Time stands still until `advance`. Every call returns when nothing can happen any more without it.
 *  TS2 The same definitions, calls and seed give the same runs, ids and random numbers.
 *  TS3 Nothing outside is called: HTTP calls need mocks, and activities need handlers or mocks. Scripts run unless they are
 *      mocked.
 */
import { createLogger } from '../base/logger.js';
import { composeHost, createLocalBackplane, createMemoryStore } from '../compose-host.js';
import { readConfig } from '../config/read-config.js';
import { quoteText } from '../engine/values/convert-input.js';
import type { Json, JsonObject } from '../engine/values/json.js';
import type { ConflictScope, OnConflict, Priority } from '../engine/model/start-options.js';
import { readTime, TIME_EXAMPLE, timeProblem } from '../engine/values/times.js';
import type { Tags } from '../engine/values/tags.js';
import type { PostedDefinition } from '../runtime/definitions/definition-types.js';
import type { Host } from '../runtime/host.js';
import { toStartFairness } from '../runtime/model/start-fairness.js';
import type { Store } from '../store/store.js';
import type { TriggerListItem } from '../runtime/triggers/trigger-types.js';
import type { ActivityHandlers } from './activity-handlers.js';
import { Answers, type Mocks } from './answers.js';
import { mockedBodies } from './mocked-bodies.js';
import { debounceOf, milliseconds, type TestDebounce } from './debounce.js';
import { Quiescence } from './quiescence.js';
import { readDocument, type DefinitionSource } from './definition-source.js';
import { seededRandom } from './seeded-random.js';
import type { SeenConditions } from './seen-conditions.js';
import { readRun, type TestRun } from './run.js';
import { TestPython } from './python.js';
import { nextAnswerIndex, standIn, standInActivity, subWorkflowsOf } from './stand-ins.js';
import { testSecrets } from './secrets.js';
import { TestWorker } from './worker.js';
import { VirtualClock } from './virtual-clock.js';

export interface TestServerOptions {
  /** Definitions as objects, or as texts in YAML or JSON. */
  readonly definitions?: readonly DefinitionSource[];
  /** Python of custom steps, by name. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** Limits that steps name, by name: their settings as for `PUT /api/limit/{name}`. */
  readonly limits?: Readonly<Record<string, TestLimit>>;
  /** Handlers of activities, by name, as for a worker. Work without a handler or a mock waits. */
  readonly activities?: ActivityHandlers;
  readonly mocks?: Mocks;
  /** The time at the start. @default 2030-01-01T00:00:00Z */
  readonly now?: Date | string | number;
  /** Of ids and random numbers. @default 1 */
  readonly seed?: number;
  /** `environment` in expressions. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Values of secrets by name; null: it is missing. @default `test value of NAME` */
  readonly secrets?: Readonly<Record<string, string | null>>;
  /** An interpreter that several servers use, one after the other. @default one of its own */
  readonly python?: TestPython;
  /** Activities and missing sub-workflows without a handler or a mock are reported as an error. @default false */
  readonly mustAnswer?: boolean;
  /** Notes which conditions were true and which were false. */
  readonly conditions?: SeenConditions;
}

/** As for `PUT /api/limit/{name}`: at least one of `concurrency` and `rate`. */
export interface TestLimit {
  readonly description?: string;
  /** How many units steps hold at a time, for each key. */
  readonly concurrency?: number;
  /** How many units begin in a time, for each key; `burst` is 1 by default. */
  readonly rate?: {
    readonly count: number;
    readonly per: string | number;
    readonly burst?: number;
  };
}

export interface TestStartOptions {
  readonly reference?: string;
  readonly tags?: Tags;
  readonly version?: number;
  /** @default that of the definition */
  readonly priority?: Priority;
  /** Empty: none. @default that of the definition */
  readonly fairnessKey?: string;
  /** @default that of the definition */
  readonly fairnessWeight?: number;
  /** @default that of the definition */
  readonly onConflict?: OnConflict;
  /** @default that of the definition */
  readonly conflictScope?: ConflictScope;
  /** Further starts with the same key join the run until its first step runs. Durations are as in `advance`. */
  readonly debounce?: TestDebounce;
}

const DEFAULT_NOW = Date.UTC(2030, 0, 1);
/** Longer than any wait: a single node with its own store needs no heartbeat and no scan. */
const NEVER_MS = 200 * 365.25 * 86_400_000;
const UNDISTURBED = {
  scanIntervalMs: NEVER_MS,
  beatIntervalMs: NEVER_MS,
  leaseMs: 3 * NEVER_MS,
  workLeaseMsMax: NEVER_MS,
  repairIntervalMs: NEVER_MS,
  purgeIntervalMs: NEVER_MS,
  instanceRetentionMs: NEVER_MS,
  eventRetentionMs: NEVER_MS,
  auditRetentionMs: NEVER_MS,
};
/** The size of a page. */
const RUNS_MAX = 500;
/** More timers than this in one call are an endless loop of waits. */
const TIMERS_MAX = 100_000;

export class TestServer implements AsyncDisposable {
  readonly #host: Host;
  readonly #answers: Answers;
  readonly #clock: VirtualClock;
  readonly #quiescence: Quiescence;
  readonly #worker: TestWorker;
  readonly #mustAnswer: boolean;
  readonly #end: () => Promise<void>;
  readonly #defined = new Set<string>();
  /** Sub-workflows that the definitions start and that nothing stands in for. */
  readonly #subWorkflows = new Set<string>();

  constructor(parts: TestServerParts) {
    this.#host = parts.host;
    this.#answers = parts.answers;
    this.#clock = parts.clock;
    this.#quiescence = parts.quiescence;
    this.#worker = parts.worker;
    this.#mustAnswer = parts.mustAnswer;
    this.#end = parts.end;
  }

  /** The virtual time. */
  get now(): Date {
    return new Date(this.#clock.now());
  }

  /** How often each mock was called. */
  get calls(): Readonly<Record<string, number>> {
    return this.#answers.calls;
  }

  /** Number of timers that have fired, and of calls outside the engine: how much work there was. */
  get work(): { readonly timers: number; readonly calls: number } {
    return { timers: this.#clock.fired, calls: this.#quiescence.begun };
  }

  /** Registers a definition, or its next version. @throws AppError with all its problems */
  async define(
    source: DefinitionSource,
  ): Promise<{ readonly id: string; readonly version: number }> {
    return this.register(readDocument(source));
  }

  /** Registers a definition that has been read. @throws AppError with all its problems */
  async register(
    posted: PostedDefinition,
  ): Promise<{ readonly id: string; readonly version: number }> {
    const stored = await this.#call(() => this.#host.definitions.register(posted, null));
    this.#defined.add(stored.id);
    for (const id of subWorkflowsOf(posted.document)) this.#subWorkflows.add(id);
    return stored;
  }

  /** Sets up a limit, or replaces it. @throws AppError with all its problems */
  async limit(name: string, settings: TestLimit): Promise<void> {
    const posted = { document: settings, actor: 'test' };
    await this.#call(() => this.#host.limits.put(name, posted));
  }

  /** Registers a custom step. */
  async script(name: string, source: string): Promise<void> {
    await this.#call(() => this.#host.customSteps.put(name, source));
  }

  /**
   * Starts a run, and waits until it does nothing without more time, events or results. A start that joins a run, by the
   * `OnConflict` of the definition or the options, or by `debounce`, returns that one.
   */
  async start(
    definitionId: string,
    data: JsonObject = {},
    options: TestStartOptions = {},
  ): Promise<TestRun> {
    const { id } = await this.begin(definitionId, data, options);
    await this.settle();
    return this.run(id);
  }

  /** Starts a run, and does not wait. */
  async begin(
    definitionId: string,
    data: JsonObject,
    options: TestStartOptions,
  ): Promise<{ readonly id: string }> {
    await this.#standIn();
    const { debounce, fairnessKey, fairnessWeight, reference = null, ...rest } = options;
    const request = {
      definitionId,
      data,
      reference,
      idempotency: null,
      fairness: toStartFairness({ fairnessKey, fairnessWeight }),
      ...rest,
      ...(debounce !== undefined && { debounce: debounceOf(debounce) }),
    };
    const { instance } = await this.#call(() => this.#host.instances.start(request));
    return { id: instance.id };
  }

  /**
   * Moves the time, and fires each timer on the way at its own time.
   *
   * @param duration `3d`, `2h 30m`, a number of seconds, or a duration as in definitions
   */
  async advance(duration: string | number): Promise<void> {
    const ms = milliseconds(duration);
    await this.#standIn();
    const until = this.#clock.now() + ms;
    await this.settle();
    for (let fired = 0; this.#clock.fireNext(until); fired += 1) {
      if (fired >= TIMERS_MAX) {
        throw new Error(
          `more than ${TIMERS_MAX} timers fired within ${duration}: is there a loop of short waits?`,
        );
      }
      await this.settle();
    }
    this.#clock.moveTo(until);
  }

  /** Publishes an event. Returns the number of runs that were waiting for it. */
  async publish(name: string, key: string, data: Json = null): Promise<number> {
    await this.#standIn();
    const request = { name, key, data, idempotency: null };
    const { deliveredTo } = await this.#call(() => this.#host.events.publish(request));
    await this.settle();
    return deliveredTo;
  }

  /** The run as it is now. @throws AppError `workflow_not_found` */
  run(id: string): Promise<TestRun> {
    return readRun(this.#host, id);
  }

  /** The runs of a definition, the oldest first: also those that triggers or other runs have started. At most 500. */
  async runs(definitionId: string): Promise<readonly TestRun[]> {
    const request = { definitionId, limit: RUNS_MAX, cursor: null };
    const { items } = await this.#call(() => this.#host.instances.list(request));
    const runs: TestRun[] = [];
    for (const { id } of items.toReversed()) runs.push(await this.run(id));
    return runs;
  }

  /** The triggers of a definition, with their next times and their last outcome. */
  triggers(definitionId: string): Promise<readonly TriggerListItem[]> {
    return this.#call(() => this.#host.triggers.list(definitionId));
  }

  /** Due times and events pass without effect. @throws AppError `trigger_not_found` */
  async pauseTrigger(definitionId: string, name: string): Promise<void> {
    await this.#call(() => this.#host.triggers.pause(definitionId, name));
  }

  /** Waits until nothing moves. @throws UnmockedCallError if something outside was called without an answer */
  async settle(): Promise<void> {
    await this.#quiescence.wait();
    this.#answers.check();
  }

  async stop(): Promise<void> {
    await this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** A mock of a sub-workflow takes the place of its definition. */
  async #standIn(): Promise<void> {
    for (const id of this.#subWorkflows) {
      const isMissing = this.#mustAnswer && !this.#defined.has(id);
      if (!this.#answers.has(id) && !isMissing) continue;
      this.#subWorkflows.delete(id);
      const document = standIn(id, this.#answers.allOf(id));
      await this.#call(() => this.#host.definitions.register({ document, source: null }, null));
      const activity = standInActivity(id);
      if (this.#answers.isSilent(id)) this.#worker.ignore(activity);
      else this.#worker.handle(activity, () => nextAnswerIndex(this.#answers, id));
    }
  }

  async #call<Value>(call: () => Promise<Value>): Promise<Value> {
    return this.#quiescence.during(call);
  }
}

interface TestServerParts {
  readonly host: Host;
  readonly answers: Answers;
  readonly clock: VirtualClock;
  readonly quiescence: Quiescence;
  readonly worker: TestWorker;
  readonly mustAnswer: boolean;
  readonly end: () => Promise<void>;
}

/** Real workers learn from the answers to their heartbeats that their work was canceled. */
function tellingWithdrawals(store: Store, tell: (ids: readonly string[]) => void): Store {
  return {
    ...store,
    withdrawActivities: async (ids) => {
      const items = await store.withdrawActivities(ids);
      tell(ids);
      return items;
    },
  };
}

/** Starts a server in this process. It listens on no port. @throws AppError for an invalid definition, limit or script; TypeError for an invalid time */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { definitions = [], limits = {}, python = new TestPython(options), scripts = {} } = options;
  const server = await assemble(options, python);
  try {
    for (const [name, source] of Object.entries(scripts)) await server.script(name, source);
    for (const [name, settings] of Object.entries(limits)) await server.limit(name, settings);
    for (const definition of definitions) await server.define(definition);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** @throws TypeError for a time that does not exist */
function startOf(now: Date | string | number): number {
  if (typeof now !== 'string') return new Date(now).getTime();
  const read = readTime(now);
  if (read.ok) return read.ms;
  const got = timeProblem(quoteText(now), read.reason);
  throw new TypeError(`now must be a time such as ${TIME_EXAMPLE}, not ${got}`);
}

async function assemble(options: TestServerOptions, python: TestPython): Promise<TestServer> {
  const { activities: handlers = {}, mocks = {}, mustAnswer = false, seed = 1 } = options;
  const answers = new Answers(mocks);
  const quiescence = new Quiescence();
  const clock = new VirtualClock(startOf(options.now ?? DEFAULT_NOW));
  const chance = seededRandom(clock, seed);
  const aborted = new AbortController();
  let worker: TestWorker | null = null;
  const { host } = await composeHost({
    config: readConfig({}),
    environment: options.environment ?? {},
    secretSource: testSecrets(options.secrets ?? {}),
    logger: createLogger({ level: 'silent' }),
    scripts: python.usedBy(quiescence, chance.nextMoment, options.conditions),
    random: chance,
    store: tellingWithdrawals(createMemoryStore(), (ids) => worker?.withdrawn(ids)),
    replaceBodies: (real) => mockedBodies(real, answers, quiescence, clock),
    createBackplane: () => ({
      ...createLocalBackplane(),
      publish: (hint) => {
        if (hint.kind === 'activity') worker?.offered(hint.name);
      },
    }),
    hostSettings: UNDISTURBED,
  });
  const { signal } = aborted;
  worker = new TestWorker({ host, handlers, answers, quiescence, clock, mustAnswer, signal });
  await host.start();
  const end = async (): Promise<void> => {
    aborted.abort();
    await host.stop();
    if (options.python === undefined) await python.stop();
  };
  return new TestServer({ host, answers, clock, quiescence, worker, mustAnswer, end });
}
