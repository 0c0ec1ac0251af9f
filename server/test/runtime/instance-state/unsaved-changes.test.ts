/**
 * Goal: a commit contains every change that the store does not have yet, and none that cancels itself out.
 * Method: a run without steps to execute, whose changes each test requests by hand.
 */
import { describe, expect, it } from 'vitest';
import { nameKeyOf } from '../../../src/base/ids.js';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { noChanges, type Changes } from '../../../src/engine/session/session.js';
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import { readJson } from '../../../src/engine/values/exact-json.js';
import { UnsavedChanges } from '../../../src/runtime/instance-state/unsaved-changes.js';
import type { ActivityClaim } from '../../../src/store/records/activities.js';
import { define } from '../../engine/support/define.js';
import { claimBy } from '../../store/records.js';

const NOW = 1000;
const SUBSCRIPTION = { id: 'w/1/1', pointerId: 1, name: 'paid', key: '7', effectiveAt: 900 };
const OFFER = { id: 'w/2/1', stepId: 'ship', attempt: 1, name: 'ship', parameters: { box: 3 } };

function scene(claim: ActivityClaim | null = null) {
  const start = { id: 'w', data: {}, reference: null, parent: null };
  const run = startSession(
    define([{ id: 'wait', stepType: 'Delay', inputs: { period: '60' } }]),
    start,
    NOW,
  );
  const unsaved = new UnsavedChanges();
  const released: string[] = [];
  const workers = {
    reserve: () => claim,
    release: (activityId: string) => released.push(activityId),
    refused: (activityId: string) => released.push(activityId),
  };
  /** The run requests these changes, and they are collected. */
  const collect = (changes: Partial<Changes> = {}) => {
    run.changes = { ...noChanges(), ...changes };
    unsaved.collect(run, workers);
  };
  const refuse = (id: string) => unsaved.slotsRefused([id], workers);
  const record = (pointerId: number): StepRecord => ({
    pointerId,
    stepId: 'wait',
    status: 'Complete',
    attempt: 1,
    startTime: NOW,
    endTime: NOW,
    inputs: {},
    outputs: {},
    error: null,
  });
  /** Steps end: their records are in the state until they are too many. */
  const endSteps = (count: number) => {
    const { instance } = run;
    const first = instance.spilled + instance.recent.length;
    instance.recent.push(...Array.from({ length: count }, (_, index) => record(first + index)));
    collect();
  };
  return { collect, endSteps, refuse, released, run, unsaved };
}

describe('the collected changes of a run', () => {
  it('refers to the instance in each record', () => {
    const { collect, unsaved } = scene();
    collect({ subscriptions: [SUBSCRIPTION], activities: [OFFER] });
    expect(unsaved.side).toEqual({
      history: [],
      subscriptions: [
        { id: 'w/1/1', instanceId: 'w', nameKey: nameKeyOf('paid', '7'), effectiveAt: 900 },
      ],
      activities: [
        {
          id: 'w/2/1',
          instanceId: 'w',
          name: 'ship',
          parameters: '{"stepId":"ship","attempt":1,"parameters":{"box":3}}',
          priority: 3,
          createdAt: NOW,
        },
      ],
    });
  });

  it('gives activities the priority that the instance has when they are saved', () => {
    const { collect, run, unsaved } = scene();
    collect({ activities: [OFFER] });
    // A commit was lost, because a client changed the priority.
    run.instance.priority = 1;
    collect();
    expect(unsaved.side.activities).toMatchObject([{ name: 'ship', priority: 1 }]);
  });

  it('contains each change once, except effects, which follow the commit', () => {
    const { collect, run, unsaved } = scene();
    collect({ subscriptions: [SUBSCRIPTION], effects: [4], abortedEffects: [5] });
    expect(run.changes).toEqual({ ...noChanges(), effects: [4], abortedEffects: [5] });
    collect();
    expect(unsaved.side.subscriptions).toHaveLength(1);
  });

  it('accumulates over several passes, each in order', () => {
    const { collect, unsaved } = scene();
    const record: StepRecord = {
      pointerId: 1,
      stepId: 'a',
      status: 'Complete',
      attempt: 1,
      startTime: 1,
      endTime: 2,
      inputs: null,
      outputs: null,
      error: null,
    };
    const rest = { status: 'Complete', durationMs: 1, startsInstance: false, record } as const;
    const ended = (type: string) => ({ type, ...rest });
    collect({ settledActivities: ['a'], endedAttempts: [ended('Delay')] });
    collect({ settledActivities: ['b'], endedAttempts: [ended('If')] });
    expect(unsaved.removals.settleActivities).toEqual(['a', 'b']);
    expect(unsaved.endedAttempts.map(({ type }) => type)).toEqual(['Delay', 'If']);
  });
});

