/** Goal: a user whose scope reaches some definitions only works with these, and learns nothing of the others. */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

describe.runIf(browserPath !== null)('a user with a narrowed scope', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
    seed: async ({ definitions, workflows }) => {
      for (const id of ['order-a', 'order-b', 'payroll']) {
        await definitions.register({
          id,
          steps: [{ id: 'ask', stepType: 'Activity', inputs: { ActivityName: `"${id}-work"` } }],
        });
        await workflows.start(id, {}, { reference: `${id}-1` });
      }
    },
  });
  const openAs = async (path: string, scope: string) => {
    pages.expectBrowserError(/40[13]/);
    const page = await pages.open(path);
    await page.getByLabel('Bearer token').fill(makeToken('ada', scope));
    await page.getByLabel('Bearer token').press('Enter');
    return page;
  };
  const SCOPES = 'conductor:viewer:order* conductor:controller:order-a*';

  test('sees the runs and definitions within it, and an overview without totals', async () => {
    const page = await openAs('/overview', SCOPES);
    await page.getByRole('link', { name: /1 .*runs? of order-a/i }).waitFor();
    expect(await page.getByRole('img', { name: /^Runs started/ }).count()).toBe(0);
    for (const [link, shown] of [
      ['Runs', 'order-b-1'],
      ['Definitions', 'order-b'],
    ] as const) {
      await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click();
      await page.getByText(shown).first().waitFor();
      expect(await page.content()).not.toContain('payroll');
    }
  });

  test('suspends runs within the scope of a controller', async () => {
    const reference = `own-${Math.random()}`;
    await pages.client.workflows.start('order-a', {}, { reference });
    const page = await openAs('/runs', SCOPES);
    const row = page.getByRole('row').filter({ hasText: reference });
    await row.getByRole('link').first().click();
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('button', { name: 'Resume' }).first().waitFor();
  });

  test('learns the required scope from pages about the whole server', async () => {
    for (const path of ['/nodes', '/workers']) {
      const page = await openAs(path, SCOPES);
      await page
        .getByText(/conductor:viewer without a prefix/)
        .first()
        .waitFor();
    }
  });
});
