/** Goal: the page loads in both themes without violating its own policy, and its files are served as they should be. */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

describe.runIf(browserPath !== null)('the shell of the page', () => {
  const pages = usePages();

  test('redirects the root of the server to the overview', async () => {
    const page = await pages.open('/');
    await page.goto(pages.server.url);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/ui/overview');
  });

  test('keeps its address on a reload, and reports unknown addresses', async () => {
    const page = await pages.open('/runs');
    await page.reload();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    await page.goto(`${pages.server.url}/ui/no/such/page`);
    await page.getByText('There is no page at this address.').waitFor();
  });

  test('caches files with a hash permanently, revalidates the document, and sends a content security policy', async () => {
    const document = await fetch(`${pages.server.url}/ui/runs`);
    expect(document.headers.get('cache-control')).toBe('no-cache');
    expect(document.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = document.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    const script = /src="(\/ui\/assets\/[^"]+\.js)"/.exec(await document.text())?.[1];
    const file = await fetch(`${pages.server.url}${script}`);
    expect(file.status).toBe(200);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-security-policy')).toBe(policy);
  });

  test('serves files compressed to clients that accept it, each variant with its own ETag', async () => {
    const document = await (await fetch(`${pages.server.url}/ui/`)).text();
    const script = /src="(\/ui\/assets\/[^"]+\.js)"/.exec(document)?.[1];
    const load = async (encoding: string) => {
      const headers = { 'accept-encoding': encoding };
      const response = await fetch(`${pages.server.url}${script}`, { headers });
      expect(response.status).toBe(200);
      const { headers: given } = response;
      expect(given.get('vary')).toContain('Accept-Encoding');
      expect(given.get('content-type')).toMatch(/^text\/javascript/);
      expect(given.get('cache-control')).toContain('immutable');
      const size = Number(given.get('content-length'));
      const form = given.get('content-encoding');
      return { form, size, tag: given.get('etag'), text: await response.text() };
    };
    const plain = await load('identity');
    expect(plain.form).toBeNull();
    const forms = [await load('br'), await load('gzip'), await load('gzip, deflate, br')];
    expect(forms.map(({ form }) => form)).toEqual(['br', 'gzip', 'br']);
    for (const form of forms) {
      expect(form.text).toBe(plain.text);
      expect(form.size).toBeLessThan(plain.size / 2);
    }
    expect(new Set([plain, ...forms].map(({ tag }) => tag)).size).toBe(3);
  });

  test.each([
    ['GET', '/ui/assets/none.js', 404],
    ['GET', '/ui/assets/../../package.json', 404],
    ['POST', '/ui/', 405],
    ['DELETE', '/ui/runs', 405],
  ])('answers %s %s with status %i and a problem document', async (method, path, status) => {
    const response = await fetch(`${pages.server.url}${path}`, { method });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
  });

  test('serves only the files of the page', async () => {
    for (const path of ['/ui/..%2f..%2fpackage.json', '/ui/%2e%2e/package.json', '/ui/.vite']) {
      const response = await fetch(`${pages.server.url}${path}`);
      expect(await response.text()).not.toContain('"name"');
    }
  });

  test('keeps the selected theme on a reload', async () => {
    const page = await pages.open('/runs');
    const ground = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const choose = async (theme: string): Promise<void> => {
      await page.getByLabel('Theme').selectOption(theme);
      await page.locator(`html[data-theme="${theme}"]`).waitFor();
    };
    await choose('dark');
    const dark = await ground();
    await choose('light');
    await expect.poll(ground).not.toBe(dark);
    await choose('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    await expect.poll(ground).toBe(dark);
  });

  test('offers a link to skip the navigation as the first tab stop', async () => {
    const page = await pages.open('/runs');
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
  });
});
