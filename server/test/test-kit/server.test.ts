/** The test kit: days pass in milliseconds, on the real engine with real Python. */
import { afterAll, describe, expect, it } from 'vitest';
import { ActivityFailure } from '../../../worker-sdk/src/errors.js';
import {
  createTestServer,
  TestPython,
  UnmockedCallError,
  type TestServerOptions,
} from '../../src/test-kit/index.js';

const ORDER = `
Id: order
Steps:
  - Id: saga
    StepType: Sequence
    Saga: true
    ErrorBehavior: Terminate
    Do:
      - - Id: charge
          StepType: Activity
          RetryInterval: PT1H
          MaxRetries: 2
          Inputs:
            ActivityName: '"charge-card"'
            Parameters: { '@order': data.order }
          Outputs: { payment: step.Result.id }
          CompensateWith:
            - Id: refund
              StepType: Activity
              Inputs:
                ActivityName: '"refund"'
                Parameters: { '@payment': data.payment }
          NextStepId: pause
        - Id: pause
          StepType: Delay
          Inputs: { Period: '"3.00:00:00"' }
          NextStepId: remind
        - Id: remind
          StepType: HttpRequest
          MaxRetries: 0
          OnRetriesExhausted: Compensate
          Inputs: { BaseUrl: '"https://mail.example/remind"', SucceedOn: [2xx] }
          Outputs: { reminded: 'True', remindedAt: datetime.now().isoformat() }
          NextStepId: ship
        - Id: ship
          StepType: WaitFor
          Inputs: { EventName: '"shipped"', EventKey: str(data.order) }
          Outputs: { carrier: step.EventData.carrier }
`;
const DECLINED = { fail: { message: 'declined' } };
const PAID = { result: { id: 'ch_1' } };

const python = new TestPython();
afterAll(() => python.stop());

function orderServer(options: TestServerOptions) {
  return createTestServer({ definitions: [ORDER], python, ...options });
}

const BOOKINGS = `
Id: bookings
Steps:
  - Id: saga
    StepType: Parallel
    Saga: true
    Do:
      - - Id: book
          StepType: Activity
          Inputs: { ActivityName: '"book"' }
          CompensateWith:
            - { Id: unbook, StepType: NoOp, Outputs: { book: context.Compensating.Outcome } }
      - - Id: charge
          StepType: HttpRequest
          Inputs: { BaseUrl: '"https://pay.example"', SucceedOn: [2xx] }
          CompensateWith:
            - { Id: refund, StepType: NoOp, Outputs: { charge: context.Compensating.Outcome } }
      - - Id: bad
          StepType: Delay
          Inputs: { Period: 1 }
          NextStepId: broken
        - { Id: broken, StepType: Fail, Inputs: { Message: '"no"' } }
`;

