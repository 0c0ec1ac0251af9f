import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { KINDS, assign, definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

/** Longer than the longest reason, including the text that the API adds. */
const REASON_LENGTH_MAX = 5000;
const HEALTHY = 100;
/** The default, which an infinite loop uses up. */
const settings = { EXPRESSION_TIMEOUT_MS: '1000' };

interface Failed {
  readonly status: string;
  readonly lastError: { readonly type: string; readonly message: string } | null;
}

interface Poison {
  /** A description for the report. */
  readonly name: string;
  readonly type: RegExp;
  /** An expression … */
  readonly expression?: string;
  /** … or the script of a custom step. */
  readonly script?: string;
}

const POISONS: readonly Poison[] = [
  { name: 'memory', type: /Memory|Timeout/, script: 'a = []\nwhile True: a.append("x" * 100000)' },
  { name: 'loop', type: /Timeout/, expression: '[0 for _ in iter(int, 1)]' },
  { name: 'gigabytes', type: /Memory|Overflow|TooLarge/, expression: '"x" * (2 * 1024 ** 3)' },
  {
    name: 'recursion',
    type: /Recursion|Memory/,
    script: 'def down(n): return down(n + 1)\ndown(0)',
  },
  { name: 'exit', type: /SystemExit|Error/, script: 'raise SystemExit(1)' },
  { name: 'hard-exit', type: /./, script: 'import os\nos._exit(1)' },
  { name: 'long-reason', type: /ValueError/, script: 'raise ValueError("x" * 1000000)' },
];

/** The definition of a poison; its script is the custom step with its name. */
function poisoned({ expression, name, script }: Poison): object {
  const step =
    script === undefined
      ? assign('bad', { value: expression })
      : { Id: 'bad', StepType: `step-${name}` };
  return { ...definition(name, [step]), DefaultErrorBehavior: 'Suspend' };
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-22 a poisoned run among healthy ones on $store',
  ({ store }) => {
    it('ends in a visible state with a short reason; the other runs and the nodes continue', async () => {
      await withFleet({ count: 2, store, settings }, async ({ fleet }) => {
        const client = new PersistentClient(() => fleet.urls);
        const nodeIds = (): Promise<readonly unknown[]> =>
          Promise.all(
            fleet.urls.map(async (url) => {
              const info = (await (await fetch(`${url}/api/info`)).json()) as { nodeId: string };
              return info.nodeId;
            }),
          );
        const before = await nodeIds();
        for (const { definition: document } of [KINDS.control, KINDS.pure]) {
          await client.call('POST', '/api/definition', { body: document });
        }
        for (const poison of POISONS) {
          if (poison.script !== undefined) await postScript(fleet.urls, poison);
          await client.call('POST', '/api/definition', { body: poisoned(poison) });
        }
        const healthy = async (at: number): Promise<void> => {
          const kind = at % 2 === 0 ? 'control' : 'pure';
          const plan = { name: `run-${at}`, n: at, ledger: '' };
          const started = await client.call('POST', `/api/workflow/${kind}`, { body: plan });
          const { workflowId } = started.body as Instance;
          await eventually(
            `${plan.name} ends`,
            async () => {
              const { body } = await client.call('GET', `/api/workflow/${workflowId}?wait=5`);
              return (body as Instance).status === 'Complete';
            },
            120_000,
          );
          const { body } = await client.call('GET', `/api/workflow/${workflowId}`);
          expect((body as Instance).data).toEqual({ ...plan, ...KINDS[kind].expectedData(plan) });
        };
        const poisonous = async ({ name, type }: Poison): Promise<readonly [string, string]> => {
          const started = await client.call('POST', `/api/workflow/${name}`, { body: {} });
          const { workflowId } = started.body as Instance;
          const failed = await eventually(
            `${name} fails`,
            async () => {
              const instance = (await client.call('GET', `/api/workflow/${workflowId}`))
                .body as Failed;
              return instance.status === 'Suspended' && instance;
            },
            120_000,
          );
          const reason = `${failed.lastError?.type}: ${failed.lastError?.message}`;
          expect(failed.lastError?.type, name).toMatch(type);
          expect(reason.length, name).toBeLessThan(REASON_LENGTH_MAX);
          return [name, reason.slice(0, 100)];
        };
        const runs = Array.from({ length: scaled(HEALTHY) }, (_, at) => healthy(at));
        const reasons = await Promise.all(POISONS.map(poisonous));
        await Promise.all(runs);
        console.log(`T-22 ${store}`, {
          healthy: runs.length,
          reasons: Object.fromEntries(reasons),
        });
        expect(await nodeIds()).toEqual(before);
        expect(fleet.faults).toEqual([]);
      });
    }, 400_000);
  },
);

describe('T-22 a stored state that cannot be read', () => {
  it('is quarantined with a reason, and the other runs continue', async () => {
    await withFleet({ count: 1, store: 'sqlite' }, async ({ fleet }) => {
      const client = new PersistentClient(() => fleet.urls);
      await client.call('POST', '/api/definition', { body: KINDS.waitAfter.definition });
      const states = ['', '{', 'null', '[]', '{"data":{}}', 'x'.repeat(1_000_000)];
      const start = async (name: string): Promise<string> => {
        const body = { name, n: 1, ledger: '' };
        return ((await client.call('POST', '/api/workflow/waitAfter', { body })).body as Instance)
          .workflowId;
      };
      const healthy = await start('healthy');
      const broken: string[] = [];
      for (const at of states.keys()) broken.push(await start(`broken-${at}`));
      await fleet.drain(0);
      const database = new DatabaseSync(path.join(fleet.folder, 'stepwright.db'));
      for (const [at, id] of broken.entries()) {
        database
          .prepare('UPDATE instances SET state = ?, wakeAt = 0 WHERE id = ?')
          .run(states[at] ?? '', id);
      }
      database.close();
      const node = await fleet.restart(0);
      await eventually('all are set aside', async () => {
        const { body } = await client.call('GET', '/api/workflow?status=Suspended');
        return (body as { readonly items: readonly unknown[] }).items.length === broken.length;
      });
      for (const id of broken) {
        const reasons = node.output
          .split('\n')
          .filter((line) => line.includes(id) && line.includes('UnreadableState'));
        expect(reasons).toHaveLength(1);
        expect(reasons[0]?.length).toBeLessThan(REASON_LENGTH_MAX);
        const answer = await fetch(`${node.url}/api/workflow/${id}`);
        expect((await answer.text()).length).toBeLessThan(REASON_LENGTH_MAX);
      }
      await client.call('POST', '/api/event/go/healthy', { body: 1 });
      const ended = await client.call('GET', `/api/workflow/${healthy}?wait=60`);
      expect(ended.body).toMatchObject({ status: 'Complete' });
      expect(node.exitCode).toBeNull();
    });
  });
});

async function postScript(urls: readonly string[], { name, script }: Poison): Promise<void> {
  const answer = await fetch(`${urls[0]}/api/step/step-${name}`, {
    method: 'POST',
    headers: { 'content-type': 'text/x-python' },
    body: script ?? '',
  });
  expect(answer.status, await answer.text()).toBe(200);
}
