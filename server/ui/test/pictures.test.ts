/**
 * Goal: the pictures in the documentation show the current page. They are taken only by `pnpm screenshots`. Each page
 * adds its pictures here.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StepwrightClient } from '@stepwright/sdk';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { openAccess } from './support/accessed.js';
import { openLimits } from './support/limited.js';
import { openNotifications } from './support/notified.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';
import { openRefunds } from './support/refunds.js';
import { openReports } from './support/reports.js';
import { openShop, type Shop } from './support/shop.js';

const FOLDER = fileURLToPath(new URL('../../../docs/ui/', import.meta.url));
const isWanted = process.env['SCREENSHOTS'] === '1' && browserPath !== null;

interface Picture {
  readonly name: string;
  readonly path: (shop: Shop) => string;
  /** A text that the page shows when it is ready. */
  readonly shows: string;
  readonly options?: BrowserContextOptions;
  readonly prepare?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  {
    name: 'overview',
    path: () => '/overview',
    shows: 'order-fulfilment',
    options: { viewport: { width: 1280, height: 900 } },
    prepare: (page) => page.locator('.bar-chart').first().waitFor(),
  },
  {
    name: 'failures',
    path: () => '/failures',
    shows: 'KeyError',
    options: { colorScheme: 'dark', viewport: { width: 1280, height: 560 } },
  },
  { name: 'workers', path: () => '/workers', shows: 'desk-2' },
  { name: 'schedule', path: () => '/schedule', shows: 'nightly' },
  {
    name: 'notification',
    path: () => '/notifications/audit',
    shows: 'workflow.test',
    prepare: (page) =>
      page
        .getByRole('row', { name: /workflow\.test/ })
        .getByText('Answer')
        .click(),
  },
  { name: 'webhooks', path: () => '/webhooks', shows: 'shop-paid' },
  { name: 'keys', path: () => '/keys', shows: 'billing' },
  { name: 'audit', path: () => '/audit', shows: 'shop-paid' },
  {
    name: 'triggers',
    path: () => '/definitions/report?view=triggers',
    shows: 'Europe/Zurich',
    options: { viewport: { width: 1280, height: 640 } },
  },
  {
    name: 'run-repair',
    path: ({ invoice }) => `/runs/${invoice}?repair=`,
    shows: 'Repair this run',
    options: { viewport: { width: 1280, height: 1400 } },
    prepare: async (page) => {
      await page.locator('.repair-preview dl').waitFor();
      await page.locator('.graph-canvas').waitFor();
    },
  },
  {
    name: 'run-steps',
    path: ({ unpaid }) => `/runs/${unpaid}?tab=steps&step=pack&search=cup`,
    shows: 'match',
    options: { viewport: { width: 1280, height: 640 } },
  },
  {
    name: 'run-narrow',
    path: ({ order }) => `/runs/${order}`,
    shows: 'Charge the card',
    options: { viewport: { width: 390, height: 780 } },
  },
  { name: 'runs', path: () => '/runs', shows: 'order-4711' },
  {
    name: 'runs-dark',
    path: () => '/runs?status=Runnable',
    shows: 'order-4711',
    options: { colorScheme: 'dark' },
  },
  {
    name: 'runs-narrow',
    path: () => '/runs?status=Suspended',
    shows: 'order-4700',
    options: { viewport: { width: 390, height: 780 } },
  },
  {
    name: 'run',
    path: ({ order }) => `/runs/${order}`,
    shows: 'Charge the card',
    options: { viewport: { width: 1280, height: 1280 } },
  },
  {
    name: 'run-failed',
    path: ({ invoice }) => `/runs/${invoice}?tab=steps`,
    shows: 'Python traceback',
    prepare: (page) => page.locator('section.why').getByText('Python traceback').click(),
  },
  {
    name: 'run-history',
    path: ({ reminder }) => `/runs/${reminder}?tab=history`,
    shows: 'anonymous',
  },
  {
    name: 'run-data',
    path: ({ order }) => `/runs/${order}?tab=data`,
    shows: 'Ada Lovelace',
    options: { colorScheme: 'dark' },
  },
  {
    name: 'run-publish',
    path: ({ order }) => `/runs/${order}`,
    shows: 'Charge the card',
    prepare: (page) => page.getByRole('button', { name: 'Publish the event' }).click(),
  },
  {
    name: 'definition',
    path: () => '/definitions/trip',
    shows: 'book-hotel',
    options: { viewport: { width: 1280, height: 900 } },
    prepare: (page) => page.locator('.react-flow__edge').first().waitFor({ state: 'attached' }),
  },
  { name: 'definition-changes', path: () => '/definitions/trip?view=changes', shows: 'unchanged' },
  {
    name: 'definition-editor',
    path: () => '/definitions/trip/edit',
    shows: 'book-hotel',
    options: { colorScheme: 'dark' },
    prepare: async (page) => {
      const editor = page.getByRole('textbox', { name: 'Definition document' });
      await pasteText(editor, TRIP.replace('nextStepId: book-hotel', 'nextStepId: book-hotle'));
      await page.locator('.cm-lintRange-error').first().waitFor();
      await page.locator('.graph-missing').waitFor();
    },
  },
  { name: 'definitions', path: () => '/definitions', shows: 'trip' },
  { name: 'events', path: () => '/events', shows: 'trip-approved' },
  { name: 'activities', path: () => '/activities', shows: 'no idle worker' },
  { name: 'activity', path: () => '/activities/book-flight', shows: 'desk-2' },
  {
    name: 'limit',
    path: () => '/limits/pay-api',
    shows: 'acme',
    options: { viewport: { width: 1280, height: 860 } },
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel(/^Units at a time/).fill('3');
    },
  },
  { name: 'limits', path: () => '/limits', shows: 'pay-api' },
  { name: 'step', path: () => '/steps/quote-price', shows: 'price' },
  { name: 'nodes', path: () => '/nodes', shows: 'this node' },
  {
    name: 'definition-narrow',
    path: () => '/definitions/trip',
    shows: 'book-hotel',
    options: { viewport: { width: 390, height: 780 } },
  },
];