describe('a test server', () => {
  it('has work in flight while the answer of a mock is not due', async () => {
    await using server = await createTestServer({
      definitions: [BOOKINGS],
      python,
      mocks: {
        book: { result: null, afterMs: 4000 },
        charge: { response: { status: 200 }, afterMs: 2000 },
      },
    });
    const { id } = await server.start('bookings');
    await server.advance('3s');
    expect(await server.run(id)).toMatchObject({ outcome: null, waiting: ['book'] });
    await server.advance('1s');
    const { data, outcome } = await server.run(id);
    expect({ data, outcome }).toEqual({
      data: { book: 'Completed', charge: 'Completed' },
      outcome: 'Compensated',
    });
  });

  it('takes an order through two retries and three days', async () => {
    await using server = await orderServer({
      now: '2030-05-01T00:00:00Z',
      mocks: {
        'charge-card': [DECLINED, DECLINED, PAID],
        remind: { response: { status: 202, body: { ok: true } } },
      },
    });
    const { id } = await server.start('order', { order: 4711 });
    expect((await server.run(id)).waiting).toEqual(['charge']);
    await server.advance('2h');
    expect((await server.run(id)).waiting).toEqual(['pause']);
    await server.advance('2d 23h');
    expect(server.calls).toEqual({ 'charge-card': 3, remind: 0 });
    await server.advance('1h');
    const waiting = await server.run(id);
    expect(waiting.waiting).toEqual(['ship']);
    expect(waiting.data).toMatchObject({ reminded: true });
    expect(waiting.data['remindedAt']).toMatch(/^2030-05-04T02:00:00/);
    expect(await server.publish('shipped', '4711', { carrier: 'A' })).toBe(1);
    const ended = await server.run(id);
    expect(ended).toMatchObject({ status: 'Complete', data: { carrier: 'A' } });
    expect(ended.completed).toEqual(['charge', 'pause', 'remind', 'ship', 'saga']);
    // Three days of heartbeats and scans would be thousands.
    expect(server.work.timers).toBeLessThan(100);
  });

  it('undoes a payment when a later step fails', async () => {
    const refunded: unknown[] = [];
    await using server = await orderServer({
      activities: {
        'charge-card': () => PAID.result,
        refund: {
          handler: ({ payment }: { payment: string }, { attempt }) => {
            refunded.push([payment, attempt]);
          },
        },
      },
      mocks: { remind: { response: { status: 500 } } },
    });
    const { id } = await server.start('order', { order: 1 });
    await server.advance('3d');
    expect(await server.run(id)).toMatchObject({ status: 'Terminated', outcome: 'Compensated' });
    expect(refunded).toEqual([['ch_1', 1]]);
  });

  it('gives equal runs for equal seeds', async () => {
    const definition = {
      Id: 'dice',
      Steps: [
        {
          Id: 'roll',
          StepType: 'NoOp',
          Outputs: {
            id: 'uuid.uuid4()',
            number: 'random.random()',
            at: 'datetime.now().timestamp()',
          },
        },
      ],
    };
    const roll = async (seed: number) => {
      await using server = await createTestServer({ definitions: [definition], python, seed });
      const { data, id, status } = await server.start('dice');
      expect(status).toBe('Complete');
      return { data, id };
    };
    const first = await roll(1);
    expect(await roll(1)).toEqual(first);
    const other = await roll(2);
    expect(other.id).not.toBe(first.id);
    expect(other.data['id']).not.toBe(first.data['id']);
  });

  it('reads the date of Retry-After in virtual time', async () => {
    const definition = {
      Id: 'call',
      Steps: [
        {
          Id: 'ask',
          StepType: 'HttpRequest',
          MaxRetries: 3,
          RetryInterval: 1,
          Inputs: { BaseUrl: '"https://shop.example/"', SucceedOn: ['2xx'] },
        },
      ],
    };
    const busy = { status: 503, headers: { 'Retry-After': 'Tue, 01 Jan 2030 01:00:00 GMT' } };
    await using server = await createTestServer({
      definitions: [definition],
      python,
      now: '2030-01-01T00:00:00Z',
      mocks: { ask: [{ response: busy }, { response: {} }] },
    });
    const { id } = await server.start('call');
    await server.advance('59m 59s');
    expect(server.calls).toEqual({ ask: 1 });
    await server.advance('1s');
    expect(await server.run(id)).toMatchObject({ status: 'Complete' });
  });

  it('starts one run for each key of a definition, by clients and triggers', async () => {
    const definition = {
      Id: 'once',
      Reference: 'data.order',
      OnConflict: 'existing',
      ConflictScope: 'Kept',
      Triggers: [{ Name: 'paid', Event: { Name: 'paid' } }],
      Steps: [{ Id: 'a', StepType: 'NoOp' }],
    };
    await using server = await createTestServer({ definitions: [definition], python });
    const first = await server.start('once', { order: 'A1' });
    expect(first).toMatchObject({ status: 'Complete', reference: 'A1' });
    expect((await server.start('once', { order: 'A1' })).id).toBe(first.id);
    await server.publish('paid', '1', { order: 'A1' });
    const [paid] = await server.triggers('once');
    expect(paid?.last).toMatchObject({ outcome: 'Skipped', workflowId: null });
    expect(paid?.last?.reason).toContain(first.id);
    expect(await server.runs('once')).toHaveLength(1);
    const open = await server.start('once', { order: 'A1' }, { conflictScope: 'open' });
    expect(open.id).not.toBe(first.id);
    const refused = server.start('once', { order: 'A1' }, { onConflict: 'fail' });
    await expect(refused).rejects.toMatchObject({ code: 'reference_in_use' });
  });

  it('shows ten runs of which three run at a time', async () => {
    const definition = {
      Id: 'export',
      Concurrency: { Limit: 3 },
      Steps: [{ Id: 'work', StepType: 'Delay', Inputs: { Period: 3600 } }],
    };
    await using server = await createTestServer({ definitions: [definition], python });
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1) ids.push((await server.start('export', {})).id);
    const ended: number[] = [];
    const queued: number[] = [];
    for (let hour = 0; hour <= 4; hour += 1) {
      const runs = await Promise.all(ids.map((id) => server.run(id)));
      ended.push(runs.filter(({ status }) => status === 'Complete').length);
      queued.push(runs.filter((run) => run.queued).length);
      await server.advance('1h');
    }
    expect(ended).toEqual([0, 3, 6, 9, 10]);
    expect(queued).toEqual([7, 4, 1, 0, 0]);
  });

  it('lets two tenants take turns', async () => {
    const work = [{ Id: 'work', StepType: 'Delay', Inputs: { Period: 60 } }];
    const definition = {
      Id: 'export',
      Concurrency: { Limit: 1 },
      Fairness: { Key: 'data.tenant' },
      Steps: work,
    };
    await using server = await createTestServer({ definitions: [definition], python });
    const runs = new Map<string, string>();
    for (const tenant of ['a', 'a', 'a', 'a', 'b', 'b']) {
      runs.set((await server.start('export', { tenant })).id, tenant);
    }
    const left = await server.start('export', { tenant: 'a' }, { fairnessKey: 'c' });
    runs.set(left.id, 'c');
    const order: string[] = [];
    for (let minute = 0; minute < 7; minute += 1) {
      for (const [id, tenant] of runs) {
        if ((await server.run(id)).queued) continue;
        order.push(tenant);
        runs.delete(id);
      }
      await server.advance('1m');
    }
    // The first one began before the others came.
    expect(order.join('')).toBe('aabcaba');
  });

  it('names the call without an answer', async () => {
    await using server = await orderServer({ mocks: { 'charge-card': PAID } });
    await server.start('order', { order: 1 });
    const late = server.advance('3d');
    await expect(late).rejects.toBeInstanceOf(UnmockedCallError);
    await expect(late).rejects.toThrow(
      "the HTTP call GET https://mail.example/remind of step remind is not mocked: add 'remind' to the mocks",
    );
  });
});

