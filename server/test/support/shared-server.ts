/**
 * One database server for a whole test run, started when the first test file requests it.
 *
 * Vitest runs a file's `setup` in its main process (see `globalSetup` in vitest.config.ts). Test files run in other
 * processes and request the server over HTTP on the loopback.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers';

export interface ServerContainer {
  readonly url: string;
  readonly container: StartedTestContainer;
}

/** Actions that Testcontainers does not support. */
export type DockerContainer = Record<
  'pause' | 'unpause' | 'stop' | 'kill' | 'start',
  () => Promise<unknown>
>;

export async function dockerContainerOf(container: StartedTestContainer): Promise<DockerContainer> {
  const runtime = await getContainerRuntimeClient();
  return runtime.container.getById(container.getId());
}

/** The response of the main process. */
type BrokerAnswer = { readonly url: string } | { readonly problem: string };

export interface Broker {
  readonly url: string;
  /** Stops the server, too. */
  close(): Promise<void>;
}

export interface BrokerOptions {
  /** The address of an existing server, or none. */
  readonly existing: string | undefined;
  /** Fails if there is no working server at this address. */
  readonly check: (url: string) => Promise<void>;
  readonly start: () => Promise<ServerContainer>;
}

/** For the main process. */
export async function startBroker({ check, existing, start }: BrokerOptions): Promise<Broker> {
  let started: Promise<ServerContainer> | null = null;
  const answer = async (): Promise<BrokerAnswer> => {
    try {
      if (existing !== undefined && existing !== '') {
        await check(existing);
        return { url: existing };
      }
      started ??= start();
      return { url: (await started).url };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  };
  const broker = createServer((_request, response) => {
    void answer().then((body) => response.end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this type.
  const { port } = broker.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      broker.close();
      broker.closeAllConnections();
      const running = await started?.catch(() => null);
      await running?.container.stop();
    },
  };
}

/**
 * For a test file. Null if this machine has no such server, with a prominent message, because the tests that need it are
 * then skipped.
 */
export async function requestServer(
  brokerUrl: string,
  product: string,
): Promise<{ readonly url: string } | null> {
  const response = await fetch(brokerUrl);
  // The response comes from `startBroker`.
  const answer = (await response.json()) as BrokerAnswer;
  if ('url' in answer) return answer;
  console.warn(`\n*** ${product} is NOT COVERED by this test run: ${answer.problem} ***\n`);
  return null;
}
