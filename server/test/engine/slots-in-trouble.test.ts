/** Steps that wait for slots, or hold some, when they are canceled, suspended, modified, undone or interrupted. */
import { describe, expect, it } from 'vitest';
import {
  applyStatus,
  haltInstance,
  restoreSession,
  startSession,
} from '../../src/engine/flow/lifecycle.js';
import { applyEffect, applyMessage } from '../../src/engine/flow/messages.js';
import { refuseSlots } from '../../src/engine/flow/slots.js';
import { readState, stateVersionOf, writeState } from '../../src/engine/model/snapshot.js';
import { noChanges, type Session } from '../../src/engine/session/session.js';
import { columnsOf } from './support/columns-of.js';
import { define, inOrder, type StepSource } from './support/define.js';
import { EngineDriver, START_MS } from './support/engine-driver.js';
import { runStep } from './support/run-step.js';
import { scenarios } from './support/scenario.js';
import { executionAt, grant } from './support/slots.js';
import { box, delay, noOp, saga, subWorkflow, trace, waitFor, work } from './support/steps.js';

const LIMITS = { limits: ['shop'] } as const;
const ON_SHOP = { limit: 'shop', key: '' };
const ASKS = { kind: 'ask-slots', on: ON_SHOP };
const FULL = { slots: { shop: 0 } };
const ONE = { slots: { shop: 1 } };
const noTrail = { data: { trail: [] } };

function slotsOf({ outside: { slots } }: EngineDriver): Record<string, readonly string[]> {
  const { freed, held, waiting } = slots;
  return { held: [...held.keys()], waiting: [...waiting.keys()], freed };
}

const FREED = { held: [], waiting: [], freed: ['w/1/1'] };

scenarios('a step that waits for its slots', (start) => {
  it.each<{ by: string; end: (driver: EngineDriver) => void }>([
    { by: 'its condition', end: (driver) => void driver.modify({ data: { stop: true } }) },
    { by: 'a modification', end: (driver) => void driver.modify({ cancel: [1] }) },
    { by: 'a termination', end: (driver) => driver.terminate() },
    { by: 'a clean-up', end: (driver) => driver.cleanUp() },
  ])('waits no longer when it is canceled by $by, and is not compensated', ({ end }) => {
    const undone = { compensateWith: [trace('-a')], cancelCondition: 'data.stop' };
    const data = { trail: [], stop: false };
    const driver = start([work('a', { ...LIMITS, ...undone })], { ...FULL, data });
    end(driver);
    expect(driver.history).toEqual(['a Cancelled']);
    expect(slotsOf(driver)).toEqual(FREED);
    driver.deliver({ kind: 'slots', execution: 'w/1/1' });
    expect(driver.asked.size).toBe(0);
    expect(driver.data['trail']).toEqual([]);
  });

  it('waits no longer although it has got them, if it was canceled before it knew', () => {
    const driver = start([work('a', LIMITS)], FULL);
    driver.outside.slots.give('w/1/1');
    driver.terminate();
    expect(slotsOf(driver)).toEqual(FREED);
  });

  it('is canceled when the saga around it fails, without waiting for it', () => {
    const slow = work('slow', { ...LIMITS, compensateWith: [trace('-slow')] });
    const driver = start([saga([[work('bad')], [slow]])], { ...noTrail, ...FULL });
    const execution = executionAt(driver, 'slow');
    driver.failEffect(driver.effect('bad'));
    expect(driver.data['trail']).toEqual(['-saga']);
    expect(driver.history).toContain('slow Cancelled');
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: [execution] });
  });

  it('is compensated for an earlier attempt', () => {
    const undone = { compensateWith: [trace('-a')], errorBehavior: 'Retry', retryInterval: 0 };
    const driver = start([work('a', { ...LIMITS, ...undone })], { ...noTrail, ...FULL });
    grant(driver, 'w/1/1');
    driver.failEffect(driver.effect('a'));
    expect(driver.open).toEqual(['a limited']);
    driver.cleanUp();
    expect(driver.data['trail']).toEqual(['-a']);
    expect(slotsOf(driver)['freed']).toEqual(['w/1/1', 'w/1/2']);
  });

  it('asks again when its run is resumed', () => {
    const driver = start([work('a', LIMITS)], FULL);
    driver.suspend();
    driver.instance.outbox = [];
    driver.resume();
    expect(driver.instance.outbox).toEqual([ASKS]);
    grant(driver, 'w/1/1');
    driver.endEffect(driver.effect('a'));
    expect(driver.status).toBe('Complete');
  });

  it.each<{ by: string; resume: (driver: EngineDriver) => void }>([
    { by: 'a modification', resume: (driver) => void driver.modify({ resume: true }) },
    { by: 'a load', resume: (driver) => resumeStored(driver) },
  ])('asks again when its run is resumed by $by', ({ resume }) => {
    const driver = start([work('a', LIMITS)], FULL);
    driver.suspend();
    driver.instance.outbox = [];
    resume(driver);
    expect(driver.instance.outbox).toEqual([ASKS]);
  });

  it('gives slots back that it got while its run was being suspended, and waits again', () => {
    const driver = start([work('a', LIMITS)], FULL);
    driver.advance(5);
    driver.suspend();
    grant(driver, 'w/1/1');
    expect(driver.open).toEqual(['a limited']);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: ['w/1/1/1'], freed: ['w/1/1'] });
    expect(driver.outside.slots.waiting.get('w/1/1/1')?.since).toBe(START_MS);
    driver.resume();
    grant(driver, 'w/1/1/1');
    expect(driver.open).toEqual(['a effect']);
  });

  it('waits until the compensations before it have ended, in a clean-up', () => {
    const undo = work('-a', LIMITS);
    const driver = start(inOrder(noOp('a', { compensateWith: [undo] }), waitFor('b')), FULL);
    driver.cleanUp();
    expect(driver.open).toEqual(['-a limited']);
    driver.suspend();
    driver.instance.outbox = [];
    driver.resume();
    expect(driver.instance.outbox).toEqual([ASKS]);
    grant(driver, executionAt(driver, '-a'));
    driver.endEffect(driver.effect('-a'));
    expect(driver.status).toBe('Terminated');
    expect(driver.outside.slots.left).toEqual([]);
  });

  it('goes on waiting in a compensation when its run is cleaned up', () => {
    const undo = work('-a', LIMITS);
    const bad = work('bad', { errorBehavior: 'Compensate' });
    const inside = inOrder(noOp('a', { compensateWith: [undo] }), bad);
    const driver = start([saga([inside], {})], FULL);
    driver.failEffect(driver.effect('bad'));
    driver.suspend();
    driver.instance.outbox = [];
    driver.cleanUp();
    expect(driver.open.at(-1)).toBe('-a limited');
    expect(driver.instance.outbox).toEqual([ASKS]);
    grant(driver, executionAt(driver, '-a'));
    driver.endEffect(driver.effect('-a'));
    expect(driver.status).toBe('Terminated');
  });
});