describe('a worker handler', () => {
  const definition = {
    Id: 'pay',
    Steps: [
      {
        Id: 'charge',
        StepType: 'Activity',
        Inputs: { ActivityName: '"charge-card"', Parameters: { '@amount': 'data.amount' } },
        MaxRetries: 3,
        RetryInterval: 60,
        OnRetriesExhausted: 'Terminate',
        Outputs: { paid: 'step.Result' },
      },
    ],
  };
  /** Doubles a positive number, as a schema of any library may. */
  const schema = {
    '~standard': {
      validate: (value: unknown) => {
        const { amount } = value as { readonly amount: number };
        return amount > 0
          ? { value: { amount: amount * 2 } }
          : { issues: [{ message: 'must be positive', path: ['amount'] }] };
      },
    },
  };

  it('gets its parameters as their schema converts them', async () => {
    const handler = ({ amount }: { readonly amount: number }) => amount;
    await using server = await createTestServer({
      definitions: [definition],
      python,
      activities: { 'charge-card': { handler, parameters: schema } },
    });
    expect((await server.start('pay', { amount: 2 })).data['paid']).toBe(4);
    const refused = await server.start('pay', { amount: -1 });
    expect(refused.steps[0]?.error).toMatchObject({
      message: 'invalid parameters: amount: must be positive',
      data: { name: 'InvalidDataError' },
    });
    expect(refused.waiting).toEqual(['charge']);
  });

  it('is not repeated after a failure that says so', async () => {
    await using server = await createTestServer({
      definitions: [definition],
      python,
      activities: {
        'charge-card': () => {
          throw new ActivityFailure('declined', { data: { limit: 100 }, retryable: false });
        },
      },
    });
    const run = await server.start('pay', { amount: 2 });
    expect(run).toMatchObject({ status: 'Terminated', lastError: { message: 'declined' } });
    expect(run.steps).toHaveLength(1);
  });

  it('refuses a start time that does not exist', async () => {
    await expect(createTestServer({ now: '2030-02-30' })).rejects.toThrow(
      'now must be a time such as 2030-01-31T12:00:00Z, not "2030-02-30": February 2030 has 28 days',
    );
  });
});
