/** Goal: the outcome of a run is visible at a glance and a filter; children are out of the way but easy to reach. */
import type { StepwrightClient } from '@stepwright/sdk';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { openRefunds, type Refunds } from './support/refunds.js';
import { usePages } from './support/page-test.js';

describe.runIf(browserPath !== null)('a view of outcomes and child runs', () => {
  let refunds: Refunds;
  const pages = usePages({
    seed: async (client) => {
      refunds = await openRefunds(client);
    },
  });

  const row = (page: Page, id: string) => page.locator(`tr[data-key="${id}"]`);
  const outcomeIn = (page: Page, id: string) => row(page, id).locator('[data-label="Status"]');
  const rowCount = (page: Page): Promise<number> => page.locator('tbody tr').count();
  const openRuns = async (query = ''): Promise<Page> => {
    const page = await pages.open(`/runs${query}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('main .loading').waitFor({ state: 'detached' });
    return page;
  };
  const childOf = (client: StepwrightClient, parent: string): Promise<string> =>
    eventually('the child is there', async () => {
      const { items } = await client.workflows.list({ parent }).page();
      return items[0]?.workflowId;
    });

  test('shows the outcome of each ended run with a word and a symbol, and bad outcomes stand out', async () => {
    const page = await openRuns();
    await expect.poll(() => outcomeIn(page, refunds.paid).textContent()).toBe('✓ Completed');
    expect(await row(page, refunds.paid).getAttribute('class')).not.toContain('ended-badly');
    for (const [id, text] of [
      [refunds.failed, '✕ Failed'],
      [refunds.compensated, '↩ Compensated'],
      [refunds.terminated, '■ Terminated'],
    ] as const) {
      expect(await outcomeIn(page, id).textContent()).toBe(text);
      expect(await row(page, id).getAttribute('class')).toContain('ended-badly');
    }
    await expect.poll(() => outcomeIn(page, refunds.batch).textContent()).toBe('Waiting');
  });

  test('filters the list by outcome, with a preset for failed runs', async () => {
    const page = await openRuns();
    await page.getByLabel('Status').selectOption('Compensated');
    await expect.poll(() => rowCount(page)).toBe(1);
    await row(page, refunds.compensated).waitFor();
    expect(new URL(page.url()).search).toBe('?outcome=Compensated');
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await row(page, refunds.failed).waitFor();
    expect(new URL(page.url()).search).toBe('?outcome=Failed&parent=any');
    await expect.poll(() => rowCount(page)).toBe(1);
  });

  test('shows the outcome in the heading of a run', async () => {
    const page = await pages.open(`/runs/${refunds.compensated}`);
    await expect.poll(() => page.locator('h1 .badge').allTextContents()).toEqual(['↩ Compensated']);
  });

  test('hides children by default, and links each child to its parent', async () => {
    const child = await childOf(pages.client, refunds.batch);
    const page = await openRuns();
    await row(page, refunds.batch).waitFor();
    expect(await row(page, child).count()).toBe(0);
    await page.getByLabel('Child runs').selectOption('shown');
    await row(page, child).waitFor();
    expect(new URL(page.url()).search).toBe('?parent=any');
    await page.reload();
    await row(page, child)
      .getByRole('link', { name: `Parent of run ${child}` })
      .click();
    await page.waitForURL((url) => url.pathname === `/ui/runs/${refunds.batch}`);
  });

  test('links a parent to the list of its children, and the list back', async () => {
    const child = await childOf(pages.client, refunds.batch);
    const page = await pages.open(`/runs/${refunds.batch}`);
    await page.getByRole('link', { name: '1 run', exact: true }).click();
    await row(page, child).waitFor();
    expect(await rowCount(page)).toBe(1);
    expect(new URL(page.url()).search).toBe(`?parent=${refunds.batch}`);
    expect(await page.getByLabel('Child runs').inputValue()).toBe(refunds.batch);
    await page.getByRole('link', { name: `run ${refunds.batch}`, exact: true }).click();
    await page.waitForURL((url) => url.pathname === `/ui/runs/${refunds.batch}`);
  });

  test('links to a child if only it matches a filter, and the search box finds it', async () => {
    const child = await childOf(pages.client, refunds.batch);
    const page = await openRuns('?definitionId=refund&status=Runnable');
    await page.getByText('No run matches the filter.').waitFor();
    await page.getByRole('link', { name: 'Include child runs' }).click();
    await row(page, child).waitFor();
    await page.getByRole('combobox', { name: /^Find runs/ }).fill('refund-of-batch');
    await page.keyboard.press('Enter');
    await page.waitForURL(/reference=refund-of-batch/);
    await row(page, child).waitFor();
  });

  test('shows a new child only in the lists that include it', async () => {
    const own = await openRuns();
    const all = await openRuns('?parent=any');
    const { id } = await pages.client.workflows.start('refund-batch', {});
    const child = await childOf(pages.client, id);
    await row(all, child).waitFor();
    await row(own, id).waitFor();
    expect(await row(own, child).count()).toBe(0);
    const first = await openRuns(`?parent=${id}`);
    await row(first, child).waitFor();
    await pages.client.workflows.terminate(id);
    await expect.poll(() => outcomeIn(first, child).textContent()).toBe('■ Terminated');
  });

  test('shows all outcomes without serious accessibility problems, in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const path of ['/runs?parent=any', `/runs/${refunds.failed}`]) {
        const page = await pages.open(path, { colorScheme });
        await page.getByText('Live', { exact: true }).waitFor();
        await page.getByText('✕ Failed').first().waitFor();
        await page.locator('main .loading').waitFor({ state: 'detached' });
        expect(await seriousProblems(page)).toEqual([]);
      }
    }
  });

  test('fits the list of runs with outcomes into 390 pixels', async () => {
    const page = await pages.open('/runs?parent=any', { viewport: { width: 390, height: 780 } });
    await row(page, refunds.failed).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
  });
});
