/** Integers of any size and all floats are preserved exactly everywhere. Bodies are texts, compared as texts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readJson, writeJson } from '../../src/engine/values/exact-json.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { fresh, type Answer, type Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, compute, step } from './support/steps.js';

const LONG = `-${'9'.repeat(1000)}`;
const TOO_LONG = '7'.repeat(1001);

/** Everything that a parser with only one kind of number gets wrong. */
const MEMBERS: readonly (readonly [name: string, number: string, type: 'int' | 'float'])[] = [
  ['id', '12345678901234567890', 'int'],
  ['odd', '-9007199254740993', 'int'],
  ['even', '9007199254740992', 'int'],
  ['power', '10000000000000000', 'int'],
  ['long', LONG, 'int'],
  ['one', '1', 'int'],
  ['float', '1e+16', 'float'],
  ['large', '-1.2345e+20', 'float'],
  ['minus', '-0.0', 'float'],
  ['small', '1e-7', 'float'],
  ['half', '0.5', 'float'],
];
const NUMBERS = `{${MEMBERS.map(([name, number]) => `"${name}":${number}`).join(',')}}`;
const YAML_NUMBERS = MEMBERS.map(([name, number]) => `${name}: ${number}\n`).join('');
const TYPES = Object.fromEntries(MEMBERS.map(([name, , type]) => [name, type]));

const heard: string[] = [];
const callee = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    heard.push(Buffer.concat(chunks).toString());
    response.setHeader('Content-Type', 'application/json');
    response.end(`{"numbers":${NUMBERS}}`);
  });
});
let calleeUrl = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => callee.listen(0, '127.0.0.1', resolve));
  calleeUrl = `http://127.0.0.1:${(callee.address() as AddressInfo).port}`;
});
afterAll(() => {
  callee.closeAllConnections();
  callee.close();
});

async function post(client: Client, path: string, body: string, type = 'application/json') {
  return client.call<JsonObject>('POST', path, { body, type });
}

function exact(answer: Answer): JsonObject {
  expect(answer.status, answer.text).toBeLessThan(300);
  return readJson(answer.text) as JsonObject;
}

