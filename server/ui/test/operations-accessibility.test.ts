/**
 * Goal: the pages of definitions, events, activities, steps and nodes are readable in both themes, and fit into 390
 * pixels.
 */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { seriousProblems } from './support/axe.js';
import { usePages } from './support/page-test.js';

const PAGES = [
  { path: '/overview', ready: '.bar-chart' },
  { path: '/definitions', ready: 'main table' },
  { path: '/definitions/trip', ready: '.react-flow__edge' },
  { path: '/definitions/trip?view=document', ready: '.cm-line' },
  { path: '/definitions/trip?view=changes', ready: '.cm-changedLine' },
  { path: '/definitions/trip/edit', ready: '.findings' },
  { path: '/definitions/trip/start', ready: '.data-form' },
  { path: '/events', ready: 'main table' },
  { path: '/events?name=arrived&key=k', ready: '.event-waiters table' },
  { path: '/activities', ready: 'main table' },
  { path: '/activities/book', ready: 'main table' },
  { path: '/workers', ready: 'main table' },
  { path: '/workers/busy', ready: 'main table' },
  { path: '/steps', ready: 'main table' },
  { path: '/steps/quote', ready: '.cm-line' },
  { path: '/nodes', ready: 'main table' },
] as const;

function trip(steps: number): object {
  return {
    id: 'trip',
    description: 'Books a trip and waits until it is over',
    input: {
      type: 'object',
      required: ['traveller'],
      properties: {
        traveller: { type: 'string', description: 'Who travels' },
        nights: { type: ['integer', 'null'], minimum: 1, default: 2 },
        from: { type: 'string', format: 'date' },
        class: { enum: ['first', 'second'] },
        stops: { type: 'array', items: { type: 'string' }, default: ['Bern', 'Basel'] },
        hotel: { type: 'object', properties: { stars: { type: 'integer' } } },
        notes: { oneOf: [{ type: 'string' }, { type: 'array' }] },
      },
    },
    // These steps are unreachable: the editor shows a warning for each.
    steps: [
      {
        id: 'book',
        stepType: 'Activity',
        inputs: { ActivityName: '"book"' },
        nextStepId: 'wait',
        compensateWith: [{ id: 'cancel', stepType: 'NoOp' }],
      },
      {
        id: 'wait',
        stepType: 'WaitFor',
        inputs: { EventName: '"arrived"', EventKey: '"k"' },
        selectNextStep: { book: 'data.again' },
      },
      ...Array.from({ length: steps }, (_, at) => ({ id: `extra-${at}`, stepType: 'NoOp' })),
    ],
  };
}

describe.runIf(browserPath !== null)(
  'the pages of definitions, events, activities, steps and nodes',
  () => {
    const pages = usePages({
      seed: async (client) => {
        await client.steps.put('quote', 'price = 3\n');
        await client.definitions.register(trip(1) as never);
        await client.definitions.register(trip(2) as never);
        await client.workflows.start('trip', { traveller: 'Ada' });
        await client.workflows.start('trip', { traveller: 'Bob' });
        const worker = { workerId: 'busy', host: 'h'.repeat(80), version: '2.1' };
        await client.activities.pull('book', { ...worker, waitSeconds: 20 });
        await client.definitions.register({
          id: 'waits',
          steps: [
            {
              id: 'wait',
              stepType: 'WaitFor',
              inputs: { EventName: '"arrived"', EventKey: '"k"', EffectiveDate: '"2100-01-01"' },
            },
          ],
        });
        await client.workflows.start('waits');
        await client.events.publish('arrived', 'k', { at: 'noon' });
      },
    });

    test.each(
      PAGES.flatMap((page) => [
        { ...page, colorScheme: 'light' as const },
        { ...page, colorScheme: 'dark' as const },
      ]),
    )(
      'have no serious problems according to axe: $path, $colorScheme',
      async ({ path, ready, colorScheme }) => {
        const page = await pages.open(path, { colorScheme });
        await page.locator(ready).first().waitFor({ state: 'attached' });
        expect(await seriousProblems(page)).toEqual([]);
      },
    );

    test.each(PAGES)('fit into 390 pixels: $path', async ({ path, ready }) => {
      const page = await pages.open(path, { viewport: { width: 390, height: 780 } });
      // A graph that is too wide to read opens as the list of its steps.
      await page.locator(`${ready}, .outline`).first().waitFor({ state: 'attached' });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        390,
      );
    });

    test('render only the visible steps of a graph with 500 steps', async () => {
      const steps = Array.from({ length: 500 }, (_, at) => ({
        id: `s${at}`,
        stepType: 'NoOp',
        ...(at < 499 && { nextStepId: `s${at + 1}` }),
      }));
      await pages.client.definitions.register({ id: 'long', steps });
      const page = await pages.open('/definitions/long');
      page.setDefaultTimeout(60_000);
      await page.getByRole('button', { name: /^s0, NoOp/ }).waitFor();
      await page.getByText('500 steps').waitFor();
      await expect.poll(() => page.locator('.react-flow__node').count()).toBeLessThan(100);
      await page.getByRole('button', { name: 'List' }).click();
      await page.getByRole('button', { name: /s499/ }).click();
      await page.getByRole('heading', { name: 's499', level: 2 }).waitFor();
    });
  },
);
