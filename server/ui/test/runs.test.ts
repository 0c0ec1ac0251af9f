/** Goal: the list of runs searches, filters and pages, and stays current without a reload. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { watchListReads, type ListReads } from './support/list-reads.js';
import { usePages } from './support/page-test.js';
import { openShop, type Shop } from './support/shop.js';

const RETRYING = `
Steps:
  - Id: fix
    StepType: NoOp
    RetryInterval: PT1H
    Outputs:
      was: data.fixed
    NextStepId: rest
  - Id: rest
    StepType: Delay
    Inputs:
      Period: 3600
`;

describe.runIf(browserPath !== null)('the list of runs', () => {
  let shop: Shop;
  const pages = usePages({
    seed: async (client) => {
      shop = await openShop(client);
    },
  });

  const row = (page: Page, id: string) => page.locator(`tr[data-key="${id}"]`);
  const rowCount = (page: Page): Promise<number> => page.locator('tbody tr').count();
  const settled = async (page: Page): Promise<void> => {
    await page.locator('tbody tr').first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  };

  const startReminders = (count: number, reference: string): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { id } = await pages.client.workflows.start('reminder', {}, { reference });
        return id;
      }),
    );

  test('shows every run with its status, the newest first', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    expect(await rowCount(page)).toBe(7);
    await expect.poll(() => row(page, shop.greeting).textContent()).toContain('✓ Completed');
    await expect.poll(() => row(page, shop.invoice).textContent()).toContain('Suspended');
    await row(page, shop.invoice).locator('[data-label="Why"]', { hasText: 'KeyError' }).waitFor();
    expect(await page.locator('tbody tr').last().getAttribute('data-key')).toBe(shop.order);
  });

  test('applies filters, which are part of the address and survive a reload', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    await page.getByLabel('Status').selectOption('Running, waiting or retrying');
    await expect.poll(() => rowCount(page)).toBe(4);
    await page.getByLabel('Definition', { exact: true }).fill('order-fulfilment');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowCount(page)).toBe(2);
    await page.getByLabel('Reference', { exact: true }).fill('order-4711');
    await page.keyboard.press('Tab');
    await expect.poll(() => rowCount(page)).toBe(1);
    await page.getByLabel('Version').fill('1');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => new URL(page.url()).search)
      .toBe('?status=Runnable&definitionId=order-fulfilment&version=1&reference=order-4711');
    await page.reload();
    await row(page, shop.order).waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('Running, waiting or retrying');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rowCount(page)).toBe(7);
  });

  test('filters by start time', async () => {
    const page = await pages.open('/runs?from=2001-01-01T00:00&to=2002-01-01T00:00');
    await page.getByText('No run matches the filter.').waitFor();
    await page.getByLabel('Started before').fill('2090-01-01T00:00');
    await expect.poll(() => rowCount(page)).toBe(7);
  });

  test('filters by a period up to now, which the address keeps', async () => {
    const page = await pages.open('/runs?from=2001-01-01T00:00&to=2002-01-01T00:00');
    await page.getByText('No run matches the filter.').waitFor();
    await page.getByRole('combobox', { name: 'Started' }).selectOption('in the last hour');
    await expect.poll(() => rowCount(page)).toBe(7);
    expect(new URL(page.url()).search).toBe('?started=1h');
    await page.clock.install({ time: Date.now() + 2 * 3_600_000 });
    await page.reload();
    await page.getByText('No run matches the filter.').waitFor();
  });

  test.each([
    ['Running', 4],
    ['Suspended', 1],
    ['Errors in the last hour', 2],
    ['All', 7],
  ])('shows in the view "%s" %i runs', async (name, count) => {
    const page = await pages.open('/runs?status=Complete');
    await settled(page);
    await page.getByRole('button', { name, exact: true }).click();
    await expect.poll(() => rowCount(page)).toBe(count);
    expect(await page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    );
  });

  test('has no runs unchanged for 10 minutes right after their start', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    await page.getByRole('button', { name: 'Unchanged for 10 min' }).click();
    await page.getByText('No run matches the filter.').waitFor();
  });

  test('finds runs by id, definition or reference, and reports if nothing is found', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    const box = page.getByRole('combobox', { name: /^Find runs/ });
    const search = async (text: string): Promise<void> => {
      await box.fill(text);
      await page.keyboard.press('Enter');
    };
    await search('../..');
    await page.getByText('No runs were found for this text').waitFor();
    await search('order-fulfilment');
    await expect.poll(() => rowCount(page)).toBe(2);
    expect(new URL(page.url()).search).toBe('?parent=any&definitionId=order-fulfilment');
    await search('order-4700');
    await expect.poll(() => rowCount(page)).toBe(1);
    await row(page, shop.invoice).waitFor();
    await search(` ${shop.order} `);
    await page.waitForURL((url) => url.pathname === `/ui/runs/${shop.order}`);
  });

  test('updates a changed run in its row, without a reload and without moving it', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    const before = await page
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((r) => r.getAttribute('data-key')));
    await pages.client.workflows.suspend(shop.reminder);
    await expect.poll(() => row(page, shop.reminder).textContent()).toContain('Suspended');
    await pages.client.workflows.resume(shop.reminder);
    await expect.poll(() => row(page, shop.reminder).textContent()).toContain('Waiting');
    const after = await page
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((r) => r.getAttribute('data-key')));
    expect(after).toEqual(before);
  });

  test('shows a new run at the top, or announces it while a row is selected', async () => {
    const page = await pages.open('/runs?definitionId=greeting');
    await settled(page);
    const first = await pages.client.workflows.start('greeting', { name: 'Bo' });
    await row(page, first.id).waitFor();
    expect(await page.locator('tbody tr').first().getAttribute('data-key')).toBe(first.id);

    await page.getByLabel(`Select run ${first.id}`).check();
    const second = await pages.client.workflows.start('greeting', { name: 'Cy' });
    await page.getByText('1 new run · show').click();
    await row(page, second.id).waitFor();
    expect(await page.locator('tbody tr').first().getAttribute('data-key')).toBe(second.id);
    await page.getByText('1 selected').waitFor();
  });

  test('keeps a run that no longer matches the filter until the list is reloaded', async () => {
    const { id } = await pages.client.workflows.start('reminder', {});
    let reads!: ListReads;
    const page = await pages.open(
      '/runs?definitionId=reminder&status=Runnable',
      {},
      async (opened) => {
        reads = watchListReads(opened);
      },
    );
    await row(page, id).waitFor();
    await settled(page);
    await reads.hold();
    await pages.client.workflows.terminate(id);
    await expect.poll(() => row(page, id).getAttribute('class')).toContain('left-filter');
    await reads.release();
    await page.reload();
    await row(page, shop.reminder).waitFor();
    expect(await row(page, id).count()).toBe(0);
  });

  /** Answers the dialog of a bulk action. */
  const confirmBulk = async (page: Page, action: string, typed?: string): Promise<void> => {
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Reason/).fill('by a test');
    if (typed !== undefined) await dialog.getByLabel(`Type ${typed} to confirm`).fill(typed);
    await dialog.getByRole('button', { name: action }).click();
    await dialog.waitFor({ state: 'detached' });
  };

  test('suspends and resumes the selected runs after a confirmation', async () => {
    const ids = await startReminders(3, 'together');
    const page = await pages.open('/runs?reference=together');
    await settled(page);
    await page.getByLabel('Select all on this page').check();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByRole('dialog', { name: 'Suspend 3 runs?' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await confirmBulk(page, 'Suspend');
    await page.getByText('Suspend finished: 3 of 3 suspended').waitFor();
    for (const id of ids)
      await expect.poll(() => row(page, id).textContent()).toContain('Suspended');
    await page.getByLabel(`Select run ${ids[0]!}`).check();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await confirmBulk(page, 'Resume');
    await page.getByText('Resume finished: 1 of 1 resumed').waitFor();
  });

  test('terminates all runs that match the filter, on all pages, once their number is typed', async () => {
    const ids = await startReminders(130, 'many');
    const page = await pages.open('/runs?reference=many');
    await settled(page);
    await page.getByLabel('Select all matching runs').check();
    await page.getByRole('button', { name: 'Terminate', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Terminate 130 runs?' });
    await dialog.getByText('Completed steps are not compensated unless you choose so.').waitFor();
    await dialog.getByLabel(/^Reason/).fill('by a test');
    expect(await dialog.getByRole('button', { name: 'Terminate' }).isDisabled()).toBe(true);
    await confirmBulk(page, 'Terminate', '130');
    await page.getByText('Terminate finished: 130 of 130 requested').waitFor();
    for (const id of [ids[0]!, ids[64]!, ids[129]!]) {
      expect((await pages.client.workflows.get(id)).status).toBe('Terminated');
    }
    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByText('by a test').waitFor();
    await page.getByRole('link', { name: 'Bulk jobs' }).click();
    await page.getByRole('table', { name: 'Bulk jobs' }).getByText('130 of 130').waitFor();
  });

  test('stops a bulk action', async () => {
    await startReminders(60, 'stop');
    const page = await pages.open('/runs?reference=stop');
    await settled(page);
    await page.getByLabel('Select all matching runs').check();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByLabel(/^Runs per second/)
      .fill('1');
    await confirmBulk(page, 'Suspend');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Suspend stopped:').waitFor();
    const { items } = await pages.client.workflows
      .list({ reference: 'stop', status: 'Suspended', limit: 500 })
      .page();
    expect(items.length).toBeLessThan(60);
  });

  test('filters by the runs that are retrying now', async () => {
    // A second attempt must not find the runs of the first one.
    const name = `retrying-${Date.now()}`;
    await pages.client.definitions.register(`Id: ${name}${RETRYING}`);
    const { id } = await pages.client.workflows.start(name, {});
    await pages.client.workflows.start(name, { fixed: true });
    await expect.poll(async () => (await pages.client.workflows.get(id)).lastError).not.toBeNull();
    const page = await pages.open(`/runs?definitionId=${name}&unchanged=10m`);
    await page.getByLabel('Status').selectOption('Retrying, or compensating an error');
    await row(page, id).getByText('Retrying').waitFor();
    await expect.poll(() => rowCount(page)).toBe(1);
    expect(new URL(page.url()).search).toBe(`?status=Runnable&definitionId=${name}&failed=any`);
    await page.reload();
    await row(page, id).waitFor();
    expect(await page.getByLabel('Status').inputValue()).toContain('Retrying');
    expect(await page.getByLabel('Problem').inputValue()).toBe('');
    // The next attempt succeeds, so the run shows no error any more, although it is open.
    await pages.client.workflows.modify(id, { data: { fixed: true }, reason: 'by a test' });
    await pages.client.workflows.retry(id);
    await row(page, id).getByText('Waiting').waitFor();
    await page.reload();
    await page.getByText('No run matches the filter.').waitFor();
    await page.getByLabel('Status').selectOption('Suspended');
    await expect
      .poll(() => new URL(page.url()).search)
      .toBe(`?status=Suspended&definitionId=${name}`);
  });

  test('shows changes from while another page was shown, however soon it is shown again', async () => {
    const page = await pages.open('/runs?definitionId=greeting', {}, async (opened) => {
      // No time passes, so nothing that was read gets old.
      await opened.clock.setFixedTime(Date.now());
    });
    await settled(page);
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
    const { id } = await pages.client.workflows.start('greeting', { name: 'Flo' });
    await pages.client.workflows.wait(id);
    // The change has come while nobody listened to it.
    await page.waitForResponse(/api\/node/);
    await page.goBack();
    await row(page, id).waitFor();
  });

  test('reports a broken stream, reconnects, and fetches the changes that it missed', async () => {
    const page = await pages.open('/runs?definitionId=greeting');
    await settled(page);
    pages.expectBrowserError(/ERR_|Failed to load/);
    await pages.server.restart();
    const { id } = await pages.client.workflows.start('greeting', { name: 'Di' });
    await row(page, id).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });
});
