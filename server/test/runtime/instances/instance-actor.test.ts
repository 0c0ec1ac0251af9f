/**
 * Goal: whatever happens to a commit, an actor continues from what the store has, and nothing leaves it earlier.
 * Method: one actor on a memory store; each test decides what happens to its commits.
 */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { startSession, restoreSession } from '../../../src/engine/flow/lifecycle.js';
import { readState, writeState } from '../../../src/engine/model/snapshot.js';
import type { ActorEnvironment } from '../../../src/runtime/instances/actor-environment.js';
import { InstanceActor } from '../../../src/runtime/instances/instance-actor.js';
import { eventMessage } from '../../../src/runtime/instance-state/message-codec.js';
import { newRecord } from '../../../src/runtime/instance-state/new-instance.js';
import { StoreRetry } from '../../../src/runtime/instances/store-retry.js';
import { Evaluator } from '../../../src/runtime/passes/evaluator.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { StoreUnavailableError, type Store } from '../../../src/store/store.js';
import { define, type StepSource } from '../../engine/support/define.js';
import { LikelyRefusals } from '../../../src/runtime/instances/likely-refusals.js';
import { createSimulatedScripts } from '../../simulation/support/simulated-scripts.js';
import { NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

type Commit = () => ReturnType<Store['commitInstance']>;

const DELAY: StepSource = { id: 'delay', stepType: 'Delay', inputs: { period: '60' } };
const CALL: StepSource = {
  id: 'call',
  stepType: 'HttpRequest',
  inputs: { BaseUrl: "'http://callee/'" },
};

/** @param commits what happens to the first commits; later ones succeed */
async function scene(step: StepSource, commits: ((commit: Commit) => ReturnType<Commit>)[] = []) {
  const clock = new ManualClock();
  const store = createMemoryStore();
  const definition = define([step]);
  const start = { id: 'w', definition, data: {}, reference: null, parent: null, requestHash: null };
  const { instance } = startSession(definition, start, clock.now());
  const place = { owner: 'self', now: clock.now(), wakeAt: 0, state: writeState(instance) };
  const record = newRecord({ ...start, startTime: clock.now() }, instance, place);
  await store.insertInstance({ record, side: NO_SIDE });
  const told: string[] = [];
  /** The last call of a step. */
  const call = { answer: (): void => undefined };
  const retry = new StoreRetry(clock);
  const environment: ActorEnvironment = {
    traced: (_instance, call) => call(),
    nodeId: 'node',
    changeTimes: clock,
    clock,
    evaluator: new Evaluator(createSimulatedScripts(() => null)),
    logger: createLogger({ level: 'silent' }),
    limits: { stepsWithoutWaitMax: 1000, openStepsMax: 1000, instanceLengthMax: 1e6 },
    metrics: { commitLost: () => told.push('lost'), fenced: () => told.push('fenced') },
    workers: { reserve: () => null, release: () => undefined, refused: () => undefined },
    likelyRefusals: new LikelyRefusals(clock),
    store: {
      getInstance: (id) => store.getInstance(id),
      commitInstance: (commit) => {
        const make: Commit = () => store.commitInstance(commit);
        return commits.shift()?.(make) ?? make();
      },
    },
    indexPaths: (of) => of.index,
    takeTurn: () => Promise.resolve(() => undefined),
    runBody: (_run, _pointer, { retain, signal }) => {
      told.push('effect');
      return new Promise((resolve) => {
        call.answer = () => {
          retain?.(() => told.push('released'));
          const ResponseBody = 'x'.repeat(1000);
          resolve(signal.aborted ? null : { ok: true, values: { ResponseBody } });
        };
      });
    },
    withdrawItems: () => Promise.resolve(false),
    loadEvent: () => Promise.resolve(null),
    loadEnd: () => Promise.reject(new Error('no child has ended')),
    loadDefinition: () => Promise.reject(new Error('no version is read')),
    lookForEvents: () => Promise.resolve(false),
    announce: () => ({ deliveries: [], written: () => undefined, takeBack: () => undefined }),
    sendOutbox: () => Promise.resolve(),
    retryStore: (ask, isCanceled) => retry.untilAnswered(ask, isCanceled),
  };
  const owner = {
    mayGrow: () => true,
    committed: () => told.push('committed'),
    parked: () => told.push('parked'),
    abandoned: (_actor: InstanceActor, isOutdated: boolean) =>
      told.push(isOutdated ? 'outdated' : 'abandoned'),
    failed: (_actor: InstanceActor, error: unknown) => {
      told.push(String(error));
      return Promise.resolve();
    },
  };
  const run = restoreSession(definition, readState(record, record.state), clock.now());
  const actor = new InstanceActor(environment, owner, run, { kind: 'loaded', record });
  const stored = async () => (await store.getInstance('w'))!;
  /** A message is added to the stored inbox. */
  const post = async () => {
    const event = { id: 'e', name: 'n', key: 'k', publishedAt: 1, data: '1' };
    const message = eventMessage(event);
    const [posted] = await store.postMessages([{ instanceId: 'w', message }]);
    return { ...message, inSeq: posted!.inSeq };
  };
  return { actor, call, clock, post, store, stored, told };
}

const noAnswer = (): Promise<never> => Promise.reject(new StoreUnavailableError('no answer'));

it('repeats a commit that did not reach the store', async () => {
  const { actor, stored, told } = await scene(DELAY, [noAnswer]);
  actor.wake();
  await actor.idle();
  expect(told).toEqual(['committed', 'parked']);
  expect((await stored()).revision).toBe(1);
});

it('treats a commit as done that reached the store without a response', async () => {
  const uncertain = async (commit: Commit) => (await commit(), noAnswer());
  const { actor, stored, told } = await scene(DELAY, [uncertain]);
  actor.wake();
  await actor.idle();
  expect(told[0]).toBe('committed');
  expect(told.at(-1)).toBe('parked');
  expect((await stored()).state).toBe(writeState(actor.session.instance));
});

it('abandons an instance that another node has claimed', async () => {
  const { actor, store, stored, told } = await scene(DELAY);
  await store.claimInstance({ id: 'w', epoch: 1, owner: 'other', suspected: false });
  const before = await stored();
  actor.wake();
  await actor.idle();
  expect(told).toEqual(['lost', 'fenced', 'abandoned']);
  expect(await stored()).toEqual(before);
  actor.wake();
  expect(actor.isParked).toBe(false);
});

it('becomes outdated if its own node claims the instance again', async () => {
  const { actor, store, told } = await scene(DELAY);
  await store.claimInstance({ id: 'w', epoch: 1, owner: 'node', suspected: true });
  actor.wake();
  await actor.idle();
  expect(told).toEqual(['lost', 'fenced', 'outdated']);
});

it('becomes outdated if an earlier commit arrives late', async () => {
  let late: Commit = () => Promise.resolve('lost' as never);
  const { actor, told } = await scene(DELAY, [
    (commit) => ((late = commit), noAnswer()),
    async (commit) => (await late(), commit()),
  ]);
  actor.wake();
  await actor.idle();
  expect(told).toEqual(['lost', 'fenced', 'outdated']);
});

it('commits again, with the message, if one arrives during a commit', async () => {
  let arrive = (): Promise<unknown> => Promise.resolve();
  const { actor, post, stored, told } = await scene(DELAY, [
    async (commit) => {
      await arrive();
      return commit();
    },
  ]);
  arrive = async () => actor.deliver(await post());
  actor.wake();
  await actor.idle();
  expect(told).toEqual(['lost', 'committed', 'parked']);
  const { inbox, revision } = await stored();
  expect({ inbox, revision }).toEqual({ inbox: [], revision: 1 });
});

it('starts no effect before the commit that contains it', async () => {
  const atCommit: string[][] = [];
  const { actor, told } = await scene(CALL, [(commit) => (atCommit.push([...told]), commit())]);
  actor.wake();
  await actor.idle();
  expect(atCommit).toEqual([[]]);
  expect(told).toEqual(['committed', 'effect', 'parked']);
});

it('wakes up by its timer, but not after it was abandoned', async () => {
  const ended = await scene(DELAY);
  ended.actor.wake();
  await ended.actor.idle();
  ended.clock.advance(60_000);
  await ended.actor.idle();
  expect((await ended.stored()).status).toBe('Complete');

  const left = await scene(DELAY);
  left.actor.wake();
  await left.actor.idle();
  expect(left.clock.pending).toBe(1);
  left.actor.abandon();
  expect(left.clock.pending).toBe(0);
});

it('counts the memory of a result until the commit that contains it is written', async () => {
  const seen = { told: [] as string[] };
  const unanswered = () => (seen.told.push('unanswered'), noAnswer());
  const { actor, call, told } = await scene(CALL, [(commit) => commit(), unanswered]);
  seen.told = told;
  actor.wake();
  await actor.idle();
  told.splice(0);
  call.answer();
  await expect.poll(() => actor.isParked && told.includes('parked')).toBe(true);
  expect(told).toEqual(['unanswered', 'released', 'committed', 'parked']);
});

it.each(['a result that has arrived', 'a call under way'])(
  'releases the memory of %s when it abandons the instance',
  async (what) => {
    const { actor, call, store, told } = await scene(CALL);
    actor.wake();
    await actor.idle();
    await store.claimInstance({ id: 'w', epoch: 1, owner: 'other', suspected: false });
    if (what === 'a call under way') actor.abandon();
    call.answer();
    await expect.poll(() => told.filter((said) => said === 'released')).toHaveLength(1);
  },
);
