/**
 * S-38 with a real browser. The browser can reach a server without access control. A page of another site can neither
 * start a run, nor claim work, nor read anything from it: on another port, under another name of this machine, or under
 * a name that was rebound to it.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../../../sdk/test/support/server-process.js';
import { browserPath, launchBrowser } from './support/browser.js';

const DEFINITION = `
Id: pay
Steps:
  - Id: pay
    StepType: Activity
    Inputs:
      ActivityName: '"pay"'
`;

describe.runIf(browserPath !== null)('a page of another origin', () => {
  let server: ServerProcess;
  let client: StepwrightClient;
  let browser: Browser;
  let other: Server;
  let otherPort: number;

  beforeAll(async () => {
    server = await ServerProcess.start();
    client = createClient({ baseUrl: server.url });
    await client.definitions.register(DEFINITION);
    await client.workflows.start('pay', {}, { reference: 'ours' });
    other = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>evil</title><body></body>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    otherPort = (other.address() as AddressInfo).port;
    browser = await launchBrowser([
      '--host-resolver-rules=MAP rebound.example 127.0.0.1',
      // Newer browsers block some of this themselves; here, the server must do it.
      '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
    ]);
  });

  afterAll(async () => {
    await browser.close();
    other.closeAllConnections();
    other.close();
    await server.remove();
  });

  /** Sends two forms that need no preflight, an image request, and calls of `fetch`; resolves when all are complete. */
  const attack = (page: Page, target: string): Promise<readonly string[]> =>
    page.evaluate(async (url) => {
      const attempt = (path: string, options: RequestInit): Promise<string> =>
        fetch(`${url}${path}`, options).then(
          (response) => `${response.type} ${response.status}`,
          () => 'refused',
        );
      const image = new Promise<void>((resolve) => {
        const element = new Image();
        element.onload = element.onerror = () => resolve();
        element.src = `${url}/api/activity/pay?workerId=evil`;
      });
      const form = new Promise<void>((resolve) => {
        const frame = document.createElement('iframe');
        frame.name = 'target';
        document.body.append(frame);
        const element = document.createElement('form');
        Object.assign(element, {
          method: 'POST',
          action: `${url}/api/workflow/pay?reference=form`,
        });
        element.target = 'target';
        document.body.append(element);
        frame.onload = () => resolve();
        element.submit();
      });
      const results = await Promise.all([
        attempt('/api/workflow/pay?reference=fetch', { method: 'POST', mode: 'no-cors' }),
        attempt('/api/activity/pay?workerId=evil', { mode: 'no-cors' }),
        attempt('/api/workflow', {}),
      ]);
      await Promise.all([image, form]);
      return results;
    }, target);

  const expectUntouched = async (): Promise<void> => {
    const references: (string | null)[] = [];
    for await (const run of client.workflows.list({ definitionId: 'pay' })) {
      references.push(run.reference);
    }
    expect(references).toEqual(['ours']);
    // The work item has not been claimed, so it is delivered immediately.
    const item = await client.activities.pull('pay', { workerId: 'ours' });
    expect(item).not.toBeNull();
    await client.activities.release(item!);
  };

  test.each(['127.0.0.1', 'localhost'])('has no effect from another port of %s', async (name) => {
    const page = await browser.newPage();
    await page.goto(`http://${name}:${otherPort}/`);
    const results = await attack(page, server.url);
    // To the page, responses that it may not read look the same as rejected requests.
    expect(results).toEqual(['opaque 0', 'opaque 0', 'refused']);
    await expectUntouched();
    await page.close();
  });

  test('has no effect from a name that was rebound to this machine', async () => {
    const target = `http://rebound.example:${new URL(server.url).port}`;
    const page = await browser.newPage();
    // With DNS rebinding, the document comes from the attacker, and everything else from the server.
    await page.route(`${target}/evil`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><body></body>' }),
    );
    await page.goto(`${target}/evil`);
    expect(await attack(page, target)).toEqual(['basic 403', 'basic 403', 'basic 403']);
    await expectUntouched();
    await page.close();
  });

  test("does not affect the server's own page", async () => {
    const page = await browser.newPage();
    await page.goto(`${server.url}/ui/`);
    const status = await page.evaluate(async () => (await fetch('/api/workflow')).status);
    expect(status).toBe(200);
    await page.close();
  });
});