everyStore(
  'numbers',
  (at) => {
    const ended = async (id: string) => exact(await at.client.get(`/api/workflow/${id}?wait=30`));
    const startWith = async (steps: readonly JsonObject[], body: string, type?: string) => {
      const path = `/api/workflow/${await at.client.define(steps)}`;
      const answer = await post(at.client, path, body, type);
      return exact(answer)['workflowId'] as string;
    };

    it('preserves numbers in data, expressions, scripts, HTTP, activities and events', async () => {
      const script = await at.client.script(
        'same = value\nmore = value["id"] + 1\ntypes = {k: type(v).__name__ for k, v in value.items()}',
      );
      const [queue, eventName] = [fresh('queue'), fresh('event')];
      const id = await startWith(
        chain(
          compute('plain', { copy: 'data["in"]', isLarger: 'data["in"].id > data["in"].power' }),
          compute('python', {
            python: '(lambda: data["in"])()',
            types: '{k: type(v).__name__ for k, v in data["in"].items()}',
            text: 'str(data["in"].id)',
            sum: 'data["in"].id + 1',
          }),
          step(
            'script',
            script,
            { value: 'data["in"]' },
            { Outputs: { script: 'step.same', more: 'step.more', scriptTypes: 'step.types' } },
          ),
          step(
            'call',
            'HttpRequest',
            { BaseUrl: `"${calleeUrl}"`, Method: '"POST"', Body: 'data["in"]' },
            { Outputs: { http: 'step.ResponseBody["numbers"]' } },
          ),
          activity('work', queue, { Parameters: 'data["in"]' }),
          step(
            'wait',
            'WaitFor',
            { EventName: `"${eventName}"`, EventKey: 'data["in"].id' },
            { Outputs: { event: 'step.EventData' } },
          ),
        ),
        `{"in":${NUMBERS}}`,
      );
      const item = await at.client.get(`/api/activity/${queue}?timeout=30`);
      expect(item.text).toContain(NUMBERS);
      const token = exact(item)['token'] as string;
      await at.restart();
      const result = await post(at.client, `/api/activity/success/${token}`, NUMBERS);
      expect(result.status, result.text).toBe(202);
      // The key is the integer as a string, with all of its digits.
      const path = `/api/event/${eventName}/12345678901234567890`;
      const event = exact(await post(at.client, path, NUMBERS));
      const { data, status } = await ended(id);
      const numbers = readJson(NUMBERS);
      expect(status).toBe('Complete');
      expect(data).toStrictEqual({
        in: numbers,
        copy: numbers,
        isLarger: true,
        python: numbers,
        types: TYPES,
        text: '12345678901234567890',
        sum: 12345678901234567891n,
        script: numbers,
        more: 12345678901234567891n,
        scriptTypes: TYPES,
        http: numbers,
        result: numbers,
        event: numbers,
      });
      expect(heard).toContain(NUMBERS);

      const { text: steps } = await at.client.get(`/api/workflow/${id}/steps?limit=100`);
      expect(steps).toContain(NUMBERS);
      const stored = await at.client.get(`/api/event/${event['id'] as string}`);
      expect(stored.text).toContain(NUMBERS);
      const headers = { accept: 'application/yaml' };
      const yaml = await at.client.call('GET', `/api/workflow/${id}`, { headers });
      for (const version of ['1.1', '1.2'] as const) {
        const read = parse(yaml.text, { version, intAsBigInt: true }) as { data: JsonObject };
        expect(read.data['in']).toStrictEqual(
          Object.fromEntries(
            MEMBERS.map(([name, number, type]) => [
              name,
              type === 'int' ? BigInt(number) : Number(number),
            ]),
          ),
        );
      }
    });

    it.each(['application/json', 'application/yaml'])('accepts numbers as %s', async (type) => {
      const body = type.endsWith('yaml') ? YAML_NUMBERS : NUMBERS;
      const id = await startWith([compute('s', { a: 'data.id' })], body, type);
      const { data } = await ended(id);
      const numbers = readJson(NUMBERS) as JsonObject;
      expect(data).toStrictEqual({ ...numbers, a: numbers['id'] });
    });

    it('returns the same numbers after any number of round trips', async () => {
      let text = NUMBERS;
      for (let round = 0; round < 3; round += 1) {
        const { data } = await ended(await startWith([step('s', 'NoOp')], text));
        text = writeJson(data as Json);
        expect(text).toBe(NUMBERS);
      }
    });

    it('accepts numbers as literals in definitions, and compares them between requests', async () => {
      const inputs = { Value: readJson(NUMBERS) };
      const name = await at.client.script(
        'types = {k: type(v).__name__ for k, v in Value.items()}',
      );
      const definition = {
        Id: fresh('literals'),
        Steps: [step('s', name, inputs, { Outputs: { types: 'step.types' } })],
      };
      const text = writeJson(definition);
      const headers = { 'idempotency-key': fresh('key') };
      const send = (body: string) =>
        at.client.call('POST', '/api/definition', { body, type: 'application/json', headers });
      expect((await send(text)).status).toBeLessThan(300);
      expect((await send(text)).status).toBeLessThan(300);
      expect(
        (await send(text.replace('12345678901234567890', '12345678901234567891'))).status,
      ).toBe(409);
      const shown = await at.client.get(`/api/definition/${definition.Id}`);
      expect(shown.text).toContain(NUMBERS);
      const id = await at.client.start(definition.Id);
      expect((await ended(id))['data']).toEqual({ types: TYPES });
    });

    describe('an integer with too many digits', () => {
      it.each([
        ['application/json', `{"a":\n [${TOO_LONG}]}`, 'line 2, column 3'],
        ['application/yaml', `a:\n  - ${TOO_LONG}\n`, 'line 2, column 5'],
        ['application/json', `{"a":${'7'.repeat(900_000)}}`, 'line 1, column 6'],
      ])('is rejected in %s, with its position', async (type, body, place) => {
        const path = `/api/workflow/${await at.client.define([step('s', 'NoOp')])}`;
        const { body: problem, status } = await post(at.client, path, body, type);
        expect(status).toBe(400);
        expect(problem['detail']).toMatch(/integer 7{40}… has more than 1000 digits/);
        expect(problem['detail']).toContain(place);
      });
    });
  },
  { dialects: 'alternating' },
);
