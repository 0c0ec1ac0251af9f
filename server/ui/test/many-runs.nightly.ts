/** Goal: ten thousand runs are shown in pages of limited size, and updated live while many more start and end. */
import type { StepwrightClient } from '@stepwright/sdk';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const RUNS = 10_000;

const DEFINITION = `
Id: tick
Steps:
  - Id: tick
    StepType: NoOp
    Outputs:
      done: 'True'
`;

async function startMany(client: StepwrightClient, count: number): Promise<void> {
  let next = 0;
  const startSome = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await client.workflows.start('tick', {}, { reference: `batch-${next % 100}` });
    }
  };
  await Promise.all(Array.from({ length: 24 }, startSome));
}

describe.runIf(browserPath !== null)('a list of ten thousand runs', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(DEFINITION);
      await startMany(client, RUNS);
    },
  });

  /** Every list call of the page. */
  const watchLists = (page: Page): string[] => {
    const seen: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/workflow') seen.push(searchParams.get('limit') ?? 'none');
    });
    return seen;
  };

  test('is fetched and shown one page at a time', async () => {
    const page = await pages.open('/runs');
    const limits = watchLists(page);
    await page.reload();
    await page.locator('tbody tr').nth(49).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);
    const first = await page.locator('tbody tr').first().getAttribute('data-key');
    for (let number = 2; number <= 4; number += 1) {
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText(`Page ${number}`).waitFor();
    }
    await expect
      .poll(() => page.locator('tbody tr').first().getAttribute('data-key'))
      .not.toBe(first);
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('Page 3').waitFor();
    await page.getByRole('button', { name: 'First' }).click();
    await expect.poll(() => page.locator('tbody tr').first().getAttribute('data-key')).toBe(first);
    expect(limits.length).toBeGreaterThan(3);
    expect(limits.every((limit) => Number(limit) <= 100)).toBe(true);
  });

  test('is searched for a part of a text to the end, piece by piece', async () => {
    const page = await pages.open('/runs');
    await page.getByText('Showing').waitFor();
    await page.getByRole('combobox', { name: /^Find runs/ }).fill('atch-77');
    await page.keyboard.press('Enter');
    const found = page.getByRole('region', { name: 'Runs found' });
    await found.getByText('batch-77').first().waitFor();
    expect(await found.getByText('Runs that started before').count()).toBe(1);
    const more = found.getByRole('button', { name: 'Search older runs' });
    // The newest 20 of 100, then 20 more at each press.
    await expect.poll(() => found.getByRole('listitem').count()).toBe(20);
    for (let count = 40; count <= 100; count += 20) {
      await more.click();
      await expect.poll(() => found.getByRole('listitem').count()).toBe(count);
    }
    while ((await more.count()) > 0) await more.click();
    await found.getByText('All runs were searched for this text anywhere in a value.').waitFor();
    await page.getByText('100 found', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: /^Find runs/ }).fill('nobody has this');
    await page.keyboard.press('Enter');
    await page.getByText('No runs were found for this text').waitFor();
  });

  test('stays current under load, with one page of rows and few requests', async () => {
    const page = await pages.open('/runs');
    await page.locator('tbody tr').nth(49).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const limits = watchLists(page);
    const began = performance.now();
    await startMany(pages.client, 1000);
    const { id } = await pages.client.workflows.start('tick', {}, { reference: 'the last one' });
    await page.locator(`tr[data-key="${id}"]`).waitFor();
    await expect
      .poll(() => page.locator(`tr[data-key="${id}"]`).textContent())
      .toContain('Completed');
    expect(await page.locator('tbody tr').count()).toBe(50);
    // After a `lag`, the list is fetched again, at most every two seconds.
    const seconds = (performance.now() - began) / 1000;
    expect(limits.length).toBeLessThan(5 + seconds);
  });
});
