/**
 * What the compiler must accept and reject in handlers. Nothing here runs: `package.test.ts` compiles it, and an
 * expected error that does not occur is itself an error.
 */
import { activity, createClient, defineActivities } from '@stepwright/sdk';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { Worker, type ActivityContext } from '../src/index.js';

const baseUrl = 'http://127.0.0.1';
const declaredActivities = defineActivities({
  'charge-card': activity<{ amount: number }, { receipt: string }>(),
  'send-mail': {
    parameters: z.object({ to: z.string(), on: z.coerce.date() }),
    result: z.object({ id: z.string() }),
  },
});
const client = createClient({ baseUrl, activities: declaredActivities });
const untyped = createClient({ baseUrl });

export function declaredHandlers(): void {
  new Worker({
    client,
    activities: {
      'charge-card': (parameters, context) => {
        expectTypeOf(parameters).toEqualTypeOf<{ amount: number }>();
        expectTypeOf(context).toEqualTypeOf<ActivityContext>();
        return { receipt: '' };
      },
      'send-mail': {
        concurrency: 2,
        handler: async (parameters) => {
          expectTypeOf(parameters).toEqualTypeOf<{ to: string; on: Date }>();
          return { id: parameters.to };
        },
      },
    },
  });
  // The declaration can also be passed to the worker itself.
  new Worker({ baseUrl, declaredActivities, activities: { 'charge-card': charge } });
  // @ts-expect-error an amount is a number
  new Worker({
    client,
    activities: { 'charge-card': ({ amount }: { amount: string }) => ({ receipt: amount }) },
  });
  // @ts-expect-error no currency was declared
  new Worker({
    client,
    activities: { 'charge-card': ({ currency }: Money) => ({ receipt: currency }) },
  });
  // @ts-expect-error a receipt is a text
  new Worker({ client, activities: { 'charge-card': () => ({ receipt: 1 }) } });
  // @ts-expect-error the receipt is missing
  new Worker({ client, activities: { 'charge-card': () => undefined } });
  // @ts-expect-error nobody declared this activity
  new Worker({ client, activities: { 'send-fax': () => 1 } });
  // @ts-expect-error also not for a worker with an address
  new Worker({ baseUrl, declaredActivities, activities: { 'send-fax': () => 1 } });
  // @ts-expect-error the result of the schema has an id
  new Worker({ client, activities: { 'send-mail': { handler: () => ({}) } } });
}

interface Money {
  amount: number;
  currency: string;
}

function charge({ amount }: { amount: number }): { receipt: string } {
  return { receipt: String(amount) };
}

export function undeclaredHandlers(): void {
  new Worker({
    client: untyped,
    activities: { any: ({ amount }: Money) => amount, other: charge },
  });
  new Worker({
    baseUrl,
    activities: {
      plain: (parameters) => {
        expectTypeOf(parameters).toBeUnknown();
      },
      checked: {
        parameters: z.object({ on: z.coerce.date() }),
        handler: ({ on }) => {
          expectTypeOf(on).toEqualTypeOf<Date>();
        },
      },
    },
  });
  new Worker({
    baseUrl,
    activities: {
      // @ts-expect-error the schema gives a date
      checked: { parameters: z.coerce.date(), handler: (text: string) => text },
    },
  });
  // @ts-expect-error a client or an address is needed
  new Worker({ activities: { any: charge } });
  // @ts-expect-error one of them, not both
  new Worker({ client: untyped, baseUrl, activities: { any: charge } });
}

export function events(): void {
  const worker = new Worker({ baseUrl, activities: { any: charge } });
  worker.on('succeeded', (event) => {
    expectTypeOf(event.tookMs).toBeNumber();
    expectTypeOf(event.workflowId).toBeString();
  });
  // @ts-expect-error no such event
  worker.on('done', () => undefined);
  worker.use(async ({ parameters }, next) => {
    expectTypeOf(parameters).toBeUnknown();
    return next();
  });
}
