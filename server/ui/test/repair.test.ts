/** Goal: an operator puts any run right in a few clicks, and sees beforehand what will happen. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

const ORDER = `
Id: order
DefaultErrorBehavior: Suspend
Steps:
  - Id: reserve
    StepType: NoOp
    NextStepId: pack
  - Id: pack
    StepType: NoOp
    Outputs:
      packed: data.carrier["name"]
    NextStepId: approve
  - Id: approve
    StepType: Activity
    Inputs:
      ActivityName: '"approve"'
`;

/** The second version has no step approve, but one of the same type with another name. */
const MOVING = ORDER.replace('Id: order', 'Id: moving');
const MOVING_2 = MOVING.replaceAll(/\bapprove\b/g, 'confirm');

/** With a queue of its own. */
const PARCEL = ORDER.replace('Id: order', 'Id: parcel').replace('"approve"', '"approve-parcel"');

const LINES = `
Id: lines
DefaultErrorBehavior: Suspend
Steps:
  - Id: each
    StepType: Foreach
    Inputs:
      Collection: data.lines
    Do:
      - - Id: price
          StepType: EmitLog
          Inputs:
            Message: str(10 / context.Item)
    NextStepId: total
  - Id: total
    StepType: NoOp
    Outputs:
      done: 'True'
`;

const SAGA = `
Id: trip
Steps:
  - Id: book
    StepType: Sequence
    Saga: true
    Do:
      - - Id: room
          StepType: NoOp
          CompensateWith:
            - Id: cancel-room
              StepType: NoOp
              ErrorBehavior: Suspend
              Outputs:
                returned: data.deposit + 1
          NextStepId: pay
        - Id: pay
          StepType: Fail
          Inputs:
            Message: '"the card was refused"'
`;

