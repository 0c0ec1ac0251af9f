/**
 * The workflows of a small shop, in every state that the page shows. The pictures in the documentation show them, too.
 */
import type { StepwrightClient } from '@stepwright/sdk';
import { eventually } from '../../../../sdk/test/support/eventually.js';

const ORDER = `
Id: order-fulfilment
Description: From the paid basket to the parcel
DefaultErrorBehavior: Suspend
Steps:
  - Id: total
    Name: Add up the basket
    StepType: NoOp
    Outputs:
      total: sum(line["price"] for line in data.lines)
    NextStepId: prepare
  - Id: prepare
    Name: Prepare
    StepType: Parallel
    Do:
      - - Id: charge
          Name: Charge the card
          StepType: Activity
          Inputs:
            ActivityName: '"charge-card"'
            Parameters:
              '@amount': data.total
              '@customer': data.customer
          Outputs:
            receipt: step.Result["receipt"]
      - - Id: each-line
          Name: Pack each line
          StepType: Foreach
          Inputs:
            Collection: data.lines
            RunParallel: false
          Do:
            - - Id: pack
                Name: Pack
                StepType: EmitLog
                Inputs:
                  Message: '"packing " + context.Item["sku"]'
    NextStepId: approve
  - Id: approve
    Name: Approved by a human
    StepType: WaitFor
    Inputs:
      EventName: '"approved"'
      EventKey: '"order-" + str(data.order)'
    Outputs:
      approvedBy: step.EventData["by"]
    NextStepId: ship
  - Id: ship
    Name: Ship it
    StepType: EmitLog
    Inputs:
      Message: '"shipping order " + str(data.order)'
    Outputs:
      shipped: 'True'
`;

const INVOICE = `
Id: invoice
Description: Fails where the customer has no address
DefaultErrorBehavior: Suspend
Steps:
  - Id: address
    Name: Find the address
    StepType: NoOp
    Outputs:
      city: data.customer["address"]["city"]
    NextStepId: print
  - Id: print
    StepType: EmitLog
    Inputs:
      Message: '"invoice to " + data.city'
`;

const SYNC = `
Id: stock-sync
Description: Tries again and again while the warehouse is away
Steps:
  - Id: fetch
    Name: Ask the warehouse
    StepType: HttpRequest
    ErrorBehavior: Retry
    RetryInterval: 600
    Inputs:
      BaseUrl: '"http://127.0.0.1:9"'
      Resource: '"/stock"'
    Outputs:
      stock: step.ResponseBody["items"]
`;

const REMINDER = `
Id: reminder
Description: Waits for two days, then reminds
Steps:
  - Id: two-days
    StepType: Delay
    Inputs:
      Period: timedelta(days=2)
    NextStepId: remind
  - Id: remind
    StepType: EmitLog
    Inputs:
      Message: '"please pay"'
`;

const GREETING = `
Id: greeting
Description: Says hello
Steps:
  - Id: greet
    StepType: EmitLog
    Inputs:
      Message: '"Hello " + data.get("name", "you")'
    Outputs:
      greeted: 'True'
`;

const DEFINITIONS = [ORDER, INVOICE, SYNC, REMINDER, GREETING];

const LINES = [
  { sku: 'tea-500', price: 7.5 },
  { sku: 'cup-blue', price: 12 },
  { sku: 'spoon', price: 3.2 },
];

export interface Shop {
  /** Waiting for an approval. */
  readonly order: string;
  /** Waiting for a worker that charges the card. */
  readonly unpaid: string;
  /** Suspended by an error with a traceback. */
  readonly invoice: string;
  /** Waiting for a retry. */
  readonly sync: string;
  readonly reminder: string;
  /** Terminated. */
  readonly stopped: string;
  readonly greeting: string;
}

export async function openShop(client: StepwrightClient): Promise<Shop> {
  for (const definition of DEFINITIONS) await client.definitions.register(definition);
  const order = await client.workflows.start(
    'order-fulfilment',
    { order: 4711, customer: 'Ada Lovelace', lines: LINES },
    { reference: 'order-4711' },
  );
  await charge(client);
  const unpaid = await client.workflows.start(
    'order-fulfilment',
    { order: 4712, customer: 'Grace Hopper', lines: LINES.slice(1) },
    { reference: 'order-4712' },
  );
  const invoice = await client.workflows.start(
    'invoice',
    { customer: { name: 'Ada' } },
    { reference: 'order-4700' },
  );
  const sync = await client.workflows.start('stock-sync', {});
  const reminder = await client.workflows.start('reminder', { invoice: 12 });
  const stopped = await client.workflows.start('reminder', { invoice: 13 });
  await client.workflows.terminate(stopped.id);
  const greeting = await client.workflows.start('greeting', { name: 'Ada' });
  await client.workflows.wait(greeting.id);
  await eventually('the order waits for its approval', () => waitsFor(client, order.id, 'event'));
  await eventually('the sync waits for a retry', () => waitsFor(client, sync.id, 'retry'));
  return {
    order: order.id,
    unpaid: unpaid.id,
    invoice: invoice.id,
    sync: sync.id,
    reminder: reminder.id,
    stopped: stopped.id,
    greeting: greeting.id,
  };
}

/** Does the work of one worker, once. */
async function charge(client: StepwrightClient): Promise<void> {
  const item = await client.activities.pull('charge-card', { workerId: 'till-1', waitSeconds: 15 });
  if (item === null) throw new Error('there was no card to charge');
  await client.activities.succeed(item, { receipt: 'R-2026-118' });
}

async function waitsFor(
  client: StepwrightClient,
  workflowId: string,
  kind: string,
): Promise<boolean> {
  const { items } = await client.workflows.steps(workflowId).page();
  return items.some((step) => step.waitsFor?.kind === kind);
}
