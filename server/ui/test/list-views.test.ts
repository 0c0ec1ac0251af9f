/** Goal: users keep views of the list of runs by name, and take the list with them as a file. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const ORDER = `
Id: order
Index:
  total: data.total
Steps:
  - Id: count
    StepType: NoOp
`;

describe.runIf(browserPath !== null)('the list of runs', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(ORDER);
      for (const total of [1, 2, 3]) {
        const options = { reference: total === 3 ? '=1+1' : `order-${total}` };
        const { id } = await client.workflows.start('order', { total }, options);
        await client.workflows.wait(id);
      }
    },
  });

  const openViews = async (page: Page): Promise<ReturnType<Page['getByRole']>> => {
    await page.locator('.saved-views > summary').click();
    return page.getByRole('group', { name: 'Saved views' });
  };

  test('keeps a view with its filter and columns, and renames and deletes it', async () => {
    const page = await pages.open('/runs?definitionId=order&where=total%3E1');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
    await page.locator('.column-picker > summary').click();
    await page.getByRole('checkbox', { name: 'total' }).check();
    let views = await openViews(page);
    await views.getByLabel('Name of this view').fill('large');
    await views.getByRole('button', { name: 'Save' }).click();
    await views.getByRole('button', { name: 'large', exact: true }).waitFor();

    await page.evaluate(() => localStorage.removeItem('stepwright.columns'));
    await page.goto(new URL('/ui/runs', page.url()).href);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
    views = await openViews(page);
    await views.getByRole('button', { name: 'large', exact: true }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
    expect(new URL(page.url()).search).toBe('?definitionId=order&where=total%3E1');
    await page.getByRole('columnheader', { name: 'total' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);

    await views.getByRole('button', { name: 'Rename large' }).click();
    await views.getByLabel('New name of large').fill('huge');
    await views.getByRole('button', { name: 'Rename', exact: true }).click();
    await views.getByRole('button', { name: 'Delete huge' }).click();
    await expect
      .poll(() => page.evaluate(() => localStorage.getItem('stepwright.views')))
      .toBe('[]');
  });

  test('ignores stored views that are not its own', async () => {
    const page = await pages.open('/runs');
    await page.evaluate(() => {
      const views = [
        null,
        7,
        { name: '' },
        { name: 'x', search: 1 },
        { name: 'ok', search: 'a=b', columns: [1] },
      ];
      localStorage.setItem('stepwright.views', JSON.stringify(views));
    });
    await page.reload();
    const views = await openViews(page);
    await views.getByRole('button', { name: 'ok', exact: true }).waitFor();
    expect(await views.getByRole('listitem').count()).toBe(1);
  });

  test('saves all matching runs as CSV', async () => {
    const page = await pages.open('/runs?definitionId=order');
    await page.getByText('Export list').click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: /^CSV/ }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(text.trim().split('\r\n')).toHaveLength(4);
    expect(text).toContain(",'=1+1,");
    await page.getByText('Exported 3 runs.').waitFor();
  });
});
