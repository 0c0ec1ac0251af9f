/**
 * Goal: an outage of the store is said once, with what is out, and the page recovers on its own.
 * Method: the server uses PostgreSQL in a container of its own, which is stopped and started.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgresContainer } from '../../test/support/postgres-container.js';
import { dockerContainerOf, type DockerContainer } from '../../test/support/shared-server.js';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';

/** Null on a machine without containers. */
const database = await startPostgresContainer({ keepsPort: true }).catch((error: unknown) => {
  console.warn(
    'Not tested: the page during an outage of the store, which needs a container.',
    error,
  );
  return null;
});

describe.runIf(browserPath !== null && database !== null)('an outage of the store', () => {
  const pages = usePages({
    environment: { DBHOST: database?.url ?? '' },
    seed: async (client) => {
      await client.definitions.register({
        id: 'greeting',
        steps: [{ id: 'greet', stepType: 'NoOp' }],
      });
      await client.workflows.start('greeting', {}, { reference: 'order-1' });
    },
  });
  let docker: DockerContainer;
  beforeAll(async () => {
    if (database !== null) docker = await dockerContainerOf(database.container);
  });
  afterAll(() => database?.container.stop());

  const banner = (page: Page) => page.getByText('The server cannot reach its store.');

  test('appears as one banner above the last received state, and disappears by itself', async () => {
    const page = await pages.open('/runs');
    await page.getByText('order-1').waitFor();
    pages.expectBrowserError(/503|Failed to load/);
    await docker.stop();
    await page.getByRole('link', { name: 'Definitions' }).click();
    await banner(page).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByText('order-1').waitFor();
    await docker.start();
    await banner(page).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Definitions' }).click();
    await page.getByRole('link', { name: 'greeting' }).first().waitFor();
  });
});
