/** Goal: administrators find out who changed what, and pass on a list that stays true. */
import { createClient } from '@stepwright/sdk';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openAccess, SECRET_SETTINGS } from './support/accessed.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

const BULK = 60;

describe.runIf(browserPath !== null)('the audit log', () => {
  let runId = '';
  const pages = usePages({
    environment: { ...AUTH_SETTINGS, ...SECRET_SETTINGS },
    token: makeToken('seed', 'conductor:admin'),
    seed: async (client) => {
      await openAccess(client);
      await client.definitions.register({
        id: 'order/eu',
        steps: [{ id: 'ask', stepType: 'Activity', inputs: { ActivityName: '"ask"' } }],
      });
      const run = await client.workflows.start('order/eu');
      runId = run.id;
    },
  });
  /** As somebody else than the one who has set up the server. */
  const actAs = (name: string) =>
    createClient({ baseUrl: pages.server.url, token: makeToken(name, 'conductor:admin') });
  const openAs = async (path: string, scope: string): Promise<Page> => {
    pages.expectBrowserError(/40[134]/);
    const page = await pages.open(path);
    await page.getByLabel('Bearer token').fill(makeToken('ada', scope));
    await page.getByLabel('Bearer token').press('Enter');
    return page;
  };
  const open = (path: string): Promise<Page> => openAs(path, 'conductor:admin');
  const rows = (page: Page) => page.getByRole('table', { name: 'Changes' }).locator('tbody tr');
  const onlyRows = (page: Page, pattern: RegExp) =>
    expect
      .poll(async () => {
        const texts = await rows(page).allInnerTexts();
        return texts.length > 0 && texts.every((text) => pattern.test(text));
      })
      .toBe(true);

  test('shows each change with its author, the newest first, and links to it', async () => {
    const client = actAs('night shift');
    await client.workflows.suspend(runId);
    const page = await open('/audit');
    const first = rows(page).first();
    await first.getByText('night shift').waitFor();
    expect(await first.innerText()).toMatch(/suspend[\s\S]*run[\s\S]*127\.0\.0\.1|::1|::ffff/);
    await first.getByRole('link', { name: runId }).click();
    await page.getByRole('button', { name: 'Resume' }).first().waitFor();
    await page.goBack();
    await page.getByRole('row', { name: /definition order\/eu version 1/ }).waitFor();
    await page.getByRole('link', { name: 'order/eu' }).click();
    await page.getByRole('heading', { name: 'order/eu', level: 1 }).waitFor();
  });

  test('filters by target, kind and author, and keeps the filter in the address', async () => {
    const client = actAs('day shift');
    await client.workflows.resume(runId);
    const page = await open('/audit');
    await rows(page).first().waitFor();
    await page.getByRole('combobox', { name: 'Target' }).selectOption('API key');
    await onlyRows(page, /API key/);
    await page.reload();
    await onlyRows(page, /API key/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Action').fill('workflow.resume');
    await page.getByLabel('Action').press('Enter');
    await onlyRows(page, /resume/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('link', { name: 'day shift' }).first().click();
    await page.waitForURL(/actor=day\+shift/);
    await onlyRows(page, /day shift/);
    await page.getByLabel('Who').fill('nobody');
    await page.getByLabel('Who').press('Enter');
    await page.getByText('No change here matches the filter.').waitFor();
    expect(await rows(page).count()).toBe(0);
  });

  test('shows a period up to now, also when its address is opened later', async () => {
    const page = await open('/audit');
    await page.getByLabel('Period').selectOption('in the last hour');
    await page.waitForURL(/within=1h/);
    await rows(page).first().waitFor();
    const later = actAs('late shift');
    await later.definitions.disable('call-shop');
    await page.reload();
    await page.getByRole('row', { name: /late shift disable/ }).waitFor();
    await page.getByLabel('Before').fill('2020-01-01T00:00');
    await page.getByText('No change here matches the filter.').waitFor();
    expect(await page.getByLabel('Period').inputValue()).toBe('');
  });

  test('has pages', async () => {
    const client = actAs('storm');
    for (let left = BULK; left > 0; left -= 2) {
      await client.definitions.disable('call-shop');
      await client.definitions.enable('call-shop');
    }
    const page = await open('/audit?actor=storm');
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => rows(page).count()).toBe(BULK - 50);
  });

  test('tells others which scope it needs', async () => {
    const page = await openAs('/audit', 'conductor:author conductor:viewer');
    await page
      .getByRole('alert')
      .getByText(/conductor:admin/)
      .waitFor();
    expect(await rows(page).count()).toBe(0);
  });
});
