import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { REMOTE_STORES, serverOf } from '../environment/databases.js';
import { KINDS } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { inLanes } from './support/lanes.js';
import { PersistentClient } from './support/persistent-client.js';
import { chosen, scaled } from './support/random.js';
import { linkOf, TcpProxy } from './support/tcp-proxy.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

/** The duration of a commit. */
const COMMIT_MS = 150;
/** More lanes would only wait for each other. */
const RUNS_AT_A_TIME = 20;
/**
 * It is a matter of chance whether a message arrives during a commit; the test continues until one has, within this
 * limit.
 */
const ROUNDS_MAX = 10;

describe.each(REMOTE_STORES)('T-05 a message that arrives during a commit on %s', (store) => {
  it('is never lost: an event, a suspension, a termination', async ({ skip }) => {
    const server = serverOf(store) ?? skip(`this test run has no ${store}`);
    const links = await Promise.all([0, 1].map(() => TcpProxy.start(linkOf(server))));
    try {
      await withFleet({ count: 2, store, links }, async ({ fleet, random }) => {
        const client = new PersistentClient(() => fleet.urls);
        await client.call('POST', '/api/definition', { body: KINDS.waitBefore.definition });
        for (const link of links) link.delayMs = () => COMMIT_MS / 2 + random() * COMMIT_MS;
        /** The response to a termination, which remains true forever. */
        const answered = new Map<string, Instance['status']>();
        const counts = { event: 0, suspend: 0, terminate: 0 };
        const play = async (n: number): Promise<void> => {
          const name = `run-${n}`;
          const start = await client.call('POST', '/api/workflow/waitBefore', {
            body: { name },
            key: `start-${name}`,
          });
          const { workflowId } = start.body as Instance;
          const path = `/api/workflow/${workflowId}`;
          // The timer of the run is due 400 ms after its start, and the commit that follows takes a while.
          await setTimeout(300 + random() * 500);
          const what = chosen(random, ['event', 'suspend', 'terminate'] as const);
          counts[what] += 1;
          const event = { body: { value: n }, key: name };
          if (what === 'terminate') {
            const [answer] = await Promise.all([
              client.call('DELETE', path),
              client.call('POST', `/api/event/go/${name}`, event),
            ]);
            answered.set(path, (answer.body as Instance).status);
          } else {
            const { retries } = client;
            const suspend = { expected: [200, 400] };
            const stopped =
              what === 'suspend' ? client.call('PUT', `${path}/suspend`, suspend) : null;
            await client.call('POST', `/api/event/go/${name}`, event);
            // The run stays suspended, whatever commit is in progress; only a repeated call may find it resumed.
            const staysSo = (await stopped)?.status === 200 && client.retries === retries;
            const expected = staysSo ? [200] : [200, 400];
            await client.call('PUT', `${path}/resume`, { expected });
          }
          const ended = await eventually(`${name} (${what}) ends`, async () => {
            const { body } = await client.call('GET', `${path}?wait=5`);
            const instance = body as Instance;
            return ['Complete', 'Terminated'].includes(instance.status) && instance;
          });
          if (ended.status === 'Terminated') expect(what).toBe('terminate');
          else expect(ended.data).toMatchObject({ got: { value: n }, ended: true });
        };
        const lostCommits = (): Promise<number> => fleet.metric('stepwright_commits_lost_total');
        const round = scaled(60);
        let played = 0;
        do {
          const numbers = Array.from({ length: round }, (_, n) => played + n);
          await inLanes(RUNS_AT_A_TIME, numbers, play);
          played += round;
        } while ((await lostCommits()) === 0 && played < round * ROUNDS_MAX);
        for (const [path, status] of answered) {
          const { body } = await client.call('GET', path);
          expect((body as Instance).status).toBe(status);
        }
        const lost = await lostCommits();
        console.log(`T-05 ${store}`, { ...counts, commitsMadeAgain: lost });
        // A message must have arrived during a commit; otherwise the test has tested nothing.
        expect(lost).toBeGreaterThan(0);
      });
    } finally {
      await Promise.all(links.map((link) => link.close()));
    }
  });
});
