/** Goal: the list of runs finds, filters and pages, and stays true while things change, without a reload. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { openShop, type Shop } from './support/shop.js';

describe.runIf(browserPath !== null)('the page of runs', () => {
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

  test('every run is there, newest first, with its status', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    expect(await rowCount(page)).toBe(7);
    await expect.poll(() => row(page, shop.greeting).textContent()).toContain('Complete');
    await expect.poll(() => row(page, shop.invoice).textContent()).toContain('Suspendederror');
    expect(await page.locator('tbody tr').last().getAttribute('data-key')).toBe(shop.order);
  });

  test('filters are applied, are in the address, and survive a reload', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    await page.getByLabel('Status').selectOption('Runnable');
    await expect.poll(() => rowCount(page)).toBe(4);
    await page.getByLabel('Definition', { exact: true }).fill('order-fulfilment');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowCount(page)).toBe(2);
    await page.getByLabel('Reference', { exact: true }).fill('order-4711');
    await page.keyboard.press('Tab');
    await expect.poll(() => rowCount(page)).toBe(1);
    await page.getByLabel('Version').fill('1');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).search).toBe(
      '?status=Runnable&definitionId=order-fulfilment&version=1&reference=order-4711',
    );
    await page.reload();
    await row(page, shop.order).waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('Runnable');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rowCount(page)).toBe(7);
  });

  test('times of the start are a filter', async () => {
    const page = await pages.open('/runs?from=2001-01-01T00:00&to=2002-01-01T00:00');
    await page.getByText('No run matches the filter.').waitFor();
    await page.getByLabel('Started before').fill('2090-01-01T00:00');
    await expect.poll(() => rowCount(page)).toBe(7);
  });

  test.each([
    ['Running', 4],
    ['Suspended', 1],
    ['Failed in the last hour', 2],
    ['All', 7],
  ])('the view "%s" shows %i runs', async (name, count) => {
    const page = await pages.open('/runs?status=Complete');
    await settled(page);
    await page.getByRole('button', { name, exact: true }).click();
    await expect.poll(() => rowCount(page)).toBe(count);
    expect(await page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    );
  });

  test('nothing waits long right after the start', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    await page.getByRole('button', { name: 'Waiting long' }).click();
    await page.getByText('No run matches the filter.').waitFor();
  });

  test('the search box finds a run by its bare id, a definition, a reference, and says when nothing is found', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    const box = page.getByRole('searchbox');
    const search = async (text: string): Promise<void> => {
      await box.fill(text);
      await page.keyboard.press('Enter');
    };
    pages.expectComplaint(/404/);
    pages.expectComplaint(/400/);
    await search('../..');
    await page.getByText('No run has this id or reference').waitFor();
    await search('order-fulfilment');
    await expect.poll(() => rowCount(page)).toBe(2);
    expect(new URL(page.url()).search).toBe('?definitionId=order-fulfilment');
    await search('order-4700');
    await expect.poll(() => rowCount(page)).toBe(1);
    await row(page, shop.invoice).waitFor();
    await search(` ${shop.order} `);
    await page.waitForURL((url) => url.pathname === `/ui/runs/${shop.order}`);
  });

  test('a change shows in its row, without a reload and without moving it', async () => {
    const page = await pages.open('/runs');
    await settled(page);
    const before = await page
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((r) => r.getAttribute('data-key')));
    await pages.client.workflows.suspend(shop.reminder);
    await expect.poll(() => row(page, shop.reminder).textContent()).toContain('Suspended');
    await pages.client.workflows.resume(shop.reminder);
    await expect.poll(() => row(page, shop.reminder).textContent()).toContain('Runnable');
    const after = await page
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((r) => r.getAttribute('data-key')));
    expect(after).toEqual(before);
  });

  test('a new run comes to the top, or is announced where a row is selected', async () => {
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

  test('a run that has left the filter stays in its place, and is gone when the list is read again', async () => {
    const { id } = await pages.client.workflows.start('reminder', {});
    const page = await pages.open('/runs?definitionId=reminder&status=Runnable');
    await row(page, id).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await pages.client.workflows.terminate(id);
    await expect.poll(() => row(page, id).getAttribute('class')).toBe('left-filter');
    await page.reload();
    await row(page, shop.reminder).waitFor();
    expect(await row(page, id).count()).toBe(0);
  });

  test('the stream that broke is said, taken up again, and what was missed is read', async () => {
    const page = await pages.open('/runs?definitionId=greeting');
    await settled(page);
    pages.expectComplaint(/ERR_|Failed to load/);
    await pages.server.restart();
    const { id } = await pages.client.workflows.start('greeting', { name: 'Di' });
    await row(page, id).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });
});
