/** The turns of instances: limited, in rotation, and all of them for one instance on trial. */
import { expect, it } from 'vitest';
import { WorkTurns } from '../../../src/runtime/instances/work-turns.js';

/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('gives all turns to one instance once no other has one, while the others wait', async () => {
  const turns = new WorkTurns(2);
  const order: string[] = [];
  const endFirst = await turns.take('a', 'a');
  const alone = turns.takeAll('suspect').then((end) => {
    order.push('suspect');
    return end;
  });
  const later = turns.take('b', 'b').then((end) => {
    order.push('b');
    return end;
  });
  await settle();
  expect(order).toEqual([]);
  endFirst();
  const endAlone = await alone;
  // Its own turns are part of the ones that it has.
  (await turns.take('suspect', 'suspect'))();
  await settle();
  expect(order).toEqual(['suspect']);
  endAlone();
  endAlone();
  (await later)();
  expect(order).toEqual(['suspect', 'b']);
});

it('lets other instances have a turn between two that work alone', async () => {
  const turns = new WorkTurns(1);
  const order: string[] = [];
  const endFirst = await turns.take('first', 'first');
  const takeAll = async (id: string): Promise<void> => {
    const end = await turns.takeAll(id);
    order.push(id);
    end();
  };
  const take = async (id: string): Promise<void> => {
    const end = await turns.take(id, id);
    order.push(id);
    end();
  };
  const all = [takeAll('one'), takeAll('two'), take('a'), take('b'), take('c')];
  endFirst();
  await Promise.all(all);
  expect(order).toEqual(['one', 'a', 'b', 'c', 'two']);
});

it('serves the roots in rotation, in order within each root', async () => {
  const turns = new WorkTurns(1);
  const order: string[] = [];
  const end = await turns.take('first', 'first');
  const take = async (id: string, root: string): Promise<void> => {
    const endTurn = await turns.take(root, id);
    order.push(id);
    endTurn();
  };
  const forked = Array.from({ length: 1000 }, (_, n) => take(`bomb ${n}`, 'bomb'));
  const others = [take('healthy 0', 'healthy'), take('healthy 1', 'healthy'), take('lone', 'lone')];
  expect(turns.waiting).toBe(1003);
  end();
  await Promise.all([...forked, ...others]);
  expect(turns.waiting).toBe(0);
  expect(order.slice(0, 5)).toEqual(['bomb 0', 'healthy 0', 'lone', 'bomb 1', 'healthy 1']);
  expect(order.slice(5)).toEqual(Array.from({ length: 998 }, (_, n) => `bomb ${n + 2}`));
});

it('gives a root that requests turns all the time no more of them than another', async () => {
  const turns = new WorkTurns(1);
  const served: string[] = [];
  const end = await turns.take('first', 'first');
  const takeRepeatedly = async (root: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const endTurn = await turns.take(root, root);
      served.push(root);
      endTurn();
    }
  };
  const all = [takeRepeatedly('a', 10), takeRepeatedly('b', 10)];
  end();
  await Promise.all(all);
  expect(served).toEqual(Array.from({ length: 10 }, () => ['a', 'b']).flat());
});
