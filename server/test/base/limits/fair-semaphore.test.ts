/** Permits: limited, in turn, and all of them for one instance on trial. */
import { expect, it } from 'vitest';
import { LoadGate } from '../../../src/runtime/memory/load-gate.js';
import { FairSemaphore } from '../../../src/base/limits/fair-semaphore.js';

/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('gives all permits to one instance once no other holds one, while the others wait', async () => {
  const permits = new FairSemaphore(2);
  const order: string[] = [];
  const endFirst = await permits.acquire('a', 'a');
  const alone = permits.acquireAll('suspect').then((end) => {
    order.push('suspect');
    return end;
  });
  const later = permits.acquire('b', 'b').then((end) => {
    order.push('b');
    return end;
  });
  await settle();
  expect(order).toEqual([]);
  endFirst();
  const endAlone = await alone;
  // Its own turns are part of the ones that it holds.
  (await permits.acquire('suspect', 'suspect'))();
  await settle();
  expect(order).toEqual(['suspect']);
  endAlone();
  (await later)();
  expect(order).toEqual(['suspect', 'b']);
});

it('lets other instances have theirs between two calls of takeAll', async () => {
  const permits = new FairSemaphore(1);
  const order: string[] = [];
  const endFirst = await permits.acquireAll('one');
  const second = permits.acquireAll('two').then((end) => {
    order.push('two');
    end();
  });
  const other = permits.acquire('b', 'b').then((end) => {
    order.push('b');
    end();
  });
  endFirst();
  await Promise.all([second, other]);
  expect(order).toEqual(['b', 'two']);
});

it('admits loads by number and by size, and always at least one, through the load gate', async () => {
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

it('serves the roots in rotation, in order within each root', async () => {
  const permits = new FairSemaphore(1);
  const order: string[] = [];
  const end = await permits.acquire('first', 'first');
  const take = async (id: string, root: string): Promise<void> => {
    const endTurn = await permits.acquire(root, id);
    order.push(id);
    endTurn();
  };
  const forked = Array.from({ length: 1000 }, (_, n) => take(`bomb ${n}`, 'bomb'));
  const others = [take('healthy 0', 'healthy'), take('healthy 1', 'healthy'), take('lone', 'lone')];
  expect(permits.waiting).toBe(1003);
  end();
  await Promise.all([...forked, ...others]);
  expect(permits.waiting).toBe(0);
  expect(order.slice(0, 5)).toEqual(['bomb 0', 'healthy 0', 'lone', 'bomb 1', 'healthy 1']);
  expect(order.slice(5)).toEqual(Array.from({ length: 998 }, (_, n) => `bomb ${n + 2}`));
});

it('gives a root that requests permits all the time no more of them than another', async () => {
  const permits = new FairSemaphore(1);
  const served: string[] = [];
  const end = await permits.acquire('first', 'first');
  const takeRepeatedly = async (root: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const endTurn = await permits.acquire(root, root);
      served.push(root);
      endTurn();
    }
  };
  const all = [takeRepeatedly('a', 10), takeRepeatedly('b', 10)];
  end();
  await Promise.all(all);
  expect(served).toEqual(Array.from({ length: 10 }, () => ['a', 'b']).flat());
});
