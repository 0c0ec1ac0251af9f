/**
 * Hints between nodes over a real Redis in a container, which is also paused and fed with garbage. The tests wait for
 * received hints, with vitest's deadline.
 */
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import type { Hint, ChangedInstance } from '../../src/backplane/backplane.js';
import { readHint, writeHint } from '../../src/backplane/hint-codec.js';
import {
  createRedisBackplane,
  type RedisBackplane,
} from '../../src/backplane/redis/redis-backplane.js';
import { createLogger } from '../../src/base/logger.js';
import { startRedis } from '../support/redis-container.js';

const redis = await startRedis();
const logger = createLogger({ level: 'silent' });
const running: RedisBackplane[] = [];

afterAll(async () => {
  await Promise.all(running.map((backplane) => backplane.stop()));
  await redis?.stop();
});

async function node(
  nodeId: string,
  channel = 'test',
): Promise<{ backplane: RedisBackplane; heard: Hint[] }> {
  const backplane = createRedisBackplane({ url: redis?.url ?? '', channel, nodeId, logger });
  running.push(backplane);
  const heard: Hint[] = [];
  backplane.subscribe((hint) => heard.push(hint));
  await backplane.start();
  await expect.poll(() => backplane.healthy).toBe(true);
  return { backplane, heard };
}

describe.skipIf(redis === null)('the Redis backplane', () => {
  it('delivers every kind of hint to the other nodes, and not to the sender', async () => {
    const a = await node('a');
    const b = await node('b');
    const hints: Hint[] = [
      { kind: 'instance', id: 'i' },
      { kind: 'activity', name: 'n' },
      { kind: 'definition', id: 'd' },
      { kind: 'step', name: 's' },
      { kind: 'limit', name: 'l' },
      { kind: 'ended', id: 'e' },
      { kind: 'interest' },
      { kind: 'notifications' },
      { kind: 'changes', changes: { workflows: [], definitions: [], lagged: true } },
    ];
    for (const hint of hints) a.backplane.publish(hint);
    await expect.poll(() => b.heard).toEqual(hints);
    expect(a.heard).toEqual([]);
  });

  it('separates the nodes of different stores', async () => {
    const a = await node('a', 'one');
    const same = await node('b', 'one');
    const other = await node('c', 'other');
    a.backplane.publish({ kind: 'ended', id: 'x' });
    await expect.poll(() => same.heard).toHaveLength(1);
    expect(other.heard).toEqual([]);
  });

  it('ignores and counts invalid hints', async () => {
    const a = await node('a', 'garbage');
    const forger = new Redis(redis?.url ?? '');
    const garbage = [
      '',
      'null',
      '{',
      '{"sender":1,"hint":{"kind":"ended","id":"x"}}',
      '{"sender":"x","hint":{"kind":"run","id":"x"}}',
      '{"sender":"x","hint":{"kind":"ended","id":{"$gt":""}}}',
      `{"sender":"x","hint":{"kind":"ended","id":"${'x'.repeat(5000)}"}}`,
    ];
    for (const text of garbage) await forger.publish('garbage', text);
    await forger.publish(
      'garbage',
      writeHint({ sender: 'x', hint: { kind: 'ended', id: 'last' } }),
    );
    await expect.poll(() => a.heard).toEqual([{ kind: 'ended', id: 'last' }]);
    expect(a.backplane.ignored).toBe(garbage.length);
    forger.disconnect();
  });

  it('recovers after its connections were cut', { timeout: 60_000 }, async (context) => {
    const container = redis?.container ?? null;
    if (container === null) context.skip();
    const own = await startRedis();
    if (own?.container == null) throw new Error('the Redis container is missing');
    const make = (nodeId: string): RedisBackplane =>
      createRedisBackplane({ url: own.url, channel: 'r', nodeId, logger });
    const [a, b] = [make('a'), make('b')];
    running.push(a, b);
    const heard: Hint[] = [];
    b.subscribe((hint) => heard.push(hint));
    await Promise.all([a.start(), b.start()]);
    const admin = new Redis(own.url, { lazyConnect: true, retryStrategy: () => null });
    await admin.connect();
    // The server cuts the connections of both nodes; it keeps running, so that its port does not change.
    await expect.poll(() => a.healthy && b.healthy).toBe(true);
    // A node reconnects within moments, so the test cuts until a hint has come in between.
    const cutAndPublish = async (): Promise<number> => {
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      a.publish({ kind: 'ended', id: 'lost' });
      return a.dropped;
    };
    await expect.poll(cutAndPublish).toBeGreaterThan(0);
    await expect.poll(() => a.healthy && b.healthy).toBe(true);
    a.publish({ kind: 'ended', id: 'after' });
    await expect.poll(() => heard).toContainEqual({ kind: 'ended', id: 'after' });
    admin.disconnect();
    await own.stop();
  });
});