describe('a wait that ends', () => {
  const WAITS = { subscriptions: [SUBSCRIPTION], activities: [OFFER] };
  const ENDS = { removedSubscriptions: [SUBSCRIPTION.id], removedActivities: [OFFER.id] };
  const REMOVED = { removeSubscriptions: ['w/1/1'], removeActivities: ['w/2/1'] };
  const NOTHING = { removeSubscriptions: [], removeActivities: [] };

  it('leaves nothing to write and nothing to remove before any commit contained it', () => {
    const { collect, unsaved } = scene();
    collect(WAITS);
    collect(ENDS);
    expect(unsaved.side).toMatchObject({ subscriptions: [], activities: [] });
    expect(unsaved.removals).toMatchObject(NOTHING);
  });

  it('is not written again, and is removed, after a commit that may have written it', () => {
    const { collect, unsaved } = scene();
    collect(WAITS);
    unsaved.markAttempted();
    collect(ENDS);
    expect(unsaved.side).toMatchObject({ subscriptions: [], activities: [] });
    expect(unsaved.removals).toMatchObject(REMOVED);
  });

  it('is removed if an earlier commit contained it', () => {
    const { collect, unsaved } = scene();
    collect(ENDS);
    expect(unsaved.removals).toMatchObject(REMOVED);
  });
});

describe('an activity', () => {
  it('is written with the claim of the worker that was reserved for it', () => {
    const claim = claimBy('anna');
    const { collect, unsaved } = scene(claim);
    collect({ activities: [OFFER] });
    expect(unsaved.side.activities[0]!.claim).toEqual(claim);
    expect(unsaved.activityIds).toEqual([OFFER.id]);
  });

  it('loses its claim, and releases its worker, when its slots are refused', () => {
    const { collect, refuse, released, unsaved } = scene(claimBy('anna'));
    collect({ activities: [OFFER] });
    refuse(OFFER.id);
    expect(released).toEqual([OFFER.id]);
    expect(unsaved.side.activities).toMatchObject([{ id: OFFER.id, name: OFFER.name }]);
    expect(unsaved.side.activities[0]).not.toHaveProperty('claim');
    refuse(OFFER.id);
    expect(released).toEqual([OFFER.id]);
  });

  it('releases its worker when it is removed', () => {
    const { collect, released, unsaved } = scene(claimBy('anna'));
    collect({ activities: [OFFER] });
    collect({ removedActivities: [OFFER.id] });
    expect(released).toEqual([OFFER.id]);
    expect(unsaved.activityIds).toEqual([]);
  });
});

describe('the list of step records', () => {
  it('stays in the state up to 64 records', () => {
    const { endSteps, run, unsaved } = scene();
    endSteps(64);
    expect(run.instance.recent).toHaveLength(64);
    expect(unsaved.side.history).toEqual([]);
  });

  it('moves to the history together beyond 64, with consecutive numbers', () => {
    const { endSteps, run, unsaved } = scene();
    endSteps(65);
    endSteps(10);
    endSteps(60);
    const { history } = unsaved.side;
    expect(run.instance).toMatchObject({ recent: [], spilled: 135 });
    expect(history.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 135 }, (_, sequence) => sequence),
    );
    expect(readJson(history[134]!.body)).toMatchObject({ pointerId: 134 });
  });
});
