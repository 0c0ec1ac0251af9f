/**
 * Goal: the graph can be read where it is opened, on any screen. Method: positions of what the browser has drawn, for a
 * nested definition, a long one and a run with several paths.
 */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, hasTouch: true };
const LONG_NAME = 'reserve-the-hotel-in-the-city-of-arrival-for-guest';
const CHAIN_LENGTH = 1000;
/** The step of the long chain that waits. */
const WAITS_AT = 700;

const NESTED = {
  id: 'nested',
  steps: [
    {
      id: 'check',
      stepType: 'Decide',
      selectNextStep: { all: 'data.n > 10', small: 'data.n <= 10' },
    },
    { id: 'small', stepType: 'NoOp', nextStepId: 'last' },
    {
      id: 'all',
      stepType: 'Sequence',
      nextStepId: 'last',
      do: [
        [
          {
            id: 'ask',
            stepType: 'Decide',
            selectNextStep: { yes: 'data.n > 20', no: 'data.n <= 20' },
          },
          { id: 'yes', stepType: 'NoOp' },
          { id: 'no', stepType: 'NoOp' },
        ],
      ],
    },
    { id: 'last', stepType: 'NoOp', nextStepId: `${LONG_NAME}-one` },
    { id: `${LONG_NAME}-one`, stepType: 'NoOp', nextStepId: `${LONG_NAME}-two` },
    { id: `${LONG_NAME}-two`, stepType: 'NoOp' },
  ],
};

