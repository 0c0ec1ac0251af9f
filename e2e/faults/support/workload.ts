/**
 * A mixed workload on a fleet, from a seed: starts runs of every kind at a given rate, publishes their events and does
 * their activities. It records what was acknowledged; `checker.ts` checks all of it at the end.
 */
import { setTimeout } from 'node:timers/promises';
import { KINDS, kindAt, type KindName, type Plan } from './definitions.js';
import type { Ledger } from '../../../server/test/support/ledger.js';
import { PersistentClient } from './persistent-client.js';
import type { Random } from './random.js';
import type { Instance, WorkItem } from './wire.js';

export interface Run extends Plan {
  readonly kind: KindName;
  readonly workflowId: string;
}

export interface WorkloadOptions {
  readonly urls: () => readonly string[];
  readonly ledger: Ledger;
  readonly random: Random;
  readonly workers?: number;
}

/**
 * Long enough for a busy machine, and short enough that the items of a dead node become available again during the
 * test.
 */
const LEASE_SECONDS = 5;

export class Workload {
  readonly client: PersistentClient;
  /** Runs whose start was acknowledged. */
  readonly runs: Run[] = [];
  /** For each run with an activity: the results that the server accepted. */
  readonly accepted = new Map<string, Set<string>>();
  /** Late results, which the server rejected. */
  refused = 0;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #workers: Promise<void>[] = [];
  readonly #workerCount: number;
  readonly #problems: unknown[] = [];
  #isOver = false;
  #names = 0;

  constructor(options: WorkloadOptions) {
    this.client = new PersistentClient(options.urls);
    this.#ledger = options.ledger;
    this.#random = options.random;
    this.#workerCount = options.workers ?? 3;
  }

  /** Registers the definitions and starts the workers. */
  async begin(): Promise<void> {
    for (const [name, { definition }] of Object.entries(KINDS)) {
      await this.client.call('POST', '/api/definition', { body: definition, key: `def-${name}` });
    }
    for (let worker = 0; worker < this.#workerCount; worker += 1) {
      this.#workers.push(this.#work(`worker-${worker}`));
    }
  }

  /** Starts runs at a given rate and publishes their events; resolves when everything is acknowledged. */
  start(count: number, perSecond: number): Promise<void> {
    return this.startWhile((started) => started < count, perSecond);
  }

  /** Like `start`, as long as `goesOn` returns true. */
  async startWhile(goesOn: (started: number) => boolean, perSecond: number): Promise<void> {
    const driven: Promise<void>[] = [];
    const beginAt = Date.now();
    while (goesOn(driven.length)) {
      driven.push(this.#drive(kindAt(Math.floor(this.#random() * 100))));
      // Sets the pace of the load, which falls behind instead of bunching up when the machine is busy.
      await setTimeout(Math.max(0, beginAt + (driven.length * 1000) / perSecond - Date.now()));
    }
    await Promise.all(driven);
  }

  /** Stops the workers. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    if (this.#problems.length > 0) throw new AggregateError(this.#problems, 'a worker had trouble');
  }

  async #drive(kind: KindName): Promise<void> {
    this.#names += 1;
    const name = `run-${this.#names}`;
    const plan: Plan = { name, n: Math.floor(this.#random() * 1000), ledger: this.#ledger.url };
    const { body } = await this.client.call('POST', `/api/workflow/${kind}?reference=${name}`, {
      body: plan,
      key: `start-${name}`,
    });
    this.runs.push({ ...plan, kind, workflowId: (body as Instance).workflowId });
    if (!KINDS[kind].awaitsEvent) return;
    await this.client.call('POST', `/api/event/go/${name}`, {
      body: { value: plan.n },
      key: `event-${name}`,
    });
  }

  async #work(worker: string): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#workOnce(worker);
      } catch (error) {
        this.#problems.push(error);
        return;
      }
    }
  }

  async #workOnce(worker: string): Promise<void> {
    const poll = `/api/activity/work?workerId=${worker}&timeout=1&lease=${LEASE_SECONDS}`;
    const found = await this.client.call('GET', poll, { expected: [200, 404] });
    if (found.status === 404) return;
    const { parameters, token } = found.body as WorkItem;
    const nonce = `${worker}-${token}`;
    const done = await this.client.call('POST', `/api/activity/success/${token}`, {
      body: { twice: parameters.n * 2, nonce },
      expected: [202, 404],
    });
    if (done.status === 404) {
      this.refused += 1;
      return;
    }
    const accepted = this.accepted.get(parameters.name) ?? new Set();
    this.accepted.set(parameters.name, accepted.add(nonce));
  }
}
