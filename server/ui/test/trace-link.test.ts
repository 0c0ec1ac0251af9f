/** Goal: the page of a run links to its trace, if the operator has set where traces are shown. */
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages, type PageTest } from './support/page-test.js';

// No collector listens there: runs have a trace nevertheless.
const TRACING = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

async function startTraced({ client }: PageTest): Promise<{ id: string; traceId: string }> {
  await client.definitions.register({
    id: 'greeting',
    steps: [{ id: 'greet', stepType: 'EmitLog', inputs: { message: "'Hello'" } }],
  });
  const { id } = await client.workflows.start('greeting', {});
  const { traceId = '' } = await client.workflows.get(id);
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  return { id, traceId };
}

describe.runIf(browserPath !== null)('the trace of a run, with the address of a viewer', () => {
  const pages = usePages({
    environment: { ...TRACING, TRACE_URL: 'https://traces.example.com/{trace_id}?of={trace_id}' },
  });

  test('is a link to the viewer in a new tab, which does not learn where it comes from', async () => {
    const { id, traceId } = await startTraced(pages);
    const page = await pages.open(`/runs/${id}`);
    const link = page.getByRole('link', { name: 'Show the trace' });
    await link.waitFor();
    const of = (name: string) => link.getAttribute(name);
    expect(await of('href')).toBe(`https://traces.example.com/${traceId}?of=${traceId}`);
    expect(await of('target')).toBe('_blank');
    expect(await of('rel')).toBe('noopener noreferrer');
  });
});

describe.runIf(browserPath !== null)('the trace of a run, without an address', () => {
  const pages = usePages({ environment: TRACING });

  test('has no link', async () => {
    const { id } = await startTraced(pages);
    let settings: Promise<unknown> = Promise.resolve();
    const page = await pages.open(`/runs/${id}`, {}, (opened) => {
      settings = opened.waitForResponse(/\/api\/info$/);
      return Promise.resolve();
    });
    await settings;
    await page.locator('.timeline').waitFor();
    expect(await page.getByText('Show the trace').count()).toBe(0);
    expect(await page.getByText('Trace', { exact: true }).count()).toBe(0);
  });
});
