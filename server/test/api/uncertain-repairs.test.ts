/**
 * Goal: a repair takes effect once, and its caller gets the result, when the store loses a response, or when the run is ended
 * before it takes the repair.
 * Method: real runs on the embedded store, through the API, with faults between the server and its store.
 */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { PostedMessage } from '../../src/store/records/posted-messages.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { startRealServer, type RealServer } from './support/real-server.js';
import { fresh, runsOn, set, wait } from './support/repaired-runs.js';

type Post = Store['postMessages'];
type Commit = Store['commitInstance'];
type Control = Store['controlInstance'];

/** What happens to the next writes of modifications. */
const faults: {
  post: ((store: Store, messages: Parameters<Post>[0]) => ReturnType<Post>) | null;
  isResumeLost: boolean;
  isCommitLost: boolean;
} = { post: null, isResumeLost: false, isCommitLost: false };

let server: RealServer;
beforeAll(async () => {
  server = await startRealServer({}, faulty);
});
afterAll(() => server.stop());
afterEach(() => Object.assign(faults, { post: null, isResumeLost: false, isCommitLost: false }));

const { define, modify, rerun, start, steps, suspend, terminate, waiting } = runsOn(() => server);

function faulty(store: Store): Store {
  const postMessages: Post = (messages) => {
    const { post } = faults;
    const isModification = messages.some(({ message }) => message.id.startsWith('modify/'));
    return isModification && post !== null ? post(store, messages) : store.postMessages(messages);
  };
  const controlInstance: Control = async (...control) => {
    const result = await store.controlInstance(...control);
    if (faults.isResumeLost && control[4] !== undefined) {
      faults.isResumeLost = false;
      throw new StoreUnavailableError('lost the response');
    }
    return result;
  };
  const commitInstance: Commit = async (commit) => {
    const result = await store.commitInstance(commit);
    if (faults.isCommitLost && commit.audit !== undefined) {
      faults.isCommitLost = false;
      throw new StoreUnavailableError('lost the response');
    }
    return result;
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'postMessages') return postMessages;
      if (name === 'controlInstance') return controlInstance;
      if (name === 'commitInstance') return commitInstance;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

async function waitingRun(): Promise<string> {
  const id = fresh('uncertain');
  await define(id, [wait('ask'), wait('hold'), set('other', 'other')]);
  const run = await start(id, { key: id });
  await waiting(run, 'ask');
  return run;
}

const startsOf = async (run: string, stepId: string): Promise<number> =>
  (await steps(run)).filter((step) => step.stepId === stepId).length;

const HOLD = { reason: 'r', cancel: ['*'], start: [{ stepId: 'hold' }] };

it.each([
  ['the message was stored', true],
  ['the message was not stored', false],
])('modifies once when the response of the store is lost, and %s', async (_, isStored) => {
  const run = await waitingRun();
  faults.post = async (store, messages) => {
    faults.post = null;
    if (isStored) await store.postMessages(messages);
    throw new StoreUnavailableError('lost the response');
  };
  const answer = await modify(run, HOLD);
  expect(faults.post).toBeNull();
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.started).toMatchObject([{ stepId: 'hold' }]);
  expect(await startsOf(run, 'hold')).toBe(1);
});

it('modifies and resumes once when the response of the store is lost', async () => {
  const run = await waitingRun();
  expect((await suspend(run)).status).toBe(200);
  faults.isResumeLost = true;
  const answer = await modify(run, { ...HOLD, resume: true });
  expect(faults.isResumeLost).toBe(false);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.workflow.status).toBe('Runnable');
  expect(await startsOf(run, 'hold')).toBe(1);
});

it('reruns an ended run once when the response of the store is lost', async () => {
  const run = await waitingRun();
  expect((await terminate(run)).status).toBe(200);
  faults.isCommitLost = true;
  const answer = await rerun(run, { reason: 'r', from: 'hold' });
  expect(faults.isCommitLost).toBe(false);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.started).toMatchObject([{ stepId: 'hold' }]);
  expect(await startsOf(run, 'hold')).toBe(1);
});

/** As on a node that does not work on the run: its actor does not get the message from the caller. */
function toldElsewhere(
  posted: PostedMessage | null | undefined,
): readonly (PostedMessage | null)[] {
  return [posted == null ? null : { ...posted, instanceId: 'elsewhere' }];
}

it('applies both of two modifications that the run had not taken when it was terminated', async () => {
  const run = await waitingRun();
  const arrived: Parameters<Post>[0][number][] = [];
  let post: (posted: ReturnType<Post>) => void = () => undefined;
  const both = new Promise<Awaited<ReturnType<Post>>>((resolve) => (post = resolve));
  let goOn: () => void = () => undefined;
  const isOneDone = new Promise<void>((resolve) => (goOn = resolve));
  faults.post = async (store, messages) => {
    arrived.push(...messages);
    if (arrived.length === 1) return toldElsewhere((await both)[0]);
    faults.post = null;
    // In one go: the run cannot take the messages in between.
    const posted = store.postMessages(arrived);
    const ended = store.controlInstance(run, 'terminate', Date.now());
    await posted;
    expect((await ended).outcome).toBe('done');
    post(posted);
    // The second caller looks when the first has opened the run again.
    await isOneDone;
    return toldElsewhere((await posted)[1]);
  };
  const change = { data: { a: 1 }, start: [{ stepId: 'hold' }] };
  const calls = ['a', 'b'].map((reason) => modify(run, { ...change, reason }));
  await Promise.race(calls);
  goOn();
  for (const { status, text } of await Promise.all(calls)) expect(status, text).toBe(200);
  expect(await startsOf(run, 'hold')).toBe(2);
}, 60_000);
