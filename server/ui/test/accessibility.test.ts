/**
 * Goal: every page and every dialog is accessible according to axe in a wide window, as is signing in, and is free of
 * errors of the browser. The list of views is complete.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROUTES } from '../src/app/routes.js';
import { problemsOf, testViews, useViews, WIDTHS, windowOf } from './support/accessibility.js';
import { contrastProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { AUTH_SETTINGS, makeToken } from './support/tokens.js';
import { VIEWS, type Seeded } from './support/views.js';

const SOURCES = join(import.meta.dirname, '../src');

describe('the list of views', () => {
  const paths = VIEWS.map(({ path }) =>
    typeof path === 'string' ? path : path({ shop: {}, refunds: {}, jobId: 'id' } as Seeded),
  ).map((path) => path.replace(/\?.*/, ''));

  const isShown = (route: string): boolean =>
    route.endsWith('/*?')
      ? isShown(route.slice(0, -3)) && isShown(route.slice(0, -1))
      : paths.some((path) =>
          route.endsWith('/*') ? path.startsWith(route.slice(0, -1)) : path === route,
        );

  test('contains every address of the page, alone and with a name', () => {
    expect(ROUTES.filter((route) => !isShown(route))).toEqual([]);
  });

  test('contains every dialog and menu', () => {
    const files = globSync('**/*.tsx', { cwd: SOURCES });
    const missing = files.filter((file) => {
      // The components themselves, and the dialog for signing in, which has a test below.
      if (/^(app|components)\//.test(file)) return false;
      const code = readFileSync(join(SOURCES, file), 'utf8');
      const opened = code.match(/<DialogForm$|<FormDialog$|<Menu |await confirm\(/gm) ?? [];
      return VIEWS.filter(({ from }) => from === file).length < opened.length;
    });
    expect(missing).toEqual([]);
  });
});

describe.runIf(browserPath !== null)('every page and every dialog in a wide window', () => {
  const views = useViews();
  testViews(views, 1440);

  test('shows every tab of a run and every view of a definition', async () => {
    const tabs = await views.show(
      VIEWS.find(({ name }) => name === 'a run, overview')!,
      1440,
    );
    const names = await tabs.getByRole('tab').allTextContents();
    const definition = await views.show(
      VIEWS.find(({ name }) => name === 'a definition, graph')!,
      1440,
    );
    const group = definition.getByRole('group', { name: 'Show', exact: true });
    const shown = await group.getByRole('button').allTextContents();
    expect(shown.length).toBeGreaterThan(0);
    const wanted = [
      ...names.map((name) => `a run, ${name.toLowerCase()}`),
      ...shown.map((name) => `a definition, ${name.toLowerCase()}`),
    ];
    expect(wanted.filter((name) => VIEWS.every((view) => view.name !== name))).toEqual([]);
  });

  test('allows the API description to be read', async () => {
    const page = await views.pages.open('/');
    await page.goto(`${views.pages.server.url}/swagger`);
    await page.locator('.opblock-summary').first().waitFor();
    // Its structure is that of Swagger UI.
    expect(await contrastProblems(page)).toEqual([]);
  });
});

describe.runIf(browserPath !== null)('signing in', () => {
  const pages = usePages({
    environment: AUTH_SETTINGS,
    token: makeToken('seed', 'conductor:admin'),
  });

  test.each(WIDTHS)('has no problem according to axe: %i pixels', async (width) => {
    pages.expectBrowserError(/40[13]/);
    const page = await pages.open('/new-step', windowOf(width));
    const signIn = async (scope: string): Promise<void> => {
      await page.getByLabel('Bearer token').fill(makeToken('ada', scope));
      await page.getByLabel('Bearer token').press('Enter');
    };
    await page.getByLabel('Bearer token').waitFor();
    expect(await problemsOf(page, width)).toEqual([]);
    await signIn('conductor:admin');
    await page.locator('.cm-line').first().waitFor();
    // The token has expired.
    await page.route('**/api/step/**', (route) =>
      route.fulfill({
        status: 401,
        contentType: 'application/problem+json',
        body: JSON.stringify({ status: 401, code: 'unauthorized', title: '', detail: 'expired' }),
      }),
    );
    await page.getByLabel(/^Name/).fill('total');
    await page.getByRole('button', { name: /^Publish/ }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    expect(await problemsOf(page, width)).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).last().click();
    await page.getByLabel('Bearer token').waitFor();
    await signIn('conductor:worker');
    await page.getByText('403 forbidden').waitFor();
    expect(await problemsOf(page, width)).toEqual([]);
  });
});