/** The status was changed in the store while no node had the instance in memory. */
function resumeStored(driver: EngineDriver): void {
  driver.instance.status = 'Runnable';
  driver.reload();
}

scenarios('a step that holds slots', (start) => {
  it.each<{ by: string; end: (driver: EngineDriver) => void }>([
    { by: 'its condition', end: (driver) => void driver.modify({ data: { stop: true } }) },
    { by: 'a modification', end: (driver) => void driver.modify({ cancel: [1] }) },
    { by: 'a termination', end: (driver) => driver.terminate() },
    { by: 'a timeout', end: (driver) => driver.advance(10) },
  ])('frees them when its call is given up by $by', ({ end }) => {
    const ends = {
      cancelCondition: 'data.stop',
      timeout: 10,
      errorBehavior: 'Compensate',
    } as const;
    const driver = start([work('a', { ...LIMITS, ...ends })], { ...ONE, data: { stop: false } });
    end(driver);
    expect(slotsOf(driver)).toEqual(FREED);
  });

  it('holds them while its run is suspended: its call goes on', () => {
    const driver = start(inOrder(work('a', LIMITS), delay('after', 60)), ONE);
    driver.suspend();
    expect(slotsOf(driver)).toEqual({ held: ['w/1/1'], waiting: [], freed: [] });
    driver.endEffect(driver.effect('a'));
    expect(slotsOf(driver)).toEqual(FREED);
  });

  it.each<{ end: string; act: (driver: EngineDriver) => void }>([
    { end: 'its result', act: (driver) => driver.endEffect(driver.effect('slow')) },
    { end: 'its failure', act: (driver) => driver.failEffect(driver.effect('slow')) },
    { end: 'the end of the grace', act: (driver) => driver.advance(600) },
  ])('holds them in a stop until $end', ({ act }) => {
    const slow = work('slow', { ...LIMITS, compensateWith: [trace('-slow')] });
    const driver = start([saga([[work('bad')], [slow]])], { ...noTrail, ...ONE });
    const execution = executionAt(driver, 'slow');
    driver.failEffect(driver.effect('bad'));
    expect(slotsOf(driver)['held']).toEqual([execution]);
    act(driver);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: [execution] });
    expect(driver.data['trail']).toContain('-slow');
  });

  it('frees the slots of a child that is being terminated once it has ended', () => {
    const child = subWorkflow('child', { ...LIMITS, compensateWith: [trace('-child')] });
    const driver = start([saga([[work('bad')], [child]])], { ...noTrail, ...ONE });
    const execution = executionAt(driver, 'child');
    driver.endEffect(driver.effect('child'));
    driver.failEffect(driver.effect('bad'));
    expect(slotsOf(driver)['held']).toEqual([execution]);
    driver.endChild('child', 'Terminated');
    expect(slotsOf(driver)['freed']).toEqual([execution]);
  });

  it('keeps them when another node goes on with its call', () => {
    const driver = start([work('a', LIMITS)], ONE);
    driver.reload();
    expect(driver.open).toEqual(['a effect']);
    expect(driver.effects).toHaveLength(1);
    expect(slotsOf(driver)).toEqual({ held: ['w/1/1'], waiting: [], freed: [] });
    driver.suspend();
    expect(slotsOf(driver)['held']).toEqual(['w/1/1']);
    driver.resume();
    driver.endEffect(driver.effect('a'));
    expect(slotsOf(driver)).toEqual(FREED);
  });

  it('keeps what it waits for when another node goes on', () => {
    const driver = start([subWorkflow('a', LIMITS)], FULL);
    driver.reload();
    expect(driver.open).toEqual(['a limited']);
    grant(driver, 'w/1/1');
    driver.reload();
    expect(driver.open).toEqual(['a child']);
    driver.endEffect(driver.effect('a'));
    driver.endChild('a', 'Complete');
    expect(slotsOf(driver)).toEqual(FREED);
  });

  it('is stored in a format that earlier versions of the server leave alone, while it has slots', () => {
    const driver = start(inOrder(work('a', LIMITS), waitFor('b')), FULL);
    expect(stateVersionOf(driver.instance)).toBe(4);
    grant(driver, 'w/1/1');
    expect(stateVersionOf(driver.instance)).toBe(4);
    driver.endEffect(driver.effect('a'));
    expect(stateVersionOf(driver.instance)).toBe(1);
  });
});

