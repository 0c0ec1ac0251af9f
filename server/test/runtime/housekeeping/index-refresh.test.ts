/**
 * Goal: every open instance gets the index fields of the newest version of its definition, whichever node works on it and
 * however often it is interrupted; and no definition holds up the others.
 * Method: index refreshes of two nodes on one store, with a clock that the test moves.
 */
import { expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import type { WorkflowDefinition } from '../../../src/engine/model/definition.js';
import { createLogger } from '../../../src/base/logger.js';
import { writeStored } from '../../../src/runtime/instance-state/long-states.js';
import { newRecord } from '../../../src/runtime/instance-state/new-instance.js';
import { IndexRefresh } from '../../../src/runtime/housekeeping/index-refresh.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { define } from '../../engine/support/define.js';
import { NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

/** More than one batch. */
const INSTANCES = 120;
const GRACE_MS = 15_000;

function versionOf(id: string, version: number, field: string): WorkflowDefinition {
  const base = define([{ id: 'wait', stepType: 'Delay', inputs: { period: 60 } }]);
  return { ...base, id, version, index: new Map([[field, ['n']]]) };
}

class Scene {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore();
  readonly broken = new Set<string>();
  readonly #versions = new Map<string, WorkflowDefinition>();
  /** The node that is chosen. */
  chosen = 'a';
  isShared = true;

  async post(id: string, field: string): Promise<void> {
    const record = { id, description: null, body: '{}', createdAt: this.clock.now() };
    await this.store.insertDefinition(record, null);
    const version = (await this.store.getDefinition(id, 'latest'))?.version ?? 0;
    this.#versions.set(`${id}/${version}`, versionOf(id, version, field));
    this.#versions.set(id, versionOf(id, version, field));
  }

  async start(id: string, definition: string, n: number): Promise<void> {
    const created = versionOf(definition, 1, 'old');
    const start = { id, data: { n }, reference: null, parent: null };
    const { instance } = startSession(created, start, n);
    instance.index = { old: n };
    const place = { owner: null, now: n, wakeAt: null, state: await writeStored(instance) };
    const whole = { ...start, definition: created, requestHash: null, startTime: n };
    await this.store.insertInstance({ record: newRecord(whole, instance, place), side: NO_SIDE });
  }

  node(name: string, replaced: () => void = () => undefined): IndexRefresh {
    const read = (key: string): Promise<WorkflowDefinition> => {
      const found = this.#versions.get(key);
      if (found !== undefined && !this.broken.has(key)) return Promise.resolve(found);
      return Promise.reject(new AppError('internal', `${key} cannot be read`));
    };
    return new IndexRefresh({
      store: observeStore(this.store, {
        before: (call) => {
          if (call.name === 'replaceIndex') replaced();
        },
      }),
      clock: this.clock,
      logger: createLogger({ level: 'silent' }),
      catalog: {
        latest: read,
        find: (id, version) => read(`${id}/${version}`),
        refreshIndexPaths: () => Promise.resolve(),
      },
      isChosen: () => this.chosen === name,
      isShared: () => this.isShared,
    });
  }

  /** One round, with the pauses between its batches. */
  async round(node: IndexRefresh): Promise<void> {
    const running = { isOver: false };
    const round = node.runOnce().finally(() => (running.isOver = true));
    while (!running.isOver) {
      await new Promise(setImmediate);
      if (this.clock.pending > 0) this.clock.advance(50);
    }
    await round;
  }

  async indexes(definitionId: string): Promise<readonly string[]> {
    const filter = { definitionId };
    const { items } = await this.store.listInstances({ filter, after: null, limit: 500 });
    return [...new Set(items.map(({ index }) => Object.keys(index).join()))];
  }
}

async function scene(): Promise<Scene> {
  const made = new Scene();
  await made.post('order', 'old');
  for (let n = 0; n < INSTANCES; n += 1) await made.start(`i${n}`, 'order', n);
  await made.post('order', 'new');
  return made;
}

it('runs on one of two nodes, when the other nodes have had time to read the new version', async () => {
  const at = await scene();
  const [a, b] = [at.node('a'), at.node('b')];
  for (const node of [a, b]) {
    node.noted('order');
    await at.round(node);
  }
  expect([a.pending, b.pending, await at.indexes('order')]).toEqual([1, 0, ['old']]);
  at.clock.advance(GRACE_MS);
  await at.round(b);
  expect(await at.indexes('order')).toEqual(['old']);
  await at.round(a);
  expect(await at.indexes('order')).toEqual(['new']);
  expect([a.pending, a.refreshed, b.refreshed]).toEqual([0, INSTANCES, 0]);
});

it('continues on another node when the chosen one dies in the middle', async () => {
  const at = await scene();
  at.clock.advance(GRACE_MS);
  let count = 0;
  const a = at.node('a', () => {
    count += 1;
    if (count === INSTANCES / 2) void a.stop();
  });
  const b = at.node('b');
  await at.round(a);
  expect([...(await at.indexes('order'))].sort()).toEqual(['new', 'old']);
  at.chosen = 'b';
  await at.round(b);
  expect(await at.indexes('order')).toEqual(['new']);
  expect(a.refreshed + b.refreshed).toBe(INSTANCES);
});

it('continues without a hint on a node that starts again', async () => {
  const at = await scene();
  at.isShared = false;
  await at.round(at.node('a'));
  expect(await at.indexes('order')).toEqual(['new']);
  // There is nothing left to do, and it knows so without reading the instances.
  const again = at.node('a');
  await at.round(again);
  expect([again.pending, again.refreshed]).toEqual([0, 0]);
});

it('retries an unreadable definition without holding up the others', async () => {
  const at = await scene();
  at.isShared = false;
  for (const field of ['old', 'new']) await at.post('a-broken', field);
  await at.start('broken', 'a-broken', 1);
  at.broken.add('a-broken');
  const node = at.node('a');
  await at.round(node);
  expect(await at.indexes('order')).toEqual(['new']);
  expect([node.pending, await at.indexes('a-broken')]).toEqual([1, ['old']]);
  at.broken.clear();
  at.clock.advance(60_000);
  await at.round(node);
  expect([node.pending, await at.indexes('a-broken')]).toEqual([0, ['new']]);
});

it('assumes that an unreadable earlier version indexed anything', async () => {
  const at = await scene();
  at.isShared = false;
  at.broken.add('order/1');
  await at.round(at.node('a'));
  expect(await at.indexes('order')).toEqual(['new']);
});
