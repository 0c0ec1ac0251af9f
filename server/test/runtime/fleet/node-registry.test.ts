/** Which nodes are presumed dead: a node that was merely unknown is not. */
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { NodeRegistry } from '../../../src/runtime/fleet/node-registry.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { NodeRecord } from '../../../src/store/records/nodes.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';

const LEASE_MS = 3000;

function scene() {
  const clock = new ManualClock();
  let readings = 0;
  let left = 0;
  const gone = new Set<string>();
  const askedFor: string[] = [];
  const store = observeStore(createMemoryStore(), {
    before: ({ name }) => {
      if (name === 'listNodes') readings += 1;
      return undefined;
    },
  });
  const self = { id: 'self', url: '', version: '1', hostname: 'here', pid: 1 };
  const registry = new NodeRegistry({
    self,
    store,
    clock,
    logger: createLogger({ level: 'silent' }),
    beatIntervalMs: 1000,
    leaseMs: LEASE_MS,
    onBeat: () => undefined,
    onRead: () => undefined,
    onDead: () => Promise.resolve(),
    onLeft: () => void (left += 1),
    hasUnfinishedWork: () => false,
    processIsGone: ({ id }) => {
      askedFor.push(id);
      return gone.has(id);
    },
    details: () => '{}',
  });
  const other = (id: string, beatAt: number): NodeRecord => ({
    ...self,
    id,
    hostname: 'elsewhere',
    beatAt,
    details: '{}',
  });
  return {
    askedFor,
    clock,
    gone,
    other,
    registry,
    store,
    readings: () => readings,
    left: () => left,
  };
}

describe('the process of a node on this machine', () => {
  it('is asked about once for many looks at the same moment', async () => {
    const { askedFor, clock, other, registry, store } = scene();
    await store.putNode(other('near', clock.now()));
    await registry.start();
    askedFor.length = 0;
    for (let look = 0; look < 1000; look += 1) expect(registry.isAlive('near')).toBe(true);
    expect(askedFor.length).toBeLessThanOrEqual(1);
    await registry.stop();
  });

  it('is asked about again a moment later', async () => {
    const { clock, gone, other, registry, store } = scene();
    await store.putNode(other('near', clock.now()));
    await registry.start();
    expect(registry.isAlive('near')).toBe(true);
    gone.add('near');
    clock.advance(100);
    expect(registry.isAlive('near')).toBe(false);
    await registry.stop();
  });
});

describe('a node that has stopped', () => {
  it('is reported once, unlike one that is dead', async () => {
    const { clock, left, other, registry, store } = scene();
    for (const id of ['stops', 'dies']) await store.putNode(other(id, clock.now()));
    await registry.start();
    await store.removeNode('stops');
    await eventually('it is reported', async () => {
      clock.advance(1000);
      await store.putNode(other('dies', clock.now()));
      return left() === 1;
    });
    clock.advance(10 * LEASE_MS);
    await eventually('the other one is dead', () => !registry.isAlive('dies'));
    expect(left()).toBe(1);
    await registry.stop();
  });
});

describe('the record of a node that stops', () => {
  it('is removed if there is no other node', async () => {
    const { registry, store } = scene();
    await registry.start();
    await registry.stop();
    expect(await store.listNodes()).toEqual([]);
  });

  it('is removed once all others must have read it', async () => {
    const { clock, other, registry, store } = scene();
    await registry.start();
    await store.putNode(other('other', clock.now() + 60_000));
    clock.advance(4000);
    await registry.stop();
    expect(await store.listNodes()).toMatchObject([{ id: 'other' }]);
  });

  it('remains as that of a dead node if another one may not have read it', async () => {
    const { clock, other, registry, store } = scene();
    await registry.start();
    await store.putNode(other('other', clock.now()));
    await registry.stop();
    const [own] = (await store.listNodes()).filter(({ id }) => id === 'self');
    expect(own?.beatAt).toBeLessThan(clock.now() - LEASE_MS);
  });
});

describe('a node that owns an instance', () => {
  it('is not presumed dead if it started after the nodes were last read', async () => {
    const { clock, other, registry, store } = scene();
    await registry.start();
    await store.putNode(other('late', clock.now()));
    expect(registry.isAlive('late')).toBe(false);
    expect(await registry.isGone('late')).toBe(false);
    expect(registry.isAlive('late')).toBe(true);
    await registry.stop();
  });

  it('is presumed dead if it has no record, or if its heartbeat is older than the lease', async () => {
    const { clock, other, registry, store } = scene();
    await registry.start();
    await store.putNode(other('silent', clock.now() - LEASE_MS - 1));
    expect(await registry.isGone('silent')).toBe(true);
    expect(await registry.isGone('unheard-of')).toBe(true);
    await registry.stop();
  });

  it('is looked up with one read for all concurrent callers, and without a read if it is known', async () => {
    const { clock, other, readings, registry, store } = scene();
    await store.putNode(other('known', clock.now()));
    await registry.start();
    const before = readings();
    const answers = await Promise.all([
      ...Array.from({ length: 500 }, (_, index) => registry.isGone(`unheard-of-${index}`)),
      registry.isGone('known'),
    ]);
    expect(answers).toEqual([...Array.from({ length: 500 }, () => true), false]);
    expect(readings() - before).toBe(1);
    await registry.stop();
  });

  it('is looked up again after a failed read', async () => {
    const { clock, other, registry, store } = scene();
    await registry.start();
    await store.putNode(other('late', clock.now()));
    const listNodes = store.listNodes.bind(store);
    store.listNodes = () => Promise.reject(new Error('the store is away'));
    await expect(registry.isGone('late')).rejects.toThrow('the store is away');
    store.listNodes = listNodes;
    expect(await registry.isGone('late')).toBe(false);
    await registry.stop();
  });
});