describe('a step that waits for its slots and is moved to another version', () => {
  it('goes on waiting', () => {
    const driver = new EngineDriver(define([work('old', LIMITS)]), FULL);
    const target = { ...define([work('new')]), version: 2 };
    driver.modify({ stepMap: { old: 'new' } }, target);
    expect(driver.open).toEqual(['new limited']);
    grant(driver, 'w/1/1');
    driver.endEffect(driver.effect('new'));
    expect(slotsOf(driver)).toEqual(FREED);
  });
});

/** A session as the server has it before, and between, commits. */
function entered(steps: readonly StepSource[]): Session {
  const options = { id: 'w', data: {}, reference: null, parent: null };
  const session = startSession(define(steps), options, START_MS);
  while (runStep(session, {}));
  return session;
}

const REQUEST = { execution: 'w/1/1', needs: [{ ...ON_SHOP, units: 1 }] };
const WAITS = { ...REQUEST, since: START_MS, on: ON_SHOP };
/** What a suspended step waits for: an earlier grant doesn't count for it. */
const WAITS_AGAIN = { ...WAITS, execution: 'w/1/1/1' };
const NOTHING = { takenSlots: [], waitingSlots: [], begunSlots: [], freedSlots: [], effects: [] };

function stateKinds({ instance }: Session): readonly string[] {
  return [...instance.pointers.values()].map(({ state }) => state.kind);
}

