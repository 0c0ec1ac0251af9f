/** Steps with Limits: they take slots when they begin, wait for them if there are none, and free them with each attempt. */
import { expect, it } from 'vitest';
import { inOrder, type StepSource } from './support/define.js';
import { START_MS, type EngineDriver } from './support/engine-driver.js';
import { scenarios } from './support/scenario.js';
import { executionAt, grant } from './support/slots.js';
import {
  activity,
  box,
  delay,
  foreach,
  noOp,
  subWorkflow,
  work,
  type StepMembers,
} from './support/steps.js';

const LIMITS = { limits: ['shop'] } as const;
const ON_SHOP = { limit: 'shop', key: '' };
const ASKS = { kind: 'ask-slots', on: ON_SHOP };
const FULL = { slots: { shop: 0 } };
const ONE = { slots: { shop: 1 } };

function slotsOf({ outside: { slots } }: EngineDriver): Record<string, readonly string[]> {
  const { freed, held, waiting } = slots;
  return { held: [...held.keys()], waiting: [...waiting.keys()], freed };
}

function httpRequest(id: string, members: StepMembers = {}): StepSource {
  return { id, stepType: 'HttpRequest', inputs: { baseUrl: "'http://shop'" }, ...members };
}

scenarios('a step with Limits', (start) => {
  it.each<{ of: string; step: (id: string, members: StepMembers) => StepSource; state: string }>([
    { of: 'HttpRequest', step: httpRequest, state: 'a effect' },
    { of: 'a custom step', step: work, state: 'a effect' },
    { of: 'SubWorkflow', step: subWorkflow, state: 'a child' },
  ])('begins with its slots, or once it has them: $of', ({ state, step }) => {
    const free = start([step('a', LIMITS)], ONE);
    expect(free.open).toEqual([state]);
    expect(slotsOf(free)).toEqual({ held: ['w/1/1'], waiting: [], freed: [] });

    const driver = start([step('a', LIMITS)], FULL);
    expect(driver.open).toEqual(['a limited']);
    expect(driver.effects).toEqual([]);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: ['w/1/1'], freed: [] });
    driver.advance(5);
    grant(driver, 'w/1/1');
    expect(driver.open).toEqual([state]);
    expect(driver.effects).toEqual(free.effects);
    expect(driver.pointer('a').state).toEqual(free.pointer('a').state);
    expect(slotsOf(driver)).toEqual({ held: ['w/1/1'], waiting: [], freed: [] });
  });

  it('needs the units of each limit and key, in the order of the names', () => {
    const limits = [
      { name: 'zoo', key: 'data.customer', units: 3 },
      'a',
      { name: 'm', key: 'data.none' },
    ];
    const driver = start([work('step', { limits })], { data: { customer: 7, none: null } });
    expect(driver.pointer('step').slots).toEqual({
      execution: 'w/1/1',
      needs: [
        { limit: 'a', key: '', units: 1 },
        { limit: 'm', key: '', units: 1 },
        { limit: 'zoo', key: '7', units: 3 },
      ],
    });
  });

  it.each([
    { value: true, key: 'True' },
    { value: '', key: '' },
    { value: 1.5, key: '1.5' },
    { value: 'x'.repeat(256), key: 'x'.repeat(256) },
  ])('has the key of an event for $value', ({ key, value }) => {
    const limits = [{ name: 'shop', key: 'data.value' }];
    const driver = start([work('a', { limits })], { data: { value } });
    expect(driver.pointer('a').slots?.needs).toEqual([{ limit: 'shop', key, units: 1 }]);
  });

  it.each([
    { of: 'an expression that fails', key: 'data.none.x', value: null },
    { of: 'a text that is too long', key: 'data.value', value: 'x'.repeat(257) },
    { of: 'a list', key: 'data.value', value: [1] },
    { of: 'a control character', key: 'data.value', value: 'a\nb' },
  ])('fails without a retry if its key is $of', ({ key, value }) => {
    const step = work('a', {
      limits: [{ name: 'shop', key }],
      errorBehavior: 'Retry',
      onRetriesExhausted: 'Terminate',
    });
    const driver = start([step], { data: { value } });
    expect(driver.history).toEqual(['a Failed']);
    expect(driver.records[0]?.error).toMatchObject({ type: 'InvalidLimitKey', retryable: false });
    expect(driver.status).toBe('Terminated');
    expect(driver.asked.size).toBe(0);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: [] });
  });

  it('asks for no slots if its inputs are wrong', () => {
    const inputs = { definitionId: '[]' };
    const driver = start([subWorkflow('a', { ...LIMITS, inputs, retryInterval: 60 })], ONE);
    expect(driver.records[0]?.error?.type).toBe('InputError');
    expect(driver.open).toEqual(['a sleeping']);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: [] });
  });

  it('fails without a retry if a limit does not exist, or no longer', () => {
    const members = { errorBehavior: 'Retry', onRetriesExhausted: 'Compensate' } as const;
    const steps = inOrder(work('a', { ...LIMITS, ...members }), delay('after', 60));
    const unknown = start(steps, { slots: {} });
    const deleted = start(steps, FULL);
    deleted.deliver({ kind: 'slots', execution: 'w/1/1', unknown: 'shop' });
    for (const driver of [unknown, deleted]) {
      expect(driver.records[0]?.error).toMatchObject({
        type: 'UnknownLimit',
        message: expect.stringContaining("'shop'") as string,
        retryable: false,
      });
      expect(driver.open).toEqual(['after sleeping']);
      expect(driver.asked.size).toBe(0);
    }
    expect(slotsOf(unknown)['freed']).toEqual([]);
    expect(slotsOf(deleted)).toEqual({ held: [], waiting: [], freed: ['w/1/1'] });
  });

  it('asks once for each key for which steps wait', () => {
    const keyed = [{ name: 'shop', key: 'context.Item % 2' }];
    const driver = start([foreach('all', '[1, 2, 3, 4]', [work('a', { limits: keyed })])], FULL);
    expect(driver.instance.outbox).toEqual([
      { kind: 'ask-slots', on: { limit: 'shop', key: '1' } },
      { kind: 'ask-slots', on: { limit: 'shop', key: '0' } },
    ]);
  });

  it('takes back what it asked once nothing waits for the key any more', () => {
    const driver = start([foreach('all', '[1, 2]', [work('a', LIMITS)])], FULL);
    const executions = driver.pointers.slice(1).map(({ slots }) => slots!.execution);
    expect(driver.instance.outbox).toEqual([ASKS]);
    grant(driver, executions[0]!);
    expect(driver.instance.outbox).toEqual([ASKS]);
    grant(driver, executions[1]!);
    expect(driver.instance.outbox).toEqual([]);
  });

  it('begins once, whatever it is told afterwards', () => {
    const driver = start([work('a', LIMITS)], FULL);
    grant(driver, 'w/1/1');
    driver.deliver({ kind: 'slots', execution: 'w/1/1' });
    driver.deliver({ kind: 'slots', execution: 'w/1/1', unknown: 'shop' });
    expect(driver.open).toEqual(['a effect']);
    driver.endEffect(driver.effect('a'));
    driver.deliver({ kind: 'slots', execution: 'w/1/1' });
    expect(driver.status).toBe('Complete');
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: ['w/1/1'] });
  });

  it('counts its attempt, and its Timeout, from when it was reached', () => {
    const driver = start([work('a', { ...LIMITS, timeout: 10 })], FULL);
    driver.advance(6);
    grant(driver, 'w/1/1');
    expect(driver.pointer('a').attemptStartedAt).toBe(START_MS);
    driver.advance(3.999);
    expect(driver.open).toEqual(['a effect']);
    driver.advance(0.001);
    expect(driver.records[0]?.error?.type).toBe('Timeout');
  });

  it('times out while it waits, as a step that has not begun', () => {
    const members = { timeout: 10, errorBehavior: 'Retry', retryInterval: 60 } as const;
    const driver = start([work('a', { ...LIMITS, ...members })], FULL);
    driver.advance(10);
    expect(driver.records[0]?.error?.type).toBe('Timeout');
    expect(driver.pointer('a').isUncertain).toBeUndefined();
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: ['w/1/1'] });
    driver.advance(60);
    expect(driver.open).toEqual(['a limited']);
    expect(slotsOf(driver)['waiting']).toEqual(['w/1/2']);
  });

  it('frees its slots while it backs off, and takes new ones for the next attempt', () => {
    const driver = start([work('a', { ...LIMITS, retryInterval: 60 })], ONE);
    driver.failEffect(driver.effect('a'));
    expect(driver.open).toEqual(['a sleeping']);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: ['w/1/1'] });
    driver.advance(60);
    expect(slotsOf(driver)).toEqual({ held: ['w/1/2'], waiting: [], freed: ['w/1/1'] });
  });

  it('evaluates its key for each attempt, and holds nothing while its outputs are retried', () => {
    const limits = [{ name: 'shop', key: 'data.customer' }];
    const outputs = { copy: 'data.later' };
    const step = work('a', { limits, outputs, retryInterval: 60 });
    const driver = start([step], { data: { customer: 'x' } });
    driver.failEffect(driver.effect('a'));
    driver.modify({ data: { customer: 'y' } });
    driver.advance(60);
    expect(driver.pointer('a').slots?.needs[0].key).toBe('y');
    driver.endEffect(driver.effect('a'));
    expect(driver.open).toEqual(['a sleeping']);
    driver.modify({ data: { later: 1 } });
    driver.advance(60);
    expect(driver.status).toBe('Complete');
    expect(slotsOf(driver)['freed']).toEqual(['w/1/1', 'w/1/2']);
  });

  it('takes slots for each item that has some, and the others wait', () => {
    const driver = start([foreach('all', '[1, 2, 3]', [work('a', LIMITS)])], {
      slots: { shop: 2 },
    });
    expect(driver.open.slice(1)).toEqual(['a effect', 'a effect', 'a limited']);
    driver.endEffect(driver.effects[0]!);
    expect(driver.outside.slots.next()).toBe('w/4/1');
    grant(driver, 'w/4/1');
    for (const effect of driver.effects) driver.endEffect(effect);
    expect(driver.status).toBe('Complete');
    expect(driver.outside.slots.left).toEqual([]);
  });

  it('holds no slot of one limit while it waits for another', () => {
    const both = work('both', { limits: ['full', 'shop'] });
    const driver = start([box('all', [[both], [work('one', LIMITS)]])], {
      slots: { full: 0, shop: 1 },
    });
    expect(driver.open.slice(1)).toEqual(['both limited', 'one effect']);
    expect(driver.pointer('both').state).toMatchObject({ on: { limit: 'full', key: '' } });
    expect(slotsOf(driver)['held']).toEqual([executionAt(driver, 'one')]);
  });

  it('keeps the time since when it waits, and its next state', () => {
    const driver = start(
      inOrder(delay('before', 5), work('a', { ...LIMITS, inputs: { x: '1' } })),
      FULL,
    );
    driver.advance(20);
    const since = START_MS + 5000;
    const next = { kind: 'effect', inputs: { x: 1 } };
    expect(driver.pointer('a').state).toEqual({ kind: 'limited', since, on: ON_SHOP, next });
    expect([...driver.outside.slots.waiting.values()]).toMatchObject([{ since, on: ON_SHOP }]);
  });
});

