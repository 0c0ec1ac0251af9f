/** Goal: with `auth`, the page asks for a token, keeps it in the tab, and respects its scopes. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';

const DEFINITION = `
Id: nap
Steps:
  - Id: sleep
    StepType: Delay
    Inputs:
      Period: 86400
`;

describe.runIf(browserPath !== null)('signing in', () => {
  let runId = '';
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
    seed: async (client) => {
      await client.definitions.register(DEFINITION);
      runId = (await client.workflows.start('nap', {})).id;
    },
  });

  beforeEach(() => {
    // The browser reports rejected calls on its console.
    pages.expectBrowserError(/40[13]/);
  });

  const signIn = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('Bearer token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  test('asks for a token, keeps it on a reload, and forgets it when the user signs out', async () => {
    const page = await pages.open('/runs');
    await page.getByText('This server requires a token.').waitFor();
    const token = makeToken('ada', 'conductor:viewer');
    await signIn(page, `Bearer ${token}`);
    await page.locator(`tr[data-key="${runId}"]`).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByTitle('ada').waitFor();
    await page.reload();
    await page.locator(`tr[data-key="${runId}"]`).waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toContain(token);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You have signed out.').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
    await page.reload();
    await page.getByText('This server requires a token.').waitFor();
  });

  test('reports an invalid token, and prompts for another one', async () => {
    const page = await pages.open('/runs');
    await signIn(page, 'rubbish');
    await page.getByText('The server rejected the token.').waitFor();
  });

  test('names the missing scope of a token that does not allow viewing', async () => {
    const page = await pages.open('/runs');
    await signIn(page, makeToken('till', 'conductor:worker'));
    await page.getByText('This call requires the scope conductor:viewer').waitFor();
    await page.getByText('403 forbidden').waitFor();
  });

  test('disables actions for a viewer, and says why', async () => {
    const page = await pages.open(`/runs/${runId}`);
    await signIn(page, makeToken('ada', 'conductor:viewer'));
    const suspend = page.getByRole('button', { name: 'Suspend' });
    await suspend.hover();
    await page.getByText('Your token lacks the scope conductor:controller').waitFor();
    await suspend.click({ force: true });
    expect((await pages.client.workflows.get(runId)).status).toBe('Runnable');
  });

  test('allows actions to a controller', async () => {
    const page = await pages.open(`/runs/${runId}`);
    await signIn(page, makeToken('grace', 'conductor:viewer conductor:controller'));
    await page.getByRole('button', { name: 'Suspend' }).click();
    await expect.poll(() => page.locator('h1 .badge').textContent()).toBe('Suspended');
  });
});
