/** Goal: the first page shows how everything is, and leads to what needs attention. */
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

describe.runIf(browserPath !== null)('the overview', () => {
  const pages = usePages({
    seed: async ({ definitions, workflows }) => {
      await definitions.register({ id: 'quick', steps: [{ id: 'a', stepType: 'NoOp' }] });
      await definitions.register({
        id: 'charge',
        steps: [{ id: 'a', stepType: 'Activity', inputs: { ActivityName: '"charge-card"' } }],
      });
      for (let left = 3; left > 0; left -= 1) await workflows.run('quick', {});
      await workflows.start('charge');
      await (await workflows.start('charge')).suspend();
    },
  });

  test('is the first page, with charts that are described in words', async () => {
    const page = await pages.open('/');
    await page.waitForURL(/\/ui\/overview$/);
    await page.getByRole('img', { name: /^Runs started in the last hour, by minute: 5/ }).waitFor();
    await page.getByRole('img', { name: /^Runs ended in the last day, by hour: 3 suc/ }).waitFor();
    await page.getByText('3 succeeded, 0 failed, 0 compensated or terminated').first().waitFor();
    for (const name of ['Last hour', 'Last day']) {
      const charts = page.getByRole('region', { name });
      await charts.getByText(/^Only since the first node started, /).waitFor();
    }
    expect(await seriousProblems(page)).toEqual([]);
  });

  test('leads to the runs of a definition, and to work without a worker', async () => {
    const page = await pages.open('/overview');
    const tiles = page.getByRole('list', { name: 'Numbers' });
    await tiles.getByRole('link', { name: '1 queue without an idle worker' }).waitFor();
    const work = page.getByRole('table', { name: 'Oldest waiting work' });
    await work.getByText('no idle worker').waitFor();
    await work.getByText('never polled').waitFor();
    expect(await work.locator('.badge.warning').count()).toBe(1);
    await page.getByRole('link', { name: '1 Suspended runs of charge' }).click();
    await page.waitForURL(/status=Suspended/);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  });

  test('counts a new run while it is open', async () => {
    const page = await pages.open('/overview');
    await page.getByRole('img', { name: /^Runs started in the last hour, by minute: 5/ }).waitFor();
    await pages.client.workflows.start('quick');
    await page.getByRole('img', { name: /^Runs started in the last hour, by minute: 6/ }).waitFor();
  });
});