describe('a step that is about to begin', () => {
  it('takes its slots with the commit in which it begins', () => {
    const { changes } = entered([work('a', LIMITS)]);
    expect(changes).toMatchObject({ ...NOTHING, takenSlots: [REQUEST], effects: [1] });
  });

  it('takes none if it ends before that commit', () => {
    const session = entered([work('a', LIMITS)]);
    applyStatus(session, 'Terminated', START_MS);
    expect(session.changes).toMatchObject({ ...NOTHING, effects: [1] });
  });

  it('frees them if it ends after a commit that may have taken them', () => {
    const session = entered([work('a', LIMITS)]);
    session.changes = { ...noChanges(), effects: session.changes.effects };
    applyStatus(session, 'Terminated', START_MS);
    expect(session.changes).toMatchObject({ ...NOTHING, freedSlots: [REQUEST], effects: [1] });
  });

  it('waits if the commit is refused, and tells which executions must not take slots', () => {
    const session = entered([box('all', [[work('a', LIMITS)], [work('b', LIMITS)]])]);
    session.changes = { ...noChanges(), effects: session.changes.effects };
    expect(refuseSlots(session, [{ execution: 'w/3/1', on: ON_SHOP }])).toEqual(['w/3/1']);
    expect(stateKinds(session)).toEqual(['open', 'effect', 'limited']);
    const waitingSlots = [{ ...WAITS, execution: 'w/3/1' }];
    expect(session.changes).toMatchObject({ ...NOTHING, waitingSlots, effects: [2] });
    expect(session.instance.outbox).toEqual([ASKS]);
  });

  it('is not affected by the refusal of what has ended since', () => {
    const session = entered([work('a', LIMITS)]);
    const before = writeState(session.instance);
    const refused = ['w/1/2', 'w/2/1', 'w'].map((execution) => ({ execution, on: ON_SHOP }));
    expect(refuseSlots(session, refused)).toEqual(['w/1/2', 'w/2/1', 'w']);
    expect(writeState(session.instance)).toBe(before);
  });

  it('waits for nothing any more if it ends before the commit in which it waits', () => {
    const session = entered([work('a', LIMITS)]);
    session.changes = { ...noChanges(), effects: session.changes.effects };
    refuseSlots(session, [{ execution: 'w/1/1', on: ON_SHOP }]);
    applyStatus(session, 'Terminated', START_MS);
    expect(session.changes).toMatchObject(NOTHING);
  });

  it.each<{ by: string; suspend: (session: Session) => void }>([
    { by: 'a user', suspend: (session) => applyStatus(session, 'Suspended', START_MS) },
    { by: 'the server', suspend: (session) => haltInstance(session, 'Test', 'it loops') },
  ])('waits if its run is suspended before it begins, by $by', ({ suspend }) => {
    const session = entered([work('a', LIMITS)]);
    suspend(session);
    expect(stateKinds(session)).toEqual(['limited']);
    expect(session.changes).toMatchObject({ ...NOTHING, waitingSlots: [WAITS_AGAIN] });
    session.instance.outbox = [];
    applyStatus(session, 'Runnable', START_MS);
    expect(session.instance.outbox).toEqual([ASKS]);
  });

  it('waits if another step suspends its run before it begins', () => {
    const bad = work('bad', { errorBehavior: 'Suspend' });
    const session = entered([box('all', [[bad], [work('a', LIMITS)]])]);
    const failure = { type: 'Test', message: 'it failed' };
    applyEffect(session, { pointerId: 2, attempt: 1 }, { ok: false, failure });
    expect(stateKinds(session)).toEqual(['open', 'sleeping', 'limited']);
  });

  it('gives back what a commit took before its run was suspended, and waits', () => {
    const session = entered([work('a', LIMITS)]);
    session.changes = { ...noChanges(), effects: session.changes.effects };
    applyStatus(session, 'Suspended', START_MS);
    expect(session.changes).toMatchObject({
      ...NOTHING,
      freedSlots: [REQUEST],
      waitingSlots: [WAITS_AGAIN],
    });
  });

  it('gives back what it got if its run is suspended before it begins', () => {
    const session = entered([work('a', LIMITS)]);
    refuseSlots(session, [{ execution: 'w/1/1', on: ON_SHOP }]);
    session.changes = noChanges();
    applyMessage(session, { kind: 'slots', execution: 'w/1/1' });
    expect(session.changes).toMatchObject({ ...NOTHING, begunSlots: ['w/1/1'], effects: [1] });
    applyStatus(session, 'Suspended', START_MS);
    expect(session.changes).toMatchObject({
      ...NOTHING,
      freedSlots: [REQUEST],
      waitingSlots: [WAITS_AGAIN],
    });
  });

  it('keeps its slots in a suspended run if a crash interrupted it: it may have begun', () => {
    const stored = entered([work('a', LIMITS)]).instance;
    const copy = readState(columnsOf(stored), writeState(stored));
    const session = restoreSession(define([work('a', LIMITS)]), copy, START_MS);
    applyStatus(session, 'Suspended', START_MS);
    expect(stateKinds(session)).toEqual(['effect']);
    expect(session.changes).toMatchObject({ ...NOTHING, effects: [1] });
  });

  it('waits in an attempt after one that a crash interrupted', () => {
    const stored = entered([work('a', LIMITS)]).instance;
    const copy = readState(columnsOf(stored), writeState(stored));
    const session = restoreSession(define([work('a', LIMITS)]), copy, START_MS);
    expect(session.changes).toMatchObject({ ...NOTHING, effects: [1] });
    const failure = { type: 'Test', message: 'it failed' };
    applyEffect(session, { pointerId: 1, attempt: 1 }, { ok: false, failure });
    expect(session.changes.freedSlots).toEqual([REQUEST]);
    const pointer = session.instance.pointers.get(1)!;
    pointer.state = { kind: 'ready' };
    session.queue.add(1);
    runStep(session, {});
    refuseSlots(session, [{ execution: 'w/1/2', on: ON_SHOP }]);
    expect(stateKinds(session)).toEqual(['limited']);
  });
});
