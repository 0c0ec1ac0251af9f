/** Goal: the page of a run says why it waits, shows what it did, and its buttons put it right. */
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

  test('it says which event is missing, and publishing it there lets the run end', async () => {
    const page = await openRun(shop.order);
    await why(page).getByText('has been waiting for event approved/order-4711').waitFor();
    await why(page).getByRole('button', { name: 'Publish the event' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish the event' });
    await dialog.getByLabel('Data of the event').fill('{"by": ');
    await dialog.getByText('No JSON').waitFor();
    expect(await dialog.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Data of the event').fill('{"by": "Grace"}');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Complete');
    await page.getByRole('heading', { name: 'How it ended' }).waitFor();
    const { data } = await pages.client.workflows.get(shop.order);
    expect(data).toMatchObject({ approvedBy: 'Grace', shipped: true });
  });

  test('an error is shown with its Python traceback, and resuming tries again', async () => {
    const page = await openRun(shop.invoice);
    await why(page).getByText('suspended').first().waitFor();
    await why(page).locator('.error-type', { hasText: 'KeyError' }).waitFor();
    await why(page).getByText('Python traceback').click();
    await why(page).getByText('Traceback (most recent call last)').waitFor();
    await why(page).getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The run goes on.').waitFor();
    await expect
      .poll(async () => {
        const { items } = await pages.client.workflows.steps(shop.invoice).page();
        return Math.max(...items.map(({ attempt }) => attempt));
      })
      .toBeGreaterThan(2);
  });

  test('suspend and resume change the status in place', async () => {
    const page = await openRun(await startReminder());
    await page.getByRole('button', { name: 'Suspend' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Suspended');
    await page.locator('.page-actions').getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Runnable');
  });

  test('terminate asks first, and does nothing when it is not wanted', async () => {
    const id = await startReminder();
    const page = await openRun(id);
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect((await pages.client.workflows.get(id)).status).toBe('Runnable');
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await pages.client.workflows.get(id)).status).toBe('Runnable');
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Terminated');
    expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0);
  });

  test('terminate compensates completed steps first when that is chosen', async () => {
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
    await dialog.getByLabel('Compensate completed steps first').check();
    await dialog.getByRole('button', { name: 'Terminate' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Terminated');
    await why(page).getByText('(with compensation)').first().waitFor();
    expect((await pages.client.workflows.get(id)).data).toEqual({ undone: true });
  });

  test('what others do to the run shows without a reload', async () => {
    const id = await startReminder();
    const page = await openRun(id);
    await pages.client.workflows.suspend(id);
    await expect.poll(() => status(page).textContent()).toBe('Suspended');
    await why(page).getByText('suspended').first().waitFor();
    await pages.client.workflows.terminate(id);
    await expect.poll(() => status(page).textContent()).toBe('Terminated');
  });

  test('a refused action is told with the words of the server', async () => {
    const id = await startReminder();
    const page = await openRun(id);
    pages.expectBrowserError(/400/);
    // Somebody else is quicker, and the page has not heard of it.
    await page.route('**/api/stream', (route) => route.abort());
    await page.route(`**/api/workflow/${id}/suspend`, async (route) => {
      await pages.client.workflows.terminate(id);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Suspend did not work:').waitFor();
  });

  test('steps show inputs, outputs and items, and a step chosen in the timeline shows only its executions', async () => {
    const page = await openRun(shop.unpaid);
    const timeline = page.locator('.timeline');
    await timeline.getByRole('button', { name: /^Pack 1/ }).click();
    await page.waitForURL(/tab=steps&step=pack/);
    const rows = page.locator('.step-rows > li');
    await expect.poll(() => rows.count()).toBe(2);
    await rows.first().locator('summary').first().click();
    await rows.first().getByText('"packing cup-blue"').waitFor();
    await rows.first().getByText('"cup-blue"').waitFor();
    await page.getByRole('button', { name: 'Show all steps' }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(4);
    await rows.filter({ hasText: 'Add up the basket' }).locator('summary').first().click();
    await rows.filter({ hasText: 'Add up the basket' }).getByText('15.2').waitFor();
  });

  test('data show what each step has changed', async () => {
    const page = await openRun(shop.unpaid, 'data');
    await page
      .getByRole('group', { name: 'Data', exact: true })
      .getByText('"Grace Hopper"')
      .waitFor();
    const changes = page.getByRole('table', { name: 'Changes of the data' });
    await changes.getByText('total').waitFor();
    await changes.getByText('Add up the basket').waitFor();
  });

  test('the graph shows the state of each step, and leads to its executions', async () => {
    const page = await openRun(shop.unpaid);
    const graph = page.getByRole('group', { name: 'Steps of the definition and their state' });
    await graph.getByRole('button', { name: 'List' }).click();
    await graph.getByText('Charge the card').first().click();
    await page.waitForURL(/tab=steps&step=charge/);
  });

  test('an awaited activity is completed by hand, and one is failed', async () => {
    const page = await openRun(shop.unpaid);
    await why(page).getByText('activity charge-card').first().waitFor();
    await why(page).getByRole('button', { name: 'Fail …' }).click();
    await page.getByRole('dialog').getByLabel('What went wrong').fill('"no such card"');
    await page.getByRole('dialog').getByRole('button', { name: 'Fail it' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Suspended');
    await why(page).locator('.error-type').first().waitFor();
    await page.locator('.page-actions').getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => status(page).textContent()).toBe('Runnable');
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

  test('a step that waits for its retry is tried at once', async () => {
    const page = await openRun(shop.sync);
    await why(page).getByText('retry 1 in').waitFor();
    await page.locator('.page-actions').getByRole('button', { name: 'Retry now' }).click();
    await page.getByText('The steps that waited for a retry are tried now.').waitFor();
    await why(page).getByText('retry 2 in').waitFor();
  });

  test('a run that does not exist is said so', async () => {
    pages.expectBrowserError(/404/);
    const page = await pages.open('/runs/no-such-run');
    await page.getByText('There is no run with this id.').waitFor();
    await page.getByRole('link', { name: 'Look at all runs' }).click();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  });

  test('a long loop is read from its newest turn on, and page by page', async () => {
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
    const looksAt = 'the first 500 and the newest 1000 executions';
    await page.getByText(`the graph counts ${looksAt}`).waitFor();
    await page.getByText(`Only ${looksAt} are drawn.`).waitFor();
    await page.getByRole('button', { name: 'Show earlier ones' }).waitFor();
    await page.getByRole('tab', { name: 'Steps' }).click();
    // The loop itself ended last.
    const rows = page.locator('.step-rows > li');
    await expect.poll(() => rows.count()).toBe(50);
    expect(await rows.first().textContent()).toContain('loop');
    await page.goto(`${pages.server.url}/ui/runs/${id}?tab=steps&step=count`);
    await page.getByLabel('Order').selectOption('first to last');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2').waitFor();
    await rows.first().locator('summary').first().click();
    await rows.first().getByText('51', { exact: true }).waitFor();
  });

  test('a step leads to the run that it started, and that one back to the step', async () => {
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
      .getByRole('link', { name: 'Open the run that it waits for' })
      .getAttribute('href')
      .then((href) => href!.split('/').at(-1)!);
    // The link is there before the run is: then the page says so, and shows it once it comes.
    pages.expectBrowserError(/404/);
    await page.getByRole('link', { name: 'Open the run that it waits for' }).click();
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
