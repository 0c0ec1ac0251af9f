/** Events and WaitFor. */
import { describe, expect, it } from 'vitest';
import { itFails } from './support/cases.js';
import { fresh } from './support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const waitFor = (Id: string, name: string, inputs = {}, rest = {}) =>
  step(
    Id,
    'WaitFor',
    { EventName: `"${name}"`, EventKey: 'data.key', ...inputs },
    { Outputs: { got: 'step.EventData' }, ...rest },
  );

everyStore('an event', (at) => {
  it('wakes only the run that waits for its name and key', async () => {
    const { client } = at;
    const name = fresh('event');
    const definition = await client.define(chain(waitFor('wait', name), mark('after')));
    const [a, b] = [
      await client.start(definition, { key: 'a' }),
      await client.start(definition, { key: 'b' }),
    ];
    await client.untilWaiting(a, 'wait');
    const waiting = await client.untilWaiting(b, 'wait');
    expect(waiting.waitsFor).toEqual({ kind: 'event', eventName: name, eventKey: 'b' });
    const published = await client.publish(name, 'a', { x: [1] });
    expect(published.id).not.toBe('');
    expect(published.deliveredTo).toBe(1);
    expect((await client.ended(a)).data).toEqual({ key: 'a', got: { x: [1] }, trail: ['after'] });
    expect(await client.workflow(b)).toMatchObject({ status: 'Runnable' });
    expect((await client.publish(fresh('other'), 'b', 1)).deliveredTo).toBe(0);
    await client.publish(name, 'b', 'text');
    expect((await client.ended(b)).data).toMatchObject({ got: 'text' });
  });

  it('reaches every waiting run', async () => {
    const { client } = at;
    const name = fresh('event');
    const definition = await client.define([waitFor('wait', name)]);
    const ids = await Promise.all(
      [1, 2, 3, 4, 5].map(() => client.start(definition, { key: 'k' })),
    );
    for (const id of ids) await client.untilWaiting(id, 'wait');
    expect((await client.publish(name, 'k', 1)).deliveredTo).toBe(5);
    for (const id of ids) expect((await client.ended(id)).data).toMatchObject({ got: 1 });
  });

  it.each([[null], [0], [false], [''], ['text'], [[]], [{}], [[1, { a: null }]], [3.5]])(
    'carries any JSON value: %j',
    async (value) => {
      const { client } = at;
      const name = fresh('event');
      const id = await client.defineAndStart([waitFor('wait', name)], { key: 'k' });
      await client.publish(name, 'k', value);
      expect((await client.ended(id)).data).toEqual({ key: 'k', got: value });
    },
  );

  it('is taken by a later wait if it was published after the start of the run', async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart(
      chain(step('first', 'Activity', { ActivityName: `"${name}"` }), waitFor('wait', name)),
      { key: 'k' },
    );
    const { token } = await client.work(name);
    expect((await client.publish(name, 'k', 'early')).deliveredTo).toBe(0);
    await client.succeed(token, null);
    expect((await client.ended(id)).data).toMatchObject({ got: 'early' });
  });

  it("isn't taken if it was published before the start, unless EffectiveDate allows it", async () => {
    const { client } = at;
    const name = fresh('event');
    await client.publish(name, 'k', 'old');
    const strict = await client.defineAndStart([waitFor('wait', name)], { key: 'k' });
    await client.untilWaiting(strict, 'wait');
    const lenient = await client.defineAndStart(
      [waitFor('wait', name, { EffectiveDate: 'data.since' })],
      { key: 'k', since: '2020-01-01T00:00:00Z' },
    );
    expect((await client.ended(lenient)).data).toMatchObject({ got: 'old' });
    expect(await client.workflow(strict)).toMatchObject({ status: 'Runnable', data: { key: 'k' } });
    await client.publish(name, 'k', 'new');
    expect((await client.ended(strict)).data).toMatchObject({ got: 'new' });
  });

  it("isn't taken before a future EffectiveDate, which can be a datetime", async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart(
      [waitFor('wait', name, { EffectiveDate: 'datetime.now(timezone.utc) + timedelta(hours=1)' })],
      { key: 'k' },
    );
    await client.untilWaiting(id, 'wait');
    expect((await client.publish(name, 'k', 1)).deliveredTo).toBe(0);
    expect(await client.workflow(id)).toMatchObject({ status: 'Runnable', data: { key: 'k' } });
    await client.terminate(id);
  });

  it('is taken once in a run, so that a loop gets the next one, oldest first', async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart(
      chain(
        step('hold', 'Activity', { ActivityName: `"${name}"` }),
        step(
          'loop',
          'While',
          { Condition: 'len(data.got) < 3' },
          {
            Do: [
              [
                step(
                  'wait',
                  'WaitFor',
                  { EventName: `"${name}"`, EventKey: '"k"' },
                  { Outputs: { got: 'data.got + [step.EventData]' } },
                ),
              ],
            ],
          },
        ),
      ),
      { got: [] },
    );
    const { token } = await client.work(name);
    await client.publish(name, 'k', 'first');
    await client.publish(name, 'k', 'second');
    await client.succeed(token, null);
    const waiting = await client.untilWorkflow(
      id,
      ({ data }) => (data['got'] as string[]).length === 2,
    );
    expect(waiting.data['got']).toEqual(['first', 'second']);
    await client.publish(name, 'k', 'third');
    expect((await client.ended(id)).data['got']).toEqual(['first', 'second', 'third']);
  });

  it('goes to one wait of a run, and the next event to another', async () => {
    const { client } = at;
    const name = fresh('event');
    const wait = (id: string) =>
      step(
        id,
        'WaitFor',
        { EventName: `"${name}"`, EventKey: '"k"' },
        { Outputs: { got: 'data.got + [step.EventData]' } },
      );
    const id = await client.defineAndStart(
      [step('both', 'Parallel', {}, { Do: [[wait('a')], [wait('b')]] })],
      { got: [] },
    );
    await client.untilWaiting(id, 'b');
    await client.publish(name, 'k', 1);
    await client.untilWorkflow(id, ({ data }) => (data['got'] as number[]).length === 1);
    expect(await client.workflow(id)).toMatchObject({ status: 'Runnable' });
    await client.publish(name, 'k', 2);
    expect((await client.ended(id)).data['got']).toEqual([1, 2]);
  });

  it('is taken once and in order, even in quick succession', async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart(
      [
        step(
          'loop',
          'While',
          { Condition: 'len(data.got) < 20' },
          {
            Do: [
              [
                step(
                  'wait',
                  'WaitFor',
                  { EventName: `"${name}"`, EventKey: '"k"' },
                  { Outputs: { got: 'data.got + [step.EventData]' } },
                ),
              ],
            ],
          },
        ),
      ],
      { got: [] },
    );
    for (let n = 0; n < 20; n += 1) await client.publish(name, 'k', n);
    expect((await client.ended(id)).data['got']).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  describe('Timeout', () => {
    it('continues without an event, and sets TimedOut', async () => {
      const { client } = at;
      const name = fresh('event');
      const done = await client.run(
        chain(
          waitFor(
            'wait',
            name,
            { Timeout: 0.1 },
            { Outputs: { got: 'step.EventData', late: 'step.TimedOut' } },
          ),
          mark('after'),
        ),
        { key: 'k' },
      );
      expect(done.data).toEqual({ key: 'k', got: null, late: true, trail: ['after'] });
      expect((await client.publish(name, 'k', 1)).deliveredTo).toBe(0);
    });

    it('has no effect if the event arrives in time', async () => {
      const { client } = at;
      const name = fresh('event');
      const id = await client.defineAndStart(
        [
          waitFor(
            'wait',
            name,
            { Timeout: 3600 },
            { Outputs: { got: 'step.EventData', late: 'step.TimedOut' } },
          ),
        ],
        { key: 'k' },
      );
      await client.publish(name, 'k', 1);
      expect((await client.ended(id)).data).toEqual({ key: 'k', got: 1, late: false });
    });
  });

  it("remains pending for a suspended run until it's resumed", async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart([waitFor('wait', name)], { key: 'k' });
    await client.untilWaiting(id, 'wait');
    expect((await client.control(id, 'suspend')).body.status).toBe('Suspended');
    await client.publish(name, 'k', 'kept');
    expect(await client.workflow(id)).toMatchObject({ status: 'Suspended', data: { key: 'k' } });
    expect((await client.control(id, 'resume')).status).toBe(200);
    expect((await client.ended(id)).data).toMatchObject({ got: 'kept' });
  });

  it("doesn't reach a terminated run", async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart([waitFor('wait', name)], { key: 'k' });
    await client.untilWaiting(id, 'wait');
    const { body } = await client.terminate(id);
    await eventually('the event has no taker left', async () => {
      const { deliveredTo } = await client.publish(name, 'k', 1);
      return deliveredTo === 0;
    });
    // Its node commits once more after the end was written, which changes nothing else.
    expect(await client.workflow(id)).toEqual({
      ...body,
      lastChangeTime: expect.any(String) as string,
    });
  });

  it('matches by exact name and key, with any characters', async () => {
    const { client } = at;
    const name = fresh('Ereignis é/%?#');
    const id = await client.defineAndStart(
      [
        step(
          'wait',
          'WaitFor',
          { EventName: 'data.name', EventKey: 'data.key' },
          { Outputs: { got: 'step.EventData' } },
        ),
      ],
      { name, key: 'a/b c+d\u00fc' },
    );
    await client.untilWaiting(id, 'wait');
    expect((await client.publish(name.toUpperCase(), 'a/b c+d\u00fc', 1)).deliveredTo).toBe(0);
    expect((await client.publish(name, 'a/b c+d', 1)).deliveredTo).toBe(0);
    await client.publish(name, 'a/b c+d\u00fc', 'exact');
    expect((await client.ended(id)).data['got']).toBe('exact');
  });

  it('matches a number as the key by its text', async () => {
    const { client } = at;
    const name = fresh('event');
    const id = await client.defineAndStart([waitFor('wait', name)], { key: 7 });
    await client.publish(name, '7', 1);
    expect((await client.ended(id)).data['got']).toBe(1);
  });

  it('is taken by a wait that the run reaches later', async () => {
    const { client } = at;
    const name = fresh('event');
    const other = fresh('event');
    const id = await client.defineAndStart(
      chain(
        waitFor('first', name, {}, { Outputs: { one: 'step.EventData' } }),
        waitFor('second', other, {}, { Outputs: { two: 'step.EventData' } }),
        compute('sum', { sum: 'data.one + data.two' }),
      ),
      { key: 'k' },
    );
    await client.publish(other, 'k', 2);
    await client.publish(name, 'k', 1);
    expect((await client.ended(id)).data).toMatchObject({ sum: 3 });
  });

  describe('invalid inputs', () => {
    itFails(at, [
      {
        does: 'a missing name',
        step: step('wait', 'WaitFor', { EventName: 'None', EventKey: '"k"' }),
        message: /EventName/,
      },
      {
        does: 'an empty key, under which nothing can be published',
        step: step('wait', 'WaitFor', { EventName: '"e"', EventKey: 'data.get("key", "")' }),
        message: /^the input EventKey: the string is empty$/,
      },
      {
        does: 'a key with a line break',
        step: step('wait', 'WaitFor', { EventName: '"e"', EventKey: '"a" + chr(10)' }),
        message: /^the input EventKey: the string contains a control character$/,
      },
      {
        does: 'a key that exceeds the maximum length of event keys',
        step: step('wait', 'WaitFor', { EventName: '"e"', EventKey: '"k" * 513' }),
        message: /^the input EventKey: the string is longer than 512 characters$/,
      },
      {
        does: 'an invalid date',
        step: step('wait', 'WaitFor', {
          EventName: '"e"',
          EventKey: '"k"',
          EffectiveDate: 'data.d',
        }),
        data: { d: 'soon' },
        message: /EffectiveDate/,
      },
    ]);
  });
});
