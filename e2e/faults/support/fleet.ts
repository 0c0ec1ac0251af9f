/**
 * Several nodes on one database: started, killed, paused and restarted.
 *
 * They share one SQLite file, the MongoDB and Redis of the test run, or its PostgreSQL. If a test run has no such server,
 * they share one file, so that everything is tested; the log says so.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { newDatabase, type StoreName } from '../../environment/databases.js';
import { startNode, type ServerNode } from '../../environment/server-node.js';
import { addressThrough, type TcpProxy } from './tcp-proxy.js';

const STARTS_MAX = 10;
const TOO_SLOW = /database did not (?:answer|respond)|deadline exceeded|timeout expired/;

type Settings = Readonly<Record<string, string>>;

/**
 * The death of a node here is noticed at once, because its process is gone. Tests of the lease set their own; for the
 * others it is long, as is the timeout of expressions, so that an overloaded machine does not look like a fault.
 */
const PATIENT: Settings = { NODE_LEASE_MS: '20000', EXPRESSION_TIMEOUT_MS: '20000' };

/** The storage of a fleet, for tests that inspect it. */
export type FleetDatabase =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'mongo'; readonly dbhost: string; readonly name: string }
  /** The address names the schema. */
  | { readonly kind: 'postgres'; readonly dbhost: string };

export interface FleetOptions {
  readonly count: number;
  readonly store: StoreName;
  readonly settings?: Settings;
  /** The link by which each node reaches the database server; undefined: directly. */
  readonly links?: readonly TcpProxy[];
  /** Settings of a single node. */
  readonly settingsOf?: (index: number) => Settings;
  /** The main file of a node's build, requested at each start; undefined: this build. */
  readonly mainOf?: (index: number) => string | undefined;
}

export class Fleet {
  readonly database: FleetDatabase;
  readonly #folder: string;
  readonly #settings: (index: number) => Settings;
  readonly #mainOf: (index: number) => string | undefined;
  readonly #nodes: (ServerNode | null)[];
  /** Nodes of this fleet that have ended, for their output. */
  readonly #ended: ServerNode[] = [];

  private constructor(
    folder: string,
    options: FleetOptions,
    settings: (index: number) => Settings,
  ) {
    this.#folder = folder;
    this.#settings = settings;
    this.#mainOf = options.mainOf ?? (() => undefined);
    this.#nodes = Array.from({ length: options.count }, () => null);
    this.database = databaseOf({ DATA_DIR: folder, ...settings(0) });
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-faults-'));
    const shared: Record<string, string> = {
      ...PATIENT,
      DATA_DIR: folder,
      ...newDatabase(options.store),
    };
    const redis = inject('redis');
    if (options.store === 'mongo' && redis !== null) shared['redis'] = redis;
    const fleet = new Fleet(folder, options, (index) => ({
      ...shared,
      ...databaseThrough(options.links?.[index], shared),
      ...options.settings,
      ...options.settingsOf?.(index),
    }));
    const indexes = Array.from({ length: options.count }, (_, index) => index);
    const starts = await Promise.allSettled(indexes.map((index) => fleet.restart(index)));
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed !== undefined) {
      // Nodes that did start would outlive the test.
      await fleet.stop();
      throw failed.reason;
    }
    return fleet;
  }

  /** The folder with the SQLite file of the nodes. */
  get folder(): string {
    return this.#folder;
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** Addresses of the running nodes; a paused one counts as running, as it does for its clients. */
  get urls(): readonly string[] {
    return this.#nodes.flatMap((node) => (node === null ? [] : [node.url]));
  }

  node(index: number): ServerNode {
    const node = this.#nodes[index];
    if (node === undefined || node === null) throw new Error(`node ${index} is not running`);
    return node;
  }

  async kill(index: number): Promise<void> {
    const node = this.node(index);
    this.#nodes[index] = null;
    this.#ended.push(node);
    await node.kill();
  }

  /**
   * Sends SIGTERM; resolves when the process has ended. Until then, the node still gets calls, as from a slow load
   * balancer.
   */
  async drain(index: number): Promise<ServerNode> {
    const node = this.node(index);
    await node.stop();
    this.#nodes[index] = null;
    this.#ended.push(node);
    return node;
  }

  async restart(index: number): Promise<ServerNode> {
    const node = await this.#begin(index);
    this.#nodes[index] = node;
    return node;
  }

  /** A node with a slow database fails to start; like a supervisor, this retries. */
  async #begin(index: number): Promise<ServerNode> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await startNode(this.#settings(index), this.#mainOf(index));
      } catch (error) {
        if (tries === STARTS_MAX || !TOO_SLOW.test(String(error))) throw error;
      }
    }
  }

  /** Log lines about faults of the server itself, from every process of every node. */
  get faults(): readonly string[] {
    return (
      [...this.#ended, ...this.#nodes]
        .flatMap((node) => node?.output.split('\n') ?? [])
        .filter((line) => /"level":"(error|fatal)"/.test(line))
        // A step that failed for the last time is the fault of its author.
        .filter((line) => !line.includes('"code":"step_attempt_failed"'))
    );
  }

  /** The sum of a metric over the running nodes. */
  async metric(name: string): Promise<number> {
    const texts = await Promise.all(
      this.urls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    return texts
      .flatMap((text) => text.split('\n'))
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  async stop(): Promise<void> {
    const running = this.#nodes.filter((node) => node !== null);
    for (const node of running) node.resume();
    await Promise.all(running.map((node) => node.kill()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function databaseThrough(link: TcpProxy | undefined, { dbhost }: Settings): Settings {
  return link === undefined || dbhost === undefined ? {} : { dbhost: addressThrough(link, dbhost) };
}

function databaseOf(settings: Settings): FleetDatabase {
  const { DATA_DIR = '', db_name: name, dbhost } = settings;
  if (dbhost === undefined) return { kind: 'sqlite', file: path.join(DATA_DIR, 'stepwright.db') };
  return name === undefined ? { kind: 'postgres', dbhost } : { kind: 'mongo', dbhost, name };
}
