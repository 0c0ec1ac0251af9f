/**
 * Goal: runs are found by tags and index fields; the conditions are part of the address, the box suggests how to continue,
 * and the values can be columns and be changed.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const INVOICE = `
Id: invoice
Index:
  total: data.total
  city: data.city
Tags:
  env: test
Steps:
  - Id: wait
    StepType: WaitFor
    Inputs:
      EventName: '"paid"'
      EventKey: data.key
    Outputs:
      total: data.total + 1
`;

describe.runIf(browserPath !== null)('the search for runs', () => {
  const ids: Record<string, string> = {};
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(INVOICE);
      const start = async (key: string, total: number, city: string, env?: string) => {
        const { id } = await client.workflows.start('invoice', { key, total, city });
        ids[key] = id;
        if (env !== undefined) await client.workflows.updateTags(id, { env });
      };
      await start('small', 99, 'Bern');
      await start('large', 100, 'Basel', 'prod');
      await start('largest', 5000, 'La Chaux', 'prod');
    },
  });

  const box = (page: Page) => page.getByRole('combobox', { name: /^Find runs/ });
  const search = async (page: Page, text: string): Promise<void> => {
    await box(page).fill(text);
    await page.keyboard.press('Enter');
  };
  const keys = (page: Page): Promise<(string | null)[]> =>
    page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')));

  test('takes conditions, which are part of the address and survive a reload', async () => {
    const page = await pages.open('/runs');
    await page.getByText('Showing 3 of 3 runs').waitFor();
    await search(page, 'total>=100 tag.env=prod');
    await expect.poll(() => keys(page)).toEqual([ids['largest'], ids['large']]);
    await page.getByText('Showing 2 of 2 runs').waitFor();
    expect(new URL(page.url()).searchParams.get('where')).toBe('total>=100 tag.env=prod');
    await page.reload();
    await expect.poll(() => keys(page)).toEqual([ids['largest'], ids['large']]);
    expect(await box(page).inputValue()).toBe('total>=100 tag.env=prod');
    await search(page, 'city="La Chaux" invoice');
    await expect.poll(() => keys(page)).toEqual([ids['largest']]);
    expect(new URL(page.url()).searchParams.get('definitionId')).toBe('invoice');
    await search(page, '');
    await expect.poll(() => keys(page)).toHaveLength(3);
  });

  test('explains a malformed condition at its place, in the box and in the address', async () => {
    const page = await pages.open('/runs');
    await page.getByText('Showing 3 of 3 runs').waitFor();
    await search(page, 'city=Bern total>=');
    await page.getByText('total>= has no value.').waitFor();
    expect(await page.locator('.malformed mark').textContent()).toBe('total>=');
    expect(await box(page).getAttribute('aria-invalid')).toBe('true');
    const selection = await box(page).evaluate((input: HTMLInputElement) =>
      input.value.slice(input.selectionStart ?? 0, input.selectionEnd ?? 0),
    );
    expect(selection).toBe('total>=');
    await page.goto(`${pages.server.url}/ui/runs?where=${encodeURIComponent('a=1 =5')}`);
    await page.getByText('The address contains a malformed condition.').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
  });

  test('suggests the fields of the definition, operators and values, with the keyboard alone', async () => {
    const page = await pages.open('/runs?definitionId=invoice');
    await page.getByText('Showing 3 of 3 runs').waitFor();
    await box(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'tag.env' }).waitFor();
    await page.keyboard.type('ci');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await box(page).inputValue()).toBe('city');
    await page.getByRole('option', { name: 'city^=' }).waitFor();
    await page.keyboard.type('=La');
    await page.getByRole('option', { name: 'city=La Chaux' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await box(page).inputValue()).toBe('city="La Chaux" ');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await expect.poll(() => keys(page)).toEqual([ids['largest']]);
  });

  test('shows index fields and tags in columns that the user picks, and remembers them', async () => {
    const page = await pages.open('/runs?definitionId=invoice');
    await page.getByText('Columns', { exact: true }).click();
    const picker = page.getByRole('group', { name: 'Columns of index fields and tags' });
    await picker.getByLabel('total').check();
    await picker.getByLabel('tag.env').check();
    await page.getByRole('columnheader', { name: 'total' }).waitFor();
    await page.reload();
    const row = page.locator(`tr[data-key="${ids['large']!}"]`);
    await row.getByText('100', { exact: true }).waitFor();
    await row.getByText('prod', { exact: true }).waitFor();
    await page.goto(`${pages.server.url}/ui/runs`);
    await page.getByText('Showing 3 of 3 runs').waitFor();
    expect(await page.getByRole('columnheader', { name: 'total' }).count()).toBe(0);
  });

  test('finds runs by a text in a tag or an index field, and an unknown text without an error', async () => {
    const page = await pages.open('/runs');
    await page.getByText('Showing 3 of 3 runs').waitFor();
    await search(page, '01hx5v3x9t6k2m4n8p0q');
    await page.getByText('No runs were found for this text').waitFor();
    await search(page, 'Chaux');
    const found = page.getByRole('region', { name: 'Runs found' });
    await found.getByText('La Chaux').waitFor();
    await found.getByText('All runs were searched').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await search(page, '5000');
    await found.getByText('total').waitFor();
    await found.getByRole('link').click();
    await page.waitForURL(`**/runs/${ids['largest']!}`);
  });

  test('filters by the end of runs', async () => {
    const page = await pages.open('/runs?endedFrom=2001-01-01T00:00');
    await page.getByText('No run matches the filter.').waitFor();
    await page.getByLabel('Ended after').fill('');
    await expect.poll(() => keys(page)).toHaveLength(3);
  });

  test('follows a value that changes, without a reload', async () => {
    const { id } = await pages.client.workflows.start('invoice', {
      key: 'follow',
      total: 7000,
      city: 'Chur',
    });
    const page = await pages.open(`/runs?where=${encodeURIComponent('total>7000')}`);
    await page.getByText('No run matches the filter.').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await pages.client.events.publish('paid', 'follow', {});
    await expect.poll(() => keys(page)).toEqual([id]);
  });

  test('links tags and index fields of a run to the runs with the same value, and lets tags be edited', async () => {
    const page = await pages.open(`/runs/${ids['large']!}`);
    await page.getByRole('button', { name: 'Edit tags' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the tags' });
    await dialog.getByRole('button', { name: 'Add a tag' }).click();
    await dialog.getByLabel('Value of tag 2').fill('blue');
    await dialog.getByText('Every tag needs a name.').waitFor();
    await dialog.getByLabel('Name of tag 2').fill('team');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The tags were changed.').waitFor();
    await page.getByRole('link', { name: 'blue' }).waitFor();
    const { tags } = await pages.client.workflows.get(ids['large']!);
    expect(tags).toEqual({ env: 'prod', team: 'blue' });
    await page.getByRole('link', { name: '100' }).click();
    await expect.poll(() => keys(page)).toEqual([ids['large']]);
    expect(await box(page).inputValue()).toBe('total=100');
    await pages.client.workflows.updateTags(ids['large']!, { team: null });
  });

  test('shows the priority of a run, and lets it be changed', async () => {
    const run = await pages.client.workflows.get(ids['large']!);
    expect(run).toMatchObject({ priority: 3, endTime: null });
    const page = await pages.open(`/runs/${run.workflowId}`);
    await page.getByRole('button', { name: 'Change priority' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the priority' });
    await dialog.getByLabel('Priority').selectOption('1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The priority was changed.').waitFor();
    expect(await pages.client.workflows.get(run.workflowId)).toMatchObject({ priority: 1 });
  });

  test.each(['light', 'dark'] as const)(
    'has no serious problems according to axe while it suggests: %s',
    async (colorScheme) => {
      const page = await pages.open('/runs?definitionId=invoice&where=total>1', { colorScheme });
      await page.getByText('Showing').waitFor();
      await page.getByText('Columns', { exact: true }).click();
      await box(page).click();
      await page.keyboard.press('End');
      await page.keyboard.type(' ');
      await page.getByRole('listbox').getByRole('option').first().waitFor();
      await page.keyboard.press('ArrowDown');
      expect(await seriousProblems(page)).toEqual([]);
    },
  );

  test('fits into 390 pixels', async () => {
    const page = await pages.open('/runs?definitionId=invoice&where=total>1', {
      viewport: { width: 390, height: 780 },
    });
    await page.getByText('Showing').waitFor();
    await box(page).click();
    await page.keyboard.type(' ');
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      390,
    );
  });
});
