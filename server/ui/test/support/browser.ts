/** Debian's chromium, or whichever is named by CHROMIUM_PATH; where there is none, tests of the page are left out. */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PLACES = [
  process.env['CHROMIUM_PATH'],
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

/** Null where no browser is installed, which is said loudly. */
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