scenarios('a SubWorkflow step with Limits', (start) => {
  it('holds its slots until its child has ended', () => {
    const driver = start([subWorkflow('a', LIMITS)], ONE);
    driver.endEffect(driver.effect('a'));
    expect(slotsOf(driver)['held']).toEqual(['w/1/1']);
    driver.endChild('a', 'Complete');
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: ['w/1/1'] });
  });

  it('holds them while it waits for a run that it has joined', () => {
    const driver = start([subWorkflow('a', LIMITS)], ONE);
    driver.endEffect(driver.effect('a'), { WorkflowId: 'other' });
    expect(slotsOf(driver)['held']).toEqual(['w/1/1']);
    driver.endChild('a', 'Complete');
    expect(slotsOf(driver)['freed']).toEqual(['w/1/1']);
  });

  it('frees them once its child has started if it does not wait', () => {
    const driver = start(
      inOrder(subWorkflow('a', { ...LIMITS, inputs: { wait: false } }), delay('after', 60)),
      ONE,
    );
    driver.endEffect(driver.effect('a'));
    expect(driver.open).toEqual(['after sleeping']);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: ['w/1/1'] });
  });

  it('starts no child for an attempt that only waited', () => {
    const driver = start([subWorkflow('a', { ...LIMITS, timeout: 10, retryInterval: 60 })], FULL);
    driver.advance(10);
    expect(driver.instance.outbox.filter(({ kind }) => kind === 'terminate-child')).toEqual([]);
    driver.terminate();
    expect(driver.instance.outbox.filter(({ kind }) => kind === 'terminate-child')).toEqual([]);
  });
});

