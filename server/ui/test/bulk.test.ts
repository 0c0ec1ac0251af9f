/** Goal: from the list of runs, an operator repairs, restarts and purges many runs at once, and learns what failed. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

/** The run fails at pay unless its data has a card, which must be a text. */
const ORDER = `
Id: order
DefaultErrorBehavior: Suspend
Steps:
  - Id: reserve
    StepType: NoOp
    NextStepId: pay
  - Id: pay
    StepType: NoOp
    Outputs:
      paid: data.card + "/" + data.name
`;

const APPROVAL = `
Id: approval
Steps:
  - Id: approve
    StepType: WaitFor
    Inputs:
      EventName: '"approved"'
      EventKey: data.name
`;

const BOOKING = `
Id: booking
Steps:
  - Id: book
    StepType: NoOp
    CompensateWith:
      - Id: cancel
        StepType: NoOp
        Outputs:
          undone: 'True'
    NextStepId: hold
  - Id: hold
    StepType: Delay
    Inputs:
      Period: 86400
`;

const COUNT = 30;
const LONG = { timeout: 40_000 };

describe.runIf(browserPath !== null)('an action on many runs', () => {
  const pages = usePages({
    seed: async ({ definitions }) => {
      for (const definition of [ORDER, APPROVAL]) await definitions.register(definition);
    },
  });

  const startOrders = (
    reference: string,
    dataOf: (number: number) => Record<string, unknown>,
  ): Promise<string[]> =>
    Promise.all(
      Array.from({ length: COUNT }, async (_, number) => {
        const data = { name: `order ${number}`, ...dataOf(number) };
        return (await pages.client.workflows.start('order', data, { reference })).id;
      }),
    );
  const count = async (filter: object): Promise<number> => {
    const list = pages.client.workflows.list({ ...filter, limit: 500 });
    return (await list.page()).items.length;
  };
  /** Selects all runs of a filter, and opens the dialog of an action. */
  const ask = async (search: string, action: string): Promise<{ page: Page; dialog: Locator }> => {
    const page = await pages.open(`/runs?${search}`);
    await page.locator('tbody tr').first().waitFor();
    await page.getByLabel('Select all matching runs').check();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Action').selectOption(action);
    await dialog.getByText(/the first of them/).waitFor();
    return { page, dialog };
  };

  test('repairs the runs of a filter: data and step, count and first runs, reason, progress', async () => {
    await startOrders('repair', () => ({}));
    await expect.poll(() => count({ reference: 'repair', status: 'Suspended' }), LONG).toBe(COUNT);
    const { page, dialog } = await ask('reference=repair&definitionId=order', 'Repair');
    await dialog.getByText(`${COUNT} runs, the first of them`).waitFor();
    await dialog.getByRole('listitem').getByText('repair').first().waitFor();
    const button = dialog.getByRole('button', { name: 'Repair' });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel(/start at this step/).selectOption('pay');
    await dialog.getByLabel(/^Change of the data/).fill('{"card": ');
    await dialog.getByLabel(/^Reason/).fill('the card was missing');
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel(/^Change of the data/).fill('{"card": "visa"}');
    await button.click();
    await page.getByText(`Repair finished: ${COUNT} of ${COUNT} repaired`).waitFor();
    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByText('the card was missing').waitFor();
    await page.getByText(`Of ${COUNT} runs: ${COUNT} completed.`).waitFor();
    expect(await count({ reference: 'repair', outcome: 'Succeeded' })).toBe(COUNT);
  });

  test('moves the runs of a filter to the next version, where a step has another name', async () => {
    const { definitions } = pages.client;
    await definitions.register(ORDER.replace('Id: order', 'Id: moving'));
    const { id } = await pages.client.workflows.start('moving', { name: 'Ada' });
    await expect.poll(() => count({ definitionId: 'moving', status: 'Suspended' }), LONG).toBe(1);
    await definitions.register(
      ORDER.replace('Id: order', 'Id: moving')
        .replaceAll(/\bpay\b/g, 'charge')
        .replace('data.card', 'data.get("card", "cash")'),
    );
    const { page, dialog } = await ask('definitionId=moving', 'Repair');
    await dialog.getByLabel(/^Continue in version/).fill('2');
    await dialog.getByLabel(/^Open steps with another name/).fill('pay=charge');
    await dialog.getByLabel(/^Reason/).fill('version 2 takes cash');
    await dialog.getByRole('button', { name: 'Repair' }).click();
    await page.getByText('Repair finished: 1 of 1 repaired').waitFor();
    await pages.client.workflows.wait(id, { timeoutMs: 40_000 });
    expect(await pages.client.workflows.get(id)).toMatchObject({
      version: 2,
      data: { paid: 'cash/Ada' },
    });
  });

  test('shows the runs for which a repair failed, each with the reason', async () => {
    await startOrders('obstacle', () => ({}));
    await expect
      .poll(() => count({ reference: 'obstacle', status: 'Suspended' }), LONG)
      .toBe(COUNT);
    const { page, dialog } = await ask('reference=obstacle', 'Repair');
    // Without the filter by definition, the dialog does not know the steps.
    await dialog.getByLabel(/start at this step/).fill('ship');
    await dialog.getByLabel(/^Reason/).fill('by a test');
    await dialog.getByRole('button', { name: 'Repair' }).click();
    await page.getByText(`Repair finished: 0 of ${COUNT} repaired, ${COUNT} failed`).waitFor();
    await page.getByRole('link', { name: 'Show the failures' }).click();
    const failures = page.getByRole('table', { name: 'Failures of the bulk job' });
    await failures
      .getByText(/no step/i)
      .first()
      .waitFor();
    expect(await failures.locator('tbody tr').count()).toBe(COUNT);
  });

  test('restarts the runs of a filter: a new run for each, the old ones stay', async () => {
    const ids = await startOrders('restart', () => ({ card: 'visa' }));
    await expect
      .poll(() => count({ reference: 'restart', outcome: 'Succeeded' }), LONG)
      .toBe(COUNT);
    const { page, dialog } = await ask('reference=restart&outcome=Succeeded', 'Restart');
    await dialog.getByLabel(/^Reason/).fill('printed on the wrong paper');
    await dialog.getByRole('button', { name: 'Restart' }).click();
    await page.getByText(`Restart finished: ${COUNT} of ${COUNT} restarted`).waitFor();
    await expect
      .poll(() => count({ reference: 'restart', outcome: 'Succeeded' }), LONG)
      .toBe(2 * COUNT);
    const old = await pages.client.workflows.get(ids[0]!);
    const { restartOf } = await pages.client.workflows.get(old.restartedAs!);
    expect(restartOf).toBe(ids[0]);
  });

  test('terminates runs and compensates their steps, if the user selects that', async () => {
    await pages.client.definitions.register(BOOKING);
    const options = { reference: 'booked' };
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await pages.client.workflows.start('booking', {}, options)).id),
    );
    const { dialog } = await ask('reference=booked', 'Terminate');
    await dialog.getByText('not compensated unless you choose so').waitFor();
    await dialog.getByLabel('Compensate completed steps first').check();
    await dialog.getByLabel(/^Reason/).fill('the hotel is closed');
    await dialog.getByLabel('Type 3 to confirm').fill('3');
    await dialog.getByRole('button', { name: 'Terminate' }).click();
    for (const id of ids) {
      const { data, outcome } = await pages.client.workflows.wait(id);
      expect({ data, outcome }).toEqual({ data: { undone: true }, outcome: 'Terminated' });
    }
    const [entry] = await pages.client.workflows.audit(ids[0]!);
    expect(entry?.detail).toMatch(/^with compensation; bulk job .*: the hotel is closed$/);
  });

  test('purges the runs of a filter once their number is typed, and skips open ones', async () => {
    const ids = await startOrders('purge', () => ({ card: 'visa' }));
    const { id: open } = await pages.client.workflows.start(
      'approval',
      { name: 'purge' },
      { reference: 'purge' },
    );
    await expect.poll(() => count({ reference: 'purge', outcome: 'Succeeded' }), LONG).toBe(COUNT);
    const { page, dialog } = await ask('reference=purge', 'Purge');
    await dialog.getByText('This cannot be undone.').waitFor();
    const button = dialog.getByRole('button', { name: 'Purge' });
    await dialog.getByLabel(/^Reason/).fill('the customer has left');
    expect(await button.isDisabled()).toBe(true);
    const confirm = dialog.getByLabel(`Type ${COUNT + 1} to confirm`);
    await confirm.fill(String(COUNT));
    expect(await button.isDisabled()).toBe(true);
    await confirm.fill(String(COUNT + 1));
    await button.click();
    await page
      .getByText(
        `Purge finished: ${COUNT} of ${COUNT + 1} purged, 1 skipped because of their status`,
      )
      .waitFor();
    await page.reload();
    await page.locator(`tr[data-key="${open}"]`).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await expect(pages.client.workflows.get(ids[0]!)).rejects.toMatchObject({ status: 404 });
    await page.getByRole('link', { name: 'Bulk jobs' }).click();
    await page
      .getByRole('table', { name: 'Bulk jobs' })
      .getByText('the customer has left')
      .waitFor();
  });
});