const TRIP = `id: trip
description: Books a trip as one; what was booked is undone when a part fails
steps:
  - id: approve
    stepType: WaitFor
    inputs: { EventName: '"trip-approved"', EventKey: data.traveller }
    nextStepId: book
  - id: book
    stepType: Sequence
    saga: true
    do:
      - - id: book-flight
          stepType: Activity
          inputs: { ActivityName: '"book-flight"' }
          compensateWith: [{ id: cancel-flight, stepType: NoOp }]
          nextStepId: book-hotel
        - id: book-hotel
          stepType: Activity
          inputs: { ActivityName: '"book-hotel"' }
          compensateWith: [{ id: cancel-hotel, stepType: NoOp }]
    nextStepId: check
  - id: check
    stepType: Decide
    selectNextStep: { tell: data.get("flight"), book: not data.get("flight") }
  - id: tell
    stepType: EmitLog
    inputs: { Message: '"Enjoy your trip"' }
`;

async function openTravelAgency(client: StepwrightClient): Promise<void> {
  await client.steps.put('quote-price', 'price = nights * 80\n');
  await client.steps.put('quote-price', '# Taxes are not in it.\nprice = nights * rate\n');
  await client.definitions.register(
    TRIP.replace('inputs: { Message', 'name: Tell\n    inputs: { Message'),
  );
  await client.definitions.register(TRIP);
  for (const traveller of ['ada', 'grace', 'edsger']) {
    await client.workflows.start('trip', { traveller });
    await client.events.publish('trip-approved', traveller, { by: 'Barbara' });
  }
  await client.workflows.start('trip', { traveller: 'alan' });
  await client.activities.pull('book-flight', {
    workerId: 'desk-2',
    waitSeconds: 5,
    leaseSeconds: 900,
  });
}

describe.runIf(isWanted)('a picture for the documentation', () => {
  let shop: Shop;
  const pages = usePages({
    seed: async (client) => {
      shop = await openShop(client);
      await openTravelAgency(client);
      await openRefunds(client);
      await openReports(client);
      await openNotifications(client);
      await openAccess(client);
      await openLimits(client);
      await client.workflows.suspend(shop.reminder);
      await client.workflows.resume(shop.reminder);
    },
  });

  test.each(PICTURES)('is taken: $name', async ({ name, path, shows, options, prepare }) => {
    const page = await pages.open(path(shop), options);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText(shows).first().waitFor();
    await page.locator('main .loading').waitFor({ state: 'detached' });
    // Why the runs of the list wait comes a moment later.
    await expect.poll(() => page.getByText('Open', { exact: true }).count()).toBe(0);
    await prepare?.(page);
    await page.evaluate(() => document.fonts.ready);
    mkdirSync(FOLDER, { recursive: true });
    const picture = await page.screenshot({ path: `${FOLDER}${name}.png`, animations: 'disabled' });
    expect(picture.length).toBeGreaterThan(10_000);
  });
});
