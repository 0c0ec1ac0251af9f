/** Goal: a node takes an instance of another one only while nobody works on it (R15). */
import { describe, expect, it } from 'vitest';
import {
  InstanceLoader,
  type InstanceLoaderOptions,
} from '../../../src/runtime/instances/instance-loader.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { commitOf, instanceOf, NO_SIDE } from '../../store/records.js';

async function scene() {
  const store = createMemoryStore();
  const hints: string[] = [];
  // What `take` doesn't use is left out.
  const loader = new InstanceLoader({
    environment: { store },
    nodes: { id: 'me' },
    hintOwner: (id: string) => hints.push(id),
  } as unknown as InstanceLoaderOptions);
  const record = instanceOf('i', { owner: 'other' });
  await store.insertInstance({ record, side: NO_SIDE });
  await store.postMessages([{ instanceId: 'i', message: { id: 'm', body: '{}' } }]);
  const stored = async () => (await store.getInstance('i')) ?? record;
  return { hints, loader, store, stored };
}

describe('taking an instance to which a message was added', () => {
  it('takes it while its owner has not begun', async () => {
    const { hints, loader, stored } = await scene();
    expect(await loader.take('i', 1)).toMatchObject({ owner: 'me', epoch: 2 });
    expect(await stored()).toMatchObject({ owner: 'me', epoch: 2 });
    expect(hints).toEqual([]);
  });

  it('leaves it to its owner, whose effects would be repeated, once that has begun', async () => {
    const { hints, loader, store, stored } = await scene();
    await store.commitInstance(commitOf(await stored(), { underWay: true }));
    expect(await loader.take('i', 1)).toBeNull();
    expect(await stored()).toMatchObject({ owner: 'other', epoch: 1 });
    expect(hints).toEqual(['i']);
  });
});
