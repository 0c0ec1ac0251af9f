/**
 * Debian's chromium, or the browser at CHROMIUM_PATH. Without a browser, the tests of the page are skipped. The headless shell
 * has the same engine, and opens a window in a third of the CPU time.
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PLACES = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Null if no browser is installed, which prints a warning. */
export const browserPath: string | null =
  PLACES.find((place) => place !== undefined && existsSync(place)) ?? null;

if (browserPath === null) {
  console.warn(
    '\n*** NO BROWSER: the tests of the operator page do not run. Install chromium or set CHROMIUM_PATH. ***\n',
  );
}

export function launchBrowser(furtherArguments: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath ?? '',
    args: [...ARGUMENTS, ...furtherArguments],
  });
}