describe.runIf(browserPath !== null)('the graph', () => {
  let waiting = '';
  let ended = '';
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(NESTED);
      await client.definitions.register({
        id: 'chain',
        steps: Array.from({ length: CHAIN_LENGTH }, (_, at) => ({
          id: `s${at}`,
          ...(at === WAITS_AT
            ? { stepType: 'WaitFor', inputs: { EventName: '"go"', EventKey: '"1"' } }
            : { stepType: 'NoOp' }),
          ...(at < CHAIN_LENGTH - 1 && { nextStepId: `s${at + 1}` }),
        })),
      });
      await client.definitions.register({
        id: 'narrow',
        steps: [
          { id: 'check', stepType: 'Decide', selectNextStep: { yes: 'data.n > 1', no: 'True' } },
          { id: 'yes', stepType: 'NoOp' },
          { id: 'no', stepType: 'NoOp' },
        ],
      });
      await client.definitions.register({
        id: 'wide',
        steps: [
          {
            id: 'all',
            stepType: 'Parallel',
            do: Array.from({ length: 3 }, (_, at) => [{ id: `branch-${at}`, stepType: 'NoOp' }]),
          },
        ],
      });
      await client.definitions.register({
        id: 'pause',
        steps: [
          {
            id: 'wait',
            stepType: 'WaitFor',
            inputs: { EventName: '"go"', EventKey: '"2"' },
            nextStepId: 'end',
          },
          { id: 'end', stepType: 'NoOp' },
        ],
      });
      for (let run = 0; run < 2; run += 1) await client.workflows.start('pause', {});
      ended = (await client.workflows.start('nested', { n: 15 })).id;
      waiting = (await client.workflows.start('chain', {})).id;
      await client.workflows.wait(ended);
    },
  });

  const step = (page: Page, id: string): Locator =>
    page.locator('.react-flow__node').getByRole('button', { name: new RegExp(`^${id}, `) });
  const transform = (page: Page): Promise<string> =>
    page.locator('.react-flow__viewport').evaluate((element) => element.style.transform);
  const widthOf = (page: Page): Promise<number> =>
    page.evaluate(() => document.documentElement.scrollWidth);
  const isInFrame = async (page: Page, inner: Locator): Promise<boolean> => {
    const [frame, box] = await Promise.all([
      page.locator('.react-flow').boundingBox(),
      inner.boundingBox(),
    ]);
    if (frame === null || box === null) return false;
    return (
      box.x >= frame.x &&
      box.y >= frame.y &&
      box.x + box.width <= frame.x + frame.width &&
      box.y + box.height <= frame.y + frame.height
    );
  };

  test.each(['light', 'dark'] as const)(
    'shows conditions inside containers above everything else (%s)',
    async (colorScheme) => {
      const page = await pages.open('/definitions/nested', { colorScheme });
      await page.locator('.edge-label').nth(3).waitFor();
      const covered = await page.locator('.edge-label').evaluateAll((labels) =>
        labels.flatMap((label) => {
          const box = label.getBoundingClientRect();
          const inside = document
            .elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)
            .at(0);
          return inside !== undefined && label.contains(inside) ? [] : [label.textContent];
        }),
      );
      expect(covered).toEqual([]);
      expect(await seriousProblems(page)).toEqual([]);
    },
  );

  test('highlights the path that a run has taken, not by color alone, and names it', async () => {
    const page = await pages.open(`/runs/${ended}`);
    await page.locator('.edge-taken').first().waitFor({ state: 'attached' });
    expect(await page.locator('.edge-taken').count()).toBe(6);
    expect(await page.locator('.edge-untaken').count()).toBe(3);
    const widths = (kind: string): Promise<string[]> =>
      page
        .locator(`.edge-${kind} .react-flow__edge-path`)
        .evaluateAll((paths) => paths.map((path) => getComputedStyle(path).strokeWidth));
    expect(new Set(await widths('taken'))).toEqual(new Set(['3px']));
    expect(new Set(await widths('untaken'))).toEqual(new Set(['1px']));
    await step(page, 'small')
      .and(page.getByRole('button', { name: /not reached/ }))
      .waitFor();
    expect(await page.getByRole('button', { name: /^no,.*not reached/ }).count()).toBe(0);
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'List' }).click();
    expect(await page.getByText('not reached').count()).toBe(2);
  });

  test('distinguishes names that differ only at the end, and provides the full name', async () => {
    const page = await pages.open('/definitions/nested');
    const shown = async (id: string): Promise<string> => {
      const title = step(page, id).locator('.graph-title');
      await title.waitFor();
      expect(await title.getAttribute('title')).toBe(id);
      const lines = title.locator('bdi');
      const isCut = await lines.evaluateAll((all) =>
        all.some((line) => line.scrollWidth > line.parentElement!.clientWidth + 1),
      );
      expect(isCut).toBe(false);
      return (await lines.allTextContents()).join('');
    };
    const [one, two] = [await shown(`${LONG_NAME}-one`), await shown(`${LONG_NAME}-two`)];
    expect(one).toMatch(/…/);
    expect(one).not.toBe(two);
  });

  test('opens at the step that waits, and stays where it has been moved until Fit', async () => {
    const page = await pages.open(`/runs/${waiting}`);
    await expect.poll(() => isInFrame(page, step(page, `s${WAITS_AT}`))).toBe(true);
    const opened = await transform(page);
    const frame = (await page.locator('.react-flow').boundingBox())!;
    await page.mouse.move(frame.x + 40, frame.y + 60);
    await page.mouse.down();
    await page.mouse.move(frame.x + 140, frame.y + 160, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => transform(page)).not.toBe(opened);
    const moved = await transform(page);
    await page.setViewportSize({ width: 1000, height: 700 });
    await expect
      .poll(async () => (await page.locator('.react-flow').boundingBox())?.width)
      .toBeLessThan(frame.width);
    expect(await transform(page)).toBe(moved);
    await page.getByRole('button', { name: 'Fit' }).click();
    await expect.poll(() => transform(page)).not.toBe(moved);
    // Everything: the last step too.
    await expect.poll(() => isInFrame(page, step(page, `s${CHAIN_LENGTH - 1}`))).toBe(true);
    await expect.poll(() => isInFrame(page, step(page, 's0'))).toBe(true);
  });

  test('is fitted again when a panel opens and when the window changes', async () => {
    const page = await pages.open('/definitions/nested', {
      viewport: { width: 1100, height: 900 },
    });
    await step(page, 'ask').waitFor();
    const opened = await transform(page);
    await step(page, 'ask').click();
    await page.getByRole('heading', { name: 'ask', level: 2 }).waitFor();
    await expect.poll(() => transform(page)).not.toBe(opened);
    await expect.poll(() => isInFrame(page, step(page, 'ask'))).toBe(true);
    await page.setViewportSize({ width: 800, height: 600 });
    await expect.poll(() => isInFrame(page, step(page, 'ask'))).toBe(true);
  });

  test('shows how many open runs of a definition are at each step', async () => {
    const page = await pages.open('/definitions/chain');
    await page.getByText('The graph shows where 1 open run of this version is.').waitFor();
    await page.getByRole('group', { name: 'View', exact: true }).getByText('List').click();
    await page
      .locator('.outline-step', { hasText: `s${WAITS_AT}` })
      .getByText('1 open run here')
      .waitFor();
    const wide = await pages.open('/definitions/pause');
    await wide.getByRole('button', { name: /^wait, WaitFor.*2 open runs here/ }).waitFor();
    expect(await wide.locator('.graph-runs').allTextContents()).toEqual(['2']);
    expect(await seriousProblems(wide)).toEqual([]);
  });

  test('is readable on a phone and not cropped at the sides', async () => {
    const page = await pages.open('/definitions/narrow', PHONE);
    await step(page, 'check').waitFor();
    const [frame, ...boxes] = await Promise.all([
      page.locator('.react-flow').boundingBox(),
      ...(await page.locator('.react-flow__node').all()).map((node) => node.boundingBox()),
    ]);
    for (const box of boxes) {
      expect(box!.x).toBeGreaterThanOrEqual(frame!.x);
      expect(box!.x + box!.width).toBeLessThanOrEqual(frame!.x + frame!.width);
    }
    const scale = /scale\((.*)\)/.exec(await transform(page))?.[1];
    expect(Number(scale)).toBeGreaterThanOrEqual(0.55);
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    expect(await seriousProblems(page)).toEqual([]);
  });

  test('is a list on a phone if it is too wide, until the graph is chosen', async () => {
    const page = await pages.open('/definitions/wide', PHONE);
    await page.locator('.outline').waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    const view = page.getByRole('group', { name: 'View', exact: true });
    await view.getByRole('button', { name: 'Graph' }).click();
    await page.locator('.react-flow__node').first().waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1200, height: 800 });
    await expect.poll(() => isInFrame(page, step(page, 'branch-2'))).toBe(true);
  });

  test('moves on a phone with one finger and zooms with two', async () => {
    const page = await pages.open('/definitions/narrow', PHONE);
    await step(page, 'check').waitFor();
    await page.locator('.graph').scrollIntoViewIfNeeded();
    const frame = (await page.locator('.react-flow').boundingBox())!;
    const session = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...points: number[][]) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: points.map(([x = 0, y = 0], id) => ({ x: frame.x + x, y: frame.y + y, id })),
      });
    const opened = await transform(page);
    await touch('touchStart', [20, 120]);
    for (const far of [30, 50, 70]) await touch('touchMove', [20 + far, 120 - far / 2]);
    await touch('touchEnd');
    await expect.poll(() => transform(page)).not.toBe(opened);
    const scale = async (): Promise<number> =>
      Number(/scale\((.*)\)/.exec(await transform(page))?.[1]);
    const before = await scale();
    await touch('touchStart', [100, 100], [140, 100]);
    for (const far of [10, 30, 60]) await touch('touchMove', [100 - far, 100], [140 + far, 100]);
    await touch('touchEnd');
    await expect.poll(scale).toBeGreaterThan(before * 1.2);
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
  });

  test('renders only the visible steps of a graph with 500 steps', async () => {
    const steps = Array.from({ length: 500 }, (_, at) => ({
      id: `s${at}`,
      stepType: 'NoOp',
      ...(at < 499 && { nextStepId: `s${at + 1}` }),
    }));
    await pages.client.definitions.register({ id: 'chain', steps });
    const page = await pages.open('/definitions/chain');
    page.setDefaultTimeout(60_000);
    await page.getByRole('button', { name: /^s0, NoOp/ }).waitFor();
    await page.getByText('500 steps').waitFor();
    await expect.poll(() => page.locator('.react-flow__node').count()).toBeLessThan(100);
    await page.getByRole('button', { name: 'List' }).click();
    await page.getByRole('button', { name: /s499/ }).click();
    await page.getByRole('heading', { name: 's499', level: 2 }).waitFor();
  });
});
