/** Goal: operators see what starts by itself and when, on their own clock and on the trigger's, and can control it. */
import type { Trigger } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { openReports } from './support/reports.js';

const HOSTILE = '<img src=x>%2F"';
const IN_BERLIN = { locale: 'en-US', timezoneId: 'Europe/Berlin' };

describe.runIf(browserPath !== null)('the trigger view', () => {
  const pages = usePages({
    seed: async (client) => {
      await openReports(client);
      const steps = [{ id: 'end', stepType: 'NoOp' }];
      await client.definitions.register({
        id: HOSTILE,
        triggers: [{ name: HOSTILE, cron: '30 4 * * *', timeZone: 'Asia/Tokyo' }],
        steps,
      });
      await client.definitions.register({
        id: 'far',
        triggers: [{ name: 'yearly', cron: '0 0 1 1 *' }],
        steps,
      });
    },
  });

  const triggerOf = async (name: string): Promise<Trigger> => {
    const found = (await pages.client.triggers.list('report')).find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no trigger ${name}`);
    return found;
  };

  test('shows triggers with times here and there, outcomes and reasons', async () => {
    const page = await pages.open('/definitions/report?view=triggers', IN_BERLIN);
    const opens = page.getByRole('row', { name: /^market-opens/ });
    await opens.getByText('has not fired yet').waitFor();
    expect(await opens.getByText(/, 9:30 AM Asia\/Tokyo$/).count()).toBe(5);
    // Zurich has the same time as Berlin: once is enough.
    const nightly = page.getByRole('row', { name: /^nightly/ });
    await nightly
      .getByText(/, 2:00 AM$/)
      .first()
      .waitFor();
    expect(await nightly.getByText(/AM Europe\/Zurich/).count()).toBe(0);
    await nightly.getByText('Started').waitFor();
    const failed = page.getByRole('row', { name: /^on-payment/ });
    await failed.getByText('Failed').waitFor();
    await failed.getByText(/order/).first().waitFor();
    await failed.getByText('any key').waitFor();
    await page
      .getByRole('row', { name: /^resting paused/ })
      .getByText('not while it is paused')
      .waitFor();
    // The page's choice of the time zone.
    await page.getByLabel('Time zone').selectOption('UTC');
    await nightly
      .getByText(/2:00 AM Europe\/Zurich/)
      .first()
      .waitFor();
  });

  test('pauses, resumes and fires a trigger now', async () => {
    const page = await pages.open('/definitions/report?view=triggers');
    const hourly = page.getByRole('row', { name: /^hourly/ });
    await hourly.getByRole('button', { name: 'Pause' }).click();
    await hourly.getByText('paused', { exact: true }).waitFor();
    expect((await triggerOf('hourly')).paused).toBe(true);
    await hourly.getByRole('button', { name: 'Resume' }).click();
    await hourly.getByRole('button', { name: 'Pause' }).waitFor();
    expect((await triggerOf('hourly')).paused).toBe(false);
    await hourly.getByRole('button', { name: 'Fire now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fire hourly now?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await triggerOf('hourly')).last).toBeNull();
    await hourly.getByRole('button', { name: 'Fire now' }).click();
    await dialog.getByRole('button', { name: 'Fire now' }).click();
    await hourly.getByText('Started').waitFor();
    await hourly.getByRole('link').click();
    await page.waitForURL(/\/runs\//);
    const { trigger } = await pages.client.workflows.get(
      (await triggerOf('hourly')).last!.workflowId!,
    );
    expect(trigger?.name).toBe('hourly');
  });

  test('backfills a trigger for a period', async () => {
    const page = await pages.open('/definitions/report?view=triggers', { timezoneId: 'UTC' });
    const resting = page.getByRole('row', { name: /^resting/ });
    await resting.getByRole('button', { name: 'Backfill' }).click();
    const dialog = page.getByRole('dialog', { name: 'Backfill resting' });
    await dialog.getByLabel(/^From/).fill('2026-03-04T00:00:00');
    await dialog.getByLabel(/^To/).fill('2026-03-03T00:00:00');
    await dialog.getByText('The second time must be after the first.').waitFor();
    await dialog.getByLabel(/^To/).fill('2026-03-06T12:00:00');
    await dialog.getByRole('button', { name: 'Start runs' }).click();
    await page.getByText('resting starts the runs of 2 due times.').waitFor();
    await expect
      .poll(async () => {
        const { items } = await pages.client.workflows.list({ definitionId: 'report' }).page();
        return items
          .flatMap(({ trigger }) => (trigger?.name === 'resting' ? [trigger.time] : []))
          .sort();
      })
      .toEqual(['2026-03-04T12:00:00.000Z', '2026-03-05T12:00:00.000Z']);
  });

  test("lists the due times of the next day, in the user's time zone", async () => {
    const page = await pages.open('/schedule', IN_BERLIN);
    const nightly = page.locator('.schedule-entry', { hasText: 'nightly' });
    await nightly.getByText('02:00', { exact: true }).waitFor();
    const hours = await page.locator('.schedule-hour-name').allTextContents();
    expect(hours).toContain('02:00');
    await page
      .locator('.schedule-entry', { hasText: HOSTILE })
      .getByText(/4:30 AM Asia\/Tokyo/)
      .waitFor();
    const often = page.getByRole('table', { name: 'Triggers that fire often' });
    await often.getByRole('cell', { name: '24', exact: true }).waitFor();
    const shown = await page.locator('main').innerText();
    expect(shown).not.toContain('resting');
    expect(shown).not.toContain('yearly');
    await page.getByLabel('Time zone').selectOption('UTC');
    await nightly.getByText(/2:00 AM Europe\/Zurich/).waitFor();
    expect(await nightly.getByText('02:00', { exact: true }).count()).toBe(0);
  });

  test('omits a definition from the schedule as soon as it is disabled', async () => {
    const page = await pages.open('/schedule');
    const entry = page.locator('.schedule-entry', { hasText: HOSTILE });
    await entry.waitFor();
    await pages.client.definitions.disable(HOSTILE);
    await entry.waitFor({ state: 'detached' });
    await pages.client.definitions.enable(HOSTILE);
    await entry.getByRole('link').click();
    await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
    await page.getByRole('table', { name: 'Triggers' }).waitFor();
  });
});
