/**
 * Goal: the value of a secret reaches the call, and nothing else.
 * Method: marked values through every step that takes secrets and every way to fail, on every store; answers, logs and stored
 * data are searched for any eight bytes of them, also in Base64 and percent-encoded.
 */
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { SecretPage } from '../../src/api/wire/models/secret.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { useCallee } from './support/callee.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { leaksIn } from './support/leaks.js';
import { compute, step } from './support/steps.js';

const directory = mkdtempSync(join(tmpdir(), 'stepwright-secrets-'));
const put = (name: string, value: string): void => {
  // As Kubernetes does: the new file takes the place of the old one at once.
  writeFileSync(join(directory, `.${name}`), value);
  renameSync(join(directory, `.${name}`), join(directory, name));
};
const TOKEN = 'Zk93-mark/ed+s3cret?';
/** Its Base64 contains `+` and `/`; URLs write it in several ways. */
const PASSWORD = `>>>???>>> "word" ünd-m(e)h'r!`;
put('sealing-key', 'a key that is long enough');
put('TOKEN', `${TOKEN}\n`);
put('PASSWORD', PASSWORD);
put('SHORT', 'abc');

const environment = {
  secrets_dir: directory,
  secret_VARIABLE: 'value of the variable',
  secret_TOKEN: 'the file comes first',
};

interface Call {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const leaks = (text: string): readonly string[] =>
  leaksIn(text, [TOKEN, PASSWORD, 'value of the variable']);

const calls: Call[] = [];
/** Answers with what it was sent. */
const target = useCallee((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { headers, url: path = '' } = request;
    const body = Buffer.concat(chunks).toString();
    calls.push({ path, headers, body });
    response.setHeader('content-type', 'application/json');
    response.statusCode = path.startsWith('/fail') ? 500 : 200;
    response.setHeader('x-echo', encodeURIComponent(headers.authorization ?? ''));
    response.setHeader('x-uri', encodeURI(headers.authorization ?? ''));
    response.end(JSON.stringify(path.startsWith('/fail') ? { body } : { headers, path, body }));
  });
});
afterEach(() => calls.splice(0));

