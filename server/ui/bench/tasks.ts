/** What an operator does at an incident, with the time until the page shows the answer, and the number of clicks. */
import type { Browser, Locator, Page } from 'playwright-core';
import { until, type ManyRuns } from './many-runs.js';

export interface Measured {
  readonly task: string;
  readonly result: string;
  readonly goal: string;
  readonly isMet: boolean;
}

/** Counts the clicks of a task. Typing and Enter count as none. */
class Hand {
  clicks = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }
}

interface Task {
  readonly task: string;
  /** Where the operator is before the first click. */
  readonly from: string;
  readonly clicksMax: number;
  /** Resolves when the answer is shown. */
  readonly perform: (hand: Hand) => Promise<unknown>;
}

const SHOWN_MS = 60_000;

export async function measureTasks(browser: Browser, runs: ManyRuns): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const task of tasksOf(runs)) measured.push(await measureTask(browser, runs, task));
  return measured;
}

async function measureTask(browser: Browser, runs: ManyRuns, task: Task): Promise<Measured> {
  const page = await openPage(browser);
  await page.goto(`${runs.server.url}/ui${task.from}`);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.locator('h1').waitFor();
  await until(async () => (await page.locator('main .loading').count()) === 0);
  const hand = new Hand(page);
  const start = performance.now();
  const problem = await failureOf(() => task.perform(hand));
  const seconds = ((performance.now() - start) / 1000).toFixed(2);
  await page.context().close();
  return {
    task: task.task,
    result: problem ?? `${hand.clicks} ${hand.clicks === 1 ? 'click' : 'clicks'}, ${seconds} s`,
    goal: `${task.clicksMax} ${task.clicksMax === 1 ? 'click' : 'clicks'}`,
    isMet: problem === null && hand.clicks <= task.clicksMax,
  };
}

/** Why the page did not show the answer; null if it did. The other tasks go on. */
async function failureOf(perform: () => Promise<unknown>): Promise<string | null> {
  try {
    await perform();
    return null;
  } catch (error) {
    return `not done: ${String(error).split('\n')[0] ?? ''}`;
  }
}

export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(SHOWN_MS);
  return page;
}

function tasksOf(runs: ManyRuns): readonly Task[] {
  return [...PART_TASKS, ...findingTasks(runs), ...incidentTasks(runs)];
}

const navigate = (hand: Hand, name: string): Promise<void> =>
  hand.click(hand.page.getByRole('link', { name, exact: true }));

const rowOf = (page: Page, text: string): Locator => page.locator('tbody tr', { hasText: text });

const findPart =
  (text: string, shows: string) =>
  async ({ page }: Hand): Promise<void> => {
    await page.getByRole('combobox', { name: /^Find runs/ }).fill(text);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Runs found' }).getByText(shows).first().waitFor();
  };

/** No index finds these. */
const PART_TASKS: readonly Task[] = [
  {
    task: 'An old order is found by a part of its reference',
    from: '/runs',
    clicksMax: 0,
    perform: findPart('er-90001', 'order-90001'),
  },
  {
    task: 'An old order is found by a part of a tag or an index field',
    from: '/runs',
    clicksMax: 0,
    perform: findPart('-90002', '90002'),
  },
];

function findingTasks({ waiting, held }: ManyRuns): readonly Task[] {
  const find =
    (text: string, shows: string) =>
    async ({ page }: Hand): Promise<void> => {
      await page.getByRole('combobox', { name: /^Find runs/ }).fill(text);
      await page.keyboard.press('Enter');
      await rowOf(page, shows).first().waitFor();
    };
  return [
    {
      task: 'An order is found by its reference',
      from: '/runs',
      clicksMax: 0,
      perform: find('order-471', 'order-471'),
    },
    {
      task: 'An order is found by the beginning of an index field',
      from: '/runs',
      clicksMax: 0,
      perform: find('number^=N-471', 'order-471'),
    },
    {
      task: 'An order is found by the beginning of a tag',
      from: '/runs',
      clicksMax: 0,
      perform: find('tag.invoice^=I-471', 'order-471'),
    },
    {
      task: 'Why a run waits',
      from: `/runs?reference=order-0`,
      clicksMax: 1,
      perform: async (hand) => {
        await hand.click(hand.page.locator(`tr[data-key="${waiting}"] a`).first());
        await hand.page
          .locator('section.why')
          .getByText(/waiting for event/)
          .waitFor();
      },
    },
    {
      task: 'Which worker holds an item',
      from: '/overview',
      clicksMax: 2,
      perform: async (hand) => {
        await navigate(hand, 'Workers');
        const row = hand.page.getByRole('row', { name: /till-1/ });
        await row.getByRole('link', { name: held }).waitFor();
      },
    },
  ];
}

function incidentTasks({ client, retrying }: ManyRuns): readonly Task[] {
  return [
    {
      task: 'What failed in the last hour, grouped',
      from: '/overview',
      clicksMax: 1,
      perform: async (hand) => {
        await navigate(hand, 'Failures');
        await hand.page.getByText('the printer is out of paper').first().waitFor();
      },
    },
    {
      task: 'Two attempts of a step are compared',
      from: `/runs/${retrying}`,
      clicksMax: 2,
      perform: async (hand) => {
        await hand.click(hand.page.getByRole('tab', { name: 'Steps' }));
        await hand.click(hand.page.getByRole('button', { name: 'Compare attempts' }).first());
        await hand.page
          .getByRole('columnheader', { name: /^Attempt/ })
          .first()
          .waitFor();
      },
    },
    {
      task: '500 failed runs are retried after a fix, until the page says what became of them',
      from: '/overview',
      clicksMax: 4,
      perform: async (hand) => {
        const { page } = hand;
        await client.steps.put('print-label', 'isPrinted = True\n');
        await navigate(hand, 'Failures');
        await hand.click(rowOf(page, 'out of paper').getByRole('button', { name: 'Act on all' }));
        const dialog = page.getByRole('dialog', { name: 'Resume 500 runs?' });
        await hand.click(dialog.getByLabel(/^Reason/));
        await page.keyboard.type('there is paper');
        await hand.click(dialog.getByRole('button', { name: 'Resume' }));
        await page.getByText('Resume finished: 500 of 500 resumed').waitFor();
        await page.getByText('Of 500 runs: 500 completed.').waitFor();
      },
    },
  ];
}
