/**
 * The page fetches its lists again whenever it may have missed a change. In tests of changes by the stream alone, no
 * such
 * response may arrive.
 */
import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';

const LIST = /\/api\/workflow\?/;

export interface ListReads {
  /** Holds all list calls from now on. Resolves when no response is pending. */
  hold(): Promise<void>;
  /** Releases the calls. Call it before the page is reloaded. */
  release(): Promise<void>;
}

/** Call it before the page is loaded. */
export function watchListReads(page: Page): ListReads {
  const open = new Set<Request>();
  const held = new Set<Request>();
  page.on('request', (request) => {
    if (LIST.test(request.url())) open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return {
    hold: async () => {
      await page.route(LIST, (route) => void held.add(route.request()));
      await expect.poll(() => [...open].every((request) => held.has(request))).toBe(true);
    },
    release: () => page.unroute(LIST),
  };
}
