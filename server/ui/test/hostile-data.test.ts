/**
 * Goal: names, references, data and errors are always shown as text: never as scripts, links or changes of text
 * direction.
 */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

const IMAGE = '<img src=x onerror="alert(1)">';
const SCRIPT = '</script><script>alert(2)</script>';
const LINK = 'javascript:alert(3)';
const TURNED = 'order \u202Egpj.exe\u2066 \u200F';
const LONG = 'x'.repeat(400);

const DATA = {
  [IMAGE]: SCRIPT,
  link: LINK,
  turned: TURNED,
  long: 'y'.repeat(30_000),
  many: Array.from({ length: 500 }, (_, at) => ({ at })),
  nested: { constructor: { prototype: 'p' }, toString: IMAGE },
};

/** Own properties that an object literal cannot define. */
const ODD_DATA: object = JSON.parse(
  `{"__proto__":{"polluted":"yes"},"hasOwnProperty":1}`,
) as object;

const definition = (id: string): object => ({
  id,
  description: IMAGE,
  defaultErrorBehavior: 'Suspend',
  steps: [
    {
      id: 'first',
      name: IMAGE,
      stepType: 'NoOp',
      outputs: { copy: 'data["link"]' },
      nextStepId: LINK,
    },
    {
      id: LINK,
      name: LONG,
      stepType: 'NoOp',
      outputs: { z: `data[${JSON.stringify(IMAGE)}]["x"]` },
    },
  ],
});

const NAMES = [IMAGE, 'a/b%2Fc?d#e', LONG.slice(0, 100), '%', 'ünï 🚀 name'];

describe.runIf(browserPath !== null)('a hostile name or value', () => {
  const ids: string[] = [];
  const pages = usePages({
    seed: async (client) => {
      for (const name of NAMES) {
        await client.definitions.register(definition(name) as never);
        const data = { ...DATA, ...(name === '%' && ODD_DATA) };
        const run = await client.workflows.start(name, data, {
          reference: name === IMAGE ? LINK : TURNED,
        });
        ids.push(run.id);
      }
    },
  });

  test('appears as text in the list of runs, without horizontal scrolling', async () => {
    const page = await pages.open('/runs');
    await page
      .locator('tbody tr')
      .nth(NAMES.length - 1)
      .waitFor();
    const table = page.getByRole('table', { name: 'Runs' });
    for (const name of NAMES) await table.getByText(name, { exact: true }).first().waitFor();
    expect(
      await page.locator('table img, table script, table a[href^="javascript:"]').count(),
    ).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
    // A change of text direction does not leave its cell.
    const isolated = await table
      .getByText('gpj.exe')
      .first()
      .evaluate((cell) => getComputedStyle(cell).unicodeBidi);
    expect(isolated).toBe('isolate');
  });

  test.each(NAMES.map((name, at) => [name.slice(0, 20), at] as const))(
    'is inert in every view of a run: %s',
    async (_name, at) => {
      const page = await pages.open(`/runs/${ids[at]!}`);
      await page.getByText('KeyError').or(page.getByText('TypeError')).first().waitFor();
      expect(await page.locator('h1').textContent()).toContain(NAMES[at]!);
      for (const tab of ['Steps', 'Data', 'History', 'Overview']) {
        await page.getByRole('tab', { name: tab }).click();
        await page.getByRole('tabpanel', { name: tab }).waitFor();
      }
      await page.getByRole('tab', { name: 'Steps' }).click();
      for (const summary of await page.locator('.step-row').all()) await summary.click();
      expect(await page.locator('main img, main script, main a[href^="javascript:"]').count()).toBe(
        0,
      );
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
    },
  );

  test('is collapsed and cut if it is large, and shows own properties such as __proto__', async () => {
    const page = await pages.open(`/runs/${ids[NAMES.indexOf('%')]!}?tab=data`);
    const data = page.getByRole('group', { name: 'Data', exact: true });
    await data.getByText('__proto__').waitFor();
    await data.getByText('Show all 30000 characters').waitFor();
    await data.getByText('Show more of 500').waitFor();
    expect(await data.locator('.json-line').count()).toBeLessThan(200);
    expect(await page.evaluate(() => ({}))).not.toHaveProperty('polluted');
  });

  test('has no effect in an address', async () => {
    pages.expectBrowserError(/400/);
    const page = await pages.open(
      `/runs?reference=${encodeURIComponent(IMAGE)}&status=Nope&version=-1e9&failed=1y`,
    );
    await page
      .getByText('No run matches the filter.')
      .or(page.getByRole('alert'))
      .first()
      .waitFor();
    await page.goto(`${pages.server.url}/ui/runs/${encodeURIComponent(IMAGE)}`);
    await page.getByText('There is no run with this id.').waitFor();
    await page.getByText(IMAGE, { exact: true }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
  });
});
