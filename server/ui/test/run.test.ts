/** Goal: the page of a run says why it is waiting, shows what it has done, and offers the actions that help. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { openShop, type Shop } from './support/shop.js';

describe.runIf(browserPath !== null)('the page of a run', () => {
  let shop: Shop;
  const pages = usePages({
    seed: async (client) => {
      shop = await openShop(client);
    },
  });

  const openRun = async (id: string, tab = ''): Promise<Page> => {
    const page = await pages.open(`/runs/${id}${tab === '' ? '' : `?tab=${tab}`}`);
    await page.getByText('Live', { exact: true }).waitFor();
    return page;
  };
  const why = (page: Page) => page.locator('section.why');
  const status = (page: Page) => page.locator('h1 .badge').first();
  const startReminder = async (): Promise<string> =>
    (await pages.client.workflows.start('reminder', {})).id;

  test('says which event the run is waiting for, and publishes it', async () => {
    const page = await openRun(shop.order);
    await why(page).getByText('has been waiting for event approved/order-4711').waitFor();
    await why(page).getByRole('button', { name: 'Publish the event' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish the event' });
    await dialog.getByLabel('Event data').fill('{"by": ');
    await dialog.getByText('Not valid JSON').waitFor();
    expect(await dialog.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Event data').fill('{"by": "Grace"}');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await expect.poll(() => status(page).textContent()).toBe('✓ Completed');
    await page.getByRole('heading', { name: 'How it ended' }).waitFor();
    const { data } = await pages.client.workflows.get(shop.order);
    expect(data).toMatchObject({ approvedBy: 'Grace', shipped: true });
  });

  test('shows an error with its Python traceback, and retries the step on resume', async () => {
    const page = await openRun(shop.invoice);
    await why(page).getByText('suspended').first().waitFor();
    await why(page).locator('.error-type', { hasText: 'KeyError' }).waitFor();
    await why(page).getByText('Python traceback').click();
    await why(page).getByText('Traceback (most recent call last)').waitFor();
    await why(page).getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The run was resumed.').waitFor();
    await expect
      .poll(async () => {
        const { items } = await pages.client.workflows.steps(shop.invoice).page();
        return Math.max(...items.map(({ attempt }) => attempt));
      })
      .toBeGreaterThan(2);
  });

  test('suspends and resumes the run, and updates the status in place', async () => {
    const page = await openRun(await startReminder());
    await page.getByRole('button', { name: 'Suspend' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Suspended');
    await page.locator('.page-actions').getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Waiting');
  });

  test('asks before it terminates the run, and does nothing if the user cancels', async () => {
    const options = { reference: 'terminated-by-hand' };
    const { id } = await pages.client.workflows.start('reminder', {}, options);
    const page = await openRun(id);
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect((await pages.client.workflows.get(id)).status).toBe('Runnable');
    await page.getByRole('button', { name: 'Terminate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Terminate this run?' });
    await dialog.getByText(`reminder · terminated-by-hand ${id}`).waitFor();
    // Enter does no harm: the focus is on Cancel.
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect((await pages.client.workflows.get(id)).status).toBe('Runnable');
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await pages.client.workflows.get(id)).status).toBe('Runnable');
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click();
    await expect.poll(() => status(page).textContent()).toBe('■ Terminated');
    expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0);
  });

  test('compensates completed steps before it terminates the run, if the user selects that', async () => {
    const undo = { id: 'undo', stepType: 'NoOp', outputs: { undone: 'True' } };
    await pages.client.definitions.register({
      id: 'undoable',
      steps: [
        { id: 'do', stepType: 'NoOp', compensateWith: [undo], nextStepId: 'hang' },
        { id: 'hang', stepType: 'Delay', inputs: { period: 3600 } },
      ],
    });
    const { id } = await pages.client.workflows.start('undoable', {});
    const page = await openRun(id);
    await page.getByRole('button', { name: 'Terminate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Terminate this run?' });
    await dialog.getByText('Completed steps are not compensated unless you choose so.').waitFor();
    await dialog.getByLabel('Compensate completed steps first').check();
    await dialog.getByRole('button', { name: 'Terminate' }).click();
    await expect.poll(() => status(page).textContent()).toBe('■ Terminated');
    await why(page).getByText('(with compensation)').first().waitFor();
    expect((await pages.client.workflows.get(id)).data).toEqual({ undone: true });
  });

  test('shows changes by other clients without a reload', async () => {
    const id = await startReminder();
    const page = await openRun(id);
    await pages.client.workflows.suspend(id);
    await expect.poll(() => status(page).textContent()).toBe('Suspended');
    await why(page).getByText('suspended').first().waitFor();
    await pages.client.workflows.terminate(id);
    await expect.poll(() => status(page).textContent()).toBe('■ Terminated');
  });

  test("shows the server's message if the server rejects an action", async () => {
    const id = await startReminder();
    const page = await openRun(id);
    pages.expectBrowserError(/400/);
    // Another client was faster, and the page does not know yet.
    await page.route('**/api/stream', (route) => route.abort());
    await page.route(`**/api/workflow/${id}/suspend`, async (route) => {
      await pages.client.workflows.terminate(id);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Suspend failed:').waitFor();
  });

  test('shows inputs, outputs and items of steps, and only the executions of a step selected in the timeline', async () => {
    const page = await openRun(shop.unpaid);
    const timeline = page.locator('.timeline');
    await timeline.getByRole('button', { name: /^Pack 1/ }).click();
    await page.waitForURL(/tab=steps&step=pack/);
    const rows = page.locator('.step-rows > li');
    await expect.poll(() => rows.count()).toBe(2);
    await rows.first().locator('summary').first().click();
    await rows.first().getByText('"packing cup-blue"').waitFor();
    await rows.first().getByText('"cup-blue"').waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(4);
    await rows.filter({ hasText: 'Add up the basket' }).locator('summary').first().click();
    await rows.filter({ hasText: 'Add up the basket' }).getByText('15.2').waitFor();
  });

  test('shows the changes of each step to the data', async () => {
    const page = await openRun(shop.unpaid, 'data');
    await page
      .getByRole('group', { name: 'Data', exact: true })
      .getByText('"Grace Hopper"')
      .waitFor();
    const changes = page.getByRole('table', { name: 'Changes to the data' });
    await changes.getByText('total').waitFor();
    await changes.getByText('Add up the basket').waitFor();
  });

  test('shows the state of each step in the graph, which leads to its executions', async () => {
    const page = await openRun(shop.unpaid);
    const graph = page.getByRole('group', { name: 'Steps of the definition and their state' });
    await graph.getByRole('button', { name: 'List' }).click();
    await graph.getByText('Charge the card').first().click();
    await page.waitForURL(/tab=steps&step=charge/);
  });

  test('completes and fails an activity in place of its worker', async () => {
    const page = await openRun(shop.unpaid);
    await why(page).getByText('activity charge-card').first().waitFor();
    await why(page).getByRole('button', { name: 'Fail …' }).click();
    await page.getByRole('dialog').getByLabel('Error').fill('"no such card"');
    await page.getByRole('dialog').getByRole('button', { name: 'Fail' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Suspended');
    await why(page).locator('.error-type').first().waitFor();
    await page.locator('.page-actions').getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Waiting');
    await why(page).getByRole('button', { name: 'Complete …' }).click();
    await page.getByRole('dialog').getByLabel('Result').fill('{"receipt": "by-hand"}');
    await page.getByRole('dialog').getByRole('button', { name: 'Complete' }).click();
    await expect
      .poll(async () => (await pages.client.workflows.get(shop.unpaid)).data)
      .toMatchObject({ receipt: 'by-hand' });
    await why(page).getByText('has been waiting for event approved/order-4712').waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    const history = page.getByRole('table', { name: 'Actions on this run' });
    for (const action of ['complete activity', 'resume', 'fail activity']) {
      await history.getByText(action).waitFor();
    }
  });

  test('retries immediately a step that is waiting for its retry', async () => {
    const page = await openRun(shop.sync);
    await why(page).getByText('attempt 2 in').waitFor();
    await page.locator('.page-actions').getByRole('button', { name: 'Retry now' }).click();
    await page.getByText('The steps that were waiting for a retry are being retried.').waitFor();
    await why(page).getByText('attempt 3 in').waitFor();
  });

  test('reports a run that does not exist', async () => {
    const page = await pages.open('/runs/no-such-run');
    await page.getByText('There is no run with this id.').waitFor();
    await page.getByRole('link', { name: 'Show all runs' }).click();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  });

  test('shows a long loop from its newest iteration on, in pages', async () => {
    await pages.client.definitions.register({
      id: 'counting',
      steps: [
        {
          id: 'loop',
          stepType: 'While',
          inputs: { Condition: 'data.n < 800' },
          do: [
            [
              { id: 'count', stepType: 'NoOp', outputs: { n: 'data.n + 1' }, nextStepId: 'rest' },
              { id: 'rest', stepType: 'NoOp' },
            ],
          ],
        },
      ],
    });
    const { id } = await pages.client.workflows.start('counting', { n: 0 });
    await pages.client.workflows.wait(id);
    const page = await openRun(id);
    const looksAt = 'the first 500 and the most recent 1000 executions';
    await page.getByText(`the graph counts only ${looksAt}`).waitFor();
    await page.getByText(`Only ${looksAt} are shown.`).waitFor();
    await page.getByRole('button', { name: 'Show earlier executions' }).waitFor();
    await page.getByRole('tab', { name: 'Steps' }).click();
    // The loop itself ended last.
    const rows = page.locator('.step-rows > li');
    await expect.poll(() => rows.count()).toBe(50);
    expect(await rows.first().textContent()).toContain('loop');
    await page.goto(`${pages.server.url}/ui/runs/${id}?tab=steps&step=count`);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await rows.first().waitFor();
    await page.route(`**/api/workflow/${id}/steps*`, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Order').selectOption('oldest first');
    const next = page.getByRole('button', { name: 'Next' });
    // What is shown still has the old order, and so has its cursor.
    await expect.poll(() => next.isDisabled()).toBe(true);
    release();
    await next.click();
    await page.getByText('Page 2').waitFor();
    // Until then, the rows are those of the first page.
    await expect.poll(() => next.isDisabled()).toBe(false);
    await rows.first().locator('summary').first().click();
    await rows.first().getByText('51', { exact: true }).waitFor();
  });

  test('links a step to the run that it started, and that run back to the step', async () => {
    const { workflows } = pages.client;
    await pages.client.definitions.register({
      id: 'dunning',
      steps: [
        {
          id: 'remind-first',
          stepType: 'SubWorkflow',
          inputs: { DefinitionId: '"reminder"' },
        },
      ],
    });
    const parent = await workflows.start('dunning');
    const page = await openRun(parent.id);
    await why(page).getByText('has been waiting for run').waitFor();
    const childId = await page
      .getByRole('link', { name: 'Open the child run' })
      .getAttribute('href')
      .then((href) => href!.split('/').at(-1)!);
    // The link may appear before the run exists. The page then says so, and shows the run once it exists.
    await page.getByRole('link', { name: 'Open the child run' }).click();
    await page.locator('.run-heading', { hasText: 'reminder' }).waitFor();
    await page.getByRole('link', { name: `run ${parent.id}` }).click();
    await page.waitForURL((url) => url.search === '?tab=steps&step=remind-first');
    await page.locator('.step-rows summary').first().click();
    await page.getByRole('link', { name: childId }).waitFor();
    await workflows.terminate(parent.id);
    await workflows.wait(childId);
    await page.getByRole('link', { name: childId }).click();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText(`with its parent ${parent.id}`).last().waitFor();
  });
});
