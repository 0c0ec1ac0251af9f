/** Goal: operators see what limits steps share, who waits for them, and what a change of a limit does before they make it. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { openLimits, type Limits } from './support/limited.js';
import { usePages } from './support/page-test.js';

const HOSTILE = '<img src=x>';
const WORK = `
Id: work
Steps:
  - Id: do
    StepType: Activity
    Inputs:
      ActivityName: '"do-it"'
    Limits: [narrow]
`;

describe.runIf(browserPath !== null)('the page of limits', () => {
  let runs: Limits;
  const pages = usePages({
    seed: async (client) => {
      runs = await openLimits(client);
      const description = `${HOSTILE} of all`;
      await client.limits.put('narrow', { concurrency: 1, description });
      await client.definitions.register(WORK);
    },
  });
  const preview = (page: Page) => page.getByRole('region', { name: 'What this change does' });

  test('lists limits with what is held and what waits', async () => {
    const page = await pages.open('/limits');
    const row = page.getByRole('row', { name: /pay-api/ });
    await row.getByText('2 at a time').waitFor();
    await row.getByText('2 of 2').waitFor();
    await row.getByText('with the key acme; 3 with all keys').waitFor();
    expect(await row.locator('[data-label="Waiting"]').textContent()).toBe('2');
    expect(await row.locator('[data-label="Oldest wait"] time').count()).toBe(1);
    await page
      .getByRole('row', { name: /narrow/ })
      .getByText(`${HOSTILE} of all`)
      .waitFor();
  });

  test('shows the keys of a limit, and what changes while it is open', async () => {
    const page = await pages.open('/limits');
    await page.getByRole('link', { name: 'pay-api' }).click();
    await page.getByRole('heading', { name: 'pay-api', level: 1 }).waitFor();
    const keys = page.getByRole('table', { name: 'Keys' });
    const waiting = (key: string) =>
      keys.getByRole('row', { name: new RegExp(key) }).locator('[data-label="Waiting"]');
    await expect.poll(() => waiting('acme').textContent()).toBe('2');
    expect(await waiting('zeta').textContent()).toBe('0');
    const { id } = await pages.client.workflows.start('collect', { tenant: 'late' });
    await expect.poll(() => waiting('late').count(), { timeout: 30_000 }).toBe(1);
    await pages.client.workflows.terminate(id);
  });

  test('says whom a change lets go before it is made', async () => {
    const page = await pages.open('/limits/pay-api');
    await page.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change pay-api' });
    await preview(page).getByText('No step gets a slot by it at once; 2 wait now.').waitFor();
    const units = dialog.getByLabel(/^Units at a time/);
    await units.fill('3');
    await preview(page)
      .getByText('1 waiting step gets a slot at once; 1 waits for longer:')
      .waitFor();
    await preview(page).getByText('1 step with the key acme').waitFor();
    await units.fill('1');
    await preview(page).getByText('Nobody is interrupted.').waitFor();
    await preview(page).getByText('1 unit with the key acme').waitFor();
    await units.fill('many');
    await preview(page).waitFor({ state: 'detached' });
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await units.fill('');
    await dialog.getByLabel(/^Units that begin/).fill('100');
    await dialog.getByLabel(/^Of these/).fill('10');
    await preview(page)
      .getByText('2 waiting steps get a slot, as fast as the rate allows:')
      .waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await pages.client.limits.get('pay-api')).toMatchObject({ concurrency: 2, rate: null });
  });

  test('creates a limit, changes it and removes it', async () => {
    const page = await pages.open('/limits');
    await page.getByRole('button', { name: 'New limit' }).click();
    const dialog = page.getByRole('dialog', { name: 'New limit' });
    await dialog.getByLabel('Name').fill('mail_2.0');
    await dialog.getByLabel('Description').fill('Of the mail server');
    await dialog.getByLabel(/^Units that begin/).fill('30');
    await dialog.getByLabel(/^Period/).fill('tomorrow');
    pages.expectBrowserError(/400/);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel(/^Period/).fill('10s');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'mail_2.0', level: 1 }).waitFor();
    await page.getByText('30 per 10s', { exact: true }).waitFor();
    await page.getByText('No step holds it, and none waits for it.').waitFor();
    await page.getByRole('button', { name: 'Change' }).click();
    const changing = page.getByRole('dialog', { name: 'Change mail_2.0' });
    await changing.getByLabel(/^Units at a time/).fill('4');
    await changing.getByText('The rate counts').waitFor({ state: 'detached' });
    await changing.getByRole('button', { name: 'Save' }).click();
    await page.getByText('4 at a time, 30 per 10s', { exact: true }).waitFor();
    expect(await pages.client.limits.get('mail_2.0')).toMatchObject({
      description: 'Of the mail server',
      concurrency: 4,
      rate: { count: 30, per: '10s', burst: 1 },
    });
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
    await page.getByRole('row', { name: /mail_2\.0/ }).waitFor({ state: 'detached' });
  });

  test('links to the definitions because of which a limit is not removed', async () => {
    const page = await pages.open('/limits/pay-api');
    await page.getByRole('button', { name: 'Remove' }).click();
    pages.expectBrowserError(/409/);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('alert').getByText('limit_in_use').waitFor();
    await page.getByRole('link', { name: 'collect', exact: true }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/ui/definitions/collect');
  });

  test('says on a run that waits for which limit it does, and links to who holds the slots', async () => {
    const [first = '', second = '', , last = ''] = runs.acme;
    const page = await pages.open(`/runs/${last}`);
    await page.getByRole('heading', { level: 1 }).getByText('Waiting', { exact: true }).waitFor();
    const why = page.locator('.why');
    expect(await why.getAttribute('class')).toContain('waiting');
    await why.getByText('(2 of 2 in use), 1 in line before it').waitFor();
    for (const holder of [first, second]) await why.getByRole('link', { name: holder }).waitFor();
    const link = why.getByRole('link', { name: 'Open the limit' });
    expect(await link.getAttribute('href')).toMatch(/\/limits\/pay-api$/);
    await page.getByRole('tab', { name: 'Steps' }).click();
    await page
      .getByRole('list', { name: 'Executions of steps' })
      .getByText('Ask the provider')
      .click();
    await page
      .getByText('a slot of the limit pay-api with the key acme, 1 in line before it')
      .waitFor();
    await page.getByRole('link', { name: 'pay-api' }).click();
    await page.getByRole('heading', { name: 'pay-api', level: 1 }).waitFor();
  });

  test('says in a queue for which limit an item waits, and behind whom', async () => {
    const { activities, workflows } = pages.client;
    const first = (await workflows.start('work')).id;
    await activities.pull('do-it', { workerId: 'w', waitSeconds: 20, leaseSeconds: 500 });
    const second = (await workflows.start('work', {}, { fairnessKey: 'acme' })).id;
    await workflows.start('work');
    expect(await activities.pull('do-it', { workerId: 'w' })).toBeNull();
    const page = await pages.open('/activities/do-it');
    const items = page.getByRole('table', { name: 'Work items' });
    const rowOf = (id: string) =>
      items.getByRole('row').filter({ has: page.locator(`[data-label="Run"] a[href$="${id}"]`) });
    const stateOf = (id: string) => rowOf(id).locator('[data-label="State"]');
    const fairnessOf = (id: string) => rowOf(id).locator('[data-label="Fairness"]');
    expect(await fairnessOf(first).textContent()).toBe('–');
    expect(await fairnessOf(second).textContent()).toBe('acme');
    expect(await stateOf(first).textContent()).toBe('held');
    await stateOf(second).getByText('waits for a slot', { exact: true }).waitFor();
    await stateOf(second).getByText("limit 'narrow' (1 of 1 in use)", { exact: false }).waitFor();
    await stateOf(second).getByText("takes turns under the fairness key 'acme'").waitFor();
    await items.getByText('(1 of 1 in use), 1 in line before it').waitFor();
    await stateOf(second).getByRole('link').click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/ui/runs/${first}`);
  });
});
