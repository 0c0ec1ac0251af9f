/**
 * A server with many runs, at little cost: the server stores one run of each kind, which is then copied in the database
 * under other ids, references and times. Starting 100,000 runs over HTTP would take minutes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { SpawnedServer } from '../../test/support/spawned-server.js';

const ORDER = `
Id: order
Description: From the paid basket to the parcel
Index:
  customer: data.customer
  number: data.number
Steps:
  - Id: total
    StepType: NoOp
    Outputs:
      total: data.price * 2
    NextStepId: decide
  - Id: decide
    StepType: Decide
    SelectNextStep:
      approve: data.isLarge
      pack: not data.isLarge
  - Id: approve
    StepType: WaitFor
    Inputs:
      EventName: '"approved"'
      EventKey: data.number
    NextStepId: pack
  - Id: pack
    StepType: EmitLog
    Inputs:
      Message: '"packed"'
`;

const LABEL = `
Id: label
DefaultErrorBehavior: Suspend
Steps:
  - Id: print
    StepType: print-label
`;

const CHARGE = `
Id: charge
Steps:
  - Id: card
    StepType: Activity
    Inputs:
      ActivityName: '"charge-card"'
`;

const RETRY = `
Id: sync
Steps:
  - Id: ask
    StepType: HttpRequest
    ErrorBehavior: Retry
    RetryInterval: 3600
    Inputs:
      BaseUrl: '"http://127.0.0.1:9"'
      Resource: '"/stock"'
    Outputs:
      stock: step.ResponseBody["items"]
`;

/** Many turns at once, then one a second. */
const LOOP = `
Id: poll
Steps:
  - Id: loop
    StepType: While
    Inputs:
      Condition: 'True'
    Do:
      - - Id: count
          StepType: NoOp
          Outputs:
            n: data.n + 1
          NextStepId: rest
        - Id: rest
          StepType: Delay
          Inputs:
            Period: 'timedelta(seconds=0 if data.n < data.fast else 1)'
`;

/** The text that each copy replaces with its number. */
const NUMBER = 'NUMBER';
const FAILED = 500;
const FAST_TURNS = 2000;
/** Between the starts of two copies. */
const APART_MS = 500;

export interface ManyRuns {
  readonly server: SpawnedServer;
  readonly client: StepwrightClient;
  /** Waits for an event. */
  readonly waiting: string;
  /** Held by the worker `till-1`. */
  readonly held: string;
  /** Has failed, and waits for its next attempt. */
  readonly retrying: string;
  /** Has taken many turns, and takes one more each second. */
  readonly live: string;
  remove(): Promise<void>;
}

/** @param count of all runs; 500 of them are suspended by one cause */
export async function manyRuns(count: number): Promise<ManyRuns> {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-page-'));
  const start = (): Promise<SpawnedServer> =>
    SpawnedServer.start({ PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'error' });
  const first = await start();
  const originals = await storeOriginals(createClient({ baseUrl: first.url }));
  await first.stop();
  const others = Math.max(0, count - FAILED);
  copyRuns(folder, [
    { id: originals.failed, count: FAILED },
    { id: originals.waiting, count: Math.ceil(others / 10) },
    { id: originals.completed, count: others - Math.ceil(others / 10) },
  ]);
  const server = await start();
  const client = createClient({ baseUrl: server.url });
  const started = await startOthers(client);
  return {
    server,
    client,
    waiting: originals.waiting,
    ...started,
    async remove() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Originals {
  readonly completed: string;
  readonly waiting: string;
  readonly failed: string;
}

async function storeOriginals({
  definitions,
  steps,
  workflows,
}: StepwrightClient): Promise<Originals> {
  await steps.put('print-label', 'raise ValueError("the printer is out of paper")\n');
  for (const text of [ORDER, LABEL, CHARGE, RETRY, LOOP]) await definitions.register(text);
  const startOrder = async (isLarge: boolean): Promise<string> => {
    const data = { number: `N-${NUMBER}`, customer: `C-${NUMBER}`, price: 12, isLarge };
    const options = { reference: `order-${NUMBER}`, tags: { invoice: `I-${NUMBER}` } };
    return (await workflows.start('order', data, options)).id;
  };
  const completed = await startOrder(false);
  const waiting = await startOrder(true);
  const failed = (await workflows.start('label', {}, { reference: `label-${NUMBER}` })).id;
  await workflows.wait(completed);
  await until(async () => (await workflows.get(failed)).status === 'Suspended');
  await until(async () => (await workflows.explain(waiting)).reasons[0]?.kind === 'event');
  return { completed, waiting, failed };
}

async function startOthers({ activities, workflows }: StepwrightClient) {
  const { id: live } = await workflows.start('poll', { n: 0, fast: FAST_TURNS });
  const { id: held } = await workflows.start('charge', {});
  const { id: retrying } = await workflows.start('sync', {}, { reference: 'sync-1' });
  const item = await activities.pull('charge-card', {
    workerId: 'till-1',
    waitSeconds: 20,
    leaseSeconds: 7200,
  });
  if (item === null) throw new Error('There was no work item');
  await until(async () => (await workflows.explain(retrying)).reasons[0]?.kind === 'retry');
  // Its second attempt fails like the first.
  await workflows.retry(retrying);
  await until(async () => {
    const { items } = await workflows.steps(retrying).page();
    return items.some(({ attempt }) => attempt >= 2);
  });
  await until(async () => Number((await workflows.get(live)).data['n']) >= FAST_TURNS);
  return { live, held, retrying };
}

const POLL_MS = 100;

export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await setTimeout(POLL_MS);
}

interface Copies {
  readonly id: string;
  /** The original becomes the first of them. */
  readonly count: number;
}

/** The tables with the records of an instance, each with the column of its id. */
const TABLES = { instances: 'id', subscriptions: 'instanceId', terms: 'instanceId' } as const;

type Row = Record<string, string | number | null>;

function copyRuns(folder: string, copies: readonly Copies[]): void {
  const database = new DatabaseSync(join(folder, 'stepwright.db'));
  // The store is thrown away afterwards.
  database.exec('PRAGMA synchronous = OFF');
  database.exec('BEGIN IMMEDIATE');
  for (const one of copies) {
    for (const [table, column] of Object.entries(TABLES)) copyRows(database, table, column, one);
  }
  database.exec('COMMIT');
  database.close();
}

function copyRows(database: DatabaseSync, table: string, column: string, copies: Copies): void {
  const { id, count } = copies;
  const rows = database.prepare(`SELECT * FROM ${table} WHERE ${column} = ?`).all(id) as Row[];
  database.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(id);
  for (const row of rows) {
    const columns = Object.keys(row);
    const marks = columns.map(() => '?').join();
    const insert = database.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${marks})`);
    const text = JSON.stringify(row);
    for (let number = 0; number < count; number += 1) {
      insert.run(...Object.values(copyOf(text, id, number)));
    }
  }
}

/** The first copy has the original's id. Of the others, the higher the number, the older. */
function copyOf(text: string, id: string, number: number): Row {
  const ownId = number === 0 ? id : `${id}-${number}`;
  const row = JSON.parse(text.replaceAll(id, ownId).replaceAll(NUMBER, String(number))) as Row;
  for (const name of ['startTime', 'endTime', 'lastChangeAt']) {
    if (typeof row[name] === 'number') row[name] -= number * APART_MS;
  }
  return row;
}
