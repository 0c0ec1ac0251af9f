/** What the holder of a withdrawn work item can do with it, on the memory store. */
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { readToken, systemIds } from '../../../src/base/ids.js';
import { resentMessage } from '../../../src/runtime/activities/activity-results.js';
import type { WorkItem } from '../../../src/runtime/activities/activity-types.js';
import { WorkClaims } from '../../../src/runtime/activities/work-claims.js';
import { writeWork } from '../../../src/runtime/instance-state/message-codec.js';
import { Secrets } from '../../../src/runtime/secrets/secrets.js';
import { NO_SECRETS } from '../../../src/secrets/secret-source.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { FAR_FUTURE_MS } from '../../../src/store/store.js';
import { activityOf, commitOf, instanceOf, NO_SIDE } from '../../store/records.js';

const DONE = { succeeded: true, data: { receipt: 'r-1' } };
const parameters = writeWork({ stepId: 's', attempt: 1, parameters: null });

async function heldWork() {
  const store = createMemoryStore();
  const offered: string[] = [];
  const posted: string[] = [];
  const counted: string[] = [];
  const claims = new WorkClaims({
    lookAtLimits: () => undefined,
    claimRefused: () => undefined,
    leaseMsMax: 86_400_000,
    bindsLeases: () => true,
    store,
    clock: { now: () => 10_000, at: () => () => undefined },
    ids: systemIds,
    logger: createLogger({ level: 'silent' }),
    metrics: { activity: (outcome) => void counted.push(outcome) },
    secrets: new Secrets({ source: NO_SECRETS, store, ids: systemIds }),
    claimer: () => undefined,
    posted: (_posted, { body }) => void posted.push(body),
    offer: (name) => void offered.push(name),
  });
  const activities = [activityOf('i/1/0', 'i', { parameters })];
  await store.insertInstance({ record: instanceOf('i'), side: { ...NO_SIDE, activities } });
  const claimant = { workerId: 'w', leaseMs: 5000 };
  const { token } = (await claims.take('ship', claimant, 10_000)) as WorkItem;
  const withdraw = () => store.withdrawActivities([readToken(token)!.activityId]);
  /** As a commit does that no longer waits for it. */
  const remove = async () => {
    const removal = { removeActivities: ['i/1/0'] };
    await store.commitInstance(commitOf((await store.getInstance('i'))!, removal));
  };
  return { claims, counted, offered, posted, remove, store, token, withdraw };
}

describe('a heartbeat', () => {
  it('says whether the work was withdrawn', async () => {
    const { claims, token, withdraw } = await heldWork();
    const lease = { tokenExpiresAt: 15_000 };
    expect(await claims.extend(token, null)).toEqual({ ...lease, cancelRequested: false });
    await withdraw();
    expect(await claims.extend(token, null)).toEqual({ ...lease, cancelRequested: true });
  });
});

describe('withdrawn work', () => {
  it('accepts a result', async () => {
    const { claims, posted, token, withdraw } = await heldWork();
    await withdraw();
    await claims.complete(token, DONE);
    expect(posted).toHaveLength(1);
    expect(JSON.parse(posted[0]!)).toEqual({ kind: 'activity', activityId: 'i/1/0', ...DONE });
  });

  it('turns into a result when it is given back, which can be sent again', async () => {
    const { claims, counted, offered, posted, store, token, withdraw } = await heldWork();
    await withdraw();
    await claims.release(token);
    // The response to the first call was lost.
    await claims.release(token);
    expect(offered).toEqual([]);
    expect(counted).toEqual(['released', 'released']);
    expect(posted).toHaveLength(1);
    expect(JSON.parse(posted[0]!)).toEqual({
      kind: 'activity',
      activityId: 'i/1/0',
      succeeded: false,
      data: null,
      released: true,
    });
    const [unsettled] = await store.findUnsettledActivities(FAR_FUTURE_MS, 9);
    expect(resentMessage('i/1/0', unsettled!.result).body).toBe(posted[0]);
    await expect(claims.complete(token, DONE)).rejects.toMatchObject({
      code: 'activity_not_found',
    });
  });

  it('returns to the queue when it is given back without a withdrawal', async () => {
    const { claims, offered, posted, token } = await heldWork();
    await claims.release(token);
    expect([offered, posted]).toEqual([['ship'], []]);
    await expect(claims.release(token)).rejects.toMatchObject({ code: 'activity_not_found' });
  });

  it('rejects a release after its result was reported', async () => {
    const { claims, token, withdraw } = await heldWork();
    await withdraw();
    await claims.complete(token, DONE);
    await expect(claims.release(token)).rejects.toMatchObject({ code: 'activity_not_found' });
  });
});

describe('work that was removed after its withdrawal', () => {
  it.each<[string, (claims: WorkClaims, token: string) => Promise<unknown>]>([
    ['a result', (claims, token) => claims.complete(token, DONE)],
    ['a failure', (claims, token) => claims.complete(token, { succeeded: false, data: null })],
    ['a release', (claims, token) => claims.release(token)],
    ['a heartbeat', (claims, token) => claims.extend(token, null)],
  ])('answers %s that it was canceled', async (_call, call) => {
    const { claims, counted, posted, remove, token, withdraw } = await heldWork();
    await withdraw();
    await remove();
    await expect(call(claims, token)).rejects.toMatchObject({
      code: 'work_cancelled',
      message: 'The work was canceled, because the run is being undone',
    });
    expect([counted, posted]).toEqual([[], []]);
  });

  it('is unknown to other tokens', async () => {
    const { claims, remove, token, withdraw } = await heldWork();
    await withdraw();
    await remove();
    const other = systemIds.newToken(readToken(token)!.activityId, 5000).token;
    const stale = { code: 'activity_not_found' };
    await expect(claims.complete(other, DONE)).rejects.toMatchObject(stale);
    await expect(claims.extend(other, null)).rejects.toMatchObject(stale);
    await expect(claims.release(other)).rejects.toMatchObject(stale);
  });
});
