/** Submits expenses, and plays the people who decide. */
import { readFile } from 'node:fs/promises';
import { createClient, type WorkflowHandle } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

interface Decision {
  approved: boolean;
  reason?: string;
}

/** What it starts with. */
interface ExpenseInput {
  expenseId: string;
  amount: number;
  /** How long the manager has; three days when left out. */
  patience: number;
}

/** What it has in the end. */
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

/** What the buttons of a page "waiting for your approval" would do. */
async function decide({ id }: SubmittedExpense, decision: Decision): Promise<void> {
  await client.events.publish('expense-decision', id, decision);
}

async function report({ workflow }: SubmittedExpense): Promise<void> {
  const { amount, outcome } = await workflow.result({ timeoutMs: 20_000 });
  console.log(`${amount} EUR: ${outcome}`);
}

/** Follows the workflow until it asks this person. */
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
console.log('The manager did not answer in time: the director is asked');
await decide(slow, { approved: true });
await report(slow);
