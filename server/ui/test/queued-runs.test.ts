/** Goal: a run that waits for the runs before it is recognizable, says which these are, and can be listed. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const SYNC = `
Id: sync
Reference: data.customer
OnConflict: queue
Steps:
  - Id: wait
    StepType: WaitFor
    Inputs:
      EventName: '"synced"'
      EventKey: context.Workflow.Id
`;

describe.runIf(browserPath !== null)('a queued run', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(SYNC);
    },
  });

  const start = async (customer: string): Promise<string> =>
    (await pages.client.workflows.start('sync', { customer })).id;
  const row = (page: Page, id: string) => page.locator(`tr[data-key="${id}"]`);
  const statusIn = (page: Page, id: string) => row(page, id).locator('[data-label="Status"]');

  test('is marked in the list, which can be filtered by that, until it begins', async () => {
    const first = await start('C-1');
    const second = await start('C-1');
    const page = await pages.open('/runs');
    await expect.poll(() => statusIn(page, second).textContent()).toBe('Queued');
    await expect.poll(() => statusIn(page, first).textContent()).toBe('Waiting');
    await row(page, second).locator('[data-label="Why"]', { hasText: 'C-1' }).waitFor();
    await page.getByLabel('Status').selectOption('Queued');
    await row(page, first).waitFor({ state: 'detached' });
    await row(page, second).waitFor();
    expect(new URL(page.url()).search).toBe('?queued=true');
    await page.reload();
    await row(page, second).waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('Queued');
    await pages.client.events.publish('synced', first, null);
    await row(page, second).waitFor({ state: 'detached' });
    await page.getByLabel('Status').selectOption('Running, waiting or retrying');
    await expect.poll(() => statusIn(page, second).textContent()).toBe('Waiting');
    expect(new URL(page.url()).search).toBe('?status=Runnable');
  });

  test('links to the runs that it waits for', async () => {
    const first = await start('C-2');
    const second = await start('C-2');
    const page = await pages.open(`/runs/${second}`);
    await page.getByRole('heading', { level: 1 }).getByText('Queued', { exact: true }).waitFor();
    const why = page.locator('.why');
    expect(await why.getAttribute('class')).toContain('waiting');
    await why.getByText('1 of them is open').waitFor();
    await why.getByRole('link', { name: first }).click();
    await expect.poll(() => new URL(page.url()).pathname).toContain(first);
    await page.goBack();
    await pages.client.events.publish('synced', first, null);
    await page.getByRole('heading', { level: 1 }).getByText('Waiting', { exact: true }).waitFor();
    await why.getByText('waiting for event synced').waitFor();
  });
});
