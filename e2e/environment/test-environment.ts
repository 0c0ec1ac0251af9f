/**
 * The environment of a scenario. Every scenario runs on every database server, in every mode unless it names some, and must
 * behave the same:
 *
 * - `one node`: one server;
 * - `two nodes`: two servers on one database; calls alternate between them. On MongoDB they also share a Redis;
 * - `restart`: one server that is killed (-9) and restarted at every checkpoint of the scenario.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { IS_NIGHTLY } from '../../sdk/test/support/nightly.js';
import { newDatabase, REMOTE_STORES, serverOf, type StoreName } from './databases.js';
import { startNode, type ServerNode } from './server-node.js';

export type Mode = 'one node' | 'two nodes' | 'restart';

/** A placeholder: the environment's `fetch` sends each call to a node. */
const ANY_NODE = 'http://any-node.invalid';

export class TestEnvironment {
  readonly client: StepwrightClient;
  readonly #mode: Mode;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #folder: string;
  #nodes: ServerNode[] = [];
  #calls = 0;
  #names = 0;

  private constructor(mode: Mode, settings: Readonly<Record<string, string>>, folder: string) {
    this.#mode = mode;
    this.#settings = settings;
    this.#folder = folder;
    this.client = createClient({ baseUrl: ANY_NODE, fetch: (request) => this.fetch(request) });
  }

  static async start(
    mode: Mode,
    store: StoreName = 'mongo',
    extra: Readonly<Record<string, string>> = {},
  ): Promise<TestEnvironment> {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-e2e-'));
    const settings: Record<string, string> = {
      DATA_DIR: folder,
      NODE_LEASE_MS: '3000',
      ...newDatabase(store),
      ...extra,
    };
    const redis = inject('redis');
    if (store === 'mongo' && redis !== null && mode === 'two nodes') settings['redis'] = redis;
    const environment = new TestEnvironment(mode, settings, folder);
    const count = mode === 'two nodes' ? 2 : 1;
    environment.#nodes = await Promise.all(
      Array.from({ length: count }, () => startNode(settings)),
    );
    return environment;
  }

  /** Between two parts of a scenario: in `restart`, the server is killed here and another one continues. */
  async checkpoint(): Promise<void> {
    if (this.#mode !== 'restart') return;
    await Promise.all(this.#nodes.map((node) => node.kill()));
    this.#nodes = [await startNode(this.#settings)];
  }

  /** Calls the nodes in rotation. */
  fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(`${this.#nextUrl()}${pathname}${search}`, request));
  }

  /** Plain HTTP, for calls that the SDK does not support. */
  call(pathAndQuery: string, init?: RequestInit): Promise<Response> {
    return fetch(`${this.#nextUrl()}${pathAndQuery}`, init);
  }

  /** A name that no other scenario uses. */
  unique(name: string): string {
    this.#names += 1;
    return `${name}-${this.#names}`;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #nextUrl(): string {
    this.#calls += 1;
    const node = this.#nodes[this.#calls % this.#nodes.length];
    if (node === undefined) throw new Error('no node is running');
    return node.url;
  }
}

type Scenario = (environment: TestEnvironment) => Promise<void>;

const MODES = ['one node', 'two nodes', 'restart'] as const;

/** Two nodes do what one does and more, and a restart depends least on the store: the rest is for the night. */
const isDaily = (store: StoreName, mode: Mode): boolean =>
  mode === 'two nodes' || (mode === 'restart' && store === 'postgres');

/** Runs each scenario on every database server; by night, in every mode. */
export function scenarios(
  topic: string,
  cases: Readonly<Record<string, Scenario>>,
  modes: readonly Mode[] = MODES,
): void {
  for (const store of REMOTE_STORES) {
    for (const mode of modes) {
      if (!IS_NIGHTLY && modes.length > 1 && !isDaily(store, mode)) continue;
      const isMissing = store === 'postgres' && serverOf(store) === null;
      describe.skipIf(isMissing)(`${topic} (${store}, ${mode})`, () => {
        let environment: TestEnvironment;
        beforeAll(async () => {
          environment = await TestEnvironment.start(mode, store);
        });
        afterAll(() => environment.stop());
        for (const [name, scenario] of Object.entries(cases)) {
          it(name, () => scenario(environment));
        }
      });
    }
  }
}
