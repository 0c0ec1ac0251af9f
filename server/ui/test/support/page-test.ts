/**
 * A real server on the embedded store, a real browser, and a page. The test fails if the browser reports a script
 * error, a
 * violation of the page's policy, or a request to another site.
 */
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { ServerProcess } from '../../../../sdk/test/support/server-process.js';
import { launchBrowser } from './browser.js';

export interface PageTest {
  readonly server: ServerProcess;
  readonly client: StepwrightClient;
  /** Opens a separate window at an address below `/ui`. */
  open(
    path: string,
    options?: BrowserContextOptions,
    /** Called before the page is loaded. */
    prepare?: (page: Page) => Promise<void>,
  ): Promise<Page>;
  /** Declares an error that the browser may report, such as the status 401. */
  expectBrowserError(pattern: RegExp): void;
}

export interface PageTestOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly seed?: (client: StepwrightClient) => Promise<void>;
}

/** Call it in a `describe`. The members of the result are available while tests run. */
export function usePages(options: PageTestOptions = {}): PageTest {
  let server: ServerProcess | null = null;
  let client: StepwrightClient | null = null;
  let browser: Browser | null = null;
  const contexts: BrowserContext[] = [];
  const browserErrors: string[] = [];
  const expected: RegExp[] = [];

  beforeAll(async () => {
    server = await ServerProcess.start(
      options.environment === undefined ? {} : { environment: options.environment },
    );
    const { token } = options;
    client = createClient({ baseUrl: server.url, ...(token !== undefined && { token }) });
    await options.seed?.(client);
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    const unexpected = browserErrors
      .splice(0)
      .filter((text) => !expected.some((pattern) => pattern.test(text)));
    expected.length = 0;
    expect(unexpected).toEqual([]);
  });

  return {
    get server() {
      return server!;
    },
    get client() {
      return client!;
    },
    expectBrowserError: (pattern) => void expected.push(pattern),
    open: async (path, contextOptions = {}, prepare) => {
      const context = await browser!.newContext({
        viewport: { width: 1280, height: 800 },
        ...contextOptions,
      });
      contexts.push(context);
      const page = await context.newPage();
      // On a busy machine, many things are late. A test whose text never appears still fails.
      page.setDefaultTimeout(60_000);
      listen(page, server!.url, browserErrors);
      await prepare?.(page);
      await page.goto(`${server!.url}/ui${path}`);
      return page;
    },
  };
}

/** Chromium aborts calls when a network of the machine changes, as when a container starts. The page repeats them. */
const NETWORK_CHANGED = 'net::ERR_NETWORK_CHANGED';

function listen(page: Page, ownUrl: string, browserErrors: string[]): void {
  page.on('pageerror', (error) => browserErrors.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.text().includes(NETWORK_CHANGED)) return;
    if (message.type() === 'error' || message.type() === 'warning') {
      browserErrors.push(`console: ${message.text()} (${message.location().url})`);
    }
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(ownUrl) && !url.startsWith('data:')) browserErrors.push(`request: ${url}`);
  });
  page.on('dialog', (dialog) => {
    browserErrors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}
