/** Runs the cases of a subject on every store, with two opposite dialects. */
import { afterAll, beforeAll, describe } from 'vitest';
import { IS_NIGHTLY } from '../../../../sdk/test/support/nightly.js';
import type { Store } from '../../../src/store/store.js';
import { Client } from './client.js';
import { CAMEL_JSON, PASCAL_YAML, type Dialect } from './dialects.js';
import { startServer, type TestServer } from './server.js';
import { ARE_NAMED, STORE_KINDS, type StoreKind, type TestStore } from './stores.js';

/** What a case can use while it runs. */
export interface Surroundings {
  readonly kind: StoreKind['kind'];
  readonly client: Client;
  readonly server: TestServer;
  readonly store: TestStore;
  /** Stops the server and starts another one on the same store; then `client` and `server` are the new ones. */
  restart(whileStopped?: (store: Store) => Promise<void>): Promise<void>;
}

export interface EveryStoreOptions {
  /** `alternating`: one for each store, for slow suites that do not test bodies. */
  readonly dialects?: readonly Dialect[] | 'alternating';
  /** If omitted: all. */
  readonly stores?: readonly StoreKind['kind'][];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ownPython?: boolean;
}

/**
 * Where the store matters most. On a database server, the other subjects would add minutes and find little: the contract suite
 * of the stores runs on it, too. By night, and with `TEST_STORES=postgres`, all subjects run there.
 */
const ON_DATABASE_SERVERS: ReadonlySet<string> = new Set([
  'activities',
  'archived runs',
  'queued runs',
  'debounced starts',
  'a debounced trigger',
  'debounced starts and other rules',
  'runs at a time',
  'limits of steps',
  'fairness of runs',
  'turns of fairness keys',
  'an Idempotency-Key',
  'an event',
  'leaks',
  'kept runs',
  'bulk jobs',
  'notifications',
  'operator actions',
  'operator lists',
  'repairs',
  'a server that restarts',
  'sagas',
  'SubWorkflow',
  'lists of children',
  'filters of steps',
  'lists of steps',
  'failures',
  'the outcome of a run',
  'webhooks',
  'work in flight',
  'unusual names and keys',
  'starts',
  'starts with a key',
  'pairs of different first requests with one key',
  'a start with wait',
  '100 simultaneous starts with one reference',
  'one run for each key',
  '200 simultaneous starts with one key',
  'a SubWorkflow step',
  'a SubWorkflow step below the run with its Reference',
  'hostile starts and searches',
  'search',
  'runs found by a text',
  'counts of more than 10,000 runs',
  'a custom step with a version',
  'many distinct names of tags',
  'narrow scopes',
  'narrow lists',
  'runs of others',
  'names that expressions compute',
  'triggers',
]);

export function everyStore(
  subject: string,
  suite: (at: Surroundings) => void,
  options: EveryStoreOptions = {},
): void {
  const { environment = {}, ownPython = false } = options;
  for (const { available, kind, ...stores } of STORE_KINDS) {
    if (options.stores?.includes(kind) === false) continue;
    if (isLeftOut(subject, kind)) continue;
    for (const dialect of dialectsFor(kind, options.dialects)) {
      describe.skipIf(!available)(`${subject} (${kind}; ${dialect.name})`, () => {
        const running: { store?: TestStore; server?: TestServer; client?: Client } = {};
        const begin = async (): Promise<void> => {
          running.server = await startServer({
            store: running.store!.open(),
            environment,
            ownPython,
          });
          running.client = new Client(running.server.url, dialect);
        };
        beforeAll(async () => {
          running.store = await stores.create();
          await begin();
        });
        afterAll(async () => {
          await running.server?.stop();
          await running.store?.remove();
        });
        suite({
          get client() {
            return running.client!;
          },
          get server() {
            return running.server!;
          },
          kind,
          get store() {
            return running.store!;
          },
          async restart(whileStopped) {
            await running.server?.stop();
            if (whileStopped !== undefined) {
              const store = running.store!.open();
              await store.start();
              await whileStopped(store);
              await store.stop();
            }
            await begin();
          },
        });
      });
    }
  }
}

function isLeftOut(subject: string, kind: StoreKind['kind']): boolean {
  if (IS_NIGHTLY || ARE_NAMED || ON_DATABASE_SERVERS.has(subject)) return false;
  return kind === 'postgres' || kind === 'mongo';
}

/** Several dialects are all tested in memory, and one of them on each other store; by night, all on every store. */
function dialectsFor(
  kind: StoreKind['kind'],
  dialects: EveryStoreOptions['dialects'] = [CAMEL_JSON, PASCAL_YAML],
): readonly Dialect[] {
  const one = [kind === 'sqlite' ? PASCAL_YAML : CAMEL_JSON];
  if (dialects === 'alternating') return one;
  return dialects.length === 1 || kind === 'memory' || IS_NIGHTLY ? dialects : one;
}
