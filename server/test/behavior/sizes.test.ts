/** A limit applies to the size of a value in bytes of UTF-8, whatever the characters, and is the same everywhere. */
import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { useCallee } from './support/callee.js';
import { fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { compute, step } from './support/steps.js';

/** Divisible by the bytes of each character; including its surroundings below the limit of a body. */
const BYTES = 1_000_008;

const CHARACTERS = ['x', 'é', '漢', '😀'];

function textOf(character: string, bytes = BYTES): string {
  return character.repeat(bytes / Buffer.byteLength(character));
}

const callee = useCallee((request, response) => {
  response.setHeader('content-type', 'application/json');
  const [, character = '', bytes] = decodeURIComponent(request.url ?? '').split('/');
  response.end(JSON.stringify(textOf(character, Number(bytes))));
});
const STOPS = { ErrorBehavior: 'Terminate' };

/** Compares the text without printing a megabyte if it differs. */
function expectText(value: unknown, text: string): void {
  expect(typeof value === 'string' ? value.length : value).toBe(text.length);
  expect(value === text).toBe(true);
}

everyStore(
  'a megabyte of text',
  (at) => {
    async function dataOf(
      steps: readonly JsonObject[],
      data: JsonObject = {},
    ): Promise<Workflow['data']> {
      const ended = await at.client.run(steps, data);
      expect(ended.lastError).toBeNull();
      return ended.data;
    }

    describe.each(CHARACTERS)('consisting of %s', (character) => {
      const text = textOf(character);
      const repeated = `"${character}" * ${BYTES / Buffer.byteLength(character)}`;

      it('is passed as data at the start, and through plain and Python expressions', async () => {
        const data = await dataOf(
          [compute('a', { plain: 'data.t', python: 'data.t[::-1]' }, STOPS)],
          { t: text },
        );
        expectText(data['t'], text);
        expectText(data['plain'], text);
        expectText(data['python'], text);
      });

      it('is passed as the data of an event', async () => {
        const name = fresh('event');
        const wait = step(
          'w',
          'WaitFor',
          { EventName: `"${name}"`, EventKey: '"k"' },
          { Outputs: { got: 'step.EventData' } },
        );
        const id = await at.client.defineAndStart([wait]);
        await at.client.untilWaiting(id, 'w');
        await at.client.publish(name, 'k', text);
        expectText((await at.client.ended(id)).data['got'], text);
      });

      it('is passed as the parameters and the result of an activity', async () => {
        const name = fresh('activity');
        const ask = step(
          'a',
          'Activity',
          { ActivityName: `"${name}"`, Parameters: repeated },
          { Outputs: { got: 'step.Result' } },
        );
        const id = await at.client.defineAndStart([ask]);
        const { token, parameters } = await at.client.work(name);
        expectText(parameters, text);
        await at.client.succeed(token, text);
        expectText((await at.client.ended(id)).data['got'], text);
      });

      it('is passed as the response to an HttpRequest', async () => {
        const path = `/${encodeURIComponent(character)}/${BYTES}`;
        const call = step(
          'h',
          'HttpRequest',
          { BaseUrl: `"${callee.url}"`, Resource: `"${path}"` },
          { Outputs: { got: 'step.ResponseBody' }, ...STOPS },
        );
        expectText((await dataOf([call]))['got'], text);
      });

      it('is passed as the input and the output of a custom step', async () => {
        const name = await at.client.script('out = given[::-1]\nfields = {"a": [out[:1000]]}');
        const run = step(
          's',
          name,
          { given: 'data.t' },
          { Outputs: { input: 'step.given', output: 'step.out' }, ...STOPS },
        );
        const data = await dataOf([run], { t: text });
        expectText(data['input'], text);
        expectText(data['output'], text);
      });
    });
  },
  { dialects: [CAMEL_JSON] },
);

everyStore(
  'a small limit',
  (at) => {
    const errorOf = async (steps: readonly JsonObject[], data: JsonObject = {}) =>
      (await at.client.run(steps, data)).lastError;
    const script = async (source: string, inputs: JsonObject = {}) =>
      step('s', await at.client.script(source), inputs, STOPS);

    describe.each(CHARACTERS)('for %s', (character) => {
      const times = (bytes: number) => bytes / Buffer.byteLength(character);
      const repeated = (bytes: number) => `"${character}" * ${times(bytes)}`;

      it('applies to an expression at the same number of bytes', async () => {
        expect(await errorOf([compute('a', { x: repeated(11_988) }, STOPS)])).toBeNull();
        expect(await errorOf([compute('a', { x: repeated(12_000) }, STOPS)])).toMatchObject({
          type: 'ResultTooLarge',
        });
        const both = (first: string) => [compute('a', { x: first, y: first }, STOPS)];
        const half = { t: character.repeat(times(5_988)) };
        for (const read of ['data.t', 'data.t[::-1]']) {
          expect(await errorOf(both(read), half), read).toBeNull();
          expect(
            await errorOf(both(read), { t: character.repeat(times(6_000)) }),
            read,
          ).toMatchObject({ type: 'ResultTooLarge' });
        }
      });

      it('applies to a script, without counting unchanged inputs', async () => {
        const t = character.repeat(times(9_996));
        const inputs = { a: '[data.t]' };
        const made = `made = ${repeated(9_996)}`;
        expect(await errorOf([await script(made, inputs)], { t })).toBeNull();
        const changing = await script(`${made}\na.append(1)`, inputs);
        expect(await errorOf([changing], { t })).toMatchObject({ type: 'ResultTooLarge' });
        const copying = await script(`${made}\nb = a`, inputs);
        expect(await errorOf([copying], { t })).toMatchObject({ type: 'ResultTooLarge' });
      });
    });

    it('distinguishes changed inputs from unchanged ones', async () => {
      const source = 'b.append(True)\nc["d"] = 1.5\ne = 1\ndel f\ng = sorted(g)';
      const inputs = {
        a: '[1]',
        b: '[1]',
        c: '{"d": 1}',
        e: 'True',
        f: '1',
        g: '[2, 1]',
        h: '{"items": [1.5, None]}',
      };
      const Outputs = {
        all: '{"a": step.a, "b": step.b, "c": step.c, "e": step.e, "g": step.g, "h": step.h, "f": "f" in step}',
      };
      const s = { ...(await script(source, inputs)), Outputs };
      const ended = await at.client.run([s]);
      expect(ended.lastError).toBeNull();
      expect(ended.data['all']).toEqual({
        a: [1],
        b: [1, true],
        c: { d: 1.5 },
        e: 1,
        g: [1, 2],
        h: { items: [1.5, null] },
        f: false,
      });
    });

    it('accepts a lone surrogate that passes through Python, whatever surrounds it', async () => {
      const outputs = {
        length: 'len(data.t + "漢")',
        t: 'data.t[::-1] + "漢"',
        two: 'chr(0xd83d) + chr(0xde00)',
      };
      const ended = await at.client.run([compute('a', outputs, STOPS)], { t: 'é\ud83d' });
      expect(ended.lastError).toBeNull();
      expect(ended.data).toEqual({ t: '\ud83dé漢', length: 3, two: '😀' });
    });
  },
  {
    dialects: [CAMEL_JSON],
    stores: ['sqlite'],
    environment: { PYTHON_RESULT_BYTES_MAX: '12000' },
    ownPython: true,
  },
);
