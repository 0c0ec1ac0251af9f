/**
 * S-52: no eight bytes of a secret are in anything that the server says or keeps.
 *
 * Method: marked secrets in every input of every step type and in every way to fail; then every operation of the OpenAPI document
 * is called for what came of it. Step types, inputs and operations are those of the server: a new one is covered, or fails here.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { useCallee } from '../behavior/support/callee.js';
import { everyStore } from '../behavior/support/every-store.js';
import { leaksIn } from '../behavior/support/leaks.js';
import { activity, step } from '../behavior/support/steps.js';
import { callEveryOperation } from './support/every-operation.js';
import { Recorder } from './support/recorder.js';
import { secretCases } from './support/secret-cases.js';

const directory = mkdtempSync(join(tmpdir(), 'stepwright-leaks-'));
const archives = mkdtempSync(join(tmpdir(), 'stepwright-leaks-archive-'));
const SIGNING = 'a9-signing-secret-of-hooks';
/** Quotes and backslashes are written in many ways; a long one is cut in messages; a host is not case-sensitive. */
const SECRETS = {
  TOKEN: `Zk93-m"ark/ed+s3cr\\et?`,
  KEY: `-----BEGIN KEY-----\n${'MIIEvQIBADANBgkqhk/iG9w0\n'.repeat(4)}${'Zz9+'.repeat(30)}`,
  PLACE: 'Qv71Marked-Place-Secret',
};
for (const [name, value] of Object.entries(SECRETS)) writeFileSync(join(directory, name), value);
writeFileSync(join(directory, 'sealing-key'), 'a key that is long enough');

const received: string[] = [];
const callee = useCallee((request, response) => {
  void textOf(request).then((body) => {
    const { headers, url = '' } = request;
    const echo = JSON.stringify({ url, headers, body, again: JSON.stringify({ body }) });
    received.push(echo);
    answerInItsWay(url, echo, response);
  });
});

