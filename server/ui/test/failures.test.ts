/** Goal: failed runs are grouped by cause, and one click leads from a group to its runs. */
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const DEFINITION = `
Id: refund
DefaultErrorBehavior: Suspend
Steps:
  - Id: pay
    StepType: Fail
    Inputs:
      Type: '"CardRefused"'
      Message: '"card " + str(data.card) + " was refused"'
`;

/** It ends the run instead. */
const ENDING = DEFINITION.replace('Id: refund', 'Id: invoice').replace(
  'DefaultErrorBehavior: Suspend',
  'DefaultErrorBehavior: Terminate',
);

describe.runIf(browserPath !== null)('the page of failures', () => {
  const pages = usePages({
    seed: async ({ definitions, workflows }) => {
      await definitions.register(DEFINITION);
      await definitions.register(DEFINITION.replace('Id: refund', 'Id: payout'));
      for (const card of [4711, 4712, 4713]) await workflows.start('refund', { card });
      await workflows.start('payout', { card: 4714 });
    },
  });

  test('groups runs whose messages differ only in numbers, and lists the runs of a group', async () => {
    const page = await pages.open('/failures');
    const groups = page.getByRole('table', { name: 'Groups of failures' });
    const refunds = groups.locator('tbody tr', { hasText: 'refund' });
    await refunds.getByText('3 suspended').waitFor();
    await refunds.getByText('CardRefused').waitFor();
    await page.getByText('4 runs in 2 groups').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await refunds.getByRole('link', { name: 'Show the 3 runs of this group' }).click();
    await page.waitForURL(/failure=/);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
    await page.getByRole('button', { name: /Only one group of failures/ }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
  });

  test('counts new failures while it is open', async () => {
    const page = await pages.open('/failures');
    const payouts = page.locator('tbody tr', { hasText: 'payout' });
    await payouts.getByText('1 suspended').waitFor();
    await pages.client.workflows.start('payout', { card: 4715 });
    await payouts.getByText('2 suspended').waitFor();
  });

  test('resumes all runs of a group with one job', async () => {
    const page = await pages.open('/failures');
    const refunds = page.locator('tbody tr', { hasText: 'refund' });
    await refunds.getByRole('button', { name: 'Act on all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resume 3 runs?' });
    await dialog.getByLabel(/^Reason/).fill('the bank is back');
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Resume finished: 3 of 3 resumed').waitFor();
    await page.getByText('the bank is back').waitFor();
    // The bank is not back.
    await page.getByText('Of 3 runs: 3 failed again.').waitFor();
    await page
      .getByRole('table', { name: 'Runs of the bulk job' })
      .getByText('Suspended')
      .nth(2)
      .waitFor();
  });

  test('offers to start runs that have ended at the step that failed', async () => {
    const { definitions, workflows } = pages.client;
    await definitions.register(ENDING);
    const { id } = await workflows.start('invoice', { card: 4716 });
    await expect.poll(async () => (await workflows.get(id)).outcome).toBe('Failed');
    const page = await pages.open('/failures?definitionId=invoice');
    await page.getByRole('button', { name: 'Act on all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Repair 1 run?' });
    await dialog.getByRole('listitem').getByText('Failed').waitFor();
    await expect.poll(() => dialog.getByLabel(/start at this step/).inputValue()).toBe('pay');
    await dialog.getByLabel(/^Reason/).fill('the bank is back');
    await dialog.getByRole('button', { name: 'Repair' }).click();
    await page.getByText('Repair finished: 1 of 1 repaired').waitFor();
    await expect
      .poll(async () => (await workflows.steps(id).page()).items.map(({ stepId }) => stepId))
      .toEqual(['pay', 'pay']);
  });
});