describe.runIf(browserPath !== null)('repairing a run', () => {
  const pages = usePages({
    seed: async ({ definitions }) => {
      for (const definition of [ORDER, MOVING, PARCEL, LINES, SAGA])
        await definitions.register(definition);
    },
  });

  const openRepair = async (id: string): Promise<Page> => {
    const page = await pages.open(`/runs/${id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Repair …' }).click();
    return page;
  };
  const panel = (page: Page) => page.getByRole('region', { name: 'Repair this run' });
  const preview = (page: Page) => panel(page).getByRole('group', { name: 'Preview' });
  const apply = async (page: Page, reason: string): Promise<void> => {
    await panel(page)
      .getByLabel(/^Reason/)
      .fill(reason);
    await panel(page).getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The run was repaired').waitFor();
  };
  const suspendedOrder = async (): Promise<string> => {
    const { id } = await pages.client.workflows.start('order', { carrier: null });
    await expect.poll(async () => (await pages.client.workflows.get(id)).status).toBe('Suspended');
    return id;
  };

  test('offers to rerun the failed step: data, reason, apply', async () => {
    const id = await suspendedOrder();
    const page = await openRepair(id);
    await preview(page).getByText('pack', { exact: true }).first().waitFor();
    await panel(page).getByText('Edit the data').click();
    const editor = panel(page).getByRole('textbox', { name: 'Data of the run as JSON' });
    await pasteText(editor, '{"carrier": {"name": "DHL"}');
    await preview(page).getByText('Not valid JSON').waitFor();
    expect(await panel(page).getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
    await pasteText(editor, '{"carrier": {"name": "DHL"}}');
    await panel(page).locator('.cm-changedLine').first().waitFor();
    await preview(page).getByText('Running').waitFor();
    await apply(page, 'the carrier was missing');
    await expect
      .poll(async () => (await pages.client.workflows.get(id)).data)
      .toMatchObject({ packed: 'DHL' });
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('the carrier was missing').first().waitFor();
  });

  test('starts at a step that is chosen on the graph, and names calls that happen again', async () => {
    const { id } = await pages.client.workflows.start('parcel', { carrier: { name: 'DHL' } });
    const item = await pages.client.activities.pull('approve-parcel', { waitSeconds: 20 });
    await pages.client.activities.succeed(item!, {});
    await pages.client.workflows.wait(id);
    const page = await openRepair(id);
    await preview(page).getByText('Choose the step to start from.').waitFor();
    await panel(page)
      .getByRole('button', { name: /^pack, NoOp/ })
      .click();
    await expect
      .poll(() =>
        panel(page)
          .getByLabel(/^Cancel all open steps/)
          .inputValue(),
      )
      .toBe('pack');
    await preview(page).getByText('approve (Activity)').waitFor();
    await apply(page, 'packed wrongly');
    await expect.poll(() => page.locator('h1 .badge').first().textContent()).toBe('Waiting');
    expect((await pages.client.workflows.get(id)).endTime).toBeNull();
  });

  test('repairs one bad item of a Foreach', async () => {
    const { id } = await pages.client.workflows.start('lines', { lines: [5, 0, 2] });
    await expect.poll(async () => (await pages.client.workflows.get(id)).status).toBe('Suspended');
    const page = await openRepair(id);
    await panel(page).getByRole('button', { name: 'Choose steps', pressed: true }).waitFor();
    await expect.poll(() => panel(page).getByLabel('index').inputValue()).toBe('1');
    await panel(page).getByLabel('item (JSON)').fill('10');
    await preview(page).getByText('price', { exact: true }).first().waitFor();
    await apply(page, 'the amount was wrong');
    await expect.poll(async () => (await pages.client.workflows.get(id)).outcome).toBe('Succeeded');
  });

  test('moves a run to the next version, and maps a step that is missing there', async () => {
    const { id } = await pages.client.workflows.start('moving', { carrier: { name: 'DHL' } });
    await expect
      .poll(async () => (await pages.client.workflows.explain(id)).reasons[0]?.stepId)
      .toBe('approve');
    await pages.client.definitions.register(MOVING_2);
    pages.expectBrowserError(/409/);
    const page = await openRepair(id);
    await panel(page).getByRole('button', { name: 'Choose steps' }).click();
    await panel(page).getByLabel('Continue in version').fill('2');
    await preview(page).getByText('does not exist in version 2').first().waitFor();
    await panel(page)
      .getByLabel(/^Version 2 has no step approve/)
      .selectOption('confirm');
    await preview(page).getByText('1 → 2').waitFor();
    await apply(page, 'moved');
    expect(await pages.client.workflows.get(id)).toMatchObject({ version: 2 });
    await expect
      .poll(async () => (await pages.client.workflows.explain(id)).reasons[0]?.stepId)
      .toBe('confirm');
  });

  test('repairs a saga whose compensation failed', async () => {
    const { id } = await pages.client.workflows.start('trip', { deposit: 'none' });
    await expect.poll(async () => (await pages.client.workflows.get(id)).status).toBe('Suspended');
    const page = await openRepair(id);
    await panel(page).getByText('Edit the data').click();
    const editor = panel(page).getByRole('textbox', { name: 'Data of the run as JSON' });
    await pasteText(editor, '{"deposit": 41}');
    await preview(page).getByText('cancel-room').first().waitFor();
    await apply(page, 'the deposit was text');
    await expect
      .poll(async () => (await pages.client.workflows.get(id)).outcome)
      .toBe('Compensated');
    expect((await pages.client.workflows.get(id)).data).toMatchObject({ returned: 42 });
  });

  test('opens a run again that was terminated by mistake', async () => {
    const { id } = await pages.client.workflows.start('order', { carrier: { name: 'DHL' } });
    await expect
      .poll(async () => (await pages.client.workflows.explain(id)).reasons[0]?.stepId)
      .toBe('approve');
    await pages.client.workflows.terminate(id);
    const page = await openRepair(id);
    await panel(page)
      .getByLabel(/^Cancel all open steps/)
      .selectOption('approve');
    await apply(page, 'terminated by mistake');
    await expect.poll(() => page.locator('h1 .badge').first().textContent()).toBe('Waiting');
  });

  test('works by keyboard alone, in a narrow window, in both themes, without serious problems', async () => {
    const id = await suspendedOrder();
    const page = await pages.open(`/runs/${id}?repair=`, {
      viewport: { width: 390, height: 800 },
      colorScheme: 'dark',
    });
    await preview(page).getByText('pack', { exact: true }).first().waitFor();
    await panel(page).locator('.graph-canvas').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await seriousProblems(page)).toEqual([]);
    const wider = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(wider).toBe(0);
    await panel(page)
      .getByLabel(/^Cancel all open steps/)
      .focus();
    await page.keyboard.press('ArrowUp');
    await preview(page).getByText('reserve').first().waitFor();
    await panel(page)
      .getByLabel(/^Reason/)
      .focus();
    await page.keyboard.type('by keyboard');
    await page.keyboard.press('Enter');
    await page.getByText('The run was repaired').waitFor();
  });

  test('asks before an unfinished repair is lost', async () => {
    const id = await suspendedOrder();
    const page = await openRepair(id);
    await panel(page)
      .getByLabel(/^Reason/)
      .fill('half');
    pages.expectBrowserError(/dialog: Leave this page/);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    expect(
      await panel(page)
        .getByLabel(/^Reason/)
        .inputValue(),
    ).toBe('half');
    await panel(page).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('tab', { name: 'Overview' }).waitFor();
  });
});
