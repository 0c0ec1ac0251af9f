/**
 * What the compiler must accept and refuse. Nothing here runs: `package.test.ts` has it checked, and each expected error that
 * does not come about is one itself.
 */
import { expectTypeOf } from 'vitest';
import {
  activity,
  createClient,
  defineActivities,
  isApiError,
  type DataObject,
  type PagedList,
  type WorkflowStatus,
  type WorkflowSummary,
} from '../src/index.js';

const client = createClient({ baseUrl: 'http://127.0.0.1' });

interface Order {
  order: number;
  approved: boolean;
}

export async function workflows(): Promise<void> {
  const plain = await client.workflows.start('x', { anything: 1 });
  expectTypeOf((await plain.get()).data).toEqualTypeOf<DataObject>();

  const typed = await client.workflows.start<Order>('x', { order: 1 });
  const { data, status } = await typed.wait();
  expectTypeOf(data).toEqualTypeOf<Order>();
  expectTypeOf(status).toEqualTypeOf<WorkflowStatus>();
  expectTypeOf((await client.workflows.get<Order>('id')).data.approved).toBeBoolean();
  // @ts-expect-error an order is a number
  await client.workflows.start<Order>('x', { order: '1' });
  // @ts-expect-error no member of an order
  await client.workflows.start<Order>('x', { odrer: 1 });
  const both = await client.workflows.start<Order, { customer: string }>('x', { customer: 'Ada' });
  expectTypeOf((await both.terminate()).data).toEqualTypeOf<Order>();
  // @ts-expect-error the input has been named
  await client.workflows.start<Order, { customer: string }>('x', { order: 1 });

  expectTypeOf(client.workflows.list({ status: 'Complete' })).toEqualTypeOf<
    PagedList<WorkflowSummary>
  >();
  // @ts-expect-error no such status
  client.workflows.list({ status: 'Completed' });
}

export async function definitions(): Promise<void> {
  await client.definitions.register({ id: 'x', steps: [{ id: 'a', stepType: 'NoOp' }] });
  // @ts-expect-error steps are missing
  await client.definitions.register({ id: 'x' });
  // @ts-expect-error no member of a step
  await client.definitions.register({ id: 'x', steps: [{ id: 'a', stepType: 'NoOp', next: 'b' }] });
}

export async function activities(): Promise<void> {
  const untyped = await client.activities.pull('anything');
  expectTypeOf(untyped?.parameters).toBeUnknown();
  await client.activities.succeed('a token', { any: 'result' });

  const declared = defineActivities({
    'charge-card': activity<{ amount: number }, { receipt: string }>(),
    note: activity<string>(),
  });
  const typed = createClient({ baseUrl: 'http://127.0.0.1', activities: declared });
  const work = await typed.activities.pull('charge-card');
  if (work === null) return;
  expectTypeOf(work.parameters).toEqualTypeOf<{ amount: number }>();
  expectTypeOf(work.activityName).toEqualTypeOf<'charge-card'>();
  await typed.activities.succeed(work, { receipt: 'r' });
  // @ts-expect-error a receipt is a text
  await typed.activities.succeed(work, { receipt: 1 });
  // @ts-expect-error nobody declared this
  await typed.activities.pull('send-fax');
}

export function errors(error: unknown): void {
  if (isApiError(error, 'workflow_not_found')) {
    expectTypeOf(error.status).toBeNumber();
    expectTypeOf(error.name).toEqualTypeOf<'ApiError'>();
    expectTypeOf(error.workflowId).toEqualTypeOf<string | undefined>();
  }
}

// @ts-expect-error an address is needed
createClient({});
