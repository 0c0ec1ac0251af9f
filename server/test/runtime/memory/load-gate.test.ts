/** The load gate: how many instances are loaded at once, and how long they may be together. */
import { expect, it } from 'vitest';
import { LoadGate } from '../../../src/runtime/memory/load-gate.js';

/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('admits loads by number and by size, and always at least one', async () => {
  const gate = new LoadGate({ countMax: 3, lengthMax: 100 });
  const first = await gate.enter();
  first.loaded(500);
  let admitted = 0;
  const waiting = Array.from({ length: 5 }, async () => {
    const permit = await gate.enter();
    admitted += 1;
    permit.loaded(10);
    return permit;
  });
  await settle();
  expect(admitted).toBe(0);
  first.end();
  first.end();
  await settle();
  // The next load is estimated by the longest recent one, so it runs alone.
  expect(admitted).toBe(1);
  for (const [index, permit] of waiting.entries()) {
    (await permit).end();
    await settle();
    expect(gate.underWay).toBeLessThanOrEqual(3);
    expect(admitted).toBeGreaterThan(index);
  }
  expect(gate.underWay).toBe(0);
});
