/**
 * The page reads its lists again whenever it may have missed something. Where a test looks at what the stream alone
 * changes, no such answer may arrive.
 */
import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';

const LIST = /\/api\/workflow\?/;

export interface ListReads {
  /** From here on no list arrives; resolves when none is on its way. */
  hold(): Promise<void>;
  /** Before the page is loaded again. */
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
