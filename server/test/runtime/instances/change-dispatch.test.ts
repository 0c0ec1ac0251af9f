/**
 * Goal: the work of a message is done once, by the node that should do it (R15, R16).
 * Method: the dispatch of node `me` in a fleet with `other`, with everything that it calls recorded.
 */
import { describe, expect, it } from 'vitest';
import {
  ChangeDispatch,
  type ChangeDispatchOptions,
} from '../../../src/runtime/instances/change-dispatch.js';
import type { InstanceActor } from '../../../src/runtime/instances/instance-actor.js';
import type { NodeRecord } from '../../../src/store/records/nodes.js';
import { instanceOf } from '../../store/records.js';
import type { PostedMessage } from '../../../src/store/records/posted-messages.js';

const MESSAGE = { id: 'm', body: '{}' };
const AT_REST: PostedMessage = {
  instanceId: 'i',
  inSeq: 4,
  epoch: 7,
  owner: 'other',
  rested: true,
};

/** The instance after this node has claimed it in the step that added the message (S13). */
const CLAIMED = { owner: 'me', epoch: 8, claimed: instanceOf('i', { owner: 'me', epoch: 8 }) };

function nodeOf(id: string): NodeRecord {
  return { id, url: '', hostname: 'h', pid: 1, beatAt: 0, version: '1', details: null };
}

interface Situation {
  /** The actor in memory. */
  readonly actor?: { readonly epoch: number; readonly isDisposable: boolean };
  readonly isOtherAlive?: boolean;
  readonly isEstablished?: boolean;
  readonly isBusy?: boolean;
  readonly isStopping?: boolean;
}

function createDispatch(situation: Situation = {}) {
  const { isBusy = false, isEstablished = true, isOtherAlive = true } = situation;
  const calls: string[] = [];
  let actor = situation.actor && {
    ...situation.actor,
    deliver: ({ inSeq }: { readonly inSeq: number }) => calls.push(`deliver ${inSeq}`),
    refresh: () => calls.push('refresh'),
    abandon: () => calls.push('abandon'),
  };
  const loaded = (call: string) => {
    calls.push(call);
    return Promise.resolve(null);
  };
  const options: ChangeDispatchOptions = {
    clock: { now: () => 0, at: () => () => undefined },
    loader: {
      load: () => loaded('load'),
      take: (_, epoch) => loaded(`take ${epoch}`),
      noteOnlyEvent: (_, nameKey) => calls.push(`only ${nameKey}`),
    },
    loads: {
      bring: async (_, load) => {
        await load();
      },
      bringClaimed: ({ epoch }) => {
        calls.push(`bring ${epoch}`);
        return Promise.resolve();
      },
      isBusy,
    },
    nodes: {
      id: 'me',
      others: isOtherAlive ? [nodeOf('other')] : [],
      isAlive: (id) => id === 'me' || isOtherAlive,
      isEstablished,
    },
    quarantine: { forget: () => undefined },
    residents: {
      get: () => actor as unknown as InstanceActor | undefined,
      forget: () => {
        actor = undefined;
      },
    },
    uncertain: { read: () => undefined },
    hintOwner: (_, owner) => calls.push(`hint ${owner ?? 'all'}`),
    inboxOverflowed: () => calls.push('overflowed'),
    isStopping: () => situation.isStopping === true,
  };
  return { dispatch: new ChangeDispatch(options), calls };
}

describe('the dispatch of a posted message', () => {
  it.each<[string, Situation, Partial<PostedMessage>, readonly string[]]>([
    ['takes an instance of another node that rests', {}, {}, ['take 7']],
    ['notifies the owner of an instance with other work', {}, { rested: false }, ['hint other']],
    ['notifies the owner while this node is busy', { isBusy: true }, {}, ['hint other']],
    ['notifies the owner while this node is new', { isEstablished: false }, {}, ['hint other']],
    ['notifies the owner while this node stops', { isStopping: true }, {}, ['hint other']],
    ['loads an instance of a dead node', { isOtherAlive: false }, {}, ['load']],
    ['loads an instance of this node that is not in memory', {}, { owner: 'me' }, ['load']],
    ['loads an instance without an owner', {}, { owner: null }, ['load']],
    [
      'delivers to the actor of the stored epoch',
      { actor: { epoch: 7, isDisposable: true } },
      { owner: 'me' },
      ['deliver 4'],
    ],
    ['brings an instance that the message has claimed', {}, CLAIMED, ['bring 8']],
    [
      'brings it with the knowledge that there is no other event',
      {},
      { ...CLAIMED, onlyEventOf: 'paid/7' },
      ['only paid/7', 'bring 8'],
    ],
    ['brings it even while this node stops', { isStopping: true }, CLAIMED, ['bring 8']],
    ['loads a long one that the message has claimed', {}, { owner: 'me', epoch: 8 }, ['load']],
    [
      'drops an outdated actor at rest, and brings the claimed instance (R16)',
      { actor: { epoch: 7, isDisposable: true } },
      CLAIMED,
      ['abandon', 'bring 8'],
    ],
    [
      'lets an outdated actor that works find out about the claim',
      { actor: { epoch: 7, isDisposable: false } },
      CLAIMED,
      ['refresh', 'refresh'],
    ],
    [
      'drops an outdated actor at rest, and takes the instance (R16)',
      { actor: { epoch: 6, isDisposable: true } },
      {},
      ['abandon', 'take 7'],
    ],
    [
      'lets an outdated actor that works find out, and takes nothing',
      { actor: { epoch: 6, isDisposable: false } },
      {},
      ['refresh', 'hint other'],
    ],
    [
      'notifies nobody of a message that did not fit',
      {},
      { rested: false, overflowed: true },
      ['overflowed'],
    ],
  ])('decides who does the work: %s', async (_, situation, posted, expected) => {
    const { calls, dispatch } = createDispatch(situation);
    dispatch.posted({ ...AT_REST, ...posted }, MESSAGE);
    await Promise.resolve();
    expect(calls).toEqual(expected);
  });
});

describe('the claimer of messages', () => {
  it('names this node, and the living nodes from which it takes', () => {
    const { claimer } = createDispatch().dispatch;
    expect(claimer).toMatchObject({ owner: 'me', from: ['other'] });
  });

  it.each([
    ['is busy', { isBusy: true }],
    ['is new', { isEstablished: false }],
    ['stops', { isStopping: true }],
    ['knows no other node', { isOtherAlive: false }],
  ])('is nobody while this node %s', (_, situation: Situation) => {
    expect(createDispatch(situation).dispatch.claimer).toBeUndefined();
  });
});

describe('the dispatch of a hint', () => {
  it.each([
    ['loads an instance of this node', 'me', ['load']],
    ['loads an instance whose owner the sender does not know', undefined, ['load']],
    ['ignores an instance of another node', 'other', []],
  ])('reads only what concerns this node: %s', (_, owner, expected) => {
    const { calls, dispatch } = createDispatch();
    dispatch.heard({ id: 'i', ...(owner !== undefined && { owner }) });
    expect(calls).toEqual(expected);
  });
});
