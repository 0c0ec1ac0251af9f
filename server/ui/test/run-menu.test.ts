/** Goal: a run can be started anew, exported and removed from its page. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const GREETING = `
Id: greeting
Steps:
  - Id: greet
    StepType: NoOp
    Outputs:
      greeting: '"Hello " + data.name'
`;

describe.runIf(browserPath !== null)('the menu of a run', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(GREETING);
    },
  });

  const ended = async (): Promise<string> => {
    const { id } = await pages.client.workflows.start(
      'greeting',
      { name: 'Ada' },
      { reference: 'guest-1' },
    );
    await pages.client.workflows.wait(id);
    return id;
  };
  const openMenu = async (id: string): Promise<Page> => {
    const page = await pages.open(`/runs/${id}`);
    await page.locator('.menu > summary').click();
    return page;
  };

  test('restarts a run as a new one, and both link to each other', async () => {
    const id = await ended();
    const page = await openMenu(id);
    await page.getByRole('button', { name: 'Restart as a new run' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restart as a new run?' });
    await dialog.getByText('guest-1').waitFor();
    expect(await dialog.getByRole('button', { name: 'Restart' }).isDisabled()).toBe(true);
    await dialog.getByLabel(/^Reason/).fill('the guest came back');
    await dialog.getByRole('button', { name: 'Restart' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    const newId = page.url().split('/').at(-1)!;
    expect((await pages.client.workflows.wait(newId)).data).toEqual({
      name: 'Ada',
      greeting: 'Hello Ada',
    });
    await page.getByText('Restart of').waitFor();
    await page.getByRole('link', { name: id }).click();
    await page.getByText('Restarted as').waitFor();
    await page.getByRole('link', { name: newId }).waitFor();
  });

  test('shows that another user restarted the run', async () => {
    const id = await ended();
    const page = await pages.open(`/runs/${id}`);
    await page.locator('.menu > summary').waitFor();
    const { workflowId } = await pages.client.workflows.restart(id, { reason: 'from elsewhere' });
    await page.getByText('Restarted as').waitFor();
    await page.getByRole('link', { name: workflowId }).waitFor();
  });

  test('reruns a run from its first step', async () => {
    const id = await ended();
    const page = await openMenu(id);
    await page.getByRole('link', { name: 'Rerun from the start' }).click();
    const panel = page.getByRole('region', { name: 'Repair this run' });
    await panel.getByLabel(/^Reason/).fill('once more');
    await panel.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The run was repaired').waitFor();
    await page.getByRole('tab', { name: 'Steps' }).click();
    await expect.poll(() => page.locator('.step-rows > li').count()).toBe(2);
  });

  test('exports a run as one JSON file', async () => {
    const id = await ended();
    const page = await openMenu(id);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe(`run-${id}.json`);
    const text = await readFile(await download.path(), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ input: { name: 'Ada' } });
  });

  test('purges a run that has ended, after a question', async () => {
    const id = await ended();
    const page = await openMenu(id);
    await page.getByRole('button', { name: 'Purge' }).click();
    await page.keyboard.press('Enter');
    expect((await pages.client.workflows.get(id)).outcome).toBe('Succeeded');
    await page.locator('.menu > summary').click();
    await page.getByRole('button', { name: 'Purge' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
    await page.getByText('The run was purged.').waitFor();
    await expect(pages.client.workflows.get(id)).rejects.toMatchObject({ status: 404 });
  });
});
