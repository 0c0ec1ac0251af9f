/**
 * Goal: limits cost nothing where none is named, and no further store operation where they aren't reached.
 * Method: a whole server on SQLite, and on MongoDB and PostgreSQL if available; counts everything that reaches the store. The table
 * has the counts from before the server had limits.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { useCallee } from '../behavior/support/callee.js';
import { fresh, type Client } from '../behavior/support/client.js';
import { activity, compute, step } from '../behavior/support/steps.js';
import {
  COUNTED,
  CountedServer,
  MONGO_WRITES,
  POSTGRES_STATEMENTS,
} from './support/counted-server.js';

/** Some operations are made by chance: who waits for the end may read the run, and a node that has just started looks around. */
const TRIES = 10;

/** A kind of run, and what it costs. */
interface Kind {
  readonly name: string;
  readonly step: (client: Client, work: string) => Promise<JsonObject> | JsonObject;
  /** Brings a run from its start to its end. */
  readonly run: (client: Client, definition: string, work: string) => Promise<void>;
  readonly operations: readonly string[];
  readonly postgresStatements: number;
  readonly mongoWrites: number;
}

const callee = useCallee((_request, response) => response.end('{}'));

async function startToEnd(client: Client, definition: string): Promise<void> {
  await client.ended(await client.start(definition));
}

const ONE_CALL = {
  run: startToEnd,
  operations: ['insertInstance', 'commitInstance'],
  postgresStatements: 2,
  mongoWrites: 2,
};
const WORKED_ON = ['insertInstance', 'claimActivity', 'completeActivity', 'commitInstance'];

const KINDS: readonly Kind[] = [
  {
    ...ONE_CALL,
    name: 'an HTTP call',
    step: () => step('a', 'HttpRequest', { BaseUrl: `"${callee.url}"`, Resource: '"/"' }),
  },
  {
    ...ONE_CALL,
    name: 'a custom step',
    step: async (client) => step('a', await client.script('x = 1')),
  },
  {
    name: 'a child',
    step: async (client) => {
      const child = await client.define([compute('c', { n: '1' })]);
      return step('a', 'SubWorkflow', { DefinitionId: `"${child}"` });
    },
    run: startToEnd,
    operations: [
      'insertInstance',
      'insertInstance',
      'postMessages',
      'commitInstance',
      'commitInstance',
      'commitInstance',
    ],
    postgresStatements: 8,
    mongoWrites: 6,
  },
  {
    name: 'an activity for a worker that comes later',
    step: (_client, work) => activity('a', work),
    run: async (client, definition, work) => {
      const id = await client.start(definition);
      await client.succeed((await client.work(work)).token, 1);
      await client.ended(id);
    },
    operations: WORKED_ON,
    postgresStatements: 4,
    mongoWrites: 6,
  },
  {
    name: 'an activity for a worker that is waiting',
    step: (_client, work) => activity('a', work),
    run: async (client, definition, work) => {
      const poll = client.work(work);
      await eventually('the poll is waiting', async () => {
        const { text } = await client.get('/metrics');
        return text.includes('\nstepwright_pollers 1\n');
      });
      const id = await client.start(definition);
      await client.succeed((await poll).token, 1);
      await client.ended(id);
    },
    // The claim is that of the poll, when there is no item yet. The statements also read what the test waits for.
    operations: WORKED_ON,
    postgresStatements: 8,
    mongoWrites: 5,
  },
];

/** Reads that only some runs need, or only the test. */
const BY_CHANCE: ReadonlySet<string> = new Set(['getInstance', 'statistics']);

describe.each(COUNTED)('a run on $kind', (counted) => {
  const { available, kind } = counted;
  let server: CountedServer;

  beforeAll(async () => {
    if (available) server = await CountedServer.start(counted);
  });
  afterAll(async () => {
    if (available) await server.stop();
  });

  const define = async (of: Kind, limits: readonly string[]): Promise<() => Promise<void>> => {
    const { client } = server;
    const work = fresh('work');
    const first = await of.step(client, work);
    const steps = [limits.length === 0 ? first : { ...first, Limits: [...limits] }];
    const definition = await client.define(steps);
    const run = (): Promise<void> => of.run(client, definition, work);
    // The definition is cached from then on.
    await run();
    return run;
  };

  /** @param least if a run makes no more than these, there is no further try */
  const operationsOf = async (
    run: () => Promise<void>,
    least: readonly string[],
  ): Promise<readonly string[]> => {
    const tries: string[][] = [];
    for (let n = 0; n < TRIES && (tries.at(-1)?.length ?? Infinity) > least.length; n += 1) {
      const { reads, writes } = await server.during(run);
      tries.push([...writes, ...reads].filter((name) => !BY_CHANCE.has(name)).sort());
    }
    return tries.reduce((fewest, each) => (each.length < fewest.length ? each : fewest));
  };

  it.skipIf(!available).each(KINDS)('costs what it did before limits: $name', async (of) => {
    const run = await define(of, []);
    expect(await operationsOf(run, of.operations)).toEqual(of.operations.toSorted());
    const { mongoWrites, postgresStatements } = of;
    if (kind === 'postgres') {
      const statements = await server.fewest(run, POSTGRES_STATEMENTS, postgresStatements);
      expect(statements.length).toBeLessThanOrEqual(postgresStatements);
    }
    if (kind === 'mongo') {
      const writes = await server.fewest(run, MONGO_WRITES, mongoWrites);
      expect(writes.length).toBeLessThanOrEqual(mongoWrites);
    }
  });

  it.skipIf(!available).each(KINDS)(
    'costs no further operation with limits that are not reached: $name',
    async (of) => {
      const [full, fast] = [fresh('limit'), fresh('limit')];
      const put = (name: string, body: string) =>
        server.client.call('PUT', `/api/limit/${name}`, { body, type: 'application/json' });
      await put(full, '{"concurrency": 9}');
      await put(fast, '{"rate": {"count": 1000, "per": 1, "burst": 100}}');
      const run = await define(of, [full, fast]);
      expect(await operationsOf(run, of.operations)).toEqual(of.operations.toSorted());
    },
  );

  it.skipIf(!available)('costs one insert, once slots of the limit were refused', async () => {
    const { client } = server;
    const name = fresh('limit');
    const put = (body: string) =>
      client.call('PUT', `/api/limit/${name}`, { body, type: 'application/json' });
    await put('{"concurrency": 2}');
    const call = step('a', 'HttpRequest', { BaseUrl: `"${callee.url}"`, Resource: '"/"' });
    const definition = await client.define([{ ...call, Limits: [{ Name: name, Units: 2 }] }]);
    await put('{"concurrency": 1}');
    const insertsOfStart = async (): Promise<number> => {
      const { writes } = await server.during(async () => {
        const id = await client.start(definition);
        await client.call('DELETE', `/api/workflow/${id}`);
      });
      return writes.filter((each) => each === 'insertInstance').length;
    };
    expect(await insertsOfStart()).toBe(2);
    // On a slow machine, what was refused may be forgotten meanwhile.
    const tries: number[] = [];
    while (tries.length < TRIES && tries.at(-1) !== 1) tries.push(await insertsOfStart());
    expect(tries.at(-1)).toBe(1);
  });
});
