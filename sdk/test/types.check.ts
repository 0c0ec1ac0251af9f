/**
 * What the compiler must accept and reject. Nothing here runs: `package.test.ts` checks it, and an expected error that
 * does
 * not occur is an error.
 */
import { expectTypeOf } from 'vitest';
import {
  activity,
  createClient,
  defineActivities,
  isApiError,
  type DataObject,
  type FailedWorkflow,
  type OpenWorkflow,
  type PagedList,
  type StepExecution,
  type SucceededWorkflow,
  type WorkflowAction,
  type WorkflowOutcome,
  type WorkflowStatus,
  type WorkflowSummary,
} from '../src/index.js';

const client = createClient({ baseUrl: 'http://127.0.0.1' });

interface Order {
  order: number;
  approved: boolean;
}

interface Input {
  customer: string;
  note?: string;
}

interface Tree {
  name: string;
  at: [number, number];
  children: Tree[];
  labels?: Record<string, string | null>;
}

declare const tree: Tree;
declare const unchecked: Record<string, unknown>;
declare const bytes: Uint8Array;
declare const maybe: string | undefined;

export async function workflows(): Promise<void> {
  const plain = await client.workflows.start('x', { anything: 1 });
  expectTypeOf((await plain.get()).data).toEqualTypeOf<DataObject>();

  const typed = await client.workflows.start<Order>('x', { order: 1, approved: false });
  expectTypeOf((await typed.get()).status).toEqualTypeOf<WorkflowStatus>();
  expectTypeOf((await typed.get()).outcome).toEqualTypeOf<WorkflowOutcome | null>();

  expectTypeOf(typed.steps({ order: 'desc', stepId: 'a', limit: 1 })).toEqualTypeOf<
    PagedList<StepExecution>
  >();
  expectTypeOf(await typed.audit()).toEqualTypeOf<readonly WorkflowAction[]>();
  expectTypeOf((await typed.retry()).status).toEqualTypeOf<WorkflowStatus>();

  expectTypeOf(client.workflows.list({ status: 'Complete' })).toEqualTypeOf<
    PagedList<WorkflowSummary>
  >();
  // @ts-expect-error no such status
  client.workflows.list({ status: 'Completed' });
}

export async function dataIsWholeOnlyAfterSuccess(): Promise<void> {
  const typed = await client.workflows.start<Order, Input>('x', { customer: 'Ada' });
  // In one call, which throws unless the run succeeded.
  expectTypeOf(await typed.result()).toEqualTypeOf<Order>();
  expectTypeOf(await client.workflows.result<Order>('id')).toEqualTypeOf<Order>();
  const succeeded = await typed.wait({ failOn: 'any' });
  expectTypeOf(succeeded).toEqualTypeOf<SucceededWorkflow<Order>>();
  expectTypeOf(succeeded.data).toEqualTypeOf<Order>();

  const { data, endTime, outcome } = await typed.wait();
  expectTypeOf(outcome).toEqualTypeOf<WorkflowOutcome>();
  expectTypeOf(endTime).toBeString();
  expectTypeOf(data).toEqualTypeOf<Order | Partial<Order>>();
  // @ts-expect-error the outcome has not been checked
  data.order.toFixed();
  if (outcome === 'Succeeded') expectTypeOf(data).toEqualTypeOf<Order>();
  else expectTypeOf(data).toEqualTypeOf<Partial<Order>>();

  const handled = await typed.wait({ failOn: ['Failed'] });
  // @ts-expect-error it may have been compensated or terminated
  handled.data.order.toFixed();

  const now = await client.workflows.get<Order>('id');
  // @ts-expect-error it may not have ended
  now.data.order.toFixed();
  if (now.outcome === null) expectTypeOf(now).toEqualTypeOf<OpenWorkflow<Order>>();
  else if (now.outcome === 'Succeeded') expectTypeOf(now.data).toEqualTypeOf<Order>();
  else expectTypeOf(now).toEqualTypeOf<FailedWorkflow<Order>>();
  // @ts-expect-error a terminated run may lack parts of its data
  (await typed.terminate()).data?.order.toFixed();
}

