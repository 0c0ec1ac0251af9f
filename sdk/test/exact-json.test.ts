/** Goal: the SDK reads and writes integers of any size as bigints. Method: tables, and round trips of random values. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, parseJson, stringifyJson } from '../src/index.js';
import { HttpAnswers } from './support/http-answers.js';

const servers: HttpAnswers[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const ANSWER =
  '{"workflowId":"w","data":{"id":12345678901234567890,"text":"12345678901234567890"}}';

async function clientOf(integers?: 'number' | 'bigint') {
  const server = await HttpAnswers.start((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
  });
  servers.push(server);
  const client = createClient({
    baseUrl: server.url,
    retry: false,
    ...(integers !== undefined && { integers }),
  });
  return { client, server };
}

describe('the pair of parseJson and stringifyJson', () => {
  it.each<[text: string, value: unknown]>([
    ['12345678901234567890', 12345678901234567890n],
    ['-9007199254740992', -9007199254740992n],
    ['9007199254740991', 9007199254740991],
    ['1e+16', 1e16],
    ['-0.0', -0],
    [
      '["12345678901234567890",1234567890123456.5,0.12345678901234567]',
      ['12345678901234567890', 1234567890123456.5, 0.12345678901234567],
    ],
    [
      '{"12345678901234567890":[12345678901234567890,"\\"12345678901234567890"]}',
      { '12345678901234567890': [12345678901234567890n, '"12345678901234567890'] },
    ],
  ])('reads and writes %s', (text, value) => {
    expect(parseJson(text)).toStrictEqual(value);
    expect(parseJson(stringifyJson(value))).toStrictEqual(value);
  });

  it('preserves every value', () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.bigInt(2n ** 53n, 10n ** 40n),
        fc.bigInt(-(10n ** 40n), -(2n ** 53n)),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.maxSafeInteger(),
        fc.constantFrom(null, true, -0, 1e16, 2 ** 53),
        fc.string({ unit: 'binary' }),
        fc.bigInt().map((digits) => `"${digits}",${digits}`),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, (sent) => {
        expect(parseJson(stringifyJson(sent))).toStrictEqual(sent);
      }),
      { numRuns: 500 },
    );
  });

  it('rejects invalid JSON, like JSON.parse', () => {
    for (const text of [
      '',
      '{"a":12345678901234567890',
      '["12345678901234567890]',
      '0123456789012345678',
    ]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
    expect(stringifyJson({ a: [undefined, 1n], b: undefined }, 1)).toBe(
      '{\n "a": [\n  null,\n  1\n ]\n}',
    );
  });
});

describe('the option `integers`', () => {
  it('returns large integers as bigints with the value bigint', async () => {
    const { client } = await clientOf('bigint');
    const { data } = await client.workflows.get('w');
    expect(data).toStrictEqual({ id: 12345678901234567890n, text: '12345678901234567890' });
  });

  it('returns large integers as rounded numbers by default', async () => {
    const { client } = await clientOf();
    const { data } = await client.workflows.get('w');
    expect(data).toStrictEqual({ id: 12345678901234567000, text: '12345678901234567890' });
  });

  it.each(['number', 'bigint', undefined] as const)(
    'allows bigints to be sent, with the value %s',
    async (integers) => {
      const { client, server } = await clientOf(integers);
      await client.workflows.start('d', { id: 2n ** 64n, list: [1n] });
      expect(server.seen[0]?.body).toBe('{"id":18446744073709551616,"list":[1]}');
    },
  );

  it('rejects an invalid value', () => {
    const options = { baseUrl: 'http://127.0.0.1', integers: 'text' as 'number' };
    expect(() => createClient(options)).toThrow(
      "integers must be 'number' or 'bigint', not 'text'",
    );
  });
});
