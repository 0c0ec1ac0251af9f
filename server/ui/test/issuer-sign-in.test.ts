/** Goal: with an OpenID Connect issuer, users sign in there, stay signed in, and sign out of both. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { OpenIdProvider } from '../../test/support/openid-provider.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

// A port is free for programs on the user's machine (RFC 8252, section 7.3).
const redirectUris = ['http://127.0.0.1/ui/'];

/** Enters a name at the issuer, and agrees. */
async function passIssuer(page: Page, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** The pages of the issuer ask for fonts and an icon. */
async function withoutDecoration(page: Page): Promise<void> {
  const context = page.context();
  await context.route(/fonts\.googleapis\.com|favicon\.ico/, (route) =>
    route.fulfill({ body: '' }),
  );
}

async function keptToken(page: Page): Promise<string | null> {
  const text = await page.evaluate(() => sessionStorage.getItem('stepwright.credentials'));
  return text === null ? null : (JSON.parse(text) as { token: string }).token;
}

async function openOther(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

describe.runIf(browserPath !== null)('the sign-in at an issuer', async () => {
  const provider = await OpenIdProvider.start({ redirectUris });
  afterAll(() => provider.stop());
  const pages = usePages({ environment: provider.settings });
  const button = `Sign in with ${new URL(provider.issuer).host}`;

  beforeEach(() => {
    pages.expectBrowserError(/401/);
    pages.expectBrowserError(new RegExp(`^request: (${provider.issuer}|https://fonts)`));
  });

  test('comes back to the same page, and is shared by all tabs', async () => {
    const page = await pages.open('/runs?status=failed', {}, withoutDecoration);
    await page.getByRole('button', { name: button }).click();
    await passIssuer(page, 'ada');
    await page.getByTitle('ada').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
      '/ui/runs?status=failed',
    );
    const other = await openOther(page.context(), `${pages.server.url}/ui/definitions`);
    await other.getByTitle('ada').waitFor();
    await page.reload();
    await page.getByTitle('ada').waitFor();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('eyJ');
  });

  test('ends at the issuer too', async () => {
    const page = await pages.open('/runs', {}, withoutDecoration);
    await page.getByRole('button', { name: button }).click();
    await passIssuer(page, 'ada');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: /yes/i }).click();
    await page.getByRole('button', { name: button }).waitFor();
    expect(await keptToken(page)).toBeNull();
    await page.getByRole('button', { name: button }).click();
    await page.locator('input[name=login]').waitFor();
  });

  test('is reported if the user aborts it', async () => {
    const page = await pages.open('/runs', {}, withoutDecoration);
    await page.getByRole('button', { name: button }).click();
    await page.getByText('Cancel').click();
    await page.getByText(/^The sign-in failed/).waitFor();
    expect(page.url()).toBe(`${pages.server.url}/ui/`);
  });

  test('is refused if another party began it', async () => {
    const page = await pages.open('/runs', {}, withoutDecoration);
    await page.getByRole('button', { name: button }).click();
    await page.locator('input[name=login]').waitFor();
    await page.goto(`${pages.server.url}/ui/?code=stolen&state=forged&iss=${provider.issuer}`);
    await page.getByText(/^The sign-in failed/).waitFor();
    expect(await keptToken(page)).toBeNull();
  });

  test('accepts a token instead', async () => {
    const page = await pages.open('/runs', {}, withoutDecoration);
    await page.getByText('Use a token instead').click();
    await page.getByLabel('Bearer token').fill(await provider.programToken('conductor:viewer'));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Live', { exact: true }).waitFor();
  });
});

describe.runIf(browserPath !== null)('a token of an issuer that ends soon', async () => {
  const provider = await OpenIdProvider.start({ redirectUris, accessTokenSeconds: 6 });
  afterAll(() => provider.stop());

  describe('the renewal', () => {
    const pages = usePages({ environment: provider.settings });

    test('happens without the user, once for all tabs', async () => {
      pages.expectBrowserError(/401/);
      pages.expectBrowserError(new RegExp(`^request: (${provider.issuer}|https://fonts)`));
      const page = await pages.open('/runs', {}, withoutDecoration);
      await page.getByRole('button', { name: /^Sign in with/ }).click();
      await passIssuer(page, 'ada');
      await page.getByTitle('ada').waitFor();
      const other = await openOther(page.context(), `${pages.server.url}/ui/runs`);
      await other.getByTitle('ada').waitFor();
      const seen = new Set<string | null>();
      await expect
        .poll(async () => seen.add(await keptToken(page)).size, { timeout: 60_000 })
        .toBeGreaterThan(3);
      await expect.poll(async () => seen.has(await keptToken(other))).toBe(true);
      expect(await page.getByText('Sign in again').count()).toBe(0);
    });
  });

  describe('the failed renewal', () => {
    // Without offline_access, the issuer gives no refresh token.
    const auth_client_scope = 'conductor:viewer conductor:author';
    const pages = usePages({ environment: { ...provider.settings, auth_client_scope } });

    test('is replaced in a window of its own, and the page keeps the typed text', async () => {
      pages.expectBrowserError(/401/);
      pages.expectBrowserError(new RegExp(`^request: (${provider.issuer}|https://fonts)`));
      const page = await pages.open('/new-definition', {}, withoutDecoration);
      await page.getByRole('button', { name: /^Sign in with/ }).click();
      await passIssuer(page, 'grace');
      await page.getByTitle('grace').waitFor();
      const editor = page.getByRole('textbox', { name: 'Definition document' });
      await pasteText(editor, 'Id: typed-before\n');
      await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
      const popup = page.context().waitForEvent('page');
      await page.getByRole('button', { name: /^Sign in with/ }).click();
      const window = await popup;
      const closed = window.waitForEvent('close');
      const agree = window.getByRole('button', { name: 'Continue' });
      await agree.click();
      await closed;
      await page.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' });
      expect(await editor.textContent()).toContain('typed-before');
    });
  });
});
