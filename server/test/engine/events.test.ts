/** WaitFor: which event a wait takes, when, and how often. */
import { describe, expect, it } from 'vitest';
import { startSession } from '../../src/engine/flow/lifecycle.js';
import { applyMessage } from '../../src/engine/flow/messages.js';
import { enterStep, nextWork } from '../../src/engine/flow/step-work.js';
import { define, inOrder, type StepSource } from './support/define.js';
import { START_MS } from './support/engine-driver.js';
import { scenarios } from './support/scenario.js';
import { box, delay, foreach, fork, noOp, waitFor } from './support/steps.js';

/** A wait that appends the data of its event to `data.got`. */
function take(id: string, inputs: Record<string, unknown> = {}): StepSource {
  return waitFor(id, {
    inputs: { eventName: "'news'", ...inputs },
    outputs: { got: '[...data.got, step.TimedOut ? "late" : step.EventData]' },
  });
}
const noEvents = { data: { got: [], n: 0 } };

scenarios('a WaitFor step', (start) => {
  it('waits for an event with its name and key, and ignores others', () => {
    const driver = start(inOrder(take('wait'), noOp('after')), noEvents);
    driver.publish('news', 'other', 'wrong key');
    driver.publish('other', 'key', 'wrong name');
    expect(driver.open).toEqual(['wait event']);
    driver.publish('news', 'key', { headline: 'right' });
    expect(driver.data['got']).toEqual([{ headline: 'right' }]);
    expect(driver.ran).toEqual(['wait', 'after']);
    expect(driver.subscriptions).toEqual([]);
  });

  it.each([null, false, 0, '', [], {}])('accepts any data: %j', (data) => {
    const driver = start([take('wait')], noEvents);
    driver.publish('news', 'key', data);
    expect(driver.data['got']).toEqual([data]);
  });

  it('converts a number as name or key to a string', () => {
    const driver = start([take('wait', { eventName: 'data.n', eventKey: '7' })], noEvents);
    driver.publish('0', '7', 'x');
    expect(driver.data['got']).toEqual(['x']);
  });

  it('fails if the name or the key is not a string', () => {
    const driver = start([take('wait', { eventKey: 'null' })], noEvents);
    expect(driver.history).toEqual(['wait Failed']);
    expect(driver.instance.lastError?.message).toContain('EventKey');
  });

  it('takes an event published between the start of the run and the start of the step', () => {
    const driver = start(inOrder(delay('before', 10), take('wait')), noEvents);
    driver.advance(5);
    driver.publish('news', 'key', 'early');
    driver.advance(5);
    expect(driver.data['got']).toEqual(['early']);
    expect(driver.status).toBe('Complete');
  });

  it('ignores an event published before the start of the run', () => {
    const driver = start(inOrder(delay('before', 10), take('wait')), noEvents);
    driver.store('news', 'key', 'old', START_MS - 1);
    driver.advance(10);
    expect(driver.open).toEqual(['wait event']);
  });

  it('takes an event published at the exact time of the start', () => {
    const driver = start(inOrder(delay('before', 10), take('wait')), noEvents);
    driver.store('news', 'key', 'now', START_MS);
    driver.advance(10);
    expect(driver.data['got']).toEqual(['now']);
  });

  it.each([
    { effectiveDate: '"2029-12-31T23:59:59Z"', got: ['old', 'new'] },
    { effectiveDate: '"2030-01-01T00:00:00Z"', got: ['new'] },
    { effectiveDate: 'null', got: ['new'] },
    { effectiveDate: '"2030-01-01T01:00:00"', got: [] },
  ])('takes events from its EffectiveDate on: $effectiveDate', ({ effectiveDate, got }) => {
    const driver = start(
      inOrder(delay('d', 10), take('first', { effectiveDate }), take('second', { effectiveDate })),
      noEvents,
    );
    driver.store('news', 'key', 'old', START_MS - 1000);
    driver.publish('news', 'key', 'new');
    driver.advance(10);
    expect(driver.data['got']).toEqual(got);
  });

  it('ignores a delivered event from before its EffectiveDate', () => {
    const driver = start([take('wait', { effectiveDate: '"2030-01-01T01:00:00Z"' })], noEvents);
    driver.publish('news', 'key', 'too early');
    expect(driver.open).toEqual(['wait event']);
    driver.advance(3600);
    driver.publish('news', 'key', 'in time');
    expect(driver.data['got']).toEqual(['in time']);
  });
});

