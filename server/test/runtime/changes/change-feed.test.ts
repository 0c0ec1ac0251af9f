/** The change feed alone, on a clock that the test moves: limits, coalescing, and hints to other nodes. */
import { describe, expect, it } from 'vitest';
import type { ChangeBatch, Hint, ChangedInstance } from '../../../src/backplane/backplane.js';
import { readHint, writeHint } from '../../../src/backplane/hint-codec.js';
import type { Instance } from '../../../src/engine/model/instance.js';
import { ChangeFeed } from '../../../src/runtime/changes/change-feed.js';
import type { ChangeListener } from '../../../src/runtime/changes/change-watch.js';
import { ManualClock } from '../support/manual-clock.js';

const clock = new ManualClock();

function feed(options: { mayBeStale?: () => boolean } = {}): { node: ChangeFeed; sent: Hint[] } {
  const sent: Hint[] = [];
  const { mayBeStale = () => false } = options;
  return { node: new ChangeFeed({ clock, publish: (hint) => sent.push(hint), mayBeStale }), sent };
}

function instance(id: string, members: Partial<Instance> = {}): Instance {
  return {
    id,
    definitionId: 'd',
    version: 1,
    reference: null,
    concurrencyKey: null,
    tags: {},
    priority: 3,
    fairness: null,
    index: {},
    restartOf: null,
    restartedAs: null,
    trigger: null,
    debounce: null,
    startTime: 5,
    status: 'Runnable',
    endTime: null,
    outcome: null,
    isCompensated: false,
    lastError: null,
    lostError: null,
    parent: null,
    data: {},
    pointers: new Map(),
    queue: new Set(),
    nextPointerId: 1,
    taken: new Map(),
    spilled: 0,
    recent: [],
    outbox: [],
    told: 'running',
    joinedBy: [],
    completed: [],
    completedItemsLength: 0,
    forgotten: 0,
    cleanUp: null,
    answers: [],
    stepsWithoutWait: 0,
    ...members,
  };
}

/** The next batch, after moving the clock to the time at which it is delivered. */
async function next(watch: ChangeListener, waitMs = 60_000): Promise<ChangeBatch | null> {
  const batch = watch.next(waitMs);
  clock.advance(100);
  await Promise.resolve();
  return batch;
}

const ids = (batch: ChangeBatch | null): readonly string[] | undefined =>
  batch?.workflows.map(({ id }) => id);

describe('a listener of changes', () => {
  it('gets each commit with the members that lists show', async () => {
    const { node } = feed();
    const watch = node.watch({});
    const times = { time: clock.now() - 3, since: clock.now() - 5 };
    const failed = { stepId: 'a', type: 'T', message: 'm', ...times };
    const changedAt = clock.now();
    const parent = { workflowId: 'starter', pointerId: 4, attempt: 1 };
    node.committed(
      instance('w', {
        status: 'Suspended',
        reference: 'mine',
        lastError: failed as Instance['lastError'],
        parent,
      }),
    );
    const expected: ChangedInstance = {
      id: 'w',
      definitionId: 'd',
      version: 1,
      reference: 'mine',
      status: 'Suspended',
      outcome: null,
      parent: { workflowId: 'starter' },
      startTime: 5,
      endTime: null,
      lastChangeTime: changedAt,
      failureTime: changedAt - 3,
      failingSince: changedAt - 5,
    };
    expect(await next(watch)).toEqual({ workflows: [expected], definitions: [], lagged: false });
    watch.close();
  });

  it('gets each instance once per batch, in its last state, and at most ten batches a second', async () => {
    const { node } = feed();
    const watch = node.watch({});
    node.committed(instance('a'));
    expect(ids(await watch.next(1000))).toEqual(['a']);
    node.committed(instance('a'));
    node.committed(instance('b'));
    node.committed(instance('a', { status: 'Complete' }));
    let second: ChangeBatch | null | undefined;
    void watch.next(1000).then((batch) => (second = batch));
    clock.advance(99);
    await settled();
    expect(second).toBeUndefined();
    clock.advance(1);
    await settled();
    expect(second?.workflows.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'a Complete',
      'b Runnable',
    ]);
    watch.close();
  });

  it('gets an empty batch if nothing happened in time', async () => {
    const { node } = feed();
    const watch = node.watch({});
    const waiting = watch.next(15_000);
    clock.advance(15_000);
    expect(await waiting).toEqual({ workflows: [], definitions: [], lagged: false });
    watch.close();
  });

  it('buffers a limited number of changes without being read, then gets a lag', async () => {
    const { node } = feed();
    const watch = node.watch({});
    for (let n = 0; n < 1000; n += 1) node.committed(instance(`w${n}`));
    expect((await next(watch))?.workflows).toHaveLength(1000);
    for (let n = 0; n < 1001; n += 1) node.committed(instance(`w${n}`));
    node.committed(instance('later'));
    expect(await next(watch)).toEqual({ workflows: [], definitions: [], lagged: true });
    node.committed(instance('again'));
    expect(ids(await next(watch))).toEqual(['again']);
    watch.close();
  });

  it.each([
    [{}, ['a d', 'b d', 'c e'], ['d', 'e']],
    [{ definitionId: 'd' }, ['a d', 'b d'], ['d']],
    [{ workflowId: 'a' }, ['a d'], []],
    [{ workflowId: 'a', definitionId: 'e' }, [], []],
  ])('gets only the changes that match its filter %j', async (filter, workflows, definitions) => {
    const { node } = feed();
    const watch = node.watch(filter);
    node.committed(instance('a'));
    node.committed(instance('b'));
    node.committed(instance('c', { definitionId: 'e' }));
    node.definitionStored('d', 1);
    node.definitionStored('d', 2);
    node.definitionStored('e', 1);
    const batch = await next(watch, 1);
    expect(batch?.workflows.map(({ definitionId, id }) => `${id} ${definitionId}`)).toEqual(
      workflows,
    );
    expect(batch?.definitions.map(({ id }) => id)).toEqual(definitions);
    watch.close();
  });

  it('leaves nothing behind when it closes: no listener, no timer', async () => {
    const { node } = feed();
    const before = clock.pending;
    const watch = node.watch({});
    const waiting = watch.next(10_000);
    expect(node.listeners).toBe(1);
    watch.close();
    watch.close();
    expect(await waiting).toBeNull();
    expect(node.listeners).toBe(0);
    expect(clock.pending).toBe(before);
  });

  it('is rejected beyond the limit, and after the feed has stopped', async () => {
    const { node } = feed();
    const watches = Array.from({ length: 500 }, () => node.watch({}));
    expect(() => node.watch({})).toThrow(expect.objectContaining({ code: 'too_many_requests' }));
    const waiting = watches.map((watch) => watch.next(1000));
    node.close();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([null]));
    expect(node.listeners).toBe(0);
    expect(() => node.watch({})).toThrow(expect.objectContaining({ code: 'stopping' }));
  });

  it('gets a lag every few seconds while other nodes cannot be reached', async () => {
    let isDeaf = true;
    const { node } = feed({ mayBeStale: () => isDeaf });
    const watch = node.watch({});
    const waiting = watch.next(60_000);
    clock.advance(5000);
    expect((await waiting)?.lagged).toBe(true);
    isDeaf = false;
    const quiet = watch.next(5000);
    clock.advance(5000);
    expect((await quiet)?.lagged).toBe(false);
    watch.close();
  });
});

