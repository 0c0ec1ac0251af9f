/** Goal: administrators hand out API keys and take them back, and see which secrets definitions need. */
import { createClient } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { openAccess, SECRET_SETTINGS } from './support/accessed.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

describe.runIf(browserPath !== null)('the page of API keys', () => {
  const pages = usePages({
    environment: { ...AUTH_SETTINGS, ...SECRET_SETTINGS },
    token: makeToken('seed', 'conductor:admin'),
    seed: openAccess,
  });
  const openAs = async (path: string, scope: string) => {
    pages.expectBrowserError(/40[13]/);
    const page = await pages.open(path);
    await page.getByLabel('Bearer token').fill(makeToken('ada', scope));
    await page.getByLabel('Bearer token').press('Enter');
    return page;
  };

  test('creates a key that works, shows it once, and removes it', async () => {
    const page = await openAs('/keys', 'conductor:admin');
    await page.getByRole('row', { name: /billing.*worker.*never.*never/ }).waitFor();
    await page.getByRole('button', { name: 'New API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.getByLabel('Name').fill('reports');
    expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await dialog.getByLabel(/^viewer/).check();
    await dialog.getByLabel('It expires').selectOption('in 30 days');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const key = await page.locator('.new-key code').innerText();
    expect(key).toMatch(/^sw_/);
    const reports = createClient({ baseUrl: pages.server.url, token: key });
    await reports.workflows.list({ limit: 1 }).page();
    const row = page.getByRole('row', { name: /reports.*viewer/ });
    await row.waitFor();
    const [stored] = (await pages.client.keys.list()).filter(({ name }) => name === 'reports');
    const days = (Date.parse(stored!.expires!) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThan(30.1);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.getByText(key).count()).toBe(0);
    await row.getByRole('button', { name: 'Remove' }).click();
    const question = page.getByRole('dialog', { name: 'Remove reports?' });
    await question.getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    await expect(reports.workflows.list({ limit: 1 }).page()).rejects.toMatchObject({
      status: 401,
    });
  });

  test('creates a key for some definitions only', async () => {
    const page = await openAs('/keys', 'conductor:admin');
    await page.getByRole('button', { name: 'New API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.getByLabel('Name').fill('shop reports');
    const prefix = dialog.getByLabel('Only names that begin with');
    expect(await prefix.count()).toBe(0);
    await dialog.getByLabel(/^author/).check();
    expect(await prefix.count()).toBe(0);
    await dialog.getByLabel(/^author/).uncheck();
    await dialog.getByLabel(/^viewer/).check();
    await prefix.fill('call-');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const key = await page.locator('.new-key code').innerText();
    await page.getByRole('row', { name: /shop reports.*viewer:call-\*/ }).waitFor();
    const reports = createClient({ baseUrl: pages.server.url, token: key });
    await reports.definitions.get('call-shop');
    await expect(reports.definitions.get('other')).rejects.toMatchObject({ status: 404 });
  });

  test('tells others which scope it needs', async () => {
    const page = await openAs('/keys', 'conductor:author conductor:viewer');
    await page
      .getByRole('alert')
      .getByText(/conductor:admin/)
      .waitFor();
  });

  test('lists secrets with their users, and missing ones', async () => {
    const page = await openAs('/secrets', 'conductor:author conductor:viewer');
    await page.getByRole('row', { name: /SHOP_SITE missing call-shop/ }).waitFor();
    await page.getByRole('row', { name: /SHOP_TOKEN present call-shop/ }).waitFor();
    expect(await page.content()).not.toContain(SECRET_SETTINGS.secret_SHOP_TOKEN);
    await page.getByRole('link', { name: 'call-shop' }).first().click();
    await page.getByRole('heading', { name: 'call-shop', level: 1 }).waitFor();
  });
});