scenarios('an event', (start) => {
  const loop = [
    {
      id: 'while',
      stepType: 'While',
      inputs: { condition: 'data.got.length < 3' },
      do: [take('wait')],
    },
  ];

  it('is taken once: a loop that waits again takes the next one, oldest first', () => {
    const driver = start(inOrder(delay('before', 10), ...loop), noEvents);
    for (const data of [1, 2, 3, 4]) {
      driver.publish('news', 'key', data);
      driver.advance(1);
    }
    driver.advance(6);
    expect(driver.data['got']).toEqual([1, 2, 3]);
    expect(driver.status).toBe('Complete');
  });

  it('is taken once, even if it is delivered again', () => {
    const driver = start(loop, noEvents);
    const event = driver.publish('news', 'key', 1);
    driver.deliver(event);
    driver.deliver(event);
    expect(driver.data['got']).toEqual([1]);
    driver.publish('news', 'key', 2);
    driver.deliver(event);
    expect(driver.data['got']).toEqual([1, 2]);
  });

  it('is taken once, even if a later one was taken before it', () => {
    const driver = start(loop, noEvents);
    driver.advance(10);
    driver.publish('news', 'key', 'second');
    // Published on a node whose clock is behind.
    const late = driver.publish('news', 'key', 'first', { at: driver.now - 5000 });
    expect(driver.data['got']).toEqual(['second', 'first']);
    driver.deliver(late);
    expect(driver.data['got']).toEqual(['second', 'first']);
  });

  it('goes to only one of the waits of an instance, the one that was opened first', () => {
    const driver = start([fork('f', 'a', 'b'), take('a'), take('b')], noEvents);
    driver.publish('news', 'key', 1);
    expect(driver.open).toEqual(['b event']);
    driver.publish('news', 'key', 2);
    expect(driver.data['got']).toEqual([1, 2]);
  });

  it('goes to the first wait that can take it, not to one with a later EffectiveDate', () => {
    const driver = start(
      [fork('f', 'a', 'b'), take('a', { effectiveDate: '"2031-01-01"' }), take('b')],
      noEvents,
    );
    driver.publish('news', 'key', 1);
    expect(driver.open).toEqual(['a event']);
  });

  it('is taken by each item of a Foreach in turn', () => {
    const driver = start(
      inOrder(delay('before', 10), foreach('each', "['x', 'y']", [take('wait')])),
      noEvents,
    );
    driver.publish('news', 'key', 1);
    driver.publish('news', 'key', 2);
    driver.advance(10);
    expect([...(driver.data['got'] as number[])].sort()).toEqual([1, 2]);
    expect(driver.status).toBe('Complete');
  });

  it('stays taken in a loop of thousands of iterations, without the instance growing', () => {
    const driver = start(
      [
        {
          id: 'while',
          stepType: 'While',
          inputs: { condition: 'true' },
          do: [
            waitFor('wait', {
              inputs: { eventName: "'news'" },
              outputs: { sum: 'data.sum + step.EventData' },
            }),
          ],
        },
      ],
      { data: { sum: 0 } },
    );
    const first = driver.publish('news', 'key', 1);
    let length = 0;
    for (let count = 1; count < 1000; count += 1) {
      driver.advance(0.001);
      driver.publish('news', 'key', 1);
      if (count === 500) length = driver.text.length;
    }
    driver.deliver(first);
    expect(driver.data['sum']).toBe(1000);
    expect(driver.text.length).toBeLessThan(length + 50);
  });
});