/** The path says how the call goes wrong. */
function answerInItsWay(url: string, echo: string, response: ServerResponse): void {
  const encoded = encodeURIComponent(echo).slice(0, 4000);
  const json = { 'content-type': 'application/json', 'x-echo': encoded };
  const html = echo.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const [, way = ''] = /^\/(\w*)/.exec(url) ?? [];
  const ways: Readonly<Record<string, () => void>> = {
    fail: () => response.writeHead(500, json).end(echo),
    bad: () => response.writeHead(400, json).end(echo),
    hang: () => undefined,
    broken: () => {
      response.writeHead(200, { 'content-length': echo.length + 9 }).write(echo);
      response.socket?.destroySoon();
    },
    garbage: () => response.socket?.end(`${echo}\r\n\r\n`),
    redirect: () => response.writeHead(302, { location: url }).end(),
    elsewhere: () => response.writeHead(302, { location: `ftp://x/${encoded}` }).end(),
    html: () => response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${html}</p>`),
  };
  if (Object.hasOwn(ways, way)) ways[way]?.();
  else response.writeHead(200, json).end(echo);
}

/** What notifications tell. */
const told: string[] = [];
const target = useCallee((request, response) => {
  void textOf(request).then((body) => {
    told.push(body);
    response.writeHead(body.includes('failed') ? 500 : 200).end(body);
  });
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  rmSync(archives, { recursive: true, force: true });
});

everyStore(
  'leaks',
  (at) => {
    let client: Recorder;
    let stream = '';
    const hangUp = new AbortController();
    const runs: string[] = [];

    const leaks = (text: string): readonly string[] =>
      leaksIn(text, [...Object.values(SECRETS), SIGNING]);

    it('does not happen in archives', async () => {
      const Id = 'leaks archived';
      const inputs = {
        BaseUrl: `"${callee.url}/echo"`,
        Method: '"POST"',
        Body: '[secrets.TOKEN, secrets.KEY]',
      };
      const Outputs = { all: 'step.ResponseBody' };
      await at.client.postDefinition({
        Id,
        Retention: 1,
        Steps: [step('s', 'HttpRequest', inputs, { Outputs })],
      });
      const { endTime, workflowId } = await at.client.ended(await at.client.start(Id));
      await eventually('the retention is over', () => Date.now() > Date.parse(endTime!) + 1500);
      await at.restart();
      const archived = (): string =>
        readdirSync(archives)
          .map((name) => gunzipSync(readFileSync(join(archives, name))).toString())
          .join('');
      await eventually(
        'the run is archived',
        async () => (await at.client.get(`/api/workflow/${workflowId}`)).status === 404,
      );
      expect(archived()).toContain('***TOKEN***');
      expect(leaks(archived())).toEqual([]);
    });

    describe('on a server that answers', () => {
      beforeAll(async () => {
        client = new Recorder(at.client.url);
        const response = await fetch(`${at.client.url}/api/stream`, { signal: hangUp.signal });
        void (async () => {
          for await (const chunk of response.body ?? []) stream += Buffer.from(chunk).toString();
        })().catch(() => undefined);
        const signing = `whsec_${Buffer.from(SIGNING).toString('base64')}`;
        const on = ['started', 'completed', 'failed', 'suspended', 'terminated'];
        await client.operation(
          'PUT /api/notification/{name}',
          { name: 'all' },
          { body: { url: target.url, on, secret: signing, include: 'data' } },
        );
        await client.operation(
          'PUT /api/webhook/{name}',
          { name: 'hook' },
          { body: { scheme: 'github', secret: SIGNING, start: { definitionId: 'leaks-child' } } },
        );
        await client.operation(
          'PUT /api/limit/{name}',
          { name: 'slots' },
          { body: { concurrency: 1 } },
        );
        await client.postDefinition({ Id: 'leaks-child', Steps: [{ Id: 'a', StepType: 'NoOp' }] });
        await client.postDefinition({
          Id: 'leaks-triggered',
          Triggers: [{ Name: 'main', Cron: '0 3 1 1 *' }],
          Steps: [{ Id: 'a', StepType: 'NoOp' }],
        });
      });
      afterAll(() => hangUp.abort());

      it('does not happen while every step type gets secrets and fails in every way', async () => {
        const cases = await secretCases(callee.url, (source) => client.script(source));
        let refused = 0;
        for (const { data = {}, name, steps } of cases) {
          const Id = `leaks ${name}`;
          const { status } = await client.postDefinition({ Id, Steps: [...steps] });
          if (status === 201) runs.push(await client.start(Id, data));
          else refused += 1;
        }
        // Nearly all definitions are accepted, so that their steps run.
        expect(refused).toBeLessThan(5);
        for (const run of runs) {
          await client.untilWorkflow(
            run,
            ({ endTime, status }) => endTime !== null || status === 'Suspended',
          );
        }
        for (const value of [SECRETS.TOKEN, SECRETS.KEY]) {
          expect(
            leaksIn(received.join('\n').replaceAll('\\', ''), [value.replaceAll('\\', '')]).length,
          ).toBeGreaterThan(0);
        }
      });

      it('does not happen with the answers of workers and operators', async () => {
        const inputs = { Parameters: { '@token': 'secrets.TOKEN', '@key': 'secrets.KEY' } };
        const rest = { ErrorBehavior: 'Terminate' };
        await client.postDefinition({
          Id: 'leaks work',
          Steps: [activity('work', 'leaky', inputs, rest)],
        });
        const start = async (): Promise<string> => {
          const run = await client.start('leaks work');
          runs.push(run);
          return run;
        };
        const said = [
          SECRETS.TOKEN,
          { [SECRETS.KEY]: JSON.stringify(SECRETS) },
          Buffer.from(SECRETS.KEY).toString('base64'),
        ];
        for (const end of ['success', 'fail'] as const) {
          const run = await start();
          client.called.add('GET /api/activity/{id}');
          const { parameters, token } = await client.work('leaky');
          expect(parameters).toEqual({ token: SECRETS.TOKEN, key: SECRETS.KEY });
          await client.operation('PUT /api/activity/{token}/heartbeat', { token });
          await client.operation('GET /api/activity/{id}/queue', { id: 'leaky' });
          await client.operation('DELETE /api/activity/{id}', { id: token });
          const again = await client.work('leaky');
          await client.operation(
            `POST /api/activity/${end}/{token}`,
            { token: again.token },
            { body: said },
          );
          await client.ended(run);
          const other = await start();
          const { executionId } = await client.untilWaiting(other, 'work');
          const values = { id: other, executionId: String(executionId) };
          await client.operation(`POST /api/workflow/{id}/steps/{executionId}/${end}`, values, {
            body: said,
          });
          await client.ended(other);
        }
      });

      it('does not happen in the answers of any operation', async () => {
        await callEveryOperation(client, {
          runs,
          triggered: 'leaks-triggered',
          activity: 'leaky',
          calleeUrl: callee.url,
          told: () => told.length,
        });
        for (const answer of client.answers)
          expect(leaks(answer), answer.slice(0, 200)).toEqual([]);
        expect(client.answers.join('\n')).toContain('***TOKEN***');
      });

      it('does not happen in notifications and streams', () => {
        expect(leaks(told.join('\n'))).toEqual([]);
        expect(told.join('\n')).toContain('***TOKEN***');
        expect(stream).toContain('event: ');
        expect(leaks(stream)).toEqual([]);
      });

      it('does not happen in the log and in the files of the store', () => {
        expect(leaks(JSON.stringify(at.server.logLines))).toEqual([]);
        const files = at.store.directory;
        if (files === undefined) return;
        const texts = readdirSync(files).map((name) => readFileSync(join(files, name), 'latin1'));
        expect(texts.join('').length).toBeGreaterThan(100_000);
        expect(leaks(texts.join('\n'))).toEqual([]);
      });
    });
  },
  {
    // In YAML on SQLite, in JSON on the others.
    ...(!IS_NIGHTLY && { stores: ['memory', 'sqlite'] }),
    dialects: 'alternating',
    environment: {
      secrets_dir: directory,
      archive_dir: archives,
      http_allow_loopback: 'true',
      log_level: 'trace',
    },
  },
);