export async function startDataIsWhole(): Promise<void> {
  await client.workflows.start('x');
  await client.workflows.start<Order, { note?: string }>('x');
  await client.workflows.start<Order, Input>('x', { customer: 'Ada' }, { reference: 'r' });
  // @ts-expect-error `approved` is missing
  await client.workflows.start<Order>('x', { order: 1 });
  // @ts-expect-error an order is a number
  await client.workflows.start<Order>('x', { order: '1', approved: true });
  // @ts-expect-error not a member of an order
  await client.workflows.start<Order>('x', { odrer: 1, order: 1, approved: true });
  // @ts-expect-error the input has been named
  await client.workflows.start<Order, Input>('x', { order: 1 });
  // @ts-expect-error data with required members cannot be left out
  await client.workflows.start<Order>('x');
  // @ts-expect-error start data is an object
  await client.workflows.start('x', [1]);
  // @ts-expect-error start data is an object
  await client.workflows.start('x', 'text');
}

export async function dataIsJson(): Promise<void> {
  await client.workflows.start('x', tree);
  await client.workflows.start<Order, Tree>('x', tree);
  await client.workflows.start('x', unchecked);
  await client.workflows.start('x', { list: [1, 'a', null, { deep: true }], at: tree.at });
  // @ts-expect-error a Date is not JSON
  await client.workflows.start('x', { at: new Date() });
  // @ts-expect-error even if its type is named
  await client.workflows.start<{ at: Date }>('x', { at: new Date() });
  // @ts-expect-error even if it is nested
  await client.workflows.start('x', { list: [{ at: new Date() }] });
  // @ts-expect-error a function is not JSON
  await client.workflows.start('x', { call: () => 1 });
  // @ts-expect-error undefined is not JSON
  await client.workflows.start('x', { note: undefined });
  // @ts-expect-error a value that may be undefined is not JSON
  await client.workflows.start('x', { note: maybe });
  // @ts-expect-error undefined in a list is not JSON
  await client.workflows.start('x', { notes: [maybe] });
  // @ts-expect-error a Map is not JSON
  await client.workflows.start('x', { map: new Map<string, string>() });
  // @ts-expect-error bytes are not JSON
  await client.workflows.start('x', { bytes });
  // @ts-expect-error an object with methods is not JSON
  await client.workflows.start('x', { url: new URL('http://127.0.0.1') });

  await client.events.publish('e', 'k');
  await client.events.publish('e', 'k', null);
  await client.events.publish('e', 'k', tree);
  await client.events.publish('e', 'k', 'text', { workflowId: 'w' });
  // @ts-expect-error a Date is not JSON
  await client.events.publish('e', 'k', new Date());
  // @ts-expect-error undefined is not JSON
  await client.events.publish('e', 'k', { note: maybe });

  await client.activities.succeed('token', tree);
  await client.activities.fail('token', { message: 'no' });
  await client.workflows.completeActivity('w', 1, tree);
  await client.workflows.failActivity('w', 1, 'no');
  // @ts-expect-error a Date is not JSON
  await client.activities.succeed('token', { at: new Date() });
  // @ts-expect-error a Date is not JSON
  await client.activities.fail('token', { at: new Date() });
  // @ts-expect-error a Date is not JSON
  await client.workflows.completeActivity('w', 1, { at: new Date() });
  // @ts-expect-error a function is not JSON
  await client.workflows.failActivity('w', 1, () => 1);

  activity<Tree, Order>();
  activity<string, undefined>();
  activity<unknown>();
  // @ts-expect-error parameters are JSON
  activity<{ at: Date }>();
  // @ts-expect-error a result is JSON
  activity<string, { at: Date }>();
}

export async function definitions(): Promise<void> {
  await client.definitions.register({ id: 'x', steps: [{ id: 'a', stepType: 'NoOp' }] });
  // @ts-expect-error steps are missing
  await client.definitions.register({ id: 'x' });
  // @ts-expect-error not a member of a step
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
  // @ts-expect-error a receipt is a string
  await typed.activities.succeed(work, { receipt: 1 });
  // @ts-expect-error this activity is not declared
  await typed.activities.pull('send-fax');
}

export function errors(error: unknown): void {
  if (isApiError(error, 'workflow_not_found')) {
    expectTypeOf(error.status).toBeNumber();
    expectTypeOf(error.name).toEqualTypeOf<'ApiError'>();
    expectTypeOf(error.workflowId).toEqualTypeOf<string | undefined>();
  }
}

// @ts-expect-error the base URL is required
createClient({});
