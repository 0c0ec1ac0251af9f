/**
 * `pnpm bench:triggers [--triggers=10000] [--due=1000]`: many triggers, of which many are due in the same second.
 *
 * It shows what they cost until then (store operations a second, memory), and how late their runs start.
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BenchServer } from './bench-server.ts';

/** The maximum of a definition. */
const PER_DEFINITION = 100;
const IDLE_MS = 5000;
const SECOND_MS = 1000;
const RESTING = { Cron: '0 0 29 2 *', TimeZone: 'UTC' };

interface RunPage {
  readonly items: readonly { readonly startTime: string }[];
}

const { values } = parseArgs({
  options: {
    triggers: { type: 'string', default: '10000' },
    due: { type: 'string', default: '1000' },
  },
});
const dueDefinitions = Math.ceil(Number(values.due) / PER_DEFINITION);
const resting = Math.ceil(Number(values.triggers) / PER_DEFINITION) - dueDefinitions;
const server = await BenchServer.start();
const { client } = server;
try {
  await idle('without triggers');
  const startedAt = performance.now();
  for (let n = 0; n < resting; n += 1) await register(`resting-${n}`, RESTING);
  const registerMs = (performance.now() - startedAt) / resting;
  console.log(`registering ${PER_DEFINITION} triggers: ${registerMs.toFixed(0)} ms`);
  await idle(`with ${resting * PER_DEFINITION} triggers`);
  // Late enough for all of them to be registered.
  const dueAt = Math.ceil(Date.now() / SECOND_MS) * SECOND_MS + 10 * SECOND_MS;
  const due = { Cron: cronOf(new Date(dueAt)), TimeZone: 'UTC' };
  for (let n = 0; n < dueDefinitions; n += 1) await register(`due-${n}`, due);
  if (Date.now() > dueAt) throw new Error('the triggers were due before they were registered');
  const late = await latenesses(dueAt);
  const shown = (share: number): number => late[Math.floor((late.length - 1) * share)] ?? 0;
  console.log(
    `${late.length} runs due in one second: half after ${shown(0.5)} ms, all after ${shown(1)} ms`,
  );
} finally {
  await server.stop();
}

async function register(id: string, source: Readonly<Record<string, string>>): Promise<void> {
  const Triggers = Array.from({ length: PER_DEFINITION }, (_, n) => ({ Name: `t${n}`, ...source }));
  const Steps = [{ Id: 'only', StepType: 'NoOp' }];
  await client.call('POST', '/api/definition', { Id: id, Triggers, Steps });
}

async function idle(what: string): Promise<void> {
  const before = await server.spent();
  await setTimeout(IDLE_MS);
  const { rssBytes, storeOperations } = await server.spent();
  const perSecond = ((storeOperations - before.storeOperations) * SECOND_MS) / IDLE_MS;
  const megabytes = rssBytes / 1e6;
  console.log(
    `idle ${what}: ${perSecond.toFixed(1)} store operations a second, ${megabytes.toFixed(0)} MB`,
  );
}

/** Of all runs, in milliseconds after the due time, the smallest first. */
async function latenesses(dueAt: number): Promise<readonly number[]> {
  for (;;) {
    const pages = await Promise.all(
      Array.from({ length: dueDefinitions }, (_, n) =>
        client.call('GET', `/api/workflow?definitionId=due-${n}&limit=500`),
      ),
    );
    const runs = pages.flatMap(({ json }) => (json as RunPage).items);
    if (runs.length === dueDefinitions * PER_DEFINITION) {
      return runs
        .map(({ startTime }) => Date.parse(startTime) - dueAt)
        .sort((left, right) => left - right);
    }
    await setTimeout(SECOND_MS);
  }
}

function cronOf(time: Date): string {
  const day = `${time.getUTCDate()} ${time.getUTCMonth() + 1}`;
  return `${time.getUTCSeconds()} ${time.getUTCMinutes()} ${time.getUTCHours()} ${day} *`;
}
