/** Submits expenses and simulates the approvers. */
import { readFile } from 'node:fs/promises';
import { createClient, type WorkflowHandle } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

interface Decision {
  approved: boolean;
  reason?: string;
}

/** The start data of the run. */
interface ExpenseInput {
  expenseId: string;
  amount: number;
  /** How long the manager has to decide, in seconds. The default is three days. */
  patience: number;
}

/** The data of the run when it has succeeded. */
interface Expense extends ExpenseInput {
  outcome: string;
}

await client.definitions.register(await read('expense.yaml'));
let count = 0;

interface SubmittedExpense {
  readonly id: string;
  readonly workflow: WorkflowHandle<Expense>;
}

async function submit(amount: number, patience = 60): Promise<SubmittedExpense> {
  count += 1;
  const id = `expense-${Date.now()}-${count}`;
  const workflow = await client.workflows.start<Expense, ExpenseInput>(
    'expense',
    { expenseId: id, amount, patience },
    { reference: id },
  );
  return { id, workflow };
}

/** What the buttons on an approval page would do. */
async function decide({ id }: SubmittedExpense, decision: Decision): Promise<void> {
  await client.events.publish('expense-decision', id, decision);
}

async function report({ workflow }: SubmittedExpense): Promise<void> {
  const { amount, outcome } = await workflow.result({ timeoutMs: 20_000 });
  console.log(`${amount} EUR: ${outcome}`);
}

/** Follows the run until it reaches this step and waits. */
async function untilAsked({ workflow }: SubmittedExpense, stepId: string): Promise<void> {
  for await (const change of client.stream({ workflowId: workflow.id })) {
    if (change.type !== 'workflow') continue;
    const { items } = await workflow.steps({ stepId }).page();
    if (items.some(({ status }) => status === 'Waiting')) return;
  }
}

const small = await submit(30);
await report(small);

const approved = await submit(800);
await decide(approved, { approved: true });
await report(approved);

const rejected = await submit(9000);
await decide(rejected, { approved: false, reason: 'no budget' });
await report(rejected);

const slow = await submit(500, 0.2);
await untilAsked(slow, 'ask-director');
console.log('The manager did not answer in time, so the director is asked');
await decide(slow, { approved: true });
await report(slow);
