/**
 * Goal: a test sees the same failures as a server whose workers use `@stepwright/worker-sdk`.
 * Method: compares the reports of the test kit with those of the SDK, byte by byte, and counts attempts.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { ActivityFailure, InvalidDataError } from '../../../worker-sdk/src/errors.js';
import { describeFailure, isRetryable } from '../../../worker-sdk/src/failure-report.js';
import type { Json } from '../../src/engine/values/json.js';
import { reportOfFailure, reportOfMock } from '../../src/test-kit/failure-report.js';
import { createTestServer, TestPython, type Mock } from '../../src/test-kit/index.js';

const DEFINITION = `
Id: reserve
Steps:
  - Id: reserve
    StepType: Activity
    RetryInterval: PT1S
    MaxRetries: 20
    NonRetryable: [OutOfStock]
    OnRetriesExhausted: Terminate
    Inputs: { ActivityName: '"reserve-stock"' }
`;

const BY_CLASS = class OutOfStock extends ActivityFailure {};
const WITHOUT_NAME = class OutOfStock extends Error {};
const BASE = class ShopError extends Error {
  override name = 'ShopError';
};
const OF_BASE = class OutOfStock extends BASE {};
const NAMED = class SoldOut extends Error {
  override name = 'OutOfStock';
};
const NAMED_FAILURE = class SoldOut extends ActivityFailure {
  override readonly name = 'OutOfStock';
};
const TYPED = class SoldOut extends ActivityFailure {
  override readonly type = 'OutOfStock';
};

const OUT_OF_STOCK: readonly (readonly [string, unknown])[] = [
  ['an ActivityFailure with a type', new ActivityFailure('x', { type: 'OutOfStock' })],
  [
    'one with a type in its data',
    new ActivityFailure('x', { data: { type: 'OutOfStock', left: 0 } }),
  ],
  ['a subclass of ActivityFailure', new BY_CLASS('x', { data: { left: 0 } })],
  ['a subclass of ActivityFailure with a name', new NAMED_FAILURE('x', { data: { left: 0 } })],
  ['a subclass of ActivityFailure with a type', new TYPED('x', { data: { left: 0 } })],
  ['a class with a name', new NAMED('x')],
  ['a class without a name', new WITHOUT_NAME('x')],
  ['a class whose name is that of its base class', new OF_BASE('x')],
];
const OTHERS: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error('x')],
  ['a TypeError', new TypeError('x')],
  ['an abort', new DOMException('gone', 'AbortError')],
  ['an ActivityFailure', new ActivityFailure('x', { data: [1, { a: null }] })],
  ['one of another type', new ActivityFailure('x', { type: 'Declined', data: 5 })],
  ['one that is not retryable', new ActivityFailure('x', { retryable: false })],
  ['invalid data', new InvalidDataError('parameters', [{ message: 'no', path: 'a.0' }])],
  [
    'an error with data that is no failure',
    Object.assign(new Error('x'), { data: 1, retryable: false }),
  ],
  [
    'an error without a class',
    Object.setPrototypeOf(new Error('x'), Object.create(Error.prototype) as object),
  ],
  ['a text', 'just a text'],
  ['data', { code: 7 }],
  ['nothing', undefined],
];

const python = new TestPython();
afterAll(() => python.stop());

async function attemptsOf(options: { readonly thrown: unknown } | { readonly mock: Mock }) {
  const handler = (): never => {
    throw 'thrown' in options ? options.thrown : new Error('not called');
  };
  await using server = await createTestServer({
    definitions: [DEFINITION],
    python,
    ...('mock' in options
      ? { mocks: { 'reserve-stock': options.mock } }
      : { activities: { 'reserve-stock': handler } }),
  });
  const { id } = await server.start('reserve');
  await server.advance('1h');
  const { lastError, steps } = await server.run(id);
  return { attempts: steps.length, data: lastError?.data };
}

describe('a failure report of the test kit', () => {
  it.each([...OUT_OF_STOCK, ...OTHERS])('is that of the worker SDK: %s', (_name, thrown) => {
    const report = reportOfFailure(thrown);
    expect(JSON.stringify(report.data)).toBe(JSON.stringify(describeFailure(thrown)));
    expect(report.retryable).toBe(isRetryable(thrown));
  });

  it.each([
    ['x', new ActivityFailure('x')],
    [{ message: 'x' }, new ActivityFailure('x')],
    [{ message: 'x', type: 'OutOfStock' }, new ActivityFailure('x', { type: 'OutOfStock' })],
    [{ data: { left: 0 }, message: 'x' }, new ActivityFailure('x', { data: { left: 0 } })],
    [{ message: 'x', name: 'OutOfStock' }, new NAMED('x')],
  ])('equals that of a handler in the worker SDK for the mock %j', (fail, thrown) => {
    const { data } = reportOfMock(fail, true);
    expect(JSON.stringify(data)).toBe(JSON.stringify(describeFailure(thrown)));
  });

  it.each<Json>([{ code: 7, message: 'x' }, { type: 'OutOfStock' }, ['x'], null, 5])(
    'equals the mock %j, as a worker without the SDK sends it',
    (fail) => {
      expect(reportOfMock(fail, false)).toEqual({ succeeded: false, data: fail, retryable: false });
    },
  );

  it('says that a result cannot be sent', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    await using server = await createTestServer({
      definitions: [DEFINITION],
      python,
      activities: { 'reserve-stock': () => circular },
    });
    const { steps } = await server.start('reserve');
    expect(steps[0]?.error?.data).toMatchObject({ name: 'InvalidResult', data: null });
  });
});

describe('NonRetryable', () => {
  it.each(OUT_OF_STOCK)('ends the attempts for %s', async (_name, thrown) => {
    const { attempts, data } = await attemptsOf({ thrown });
    expect({ attempts, data }).toEqual({ attempts: 1, data: describeFailure(thrown) });
  });

  it('does not end the attempts for another type', async () => {
    const thrown = new ActivityFailure('x', { type: 'Declined' });
    expect(await attemptsOf({ thrown })).toMatchObject({ attempts: 21 });
  });

  it.each([
    { fail: { message: 'x', type: 'OutOfStock' }, attempts: 1 },
    { fail: { message: 'x', data: { type: 'OutOfStock' } }, attempts: 1 },
    { fail: { type: 'OutOfStock' }, attempts: 1 },
    { fail: { message: 'x', data: { left: { type: 'OutOfStock' } } }, attempts: 21 },
    { fail: 'OutOfStock', attempts: 21 },
  ])('counts $attempts attempts of the mock $fail', async ({ attempts, fail }) => {
    expect(await attemptsOf({ mock: { fail } })).toMatchObject({ attempts });
  });
});
