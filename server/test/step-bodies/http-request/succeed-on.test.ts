/** SucceedOn: which responses are failures, the message of the failure, and how long the server asks to wait. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { toStatusList } from '../../../src/engine/values/status-list.js';
import { retryAfterMs } from '../../../src/step-bodies/http-request/check-status.js';
import { contextOf, failureOf, useCalls, valuesOf } from '../support/call.js';

const { serve, body } = useCalls();
const HOUR_MS = 3_600_000;

describe('a list of statuses', () => {
  it.each([
    { list: ['2xx'], holds: [200, 204, 299], lacks: [199, 300, 404] },
    { list: ['2XX', 404], holds: [200, 404], lacks: [400, 405] },
    { list: [' 304 ', '5xx'], holds: [304, 503], lacks: [303, 404] },
  ])('accepts $list', ({ holds, lacks, list }) => {
    const statuses = toStatusList(list);
    if (!statuses.ok) throw new Error(statuses.message);
    expect(holds.map((status) => statuses.value.includes(status))).not.toContain(false);
    expect(lacks.map((status) => statuses.value.includes(status))).not.toContain(true);
  });

  it.each([
    [[]],
    ['2xx'],
    [200],
    [null],
    [['2x']],
    [['20x']],
    [['6xx']],
    [[99]],
    [[200.5]],
    [[null]],
    [[{}]],
    [Array.from({ length: 101 }, () => 200)],
  ])('rejects %j', (value) => {
    expect(toStatusList(value)).toMatchObject({ ok: false, message: /\[2xx, 404\]/ });
  });
});

describe('the Retry-After header', () => {
  const now = Date.UTC(2026, 10, 22, 4, 0, 0);
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['999999', 24 * HOUR_MS],
    ['Sun, 22 Nov 2026 05:00:00 GMT', HOUR_MS],
    ['Sunday, 22-Nov-26 05:00:00 GMT', HOUR_MS],
    ['Sun Nov 22 05:00:00 2026', HOUR_MS],
    ['Tue Dec  1 05:00:00 2026', 24 * HOUR_MS],
    ['Monday, 22-Nov-77 05:00:00 GMT', 0],
    ['Sunday, 22-Nov-76 05:00:00 GMT', 24 * HOUR_MS],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 24 * HOUR_MS],
    ['Mon, 30 Feb 2027 05:00:00 GMT', 0],
    ['Mon, 23 Nov 2026 24:00:00 GMT', 0],
    ['Sun, 22 Nov 2026 04:00:60 GMT', 60_000],
    ['Sun, 22 Nov 2026 03:00:00 GMT', 0],
    ['Sun, 29 Nov 2026 04:00:00 GMT', 24 * HOUR_MS],
    ['2026-11-22T05:00:00Z', 0],
    ['-5', 0],
    ['1.5', 0],
    ['9'.repeat(400), 24 * HOUR_MS],
    ['soon', 0],
    ['', 0],
    [null, 0],
  ])('is read: %j', (field, expected) => {
    expect(retryAfterMs(field === null ? [] : [field], now)).toBe(expected);
  });
});

it('takes the longest of several Retry-After fields', () => {
  expect(retryAfterMs(['7', '120', 'soon'], 0)).toBe(120_000);
});

describe('a call with SucceedOn', () => {
  const call = async (status: number, text: string, inputs = {}, headers = {}) => {
    const server = await serve((_request, response) => {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text);
    });
    const result = await body().run(
      { BaseUrl: server.url, SucceedOn: ['2xx', 404], ...inputs },
      contextOf(),
    );
    return { result, server };
  };

  it.each([200, 404])('succeeds with status %i', async (status) => {
    const { result } = await call(status, '{"a":1}');
    expect(valuesOf(result)).toMatchObject({ ResponseCode: status, ResponseBody: { a: 1 } });
  });

  it('fails for another status, with the start of the body', async () => {
    const { result, server } = await call(503, '{"error":"busy"}', {}, { 'Retry-After': '7' });
    expect(result).toEqual({
      ok: false,
      failure: {
        type: 'HttpError',
        message: `GET ${server.url} answered 503: {"error":"busy"}`,
        data: { ResponseCode: 503 },
        retryAfterMs: 7000,
      },
    });
  });

  it('names the path in its message, without the query and the values of secrets', async () => {
    const server = await serve((_request, response) => response.writeHead(402).end());
    const mask = (text: string) => text.replaceAll('hidden-value', '***TOKEN***');
    const messageOf = async (inputs: JsonObject) =>
      failureOf(
        await body().run(
          { BaseUrl: `${server.url}/v1`, SucceedOn: ['2xx'], ...inputs },
          contextOf({ mask }),
        ),
      ).message;
    const charges = { Method: 'POST', Resource: 'charges?key=a', Parameters: { key: 'b' } };
    expect(await messageOf(charges)).toBe(`POST ${server.url}/v1/charges answered 402`);
    const secret = { Resource: `hidden-value/${'x'.repeat(1000)}` };
    expect(await messageOf(secret)).toMatch(/\/v1\/\*\*\*TOKEN\*\*\*\/x{200,300}… answered 402$/);
    await server.close();
    expect(await messageOf(charges)).toMatch(/\/v1\/charges: the connection was refused/);
  });

  it('truncates the body in the message', async () => {
    const { result } = await call(500, 'x'.repeat(100_000));
    const { message } = failureOf(result);
    expect(message).toHaveLength(message.indexOf(': ') + 2 + 501);
  });

  it.each([
    [400, 'HttpClientError'],
    [422, 'HttpClientError'],
    [408, 'HttpError'],
    [429, 'HttpError'],
    [500, 'HttpError'],
    [301, 'HttpError'],
  ])('classifies status %i as %s, by whether a retry can help', async (status, type) => {
    const { result } = await call(status, '');
    expect(failureOf(result)).toMatchObject({ type, message: /answered \d+$/ });
  });

  it('fails if the response is incomplete', async () => {
    const { result } = await call(200, 'x'.repeat(3 * 1024 * 1024));
    expect(failureOf(result)).toMatchObject({ type: 'HttpError', message: /answered 200, but/ });
  });

  it('fails if there is no response', async () => {
    const refused = { BaseUrl: 'http://127.0.0.1:1', SucceedOn: ['2xx'] };
    expect(failureOf(await body().run(refused, contextOf()))).toMatchObject({
      type: 'HttpNoAnswer',
      message: /^GET http:\/\/127\.0\.0\.1:1: the connection was refused/,
    });
    const server = await serve(() => undefined);
    const hanging = { BaseUrl: server.url, SucceedOn: ['2xx'], Timeout: 0.05 };
    expect(failureOf(await body().run(hanging, contextOf()))).toMatchObject({
      type: 'HttpNoAnswer',
      message: /took longer than 50 ms/,
    });
  });

  it('is rejected if the list is empty', async () => {
    const result = await body().run({ BaseUrl: 'http://127.0.0.1:1', SucceedOn: [] }, contextOf());
    expect(failureOf(result)).toMatchObject({ type: 'InputError', message: /SucceedOn/ });
  });
});
