import { describe, expect, it } from 'vitest';
import { KINDS } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { answerAfter } from '../../server/test/support/ledger.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

describe("T-26 a start beyond the server's capacity", () => {
  it('is rejected with Retry-After, and accepted runs end', async () => {
    const settings = { STARTS_CONCURRENT_MAX: '10' };
    await withFleet({ count: 1, store: 'sqlite', settings }, async ({ fleet, ledger }) => {
      ledger.respond = answerAfter(50);
      const { url } = fleet.node(0);
      const client = new PersistentClient(() => fleet.urls);
      await client.call('POST', '/api/definition', { body: KINDS.http.definition });
      const start = async (n: number): Promise<string | null> => {
        const response = await fetch(`${url}/api/workflow/http`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: `run-${n}`, n, ledger: ledger.url }),
        });
        const body = (await response.json()) as Instance;
        if (response.status === 201) return body.workflowId;
        expect([429, 503]).toContain(response.status);
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
        return null;
      };
      const count = scaled(500);
      const answers = await Promise.all(Array.from({ length: count }, (_, n) => start(n)));
      const accepted = answers.filter((id) => id !== null);
      const stopAt = Date.now();
      await Promise.all(
        accepted.map((id) =>
          eventually(`${id} ends`, async () => {
            const { body } = await client.call('GET', `/api/workflow/${id}?wait=5`);
            return (body as Instance).status === 'Complete';
          }),
        ),
      );
      const endedMs = Date.now() - stopAt;
      console.log('T-26', { starts: count, accepted: accepted.length, endedMs });
      expect(accepted.length).toBeGreaterThan(0);
      expect(accepted.length).toBeLessThan(count);
      expect(ledger.calls).toHaveLength(accepted.length);
      expect(await start(count)).not.toBeNull();
    });
  });
});