everyStore(
  'secrets',
  (at) => {
    const http = (Inputs: JsonObject, rest: JsonObject = {}): JsonObject =>
      step('call', 'HttpRequest', { BaseUrl: `"${target.url}"`, ...Inputs }, rest);
    const outputs = { Outputs: { answer: 'step.ResponseBody', headers: 'step.ResponseHeaders' } };
    /** Everything that the server shows of a run. */
    const shown = async (id: string): Promise<string> => {
      const paths = ['', '/steps', '/explain', '/audit', '/export', '/input'];
      const texts = await Promise.all(
        paths.map(async (path) => (await at.client.get(`/api/workflow/${id}${path}`)).text),
      );
      const others = ['/api/workflow', '/api/workflow/failures', '/api/secret', '/api/definition'];
      for (const path of others) texts.push((await at.client.get(path)).text);
      return texts.join('\n');
    };

    describe('a value', () => {
      it('reaches the callee, and comes back as its name', async () => {
        const run = await at.client.run(
          [
            http(
              {
                Resource: '"/path"',
                Method: '"POST"',
                Headers: { '@Authorization': '"Bearer " + secrets.TOKEN' },
                Parameters: { '@key': 'secrets["VARIABLE"]' },
                Body: { '@password': 'f"<{secrets.PASSWORD}>"', '@plain': 'data.plain' },
              },
              outputs,
            ),
          ],
          { plain: '***TOKEN***' },
        );
        expect(run.status).toBe('Complete');
        const [call] = calls;
        expect(call?.headers.authorization).toBe(`Bearer ${TOKEN}`);
        expect(new URL(call?.path ?? '', 'http://x').searchParams.get('key')).toBe(
          'value of the variable',
        );
        expect(JSON.parse(call?.body ?? '')).toEqual({
          password: `<${PASSWORD}>`,
          plain: '***TOKEN***',
        });
        const text = await shown(run.workflowId);
        expect(leaks(text)).toEqual([]);
        expect(text).toContain('Bearer ***TOKEN***');
        expect(text).toContain('***PASSWORD***');
        expect(JSON.stringify(run.data)).toContain('***TOKEN***');
      });

      it('authenticates by Username and Password', async () => {
        const run = await at.client.run([
          http({ Username: '"ada"', Password: 'secrets.PASSWORD' }, outputs),
        ]);
        const basic = Buffer.from(`ada:${PASSWORD}`).toString('base64');
        expect(calls[0]?.headers.authorization).toBe(`Basic ${basic}`);
        expect(leaks(await shown(run.workflowId))).toEqual([]);
      });

      it('is seen by functions as its name', async () => {
        const run = await at.client.run([
          http({
            Method: '"POST"',
            Body: {
              '@length': 'len(secrets.TOKEN)',
              '@upper': 'secrets.TOKEN.upper()',
              '@is': 'secrets.TOKEN == "***TOKEN***"',
            },
          }),
        ]);
        expect(run.status).toBe('Complete');
        expect(JSON.parse(calls[0]?.body ?? '')).toEqual({
          length: 11,
          upper: '***TOKEN***',
          is: true,
        });
      });

      it('reaches workers, and is masked in their results', async () => {
        const name = fresh('work');
        const id = await at.client.defineAndStart([
          step(
            'work',
            'Activity',
            { ActivityName: `"${name}"`, Parameters: { '@token': 'secrets.TOKEN' } },
            { Outputs: { result: 'step.Result' } },
          ),
        ]);
        const item = await at.client.work(name);
        expect(item.parameters).toEqual({ token: TOKEN });
        await at.client.succeed(item.token, { echo: `got ${TOKEN}`, [TOKEN]: 1 });
        const run = await at.client.ended(id);
        expect(run.data).toEqual({ result: { echo: 'got ***TOKEN***', '***TOKEN***': 1 } });
        expect(leaks(await shown(id))).toEqual([]);
      });

      it('reaches custom steps, and is masked in their results, output and errors', async () => {
        const name = fresh('Script');
        const source =
          'print(token)\nif fails:\n    raise ValueError("bad " + token)\necho = "x" + token\n';
        const stored = await at.client.call('POST', `/api/step/${name}`, {
          body: source,
          type: 'text/x-python',
        });
        expect(stored.status, stored.text).toBe(200);
        const Inputs = { token: 'secrets.TOKEN', fails: 'data.fails' };
        const steps = [
          step('script', name, Inputs, {
            Outputs: { echo: 'step.echo' },
            ErrorBehavior: 'Terminate',
          }),
        ];
        const good = await at.client.run(steps, { fails: false });
        expect(good.data['echo']).toBe('x***TOKEN***');
        const bad = await at.client.run(steps, { fails: true });
        expect(bad.lastError?.message).toContain('bad ***TOKEN***');
        for (const { workflowId } of [good, bad]) {
          expect(leaks(await shown(workflowId))).toEqual([]);
        }
      });

      it("isn't put into data that looks like a mark", async () => {
        const plain = `***TOKEN:${'A'.repeat(22)}***`;
        await at.client.run(
          [http({ Method: '"POST"', Body: { '@a': 'data.plain', '@b': 'secrets.SHORT' } })],
          { plain },
        );
        expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ a: plain, b: 'abc' });
      });

      it('is masked after it has changed while a worker still has the old one', async () => {
        const secret = fresh('HELD').replaceAll('-', '_');
        put(secret, 'the held value');
        const work = fresh('work');
        const id = await at.client.defineAndStart([
          step(
            'work',
            'Activity',
            { ActivityName: `"${work}"`, Parameters: `secrets.${secret}` },
            { Outputs: { echo: 'step.Result' } },
          ),
        ]);
        const item = await at.client.work(work);
        expect(item.parameters).toBe('the held value');
        put(secret, 'a newer value');
        await at.client.succeed(item.token, ['the held value', 'a newer value']);
        const run = await at.client.ended(id);
        expect(run.data['echo']).toEqual([`***${secret}***`, `***${secret}***`]);
        rmSync(join(directory, secret));
      });

      it("fails the step of a worker if it's missing, and is named", async () => {
        const secret = fresh('GONE').replaceAll('-', '_');
        put(secret, 'the only value');
        const work = fresh('work');
        const id = await at.client.defineAndStart([
          step(
            'work',
            'Activity',
            { ActivityName: `"${work}"`, Parameters: `secrets.${secret}` },
            { ErrorBehavior: 'Terminate' },
          ),
        ]);
        await at.client.untilWaiting(id, 'work');
        rmSync(join(directory, secret));
        expect((await at.client.pull(work)).status).toBe(404);
        const run = await at.client.ended(id);
        expect(run.lastError?.message).toContain(`there is no secret named ${secret}`);
      });

      it('is masked in a result that an operator reports for a worker', async () => {
        const id = await at.client.defineAndStart([
          step(
            'work',
            'Activity',
            { ActivityName: `"${fresh('work')}"` },
            {
              Outputs: { echo: 'step.Result' },
            },
          ),
        ]);
        const { executionId } = await at.client.untilWaiting(id, 'work');
        const path = `/api/workflow/${id}/steps/${executionId}/success`;
        expect((await at.client.post(path, `used ${TOKEN}`)).status).toBe(202);
        expect((await at.client.ended(id)).data['echo']).toBe('used ***TOKEN***');
      });

      it("isn't chosen by data", async () => {
        const run = await at.client.run(
          [
            http(
              { Method: '"POST"', Body: { '@x': 'secrets[data.name]', '@all': 'str(secrets)' } },
              { ErrorBehavior: 'Terminate' },
            ),
          ],
          { name: 'TOKEN' },
        );
        expect(run.status).toBe('Terminated');
        expect(calls).toEqual([]);
      });

      it("is kept as a text if it can't be joined", async () => {
        const run = await at.client.run([
          http({
            Method: '"POST"',
            Body: { '@a': '{"***TOKEN***": 1}[secrets.TOKEN]', '@b': 'secrets.TOKEN' },
          }),
        ]);
        expect(run.status).toBe('Complete');
        expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ a: 1, b: TOKEN });
      });

      it('is read at the time of the call', async () => {
        const name = fresh('ROTATED');
        put(name.replace('-', '_'), 'the first value');
        const secret = name.replace('-', '_');
        const work = fresh('work');
        await at.client.defineAndStart([
          step('work', 'Activity', { ActivityName: `"${work}"`, Parameters: `secrets.${secret}` }),
        ]);
        put(secret, 'the second value');
        await at.restart();
        expect((await at.client.work(work)).parameters).toBe('the second value');
        rmSync(join(directory, secret));
      });
    });

    describe('an expression', () => {
      it.each([
        ['Outputs', [compute('a', { x: 'secrets.TOKEN' }, { ErrorBehavior: 'Terminate' })]],
        [
          'a condition',
          [step('a', 'If', { Condition: 'secrets.TOKEN == ""' }, { ErrorBehavior: 'Terminate' })],
        ],
        [
          'EmitLog',
          [step('a', 'EmitLog', { Message: 'secrets.TOKEN' }, { ErrorBehavior: 'Terminate' })],
        ],
      ])('fails if it uses secrets in %s', async (_, steps) => {
        const run = await at.client.run(steps);
        expect(run.status).toBe('Terminated');
        expect(run.lastError?.message).toContain('secrets can be used only in the inputs of');
        expect(leaks(await shown(run.workflowId))).toEqual([]);
      });

      it('is reported if it names no secret, and fails its step', async () => {
        const steps = [
          http({ Headers: { '@X-Key': 'secrets.MISSING' } }, { ErrorBehavior: 'Terminate' }),
        ];
        const check = await at.client.post('/api/definition/validate', { Id: 'x', Steps: steps });
        expect(check.text).toContain('unknown_secret');
        const run = await at.client.run(steps);
        expect(run.lastError?.message).toContain('MISSING');
        expect(calls).toEqual([]);
      });
    });

    it('lists secrets with the definitions that use them, without values', async () => {
      const id = await at.client.define([
        http({ Body: { '@a': 'secrets.TOKEN', '@b': 'secrets.NOWHERE' } }),
      ]);
      const { body, text } = await at.client.get<SecretPage>('/api/secret');
      const find = (name: string) => body.items.find((each) => each.name === name);
      expect(find('TOKEN')).toMatchObject({
        missing: false,
        definitions: expect.arrayContaining([id]) as string[],
      });
      expect(find('NOWHERE')).toMatchObject({ missing: true });
      expect(find('VARIABLE')).toMatchObject({ missing: false });
      expect(body.items.map(({ name }) => name)).not.toContain('sealing-key');
      expect(leaks(text)).toEqual([]);
    });

    it('hides secrets in the error of a call without a response', async () => {
      const run = await at.client.run([
        http(
          { BaseUrl: '"http://127.0.0.1:1/" + secrets.TOKEN', SucceedOn: '["2xx"]' },
          { ErrorBehavior: 'Terminate' },
        ),
      ]);
      expect(run.status).toBe('Terminated');
      expect(leaks(await shown(run.workflowId))).toEqual([]);
    });

    it('hides a secret host name in the error of a call to it, however short it is', async () => {
      put('HOST', 'Kx7-QzW9vPm');
      const run = await at.client.run([
        http(
          { BaseUrl: '"http://" + secrets.HOST + ".invalid/"', SucceedOn: '["2xx"]' },
          { ErrorBehavior: 'Terminate' },
        ),
      ]);
      expect(run.status).toBe('Terminated');
      const said = (await shown(run.workflowId)) + JSON.stringify(at.server.logLines);
      expect(said.toLowerCase()).not.toContain('kx7-qzw9vpm');
    });

    it('reveals nothing about a mark to an expression that reverses it', async () => {
      const run = await at.client.run([
        http({ Method: '"POST"', Body: { '@text': 'secrets.TOKEN + "|" + secrets.TOKEN[::-1]' } }),
      ]);
      const { text } = JSON.parse(calls[0]?.body ?? '{}') as { text: string };
      const [, seen = ''] = text.split(`${TOKEN}|`);
      const forged = Array.from(seen).reverse().join('');
      expect(forged).toMatch(/^\*\*\*TOKEN:[\w-]{22}\*\*\*$/);
      await at.client.run(
        [http({ Method: '"POST"', Body: { '@a': 'data.forged', '@b': 'secrets.SHORT' } })],
        { forged },
      );
      expect(JSON.parse(calls[1]?.body ?? '')).toEqual({ a: forged, b: 'abc' });
      expect(leaks(await shown(run.workflowId))).toEqual([]);
    });

    it('keeps secrets out of the log', () => {
      expect(at.server.logLines.length).toBeGreaterThan(0);
      expect(leaks(JSON.stringify(at.server.logLines))).toEqual([]);
    });

    it('keeps secrets out of the files of the store', () => {
      const { directory: files = null } = at.store;
      if (files === null) return;
      const texts = readdirSync(files).map((name) => readFileSync(join(files, name), 'latin1'));
      expect(texts.join('').length).toBeGreaterThan(100_000);
      expect(leaks(texts.join('\n'))).toEqual([]);
    });

    it('keeps secrets out of the environment of expressions', async () => {
      const run: Workflow = await at.client.run([compute('a', { keys: 'str(dict(environment))' })]);
      expect(leaks(JSON.stringify(run.data))).toEqual([]);
    });
  },
  { dialects: 'alternating', environment },
);