describe('the change feed between nodes', () => {
  it('sends, reads and keeps nothing without a listener', () => {
    const { node, sent } = feed();
    const before = clock.pending;
    node.committed(instance('w'));
    node.definitionStored('d', 1);
    node.controlled(
      new Proxy({} as Parameters<ChangeFeed['controlled']>[0], {
        get: (_target, member) => {
          throw new Error(`${String(member)} was read`);
        },
      }),
    );
    clock.advance(60_000);
    expect(sent).toEqual([]);
    expect(clock.pending).toBe(before);
  });

  it('announces interest at once, and repeats it while there is a listener', () => {
    const { node, sent } = feed();
    const [one, two] = [node.watch({}), node.watch({})];
    expect(sent).toEqual([{ kind: 'interest' }]);
    clock.advance(5000);
    one.close();
    clock.advance(5000);
    two.close();
    clock.advance(60_000);
    expect(sent).toHaveLength(3);
  });

  it('sends batches of changes only while another node is interested', () => {
    const { node, sent } = feed();
    node.receiveInterest();
    node.committed(instance('a'));
    node.committed(instance('a', { status: 'Complete' }));
    node.definitionStored('d', 2);
    expect(sent).toEqual([]);
    clock.advance(200);
    expect(sent).toEqual([
      {
        kind: 'changes',
        changes: {
          workflows: [expect.objectContaining({ id: 'a', status: 'Complete' })],
          definitions: [{ id: 'd', version: 2 }],
          lagged: false,
        },
      },
    ]);
    clock.advance(14_800);
    node.committed(instance('b'));
    clock.advance(1000);
    expect(sent).toHaveLength(1);
  });

  it('splits many changes into hints that the codec accepts, and sends a lag for too many', async () => {
    const { node, sent } = feed();
    const listening = feed().node;
    const watch = listening.watch({});
    node.receiveInterest();
    // The longest possible names; each character takes six characters to write.
    const long = '\ud800'.repeat(200);
    for (let n = 0; n < 120; n += 1) {
      const id = `${n}`.padStart(200, '\ud800');
      node.committed(instance(id, { definitionId: long, reference: long }));
    }
    clock.advance(200);
    expect(sent).toHaveLength(3);
    for (const hint of sent) {
      const read = readHint(writeHint({ sender: 'n', hint }))?.hint;
      if (read?.kind !== 'changes') throw new Error('the codec lost a batch');
      listening.receiveChanges(read.changes);
    }
    expect((await next(watch))?.workflows).toHaveLength(120);
    for (let n = 0; n < 1500; n += 1) node.committed(instance(`x${n}`));
    clock.advance(200);
    expect(sent.slice(3)).toEqual([
      { kind: 'changes', changes: { workflows: [], definitions: [], lagged: true } },
    ]);
    watch.close();
  });

  it('does not replace newer changes with late ones', async () => {
    const { node } = feed();
    const watch = node.watch({});
    const change: ChangedInstance = {
      id: 'w',
      definitionId: 'd',
      version: 1,
      reference: null,
      status: 'Runnable',
      outcome: null,
      parent: null,
      startTime: 0,
      endTime: null,
      lastChangeTime: clock.now() - 50,
      failureTime: null,
      failingSince: null,
    };
    node.committed(instance('w', { status: 'Complete' }));
    node.receiveChanges({ workflows: [change], definitions: [], lagged: false });
    expect((await next(watch))?.workflows[0]?.status).toBe('Complete');
    watch.close();
  });
});

/** Lets pending promises run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
