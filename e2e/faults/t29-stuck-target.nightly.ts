import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { check } from './support/checker.js';
import { definition } from './support/definitions.js';
import { Ledger } from '../../server/test/support/ledger.js';
import { megabytesOf } from './support/megabytes.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import { Workload } from './support/workload.js';
import type { Instance } from './support/wire.js';

/** For targets that never respond; the endless response must reach its size limit, even on a busy machine. */
const TIMEOUT_SECONDS = 5;
const LONG_TIMEOUT_SECONDS = 300;
const ENDS_MS_MAX = 400_000;
const MEGABYTE = 1024 * 1024;
const HUGE_MEGABYTES = 100;
/** All huge responses together would be a gigabyte. */
const MEGABYTES_MAX = 600;

/** What a target may do to a caller, and what its step reports about it. */
const MISBEHAVIORS: Readonly<
  Record<string, { respond: (to: ServerResponse) => void; why: RegExp }>
> = {
  silent: { respond: () => undefined, why: /time|took/i },
  trickling: {
    respond: (response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100000' });
      const drip = setInterval(() => response.write('x'), 1000);
      response.once('close', () => clearInterval(drip));
    },
    why: /time|took/i,
  },
  huge: { respond: sendHugeBody, why: /larger than/ },
};

const STUCK = definition('stuck', [
  {
    Id: 'call',
    StepType: 'HttpRequest',
    Inputs: { BaseUrl: 'data.target', Resource: '"/" + data.misbehavior', Timeout: 'data.timeout' },
    Outputs: { why: 'step.ErrorMessage', isFine: 'step.IsSuccessful' },
  },
]);

/** As fast as the caller reads. */
function sendHugeBody(response: ServerResponse): void {
  const megabyte = Buffer.alloc(MEGABYTE, 'x');
  let left = HUGE_MEGABYTES;
  const send = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(megabyte)) return void response.once('drain', send);
    }
    response.end();
  };
  response.writeHead(200, { 'content-type': 'text/plain' });
  send();
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-29 a target that is slow, hanging or endless on $store',
  ({ store }) => {
    it('makes only its own runs time out, and does not affect others', async () => {
      const target = await Ledger.start();
      target.respond = ({ path }, response) => MISBEHAVIORS[path.slice(1)]?.respond(response);
      try {
        await withFleet({ count: 2, store }, async ({ fleet, ledger, random }) => {
          const workload = new Workload({ urls: () => fleet.urls, ledger, random });
          await workload.begin();
          const { client } = workload;
          await client.call('POST', '/api/definition', { body: STUCK });
          const healthy = workload.start(scaled(60), 8);
          const misbehaviors = Object.entries(MISBEHAVIORS).flatMap((misbehavior) =>
            Array.from({ length: scaled(10) }, () => misbehavior),
          );
          let megabytes = 0;
          const ends = misbehaviors.map(async ([misbehavior, { why }]) => {
            const timeout = misbehavior === 'huge' ? LONG_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
            const body = { misbehavior, timeout, target: target.url };
            const start = await client.call('POST', '/api/workflow/stuck', { body });
            const { workflowId } = start.body as Instance;
            const { data, status } = await untilEnded(client, workflowId, ENDS_MS_MAX);
            megabytes = Math.max(megabytes, ...(await megabytesOf(fleet)));
            expect(status).toBe('Complete');
            // The received part is a result; the message says that it is incomplete.
            expect(String(data['why']), misbehavior).toMatch(why);
          });
          await Promise.all(ends);
          await healthy;
          const verdict = await check(workload, ledger, fleet);
          await workload.end();
          console.log(`T-29 ${store}`, {
            stuck: misbehaviors.length,
            calls: target.calls.length,
            runs: verdict.runs,
            megabytes,
          });
          expect(verdict.violations).toEqual([]);
          expect(verdict.repeatedCalls).toEqual([]);
          expect(target.calls).toHaveLength(misbehaviors.length);
          expect(megabytes).toBeLessThan(MEGABYTES_MAX);
        });
      } finally {
        await target.stop();
      }
    });
  },
);
