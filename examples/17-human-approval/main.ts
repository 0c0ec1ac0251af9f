/** Submits expenses, and plays the people who decide. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

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

function submit(amount: number, patience = 60) {
  count += 1;
  const expenseId = `expense-${Date.now()}-${count}`;
  return client.workflows.start<Expense, ExpenseInput>(
    'expense',
    { expenseId, amount, patience },
    { reference: expenseId },
  );
}

type SubmittedExpense = Awaited<ReturnType<typeof submit>>;

/** What a page "waiting for your approval" would show, and what its buttons would do. */
async function decide(expense: SubmittedExpense, decision: Decision): Promise<void> {
  const { data } = await expense.get();
  await client.events.publish('expense-decision', data.expenseId, decision);
}

async function outcomeOf(expense: SubmittedExpense): Promise<string> {
  const { data } = await expense.wait({ timeoutMs: 20_000 });
  console.log(`${data.amount} EUR: ${data.outcome}`);
  return data.outcome;
}

/** Waits until the workflow asks this person. */
async function untilAsked(expense: SubmittedExpense, stepId: string): Promise<void> {
  for (let look = 0; look < 400; look += 1) {
    for await (const step of expense.steps()) {
      if (step.stepId === stepId && step.waitsFor?.kind === 'event') return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${stepId} was not reached`);
}

const small = await submit(30);
assert.equal(await outcomeOf(small), 'paid');

const approved = await submit(800);
await decide(approved, { approved: true });
assert.equal(await outcomeOf(approved), 'paid');

const rejected = await submit(9000);
await decide(rejected, { approved: false, reason: 'no budget' });
assert.equal(await outcomeOf(rejected), 'rejected: no budget');

const slow = await submit(500, 0.2);
await untilAsked(slow, 'ask-director');
console.log('The manager did not answer in time: the director is asked');
await decide(slow, { approved: true });
assert.equal(await outcomeOf(slow), 'paid');

console.log('OK: people decided, and the workflow waited for them');
