/** Parts of secrets: they are not at the end of texts that the server has cut, and nobody can find out by trying what they are. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { useCallee } from '../behavior/support/callee.js';
import { fresh } from '../behavior/support/client.js';
import { everyStore } from '../behavior/support/every-store.js';
import { leaksIn } from '../behavior/support/leaks.js';
import { activity, step } from '../behavior/support/steps.js';

const directory = mkdtempSync(join(tmpdir(), 'stepwright-parts-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const put = (name: string, value: string): void => writeFileSync(join(directory, name), value);
const TOKEN = 'Zk93-mark/ed+s3cret?';
const LONG = 'Qx7'.repeat(40);
/** Only its beginnings are sent, by a caller who guesses. */
const GUESSED = 'sk_live_4eC39HqLyjWDarjt';
put('sealing-key', 'a key that is long enough');
put('TOKEN', TOKEN);
put('LONG', LONG);
put('GUESSED', GUESSED);

const target = useCallee((request, response) => {
  void textOf(request).then((body) => {
    response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ body }));
  });
});

everyStore(
  'a part of a secret',
  (at) => {
    const http = (Inputs: JsonObject, rest: JsonObject = {}): JsonObject =>
      step('call', 'HttpRequest', { BaseUrl: `"${target.url}"`, ...Inputs }, rest);
    const leaks = (text: string): readonly string[] => leaksIn(text, [TOKEN, LONG]);
    const shown = async (id: string): Promise<string> =>
      (await at.client.get(`/api/workflow/${id}/export`)).text + JSON.stringify(at.server.logLines);

    it('is masked where an error has cut it', async () => {
      for (const length of [461, 466, 471]) {
        const run = await at.client.run([
          http(
            {
              Resource: '"/fail"',
              Method: '"POST"',
              Body: { '@text': `"x" * ${length} + secrets.TOKEN` },
              SucceedOn: '["2xx"]',
            },
            { ErrorBehavior: 'Terminate' },
          ),
        ]);
        expect(run.lastError?.message).toMatch(/x\*\*\*T/);
        expect(leaks(await shown(run.workflowId))).toEqual([]);
      }
    });

    it('is not quoted by the error of an input', async () => {
      const secret = fresh('LONG').replaceAll('-', '_');
      const long = 'Qx7'.repeat(40);
      put(secret, long);
      for (const Inputs of [
        { Method: 'secrets.LONG' },
        { Timeout: 'secrets.LONG' },
        { BaseUrl: '"ftp://" + secrets.LONG' },
      ]) {
        const run = await at.client.run([http(Inputs, { ErrorBehavior: 'Terminate' })]);
        expect(run.lastError?.message).toContain('the input');
        expect(leaks(await shown(run.workflowId))).toEqual([]);
      }
    });

    it('is not at the end of a text that Python has cut', async () => {
      const name = fresh('Script');
      const source = 'print("y" * count + token)\nraise ValueError("x" * count + token)\n';
      await at.client.call('POST', `/api/step/${name}`, { body: source, type: 'text/x-python' });
      for (const count of [1985, 1990, 65_520, 65_528]) {
        const Inputs = { token: 'secrets.TOKEN', count: String(count) };
        const steps = [step('script', name, Inputs, { ErrorBehavior: 'Terminate' })];
        const run = await at.client.run(steps);
        expect(run.lastError?.message).toContain('xxx');
        expect(leaks(await shown(run.workflowId))).toEqual([]);
      }
      expect(JSON.stringify(at.server.logLines)).toContain('yyy');
    });

    it('is not guessed letter by letter by a caller who sees the masks', async () => {
      const work = fresh('work');
      const id = await at.client.defineAndStart([activity('work', work)]);
      const item = await at.client.work(work);
      const guesses = [8, 12, GUESSED.length - 1].flatMap((length) => {
        const guess = GUESSED.slice(0, length);
        return [guess, `${guess}…`, `${guess}...`, `${guess}\nx`];
      });
      await at.client.succeed(item.token, guesses);
      expect((await at.client.ended(id)).data['result']).toEqual(guesses);
    });
  },
  { stores: ['memory'], dialects: 'alternating', environment: { secrets_dir: directory } },
);