describe('a wait that has not searched the stored events yet', () => {
  it('does not take a delivered event, because an older one may be stored', () => {
    const run = startSession(
      define([waitFor('a')]),
      { id: 'w', data: {}, reference: null, parent: null },
      START_MS,
    );
    enterStep(run, nextWork(run)!.pointer, {
      inputs: { EventName: 'a', EventKey: 'key' },
      shown: {},
    });
    const event = { name: 'a', key: 'key', publishedAt: START_MS, data: 1, eventId: 'e' } as const;
    applyMessage(run, { kind: 'event', ...event });
    expect(run.instance.pointers.get(1)?.state.kind).toBe('event');
    expect(run.instance.taken.size).toBe(0);
  });

  it('is every wait after an overflow of the inbox, even for events that are in the inbox', () => {
    const run = startSession(
      define([waitFor('a')]),
      { id: 'w', data: {}, reference: null, parent: null },
      START_MS,
    );
    const { pointer } = nextWork(run)!;
    enterStep(run, pointer, { inputs: { EventName: 'a', EventKey: 'key' }, shown: {} });
    if (pointer.state.kind === 'event') pointer.state = { ...pointer.state, looked: true };
    applyMessage(run, { kind: 'overflow' });
    const event = { name: 'a', key: 'key', publishedAt: START_MS, data: 1, eventId: 'e' } as const;
    applyMessage(run, { kind: 'event', ...event });
    expect(run.instance.pointers.get(1)?.state).toMatchObject({ kind: 'event', looked: false });
  });
});

scenarios('the Timeout input of a WaitFor step', (start) => {
  it('lets the step continue without an event', () => {
    const driver = start(inOrder(take('wait', { timeout: 10 }), noOp('after')), noEvents);
    driver.advance(9.999);
    expect(driver.open).toEqual(['wait event']);
    driver.advance(0.001);
    expect(driver.data['got']).toEqual(['late']);
    expect(driver.ran).toEqual(['wait', 'after']);
    expect(driver.subscriptions).toEqual([]);
  });

  it('has no effect once the event has arrived', () => {
    const driver = start(inOrder(take('wait', { timeout: 10 }), delay('after', 60)), noEvents);
    driver.publish('news', 'key', 1);
    driver.advance(30);
    expect(driver.data['got']).toEqual([1]);
    expect(driver.open).toEqual(['after sleeping']);
  });

  it('leaves a later event to the next wait', () => {
    const driver = start(inOrder(take('a', { timeout: 10 }), delay('d', 10), take('b')), noEvents);
    driver.advance(15);
    driver.publish('news', 'key', 1);
    driver.advance(5);
    expect(driver.data['got']).toEqual(['late', 1]);
  });

  it.each([
    { input: 10, step: 20, history: ['wait Complete'] },
    { input: 20, step: 10, history: ['wait Failed'] },
  ])(
    'takes precedence over the step Timeout if it ends first, even if both are checked late',
    (times) => {
      const driver = start(
        [
          {
            ...take('wait', { timeout: times.input }),
            timeout: times.step,
            errorBehavior: 'Suspend',
          },
        ],
        noEvents,
      );
      driver.oversleep(60);
      expect(driver.history).toEqual(times.history);
    },
  );
});

scenarios('an instance that is not running', (start) => {
  it('keeps arriving events until it is resumed if it is suspended', () => {
    const driver = start(inOrder(take('wait'), noOp('after')), noEvents);
    driver.suspend();
    driver.publish('news', 'key', 1);
    expect(driver.ran).toEqual([]);
    expect(driver.data['got']).toEqual([]);
    driver.resume();
    expect(driver.data['got']).toEqual([1]);
    expect(driver.ran).toEqual(['wait', 'after']);
  });

  it('takes no events if it is terminated', () => {
    const driver = start([take('wait')], noEvents);
    driver.terminate();
    driver.publish('news', 'key', 1);
    expect(driver.data['got']).toEqual([]);
    expect(driver.subscriptions).toEqual([]);
    expect(driver.status).toBe('Terminated');
  });

  it('has no subscriptions left from canceled containers', () => {
    const driver = start(
      [
        fork('f', 'box', 'stop'),
        box('box', [[take('a')], [box('inner', [take('b')])]], { cancelCondition: 'data.n > 0' }),
        delay('stop', 5, { outputs: { n: '1' } }),
      ],
      noEvents,
    );
    expect(driver.subscriptions).toHaveLength(2);
    driver.advance(5);
    expect(driver.subscriptions).toEqual([]);
    driver.publish('news', 'key', 1);
    expect(driver.data['got']).toEqual([]);
  });
});
