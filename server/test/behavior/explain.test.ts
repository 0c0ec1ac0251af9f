/** GET /api/workflow/{id}/explain: every kind of wait, produced on a whole server, and its description. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import type { InstanceRecord } from '../../src/store/records/instances.js';
import type { Store } from '../../src/store/store.js';
import { NO_SIDE } from '../store/records.js';
import { fresh } from './support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore, type Surroundings } from './support/every-store.js';
import { activity, failing, step } from './support/steps.js';
import { DAY, EXPLAINED_WAITS, waitFor } from './support/explained-waits.js';

const silent = createServer(() => undefined);
let silentUrl = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});

everyStore('explain', explains, {
  dialects: 'alternating',
  environment: { http_allow_loopback: 'true' },
});

function explains(at: Surroundings): void {
  const explain = async (id: string): Promise<Explanation> => {
    const { body, status, text } = await at.client.get<Explanation>(`/api/workflow/${id}/explain`);
    expect(status, text).toBe(200);
    return body;
  };
  const until = (id: string, holds: (seen: Explanation) => boolean): Promise<Explanation> => {
    let seen: Explanation;
    const what = (): string => `the explanation changes; last seen: ${JSON.stringify(seen)}`;
    return eventually(what, async () => holds((seen = await explain(id))) && seen);
  };

  it.concurrent.for(EXPLAINED_WAITS)('describes $of', async ({ arrange, reason, summary }) => {
    const id = await arrange(at.client, silentUrl);
    const { text, ...members } = reason;
    const seen = await until(id, ({ reasons }) => text.test(reasons[0]?.text ?? ''));
    expect(seen).toMatchObject({ workflowId: id, moreReasons: 0 });
    expect(seen.reasons[0]).toMatchObject(members);
    expect(seen.summary).toContain(seen.reasons[0]!.text);
    if (summary !== undefined) expect(seen.summary).toMatch(summary);
  });

  it('says which items of a Foreach wait, and how many are open at once', async () => {
    const inputs = { Collection: "['a', 'b', 'c', 'd']", MaxParallel: 2 };
    const name = fresh('limited');
    const id = await at.client.defineAndStart([
      step('each', 'Foreach', inputs, { Do: [[activity('work', name)]] }),
    ]);
    const items = / \(and 1 more\); each: items 3 to 4 of 4 wait, at most 2 are open at once$/;
    const seen = await until(id, ({ summary }) => items.test(summary));
    expect(seen.reasons.map(({ index, kind, stepId }) => [stepId, index, kind])).toEqual([
      ['work', 0, 'activity'],
      ['work', 1, 'activity'],
    ]);
    await at.client.succeed((await at.client.work(name)).token, null);
    await until(id, ({ summary }) => summary.includes('; each: item 4 of 4 waits, at most 2 are'));
    await at.client.succeed((await at.client.work(name)).token, null);
    await until(id, ({ summary }) => !summary.includes('each: '));
  });

  it('shows how a suspended run will continue', async () => {
    const event = fresh('held');
    const name = fresh('deferred');
    const steps = [
      step('both', 'Parallel', {}, { Do: [[waitFor('ask', event)], [activity('work', name)]] }),
    ];
    const id = await at.client.defineAndStart(steps);
    await at.client.untilWaiting(id, 'ask');
    await at.client.control(id, 'suspend');
    await at.client.publish(event, '42', 1);
    expect((await at.client.pull(name)).status).toBe(404);
    const { reasons } = await explain(id);
    expect(reasons.map(({ kind }) => kind)).toEqual(['suspended', 'activity', 'scheduled']);
    expect(reasons[1]?.text).toMatch(/deferred while the run was suspended; offered again/);
    expect(reasons[2]).toMatchObject({
      stepId: 'ask',
      text: 'has its result and continues when the run is resumed',
    });
  });

  it('gives a reason for each branch, and counts branches beyond the limit', async () => {
    const name = fresh('crowd');
    const nap = step('nap', 'Delay', { Period: DAY });
    const branches = [[nap], [activity('work', name)], [failing('bad', { RetryInterval: 600 })]];
    const id = await at.client.defineAndStart([step('all', 'Parallel', {}, { Do: branches })]);
    const few = await until(id, ({ reasons }) => reasons[0]?.kind === 'retry');
    expect(few.reasons.map(({ kind }) => kind)).toEqual(['retry', 'activity', 'timer']);
    expect(few.summary).toMatch(/^bad: attempt 2 .* \(and 2 more\)$/);
    const many = await at.client.defineAndStart([
      step('each', 'Foreach', { Collection: 'list(range(70))' }, { Do: [[nap]] }),
    ]);
    const seen = await until(many, ({ moreReasons }) => moreReasons > 0);
    expect(seen.reasons).toHaveLength(50);
    expect(seen.moreReasons).toBe(20);
    expect(seen.summary).toMatch(/\(and 69 more\)$/);
  });

  it('counts waiting workers at the heartbeat', async () => {
    const name = fresh('polled');
    const id = await at.client.defineAndStart([activity('work', name)]);
    await at.client.untilWaiting(id, 'work');
    await at.client.control(id, 'suspend');
    const hangUp = new AbortController();
    const polls = [1, 2].map(() =>
      at.client
        .call('GET', `/api/activity/${name}?timeout=60`, { signal: hangUp.signal })
        .catch(() => undefined),
    );
    const seen = await until(id, ({ reasons }) => reasons[1]?.queue?.pollers === 2);
    expect(seen.reasons[1]?.kind).toBe('activity');
    hangUp.abort();
    await Promise.all(polls);
  });

  describe("a run that the server can't run", () => {
    /** A stored instance like the waiting one, except for these members. */
    const plantedInstance = async (
      changes: Partial<InstanceRecord>,
      edit: (state: Record<string, unknown>) => void = () => undefined,
    ): Promise<Explanation> => {
      const id = await at.client.defineAndStart([step('nap', 'Delay', { Period: DAY })]);
      await at.client.untilWaiting(id, 'nap');
      return withStore(at, async (store) => {
        const original = (await store.getInstance(id))!;
        const state = JSON.parse(original.state) as Record<string, unknown>;
        edit(state);
        const copy = { ...original, state: JSON.stringify(state), ...changes, id: `${id}-copy` };
        await store.insertInstance({ record: copy, side: NO_SIDE });
        return explain(copy.id);
      });
    };
    const inAnHour = Date.now() + 3_600_000;

    it('is explained as quarantined, with the reason', async () => {
      const lastError = {
        stepId: '',
        pointerId: 0,
        type: 'Poison',
        message: 'servers stopped again and again',
        traceback: null,
        data: null,
        attempt: 1,
        time: Date.now(),
      };
      const { reasons } = await plantedInstance({ status: 'Suspended', wakeAt: null }, (state) => {
        state['lastError'] = lastError;
      });
      expect(reasons[0]).toMatchObject({ kind: 'set-aside', actions: ['resume', 'terminate'] });
      expect(reasons[0]?.text).toMatch(/^quarantined by the server \d+ s ago: servers stopped/);
    });

    it.each([
      [{ state: 'rubbish' }, /its stored state cannot be read/],
      [{ schemaVersion: 99 }, /a newer version of the server wrote this run/],
    ])('is explained the same way with %j', async (changes, text) => {
      const { reasons } = await plantedInstance({ ...changes, status: 'Suspended', wakeAt: null });
      expect(reasons).toHaveLength(1);
      expect(reasons[0]).toMatchObject({
        kind: 'set-aside',
        text: expect.stringMatching(text) as string,
      });
    });

    it('is explained by the loss of its node', async () => {
      const { reasons } = await plantedInstance({ owner: 'gone', wakeAt: inAnHour }, (state) => {
        const [pointer] = state['pointers'] as Record<string, unknown>[];
        pointer!['state'] = { kind: 'effect', inputs: {} };
      });
      expect(reasons[0]).toMatchObject({ kind: 'scheduled', nodeId: 'gone' });
      expect(reasons[0]?.text).toMatch(/is due, but node gone is gone; another node/);
    });

    it('has a reason even if no step is open', async () => {
      const { reasons } = await plantedInstance({ owner: 'gone', wakeAt: inAnHour }, (state) => {
        state['pointers'] = [];
      });
      expect(reasons).toHaveLength(1);
      expect(reasons[0]).toMatchObject({ kind: 'scheduled', stepId: null });
    });
  });
}

/** The store of the server, which only the memory store does not share. */
async function withStore<Result>(
  { kind, store }: Surroundings,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const opened = store.open();
  if (kind === 'memory') return work(opened);
  await opened.start();
  try {
    return await work(opened);
  } finally {
    await opened.stop();
  }
}