describe('a node without its Redis', () => {
  it('starts anyway, reports that it cannot be reached, and drops hints', async () => {
    const backplane = createRedisBackplane({
      url: 'redis://127.0.0.1:1',
      channel: 'x',
      nodeId: 'n',
      logger,
    });
    await backplane.start();
    expect(backplane.healthy).toBe(false);
    backplane.publish({ kind: 'ended', id: 'x' });
    expect(backplane.dropped).toBe(1);
    await backplane.stop();
    await backplane.stop();
  });
});

describe('readHint', () => {
  const workflow: ChangedInstance = {
    id: 'w',
    definitionId: 'd',
    version: 1,
    reference: null,
    status: 'Suspended',
    outcome: null,
    parent: { workflowId: 'starter' },
    startTime: 1,
    endTime: null,
    lastChangeTime: 2,
    failureTime: 2,
    failingSince: 1,
  };
  const definition = { id: 'd', version: 1 };
  const changes = { workflows: [workflow], definitions: [definition], lagged: false };

  it.each<Hint>([
    { kind: 'activity', name: 'ä"\n' },
    { kind: 'interest' },
    { kind: 'changes', changes },
    {
      kind: 'changes',
      changes: { ...changes, workflows: [{ ...workflow, reference: 'r', endTime: 3 }] },
    },
  ])('reads the output of writeHint: $kind', (hint) => {
    const sent = { sender: 'n', hint };
    expect(readHint(writeHint(sent))).toEqual(sent);
  });

  it.each<[string, unknown]>([
    ['none', undefined],
    ['null', null],
    ['a list', []],
    ['without a lag flag', { workflows: [], definitions: [] }],
    ['of too many workflows', { ...changes, workflows: Array(51).fill(workflow) }],
    ['of too many definitions', { ...changes, definitions: Array(51).fill(definition) }],
    ['with an unknown status', { ...changes, workflows: [{ ...workflow, status: 'Done' }] }],
    [
      'with a time that is out of range',
      { ...changes, workflows: [{ ...workflow, startTime: 1e300 }] },
    ],
    ['without a time', { ...changes, workflows: [{ ...workflow, lastChangeTime: null }] }],
    ['with an object as an id', { ...changes, workflows: [{ ...workflow, id: { $gt: '' } }] }],
    [
      'with a long reference',
      { ...changes, workflows: [{ ...workflow, reference: 'x'.repeat(3000) }] },
    ],
    ['with a string as a version', { ...changes, definitions: [{ id: 'd', version: '1' }] }],
    ['with a fractional version', { ...changes, definitions: [{ id: 'd', version: 1.5 }] }],
    ['with an invalid parent', { ...changes, workflows: [{ ...workflow, parent: 'starter' }] }],
    ['with an invalid parent id', { ...changes, workflows: [{ ...workflow, parent: {} }] }],
    ['of an unknown kind', { ...changes, workflows: ['w'] }],
  ])('rejects changes %s', (_what, odd) => {
    expect(
      readHint(JSON.stringify({ sender: 'n', hint: { kind: 'changes', changes: odd } })),
    ).toBeNull();
  });

  it('drops unknown members', () => {
    const odd = { ...changes, workflows: [{ ...workflow, data: 'secret', __proto__: null }] };
    const read = readHint(JSON.stringify({ sender: 'n', hint: { kind: 'changes', changes: odd } }));
    expect(read?.hint).toEqual({ kind: 'changes', changes });
  });
});