scenarios('an Activity with Limits', (start) => {
  it('waits in its queue: the item says what its holder needs', () => {
    const driver = start([activity('a', { limits: [{ name: 'shop', units: 2 }] })], FULL);
    expect(driver.open).toEqual(['a activity']);
    expect(driver.activity('a').needs).toEqual([{ limit: 'shop', key: '', units: 2 }]);
    expect(slotsOf(driver)).toEqual({ held: [], waiting: [], freed: [] });
  });

  it('leaves it to the store to free them with the result', () => {
    const driver = start([activity('a', { ...LIMITS, retryInterval: 60 })]);
    driver.reject(driver.activity('a'));
    expect(driver.pointer('a').slots).toBeUndefined();
    driver.advance(60);
    driver.succeed(driver.activity('a'));
    expect(driver.status).toBe('Complete');
    expect(slotsOf(driver)['freed']).toEqual([]);
  });

  it('frees them if the item is withdrawn', () => {
    const timedOut = start([activity('a', { ...LIMITS, timeout: 10, retryInterval: 60 })]);
    timedOut.advance(10);
    expect(slotsOf(timedOut)['freed']).toEqual(['w/1/1']);
    const terminated = start([activity('a', LIMITS)]);
    terminated.terminate();
    expect(slotsOf(terminated)['freed']).toEqual(['w/1/1']);
  });

  it('frees them if a stopped item ends without a result', () => {
    const step = activity('a', { ...LIMITS, compensateWith: [noOp('-a')] });
    const notBegun = start([step]);
    notBegun.cleanUp();
    expect(slotsOf(notBegun)['freed']).toEqual(['w/1/1']);
    const released = start([step]);
    released.hold(released.activity('a'));
    released.cleanUp();
    expect(slotsOf(released)['freed']).toEqual([]);
    released.giveBack(released.activity('a'));
    expect(slotsOf(released)['freed']).toEqual(['w/1/1']);
    expect(released.ran).toEqual(['-a']);
  });
});
