/** Debounced starts in virtual time: no sooner and no later than the period and the maximum say. */
import { afterAll, expect, it } from 'vitest';
import { createTestServer, TestPython } from '../../src/test-kit/index.js';

const REINDEX = `
Id: reindex
Steps:
  - Id: index
    StepType: NoOp
`;
const python = new TestPython();
afterAll(() => python.stop());

it('begins a period after the last start, and the maximum after the first at the latest', async () => {
  await using server = await createTestServer({ definitions: [REINDEX], python });
  const start = (n: number) =>
    server.start('reindex', { n }, { debounce: { period: '10s', key: 'k', max: '25s' } });
  const run = await start(1);
  await server.advance('9s');
  expect(await start(2)).toMatchObject({ id: run.id, status: 'Runnable' });
  await server.advance('9s');
  expect(await start(3)).toMatchObject({ id: run.id, status: 'Runnable', data: { n: 3 } });
  await server.advance('6s');
  expect(await server.run(run.id)).toMatchObject({ status: 'Runnable' });
  // 25 s after the first start, although the period ends after 28 s.
  await server.advance('1s');
  expect(await server.run(run.id)).toMatchObject({ status: 'Complete', data: { n: 3 } });
  const next = await start(4);
  expect(next.id).not.toBe(run.id);
  await server.advance('9.999s');
  expect(await server.run(next.id)).toMatchObject({ status: 'Runnable' });
  await server.advance('0.001s');
  expect(await server.run(next.id)).toMatchObject({ status: 'Complete', data: { n: 4 } });
});

it('waits ten periods at most if no maximum is given, and collects in order', async () => {
  await using server = await createTestServer({ definitions: [REINDEX], python });
  const ids = new Set<string>();
  for (let n = 0; n < 20; n += 1) {
    const { id } = await server.start('reindex', { n }, { debounce: { period: 2, data: 'list' } });
    ids.add(id);
    await server.advance('1s');
  }
  const [first, ...others] = [...ids];
  expect(others).toHaveLength(0);
  const { data, status } = await server.run(first!);
  expect(status).toBe('Complete');
  expect(data).toEqual({ items: Array.from({ length: 20 }, (_, n) => ({ n })) });
});
