/** Goal: the open page of a long run, which follows it, fetches what has changed and not the run. */
import type { Page } from 'playwright-core';
import type { StepExecution } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const TURNS = 1600;
/** More than one call returns. */
const BURST = 120;
const GROWING = `
Id: growing
Steps:
  - Id: long
    StepType: While
    Inputs:
      Condition: data.n < ${TURNS}
    Do:
      - - Id: count
          StepType: NoOp
          Outputs:
            n: data.n + 1
    NextStepId: wait
  - Id: wait
    StepType: WaitFor
    Inputs:
      EventName: '"go"'
      EventKey: '"on"'
    NextStepId: burst
  - Id: burst
    StepType: While
    Inputs:
      Condition: data.n < ${TURNS + BURST}
    Do:
      - - Id: more
          StepType: NoOp
          Outputs:
            n: data.n + 1
    NextStepId: wait-again
  - Id: wait-again
    StepType: WaitFor
    Inputs:
      EventName: '"go"'
      EventKey: '"further"'
    NextStepId: last
  - Id: last
    StepType: NoOp
`;

interface Call {
  readonly order: string | null;
  readonly limit: number;
  readonly isContinued: boolean;
  readonly items: readonly StepExecution[];
}

/** The calls for executions, in order. */
function watchCalls(page: Page): Call[] {
  const calls: Call[] = [];
  page.on('response', async (response) => {
    const { pathname, searchParams: query } = new URL(response.url());
    if (!pathname.endsWith('/steps')) return;
    const { items } = (await response.json()) as { items: readonly StepExecution[] };
    calls.push({
      order: query.get('order'),
      limit: Number(query.get('limit')),
      isContinued: query.has('cursor'),
      items,
    });
  });
  return calls;
}

/** The calls that went on although what came before them was known. */
function needlessCalls(calls: readonly Call[]): readonly Call[] {
  const known = new Set<string>();
  let fresh: string[] = [];
  let hasMet = false;
  return calls.filter(({ isContinued, items }) => {
    if (!isContinued) {
      fresh.forEach((key) => known.add(key));
      fresh = [];
      hasMet = false;
    }
    const isNeedless = hasMet;
    const ended = items.filter(({ endTime }) => endTime !== null);
    const keys = ended.map(({ attempt, executionId }) => `${executionId}/${attempt}`);
    hasMet ||= keys.some((key) => known.has(key));
    fresh.push(...keys);
    return isNeedless;
  });
}

describe.runIf(browserPath !== null)('the page of a long run that continues', () => {
  let id = '';
  const pages = usePages({
    seed: async ({ definitions, workflows }) => {
      await definitions.register(GROWING);
      id = (await workflows.start('growing', { n: 0 })).id;
      await eventually('the run waits', async () => {
        const { items } = await workflows.steps(id, { status: 'Waiting' }).page();
        return items.some(({ stepId }) => stepId === 'wait');
      });
    },
  });

  test('reads back only to the known steps, and shows new ones', async () => {
    let calls: Call[] = [];
    const page = await pages.open(`/runs/${id}`, {}, async (opened) => {
      calls = watchCalls(opened);
    });
    await page.getByText('Live', { exact: true }).waitFor();
    const bar = (name: RegExp) => page.locator('.timeline').getByRole('button', { name });
    await bar(/^wait/).waitFor();
    const atFirst = calls.length;
    await pages.client.events.publish('go', 'on', null);
    await bar(/^wait-again/).waitFor();
    await bar(/^more/).first().waitFor();
    await pages.client.events.publish('go', 'further', null);
    await bar(/^last/).waitFor();
    const later = calls.slice(atFirst);
    const newest = later.filter(({ order }) => order === 'desc');
    // At least one after each event.
    expect(newest.length).toBeGreaterThan(1);
    expect(needlessCalls(calls.filter(({ order }) => order === 'desc'))).toEqual([]);
    const limits = (isContinued: boolean): number[] =>
      newest.filter((call) => call.isContinued === isContinued).map(({ limit }) => limit);
    expect(Math.max(...limits(false))).toBeLessThan(50);
    expect(Math.max(...limits(true))).toBeLessThan(2 * BURST);
    // The first executions do not change.
    expect(calls.filter(({ order }) => order !== 'desc').length).toBe(1);
  });
});
